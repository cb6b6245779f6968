"""The clock of the worker: what `time.time` gives to the subject and to everything that it uses.

Programs compare what time it is with what they have kept, and how far from each other two times are is a distance that
guides the search. So while it runs, the clock starts at the same moment in each test case and goes on whenever somebody
looks. What a test asserts has to hold at any time, so values are observed at the real one.

`time.monotonic` and its like are real always: libraries wait by them. So is what `datetime` reads itself.
"""

from __future__ import annotations

import time
from time import struct_time
from typing import Any

from fitgym.execution.standin import stand_in

__all__ = ["MOMENTS", "Clock"]

MOMENTS = (1_700_000_000.0, 1_757_000_000.0)
"""Where the clock starts, and where it starts otherwise: another year, month, day and hour."""
_LOOK_S = 2.0**-10
"""Seconds between two looks: a loop that waits for a second looks a thousand times."""


class Clock:
    """What time it is in this process, from now on.

    Its methods stand in for the functions of the module `time` with the same names.
    """

    def __init__(self) -> None:
        self._fixed = True
        self._now = self._start = MOMENTS[0]
        self._real: Any = {name: getattr(time, name) for name in _REPLACED}
        for name in _REPLACED:
            setattr(time, name, stand_in(getattr(self, name), "time"))

    def settle(self) -> None:
        """The import is over: each test case starts at this moment."""
        self._start = self._now

    def fix(self, *, other: bool = False) -> None:
        """Go back to the start; for the beginning of a test case.

        Args:
            other: to another one.
        """
        self._fixed = True
        self._now = MOMENTS[1] if other else self._start

    def free(self) -> None:
        """Show the real time; for the beginning of a test case whose results are to be observed."""
        self._fixed = False

    def time(self) -> float:
        """Return the current time in seconds since the Epoch."""
        if not self._fixed:
            return float(self._real["time"]())
        self._now += _LOOK_S
        return self._now

    def time_ns(self) -> int:
        """Return the current time in nanoseconds since the Epoch."""
        return int(self.time() * 1e9) if self._fixed else int(self._real["time_ns"]())

    def sleep(self, seconds: float, /) -> None:
        """Delay execution for a given number of seconds."""
        self._real["sleep"](seconds)
        self._now += seconds

    def localtime(self, seconds: float | None = None, /) -> struct_time:
        """Convert seconds since the Epoch to a time tuple expressing local time."""
        return self._real["localtime"](self.time() if seconds is None else seconds)  # type: ignore[no-any-return]

    def gmtime(self, seconds: float | None = None, /) -> struct_time:
        """Convert seconds since the Epoch to a time tuple expressing UTC."""
        return self._real["gmtime"](self.time() if seconds is None else seconds)  # type: ignore[no-any-return]

    def ctime(self, seconds: float | None = None, /) -> str:
        """Convert a time in seconds since the Epoch to a string in local time."""
        return str(self._real["ctime"](self.time() if seconds is None else seconds))

    def asctime(self, *t: Any) -> str:
        """Convert a time tuple to a string."""
        return str(self._real["asctime"](*t or (self.localtime(),)))

    def strftime(self, format: str, *t: Any) -> str:
        """Convert a time tuple to a string according to a format specification."""
        return str(self._real["strftime"](format, *t or (self.localtime(),)))


_REPLACED = ("time", "time_ns", "sleep", "localtime", "gmtime", "ctime", "asctime", "strftime")
