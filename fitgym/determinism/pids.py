"""Process ids in the worker: replaces `os.getpid` and `os.getppid` for the subject and everything that it uses.

Programs put their process id into names, seeds and objects, and it differs in every run. So during a search a test case
always sees the same ids. Values for assertions are observed with the real ids.
"""

from __future__ import annotations

import os

from fitgym.determinism.monkeypatch import replacement

__all__ = ["PIDS", "Pids"]

PIDS = tuple(range(2**22 + 1, 2**22 + 5))
"""Two ids of the process, then two ids of its parent. Linux assigns ids up to 2**22, so no process has these."""
_OWN, _PARENT = PIDS[:2], PIDS[2:]


class Pids:
    """Replaces the ids of this process and its parent from now on.

    Its methods replace the functions of the module `os` with the same names. A process that the subject forks sees its
    real id, and its parent id is the replaced id of this process.
    """

    def __init__(self) -> None:
        self._getpid, self._getppid = os.getpid, os.getppid
        self._other = False
        self._process = self._getpid()  # the process whose ids are fixed, 0 if none
        self._forked = False  # this process is a fork of `_process`
        os.register_at_fork(after_in_child=self._leave)
        os.getpid = replacement(self.getpid, "os")
        os.getppid = replacement(self.getppid, "os")

    def fix(self, *, other: bool = False) -> None:
        """Show the fixed ids, at the beginning of a test case.

        Args:
            other: show the other fixed ids.
        """
        self._process, self._forked = self._getpid(), False
        self._other = other

    def free(self) -> None:
        """Show the real ids from now on. Called at the beginning of a test case whose results are observed."""
        self._process = 0

    def getpid(self) -> int:
        """Return the current process id."""
        return _OWN[self._other] if self._process and not self._forked else self._getpid()

    def getppid(self) -> int:
        """Return the parent's process id."""
        if self._process and not self._forked:
            return _PARENT[self._other]
        real = self._getppid()
        return _OWN[self._other] if real == self._process else real

    def _leave(self) -> None:
        """Note that this process was forked by the subject.

        Reading the real id at every call instead would double the time of code that logs much.
        """
        self._forked = True
