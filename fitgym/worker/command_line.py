"""The command line of the worker: what the code under test sees in `sys.argv`."""

from __future__ import annotations

import sys
from collections.abc import Iterable

__all__ = ["set_arguments"]


def set_arguments(words: Iterable[str]) -> None:
    """Replace the words after the name of the program."""
    sys.argv[1:] = words
