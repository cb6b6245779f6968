"""Limits: what one test case may use.

The worker reads them too, so this imports nothing that only the parent needs.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What one test case may use.

    Attributes:
        seconds: wall time of one test case, the time it waited for a processor left out. Python code is interrupted at
            half of it and again from three quarters on; at the end its process is killed.
        idle_seconds: how much of that it may spend waiting for anything else than a processor, at a stretch. What waits
            longer (for a lock, an item of a queue, a connection) most likely waits for ever.
        fuel: calls and rounds of loops in the subject that one test case may make, the deterministic limit; it is meant to be
            reached before the clock. New test cases get less where those of the subject need less, and functions that
            never end with it get more, see `fitgym.execution.pace`.
        memory_mb: address space beyond what is in use after the import, in MiB.
        import_seconds: wall time of starting the worker and importing the subject.
        file_mb: size of a file that may be written in the private folder, in MiB.
        files: descriptors that may be open.
        recursion: frames that a test case may put on the stack. Less than Python's 1000, because pytest needs some of
            these itself when it runs the finished test.
        batch: test cases that are sent at once.
    """

    seconds: float = 2.0
    idle_seconds: float = 0.25
    fuel: int = 100_000
    memory_mb: int = 512
    import_seconds: float = 60.0
    file_mb: int = 16
    files: int = 256
    recursion: int = 900
    batch: int = 100
