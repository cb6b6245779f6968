"""Augmented assignments: `x += y`, and then `x`."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

from ruff_accepts import assert_ruff_accepts

from fitgym.messages.observation import Observation
from fitgym.run.generation import generate
from fitgym.subject.subject import Operation, Parameter, Reference, Subject
from fitgym.subject.types.hints import ANY
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.rebinding import rebound
from fitgym.testcase.expression import Literal, Ref
from fitgym.testcase.statement import Statement

SUBJECT = Subject(
    Reference("n", "n", "n.py"),
    "",
    (),
    (),
    (),
    (),
    (
        Operation(0, "constructor", "n", "N", "n.N"),
        Operation(
            1, "operator", "n", "N.__iadd__", "n.N", (Parameter("p", "positional_only", ANY),), ANY, operator="__iadd__"
        ),
        Operation(2, "method", "n", "N.total", "n.N"),
    ),
    {},
)
NEW, ADD, TOTAL = Statement(0), Statement(1, 0, (Literal("1"),)), Statement(2, 0)
SAME = Observation(1, "", "is", Ref(0))
SEVEN = Observation(2, "", "equal", Literal("7"))


def finished(*statements: Statement, facts: tuple[Observation, ...]) -> FinishedTest:
    return FinishedTest("test", statements, facts)


def test_later_statements_use_the_result() -> None:
    made = rebound(finished(NEW, ADD, TOTAL, facts=(SEVEN,)), (SAME, SEVEN), SUBJECT)
    assert made.statements == (NEW, ADD, Statement(2, 1))
    assert made.assertions == (SEVEN,)


def test_facts_about_the_object_are_about_the_result() -> None:
    count = Observation(0, ".count", "equal", Literal("1"))
    made = rebound(finished(NEW, ADD, facts=(count, SAME)), (count, SAME), SUBJECT)
    assert made.assertions == (Observation(1, ".count", "equal", Literal("1")),)


def test_a_second_assignment_follows_the_first() -> None:
    again = Observation(2, "", "is", Ref(0))
    length = Observation(3, "", "equal", Literal("7"))
    given = finished(NEW, ADD, ADD, TOTAL, facts=(length,))
    made = rebound(given, (SAME, again, length), SUBJECT)
    assert made.statements == (NEW, ADD, Statement(1, 1, (Literal("1"),)), Statement(2, 2))


def test_steady_facts_that_are_not_asserted_any_more_are_forgotten() -> None:
    again = Observation(2, "", "is", Ref(0))
    length = Observation(3, "", "equal", Literal("7"))
    given = replace(finished(NEW, ADD, ADD, TOTAL, facts=(SAME, length)), steady=frozenset({SAME, length}))
    made = rebound(given, (SAME, again, length), SUBJECT)
    assert made.assertions == (length,)
    assert made.steady == {length}


def test_another_object_stays_another() -> None:
    given = finished(NEW, ADD, TOTAL, facts=(SEVEN,))
    assert rebound(given, (SEVEN,), SUBJECT) is given


def test_something_is_left_to_assert() -> None:
    given = finished(NEW, ADD, facts=(SAME,))
    assert rebound(given, (SAME,), SUBJECT) is given


BUFFER = """
    class Buffer:
        def __init__(self) -> None:
            self.data = b""

        def __iadd__(self, other: bytes) -> "Buffer":
            self.data += other
            return self

        def line(self) -> bytes | None:
            at = self.data.find(b"\\n")
            if at < 0:
                return None
            found, self.data = self.data[:at], self.data[at + 1 :]
            return found
"""


def test_a_suite_assigns_in_place(tmp_path: Path) -> None:
    (tmp_path / "buffers.py").write_text(textwrap.dedent(BUFFER))
    run = generate(str(tmp_path / "buffers.py"), budget="2000x", output=tmp_path / "tests")
    assert run.suite_path is not None
    assert 'buffer += b"' in run.source and "iadd(" not in run.source
    assert_ruff_accepts(run.suite_path, ["check"])
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", run.suite_path], capture_output=True, timeout=60)
    assert done.returncode == 0
