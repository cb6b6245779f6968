"""Digests of code that ignore prose: docstrings, comments and layout do not count.

    python -c "import code_digest as c; print(c.digest(c.Folder(c.ROOT), ['fitgym/search']))"

The digest of a Python file is that of its syntax tree, written so that every Python version gives the same text. TOML
and JSON files count by their values, C files without comments, all others byte by byte.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import subprocess
import tarfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

__all__ = ["ROOT", "Commit", "Files", "Folder", "digest"]

ROOT = Path(__file__).resolve().parents[1]

_LEFT_OUT = ("__pycache__", ".so", ".pyc", ".md")
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Files(Protocol):
    """The files of a repository at some time."""

    def below(self, path: str) -> Iterator[tuple[str, bytes]]:
        """Yield name and content of a file, or of all files of a folder, in any order."""
        ...


class Folder:
    """The files of a working folder.

    Args:
        root: the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def below(self, path: str) -> Iterator[tuple[str, bytes]]:
        """See `Files`. Links inside a folder are not followed."""
        place = self.root / path
        for file in [place] if place.is_file() else place.rglob("*"):
            if file.is_file():
                yield file.relative_to(self.root).as_posix(), file.read_bytes()


class Commit:
    """The files of a commit.

    Args:
        root: the folder of the repository.
        name: of the commit.
    """

    def __init__(self, root: Path, name: str) -> None:
        packed = subprocess.run(["git", "archive", name], cwd=root, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            self.files = {
                member.name: content.read()
                for member in archive.getmembers()
                if member.isfile() and (content := archive.extractfile(member))
            }

    def below(self, path: str) -> Iterator[tuple[str, bytes]]:
        """See `Files`."""
        for name, content in self.files.items():
            if name == path or name.startswith(f"{path}/"):
                yield name, content


def digest(files: Files, paths: Iterable[str]) -> str:
    """Return 16 hexadecimal digits that change with the code of any of these files and folders."""
    found = {name: content for path in paths for name, content in files.below(path)}
    whole = hashlib.sha256()
    for name in sorted(found):
        if not any(part in name for part in _LEFT_OUT):
            whole.update(f"{name}\0{_essence(name, found[name])}\0".encode())
    return whole.hexdigest()[:16]


def _essence(name: str, content: bytes) -> str:
    """Return the part of a file that can influence a result."""
    read = _READERS.get(name.rpartition(".")[2], lambda text: text)
    return read(content.decode("utf-8", "backslashreplace"))


def _python(text: str) -> str:
    return _written(ast.parse(text))


def _written(found: object) -> str:
    """Return a syntax tree as text, without docstrings and without fields that are empty."""
    if isinstance(found, ast.AST):
        fields = dict(ast.iter_fields(found))
        if isinstance(found, _WITH_DOCSTRING) and ast.get_docstring(found, clean=False) is not None:
            fields["body"] = found.body[1:]
        if isinstance(found, ast.JoinedStr):  # some versions of Python keep empty parts of formatted strings
            fields["values"] = [part for part in found.values if getattr(part, "value", None) != ""]
        kept = {name: value for name, value in fields.items() if value not in (None, []) or name == "value"}
        return f"{type(found).__name__}({','.join(f'{name}={_written(value)}' for name, value in kept.items())})"
    if isinstance(found, list):
        return f"[{','.join(map(_written, found))}]"
    return repr(found)


def _c(text: str) -> str:
    return " ".join(re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL).split())


def _values(read: Callable[[str], object]) -> Callable[[str], str]:
    return lambda text: json.dumps(read(text), sort_keys=True, default=str)


_READERS: Mapping[str, Callable[[str], str]] = {
    "py": _python,
    "c": _c,
    "h": _c,
    "toml": _values(tomllib.loads),
    "json": _values(json.loads),
}
