"""Addresses in the worker: replaces `id` for the subject and everything that it uses.

Programs use `id` to order objects that cannot be compared otherwise, to look them up in sets, and to compare them with
saved ids. Real addresses are random, so a search could have other results each time. During the search, `id` numbers
the objects in the order of the calls. A test's assertions must hold at any addresses, so values are observed with real
ones. Addresses also have effects without `id` (the text of objects, the order of a set of classes). So the worker is
started with the same memory layout each time, see `fitgym.sandbox.sandbox.same_layout`.

The worker's own modules keep the real function with `from builtins import id`.
"""

from __future__ import annotations

import builtins
from builtins import id

from fitgym.determinism.monkeypatch import replacement

__all__ = ["END_OF_NUMBERS", "Addresses"]

_STEP = 16
"""Distance of two numbers: addresses of objects are multiples of it."""

_FIRST = 1 << 47
"""The first number. No object has an address from here on, because these addresses belong to the kernel."""

END_OF_NUMBERS = 1 << 48
"""The number from which the other order counts down."""


class Addresses:
    """Replaces `id` in this process from now on.

    Two objects have the same number exactly if they have the same address. An object that got its number during the
    import keeps it in every test case, because the subject may have stored it.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept = 0
        self._next, self._step = _FIRST, _STEP  # the step is 0 for real addresses
        builtins.id = replacement(self.id, "builtins")

    def settle(self) -> None:
        """End the import: each test case starts counting from here."""
        self._kept = len(self._numbers)

    def fix(self, *, other: bool = False) -> None:
        """Restart the count at the beginning of a test case.

        Args:
            other: count down, so that every order by `id` is reversed.
        """
        self._forget()
        self._next, self._step = (END_OF_NUMBERS, -_STEP) if other else (_FIRST + _STEP * self._kept, _STEP)

    def free(self) -> None:
        """Return real addresses from now on. Called at the beginning of a test case whose results are observed."""
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
