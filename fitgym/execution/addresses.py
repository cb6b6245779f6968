"""Addresses in the worker: what `id` gives to the subject and to everything that it uses.

Programs order by `id` what cannot be compared otherwise, look for it in sets and compare it with what they have kept.
Where objects lie is a matter of chance, so a search could find something else each time. While it runs, `id` counts the
objects in the order in which somebody asks. What a test asserts has to hold wherever they lie, so values are observed
with real addresses. What `id` does not say (text of objects, the order of a set of classes) comes from the addresses
themselves, so the worker is started where the kernel puts everything at the same place each time.

The worker's own modules keep the real function: `from builtins import id`.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import sys
from builtins import id
from collections.abc import Iterator

from fitgym.execution.standin import stand_in

__all__ = ["END_OF_NUMBERS", "Addresses", "same_layout"]

_STEP = 16
"""Objects lie at multiples of it."""

_FIRST = 1 << 47
"""The first number; no object lies there or above, where addresses are the kernel's."""

END_OF_NUMBERS = 1 << 48
"""Where it is counted down from when the other order is asked for."""

_NOTHING = 0xFFFFFFFF
_NO_RANDOM_LAYOUT = 0x0040000  # ADDR_NO_RANDOMIZE, personality(2)


@contextlib.contextmanager
def same_layout() -> Iterator[None]:
    """Programs that are started inside the block by this thread lie at the same addresses each time.

    Nothing happens where the system does not allow that, as in some containers.
    """
    if not sys.platform.startswith("linux"):
        yield
        return
    personality = ctypes.CDLL(None).personality
    before = personality(ctypes.c_ulong(_NOTHING))
    changed = before >= 0 and personality(ctypes.c_ulong(before | _NO_RANDOM_LAYOUT)) >= 0
    try:
        yield
    finally:
        if changed:
            personality(ctypes.c_ulong(before))


class Addresses:
    """What `id` gives in this process, from now on.

    Two objects have the same number exactly if they lie at the same address. What had one when the import was over keeps
    it in every test case, because the subject may have written it down.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept = 0
        self._next, self._step = _FIRST, _STEP  # the step is 0 for real addresses
        builtins.id = stand_in(self.id, "builtins")

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
