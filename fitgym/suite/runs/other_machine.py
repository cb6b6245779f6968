"""A simulated other machine, as far as a test can notice.

Half of the runs that a suite must pass use it: another time zone, language, user, width of the terminal and command
line, later versions of packages, more programs, and shared folders with other entries. A test that depends on one of
these fails or takes another path there, and is not exported. The current folder contains a project; a test that looks
at its files is found out and gets an empty folder.
"""

from __future__ import annotations

import builtins
import importlib.metadata
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fitgym.sandbox.overlay import Entries

__all__ = ["ENVIRONMENT", "SHARED", "arrive", "furnish", "is_shared"]

ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        **{"TZ": "Pacific/Chatham", "LANG": "C", "LC_ALL": "C", "LANGUAGE": "C"},
        **{"USER": "stranger", "LOGNAME": "stranger", "USERNAME": "stranger"},
        **{"COLUMNS": "57", "LINES": "17", "TERM": "dumb", "NO_COLOR": "1"},
    }
)
"""Environment variables with other values on the simulated machine."""

SHARED = ("/", "/bin", "/home", "/root", "/tmp", "/usr", "/usr/bin", "/usr/local/bin", "/var/tmp")
"""Folders whose content a test must not depend on."""

SYSTEM = ("/etc", "/opt", "/srv", "/var")
"""Folders of the system: the same holds for all folders in them, except those of Python, of the code and of tests."""


PROJECT: Mapping[str, str] = MappingProxyType(
    {
        ".env": "OTHER=1\n",
        ".git/HEAD": "ref: refs/heads/main\n",
        ".gitignore": "dist/\n",
        "LICENSE": "Licence of another project\n",
        "Makefile": "all:\n",
        "README.md": "# Another project\n",
        "dist/other-1.0.tar.gz": "",
        "docs/index.md": "# Another project\n",
        "other-1.0.tar.gz": "",
        "pyproject.toml": '[project]\nname = "other"\nversion = "1.0"\nreadme = "README.md"\n\n[tool.other]\nkey = 1\n',
        "requirements.txt": "pytest\n",
        "setup.cfg": "[metadata]\nname = other\nversion = 1.0\n",
        "src/other/__init__.py": "",
        "tests/test_other.py": "",
    }
)
"""Files of the current folder on the simulated machine: users run their tests in the folder of a project."""


def furnish(folder: Path) -> None:
    """Write the files of a project to a folder."""
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def arrive(looked: Callable[[], None] = lambda: None) -> None:
    """Make this process appear to run on another machine, irreversibly.

    Its command line, the listings of shared folders, the versions of packages and the programs in `PATH` change.

    Args:
        looked: called when code asks for a file of the project in the current folder, or lists that folder.
    """
    del sys.argv[1:]
    released: Any = importlib.metadata.Distribution.version
    importlib.metadata.Distribution.version = property(lambda self: f"{released.fget(self)}.1")  # type: ignore[assignment]
    shutil.which = _found_always(shutil.which)
    place = os.getcwd()
    known = frozenset(os.path.join(place, part) for name in PROJECT for part in (name, name.partition("/")[0]))

    def watched(old: Callable[..., Any], paths: frozenset[str]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            path = args[0] if args else kwargs.get("file", kwargs.get("path", "."))
            if isinstance(path, str | bytes | os.PathLike) and os.path.abspath(os.fsdecode(path)) in paths:
                looked()
            return old(*args, **kwargs)

        return call

    os.stat, os.open = watched(os.stat, known), watched(os.open, known)
    builtins.open = io.open = watched(io.open, known)
    os.listdir = watched(_half_of(os.listdir, lambda names: names), frozenset({place}))
    os.scandir = watched(_half_of(os.scandir, Entries), frozenset({place}))


def _found_always(old: Callable[..., Any]) -> Any:
    """Return a function that finds every program, those of this machine where they are."""
    return lambda cmd, *args, **kwargs: old(cmd, *args, **kwargs) or os.path.join("/opt/bin", cmd)


def _half_of(old: Callable[..., Any], made: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """Return a function that lists folders, but only every second entry of shared folders, and not the first."""
    shared = frozenset((*SHARED, os.path.expanduser("~")))

    def listing(path: Any = ".") -> Any:
        found = old(path)
        if isinstance(path, int) or not is_shared(os.path.abspath(os.fsdecode(path)), shared):
            return found
        return made([entry for index, entry in enumerate(found) if index % 2])

    return listing


def is_shared(folder: str, shared: frozenset[str]) -> bool:
    """Return whether the content of a folder differs between machines."""
    if folder in shared or not _is_in(folder, SYSTEM):
        return folder in shared
    places = (os.getcwd(), tempfile.gettempdir(), sys.prefix, sys.base_prefix, *filter(os.path.isabs, sys.path))
    return not _is_in(folder, places)


def _is_in(folder: str, places: Iterable[str]) -> bool:
    return any(folder == place or folder.startswith(place.rstrip(os.sep) + os.sep) for place in places)
