"""Shares of a budget in seconds, which are given before a search starts and cannot be taken back."""

from __future__ import annotations

import ast
from collections.abc import Sequence

__all__ = ["decisions", "share"]

_DECIDES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While),
    *(ast.Assert, ast.comprehension, ast.match_case, ast.ExceptHandler, ast.BoolOp),
)


def decisions(source: str) -> int:
    """The number of decisions in the text of a module, functions included: a measure of size that costs no worker.

    Args:
        source: of the module.

    Returns:
        At least 1; 1 too where the text cannot be parsed.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return 1
    return max(1, sum(isinstance(node, _DECIDES) for node in ast.walk(tree)))


def share(left: float, size: int, waiting: Sequence[int], *, least: float = 0.0) -> float:
    """The share of a module that starts now: the time of a start, and of the rest a part in proportion to its size.

    A caller that starts the modules by increasing size, and asks each time with the seconds that are really left, hands
    on what a module did not use to the modules after it.

    Args:
        left: seconds that are left for this module and all that wait; with several processes at a time, their sum.
        size: of the module, see `decisions`.
        waiting: sizes of the modules that have not started, this one left out.
        least: seconds that every module gets in any case, for its worker to start and for a first slice. Where that is
            more than is left, all modules get the same.

    Returns:
        Seconds from 0 to `left`; 0 where nothing is left.

    Raises:
        ValueError: a size is below 1, or `least` is negative.
    """
    if min((size, *waiting)) < 1:
        raise ValueError(f"the sizes are {[size, *waiting]}, expected numbers from 1")
    if least < 0.0:
        raise ValueError(f"least is {least}, expected seconds from 0")
    left = max(0.0, left)
    start = min(least, left / (1 + len(waiting)))
    rest = max(0.0, left - start * (1 + len(waiting)))
    return min(left, start + rest * size / (size + sum(waiting)))
