"""A pytest plugin that imports the module under test from a copy, before the suite imports the original.

Modules of the same package that pytest itself has imported stay with pytest. The suite gets the copy, whatever it does
to `sys.path`. If the copy cannot be imported, the session ends with exit code `BROKEN`. Set `MUTATED_MODULE` and
`MUTATED_ROOT`, the folder that contains the copy of its top-level package or module. With `MUTATED_LATE` the suite
imports the module itself, because it needs some preparation before.
"""

import importlib
import os
import resource
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

import pytest

BROKEN = 9
MEMORY = 4 << 30  # bytes; a mutant that allocates more fails its test

_root, _module = os.environ["MUTATED_ROOT"], os.environ["MUTATED_MODULE"]
_top = _module.partition(".")[0]

resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
for _name in [name for name in sys.modules if name == _top or name.startswith(f"{_top}.")]:
    del sys.modules[_name]


class _Copy(MetaPathFinder):
    """Finds the copy, whatever `sys.path` contains."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, [_root], target) if name == _top else None


sys.meta_path.insert(0, _Copy())


def _import() -> str:
    """Import the module. Returns what is wrong with it, "" if nothing is."""
    try:
        origin = os.path.realpath(importlib.import_module(_module).__file__ or "")
    except BaseException as error:
        return f"{_module} cannot be imported: {error!r}"
    if origin.startswith(os.path.realpath(_root) + os.sep):
        return ""
    return f"{_module} was imported from {origin}, not from the copy"


_LATE = bool(os.environ.get("MUTATED_LATE"))
_failure = "" if _LATE else _import()


def pytest_configure() -> None:
    if _failure:
        pytest.exit(_failure, returncode=BROKEN)


def pytest_collection_finish() -> None:
    if _LATE and (failure := _import()):
        pytest.exit(failure, returncode=BROKEN)
