"""Ctrl-C while something is loading: it waits, because what is being imported may lose it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["held"]


@contextmanager
def held() -> Iterator[None]:
    """Keep an interruption until the end of the block, and have it raised there.

    Compiled modules forget errors that are raised while they are imported (those of NumPy do), and so does a callback of the
    import system. An interruption that falls there would be lost: about one of a hundred during the start of a command.
    Only for blocks that end soon, in the main thread.

    Raises:
        KeyboardInterrupt: there was one, and the block has ended without an error.
    """
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)
