"""Versions: the modules of a project that differ between a commit and the working tree."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from os import path
from pathlib import Path

from fitgym.errors import InputError
from fitgym.project.diff.edits import Edits, edits, imported_from, users
from fitgym.project.diff.revision import Revision
from fitgym.project.layout import NO_MODULE, TESTS_INSIDE, Module, Project
from fitgym.suite.text.place import is_installed

__all__ = ["Edited", "Versions", "versions"]


@dataclass(frozen=True, slots=True)
class Edited:
    """A module of both versions whose code differs.

    Attributes:
        module: in the working tree.
        old_name: dotted name at the commit.
        old_source: the folder that the old version is imported from, relative to the root of the repository.
        edits: the differences; for an unchanged module that uses changed ones, its functions that use them.
        problem: why the versions cannot be compared, "" if they can.
    """

    module: Module
    old_name: str
    old_source: Path
    edits: Edits
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Versions:
    """The modules of a project, by their change since a commit.

    Attributes:
        edited: modules whose code differs.
        added: names of modules that the commit lacks.
        removed: names of modules that the working tree lacks.
        unchanged: number of the other modules.
    """

    edited: tuple[Edited, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def versions(project: Project, revision: Revision, *, callers: bool = False) -> Versions:
    """Compare the source of every module with its version at a commit.

    Args:
        project: in the working tree, including uncommitted changes.
        revision: the commit.
        callers: include unchanged modules that import a changed module, with the functions that use it.

    Raises:
        InputError: git cannot read the commit, or the project is installed and in no commit.
    """
    known = revision.files()
    differing = revision.edited()
    renamed = revision.renamed()
    home = _place(project.source, revision)
    edited, added, same = [], [], []
    for module in project.modules:
        name = _place(module.path, revision).as_posix()
        before = renamed.get(name, name)
        if before not in known:
            added.append(module.name)
        elif name not in differing:
            same.append(module)
        else:
            found = _edited(module, Path(before), home, revision)
            if found.problem or found.edits.any or found.old_name != module.name:
                edited.append(found)
            else:
                same.append(module)
    if callers:
        using = [found for module in same for found in _using(module, home, edited)]
        edited += using
        same = [module for module in same if all(module != one.module for one in using)]
    kept = {*(_place(one.path, revision).as_posix() for one in project.modules), *renamed.values()}
    removed = [name for name in sorted(differing & known - kept) if not (revision.top / name).exists()]
    if not (edited or same or removed) and is_installed(str(project.source)):
        raise InputError(
            f"'{project.source}' contains installed packages, which are not in the repository '{revision.top}'; "
            "name a project whose source is in a repository"
        )
    names = tuple(_name(Path(name), home) for name in removed if _is_of(Path(name), project, home, revision))
    return Versions(tuple(edited), tuple(added), names, len(same))


def _edited(module: Module, before: Path, home: Path, revision: Revision) -> Edited:
    """Return the differences in a module that git reports as changed."""
    way = Path(*module.name.split("."))
    tail = way / "__init__.py" if module.path.name == "__init__.py" else way.with_suffix(".py")
    moved = before.parts[-len(tail.parts) :] == tail.parts  # the whole package was moved to another folder
    old_source = Path(*before.parts[: -len(tail.parts)]) if moved else home
    old_name = module.name if moved else _name(before, home)
    try:
        found = edits(_decoded(revision.read(before.as_posix())), _decoded(module.path.read_bytes()))
    except (SyntaxError, UnicodeDecodeError, OSError) as problem:
        return Edited(module, old_name, old_source, Edits(), f"it cannot be read: {problem}")
    return Edited(module, old_name, old_source, found)


def _using(module: Module, home: Path, edited: list[Edited]) -> Iterator[Edited]:
    """Yield the unchanged module with the functions that use changed ones, if there are any."""
    try:
        source = _decoded(module.path.read_bytes())
        is_package = module.path.name == "__init__.py"
        names = imported_from(source, module.name, is_package, [one.module.name for one in edited])
        functions = users(source, names)
    except (SyntaxError, UnicodeDecodeError, OSError):  # the module did not change, so skip it
        return
    if functions:
        yield Edited(module, module.name, home, Edits(changed=functions))


def _is_of(name: Path, project: Project, home: Path, revision: Revision) -> bool:
    """Return whether a removed file was a module of the project: next to or below its modules, and not a test."""
    folders = [_place(module.path.parent, revision).as_posix() for module in project.modules]
    common = Path(path.commonpath(folders)) if all(folders) else home
    inside = name.is_relative_to(common) and name.suffix == ".py" and name.stem.isidentifier()
    parts = name.parent.parts
    return inside and not TESTS_INSIDE & {*parts} and not any(fnmatch(name.name, pattern) for pattern in NO_MODULE)


def _place(file: Path, revision: Revision) -> Path:
    """Return a file or folder relative to the root of the repository.

    Raises:
        InputError: it is outside the repository.
    """
    try:
        return Path(path.realpath(file)).relative_to(path.realpath(revision.top))
    except ValueError:
        raise InputError(f"'{file}' is not in the repository '{revision.top}'; name a project inside it") from None


def _name(file: Path, source: Path) -> str:
    """Return the dotted name of a module."""
    inside = file.relative_to(source) if file.is_relative_to(source) else file
    parts = inside.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def _decoded(content: bytes) -> str:
    """Return the text of a Python file, decoded by its encoding cookie."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return io.TextIOWrapper(io.BytesIO(content), encoding, newline=None).read()
