"""What a test case prints and logs is collected as `capsys` and `caplog` would collect it."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from fitgym.messages.captured import MAX_PRINTED, Captured, facts
from fitgym.messages.observation import NOT_RUN, Observation, observe
from fitgym.testcase.expression import Collection, Literal, Name
from fitgym.worker.capture import Capture
from fitgym.worker.check import Checks

LOG = logging.getLogger("fitgym.test_capture")


def captured(act: Callable[[], object]) -> Captured:
    """What `act` writes; afterwards all is as before."""
    before = sys.stdout, sys.stderr, list(logging.root.handlers)
    capture = Capture(lambda: 0)
    try:
        act()
    finally:
        found = capture.end()
    assert (sys.stdout, sys.stderr, logging.root.handlers) == before
    return found


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda: None, ("", "", [], [])),
        (lambda: print("a", "b", sep="\r\n"), ("a\r\nb\n", "", [], [])),
        (lambda: print("é", file=sys.stderr), ("", "é\n", [], [])),
        (lambda: sys.stdout.buffer.write(b"raw"), ("raw", "", [], [])),
        (lambda: LOG.warning("%d %s", 3, "eggs"), ("", "", ["3 eggs"], [])),
        (lambda: LOG.info("not shown"), ("", "", [], [])),
        (lambda: sys.stdout.close(), ("", "", [], [])),
        (lambda: logging.basicConfig(format="ignored"), ("", "", [], [])),
    ],
)
def test_what_is_written_is_collected(act: Callable[[], object], expected: tuple[object, ...]) -> None:
    assert captured(act) == expected


def test_it_equals_what_pytest_collects(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    def act() -> None:
        print("out")
        print("err", file=sys.stderr)
        LOG.error("logged %s", [1])

    ours = captured(act)
    caplog.set_level("WARNING")
    caplog.clear()
    act()
    theirs = capsys.readouterr()
    assert ours == (theirs.out, theirs.err, caplog.messages, [])


def test_the_warnings_of_the_last_statement_are_collected_whatever_the_filters_say() -> None:
    place = 0
    filters = list(warnings.filters)
    with warnings.catch_warnings(action="error"):
        capture = Capture(lambda: place)
        for place in (0, 1):
            for _ in range(2):
                warnings.warn(f"{place} is old", DeprecationWarning, stacklevel=1)
        assert capture.end().warned == [(DeprecationWarning, "1 is old")] * 2
        with pytest.raises(DeprecationWarning):
            warnings.warn("again", DeprecationWarning, stacklevel=1)
    assert warnings.filters == filters


def test_of_much_output_the_beginning_is_kept() -> None:
    def act() -> None:
        for _ in range(100):
            print("x" * 9_999)

    assert 65_536 <= len(captured(act).stdout) < 80_000


def test_a_stream_that_the_subject_puts_in_place_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    capture = Capture(lambda: 0)
    sys.stdout = sys.__stdout__
    capture.end()
    assert sys.stdout is sys.__stdout__


def test_the_descriptor_is_that_of_the_real_stream() -> None:
    class Real:
        def fileno(self) -> int:
            return 7

    from fitgym.worker.capture import _Stream

    assert _Stream(Real()).fileno() == 7


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (Captured("", "", [], []), {}),
        (Captured("a\n", "b\n", ["c"], []), {"stdout": "a\n", "stderr": "b\n", "logged": ["c"]}),
        (Captured("x" * MAX_PRINTED, "", [], []), {}),
        (Captured("<object at 0x7f1234567890>", "", [], []), {}),
        (Captured("", "shop.py:3: UserWarning: old\n", [], []), {}),
        (Captured("", "", ["a" * 300], []), {}),
    ],
)
def test_what_may_differ_or_is_too_long_is_not_expected(output: Captured, expected: dict[str, object]) -> None:
    def value(expression: object) -> object:
        if isinstance(expression, Collection):
            return [value(item) for item in expression.items]
        assert isinstance(expression, Literal)
        return eval(expression.text)

    assert {kind: value(expression) for kind, expression in facts(output, "")} == expected


OLD = Collection("tuple", (Name("builtins", "UserWarning"), Literal("'old'")))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([(UserWarning, "old"), (DeprecationWarning, "older")], [OLD]),
        ([(UserWarning, "<object at 0x7f1234567890>")], [OLD._replace(items=(OLD.items[0], Literal("''")))]),
        ([(UserWarning, "x" * MAX_PRINTED)], [OLD._replace(items=(OLD.items[0], Literal("''")))]),
        ([(ResourceWarning, "unclosed file"), (UserWarning, "old")], [OLD]),
        ([(type("Local", (UserWarning,), {}), "old")], []),
    ],
)
def test_the_first_warning_with_a_name_is_expected(given: Any, expected: list[Collection]) -> None:
    found = list(facts(Captured("", "", [], given), ""))
    assert found == [("warned", expression) for expression in expected]


def test_a_warning_before_an_exception_is_not_expected() -> None:
    output = Captured("", "", [], [(UserWarning, "old")])
    assert observe([NOT_RUN], ValueError(), captured=output).observations == ()


@pytest.mark.parametrize(
    ("warned", "holds"),
    [
        ([(UserWarning, "old")], True),
        ([(FutureWarning, "x"), (type("Local", (UserWarning,), {}), "old")], True),
        ([(UserWarning, "other")], False),
        ([(FutureWarning, "old")], False),
        ([], False),
    ],
)
def test_a_warning_is_checked_as_pytest_does(warned: Any, holds: bool) -> None:
    wire = ((1, "", "warned", ("c", "tuple", (("n", "builtins", "UserWarning"), "'old'"))),)
    checks = Checks(wire, None, -1)
    assert checks.of_output
    assert checks.judge([3], None, Captured("", "", [], warned)) == (("", ()) if holds else ("value", (0,)))


def test_facts_about_the_output_come_after_all_results() -> None:
    assert observe([None, 3], captured=Captured("hi\n", "", [], [])).observations[-1] == Observation(
        2, "", "stdout", Literal(repr("hi\n"))
    )


@pytest.mark.parametrize(
    ("output", "failing"),
    [
        (Captured("hi\n", "", ["a"], []), ()),
        (Captured("ho\n", "", ["a"], []), (1,)),
        (Captured("hi\n", "other", [], []), (2,)),
        (None, (1, 2)),  # the timer stopped the test case
    ],
)
def test_an_output_is_checked_as_the_assertion_would(output: Captured | None, failing: tuple[int, ...]) -> None:
    wire = ((0, "", "equal", "3"), (1, "", "stdout", repr("hi\n")), (1, "", "logged", ("c", "list", ("'a'",))))
    checks = Checks(wire, None, -1)
    assert checks.of_output
    assert checks.judge([3], None, output) == ("value" if failing else "", failing)


def test_warnings_are_left_to_pytest() -> None:
    def act() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            sys.stderr.write(warnings.formatwarning("old", UserWarning, "shop.py", 3))

    assert list(facts(captured(act), "")) == []
