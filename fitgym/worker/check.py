"""Checks: whether an observed fact still holds, decided as the assertion of an exported test would.

    "equal" v == e · "is" v is e · "approx" v == pytest.approx(e) · "nan" math.isnan(v) · "text" str(v) == e ·
    "list" list(v) == e · "length" len(v) == e · "isinstance" isinstance(v, e) · "is not" v is not e ·
    "truth" v or not v
    "message" re.search(e, str(v)), where v is the exception that ended the test case
    "stdout", "stderr", "logged" v == e, where v is that part of the output of the test case

A check may run code of the subject (an `__eq__`, or a property on the path to the value), as the assertion would. So
the journal must mark it as running. A check that raises does not hold, because the assertion would raise too.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from fitgym.messages.captured import Captured
from fitgym.messages.contents import following
from fitgym.messages.observation import CAPTURED
from fitgym.messages.protocol import WireExpression
from fitgym.worker.steps import Results, Step, maker

__all__ = ["Approx", "Check", "Checks", "WireFact", "check"]

Check = Callable[[Results], bool]

WireFact = tuple[int, str, str, WireExpression]
"""An observation as built-in values: position of the result, path to the value, kind of check, expected value."""

RELATIVE: Final = 1e-6
ABSOLUTE: Final = 1e-12


def check(fact: WireFact) -> Check:
    """Return a function that decides for the results of a test case whether the fact holds.

    Raises:
        SetupError: the expected value names something that does not exist.
        SyntaxError: the path cannot be parsed.
    """
    position, path, kind, expression = fact
    follow = following(path) if path else None
    expected = maker(expression)
    holds = _FORMS[kind]

    def decide(results: Results) -> bool:
        value = results[position]
        return holds(value if follow is None else follow(value), expected, results)

    return decide


class Checks:
    """All checks that an exported test would make for one test case.

    Args:
        facts: facts about its results.
        raises: class of the exception that ends the test case, None if it returns.
        position: index of the statement that raises, -1 for none.

    Attributes:
        of_output: some fact is about the output of the test case.

    Raises:
        SetupError, SyntaxError: see `check`.
    """

    def __init__(self, facts: Sequence[WireFact], raises: WireExpression | None, position: int) -> None:
        self._checks = [
            (kind, check((0 if kind in _OTHER else position, path, kind, e))) for position, path, kind, e in facts
        ]
        self.of_output = any(kind in CAPTURED for kind, _ in self._checks)
        self._raises: Any = None if raises is None else maker(raises)([])
        self._position = position

    def judge(
        self, results: Results, error: BaseException | None, captured: Captured | None = None
    ) -> tuple[str, tuple[int, ...]]:
        """Return how a test would detect an unexpected execution (see `Effect`), and the failing facts."""
        if error is None and self._raises is not None:
            return "returns", ()
        if error is not None:
            if len(results) != self._position:
                return "raises", ()
            if not issubclass(type(error), self._raises):
                return "exception", ()
        others = {"message": error, **(captured._asdict() if captured is not None else {})}
        failing = tuple(
            [
                index
                for index, (kind, holds) in enumerate(self._checks)
                if not _holds(holds, [others.get(kind)] if kind in _OTHER else results)
            ]
        )
        return "value" if failing else "", failing


def _holds(holds: Check, results: Results) -> bool:
    try:
        return holds(results)
    except BaseException:  # the assertion would raise too; the runner detects fuel and timer itself
        return False


class Approx:
    """Equal to the same values as `pytest.approx`, for the expected values that observations have.

    Expected values are numbers, and flat lists, tuples and dictionaries of numbers. Two numbers are equal if they
    differ by at most 1e-6 of the expected number, or by at most 1e-12.

    Args:
        expected: a number, or a list, tuple or dictionary of numbers.
    """

    __slots__ = ("_expected",)

    def __init__(self, expected: Any) -> None:
        self._expected = expected

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, actual: object) -> bool:
        expected: Any = self._expected
        value: Any = actual
        if isinstance(expected, dict):
            return hasattr(value, "keys") and set(value.keys()) == set(expected) and _all_near(value, expected)
        if isinstance(expected, (list, tuple)):
            try:
                if len(value) != len(expected):
                    return False
            except TypeError:
                return False
            return all(a == Approx(e) for a, e in zip(value, expected, strict=True))
        if isinstance(expected, bool):
            return isinstance(value, bool) and value is expected
        if value == expected:
            return True
        if not (_is_number(expected) and _is_number(value)):
            return False
        if not math.isfinite(abs(expected)):
            return False
        return bool(abs(expected - value) <= max(RELATIVE * abs(expected), ABSOLUTE))


def _is_number(value: object) -> bool:
    if isinstance(value, (int, float, complex)):
        return True
    numbers = sys.modules.get("numbers")  # if it is not loaded, no other class is registered as a number
    return numbers is not None and isinstance(value, numbers.Complex)


def _all_near(actual: Any, expected: dict[Any, Any]) -> bool:
    return all(actual[key] == Approx(value) for key, value in expected.items())


def _equal(value: Any, expected: Step, results: Results) -> bool:
    return bool(value == expected(results))


def _same(value: Any, expected: Step, results: Results) -> bool:
    return value is expected(results)


def _near(value: Any, expected: Step, results: Results) -> bool:
    return bool(value == Approx(expected(results)))


def _is_nan(value: Any, expected: Step, results: Results) -> bool:
    return math.isnan(value)


def _text(value: Any, expected: Step, results: Results) -> bool:
    return bool(str(value) == expected(results))


def _items(value: Any, expected: Step, results: Results) -> bool:
    return bool(list(value) == expected(results))


def _length(value: Any, expected: Step, results: Results) -> bool:
    return bool(len(value) == expected(results))


def _truth(value: Any, expected: Step, results: Results) -> bool:
    return bool(value) is expected(results)


def _instance(value: Any, expected: Step, results: Results) -> bool:
    return isinstance(value, expected(results))


def _is_not(value: Any, expected: Step, results: Results) -> bool:
    return value is not expected(results)


def _message_matches(value: Any, expected: Step, results: Results) -> bool:
    return re.search(expected(results), str(value)) is not None


def _warned(value: Any, expected: Step, results: Results) -> bool:
    category, text = expected(results)
    return any(issubclass(found, category) and text in ("", said) for found, said in value)


_FORMS: dict[str, Callable[[Any, Step, Results], bool]] = {
    "equal": _equal,
    "is": _same,
    "approx": _near,
    "nan": _is_nan,
    "text": _text,
    "list": _items,
    "length": _length,
    "isinstance": _instance,
    "truth": _truth,
    "is not": _is_not,
    "message": _message_matches,
    **dict.fromkeys(CAPTURED, _equal),
    "warned": _warned,
}
_OTHER = ("message", *CAPTURED)
"""The kinds of facts that are not about a result."""
