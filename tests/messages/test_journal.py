"""The journal: memory shared by two processes that code under test cannot reach through a descriptor."""

from __future__ import annotations

import mmap
import os

import pytest

from fitgym.messages.journal import IDLE, Journal


def test_what_one_side_writes_the_other_reads() -> None:
    descriptor = Journal.create()
    parent, worker = Journal(descriptor), Journal(descriptor)
    parent.reset()
    assert (parent.count, parent.running, parent.last, parent.position) == (0, IDLE, IDLE, 0)

    worker.cells[0], worker.cells[1], worker.cells[2], worker.cells[3] = 7, 3, 2, 3

    assert (parent.count, parent.running, parent.last, parent.position) == (7, 3, 3, 2)
    parent.close()
    worker.close()
    worker.close()
    os.close(descriptor)


def test_it_cannot_be_cut_off() -> None:
    descriptor = Journal.create()
    for size in (0, 1 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(descriptor, size)
    os.close(descriptor)


def test_a_sealed_one_is_written_through_its_mappings_only() -> None:
    descriptor = Journal.create()
    journal = Journal(descriptor)

    Journal.seal(descriptor)

    with pytest.raises(PermissionError):
        os.write(descriptor, b"garbage")
    with pytest.raises(PermissionError):
        mmap.mmap(descriptor, mmap.PAGESIZE)
    journal.cells[0] = 5
    assert journal.count == 5
    os.close(descriptor)
