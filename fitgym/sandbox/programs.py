"""Programs: decides which programs an import may start, if the user allows any."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
from collections.abc import Collection, Iterator

__all__ = ["executables", "started"]

_SHELLS = frozenset({"sh", "bash", "dash"})
_SPECIAL = frozenset(";&|`$<>(){}\n")
_LOADERS = ("/lib*/ld-*.so*", "/lib/*/ld-*.so*", "/usr/lib*/ld-*.so*", "/usr/lib/*/ld-*.so*")


def started(args: tuple[object, ...]) -> str:
    """Return the program that `subprocess` or `os.posix_spawn` is about to start, "" if it is not a single one.

    Args:
        args: arguments of the audit event: the executable or None, then the list of arguments.
    """
    executable, command = (*args, None, None)[:2]
    words = [command] if isinstance(command, str | bytes | os.PathLike) else list(_words(command))
    try:
        texts = [os.fsdecode(word) for word in words]
        name = os.path.basename(os.fsdecode(executable) if executable is not None else texts[0])  # type: ignore[arg-type]
    except (TypeError, IndexError):
        return ""
    if name in _SHELLS and len(texts) == 3 and texts[1] == "-c":
        return _alone(texts[2])
    return name


def _words(command: object) -> Iterator[str]:
    if isinstance(command, list | tuple):
        yield from command


def _alone(line: str) -> str:
    """Return the program of a command line that starts nothing else, "" for any other line."""
    if not _SPECIAL.isdisjoint(line):
        return ""
    try:
        words = shlex.split(line)
    except ValueError:
        return ""
    return os.path.basename(words[0]) if words else ""


def executables(programs: Collection[str]) -> list[str]:
    """Return the files that these programs need to execute: the programs, their interpreters, a shell, the loader."""
    found = [path for name in sorted(programs) if (path := shutil.which(name))]
    if not found:
        return []
    for path in list(found):
        with open(path, "rb") as file:
            first = file.readline(256)
        if first.startswith(b"#!"):
            found += [os.fsdecode(word) for word in first[2:].split()[:1]]
    if shell := shutil.which("sh"):
        found.append(shell)
    found += [path for pattern in _LOADERS for path in sorted(glob.glob(pattern))]
    return list(dict.fromkeys(os.path.realpath(path) for path in found if os.path.isfile(path)))
