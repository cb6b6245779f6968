"""The layout of a project: its root, its modules and its tests folder."""

from __future__ import annotations

import ast
import fnmatch
import os
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fitgym.errors import InputError, SubjectError
from fitgym.subject.source import locate, package_folders
from fitgym.suite.text.place import is_installed
from fitgym.suite.text.pytest_settings import paths

__all__ = ["Module", "Project", "find"]

MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", ".git")
"""Files and folders that mark the root of a project."""

NO_SOURCE = frozenset(
    {
        *("tests", "test", "testing", "generated_tests", "docs", "doc", "examples", "example", "samples", "benchmarks"),
        *(
            "benchmark",
            "scripts",
            "tools",
            "tasks",
            "build",
            "dist",
            "site",
            "venv",
            "env",
            "node_modules",
            "notebooks",
        ),
    }
)
"""Folders next to a package that contain no source of it."""

NO_MODULE = ("conftest.py", "test_*.py", "*_test.py", "__main__.py")
"""Files inside a package that are not tested: tests, and files that run a program when imported."""

TESTS_INSIDE = frozenset({"tests", "test", "__pycache__"})
"""Folders inside a package whose files are not tested."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module of a project.

    Attributes:
        name: its dotted name, `shop.store`.
        path: its source file, absolute.
    """

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Project:
    """One or more packages, with the folder of their tests.

    Attributes:
        root: the nearest folder above the source with a pyproject.toml or another of `MARKERS`; the folder of the
            source if there is none.
        source: the folder that the modules are imported from, such as `root / "src"`.
        modules: the modules that can be tested, sorted by name, without tests and modules without a function.
        tests: the folder for tests: the first existing one of pytest's `testpaths`, `tests` and `test`; `tests` if none
            exists.
    """

    root: Path
    source: Path
    modules: tuple[Module, ...]
    tests: Path

    @property
    def generated(self) -> Path:
        """The default folder for generated tests."""
        return self.tests / "generated"

    def lacks(self, name: str) -> bool:
        """Return whether the source has no module of that dotted name, and its parent module no class of that name."""
        place = self.source.joinpath(*name.split("."))
        if place.with_suffix(".py").is_file() or (place / "__init__.py").is_file():
            return False
        owners = (place.parent.with_suffix(".py"), place.parent / "__init__.py")
        return not any(
            file.is_file() and f"class {place.name}" in file.read_text("utf-8", "replace") for file in owners
        )


def find(
    text: str, path: str | os.PathLike[str] | None = None, *, only: Sequence[str] = (), exclude: Sequence[str] = ()
) -> Project:
    """Find the project for a name or folder.

    Args:
        text: a package (`shop`), a subpackage (`shop.store`), a folder that is a package, the root of a project (its
            packages are searched in `src`, then next to pyproject.toml), or a single module or file.
        path: folder to search first for the package.
        only: dotted names of modules to keep, with `*` and `?` as in a shell. A name includes everything below it.
        exclude: dotted names of modules to leave out, likewise.

    Raises:
        InputError: there is nothing to test, or a pattern matches no module.
        SubjectError: there is no such package or folder.
    """
    source, found = _modules(text, path)
    names = [module.name for module in found]
    for flag, patterns in (("only", only), ("exclude", exclude)):
        for pattern in patterns:
            if not any(_matches(name, (pattern,)) for name in names):
                raise InputError(f"--{flag} '{pattern}' matches no module of '{text}' (there are: {_some(names)})")
    chosen = [
        module
        for module in found
        if (not only or _matches(module.name, only)) and not _matches(module.name, exclude) and _has_code(module.path)
    ]
    if not chosen:
        raise InputError(f"'{text}' has no module to test: none of the {len(found)} modules found defines a function")
    root = _root(source)
    return Project(root, source, tuple(sorted(chosen, key=lambda module: module.name)), _tests_folder(root))


def _modules(text: str, path: str | os.PathLike[str] | None) -> tuple[Path, list[Module]]:
    """Return the folder that the modules are imported from, and all modules."""
    if _is_folder(text, path):
        folder = Path(os.path.abspath(text))
        if (folder / "__init__.py").is_file():
            source = _top(folder)
            return source, list(_below(folder, source))
        return _of_root(folder)
    folders, source_text = package_folders(text, path)
    if not folders:
        reference = locate(text, path)
        return Path(reference.root), [Module(reference.module, Path(reference.path))]
    source = Path(source_text)
    return source, [module for folder in folders for module in _below(Path(folder), source)]


def _is_folder(text: str, path: str | os.PathLike[str] | None) -> bool:
    """Return whether the text names a folder rather than a package.

    A folder with a configuration file is not a namespace package.
    """
    if not os.path.isdir(text):
        return False
    named = "/" in text or os.sep in text or "." in text
    return named or any((Path(text) / marker).exists() for marker in MARKERS) or not _is_package(text, path)


def _is_package(text: str, path: str | os.PathLike[str] | None) -> bool:
    try:
        return bool(package_folders(text, path)[0])
    except SubjectError:
        return False


def _of_root(folder: Path) -> tuple[Path, list[Module]]:
    """Return the modules of the root of a project, or of its `src`."""
    for source in (folder / "src", folder):
        if not source.is_dir():
            continue
        found = [
            module
            for entry in sorted(source.iterdir())
            if entry.is_dir() and entry.name.isidentifier() and entry.name not in NO_SOURCE
            if (entry / "__init__.py").is_file() or (source != folder or _is_namespace(entry))
            for module in _below(entry, source)
        ]
        found += [
            Module(entry.stem, entry)
            for entry in sorted(source.glob("*.py"))
            if _is_module(entry) and not (source == folder and entry.name in ("setup.py", "noxfile.py", "tasks.py"))
        ]
        if found:
            return source, found
    raise InputError(f"'{folder}' contains no package and no module; name the folder that contains the package")


def _is_namespace(folder: Path) -> bool:
    """Return whether the folder has no `__init__.py` itself, but contains packages that have one."""
    return any(entry.is_dir() and (entry / "__init__.py").is_file() for entry in folder.iterdir())


def _below(folder: Path, source: Path) -> Iterator[Module]:
    """Yield the modules of a package and of its subpackages."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() and entry.name.isidentifier() and entry.name not in TESTS_INSIDE:
            yield from _below(entry, source)
        elif _is_module(entry):
            parts = entry.relative_to(source).with_suffix("").parts
            yield Module(".".join(parts[:-1] if parts[-1] == "__init__" else parts), entry)


def _is_module(file: Path) -> bool:
    return (
        file.suffix == ".py"
        and file.stem.isidentifier()
        and not any(fnmatch.fnmatch(file.name, pattern) for pattern in NO_MODULE)
    )


def _top(folder: Path) -> Path:
    """Return the folder that contains the top-level package around `folder`."""
    while (folder / "__init__.py").is_file() and folder.parent != folder:
        folder = folder.parent
    return folder


def _has_code(file: Path) -> bool:
    """Return whether the module defines a function.

    A module that cannot be parsed is kept, so that the error is reported to the user.
    """
    try:
        with tokenize.open(file) as text:
            tree = ast.parse(text.read())
    except (SyntaxError, ValueError, OSError):
        return True
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) for node in ast.walk(tree))


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) or name.startswith(f"{pattern}.") for pattern in patterns)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _root(source: Path) -> Path:
    """Return the nearest folder with a marker of a project.

    Without one it is the folder of the source; for installed code, the current folder.
    """
    if is_installed(str(source)):
        return Path.cwd()
    for folder in (source, *source.parents):
        if any((folder / marker).exists() for marker in MARKERS):
            return folder
    return source


def _tests_folder(root: Path) -> Path:
    named = [*paths(root, "testpaths"), root / "tests", root / "test"]
    return next((folder for folder in named if folder.is_dir()), root / "tests")
