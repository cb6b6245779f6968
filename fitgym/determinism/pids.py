"""Process ids in the worker: what `os.getpid` and `os.getppid` give to the subject and to everything that it uses.

Programs put the id of their process into names, seeds and objects, and every run has another one. So while a search runs
a test case always finds the same; what a test asserts is observed with the real one.
"""

from __future__ import annotations

import os

from fitgym.determinism.monkeypatch import replacement

__all__ = ["PIDS", "Pids"]

PIDS = tuple(range(2**22 + 1, 2**22 + 5))
"""What the process and its parent are called, and what otherwise. Linux gives ids up to 2**22: these reach nothing."""
_OWN, _PARENT = PIDS[:2], PIDS[2:]


class Pids:
    """What this process and its parent are called, from now on.

    Its methods stand in for the functions of the module `os` with the same names. A process that the subject forks has its
    real id, and its parent is called what it calls itself.
    """

    def __init__(self) -> None:
        self._getpid, self._getppid = os.getpid, os.getppid
        self._other = False
        self._process = self._getpid()  # where ids are fixed, 0 if nowhere
        self._forked = False  # this process is a fork of that one
        os.register_at_fork(after_in_child=self._leave)
        os.getpid = replacement(self.getpid, "os")
        os.getppid = replacement(self.getppid, "os")

    def fix(self, *, other: bool = False) -> None:
        """Show the same ids as always; for the beginning of a test case.

        Args:
            other: other ones, always the same too.
        """
        self._process, self._forked = self._getpid(), False
        self._other = other

    def free(self) -> None:
        """Show the real ids; for the beginning of a test case whose results are to be observed."""
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
        """This process has just been forked. To ask for the id at every call instead takes half of the time of code that
        logs much."""
        self._forked = True
