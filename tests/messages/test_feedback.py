"""Feedback: which operations count as returning iterators."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest

from fitgym.messages.feedback import Feedback
from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import ANY, Hint, union


class Countdown:
    """An iterator of the subject."""

    def __iter__(self) -> Iterator[int]:
        return iter(())

    def __next__(self) -> int:
        raise StopIteration


PRICE = Hint("class", "shop.Price")
OWN = Hint("class", f"{__name__}.Countdown")


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        (ANY, iter([1]), True),
        (Hint("iterable", args=(ANY,)), iter([1]), True),
        (union([PRICE, Hint("iterator", args=(ANY,))]), iter([1]), True),
        (OWN, Countdown(), True),
        (PRICE, iter([1]), False),
        (Hint("list", args=(ANY,)), map(str, [1]), False),
        (union([PRICE, Hint("none")]), Countdown(), False),
        (ANY, [1], False),
        (ANY, io.StringIO("a file"), False),
    ],
)
def test_an_iterator_counts_unless_another_type_is_declared(declared: Hint, value: object, expected: bool) -> None:
    feedback = Feedback()
    feedback.note(Operation(0, "function", "shop", "f", returns=declared), value, set(), drained=False)
    assert feedback.drain()[1] == ([0] if expected else [])
