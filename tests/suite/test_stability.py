"""Unstable tests are weakened or dropped, and the rest is measured."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import nightly
from shelf_subject import ADD, BOOK, GOLDEN, LEN, SHELF, SUBJECT, SUITE, finished, text

from fitgym.errors import FitgymError
from fitgym.messages.observation import Observation
from fitgym.subject.subject import Reference
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.runs.measure import Measured, class_lines, measure
from fitgym.suite.runs.rerun import Rerun, Verdict
from fitgym.suite.runs.stability import Stability, stabilize
from fitgym.suite.runs.verdicts import order_of
from fitgym.suite.text.dialects import DIALECTS, Dialect
from fitgym.suite.text.export import suite_text
from fitgym.testcase.expression import Literal, Name, Ref
from fitgym.testcase.statement import Statement

SUBJECT_SOURCE = """
import ctypes, itertools, os, random, time

seen = []

def shout(text):
    if text:
        return text.upper()
    return None

class Door:
    def __init__(self):
        self.open = False
    def turn(self, times):
        for _ in range(times):
            self.open = not self.open
        return self.open

def leave():
    os._exit(7)
"""

HEAD = "import os, random, time\nimport flaky\n"


class Suite:
    """Tests given as lines of Python; each `assert` stands for one assertion."""

    def __init__(self, folder: Path, **bodies: str) -> None:
        folder.joinpath("flaky.py").write_text(SUBJECT_SOURCE)
        self.reference = Reference("flaky", "flaky", str(folder / "flaky.py"), "", (str(folder),))
        self.bodies = {f"test_{name}": body.strip().splitlines() for name, body in bodies.items()}
        fact = Observation(0, "", "equal", Literal("1"))
        self.tests = [
            FinishedTest(name, (), tuple(fact._replace(position=i) for i in range(sum(map(is_assert, lines)))))
            for name, lines in self.bodies.items()
        ]
        self.texts: list[str] = []

    def render(self, tests: Sequence[FinishedTest]) -> str:
        """The file with those assertions that the tests still have."""
        text = HEAD
        for test in tests:
            number = count()
            kept = {fact.position for fact in test.assertions}
            lines = [line for line in self.bodies[test.name] if not is_assert(line) or next(number) in kept]
            fixtures = "tmp_path, monkeypatch" if test.writes else ""
            lines = ["monkeypatch.chdir(tmp_path)", *lines] if test.writes else lines
            text += f"\n\ndef {test.name}({fixtures}):\n" + "".join(f"    {line}\n" for line in lines or ["pass"])
        self.texts.append(text)
        return text

    def stabilize(self, **options: object) -> Stability:
        two: dict[str, Any] = {"runs": 2, "measure": False}  # enough where it does not matter: as written and reversed
        return stabilize(self.tests, self.render, self.reference, **(two | options))


def is_assert(line: str) -> bool:
    return line.startswith("assert ")


def left(stability: Stability) -> dict[str, list[int]]:
    """The tests that are left, each with the numbers of its assertions."""
    return {test.name: [fact.position for fact in test.assertions] for test in stability.tests}


def test_flaky_assertions_go_and_the_rest_of_their_test_stays(tmp_path: Path) -> None:
    show = "print(''.join({*'abcdefgh'}))"  # as the first run will see it
    seed_1 = os.environ | {"PYTHONHASHSEED": "1"}
    first = subprocess.run([sys.executable, "-c", show], env=seed_1, capture_output=True, text=True).stdout.strip()
    suite = Suite(
        tmp_path,
        steady="assert flaky.shout('a') == 'A'\nassert flaky.shout('') is None",
        address="assert id(flaky.shout) == 1\nassert flaky.shout('b') == 'B'\nassert id(flaky) == 2",
        clock="assert flaky.shout('c') == 'C'\nassert time.time() < 1",
        chance="assert flaky.shout('d') == 'D'\nassert random.random() == 0.5",
        hashes="assert hash('a') == 3\nassert flaky.shout('e') == 'E'",
        order="names = list({'a', 'b', 'c', 'd', 'e'})\nassert len(names) == 5\nassert names == sorted(names)",
        seeded=f"assert list('abcdefgh') == sorted({{*'abcdefgh'}})\nassert ''.join({{*'abcdefgh'}}) == {first!r}",
        missing="assert flaky.nothing == 1\nassert flaky.shout('f') == 'F'",
    )
    stability = suite.stabilize()
    assert left(stability) == {
        "test_steady": [0, 1],
        "test_address": [1],
        "test_clock": [0],
        "test_chance": [0],
        "test_hashes": [1],
        "test_order": [0],
        "test_seeded": [0],
        "test_missing": [1],
    }
    assert (stability.weakened, stability.dropped, stability.runs) == (8, (), 2)
    assert stability.complete


def test_what_holds_on_one_machine_only_is_not_asserted(tmp_path: Path) -> None:
    here = sorted(os.listdir("/"))
    folders = [
        entry.path for entry in os.scandir("/etc") if entry.is_dir() and os.access(entry.path, os.R_OK | os.X_OK)
    ]
    system = next(folder for folder in sorted(folders) if os.listdir(folder))
    leaning = {
        "zone": f"assert time.strftime('%z') == {time.strftime('%z')!r}",
        "user": f"assert os.environ.get('USER', '') == {os.environ.get('USER', '')!r}",
        "width": f"assert os.get_terminal_size.__name__ and os.environ.get('COLUMNS') == {os.environ.get('COLUMNS')!r}",
        "root": f"assert sorted(os.listdir('/')) == {here!r}",
        "system": f"assert len(os.listdir({system!r})) == {len(os.listdir(system))}",
        "scanned": f"assert sorted(entry.name for entry in os.scandir('/')) == {here!r}",
        "walked": f"assert len(next(os.walk('/'))[1]) > {len(next(os.walk('/'))[1]) - 2}",
        "arguments": "import sys\nassert len(sys.argv) > 1",
        "options": "import sys\nassert '--verdicts' in sys.argv",
        "program": "import shutil\nassert shutil.which('keyring') is None",
        "version": f"from importlib.metadata import version\nassert version('pytest') == {pytest.__version__!r}",
    }
    bodies = {name: f"assert flaky.shout('a') == 'A'\n{body}" for name, body in leaning.items()}
    own = "open('mine', 'w').close()\nopen('yours', 'w').close()\nassert sorted(os.listdir()) == ['mine', 'yours']"
    stability = Suite(tmp_path, own=own, **bodies).stabilize()
    kept = left(stability)
    assert kept.pop("test_own") == [0]
    assert kept == {f"test_{name}": [0] for name in leaning}


def test_state_that_leaks_from_one_test_to_another_is_found(tmp_path: Path) -> None:
    suite = Suite(
        tmp_path,
        first="flaky.seen.append(1)\nassert len(flaky.seen) == 1\nassert flaky.seen[-1] == 1",
        second="flaky.seen.append(2)\nassert len(flaky.seen) == 2\nassert flaky.seen[-1] == 2",
        apart="assert flaky.shout('a') == 'A'",
    )
    assert left(suite.stabilize()) == {"test_first": [1], "test_second": [1], "test_apart": [0]}


def test_a_test_that_needs_another_one_before_it_is_dropped(tmp_path: Path) -> None:
    suite = Suite(tmp_path, maker="flaky.made = 1", user="flaky.made + 1", apart="flaky.shout('a')")
    stability = suite.stabilize()
    assert set(left(stability)) == {"test_maker", "test_apart"}
    assert [(dropped.name, dropped.reason) for dropped in stability.dropped] == [("test_user", "AttributeError")]


def test_a_test_that_spoils_the_module_for_all_others_is_dropped_and_not_they(tmp_path: Path) -> None:
    users = {f"user{number}": "flaky.shout('a')" for number in range(4)}
    stability = Suite(tmp_path, **users, spoiler="flaky.shout = None").stabilize()
    assert set(left(stability)) == {f"test_{name}" for name in users}
    assert [(one.name, one.reason) for one in stability.dropped] == [("test_spoiler", "other tests fail after it")]


def test_tests_that_end_or_hang_the_interpreter_are_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fitgym.suite.runs.rerun.STILL_S", 3.0)
    suite = Suite(
        tmp_path,
        steady="assert flaky.shout('a') == 'A'",
        leaves="flaky.leave()",
        hangs="time.sleep(60)",
        crashes="import ctypes\nctypes.string_at(0)",
        quits="raise SystemExit(3)",
    )
    stability = suite.stabilize(limit_s=120.0)
    assert set(left(stability)) == {"test_steady"}
    reasons = {dropped.name: dropped.reason for dropped in stability.dropped}
    assert reasons["test_leaves"] == "ended the interpreter with code 7"
    assert reasons["test_hangs"] == "did not end in time"
    assert reasons["test_crashes"].startswith("ended the interpreter with code -")
    assert reasons["test_quits"] == "SystemExit"


def test_objects_that_cannot_be_printed_do_not_stop_the_run(tmp_path: Path) -> None:
    hostile = "class H:\n        def __repr__(self): raise SystemExit\n        __str__ = __eq__ = __repr__"
    suite = Suite(tmp_path, hostile="assert h is None\nassert flaky.shout('a') == 'A'")
    suite.bodies["test_hostile"] = [hostile, "h = H()", "assert h is None", "assert flaky.shout('a') == 'A'"]
    assert left(suite.stabilize()) == {"test_hostile": [1]}


def test_what_a_test_writes_stays_in_its_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    suite = Suite(tmp_path, writer=f"open({str(outside)!r}, 'w')", steady="flaky.shout('a')")
    stability = suite.stabilize()
    assert set(left(stability)) == {"test_steady"}
    assert not outside.exists()


def test_a_test_that_leaves_a_file_is_given_a_folder_of_its_own(tmp_path: Path) -> None:
    suite = Suite(
        tmp_path,
        maker="assert not os.path.exists('left')\nopen('left', 'w').close()\nassert os.path.exists('left')",
        remover="open('gone', 'w').close()\nos.remove('gone')\nassert not os.path.exists('gone')",
        again="assert not os.path.exists('left')\nopen('left', 'w').close()",
    )
    stability = suite.stabilize()
    assert left(stability) == {"test_maker": [0, 1], "test_remover": [0], "test_again": [0]}
    assert [test.name for test in stability.tests if test.writes] == ["test_maker", "test_again"]


def test_a_test_that_looks_at_the_files_of_a_project_is_given_an_empty_folder(tmp_path: Path) -> None:
    suite = Suite(
        tmp_path,
        asks="assert not os.path.exists('pyproject.toml')\nassert flaky.shout('a') == 'A'",
        opens="try:\n    open(file='setup.cfg').close()\nexcept OSError:\n    pass\nassert 1",
        lists="assert len(os.listdir()) < 9",
        removes="for name in os.listdir():\n    if name.endswith('.gz'):\n        os.remove(name)\nassert 1",
        ignores="assert not os.path.exists('other') and os.path.exists('.')\nassert flaky.shout('b') == 'B'",
    )
    stability = suite.stabilize()
    assert left(stability) == {
        "test_asks": [0, 1],
        "test_opens": [0],
        "test_lists": [0],
        "test_removes": [0],
        "test_ignores": [0, 1],
    }
    assert [test.name for test in stability.tests if not test.writes] == ["test_ignores"]


def test_a_file_that_cannot_be_imported_loses_the_guilty_part(tmp_path: Path) -> None:
    suite = Suite(tmp_path, a="flaky.shout('a')", b="flaky.shout('b')", c="flaky.shout('c')", d="flaky.shout('d')")
    plain = suite.render

    def render(tests: Sequence[FinishedTest]) -> str:
        needs = "import no_such_module\n" if any(test.name == "test_c" for test in tests) else ""
        return needs + plain(tests)

    stability = stabilize(suite.tests, render, suite.reference, measure=False, runs=1)
    assert set(left(stability)) == {"test_a", "test_b", "test_d"}
    assert "no_such_module" in stability.dropped[0].reason


def test_a_test_that_is_no_valid_python_costs_only_itself(tmp_path: Path) -> None:
    suite = Suite(
        tmp_path, **{letter: f"flaky.shout('{letter}')" for letter in "abcdefghijklmnopqrstuvwxyz"}, bad="1 +"
    )
    stability = suite.stabilize()
    assert len(stability.tests) == 26
    assert [(test.name, test.reason) for test in stability.dropped] == [("test_bad", "its text is not valid Python")]


def test_nothing_is_left_of_a_suite_whose_subject_cannot_be_imported(tmp_path: Path) -> None:
    suite = Suite(tmp_path, a="flaky.shout('a')")
    tmp_path.joinpath("flaky.py").write_text("raise ValueError('not today')")
    stability = suite.stabilize(measure=True)
    assert (stability.tests, stability.measured, stability.complete) == ((), None, True)
    assert "not today" in stability.dropped[0].reason


def test_without_tests_nothing_is_run(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    assert (suite.stabilize().tests, suite.texts) == ((), [])


def test_of_two_tests_in_each_others_way_one_stays(tmp_path: Path) -> None:
    add = "assert flaky.shout('b') == 'B'\nif 'b' in flaky.seen: raise KeyError\nflaky.seen.append('b')"
    suite = Suite(tmp_path, one=add, other=add, apart="assert flaky.shout('a') == 'A'")
    suite.tests[1] = replace(suite.tests[1], statements=(Statement(0),))
    stability = suite.stabilize()
    assert set(left(stability)) == {"test_other", "test_apart"}  # the longer one
    assert [(dropped.name, dropped.reason) for dropped in stability.dropped] == [("test_one", "KeyError")]


def test_out_of_time_both_orders_are_still_run(tmp_path: Path) -> None:
    suite = Suite(tmp_path, a="assert flaky.shout('a') == 'A'", b="assert id(flaky) == 1\nassert flaky.shout('b')")
    stability = suite.stabilize(runs=5, measure=True, deadline=Deadline(soft=0.0))
    assert (stability.runs, stability.wanted, stability.complete) == (2, 5, False)
    assert left(stability) == {"test_a": [0], "test_b": [1]}  # to drop the whole test would not take less time
    assert stability.measured is not None


def test_what_has_not_passed_at_the_last_moment_is_dropped(tmp_path: Path) -> None:
    suite = Suite(tmp_path, a="assert flaky.shout('a') == 'A'", b="assert flaky.shout('b') == 'B'")
    stability = suite.stabilize(deadline=Deadline(soft=0.0, hard=0.0))
    assert (stability.tests, stability.runs, stability.measured, suite.texts) == ((), 0, None, [])
    assert [(d.name, d.reason) for d in stability.dropped] == [
        ("test_a", "no time was left to see it pass"),
        ("test_b", "no time was left to see it pass"),
    ]


@nightly
def test_a_run_that_hangs_is_given_up_while_there_is_time_for_the_others(tmp_path: Path) -> None:
    suite = Suite(tmp_path, a="assert flaky.shout('a') == 'A'", endless="while True: pass")
    started = time.monotonic()
    stability = suite.stabilize(deadline=Deadline(soft=started, hard=started + 60.0))
    assert (list(left(stability)), stability.runs) == (["test_a"], 2)
    assert [(d.name, d.reason) for d in stability.dropped] == [("test_endless", "did not end in time")]


# Little time, on a clock that only runs while tests run


@dataclass
class Session:
    """Stands in for interpreters: tests fail as it is said, and time passes as they say.

    Attributes:
        seconds: of each test; `STARTING` more for each run.
        fails: tells from the tests before it whether a test fails.
        hard: when the last run has to be over; the soft end has passed.
    """

    seconds: dict[str, float]
    fails: Callable[[str, list[str]], bool] = lambda name, before: False
    hard: float = math.inf
    now: float = 0.0
    runs: list[tuple[int, list[str], bool]] = field(default_factory=list)

    STARTING = 1.0

    @property
    def left(self) -> float:
        return -self.now

    @property
    def rest(self) -> float:
        return self.hard - self.now

    def rerun(self, text: str, reference: Reference, **options: Any) -> Any:
        names = re.findall(r"def (\w+)", text)
        names = [names[i] for i in order_of(len(names), options["order"])]
        verdicts: dict[str, Verdict] = {}
        limit, patience = options["limit_s"], options["patience_s"]
        limit = min(limit, patience) if patience >= 2 * self.STARTING else limit
        now = self.STARTING
        for position, name in enumerate(names):
            now += self.seconds[name]
            if now > limit:
                verdicts[name] = Verdict(False, (), "did not end in time", seconds=self.seconds[name] - now + limit)
                break
            failed = self.fails(name, names[:position])
            verdicts[name] = Verdict(not failed, (), "KeyError" if failed else "", seconds=self.seconds[name])
        finished, took, started = now <= limit, min(now, limit), self.now
        self.runs.append((options["order"], names, finished and all(v.passed for v in verdicts.values())))

        def look() -> bool:
            self.now = max(self.now, started + took)
            return True

        return SimpleNamespace(
            imported={},
            verdicts=verdicts,
            finished=finished,
            seconds=took,
            unusable="",
            timed_out=not finished,
            look=look,
            close=bool,
        )

    def stabilize(self, monkeypatch: pytest.MonkeyPatch) -> Stability:
        monkeypatch.setattr("fitgym.suite.runs.stability.Rerun", self.rerun)
        tests = [FinishedTest(name, (), ()) for name in self.seconds]

        def render(chosen: Sequence[FinishedTest]) -> str:
            return "".join(f"def {test.name}(): ...\n" for test in chosen)

        deadline: Any = self
        return stabilize(tests, render, Reference("m", "m", "m.py", "", ()), deadline=deadline, measure=False)


def names_of(stability: Stability) -> list[str]:
    return [test.name for test in stability.tests]


def test_of_tests_too_slow_for_the_time_left_the_fastest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # Half of the time is 8: from the front a to e end in it, from the back g, and f does not. In the other half, with a
    # margin, 8 / 1.25 = 6.4 can be spent: 1 to start and 5 tests, but not a.
    session = Session({"a": 3.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0, "f": 8.0, "g": 1.0}, hard=16.0)
    assert names_of(session.stabilize(monkeypatch)) == ["b", "c", "d", "e", "g"]
    assert session.runs[-2:] == [(0, ["b", "c", "d", "e", "g"], True), (1, ["g", "e", "d", "c", "b"], True)]


def test_a_test_that_ends_each_run_does_not_cost_those_that_passed_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"a": 0.1, "b": 0.1, "endless": 100.0, "c": 0.1, "d": 0.1}
    session = Session(seconds, hard=6.0)  # for one batch: a and b pass in the order of the file, c and d in reverse
    assert names_of(session.stabilize(monkeypatch)) == ["a", "b", "c", "d"]


def test_one_test_that_breaks_all_after_it_does_not_cost_them(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(8)]

    def fails(name: str, before: list[str]) -> bool:
        return name == "t6" or "t6" in before

    session = Session(dict.fromkeys(names, 0.1), fails, hard=4.0)  # for the second batch and none after it
    assert names_of(session.stabilize(monkeypatch)) == [name for name in names if name != "t6"]


@pytest.mark.parametrize("place", range(8))
def test_a_test_that_passes_and_breaks_all_after_it_goes_alone(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(8)]
    guilty = names[place]
    session = Session(dict.fromkeys(names, 0.1), lambda name, before: guilty in before)
    stability = session.stabilize(monkeypatch)
    assert names_of(stability) == [name for name in names if name != guilty]
    assert [(one.name, one.reason) for one in stability.dropped] == [(guilty, "other tests fail after it")]


def test_several_go_if_it_is_unclear_which_of_them_breaks_more_others(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(8)]

    def fails(name: str, before: list[str]) -> bool:  # t7 breaks only the first five
        return "t7" in before and name < "t5"

    stability = Session(dict.fromkeys(names, 0.1), fails).stabilize(monkeypatch)
    assert names_of(stability) == names[:5]


def test_before_the_last_batch_all_go_that_failed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(8)]

    def fails(name: str, before: list[str]) -> bool:  # t0 when it is last, t7 when it is last
        return name in ("t0", "t7") and len(before) == 7

    session = Session(dict.fromkeys(names, 0.1), fails, hard=4.0)
    assert names_of(session.stabilize(monkeypatch)) == names[1:7]


def test_two_tests_that_break_all_after_them_do_not_cost_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"t{number}" for number in range(5)]

    def fails(name: str, before: list[str]) -> bool:  # each order begins with one that breaks the rest
        return name in ("t0", "t4") or "t0" in before or "t4" in before

    for hard in (4.0, 100.0):
        session = Session(dict.fromkeys(names, 0.0), fails, hard=hard)
        assert names_of(session.stabilize(monkeypatch)) == names[1:4]


def test_when_all_tests_fail_for_themselves_it_comes_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session({f"t{number}": 0.1 for number in range(40)}, lambda name, before: True)
    assert names_of(session.stabilize(monkeypatch)) == []
    assert len(session.runs) == 8


def test_what_passes_is_not_given_up_for_a_longer_run(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session({"a": 0.1, "b": 0.2}, hard=1.4)  # half of it would not do even for one
    assert names_of(session.stabilize(monkeypatch)) == ["a", "b"]


class Slowing(Session):
    """A machine that becomes three times slower after its first two runs."""

    def rerun(self, text: str, reference: Reference, **options: Any) -> Any:
        if len(self.runs) == 2:
            self.seconds = {name: 3 * seconds for name, seconds in self.seconds.items()}
        return super().rerun(text, reference, **options)


def test_tests_that_passed_in_both_orders_are_kept_if_another_batch_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Slowing({"a": 3.0, "b": 3.0, "bad": 3.0, "c": 3.0}, lambda name, before: name == "bad", hard=27.0)
    stability = session.stabilize(monkeypatch)
    assert (names_of(stability), stability.runs, stability.measured) == (["a", "c"], 0, None)
    assert [test.name for test in stability.dropped] == ["bad", "b"]  # b was running when the batch was cut off


@given(
    seconds=st.lists(st.floats(0.0, 2.0), min_size=1, max_size=12),
    bad=st.sets(st.integers(0, 11)),
    breaking=st.sets(st.integers(0, 11), max_size=2),
    hard=st.floats(0.0, 40.0),
)
def test_what_is_kept_passed_both_orders_before_the_hard_end(
    seconds: list[float], bad: set[int], breaking: set[int], hard: float
) -> None:
    names = [f"t{number}" for number in range(len(seconds))]
    broken = {f"t{number}" for number in bad}
    breakers = {f"t{number}" for number in breaking}
    session = Session(
        dict(zip(names, seconds, strict=True)), lambda name, before: name in broken or bool(breakers & {*before}), hard
    )
    with pytest.MonkeyPatch.context() as monkeypatch:
        stability = session.stabilize(monkeypatch)
    assert session.now <= hard
    assert {*names_of(stability), *(dropped.name for dropped in stability.dropped)} == {*names}
    kept = names_of(stability)
    assert not set(kept) & broken
    if kept and stability.runs:
        assert session.runs[-2:] == [(0, kept, True), (1, kept[::-1], True)]
    elif kept:  # there was no time for another batch
        assert any(order == 0 and {*kept} <= {*ran} and not clean for order, ran, clean in session.runs)
    good = [name for name in names if name not in broken | breakers]
    batch = session.STARTING + sum(seconds)
    if (
        good and not breakers - broken and hard > 3 * batch
    ):  # one batch to see it, one more if each order showed its own
        assert kept
    if good == names and hard > batch and (hard < 4 * session.STARTING or hard > 2 * batch):
        assert kept == names


def test_every_run_has_its_own_hash_seed_and_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []
    plain = Rerun.__post_init__

    def noting(self: Rerun) -> None:
        made.append((self.order, self.hash_seed))
        plain(self)

    monkeypatch.setattr(Rerun, "__post_init__", noting)
    suite = Suite(tmp_path, a="assert flaky.shout('a') == 'A'\nassert id(flaky) == 1")
    suite.stabilize(runs=5)
    assert [order for order, _ in made] == [0, 1, 0, 1, 6, 7, 8]
    assert len({seed for _, seed in made}) == 7


@pytest.mark.parametrize(("order", "expected"), [(0, [0, 1, 2, 3]), (1, [3, 2, 1, 0])])
def test_the_first_two_orders_put_each_of_two_tests_first_once(order: int, expected: list[int]) -> None:
    assert order_of(4, order) == expected


def test_later_orders_are_shuffled_and_repeatable() -> None:
    orders = [order_of(20, number) for number in range(2, 8)]
    assert orders == [order_of(20, number) for number in range(2, 8)]
    assert len({tuple(order) for order in orders}) == 6
    assert all(sorted(order) == list(range(20)) for order in orders)


# A rerun


def rerun(folder: Path, text: str, **options: object) -> Rerun:
    suite = Suite(folder)
    made = Rerun(HEAD + text, suite.reference, **options)  # type: ignore[arg-type]
    try:
        return made.wait()
    finally:
        made.close()


def test_all_assertions_after_a_failing_one_are_tried(tmp_path: Path) -> None:
    text = "def test_a():\n    x = 1\n    assert x == 1\n    assert x == 2\n    assert x.y\n    assert x\n    assert not x\n"
    assert rerun(tmp_path, text).verdicts == {"test_a": Verdict(False, (1, 2, 4), "AssertionError")}


def test_a_failure_before_the_assertions_is_not_blamed_on_them(tmp_path: Path) -> None:
    text = "def test_a():\n    flaky.nothing\n    assert True\n"
    assert rerun(tmp_path, text).verdicts == {"test_a": Verdict(False, (), "AttributeError")}


def test_a_missing_exception_is_a_failure_of_the_test(tmp_path: Path) -> None:
    text = (
        "import pytest\ndef test_a():\n    with pytest.raises(ValueError):\n        flaky.shout('')\n    assert False\n"
    )
    assert rerun(tmp_path, text).verdicts == {"test_a": Verdict(False, (), "Failed")}


def test_the_hash_seed_reaches_the_interpreter(tmp_path: Path) -> None:
    text = "def test_a():\n    assert os.environ['PYTHONHASHSEED'] == '42'\n"
    assert rerun(tmp_path, text, hash_seed=42).verdicts == {"test_a": Verdict(True)}


def test_neither_plugins_nor_settings_of_the_machine_take_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k nothing_has_this_name")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    tmp_path.joinpath("conftest.py").write_text("raise ValueError")
    assert rerun(tmp_path, "def test_a():\n    pass\n").verdicts == {"test_a": Verdict(True)}


def test_a_rerun_leaves_neither_folder_nor_process(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    made = Rerun("import time\ntime.sleep(60)", suite.reference, limit_s=0.5)
    made.wait()
    made.close()
    assert not made.coverage_file.parent.exists()
    with pytest.raises(ProcessLookupError):
        os.killpg(made._process.pid, 0)
    assert made.unusable and not made.finished


def test_a_test_that_stops_the_clocks_has_its_own_duration(tmp_path: Path) -> None:
    text = (
        "import sys, time\n"
        "def test_a():\n"
        "    real = time.perf_counter, time.time, time.monotonic\n"
        "    for module in list(sys.modules.values()):\n"
        "        for name, value in list(getattr(module, '__dict__', {}).items()):\n"
        "            if any(value is clock for clock in real):\n"
        "                setattr(module, name, lambda: 10.0**9)\n"
        "def test_b():\n    pass\n"
    )
    verdicts = rerun(tmp_path, text).verdicts
    assert verdicts == {"test_a": Verdict(False, (), "a clock stays replaced"), "test_b": Verdict(True)}
    assert all(0.0 <= verdict.seconds < 60.0 for verdict in verdicts.values())


@pytest.mark.parametrize("breaks", [True, False])
def test_a_run_in_which_pytest_breaks_at_its_end_is_not_finished(tmp_path: Path, breaks: bool) -> None:
    text = f"def test_a(request):\n    if {breaks}:\n        request.config.add_cleanup(lambda: 1 / 0)\n"
    made = rerun(tmp_path, text)
    assert made.verdicts == {"test_a": Verdict(True)} and made.finished is not breaks


@pytest.mark.parametrize(
    "change", ["time.perf_counter = lambda: 0.0", "datetime.date = type('date', (datetime.date,), {})"]
)
def test_a_test_that_leaves_a_clock_replaced_fails_and_the_next_one_has_the_true_clock(
    tmp_path: Path, change: str
) -> None:
    text = (
        "import datetime, time\n"
        "clock, day = time.perf_counter, datetime.date\n"
        "def test_a(monkeypatch):\n    monkeypatch.setattr(time, 'perf_counter', lambda: 0.0)\n"
        f"def test_b():\n    {change}\n"
        "def test_c():\n    assert time.perf_counter is clock and datetime.date is day\n"
    )
    made = rerun(tmp_path, text)
    left = Verdict(False, (), "a clock stays replaced")
    assert made.verdicts == {"test_a": Verdict(True), "test_b": left, "test_c": Verdict(True)}


def test_another_machine_and_the_import_of_the_file_may_replace_clocks(tmp_path: Path) -> None:
    text = "import time\ntime.perf_counter = lambda: 0.0\ndef test_a():\n    time.tzset()\ndef test_b():\n    pass\n"
    for elsewhere in (False, True):
        made = rerun(tmp_path, text, elsewhere=elsewhere)
        assert made.verdicts == {"test_a": Verdict(True), "test_b": Verdict(True)}


HANGING = [
    ("thread", "threading.Thread(target=threading.Event().wait).start()", "a thread does not end"),
    ("loop of C", "sum(range(10**12))", "did not end in time"),
]


@pytest.mark.parametrize(
    ("name", "body", "why"),
    [pytest.param(*row, id=row[0], marks=nightly if at else ()) for at, row in enumerate(HANGING)],
)
def test_what_hangs_is_not_waited_for_until_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, body: str, why: str
) -> None:
    monkeypatch.setattr("fitgym.suite.runs.rerun.STILL_S", 1.0)
    text = f"import threading\ndef test_a():\n    pass\ndef test_b():\n    {body}\n"
    made = rerun(tmp_path, text, limit_s=100.0)
    assert made.verdicts == {"test_a": Verdict(True), "test_b": Verdict(False, (), why)}
    assert made.timed_out and not made.finished and made.seconds < 90


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "threading.Event().wait()",
        "assert time.sleep(60)",
        "try: time.sleep(60)\n    except: pass\n    time.sleep(60)",
    ],
)
def test_after_a_test_that_is_interrupted_the_others_run(tmp_path: Path, body: str) -> None:
    text = f"import threading, time\ndef test_a():\n    pass\ndef test_b():\n    {body}\ndef test_c():\n    pass\n"
    made = rerun(tmp_path, text, limit_s=100.0, still_s=0.3)
    passed = {"test_a": Verdict(True), "test_c": Verdict(True)}
    assert made.verdicts == {**passed, "test_b": Verdict(False, (), "did not end in time")}
    assert made.finished and not made.timed_out


def test_a_test_may_empty_its_home(tmp_path: Path) -> None:
    text = "import shutil\ndef test_a():\n    shutil.rmtree(os.environ['HOME'])\n"
    made = rerun(tmp_path, text)
    assert not made.finished and not made.verdicts.get("test_a", Verdict(False)).passed


def test_a_second_wait_is_harmless(tmp_path: Path) -> None:
    started = time.monotonic()
    made = rerun(tmp_path, "def test_a():\n    pass\n")
    made.close()
    assert 0 < made.seconds <= time.monotonic() - started


# Measurement


def test_branches_and_lines_are_counted_as_coverage_py_does(tmp_path: Path) -> None:
    # shout has one decision, turn one loop: 4 branches. Lines: 2 imports and assignments, 4 def or class lines with
    # leave, 3 in shout, 1 in __init__, 3 in turn, 1 in leave.
    suite = Suite(tmp_path, a="flaky.shout('a')", b="flaky.Door().turn(2)")
    assert suite.stabilize(runs=1, measure=True).measured == Measured(3, 4, 13, 15)


def test_a_test_that_covers_something_else_from_run_to_run_is_dropped(tmp_path: Path) -> None:
    suite = Suite(
        tmp_path,
        steady="assert flaky.shout('a') == 'A'",
        wanders="flaky.Door().turn(int(os.environ['PYTHONHASHSEED']) % 2)",
    )
    stability = suite.stabilize(measure=True)
    assert left(stability) == {"test_steady": [0]}
    assert [(test.name, test.reason) for test in stability.dropped] == [
        ("test_wanders", "covers something else from run to run")
    ]
    assert stability.complete


def test_who_fills_a_cache_first_is_not_to_blame(tmp_path: Path) -> None:
    once = "flaky.seen or flaky.seen.append(flaky.Door().turn(1))"
    suite = Suite(tmp_path, a=once, b=once)
    stability = suite.stabilize(measure=True)
    assert list(left(stability)) == ["test_a", "test_b"]
    assert stability.dropped == ()


def test_of_a_class_only_its_own_lines_count(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    file = tmp_path / "test_x.py"
    file.write_text(HEAD + "def test_a():\n    flaky.shout('a')\n    flaky.Door().turn(0)\n")
    assert measure(file, replace(suite.reference, class_name="Door")) == Measured(1, 2, 6, 7)


def test_a_subject_that_is_never_imported_is_not_covered(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    file = tmp_path / "test_x.py"
    file.write_text("def test_a():\n    pass\n")
    measured = measure(file, suite.reference)
    assert (measured.branches_covered, measured.branches_total, measured.lines_covered) == (0, 4, 0)
    assert measured.branch_coverage == 0.0


def test_a_run_without_data_is_an_error(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    file = tmp_path / "test_x.py"
    file.write_text("import os\nos._exit(1)")
    with pytest.raises(FitgymError, match="could not be measured"):
        measure(file, suite.reference)


def test_a_module_without_branches_is_covered_completely() -> None:
    assert Measured(0, 0, 3, 3).branch_coverage == 1.0


@pytest.mark.parametrize(
    ("name", "expected"),
    [("A", (1, 4)), ("A.B", (3, 4)), ("C", (7, 9)), ("D", (13, 13))],
)
def test_the_lines_of_a_class(name: str, expected: tuple[int, int]) -> None:
    source = "class A:\n x = 1\n class B:\n  y = 2\n\nif 1:\n @decorated\n class C:\n  pass\n"
    source += "try:\n import a\nexcept ImportError:\n class D: pass\n"
    assert class_lines(source, name) == expected


def test_a_class_that_is_not_there_has_no_lines() -> None:
    with pytest.raises(KeyError):
        class_lines("x = 1", "A")


# Together


def test_the_suite_of_the_shelf_is_stable_and_measured() -> None:
    def render(tests: Sequence[FinishedTest]) -> str:
        return suite_text(tests, SUBJECT, folder=GOLDEN)

    stability = stabilize(finished(), render, SUBJECT.reference)
    assert (len(stability.tests), stability.runs, stability.weakened, stability.dropped) == (len(SUITE), 5, 0, ())
    assert stability.measured is not None
    assert stability.measured.branch_coverage == 1.0


# Suites as they are exported


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_what_is_not_so_each_time_is_not_expected_any_more(dialect: Dialect) -> None:
    new, book = Statement(SHELF, args=(text(1),)), Statement(BOOK, args=(text("Dune"),))
    add = Statement(ADD, 0, (Ref(1),))
    false = Observation(1, "", "equal", text(7))
    refused = FinishedTest("test_refused", (new, book, add, add), (), Name("shelf", "ShelfError"), "another message")
    counted = FinishedTest("test_counted", (new, Statement(LEN, 0)), (false,))
    right = replace(refused, name="test_right", match="Dune is here")

    def render(tests: Sequence[FinishedTest]) -> str:
        return suite_text(tests, SUBJECT, folder=GOLDEN, dialect=dialect)

    stability = stabilize([refused, counted, right], render, SUBJECT.reference, runs=2, measure=False)
    assert (stability.weakened, stability.dropped) == (2, ())
    assert [test.match for test in stability.tests] == ["", "", "Dune is here"]
    assert stability.tests[1].assertions == (Observation(1, "", "isinstance", Name("builtins", "int")),)
