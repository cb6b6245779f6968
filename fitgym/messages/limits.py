"""Limits: the resource limits of one test case.

The worker imports this module too, so it imports nothing that only the parent needs.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """The resource limits of one test case.

    Attributes:
        seconds: wall time of one test case, without the time spent waiting for a processor. Python code is interrupted
            at half of it, and again from three quarters on. At the end its process is killed.
        idle_seconds: longest uninterrupted wait for anything other than a processor. Code that waits longer (for a
            lock, an item of a queue, a connection) most likely waits forever.
        fuel: calls and loop iterations of the subject in one test case. This limit is deterministic and is meant to be
            reached before the time limit. New test cases get less if those of the subject need less. Functions that
            never end within it get more, see `fitgym.execution.pace`.
        memory_mb: address space beyond the use after the import, in MiB.
        import_seconds: wall time of starting the worker and importing the subject.
        file_mb: size of a file written in the private folder, in MiB.
        files: number of open descriptors.
        recursion: stack frames of a test case. Less than Python's 1000, because pytest needs some frames itself when it
            runs the exported test.
        batch: number of test cases in one request.
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
