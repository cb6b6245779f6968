"""UUIDs of the worker: what the system's generator of version 1 gives, from which `uuid.uuid1` and `getnode` have theirs.

It reads the time and the address of the host itself, so while a search runs it is made of the time that the subject sees and
of an address that no host has. What a test asserts is observed with real ones.
"""

from __future__ import annotations

import contextlib
import importlib
import struct
from typing import Any

from fitgym.determinism.clock import Clock
from fitgym.determinism.monkeypatch import replacement

__all__ = ["Uuids"]

_GREGORIAN = 0x01B21DD213814000
"""Steps of 100 ns from the 15th of October 1582 to the Epoch."""
_HOST = b"\x01fitgy"
"""Six bytes; the first one is odd, as in no address of a network card."""


class Uuids:
    """What identifies by time and host in this process, from now on.

    Its method stands in for the function of the module `_uuid` with the same name.

    Args:
        clock: what time it is.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._fixed = True
        with contextlib.suppress(ImportError):  # uuid asks the clock itself then
            module: Any = importlib.import_module("_uuid")
            self._real = module.generate_time_safe
            module.generate_time_safe = replacement(self.generate_time_safe, "_uuid")

    def fix(self) -> None:
        """Go by the clock; for the beginning of a test case."""
        self._fixed = True

    def free(self) -> None:
        """Show real ones; for the beginning of a test case whose results are to be observed."""
        self._fixed = False

    def generate_time_safe(self) -> tuple[bytes, int | None]:
        """The bytes of a UUID of version 1 (RFC 4122), and whether no other process can have got the same."""
        if not self._fixed:
            return self._real()  # type: ignore[no-any-return]
        ticks = self._clock.time_ns() // 100 + _GREGORIAN
        low, middle, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 | 1 << 12
        return struct.pack(">IHHH", low, middle, high, 1 << 15) + _HOST, None
