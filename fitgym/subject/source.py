"""Locating the subject: from the user's text to a file, a module name and the folders that its import needs.

Nothing of the subject is imported here. Packages are searched folder by folder with Python's own path finder. It finds
namespace packages, `.pth` files and editable installs where the import would find them.
"""

from __future__ import annotations

import ast
import difflib
import importlib.machinery
import os
import pkgutil
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder

from fitgym.errors import SubjectError
from fitgym.subject.code import syntax
from fitgym.subject.subject import Reference

__all__ = ["locate", "package_folders", "parse", "read"]

_CLASS = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def locate(text: str, path: str | os.PathLike[str] | None = None, programs: str = "") -> Reference:
    """Find the module or class that `text` names, without importing it.

    Args:
        text: `package.module`, `package.module:Class`, `package.module:Outer.Inner` or `path/to/file.py[:Class]`.
        path: a folder to search first; the current folder (as for `python -m`) and `sys.path` follow.
        programs: names of programs that the import may start, separated by commas.

    A file inside a package (a folder with `__init__.py`) gets its dotted name; any other file gets its stem.

    Raises:
        SubjectError: the module, file or class does not exist, or the source is not valid Python.
    """
    place, class_name = _split(text)
    if path is not None and not os.path.isdir(path):
        raise SubjectError(f"no such folder: '{os.fspath(path)}'")
    first = [os.path.abspath(path)] if path is not None else []
    first.append(os.getcwd())
    if _is_file_name(place):
        file, module, root = _file(place)
        folders = [root, *first]
    else:
        elsewhere = " (if its folder is not on Python's path, give it as path)" if path is None else ""
        file, root = _module(place, [*first, *(entry or os.getcwd() for entry in sys.path)], elsewhere)
        module = place
        folders = first if root in first or _is_installed(root) else [*first, root]
    allowed = tuple(dict.fromkeys(name for part in programs.split(",") if (name := part.strip())))
    reference = Reference(text, module, file, class_name, tuple(dict.fromkeys(folders)), allowed)
    tree = parse(reference, read(reference))
    if class_name:
        _check_class(reference, tree)
    return reference


def package_folders(text: str, path: str | os.PathLike[str] | None = None) -> tuple[list[str], str]:
    """Return the folders of a package, and the folder that it is imported from.

    Args:
        text: `package` or `package.subpackage`.
        path: as for `locate`.

    Returns:
        No folders and "" if `text` is a module, a class or a file.

    Raises:
        SubjectError: there is no such module or package.
    """
    if ":" in text or _is_file_name(text):
        return [], ""
    first = [os.path.abspath(path)] if path is not None else []
    found = _specification(text, [*first, os.getcwd(), *(entry or os.getcwd() for entry in sys.path)])
    return [os.path.abspath(folder) for folder in _folders(found[0])], found[1]


def read(reference: Reference) -> str:
    """Return the source text of the subject, decoded by its encoding cookie, with `\\n` line ends.

    Raises:
        SubjectError: the file is gone or is not text in the encoding that it declares.
    """
    try:
        with tokenize.open(reference.path) as file:
            return file.read()
    except FileNotFoundError:
        raise SubjectError(f"no such file: '{reference.path}'") from None
    except (OSError, SyntaxError, LookupError, ValueError) as problem:  # rot13 is a codec but not a text encoding
        raise SubjectError(f"cannot read '{reference.path}': {problem}") from None


def parse(reference: Reference, source: str) -> ast.Module:
    """Return the syntax tree of the subject.

    Raises:
        SubjectError: the source is not valid for this version of Python; the message gives file and line.
    """
    try:
        return syntax.parse(source, reference.path)
    except SyntaxError as problem:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise SubjectError(
            f"'{reference.path}'{'' if problem.lineno is None else f', line {problem.lineno},'} is not valid Python {version}: {problem.msg}"
        ) from None
    except (ValueError, RecursionError, MemoryError) as problem:
        raise SubjectError(f"'{reference.path}' cannot be parsed: {problem}") from None


def _split(text: str) -> tuple[str, str]:
    """Split into module or file, and class name; `C:\\folder\\file.py` has a colon but no class."""
    place, colon, class_name = text.strip().rpartition(":")
    if not colon or "/" in class_name or "\\" in class_name:
        place, class_name = text.strip(), ""
    elif not _CLASS.fullmatch(class_name):
        raise SubjectError(f"'{class_name}' in '{text}' is not the name of a class; expected 'package.module:Class'")
    if not place:
        raise SubjectError(f"'{text}' names no module; expected 'package.module', 'package.module:Class' or a file")
    return place, class_name


def _is_file_name(place: str) -> bool:
    if place.endswith((".py", ".pyw")) or "/" in place or os.sep in place:
        return True
    if not _CLASS.fullmatch(place):
        return os.path.exists(place)
    return "." in place and os.path.isfile(place)  # `README.md` could also be a module name, but hardly is one


def _file(place: str) -> tuple[str, str, str]:
    """Return absolute path, module name and root folder of a source file."""
    file = os.path.abspath(os.path.expanduser(place))
    if os.path.isdir(file):
        near = sorted(entry for entry in os.listdir(file) if entry.endswith(".py") and not entry.startswith("_"))
        offer = f", for example '{os.path.join(place, near[0])}'" if near else ""
        raise SubjectError(f"'{place}' is a folder: name one of its modules{offer}")
    if not os.path.isfile(file) and os.path.exists(file):
        raise SubjectError(f"'{place}' is a pipe, a socket or a device: name a file with Python source")
    if not os.path.isfile(file):
        folder, name = os.path.split(file)
        known = os.listdir(folder) if os.path.isdir(folder) else []
        raise SubjectError(f"no such file: '{place}'{_suggest(name, known)}")
    if not file.endswith((".py", ".pyw")):
        compiled = file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES))
        what = "a compiled module" if compiled else "no Python source file"
        raise SubjectError(f"'{place}' is {what}: fitgym needs Python source")
    folder, name = os.path.split(file)
    stem = name.rpartition(".")[0]
    parts = [] if stem == "__init__" else [stem]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.dirname(folder) != folder:
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    module = ".".join(parts)
    if not _CLASS.fullmatch(module):
        raise SubjectError(
            f"'{place}' would be imported as '{module}', which is not a valid module name: rename the file"
        )
    return file, module, folder


def _module(name: str, folders: Sequence[str], elsewhere: str) -> tuple[str, str]:
    """Return the source file of the module `name`, and the entry of `folders` that contains its top-level package.

    If the module is not found, the error message ends with `elsewhere`.
    """
    spec, root = _specification(name, folders, elsewhere)
    if spec.loader is None or not spec.has_location:
        names = sorted(found.name for found in pkgutil.iter_modules(_folders(spec)))
        offer = f": name one of its modules ({', '.join(names[:8])})" if names else ""
        raise SubjectError(f"'{name}' is a namespace package without source of its own{offer}")
    file = _source_of(spec)
    if not file:
        raise SubjectError(f"'{name}' is a compiled module: fitgym needs Python source (found '{spec.origin}')")
    return file, root


def _specification(name: str, folders: Sequence[str], elsewhere: str = "") -> tuple[ModuleSpec, str]:
    """Return the specification of the module or package `name`, and the folder of its top-level package."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        raise SubjectError(f"'{name}' is neither a module name nor a file; expected 'package.module[:Class]'")
    if parts[0] in sys.builtin_module_names:
        raise SubjectError(f"'{parts[0]}' is a compiled module: fitgym needs Python source")
    PathFinder.invalidate_caches()
    search = list(folders)
    root = ""
    spec: ModuleSpec | None = None
    for depth, part in enumerate(parts):
        parent, here = ".".join(parts[:depth]), ".".join(parts[: depth + 1])
        spec = _find(part, search, top=depth == 0)
        if spec is None:
            where = f" in the package '{parent}'" if parent else ""
            near = _suggest(
                part, (found.name for found in pkgutil.iter_modules(search)), f"{parent}." if parent else ""
            )
            raise SubjectError(f"no module named '{here}'{where}{near}{elsewhere if depth == 0 else ''}")
        locations = spec.submodule_search_locations
        if depth == 0:
            root = _root(spec, locations)
        if depth + 1 == len(parts):
            break
        if locations is None:
            if spec.has_location and not _source_of(spec):
                raise SubjectError(f"'{here}' is a compiled module: fitgym needs Python source")
            raise SubjectError(
                f"'{here}' is a module, not a package, so it has no '{parts[depth + 1]}'; "
                f"for a class write '{here}:{'.'.join(parts[depth + 1 :])}'"
            )
        search = list(locations)
    assert spec is not None
    return spec, root


def _folders(spec: ModuleSpec) -> list[str]:
    """Return the folders of a package, none for a module."""
    return list(spec.submodule_search_locations or [])


def _find(part: str, search: Sequence[str], top: bool) -> ModuleSpec | None:
    """Return the specification of one component of a dotted name.

    The finder gets only the last component, which is all that it uses. With the full name it could list the folders of
    a namespace package only after an import of its parent.
    """
    spec = PathFinder.find_spec(part, list(search))
    if (spec is not None and spec.loader is not None) or not top:
        return spec
    # Editable installs append their own finders after Python's three.
    for finder in sys.meta_path:
        if finder in (PathFinder, importlib.machinery.BuiltinImporter, importlib.machinery.FrozenImporter):
            continue
        try:
            other = finder.find_spec(part, None)
        except Exception:  # third-party finder: a failure only means that it did not find the module
            continue
        if other is not None:
            return other
    return spec


def _source_of(spec: ModuleSpec) -> str:
    """Return the absolute path of the source file, "" if there is none."""
    origin = spec.origin or ""
    if origin.endswith((".py", ".pyw")) and os.path.isfile(origin):
        return os.path.abspath(origin)
    return ""


def _root(spec: ModuleSpec, locations: Sequence[str] | None) -> str:
    place = next(iter(locations)) if locations else spec.origin or ""
    return os.path.dirname(os.path.abspath(place))


def _is_installed(folder: str) -> bool:
    """The interpreter finds the folder without help: it is one of the installation's standard paths."""
    import sysconfig  # from Python 3.12 on it loads threading, which the worker avoids

    return os.path.realpath(folder) in {os.path.realpath(path) for path in sysconfig.get_paths().values()}


def _suggest(name: str, known: Iterator[str] | Sequence[str], prefix: str = "") -> str:
    near = difflib.get_close_matches(name, sorted(set(known)), n=1)
    return f"; did you mean '{prefix}{near[0]}'?" if near else ""


def _check_class(reference: Reference, tree: ast.Module) -> None:
    """Reject a class that the module does not define; the message names the defining module if an import shows it."""
    body: Sequence[ast.stmt] = tree.body
    names = reference.class_name.split(".")
    for depth, name in enumerate(names):
        found = _defined(body, name)
        here = ".".join(names[: depth + 1])
        if isinstance(found, ast.ClassDef):
            body = found.body
        elif isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise SubjectError(f"'{here}' in '{reference.module}' is a function: name a module or a class")
        elif isinstance(found, ast.ImportFrom):
            origin = _imported_from(reference, found, name)
            raise SubjectError(f"'{reference.module}' only imports '{here}': test it as '{origin}'")
        elif isinstance(found, ast.stmt) and depth + 1 == len(names):
            return  # bound by an assignment: `Point = namedtuple(...)`; introspection checks whether it is a class
        else:
            known = [
                node.name for statement in _statements(body) for node in [statement] if isinstance(node, ast.ClassDef)
            ]
            outer = ".".join(names[:depth])
            near = _suggest(name, known, f"{outer}." if outer else "")
            raise SubjectError(f"'{reference.module}' defines no class '{here}'{near}")


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a body and of its nested `if`, `try`, `with`, `for` and `while` blocks, in order."""
    for statement in body:
        yield statement
        for field in ("body", "handlers", "orelse", "finalbody"):
            inner = getattr(statement, field, [])
            if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) or not inner:
                continue
            for part in inner:
                if isinstance(part, ast.ExceptHandler):
                    yield from _statements(part.body)
                else:
                    yield from _statements([part])


def _defined(body: Sequence[ast.stmt], name: str) -> ast.stmt | None:
    """Return the last statement of a body that binds `name`; definitions come before imports."""
    found: ast.stmt | None = None
    for statement in _statements(body):
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef() if statement.name == name:
                return statement
            case ast.Assign(targets=targets) if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                found = statement
            case ast.AnnAssign(target=ast.Name(id=target)) if target == name and statement.value is not None:
                found = statement
            case ast.ImportFrom() if any((alias.asname or alias.name) == name for alias in statement.names):
                found = statement
    return found


def _imported_from(reference: Reference, statement: ast.ImportFrom, name: str) -> str:
    """Return `module:Class` for a name that a `from` import binds."""
    alias = next(alias for alias in statement.names if (alias.asname or alias.name) == name)
    module = statement.module or ""
    if statement.level:
        is_package = os.path.basename(reference.path) == "__init__.py"
        parts = reference.module.split(".")
        base = parts[: len(parts) - statement.level + (1 if is_package else 0)]
        module = ".".join([*base, module] if module else base)
    return f"{module}:{alias.name}"
