"""Shares of a budget in seconds; a share is fixed when its search starts."""

from __future__ import annotations

import ast
from collections.abc import Sequence

__all__ = ["decisions", "share"]

_DECIDES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While),
    *(ast.Assert, ast.comprehension, ast.match_case, ast.ExceptHandler, ast.BoolOp),
)


def decisions(source: str) -> int:
    """Return the number of decisions in the source of a module, including functions: a size that needs no worker.

    Args:
        source: the source of the module.

    Returns:
        At least 1; also 1 if the source cannot be parsed.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return 1
    return max(1, sum(isinstance(node, _DECIDES) for node in ast.walk(tree)))


def share(left: float, size: int, waiting: Sequence[int], *, least: float = 0.0) -> float:
    """Return the share of a module that starts now: a start time, plus a part of the rest in proportion to its size.

    If the caller starts the modules by increasing size and passes the seconds that are really left, then later modules
    get the time that earlier ones did not use.

    Args:
        left: seconds left for this module and all waiting ones; with several parallel processes, their sum.
        size: size of the module, see `decisions`.
        waiting: sizes of the modules that have not started, without this one.
        least: minimum seconds for every module, for the start of its worker and a first slice. If their sum exceeds
            `left`, all modules get the same share.

    Returns:
        Seconds from 0 to `left`; 0 if nothing is left.

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
