"""The clock of the worker: what time it is for the subject and for everything that it uses.

Programs compare what time it is with what they have kept, and how far from each other two times are is a distance that
guides the search. So while it runs, the clock starts at the same moment in each test case and goes on whenever somebody
looks. What a test asserts has to hold at any time, so values are observed at the real one.

`time.monotonic` is real for other packages than the subject's: libraries wait by it. So are `time.thread_time` and
`time.clock_gettime` for all, which hardly any program asks.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections.abc import Callable
from datetime import datetime, tzinfo
from time import struct_time
from typing import Any

from fitgym.determinism.monkeypatch import replacement

__all__ = ["MOMENTS", "Clock"]

MOMENTS = (1_700_000_000.0, 1_757_000_000.0)
"""Where the clock starts, and where it starts otherwise: another year, month, day and hour."""
_LOOK_S = 2.0**-10
"""Seconds between two looks: a loop that waits for a second looks a thousand times."""
_WAIT_S = 0.25
"""Who waits in another way than by sleeping, for a lock or an answer, sees that time has passed in steps of so many seconds;
a test case that takes less finds the same always."""


class Clock:
    """What time it is in this process, from now on.

    Its methods stand in for the functions of the module `time` with the same names, functions of ours for `datetime.now` and
    `utcnow`. All else in `datetime` asks `time.time`.

    Args:
        subject: name of the module under test.
    """

    def __init__(self, subject: str) -> None:
        self._fixed = True
        self._now = self._start = MOMENTS[0]
        self._began: float | None = None  # the test case, by the real clock
        self._subject = subject
        package = subject.partition(".")[0]
        self._package = "" if package in sys.stdlib_module_names else package
        self._real: Any = {name: getattr(time, name) for name in _REPLACED}
        for name in _REPLACED:
            setattr(time, name, replacement(getattr(self, name), "time"))
        self._replace_in_datetime()

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
        self._began = self._real["monotonic"]()

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

    def monotonic(self) -> float:
        """Monotonic clock, cannot go backward."""
        if self._fixed and self._is_subject(sys._getframe(1).f_globals.get("__name__")):
            return self._elapsed()
        return float(self._real["monotonic"]())

    def monotonic_ns(self) -> int:
        """Monotonic clock, cannot go backward, as nanoseconds."""
        if self._fixed and self._is_subject(sys._getframe(1).f_globals.get("__name__")):
            return int(self._elapsed() * 1e9)
        return int(self._real["monotonic_ns"]())

    def perf_counter(self) -> float:
        """Performance counter for benchmarking."""
        return self._elapsed() if self._fixed else float(self._real["perf_counter"]())

    def perf_counter_ns(self) -> int:
        """Performance counter for benchmarking as nanoseconds."""
        return int(self._elapsed() * 1e9) if self._fixed else int(self._real["perf_counter_ns"]())

    def process_time(self) -> float:
        """Process time for profiling: sum of the kernel and user-space CPU time."""
        return self._elapsed() if self._fixed else float(self._real["process_time"]())

    def process_time_ns(self) -> int:
        """Process time for profiling as nanoseconds: sum of the kernel and user-space CPU time."""
        return int(self._elapsed() * 1e9) if self._fixed else int(self._real["process_time_ns"]())

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

    def _elapsed(self) -> float:
        """Seconds since some moment before the test case."""
        self._now += _LOOK_S
        began = self._began
        waited = 0.0 if began is None else (self._real["monotonic"]() - began) // _WAIT_S * _WAIT_S
        return self._now - MOMENTS[0] + _BEFORE_S + waited

    def _is_subject(self, module: str | None) -> bool:
        """A module belongs to the subject: it is the one under test, or one of its package."""
        if module is None or not self._package:
            return module == self._subject
        return module.partition(".")[0] == self._package

    def _replace_in_datetime(self) -> None:
        """Types written in C let nobody set an attribute; what is behind `vars` can be changed, if it is made known."""
        (attributes,) = gc.get_referents(vars(datetime))
        real = dict(attributes)

        def now(cls: type[datetime], tz: tzinfo | None = None) -> datetime:
            if self._fixed:
                return _of(cls, real["fromtimestamp"])(self.time(), tz)
            return _of(cls, real["now"])(tz)

        def utcnow(cls: type[datetime]) -> datetime:
            return _of(cls, real["utcfromtimestamp"])(self.time()) if self._fixed else _of(cls, real["utcnow"])()

        for function in (now, utcnow):
            name = function.__name__
            function.__module__, function.__qualname__ = "datetime", f"datetime.{name}"
            function.__doc__ = real[name].__doc__
            attributes[name] = classmethod(function)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime))


def _of(cls: type[datetime], method: Any) -> Callable[..., datetime]:
    """The class method for a class that may have another one of the same name."""
    return method.__get__(None, cls)  # type: ignore[no-any-return]


_BEFORE_S = 1000.0
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time")
_TEXTS = ("localtime", "gmtime", "ctime", "asctime", "strftime")
_REPLACED = ("sleep", *_CLOCKS, *(f"{name}_ns" for name in _CLOCKS), *_TEXTS)
