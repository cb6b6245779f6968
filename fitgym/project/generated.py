"""Generated files: which test files fitgym made."""

from __future__ import annotations

import ast
import tokenize
from pathlib import Path

from fitgym.suite.export import GENERATED

__all__ = ["generated_files", "is_generated"]


def generated_files(tests: Path) -> list[Path]:
    """The test files that fitgym made.

    Args:
        tests: a folder, or a single file.
    """
    candidates = [tests] if tests.is_file() else sorted(tests.rglob("*.py"))
    return [file for file in candidates if is_generated(file)]


def is_generated(file: Path) -> bool:
    """Whether fitgym made a file: its docstring says so. False for what cannot be read or parsed."""
    try:
        with tokenize.open(file) as text:
            source = text.read()
        return GENERATED in source and GENERATED in (ast.get_docstring(ast.parse(source)) or "")
    except (OSError, SyntaxError, ValueError, RecursionError):
        return False
