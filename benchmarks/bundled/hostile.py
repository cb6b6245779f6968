"""Functions that end, hang or overfill the process that calls them, and one harmless function."""

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
    """Read an invalid address."""
    return ctypes.cast(8, ctypes.POINTER(ctypes.c_int))[0]


def end() -> None:
    """Exit without an exception."""
    os._exit(3)


def leave() -> None:
    """Leave politely."""
    sys.exit(3)


def loop() -> None:
    """Run bytecode forever."""
    while True:
        pass


def count() -> int:
    """Call C code that never checks for interrupts."""
    return sum(range(10**12))


def backtrack() -> object:
    """Match a regular expression with exponential backtracking."""
    return re.match(r"(a+)+$", "a" * 64 + "b")


def grow() -> list[int]:
    """Double a list until memory is full."""
    items = [0]
    while True:
        items += items


def fork() -> int:
    """A second process."""
    return os.fork()


def thread() -> None:
    """Start a thread that continues for a while."""
    threading.Thread(target=threading.Event().wait, args=(30,), daemon=True).start()
