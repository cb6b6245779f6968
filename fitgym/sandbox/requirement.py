"""Requirements: lets a user require a minimal level of the sandbox."""

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
    """Require a level of the sandbox inside the block, for every process that runs code under test.

    Args:
        level: 0 to 3, see `fitgym.sandbox.level`; 0 changes nothing.

    Raises:
        InputError: this machine does not reach the level.
        ExecutionError: the sandbox cannot be tested.
    """
    if level <= Level.GUARD:
        yield
        return
    found = reached()
    if found < level:
        raise InputError(
            f"sandbox level {level} is required, and this machine reaches level {found:d} of {max(Level):d}; "
            "run `fitgym doctor` to see what is missing"
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
    """Return the level that the sandbox reaches on this machine, tested in a separate process.

    Raises:
        ExecutionError: the sandbox cannot be tested.
    """
    import subprocess  # lazy, because most commands do not need it
    import tempfile

    with tempfile.TemporaryDirectory(prefix="fitgym-") as folder:
        command = [sys.executable, "-c", _TRY, str(Path(__file__).parents[2]), os.path.realpath(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S)
            return Level(int(done.stdout))
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise ExecutionError(f"the sandbox cannot be tested: {error}") from None
