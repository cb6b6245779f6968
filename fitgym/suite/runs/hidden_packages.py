"""Hidden packages: makes this interpreter import as if some packages were not installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["hide", "imported"]


class _Hiding(MetaPathFinder):
    """A finder that does not find some top-level packages."""

    def __init__(self, finder: Any, names: frozenset[str], asked: Callable[[str], None]) -> None:
        self._finder = finder
        self._names = names
        self._asked = asked

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self._names:
            self._asked(fullname)
            return None
        found: ModuleSpec | None = self._finder.find_spec(fullname, path, target)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


def hide(names: frozenset[str], asked: Callable[[str], None]) -> None:
    """Hide top-level packages that this interpreter has not imported yet, irreversibly.

    Args:
        names: of the packages.
        asked: receives the name of a hidden package that code tries to import or to find.
    """
    sys.meta_path[:] = [
        _Hiding(finder, names, asked) if hasattr(finder, "find_spec") else finder for finder in sys.meta_path
    ]


def imported(before: frozenset[str]) -> dict[str, str]:
    """Return the top-level modules that were imported since, each with the folder it was found in.

    Args:
        before: names of the modules that were known before. Modules of the standard library are left out.
    """
    known = before | sys.stdlib_module_names
    found = {}
    for name, module in list(sys.modules.items()):
        if "." in name or name in known:
            continue
        try:  # code may have put anything in place of a module
            spec = module.__spec__
            places = [*(spec.submodule_search_locations or ()), spec.origin] if spec is not None else []
            place = next(place for place in places if isinstance(place, str))
        except Exception:
            continue
        found[name] = place.replace("\\", "/").rpartition("/")[0]
    return found
