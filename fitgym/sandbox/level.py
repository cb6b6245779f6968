"""Levels of the sandbox: how much of it this machine has, and how much the user demands."""

from __future__ import annotations

import os
from enum import IntEnum

from fitgym.errors import ExecutionError

__all__ = ["REQUIRED", "Level", "check", "demanded"]

REQUIRED = "FITGYM_REQUIRE_SANDBOX"
"""Environment variable: the lowest level at which code under test may run, 0 to 3. All processes of fitgym obey it."""


class Level(IntEnum):
    """How much of the sandbox works. Each level has what the lower ones have.

    Attributes:
        GUARD: resource limits and the audit hook, which code under test can take away.
        LANDLOCK: the kernel refuses writing outside one folder, starting programs and TCP.
        SECCOMP: the kernel refuses system calls that change other processes, reach the network or go around the rest.
        NAMESPACES: every other file system is read-only, and there is no network.
    """

    GUARD = 0
    LANDLOCK = 1
    SECCOMP = 2
    NAMESPACES = 3

    @classmethod
    def of(cls, *, landlock: bool, seccomp: bool, namespaces: bool) -> Level:
        """The level of a process: the highest one of which everything works."""
        for level, works in ((cls.GUARD, landlock), (cls.LANDLOCK, seccomp), (cls.SECCOMP, namespaces)):
            if not works:
                return level
        return cls.NAMESPACES


def demanded() -> Level:
    """The lowest level at which code under test may run.

    Raises:
        ExecutionError: the environment variable is not a level.
    """
    text = os.environ.get(REQUIRED, "0")
    if text not in {str(one.value) for one in Level}:
        raise ExecutionError(f"{REQUIRED} is '{text}', expected a level of the sandbox from 0 to 3")
    return Level(int(text))


def check(level: Level) -> None:
    """Refuse a level that is lower than the required one.

    Raises:
        ExecutionError: it is lower, or the environment variable is not a level.
    """
    required = demanded()
    if level < required:
        raise ExecutionError(
            f"the sandbox reaches level {level:d} of {max(Level):d} on this machine, level {required:d} is required; "
            "`fitgym doctor` tells what is missing"
        )
