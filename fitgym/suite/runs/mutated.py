"""A pytest plugin that imports the module under test from the source of a mutant.

Loaded by `pytest -p fitgym.suite.runs.mutated --mutated FILE --module NAME --origin PATH`. Every import of the module
NAME executes the text of FILE; its path is reported as PATH.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

import pytest

__all__ = ["Mutated"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutated", default="", help="file with the source")
    parser.addoption("--module", default="", help="name of the module")
    parser.addoption("--origin", default="", help="path of the original")


def pytest_configure(config: pytest.Config) -> None:
    if file := config.getoption("--mutated"):
        text = Path(file).read_text("utf-8")  # fitgym writes UTF-8, whatever the encoding of the original is
        sys.meta_path.insert(0, Mutated(config.getoption("--module"), config.getoption("--origin"), text))


class Mutated(MetaPathFinder):
    """An import hook for one module.

    Modules of the same package that pytest has already imported are removed from `sys.modules`, so that the tests
    import them again.

    Args:
        module: name of the module.
        origin: its path.
        source: its text.
    """

    def __init__(self, module: str, origin: str, source: str) -> None:
        self._module = module
        self._origin = origin
        self._source = source
        top = module.partition(".")[0]
        for name in [name for name in sys.modules if name == top or name.startswith(f"{top}.")]:
            del sys.modules[name]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of the module, None for other names."""
        if fullname != self._module:
            return None
        loader = _Loader(fullname, self._origin, self._source)
        return importlib.util.spec_from_file_location(fullname, self._origin, loader=loader)


class _Loader(SourceFileLoader):
    def __init__(self, module: str, path: str, source: str) -> None:
        super().__init__(module, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = compile(self._source, self.path, "exec", dont_inherit=True)
        return code
