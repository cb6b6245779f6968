"""Requirements: a user who accepts no sandbox below a level."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from fitgym.errors import ExecutionError, InputError
from fitgym.sandbox.level import REQUIRED, Level

__all__ = ["reached", "required"]

_LIMIT_S = 60.0
_TRY = (
    "import sys; sys.path.insert(0, sys.argv[1]); from fitgym.sandbox.confinement import confined; "
    "print(int(confined(sys.argv[2])))"
)


@contextlib.contextmanager
def required(level: int) -> Iterator[None]:
    """Inside the block every process that runs code under test refuses to do so below a level of the sandbox.

    Args:
        level: 0 to 3, see `fitgym.sandbox.level`; 0 changes nothing.

    Raises:
        InputError: this machine does not reach the level.
        ExecutionError: the sandbox cannot be tried out.
    """
    if level <= Level.GUARD:
        yield
        return
    found = reached()
    if found < level:
        raise InputError(
            f"sandbox level {level} is required, and this machine reaches level {found:d} of {max(Level):d}; "
            "`fitgym doctor` tells what is missing"
        )
    before = os.environ.get(REQUIRED)
    os.environ[REQUIRED] = str(level)
    try:
        yield
    finally:
        if before is None:
            del os.environ[REQUIRED]
        else:
            os.environ[REQUIRED] = before


def reached() -> Level:
    """The level that the sandbox reaches on this machine, tried out in a process of its own.

    Raises:
        ExecutionError: it cannot be tried out.
    """
    import subprocess  # most commands need neither
    import tempfile

    with tempfile.TemporaryDirectory(prefix="fitgym-") as folder:
        command = [sys.executable, "-c", _TRY, str(Path(__file__).parents[2]), os.path.realpath(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S)
            return Level(int(done.stdout))
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise ExecutionError(f"the sandbox cannot be tried out: {error}") from None
