"""The loader: imports one module with probes. All other modules are imported normally."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType, TracebackType

from fitgym.instrument.rewriting.transformer import Instrumented
from fitgym.subject.subject import Reference

__all__ = ["Hook", "load"]


class _Loader(SourceFileLoader):
    """Loads the instrumented code. Everything else (`get_source`, resources, `__file__`) comes from the source file."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


class Hook(MetaPathFinder):
    """An import hook for one module, active inside a `with` block.

    Args:
        reference: the module, with its name and its source file.
        instrumented: its instrumented source.
        factory: returns the probe of a site.
    """

    def __init__(
        self,
        reference: Reference,
        instrumented: Instrumented,
        factory: Callable[..., object],
    ) -> None:
        self.reference = reference
        self._code = instrumented.code(factory)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of the instrumented module, None for every other name."""
        if fullname != self.reference.module:
            return None
        file = self.reference.path
        is_package = os.path.basename(file) == "__init__.py"
        return importlib.util.spec_from_file_location(
            fullname,
            file,
            loader=_Loader(fullname, file, self._code),
            submodule_search_locations=[os.path.dirname(file)] if is_package else None,
        )

    def __enter__(self) -> Hook:
        sys.meta_path.insert(0, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def load(reference: Reference, instrumented: Instrumented, factory: Callable[..., object]) -> ModuleType:
    """Import the module of `reference` with probes, even if it was imported before.

    The folders of `reference.search_path` are put at the front of `sys.path`. They stay there, because functions of the
    module may import more.

    Raises:
        BaseException: any exception raised by the import.
    """
    for folder in reversed(reference.search_path):
        if folder not in sys.path:
            sys.path.insert(0, folder)
    # Finds files that were just written. `importlib.invalidate_caches` would load `importlib.metadata`.
    sys.path_importer_cache.clear()
    with Hook(reference, instrumented, factory):
        previous = sys.modules.pop(reference.module, None)
        try:
            return importlib.import_module(reference.module)
        except BaseException:
            if previous is not None:
                sys.modules[reference.module] = previous
            raise
