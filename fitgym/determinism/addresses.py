"""Addresses in the worker: what `id` gives to the subject and to everything that it uses.

Programs order by `id` what cannot be compared otherwise, look for it in sets and compare it with what they have kept.
Where objects lie is a matter of chance, so a search could find something else each time. While it runs, `id` counts the
objects in the order in which somebody asks. What a test asserts has to hold wherever they lie, so values are observed
with real addresses. What `id` does not say (text of objects, the order of a set of classes) comes from the addresses
themselves, so the worker is started where the kernel puts everything at the same place each time, see
`fitgym.sandbox.sandbox.same_layout`.

The worker's own modules keep the real function: `from builtins import id`.
"""

from __future__ import annotations

import builtins
from builtins import id

from fitgym.determinism.monkeypatch import replacement

__all__ = ["END_OF_NUMBERS", "Addresses"]

_STEP = 16
"""Objects lie at multiples of it."""

_FIRST = 1 << 47
"""The first number; no object lies there or above, where addresses are the kernel's."""

END_OF_NUMBERS = 1 << 48
"""Where it is counted down from when the other order is asked for."""


class Addresses:
    """What `id` gives in this process, from now on.

    Two objects have the same number exactly if they lie at the same address. What had one when the import was over keeps
    it in every test case, because the subject may have written it down.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept = 0
        self._next, self._step = _FIRST, _STEP  # the step is 0 for real addresses
        builtins.id = replacement(self.id, "builtins")

    def settle(self) -> None:
        """The import is over: each test case counts from here."""
        self._kept = len(self._numbers)

    def fix(self, *, other: bool = False) -> None:
        """Count anew; for the beginning of a test case.

        Args:
            other: count down, so that every order by `id` is another one.
        """
        self._forget()
        self._next, self._step = (END_OF_NUMBERS, -_STEP) if other else (_FIRST + _STEP * self._kept, _STEP)

    def free(self) -> None:
        """Give real addresses; for the beginning of a test case whose results are to be observed."""
        self._forget()
        self._step = 0

    def _forget(self) -> None:
        while len(self._numbers) > self._kept:
            self._numbers.popitem()

    def id(self, obj: object, /) -> int:
        """Return the identity of an object."""
        place = id(obj)
        number = self._numbers.get(place)
        if number is None:
            if not self._step:
                return place
            self._next += self._step
            number = self._numbers[place] = self._next
        return number
