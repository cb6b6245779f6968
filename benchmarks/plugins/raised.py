"""A pytest plugin that records each exception that a `pytest.raises` block catches.

RAISED_FILE is the source file of the subject, RAISED_OUTPUT the file for the list. An entry is the class (with its
module, except for builtins) and the innermost function of that file on the traceback.
"""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import Any

import pytest

SUBJECT = os.path.realpath(os.environ["RAISED_FILE"])
FOUND: list[list[str]] = []
original = pytest.raises


class Watched:
    """Acts like the block of `pytest.raises`, and records the caught exception."""

    def __init__(self, block: Any) -> None:
        self.block = block

    def __enter__(self) -> Any:
        return self.block.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Any:
        caught = self.block.__exit__(kind, error, traceback)
        if kind is not None and caught:
            FOUND.append([name_of(kind), innermost(traceback)])
        return caught


def name_of(kind: type[BaseException]) -> str:
    """Return `module.qualname` of a class, the bare name for builtins."""
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def innermost(traceback: TracebackType | None) -> str:
    """Return the last function of the subject on a traceback, "" if there is none."""
    name = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if os.path.realpath(code.co_filename) == SUBJECT:
            name = code.co_qualname
        traceback = traceback.tb_next
    return name


def watched(*arguments: Any, **options: Any) -> Any:
    """Replace `pytest.raises`; its form with a function to call is unchanged."""
    block = original(*arguments, **options)
    return Watched(block) if hasattr(block, "__exit__") else block


def pytest_configure() -> None:
    """Install the recording form before any test module is imported."""
    pytest.raises = watched


def pytest_sessionfinish() -> None:
    """Write the list."""
    with open(os.environ["RAISED_OUTPUT"], "w", encoding="utf-8") as file:
        json.dump(FOUND, file)
