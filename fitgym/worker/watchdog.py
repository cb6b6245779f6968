"""The watchdog: a periodic timer that interrupts test cases that run or wait too long."""

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
    """Interrupts test cases that exceed their time limits.

    Args:
        limits: resource limits of one test case.
        journal: records which test case is running.
        recorder: the recorder whose fuel is taken away first.

    Attributes:
        timed_out: the current test case was interrupted; the runner resets it before each test case.
    """

    def __init__(self, limits: Limits, journal: Journal, recorder: Recorder) -> None:
        self.allow(limits.seconds, limits.idle_seconds)
        self._cells = journal.cells
        self._recorder = recorder
        self.timed_out = False

    def allow(self, seconds: float, idle_seconds: float) -> None:
        """Set the running time and the uninterrupted waiting time allowed for each test case."""
        self._soft, self._hard, self._longest_idle = seconds / 2, seconds * 0.75, idle_seconds

    def handler(self) -> Callable[[int, types.FrameType | None], None]:
        """Return the signal handler of the periodic timer.

        An exception raised here could hit the runner between two test cases, and a bare `except` of the subject would
        catch it. So the first tick past half the limit only takes the fuel away: every later probe raises. Code without
        probes (a regular expression, huge integers) is interrupted directly by a tick past three quarters of the limit.
        Code that has waited longer than the idle limit is interrupted at once.
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
                # Using more than a tenth of a processor counts as busy; everything else counts as waiting.
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
    """Return the seconds that this process has waited for a processor."""
    try:
        with open("/proc/self/schedstat", "rb") as schedstat:
            return int(schedstat.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
