"""Workloads: fixed tests for seven subjects, as plain data, which every collector runs in the same way.

A file of `workloads/` has one text for each module that it uses. Each line is a test; its calls are separated by `;`,
and its names are those of the module. A test ends at its first exception. Any Python can read this file, because it
needs only the standard library, not fitgym.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

__all__ = ["SUBJECTS", "Part", "bundled", "calls", "compiled", "look_in", "module_from", "parts", "run", "source_of"]

SUBJECTS = ("string_utils", "packaging", "sortedcontainers", "docstring_parser", "tomli", "semver", "numeric")

BUNDLED = Path(__file__).resolve().parent / "bundled"
"""Subjects that are part of the benchmarks."""

Test = Callable[[], object]


@dataclass(frozen=True)
class Part:
    """The tests of one module.

    Attributes:
        module: its import name; data is collected for this module only, as in a search.
        tests: one text each.
    """

    module: str
    tests: tuple[str, ...]


def bundled() -> list[str]:
    """Return the names of the subjects that need no installation."""
    return [path.stem for path in BUNDLED.glob("*.py")]


def parts(subject: str) -> list[Part]:
    """Return the workload of a subject, by module."""
    texts: dict[str, str] = importlib.import_module(f"workloads.{subject}").PARTS
    return [Part(module, tuple(text.strip().splitlines())) for module, text in texts.items()]


def calls(test: str) -> int:
    """Return the number of statements of a test; each is one call, one operator or one attribute."""
    return len(ast.parse(test).body)


def source_of(module: str) -> tuple[str, str]:
    """Return source text and file of a module without importing it; its packages are imported."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named '{module}'")
    return Path(spec.origin).read_text("utf-8"), spec.origin


def module_from(code: CodeType, name: str) -> ModuleType:
    """Return a module made by running `code`, without `sys.modules`, so that several copies can exist.

    The plain module is imported first, because some code looks up its own module, such as `dataclasses`.
    """
    plain = importlib.import_module(name)
    module = ModuleType(name)
    module.__dict__.update({key: plain.__dict__[key] for key in ("__file__", "__package__", "__spec__", "__loader__")})
    exec(code, module.__dict__)
    return module


def compiled(part: Part, module: ModuleType) -> list[Test]:
    """Return the tests of a part as functions without arguments that use this copy of the module."""
    tests: list[Test] = []
    for number, text in enumerate(part.tests):
        namespace: dict[str, Any] = dict(module.__dict__)
        exec(compile(f"def test():\n {text}", f"<test {number} of {part.module}>", "exec"), namespace)
        tests.append(namespace["test"])
    return tests


def run(tests: list[Test]) -> None:
    """Run every test once, to its end or its first exception."""
    for test in tests:
        try:  # noqa: SIM105  (suppress() costs as much as a small test)
            test()
        except Exception:
            pass


def look_in(folder: str | Path) -> None:
    """Import subjects from this folder and from the bundled ones before any other of the same name."""
    for entry in (str(BUNDLED), str(folder)):
        if entry in sys.path:
            sys.path.remove(entry)
        sys.path.insert(0, entry)
