"""Idle tests: a suite that is to check something has no accidents and no tests without a check."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from nightly import every
from shelf_subject import BOOK, FETCH, FIND, SUBJECT

from fitgym.messages.observation import Observation, Observed
from fitgym.run.generation import Run, generate
from fitgym.subject.subject import Operation
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.idle import ACCIDENT, IDLE, REPEATED, idle
from fitgym.suite.kills import KillsOfTest
from fitgym.testcase.expression import Literal, Name, Ref
from fitgym.testcase.statement import Statement

DOUBLE = """
    def double(number: int) -> int:
        return 2 * number
"""

CASES = {
    "the attribute of a None": (
        """
        class Writer:
            def __init__(self):
                self._file = None
            def write(self, text: str) -> None:
                self._file.write(text)
        """,
        [],
        [ACCIDENT],
    ),
    "a type that the code refuses": (
        """
        def name(value):
            if not isinstance(value, str):
                raise TypeError("a name is a text")
            return value.title()
        """,
        ['pytest.raises(TypeError, match="a name is a text")'],
        [],
    ),
    "an operand that an operator refuses": (
        """
        class Length:
            def __init__(self, metres: int):
                self.metres = metres
            def __add__(self, other):
                if not isinstance(other, Length):
                    return NotImplemented
                return Length(self.metres + other.metres)
        """,
        ["pytest.raises(TypeError)"],
        [],
    ),
    "an accident that alone takes a branch": (
        """
        class Lamp:
            def __init__(self):
                self._bulb = None
            def light(self, bright: bool):
                if bright:
                    return self._bulb.lumen
                return 0
        """,
        ["pytest.raises(AttributeError)", "== 0"],
        [],
    ),
    "a change that nothing shows": (
        """
        class Bell:
            def ring(self) -> None:
                self._rung = True
        """,
        [],
        [IDLE],
    ),
    "a change that nothing shows, beside attributes that another test checks": (
        """
        class Bell:
            def __init__(self, name: str):
                self.name = name.upper()
            def ring(self, times: int) -> None:
                self._rung = times + 1
            def inscription(self) -> str:
                return f"I am {self.name}"
        """,
        ['.inscription() == "I am'],
        [IDLE],
    ),
    "a value that is accepted, next to one that is not": (
        """
        def check(volume: int) -> None:
            if not 0 <= volume <= 10:
                raise ValueError("not a volume")
        """,
        ["check(0)", "check(10)", "pytest.raises(ValueError"],
        [],
    ),
    "the class of a result": (
        """
        class Bell:
            pass
        def cast():
            return Bell()
        """,
        ["assert isinstance(cast(), Bell)"],
        [],
    ),
    "a branch that nothing shows": (
        """
        class Door:
            def knock(self, loud: bool) -> None:
                if loud:
                    self._loud = True
        """,
        ["door.knock(True)"],
        [],
    ),
}


def made(source: str, folder: Path) -> Run:
    """A run for a module."""
    (folder / "subject_module.py").write_text(textwrap.dedent(source))
    return generate(str(folder / "subject_module.py"), budget="300x", seed=1, goal="tests")


@pytest.mark.parametrize("case", every(2, CASES))
def test_what_a_maintainer_would_delete_is_left_out(case: str, tmp_path: Path) -> None:
    source, kept, reasons = CASES[case]
    run = made(textwrap.dedent(source) + textwrap.dedent(DOUBLE), tmp_path)
    assert "double" in run.source
    for text in kept:
        assert text in run.source, run.source
    assert sorted({one["reason"] for one in run.record["dropped"]}) == sorted(reasons)


def test_a_poor_suite_is_better_than_none(tmp_path: Path) -> None:
    source, _, _ = CASES["the attribute of a None"]
    run = made(source, tmp_path)
    assert "pytest.raises(AttributeError)" in run.source


def test_the_goal_of_coverage_keeps_them(tmp_path: Path) -> None:
    source, _, _ = CASES["a change that nothing shows"]
    (tmp_path / "subject_module.py").write_text(textwrap.dedent(source) + textwrap.dedent(DOUBLE))
    run = generate(str(tmp_path / "subject_module.py"), budget="300x", seed=1, goal="coverage")
    assert "bell.ring()" in run.source


@pytest.mark.parametrize(
    ("error_name", "left_out"), [("AttributeError", True), ("TypeError", True), ("NameError", False)]
)
def test_what_a_stand_in_lacks_is_not_checked_even_for_a_branch(error_name: str, left_out: bool) -> None:
    """Two tests end in an accident and take a branch of their own; one of them calls with a stand-in."""
    made = Operation(len(SUBJECT.operations), "constructor", "types", "SimpleNamespace")
    subject = replace(SUBJECT, operations=(*SUBJECT.operations, made))
    stand_in, call = Statement(made.id), Statement(FETCH, args=(Ref(0),))
    error = Name("builtins", error_name)
    tests = [
        FinishedTest("test_object", (Statement(BOOK), call), (), error),
        FinishedTest("test_stand_in", (stand_in, call), (), error),
        FinishedTest("test_value", (Statement(FIND),), (Observation(0, "", "equal", Literal("1")),)),
    ]
    engine: Any = SimpleNamespace(
        has_trace=lambda testcase: True,
        trace=lambda testcase: SimpleNamespace(raised=SimpleNamespace(kind="implicit")),
        subject=replace(subject, branches=tuple(SimpleNamespace(root=False) for _ in tests)),  # type: ignore[arg-type]
        covers=lambda name, testcases: np.eye(3, dtype=bool)[[at for (at,) in testcases]],
    )
    seen = [[Observed()]] * 3
    found = idle(engine, [(0,), (1,), (2,)], tests, seen, [None] * 3, [None] * 3)
    assert found == ({1: ACCIDENT} if left_out else {})


def test_the_class_of_a_result_is_checked_once_and_not_beside_its_value() -> None:
    """Four tests without a kill or a branch of their own, and one whose class check kills a mutant."""
    book = Name("shelf", "Book")
    value, kind = Observation(0, "", "equal", Literal("'Dune'")), Observation(0, "", "isinstance", book)
    both = [(FETCH, value), (FETCH, kind), (FIND, kind), (FIND, kind), (FIND, kind)]
    tests = [FinishedTest(f"test_{at}", (Statement(one),), (fact,)) for at, (one, fact) in enumerate(both)]
    engine: Any = SimpleNamespace(
        has_trace=lambda testcase: True,
        subject=replace(SUBJECT, branches=()),
        covers=lambda name, testcases: np.zeros((len(testcases), 0), dtype=bool),
    )
    kills = [*[KillsOfTest()] * 4, KillsOfTest({kind: {7}})]
    seen = [[Observed((fact,))] for _, fact in both]
    found = idle(engine, [(at,) for at in range(5)], tests, seen, [Observed()] * 5, kills)
    assert found == {1: REPEATED, 3: REPEATED}
