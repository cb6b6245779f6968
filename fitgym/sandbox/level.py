"""Levels of the sandbox: how much this machine supports, and how much the user requires."""

from __future__ import annotations

import os
from enum import IntEnum

from fitgym.errors import ExecutionError

__all__ = ["REQUIRED", "Level", "check", "demanded"]

REQUIRED = "FITGYM_REQUIRE_SANDBOX"
"""Environment variable: the lowest level at which code under test may run, 0 to 3. All processes of fitgym read it."""


class Level(IntEnum):
    """The level of the sandbox. Each level includes all lower levels.

    Attributes:
        GUARD: resource limits and the audit hook, which code under test can remove.
        LANDLOCK: the kernel refuses writes outside one folder, new programs and TCP.
        SECCOMP: the kernel refuses system calls that change other processes, reach the network or bypass other layers.
        NAMESPACES: every other file system is read-only, and there is no network.
    """

    GUARD = 0
    LANDLOCK = 1
    SECCOMP = 2
    NAMESPACES = 3

    @classmethod
    def of(cls, *, landlock: bool, seccomp: bool, namespaces: bool) -> Level:
        """Return the highest level whose layers all work."""
        for level, works in ((cls.GUARD, landlock), (cls.LANDLOCK, seccomp), (cls.SECCOMP, namespaces)):
            if not works:
                return level
        return cls.NAMESPACES


def demanded() -> Level:
    """Return the lowest level at which code under test may run.

    Raises:
        ExecutionError: the environment variable is not a level.
    """
    text = os.environ.get(REQUIRED, "0")
    if text not in {str(one.value) for one in Level}:
        raise ExecutionError(f"{REQUIRED} is '{text}', expected a level of the sandbox from 0 to 3")
    return Level(int(text))


def check(level: Level) -> None:
    """Check that a level is not lower than the required one.

    Raises:
        ExecutionError: the level is lower, or the environment variable is not a level.
    """
    required = demanded()
    if level < required:
        raise ExecutionError(
            f"the sandbox reaches level {level:d} of {max(Level):d} on this machine, level {required:d} is required; "
            "run `fitgym doctor` to see what is missing"
        )
