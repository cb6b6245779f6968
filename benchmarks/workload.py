"""Workloads: fixed tests for seven subjects, as plain data, that every way of collecting runs alike.

A file of `workloads/` holds for each module that it uses one text: a line is a test, its calls are separated by `;`, and
the names in it are those of the module. A test ends at its first exception. Any Python can read this file: it needs the
standard library only, and no fitgym.
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
"""Subjects that come with the benchmarks."""

Test = Callable[[], object]


@dataclass(frozen=True)
class Part:
    """The tests of one module.

    Attributes:
        module: the name it is imported by; data is collected for this module only, as in a search.
        tests: one text each.
    """

    module: str
    tests: tuple[str, ...]


def bundled() -> list[str]:
    """The names of the subjects that need no installing."""
    return [path.stem for path in BUNDLED.glob("*.py")]


def parts(subject: str) -> list[Part]:
    """The workload of a subject, by module."""
    texts: dict[str, str] = importlib.import_module(f"workloads.{subject}").PARTS
    return [Part(module, tuple(text.strip().splitlines())) for module, text in texts.items()]


def calls(test: str) -> int:
    """How many statements a test has; each is one call, one operator or one attribute."""
    return len(ast.parse(test).body)


def source_of(module: str) -> tuple[str, str]:
    """Source text and file of a module, which is not imported; the packages around it are."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module named '{module}'")
    return Path(spec.origin).read_text("utf-8"), spec.origin


def module_from(code: CodeType, name: str) -> ModuleType:
    """A module made by running `code`; it never appears in `sys.modules`, so that several copies can stand side by side.

    The plain module is imported first, because code that looks itself up (`dataclasses` does) must find something.
    """
    plain = importlib.import_module(name)
    module = ModuleType(name)
    module.__dict__.update({key: plain.__dict__[key] for key in ("__file__", "__package__", "__spec__", "__loader__")})
    exec(code, module.__dict__)
    return module


def compiled(part: Part, module: ModuleType) -> list[Test]:
    """The tests of a part as functions without arguments that use this copy of the module."""
    tests: list[Test] = []
    for number, text in enumerate(part.tests):
        namespace: dict[str, Any] = dict(module.__dict__)
        exec(compile(f"def test():\n {text}", f"<test {number} of {part.module}>", "exec"), namespace)
        tests.append(namespace["test"])
    return tests


def run(tests: list[Test]) -> None:
    """Every test once, to its end or its first exception."""
    for test in tests:
        try:  # noqa: SIM105  (suppress() costs as much as a small test)
            test()
        except Exception:
            pass


def look_in(folder: str | Path) -> None:
    """Import subjects from this folder and from the bundled ones, before any other of the same name."""
    for entry in (str(BUNDLED), str(folder)):
        if entry in sys.path:
            sys.path.remove(entry)
        sys.path.insert(0, entry)
