"""The fixture that describes tiny programs."""

import importlib
import importlib.util
import sys
import textwrap

import pytest
from described import describe

from fitgym.subject.subject import Reference


@pytest.fixture
def inspected(tmp_path, monkeypatch):
    """Writes a program as module `tiny`, imports it and returns its description."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def inspect(source, class_name="", name="tiny", **others):
        for other, text in others.items():
            (tmp_path / f"{other}.py").write_text(textwrap.dedent(text))
            made.append(other)
        path = tmp_path / f"{name}.py"
        path.write_text(textwrap.dedent(source))
        made.append(name)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        importlib.invalidate_caches()
        spec.loader.exec_module(module)
        return describe(Reference(name, name, str(path), class_name), module)

    yield inspect
    for name in made:
        sys.modules.pop(name, None)
