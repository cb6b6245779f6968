"""The clock of the worker: the time for the subject and everything that it uses.

Programs compare the time with saved times, and the difference is a branch distance that guides the search. So during
the search the clock starts at the same moment in each test case and advances with each reading. A test's assertions
must hold at any time, so values are observed at the real time.

Code that sleeps, or waits for a `threading.Condition`, an event or a queue, sees the seconds that it asked for.
`time.monotonic` stays real for packages other than the subject's, because libraries use it to wait. `time.thread_time`
and `time.clock_gettime` stay real for all code, because few programs use them.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, tzinfo
from datetime import datetime as _datetime
from functools import wraps
from time import struct_time
from typing import Any

from fitgym.determinism.monkeypatch import replacement

__all__ = ["MOMENTS", "Clock"]

MOMENTS = (1_700_000_000.0, 1_757_000_000.0)
"""The start of the clock, and its other start with another year, month, day and hour."""
_LOOK_S = 2.0**-10
"""Seconds per reading: a loop that waits for one second reads the clock about a thousand times."""
_WAIT_S = 0.25
"""Step of the real waiting time in seconds.

Code that waits in any other way, for a lock or an answer, sees time pass in such steps. A test case that never gives up
the processor sees the same times in every run, however busy the machine is.
"""


class Clock:
    """Replaces the time in this process from now on.

    Its methods replace the functions of the module `time` with the same names. `datetime.now` and `utcnow` are replaced
    by functions. The rest of `datetime` calls `time.time`.

    Args:
        subject: name of the module under test.
    """

    def __init__(self, subject: str) -> None:
        self._fixed = True
        self._seconds: float | None = None  # where it is stopped, for `time.time` ...
        self._date = ""  # ... and for `datetime.now`
        self._now = self._start = MOMENTS[0]
        self._began: float | None = None  # real start time of the test case, plus the time that it slept
        self._switches = 0  # how often the process had given up the processor, apart from sleeping
        self._subject = subject
        package = subject.partition(".")[0]
        self._package = "" if package in sys.stdlib_module_names else package
        self._real: Any = {name: getattr(time, name) for name in _REPLACED}
        for name in _REPLACED:
            setattr(time, name, replacement(getattr(self, name), "time"))
        self._waits_are_replaced = False
        self._replace_in_datetime()

    def settle(self) -> None:
        """End the import: each test case starts at this moment."""
        self._start = self._now
        self._replace_waits()

    def fix(self, *, other: bool = False) -> None:
        """Reset the clock to its start at the beginning of a test case.

        Args:
            other: use the other start.
        """
        self._replace_waits()
        self._fixed, self._seconds, self._date = True, None, ""
        self._now = MOMENTS[1] if other else self._start
        self._began, self._switches = self._real["monotonic"](), _switches()

    def free(self) -> None:
        """Show the real time from now on. Called at the beginning of a test case whose results are observed."""
        self._fixed, self._seconds, self._date = False, None, ""

    def freeze(self, moment: str, *, time: bool = False, datetime: bool = False) -> None:
        """Stop the clock until the test case ends: the date and the time of the day do not change any more.

        Args:
            moment: in UTC, such as "2024-01-15 10:00". A date without a time zone is the same in every time zone, as if
                the machine were in UTC.
            time: for what calls `time.time`.
            datetime: for `datetime.now` and `utcnow`.

        Raises:
            ValueError: the text is no date with a time.
        """
        stopped = _datetime.strptime(moment, "%Y-%m-%d %H:%M")
        if time:
            self._seconds = stopped.replace(tzinfo=UTC).timestamp()
        if datetime:
            self._date = stopped.isoformat()

    def time(self) -> float:
        """Return the current time in seconds since the Epoch."""
        return self._moving() if self._seconds is None else self._seconds

    def time_ns(self) -> int:
        """Return the current time in nanoseconds since the Epoch."""
        is_real = not self._fixed and self._seconds is None
        return int(self._real["time_ns"]()) if is_real else int(self.time() * 1e9)

    def sleep(self, seconds: float, /) -> None:
        """Delay execution for a given number of seconds."""
        with self._apart():
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
        return self._real["localtime"](self._moving() if seconds is None else seconds)  # type: ignore[no-any-return]

    def gmtime(self, seconds: float | None = None, /) -> struct_time:
        """Convert seconds since the Epoch to a time tuple expressing UTC."""
        return self._real["gmtime"](self._moving() if seconds is None else seconds)  # type: ignore[no-any-return]

    def ctime(self, seconds: float | None = None, /) -> str:
        """Convert a time in seconds since the Epoch to a string in local time."""
        return str(self._real["ctime"](self._moving() if seconds is None else seconds))

    def asctime(self, *t: Any) -> str:
        """Convert a time tuple to a string."""
        return str(self._real["asctime"](*t or (self.localtime(),)))

    def strftime(self, format: str, *t: Any) -> str:
        """Convert a time tuple to a string according to a format specification."""
        return str(self._real["strftime"](format, *t or (self.localtime(),)))

    def _moving(self) -> float:
        """Return the time of a clock that is not stopped."""
        if not self._fixed:
            return float(self._real["time"]())
        self._now += _LOOK_S
        return self._now

    def _elapsed(self) -> float:
        """Return the seconds since a moment before the test case."""
        self._now += _LOOK_S
        return self._now - MOMENTS[0] + _BEFORE_S + self._waited()

    def _waited(self) -> float:
        """Return the real seconds of the test case in whole steps, if it has waited for something, otherwise 0.

        A process that another one has pushed from the processor has not waited.
        """
        if self._began is None:
            return 0.0
        steps = (self._real["monotonic"]() - self._began) // _WAIT_S
        return steps * _WAIT_S if steps > 0 and _switches() > self._switches else 0.0

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Do not count the real time of a wait, because the clock advances by the time that was asked for."""
        began, switches = self._real["monotonic"](), _switches()
        try:
            yield
        finally:
            if self._began is not None:
                self._began += self._real["monotonic"]() - began
                self._switches += _switches() - switches

    def _is_subject(self, module: str | None) -> bool:
        """Return True if a module is the one under test or belongs to its package."""
        if module is None or not self._package:
            return module == self._subject
        return module.partition(".")[0] == self._package

    def _replace_in_datetime(self) -> None:
        """Replace `now` and `utcnow` of `datetime`.

        C types do not allow setting attributes. So the dictionary behind `vars(datetime)` is changed, and the method
        cache is invalidated afterwards.
        """
        (attributes,) = gc.get_referents(vars(_datetime))
        real = dict(attributes)

        def now(cls: type[_datetime], tz: tzinfo | None = None) -> _datetime:
            if self._date:
                return cls.fromisoformat(self._date).replace(tzinfo=tz)
            if self._fixed:
                return _of(cls, real["fromtimestamp"])(self._moving(), tz)
            return _of(cls, real["now"])(tz)

        def utcnow(cls: type[_datetime]) -> _datetime:
            if self._date:
                return cls.fromisoformat(self._date)
            return _of(cls, real["utcfromtimestamp"])(self._moving()) if self._fixed else _of(cls, real["utcnow"])()

        for function in (now, utcnow):
            name = function.__name__
            function.__module__, function.__qualname__ = "datetime", f"datetime.{name}"
            function.__doc__ = real[name].__doc__
            attributes[name] = classmethod(function)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(_datetime))

    def _replace_waits(self) -> None:
        """Replace `wait` of `threading.Condition`, by which events and queues wait too, once the subject has loaded it.

        The worker itself does without this module.
        """
        threading: Any = sys.modules.get("threading")
        if threading is None or self._waits_are_replaced:
            return
        real = threading.Condition.wait

        @wraps(real)
        def wait(condition: Any, timeout: float | None = None) -> bool:
            with self._apart():
                notified: bool = real(condition, timeout)
            if not notified:
                self._now += max(timeout or 0.0, 0.0)
            return notified

        threading.Condition.wait = wait
        self._waits_are_replaced = True


def _of(cls: type[_datetime], method: Any) -> Callable[..., _datetime]:
    """Bind a class method to a class that may have another method of the same name."""
    return method.__get__(None, cls)  # type: ignore[no-any-return]


def _switches() -> int:
    """Return how often this process has given up the processor of its own accord."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


_BEFORE_S = 1000.0
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time")
_TEXTS = ("localtime", "gmtime", "ctime", "asctime", "strftime")
_REPLACED = ("sleep", *_CLOCKS, *(f"{name}_ns" for name in _CLOCKS), *_TEXTS)
