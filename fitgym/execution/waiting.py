"""Waiting for other processes: which descriptors are readable, how long a process has waited itself, what ended it."""

from __future__ import annotations

import select
import signal

__all__ = ["readable", "signal_name", "waited"]


def readable(descriptors: list[int], seconds: float) -> list[int]:
    """Those of the descriptors that can be read, or have ended; waits for the first one, `seconds` at most."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)]


def waited(pid: int) -> float:
    """Seconds that a process has waited for a processor so far, 0.0 where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as schedstat:
            return int(schedstat.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
