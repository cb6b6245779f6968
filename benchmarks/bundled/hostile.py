"""Functions that end, hang or overfill the process that calls them, and one that does nothing of the kind."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading


def calm(n: int) -> int:
    """Whether n is large."""
    if n > 20:
        return 1
    return 0


def segfault() -> int:
    """Read where nothing is."""
    return ctypes.cast(8, ctypes.POINTER(ctypes.c_int))[0]


def end() -> None:
    """Leave without a word."""
    os._exit(3)


def leave() -> None:
    """Leave politely."""
    sys.exit(3)


def loop() -> None:
    """Bytecode without an end."""
    while True:
        pass


def count() -> int:
    """A call of C that asks nobody whether it may go on."""
    return sum(range(10**12))


def backtrack() -> object:
    """A regular expression that tries everything."""
    return re.match(r"(a+)+$", "a" * 64 + "b")


def grow() -> list[int]:
    """A list that doubles."""
    items = [0]
    while True:
        items += items


def fork() -> int:
    """A second process."""
    return os.fork()


def thread() -> None:
    """A thread that goes on for a while."""
    threading.Thread(target=threading.Event().wait, args=(30,), daemon=True).start()
