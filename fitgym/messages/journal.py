"""The journal: which test case runs at this moment, in memory that outlives the process that runs it."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os

__all__ = ["IDLE", "Journal"]

IDLE = -1
_SIZE = mmap.PAGESIZE
_SEAL_FUTURE_WRITE = 0x10  # has no name in `fcntl`


class Journal:
    """Four numbers shared by the parent, the worker and its children.

    Writing one costs about 0.05 microseconds and no system call, and what was written last can still be read when the
    writer has been killed. Nothing read here is trusted: the code under test lives in the writer's memory.

    Args:
        descriptor: of the shared memory, as made by `create`; it may be closed afterwards.

    Attributes:
        cells: `cells[0]` grows whenever a test case starts or ends, `cells[1]` is the index of the running test case
            in its batch or `IDLE`, `cells[2]` the index of its running statement, `cells[3]` the index of the test case
            that was started last.
    """

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        self.cells = memoryview(self._memory).cast("q")

    @staticmethod
    def create() -> int:
        """A descriptor of new shared memory, all zeros."""
        descriptor = os.memfd_create("fitgym-journal", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, _SIZE)
        # Memory that another process has cut off kills whoever reads it.
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return descriptor

    @staticmethod
    def seal(descriptor: int) -> None:
        """Refuse `write` and new mappings from now on; those that exist stay as they are.

        A mapping keeps a descriptor of its own, and code under test may write to every descriptor that it can find.
        Without effect on kernels before 5.1.
        """
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEAL_FUTURE_WRITE)

    @property
    def count(self) -> int:
        """How many starts and ends of test cases have been noted."""
        return self.cells[0]

    @property
    def running(self) -> int:
        """Index of the running test case, `IDLE` between test cases."""
        return self.cells[1]

    @property
    def position(self) -> int:
        """Index of the running statement; of the last one between test cases."""
        return self.cells[2]

    @property
    def last(self) -> int:
        """Index of the test case that was started last, `IDLE` if none was."""
        return self.cells[3]

    def reset(self) -> None:
        """Nothing runs and nothing ran; for a new batch."""
        self.cells[1] = self.cells[3] = IDLE
        self.cells[2] = 0

    def close(self) -> None:
        """Unmap the memory; closing twice is harmless."""
        self.cells.release()
        self._memory.close()
