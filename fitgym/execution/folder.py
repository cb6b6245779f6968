"""Private folders: each belongs to one process, and goes with it even if that is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Collection

from fitgym.execution.chance import PRIVATE

__all__ = ["Folder", "sweep", "tidy"]

_MEMORY, _ROOM = "/dev/shm", 2 << 30
_OURS = re.compile(PRIVATE + "[0-9a-f]{16}")


class Folder:
    """A new folder among the temporary files, in memory where there is room, that only this user can enter.

    Its owner holds a lock on it, which nobody has to let go of: where the lock is free, the owner is gone. Whoever makes
    a folder removes those first.

    Attributes:
        path: of the folder, without symbolic links.
    """

    def __init__(self) -> None:
        sweep()
        place = _place()
        made = tempfile.mkdtemp(prefix=".fitgym-", dir=place)  # nobody sweeps it before it is locked
        self._lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = os.path.join(place, PRIVATE + os.urandom(8).hex())
        os.rename(made, self.path)

    def remove(self) -> None:
        """Remove the folder with all that is in it; removing twice is harmless."""
        if self._lock >= 0:
            _remove(self.path)
            self.forget()

    def forget(self) -> None:
        """Let go of the folder but leave it where it is: in a fork of the process that it belongs to."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def sweep() -> None:
    """Remove the folders of processes that were killed before they could, wherever there was room for them then."""
    for place in dict.fromkeys((_MEMORY, os.path.realpath(tempfile.gettempdir()))):
        with contextlib.suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                if _OURS.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                    _remove_if_abandoned(entry.path)


def _remove_if_abandoned(folder: str) -> None:
    with contextlib.suppress(OSError):  # another user's, or in use
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(folder)
        finally:
            os.close(lock)


def _place() -> str:
    """The folder that private folders are made in: in memory if there is room and nobody has asked for another place,
    because code that writes files, and databases above all, waits for a disk most of the time."""
    if not any(os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")):
        with contextlib.suppress(OSError):
            room = os.statvfs(_MEMORY)
            if os.path.ismount(_MEMORY) and room.f_bavail * room.f_frsize >= _ROOM and os.access(_MEMORY, os.W_OK):
                return _MEMORY
    return os.path.realpath(tempfile.gettempdir())


def tidy(folder: str, kept: Collection[str]) -> None:
    """Remove everything from a folder but the names that are kept, as far as that is possible."""
    for name in os.listdir(folder):
        if name not in kept:
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                _remove(path)
            else:
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _remove(folder: str) -> None:
    """Remove a folder whatever permissions the code under test has given to it and to what is in it."""
    with contextlib.suppress(OSError):
        os.chmod(folder, stat.S_IRWXU)
    for path, names, _ in os.walk(folder):
        for name in names:
            inner = os.path.join(path, name)
            if not os.path.islink(inner):  # what it leads to is not ours
                with contextlib.suppress(OSError):
                    os.chmod(inner, stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)
