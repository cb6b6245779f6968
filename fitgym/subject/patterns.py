"""Patterns: the regular expressions of the source, and strings that match them or nearly do."""

from __future__ import annotations

import ast

__all__ = ["patterns"]


def patterns(tree: ast.Module) -> tuple[str, ...]:
    return ()
