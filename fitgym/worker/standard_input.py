"""The standard input of the worker: what the code under test reads from `sys.stdin` and with `input`."""

from __future__ import annotations

import io
import sys

__all__ = ["set_input"]


def set_input(text: str) -> None:
    """Replace the standard input by this text."""
    sys.stdin = io.StringIO(text)
