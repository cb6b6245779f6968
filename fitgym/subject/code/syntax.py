"""Syntax helpers that the probes and the control flow graph share."""

from __future__ import annotations

import ast
import gc
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from fitgym.subject.code.tables import abridge

__all__ = ["constant_truth", "deep_trees", "docstring_end", "irrefutable", "parse", "parsed", "without_collection"]


@contextmanager
def deep_trees() -> Iterator[None]:
    """Allow recursive walks over any tree that the compiler accepts.

    A chain of 400 `elif` is a tree of that depth, and every level takes several calls.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 50_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable the garbage collector while many objects are built.

    The parse of a tree of a million nodes takes a fifth of the time without the search for reference cycles.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of a module for analyses, with long tables shortened.

    See `fitgym.subject.code.tables.abridge` for tables.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    with warnings.catch_warnings(), deep_trees(), without_collection():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, filename)
        abridge(tree)
    return tree


@lru_cache(maxsize=2)
def parsed(source: str) -> ast.Module:
    """Return the cached result of `parse`, which all callers share: read it, never change it.

    At the start of a search, several analyses read the same module in succession.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    return parse(source)


def constant_truth(node: ast.expr) -> bool | None:
    """Return the truth value of a condition that the compiler decides, None for other conditions.

    Such a condition (`while True`, `if 0`, `not None`, `0 and x`, `__debug__`) has only one outcome and is not a
    predicate.
    """
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Name) and node.id == "__debug__":
        return True
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = constant_truth(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        deciding = isinstance(node.op, ast.Or)
        for operand in node.values:
            truth = constant_truth(operand)
            if truth is None or truth is deciding:
                return truth
        return not deciding
    return None


def irrefutable(pattern: ast.pattern) -> bool:
    """The pattern matches every value: a wildcard, a bare name, or an alternative that ends in one."""
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or irrefutable(pattern.pattern)
    if isinstance(pattern, ast.MatchOr):
        return any(irrefutable(alternative) for alternative in pattern.patterns)
    return False


def docstring_end(body: list[ast.stmt]) -> int:
    """Return the number of docstring statements at the start of a module, class or function body: 0 or 1."""
    first = body[0] if body else None
    is_docstring = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return int(is_docstring)
