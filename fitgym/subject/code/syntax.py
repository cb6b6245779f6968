"""Questions about Python syntax that both the probes and the control flow graph ask."""

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
    """Let recursive walks follow any tree that the compiler accepts.

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
    """Build many objects without a search for cycles among them: a tree of a million nodes takes a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def parse(source: str, filename: str = "<unknown>") -> ast.Module:
    """The syntax tree of a module for analyses: long tables are abridged (`fitgym.subject.code.tables.abridge`).

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
    """The syntax tree that `parse` returns, shared by all who ask: read it, never change it.

    Several analyses read the same module one after the other when a search begins.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    return parse(source)


def constant_truth(node: ast.expr) -> bool | None:
    """The truth value of a condition that the compiler decides, None for every other one.

    Such a condition (`while True`, `if 0`, `not None`, `0 and x`, `__debug__`) has one outcome only and is no predicate.
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
    """How many statements at the start of a module, class or function body are its docstring: 0 or 1."""
    first = body[0] if body else None
    is_docstring = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    return int(is_docstring)
