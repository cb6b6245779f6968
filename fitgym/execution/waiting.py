"""Waiting for processes: readable descriptors, time spent waiting for a processor, and names of signals."""

from __future__ import annotations

import select
import signal

__all__ = ["readable", "signal_name", "waited"]


def readable(descriptors: list[int], seconds: float) -> list[int]:
    """Return the descriptors that are readable or closed. Waits up to `seconds` for the first one."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return [descriptor for descriptor, _ in poll.poll(max(0.0, seconds) * 1000)]


def waited(pid: int) -> float:
    """Return the seconds a process has waited for a processor so far, 0.0 if the kernel does not report it."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as schedstat:
            return int(schedstat.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
