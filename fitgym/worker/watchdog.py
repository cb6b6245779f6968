"""The watchdog: a periodic timer that interrupts a test case which runs or waits for too long."""

from __future__ import annotations

import types
from collections.abc import Callable
from time import monotonic, process_time  # the real ones, see `fitgym.determinism.clock`

from fitgym.instrument.recorder import Recorder
from fitgym.messages.journal import IDLE, Journal
from fitgym.messages.limits import Limits
from fitgym.worker.outcomes import TimeUp

__all__ = ["Watchdog"]


class Watchdog:
    """Interrupts test cases that exceed their limits of time.

    Args:
        limits: what one test case may use.
        journal: says which test case runs.
        recorder: its fuel is taken away first.

    Attributes:
        timed_out: the current test case was interrupted; the runner resets it before each test case.
    """

    def __init__(self, limits: Limits, journal: Journal, recorder: Recorder) -> None:
        self.allow(limits.seconds, limits.idle_seconds)
        self._cells = journal.cells
        self._recorder = recorder
        self.timed_out = False

    def allow(self, seconds: float, idle_seconds: float) -> None:
        """Set how long each test case may run, and how long it may wait at a stretch."""
        self._soft, self._hard, self._longest_idle = seconds / 2, seconds * 0.75, idle_seconds

    def handler(self) -> Callable[[int, types.FrameType | None], None]:
        """The signal handler of the periodic timer.

        An exception raised here could hit the runner between two test cases, and a bare `except` of the subject would
        swallow it. The first tick past half the limit therefore only takes the fuel away: then every later probe raises.
        Code that passes no probe (a regular expression, huge integers) is interrupted directly at a later tick. So is
        code that has waited for longer than the idle limit.
        """
        cells, recorder = self._cells, self._recorder
        clock, processor, waited = monotonic, process_time, _waited
        idle, time_up = IDLE, TimeUp
        count, since, busy_at, used_then = -1, 0.0, 0.0, 0.0

        def tick(number: int, frame: types.FrameType | None) -> None:
            nonlocal count, since, busy_at, used_then
            now, used = clock() - waited(), processor()
            if cells[0] != count:
                count, since = cells[0], now
                busy_at, used_then = now, used
            elif cells[1] != idle:
                if used - used_then > 0.1 * (now - busy_at):
                    busy_at, used_then = now, used
                longest_idle = self._longest_idle
                if now - since >= self._soft or now - busy_at >= longest_idle:
                    self.timed_out = True
                    recorder.interrupt()
                    if now - since >= self._hard or now - busy_at >= longest_idle:
                        raise time_up

        return tick


def _waited() -> float:
    """Seconds that this process has waited for a processor."""
    try:
        with open("/proc/self/schedstat", "rb") as schedstat:
            return int(schedstat.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
