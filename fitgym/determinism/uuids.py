"""UUIDs in the worker: replaces the system's generator of version 1, which `uuid.uuid1` and `uuid.getnode` use.

The generator reads the real time and the host address. So during a search it uses the clock of the subject and an
address that no host has. Values for assertions are observed with the real generator.
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
"""Number of 100 ns steps from 15 October 1582 to the Epoch."""
_HOST = b"\x01fitgy"
"""Six bytes. The first one is odd, which is not valid for a network card."""


class Uuids:
    """Replaces the generator of UUIDs in this process from now on.

    Its method replaces the function of the module `_uuid` with the same name.

    Args:
        clock: the clock of the subject.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._fixed = True
        with contextlib.suppress(ImportError):  # then uuid calls `time.time_ns`, which `Clock` replaces
            module: Any = importlib.import_module("_uuid")
            self._real = module.generate_time_safe
            module.generate_time_safe = replacement(self.generate_time_safe, "_uuid")

    def fix(self) -> None:
        """Use the clock of the subject. Called at the beginning of a test case."""
        self._fixed = True

    def free(self) -> None:
        """Generate real UUIDs from now on. Called at the beginning of a test case whose results are observed."""
        self._fixed = False

    def generate_time_safe(self) -> tuple[bytes, int | None]:
        """Return the bytes of a UUID of version 1 (RFC 4122), and whether it is safe across processes."""
        if not self._fixed:
            return self._real()  # type: ignore[no-any-return]
        ticks = self._clock.time_ns() // 100 + _GREGORIAN
        low, middle, high = ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 | 1 << 12
        return struct.pack(">IHHH", low, middle, high, 1 << 15) + _HOST, None
