"""Private folders: temporary folders, removed by the last user, or by the next new folder if that user was killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Collection
from typing import Self

from fitgym.determinism.chance import PRIVATE

__all__ = ["Folder", "sweep", "tidy"]

_MEMORY, _ROOM = "/dev/shm", 2 << 30
_OURS = re.compile(PRIVATE + "[0-9a-f]{16}")


class Folder:
    """A temporary folder that only this user can enter, in memory if there is room.

    Each user of the folder holds a shared lock on it, which the kernel releases when the process ends. The last user
    removes the folder. A folder without a lock belongs to a process that was killed. Each new folder first removes all
    such folders. A copy of a `Folder`, also in another process, is a further user of the same folder.

    Args:
        path: path of an existing folder to use. A new folder is created if it is "" or does not exist any more.

    Attributes:
        path: path of the folder, without symbolic links.
    """

    def __init__(self, path: str = "") -> None:
        sweep()
        self.path = path or os.path.join(_place(), PRIVATE + os.urandom(8).hex())
        self._lock = _locked(self.path)
        self._leave = weakref.finalize(self, _leave, self.path, self._lock, os.getpid())

    def remove(self) -> None:
        """Remove the folder with its content unless it has another user. A second call does nothing."""
        self._leave()

    def forget(self) -> None:
        """Release the folder without removing it. Used in a fork of the owner."""
        if self._leave.detach() is not None:
            os.close(self._lock)

    def __enter__(self) -> str:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.path,)


def _locked(path: str) -> int:
    """Open a folder with a shared lock and return the descriptor. Creates the folder if necessary."""
    while True:
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, stat.S_IRWXU)
        with contextlib.suppress(FileNotFoundError):  # removed by `sweep` before it was locked: try again
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_SH)
                if os.path.samestat(os.fstat(lock), os.stat(path)):
                    return lock
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)


def _leave(path: str, lock: int, owner: int) -> None:
    """Release a folder; the last user removes it. A fork of the owner shares its lock, so it removes nothing."""
    try:
        if os.getpid() == owner:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
    finally:
        os.close(lock)


def sweep() -> None:
    """Remove the private folders of processes that were killed, in all places where `Folder` creates them."""
    for place in dict.fromkeys((_MEMORY, os.path.realpath(tempfile.gettempdir()))):
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if _OURS.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(folder: str) -> None:
    with contextlib.suppress(OSError):  # the folder belongs to another user or is in use
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(folder)
        finally:
            os.close(lock)


def _place() -> str:
    """Return the parent of private folders: memory if there is room and no environment variable names another place.

    Code that writes files, databases above all, would spend most of its time waiting for a disk.
    """
    if not any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        with contextlib.suppress(OSError):
            room = os.statvfs(_MEMORY)
            if os.path.ismount(_MEMORY) and room.f_bavail * room.f_frsize >= _ROOM and os.access(_MEMORY, os.W_OK):
                return _MEMORY
    return os.path.realpath(tempfile.gettempdir())


def tidy(folder: str, kept: Collection[str]) -> None:
    """Remove everything from a folder except the names in `kept`, as far as possible."""
    for name in os.listdir(folder):
        if name not in kept:
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                _remove(path)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _remove(folder: str) -> None:
    """Remove a folder regardless of the permissions that the code under test has set in it."""
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = os.path.join(path, name)
            if not os.path.islink(inner):  # the target of a link does not belong to the folder
                with contextlib.suppress(OSError):
                    os.chmod(inner, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
