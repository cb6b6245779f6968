"""The environment variables of a worker, and the search for processes that carry the worker's marker."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import fitgym

__all__ = ["MARKER", "environment", "marked"]

MARKER = "FITGYM_WORKER"
"""Environment variable that identifies all processes of one worker."""


def environment(home: str, token: str) -> dict[str, str]:
    """Return the parent's environment without variables that make results differ between machines."""
    dropped = ("PYTHON", "LC_", "LANG", "COLUMNS", "LINES", "COVERAGE_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {
        "PYTHONHASHSEED": "0",
        "PYTHONSAFEPATH": "1",
        "PYTHONPATH": str(Path(fitgym.__file__).parent.parent),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "HOME": home,
        "TMPDIR": home,
        MARKER: token,
        **({"PYTHONDONTWRITEBYTECODE": "1"} if sys.dont_write_bytecode else {}),
    }


def marked(token: str) -> list[int]:
    """Return the ids of all live processes of the worker with this token."""
    found = []
    marker = f"{MARKER}={token}".encode()
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if entry.isdigit():
            with contextlib.suppress(OSError):
                if marker in Path("/proc", entry, "environ").read_bytes():
                    found.append(int(entry))
    return found
