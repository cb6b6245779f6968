"""The overlay: redirects files that a subject writes next to itself to a private folder, where it finds them again.

The overlay replaces functions of `os`, `io` and `sqlite3` that take paths. A path below a watched folder leads to the
private copy if there is one, and writing creates one. C code that opens files itself is not redirected; the sandbox
still refuses its writes.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import functools
import io
import os
import stat
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self

__all__ = ["NAME", "Entries", "Overlay", "Written"]

NAME = ".overlay"
"""Name of the folder with the private copies."""

Written = tuple[tuple[str, ...], tuple[str, ...]]
"""Added paths (folders end with a slash) and changed files, relative to the watched folder."""

# The original functions, before `install` replaces them.
_open, _lstat, _stat, _mkdir, _listdir, _unlink, _rmdir = (
    io.open, os.lstat, os.stat, os.mkdir, os.listdir, os.unlink, os.rmdir,
)  # fmt: skip
_scandir, _utime, _getcwd = os.scandir, os.utime, os.getcwd
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_MOST_BYTES = 1 << 26  # largest file whose content is kept in memory for `restore`


class Overlay:
    """Private copies of files written below some folders.

    Args:
        home: the private folder, the only writable folder.
        roots: the watched folders. `written` reports on the first one.
    """

    def __init__(self, home: str, roots: tuple[str, ...]) -> None:
        self._home = os.path.join(home, "")
        self._roots: list[tuple[str, str]] = []
        for number, root in enumerate(dict.fromkeys(roots)):
            upper = os.path.join(home, NAME, str(number))
            os.makedirs(upper, exist_ok=True)
            for name in dict.fromkeys((os.path.abspath(root), os.path.realpath(root))):
                self._roots.append((os.path.join(name, ""), upper))
        self._first = os.path.abspath(roots[0]), os.path.join(home, NAME, "0")
        self._roots.sort(key=lambda one: -len(one[0]))
        self._top = os.path.join(home, NAME)
        self._kept: dict[str, tuple[os.stat_result, bytes | None]] = {}
        self._folders: frozenset[str] | None = None  # folders in which new files may be created, None for all

    # ------------------------------------------------------------------------------------------------------- paths

    def place(self, path: Any, *, writing: bool = False, copies: bool = True) -> Any:
        """Return the private copy of a path if there is one or the path is to be written, else the path itself.

        Args:
            path: as given to a function of `os`. A value that is not a path is returned unchanged.
            writing: the path is about to be written.
            copies: copy the content of an existing file.
        """
        found = self._upper(path)
        if found is None:
            return path
        whole, upper = found
        if _exists(upper):
            return upper
        if not writing:
            return path
        parent, private = os.path.dirname(whole), os.path.dirname(upper)
        if self._folders is not None and private not in self._folders:
            return path
        if not _exists(private):
            if not _exists(parent):
                return upper  # opening it raises the error for a missing folder
            _make_folders(private)
        if copies and _exists(whole) and stat.S_ISREG(_stat(whole).st_mode):
            with _open(whole, "rb") as source, _open(upper, "wb") as target:
                while data := source.read(1 << 20):
                    target.write(data)
        return upper

    def _upper(self, path: Any) -> tuple[str, str] | None:
        """Return the absolute path and the place of its private copy, None for paths outside the watched folders."""
        if isinstance(path, int) or path is None:
            return None
        try:
            name = os.fsdecode(path)
        except TypeError:
            return None
        whole = os.path.abspath(os.path.join(_getcwd(), name))
        if whole.startswith(self._home):
            return None
        for root, upper in self._roots:
            if whole.startswith(root):
                return whole, os.path.join(upper, whole[len(root) :])
            if whole == root[:-1]:
                return whole, upper
        return None

    def names(self, path: Any) -> list[str] | None:
        """Return the names in a folder with private copies, None for any other folder."""
        found = self._upper(path)
        if found is None or not _exists(found[1]):
            return None
        whole, upper = found
        real = _listdir(whole) if _is_folder(whole) else []
        return list(dict.fromkeys((*real, *_listdir(upper))))

    # ------------------------------------------------------------------------------------------------------ content

    def written(self) -> Written:
        """Return the changes below the first folder. Copies that are equal to their originals do not count."""
        root, upper = self._first
        added: list[str] = []
        changed: list[str] = []
        for folder, names, files in _walk(upper):
            relative = os.path.relpath(folder, upper)
            here = "" if relative == "." else relative
            for name in list(names):
                if not _exists(os.path.join(root, here, name)):
                    added.append(os.path.join(here, name, ""))
                    names.remove(name)
            for name in files:
                original = os.path.join(root, here, name)
                if not _exists(original):
                    added.append(os.path.join(here, name))
                elif _read(original) != _read(os.path.join(folder, name)):
                    changed.append(os.path.join(here, name))
        return tuple(sorted(added)), tuple(sorted(changed))

    def keep(self) -> None:
        """Save the current state for `restore`. From now on new files are created only in folders that have some."""
        entries = self._entries()
        folders = [path for path, state in entries if stat.S_ISDIR(state.st_mode)]
        self._folders = frozenset((*folders, *(os.path.dirname(path) for path, _ in entries))) - {
            self._top,
            *self._empty(),
        }
        self._kept = {path: (state, _read(path)) for path, state in self._entries()}

    def _empty(self) -> list[str]:
        """Return the private folders of watched folders in which nothing was written."""
        return [
            upper for _, upper in self._roots if not any(os.path.dirname(path) == upper for path, _ in self._entries())
        ]

    def look(self) -> object:
        """Return a value that changes whenever a private copy changes."""
        return [
            (path, 0 if stat.S_ISDIR(state.st_mode) else (state.st_size, state.st_mtime_ns, state.st_ino))
            for path, state in self._entries()
        ]

    def restore(self) -> None:
        """Restore the state saved by `keep`. Files are rewritten in place, so open files stay valid."""
        found = dict(self._entries())
        for path in sorted(found.keys() - self._kept.keys(), reverse=True):
            _remove(path, found[path])
        for path, (state, content) in self._kept.items():
            now = found.get(path)
            if content is None:
                if now is None:
                    _make_folders(path)
            elif now is None or (now.st_size, now.st_mtime_ns) != (state.st_size, state.st_mtime_ns):
                with _open(path, "wb") as file:
                    file.write(content)
                _utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    def _entries(self) -> list[tuple[str, os.stat_result]]:
        found = []
        for folder, names, files in _walk(self._top):
            for name in sorted((*names, *files)):
                path = os.path.join(folder, name)
                found.append((path, _lstat(path)))
        return found

    # ---------------------------------------------------------------------------------------------------- replacing

    def install(self) -> None:
        """Replace the functions permanently."""
        builtins.open = io.open = self._opener(io.open)
        self._replace(os, "open", self._os_open(os.open))
        for name in ("stat", "lstat", "access", "readlink"):
            self._replace(os, name, self._reader(getattr(os, name)))
        for name in ("chmod", "utime", "truncate"):
            self._replace(os, name, self._writer(getattr(os, name)))
        for name in ("remove", "unlink", "rmdir"):
            self._replace(os, name, self._reader(getattr(os, name)))
        for name in ("rename", "replace"):
            self._replace(os, name, self._mover(getattr(os, name)))
        self._replace(os, "mkdir", self._maker(os.mkdir))
        self._replace(os, "listdir", self._lister(os.listdir))
        self._replace(os, "scandir", self._scanner(os.scandir))
        with contextlib.suppress(ImportError):  # Python may be built without it
            import sqlite3.dbapi2

            sqlite3.connect = sqlite3.dbapi2.connect = self._connector(sqlite3.connect)

    def _replace(self, module: Any, name: str, new: Callable[..., Any]) -> None:
        old = getattr(module, name)
        setattr(module, name, new)
        for known in (os.supports_follow_symlinks, os.supports_dir_fd, os.supports_fd, os.supports_effective_ids):
            if old in known:
                known.add(new)

    def _opener(self, old: Callable[..., Any]) -> Callable[..., Any]:
        place = self.place

        @functools.wraps(old)
        def open(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
            writing = isinstance(mode, str) and not {"w", "a", "x", "+"}.isdisjoint(mode)
            return old(place(file, writing=writing), mode, *args, **kwargs)

        return open

    def _os_open(self, old: Callable[..., Any]) -> Callable[..., Any]:
        place = self.place

        @functools.wraps(old)
        def open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            if dir_fd is None and isinstance(flags, int):
                path = place(path, writing=bool(flags & _WRITING))
            descriptor: int = old(path, flags, mode, dir_fd=dir_fd)
            return descriptor

        return open

    def _reader(self, old: Callable[..., Any]) -> Callable[..., Any]:
        place = self.place

        @functools.wraps(old)
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            return old(path if kwargs.get("dir_fd") is not None else place(path), *args, **kwargs)

        return call

    def _writer(self, old: Callable[..., Any]) -> Callable[..., Any]:
        place = self.place

        @functools.wraps(old)
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            return old(path if kwargs.get("dir_fd") is not None else place(path, writing=True), *args, **kwargs)

        return call

    def _mover(self, old: Callable[..., Any]) -> Callable[..., Any]:
        place = self.place

        @functools.wraps(old)
        def move(src: Any, dst: Any, **kwargs: Any) -> Any:
            return old(place(src), place(dst, writing=True, copies=False), **kwargs)

        return move

    def _maker(self, old: Callable[..., Any]) -> Callable[..., Any]:
        place = self.place

        @functools.wraps(old)
        def mkdir(path: Any, *args: Any, **kwargs: Any) -> None:
            if self._upper(path) is not None and _exists(os.fspath(path)):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
            old(place(path, writing=True), *args, **kwargs)

        return mkdir

    def _lister(self, old: Callable[..., Any]) -> Callable[..., Any]:
        names = self.names

        @functools.wraps(old)
        def listdir(path: Any = ".") -> Any:
            found = names(path)
            if found is None:
                return old(path)
            return [os.fsencode(name) for name in found] if isinstance(path, bytes) else found

        return listdir

    def _scanner(self, old: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(old)
        def scandir(path: Any = ".") -> Any:
            found = self._upper(path)
            if found is None or not _exists(found[1]):
                return old(path)
            whole, upper = found
            private = list(old(upper))
            hidden = {entry.name for entry in private}
            real = [entry for entry in (old(whole) if _is_folder(whole) else ()) if entry.name not in hidden]
            return Entries([*real, *private])

        return scandir

    def _connector(self, old: Callable[..., Any]) -> Callable[..., Any]:
        place = self.place

        @functools.wraps(old)
        def connect(database: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(database, str) or (database not in ("", ":memory:") and not database.startswith("file:")):
                database = place(database, writing=True)
            return old(database, *args, **kwargs)

        return connect


class Entries:
    """Return value of the replaced `os.scandir`, with the entries of two folders."""

    def __init__(self, entries: list[os.DirEntry[Any]]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[os.DirEntry[Any]]:
        return self

    def __next__(self) -> os.DirEntry[Any]:
        return next(self._entries)

    def close(self) -> None:
        """Do nothing, because no folder is open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _exists(path: str | bytes) -> bool:
    try:
        _lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(_stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _make_folders(path: str) -> None:
    missing = []
    while not _exists(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        _mkdir(folder)


def _walk(top: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Walk a folder like `os.walk`, without the replaced functions. Symbolic links count as files."""
    names: list[str] = []
    files: list[str] = []
    try:
        with _scandir(top) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                (names if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:
        return
    yield top, names, files
    for name in names:
        yield from _walk(os.path.join(top, name))


def _read(path: str) -> bytes | None:
    """Return the content of a file; None for a folder, an unreadable file, or a file that is too large to keep."""
    try:
        state = _lstat(path)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
            return None
        with _open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _remove(path: str, state: os.stat_result) -> None:
    with contextlib.suppress(OSError):
        _rmdir(path) if stat.S_ISDIR(state.st_mode) else _unlink(path)
