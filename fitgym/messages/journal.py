"""The journal: shared memory that records which test case is running. It survives the death of the writer."""

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

    Writing one takes about 0.05 microseconds and no system call. The last values can be read after the writer was
    killed. The parent does not trust them, because the code under test shares the writer's memory.

    Args:
        descriptor: descriptor of the shared memory, as created by `create`. It may be closed afterwards.

    Attributes:
        cells: `cells[0]` is increased whenever a test case starts or ends. `cells[1]` is the index of the running test
            case in its batch, or `IDLE`. `cells[2]` is the index of its running statement. `cells[3]` is the index of
            the test case that was started last.
    """

    def __init__(self, descriptor: int) -> None:
        self._memory = mmap.mmap(descriptor, _SIZE)
        self.cells = memoryview(self._memory).cast("q")

    @staticmethod
    def create() -> int:
        """Create shared memory filled with zeros. Returns its descriptor."""
        descriptor = os.memfd_create("fitgym-journal", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, _SIZE)
        # If another process could shrink the memory, reading it would end the reader with SIGBUS.
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return descriptor

    @staticmethod
    def seal(descriptor: int) -> None:
        """Forbid `write` and new mappings from now on. Existing mappings stay writable.

        A mapping keeps its own descriptor, and the code under test may write to every descriptor that it finds. Has no
        effect on kernels before 5.1.
        """
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEAL_FUTURE_WRITE)

    @property
    def count(self) -> int:
        """Number of recorded starts and ends of test cases."""
        return self.cells[0]

    @property
    def running(self) -> int:
        """Index of the running test case, `IDLE` between test cases."""
        return self.cells[1]

    @property
    def position(self) -> int:
        """Index of the running statement. Between test cases the index of the last one."""
        return self.cells[2]

    @property
    def last(self) -> int:
        """Index of the test case that was started last, `IDLE` if there was none."""
        return self.cells[3]

    def reset(self) -> None:
        """Clear the cells for a new batch: no test case runs or ran."""
        self.cells[1] = self.cells[3] = IDLE
        self.cells[2] = 0

    def close(self) -> None:
        """Unmap the memory. A second call does nothing."""
        self.cells.release()
        self._memory.close()
