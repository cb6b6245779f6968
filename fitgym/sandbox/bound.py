"""Bound programs: Python programs that are killed when the process that started them ends."""

from __future__ import annotations

import os
import pickle
import runpy
import sys
from pathlib import Path
from typing import Any, Final

from fitgym.sandbox.sandbox import die_with_parent

__all__ = ["bound", "call", "main"]

_ROOT: Final = Path(__file__).parents[2]

# fitgym's path comes last, so that installed packages take precedence over files next to fitgym.
_START: Final = (
    "import sys; sys.path.append({root!r}); from fitgym.sandbox.bound import main; main({parent}, {module!r})"
)


def bound(module: str, *arguments: str) -> list[str]:
    """Return a command for `python -m module arguments` that is killed when this process ends, even by `SIGKILL`.

    The thread that starts the program must wait for it: the kernel kills the program when that thread ends.
    """
    return [sys.executable, "-c", _START.format(root=str(_ROOT), parent=os.getpid(), module=module), *arguments]


def main(parent: int, module: str) -> None:
    """Run a module as the main program of this process. The process ends when its parent ends.

    Args:
        parent: process id of the parent.
        module: name of the module.
    """
    die_with_parent(parent)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def call(parent: int, function: bytes, *arguments: Any) -> None:
    """Call a function in this process. The process ends when its parent ends.

    Args:
        parent: process id of the parent.
        function: pickled function, so that nothing it needs is imported before the process is bound.
        arguments: arguments of the function.
    """
    die_with_parent(parent)
    pickle.loads(function)(*arguments)
