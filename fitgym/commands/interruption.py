"""Delay Ctrl-C during imports, because an import can swallow the exception."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["held"]


@contextmanager
def held() -> Iterator[None]:
    """Delay an interruption until the end of the block, and raise it there.

    Some compiled modules, such as those of NumPy, swallow exceptions raised during their import; so does a callback of
    the import system. An interruption at that moment would be lost: about one in a hundred during the start of a
    command. Use this only for short blocks, and only in the main thread.

    Raises:
        KeyboardInterrupt: there was an interruption, and the block ended without an error.
    """
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)
