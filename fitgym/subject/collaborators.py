"""Collaborators: modules of the package that define the objects which the module under test works on.

A module often does not import the classes of its arguments: a parser receives the walker that calls it. The classes are
searched by name and by attributes in the text of the other files of the package. No file is imported here.
"""

from __future__ import annotations

import ast
import io
import os
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

from fitgym.subject.introspection.attributes import plain_name
from fitgym.subject.package_files import above, texts

__all__ = ["collaborators"]

_MOST_FILES = 1500  # read
_MOST_BYTES = 6_000_000  # read
_MOST_MODULES = 8  # returned
_MOST_PER_NEED = 2  # modules returned for one parameter
_LEAST_ATTRIBUTES = 2  # that identify a class
_LEAST_FOR_MOST = 4  # attributes in use, of which a class may lack a quarter
_LEAST_LETTERS = 3  # of a parameter that a class is named after
_NOT_SEARCHED = ("tests", "test", "testing", "vendor", "_vendor")
_CLASS = re.compile(r"^class[ \t]+(\w+)", re.MULTILINE)
_MEMBER = re.compile(
    r"^[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)|\bself\.(\w+)[ \t]*(?::[^=\n]+)?=(?!=)|^(?: {4}|\t)(\w+)[ \t]*[:=](?!=)",
    re.MULTILINE,
)
# Attributes of built-in objects identify no class of the package.
_BUILT_IN = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, complex, io.StringIO, io.BytesIO, re.Match, type)
    for name in dir(kind)
)


@dataclass(frozen=True)
class _Need:
    """A parameter without a declared type: its name and the attributes that are read from it."""

    name: str
    attributes: frozenset[str]

    def may_be_met_in(self, text: str) -> bool:
        """Return False if no class in a text can fit; a fast check."""
        if len(self.attributes) >= _LEAST_ATTRIBUTES:
            there = sum(attribute in text for attribute in self.attributes)
            if there == len(self.attributes) or (len(self.attributes) >= _LEAST_FOR_MOST and there):
                return True
        return any(plain_name(name) == plain_name(self.name) for name in _CLASS.findall(text))

    def met_by(self, name: str, members: Container[str]) -> int:
        """Return how well a class fits: 2 for all attributes or the same name, 1 for most of many, 0 otherwise."""
        if plain_name(self.name) == plain_name(name) and len(plain_name(name)) >= _LEAST_LETTERS:
            return 2
        if len(self.attributes) < _LEAST_ATTRIBUTES:
            return 0
        there = sum(attribute in members for attribute in self.attributes)
        if there == len(self.attributes):
            return 2
        return int(len(self.attributes) >= _LEAST_FOR_MOST and 4 * there >= 3 * len(self.attributes))


def collaborators(module: str, path: str, source: str, loaded: Container[str]) -> list[str]:
    """Return the modules that seem to define the classes of parameters without a declared type, nearest first.

    A class fits a parameter that has its name, or that is used with attributes which the class has: all of them, or
    three of four. If a loaded module has such a class, no other is returned for the parameter.

    Args:
        module: the dotted name of the module under test.
        path: of its file.
        source: its text.
        loaded: names of the imported modules.

    Returns:
        At most eight names. A module without a package has no collaborators.
    """
    package, _, inside = module.partition(".")
    if not inside and os.path.basename(path) != "__init__.py":
        return []
    needs = _needs(source)
    if not needs:
        return []
    root = above(module, path)
    found: dict[_Need, list[tuple[int, int, str]]] = {need: [] for need in needs}
    met: set[_Need] = set()
    for file_name, text in texts(_files(root, package, path), _MOST_FILES, _MOST_BYTES):
        name = _name(file_name, root)
        if not any(need.may_be_met_in(text) for need in needs):
            continue
        for cls, members in _classes(text):
            for need in needs:
                if fit := need.met_by(cls, members):
                    found[need].append((-fit, _distance(module, name), name))
                    if name in loaded and fit > 1:
                        met.add(need)
    wanted = [
        place
        for need, places in found.items()
        if need not in met
        for place in sorted({place for place in places if place[2] not in loaded})[:_MOST_PER_NEED]
    ]
    return list(dict.fromkeys(name for _, _, name in sorted(wanted)))[:_MOST_MODULES]


def _needs(source: str) -> list[_Need]:
    """Return the parameters without an annotation that are used with attributes of no built-in object."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found: dict[_Need, None] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        used: dict[str, set[str]] = {}
        for inner in ast.walk(node):
            match inner:
                case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=attribute):
                    used.setdefault(name, set()).add(attribute)
        for entry in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            attributes = used.get(entry.arg, set())
            if _is_undeclared(entry) and not attributes <= _BUILT_IN:
                found.setdefault(_Need(entry.arg, frozenset(attributes)))
    return [need for need in found if need.name not in ("self", "cls")]


def _is_undeclared(entry: ast.arg) -> bool:
    return entry.annotation is None or ast.unparse(entry.annotation).rpartition(".")[2] == "Any"


def _files(root: str, package: str, but: str) -> Iterator[str]:
    """Yield the modules of a package that may define collaborators, in a fixed order."""
    for folder, folders, names in os.walk(os.path.join(root, package)):
        folders[:] = sorted(name for name in folders if name.isidentifier() and name not in _NOT_SEARCHED)
        for name in sorted(names):
            file_name = os.path.join(folder, name)
            stem = name[:-3]
            if not name.endswith(".py") or not stem.isidentifier() or file_name == but:
                continue
            if not stem.startswith("test_") and stem not in ("conftest", "__main__", "setup"):
                yield file_name


def _name(file_name: str, root: str) -> str:
    """Return the name of a module."""
    inside = os.path.relpath(file_name, root).removesuffix(".py").split(os.sep)
    return ".".join(inside[:-1] if inside[-1] == "__init__" else inside)


def _classes(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield the top-level classes of a module with their members, as the text shows them."""
    starts = list(_CLASS.finditer(text))
    ends = [*(one.start() for one in starts), len(text)][1:]
    for start, end in zip(starts, ends, strict=True):
        if not start[1].startswith("_"):
            yield start[1], frozenset(filter(None, (n for m in _MEMBER.findall(text, start.end(), end) for n in m)))


def _distance(module: str, other: str) -> int:
    """Return the number of packages from one module up to the common package and down to the other."""
    ours, theirs = module.split("."), other.split(".")
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common] == theirs[common]:
        common += 1
    return len(ours) + len(theirs) - 2 * common
