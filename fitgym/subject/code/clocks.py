"""Clocks: where the functions of a source read the time, so that a test can stop it there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

__all__ = ["Clock", "clocks"]


class Clock(NamedTuple):
    """An object that functions of a source ask for the time.

    Attributes:
        place: its dotted name, where a test replaces it.
        kind: "time" for a function, "datetime" for the class.
        functions: those that are called: "time" or "time_ns", or "now" and "utcnow" of the class.
        lines: of the calls.
    """

    place: str
    kind: Literal["time", "datetime"]
    functions: tuple[str, ...]
    lines: tuple[int, ...]


_READS = {
    "time.time": ("time.time", "time"),
    "time.time_ns": ("time.time_ns", "time_ns"),
    "datetime.date.today": ("time.time", "time"),  # they call `time.time`
    "datetime.datetime.today": ("time.time", "time"),
    "datetime.datetime.now": ("datetime.datetime", "now"),
    "datetime.datetime.utcnow": ("datetime.datetime", "utcnow"),
}
"""What reads the time: the object to replace, and the function of the replacement that is called."""

_MODULES = ("time", "datetime")
_CLASS = "datetime.datetime"


def clocks(tree: ast.Module, module: str) -> tuple[Clock, ...]:
    """Return what a test has to replace so that functions of a source see no time pass, in order of use.

        time.time(), datetime.date.today()      time.time
        datetime.datetime.now()                 datetime.datetime
        time(), imported from `time`            shop.orders.time, in the module `shop.orders`
        datetime.now()                          shop.orders.datetime

    What is read at import is left out, because a test imports the module first. A subclass takes the place of the class
    `datetime`, so the class is left alone in sources that ask whether an object is a datetime.

    Args:
        tree: of the source.
        module: its dotted name.
    """
    outside = dict(_imported(tree.body))
    named = dict(_imported(ast.walk(tree)))  # also by functions, when they are called
    if not named:
        return ()
    asks = _asks_for_datetime(tree, named)
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    found: dict[tuple[str, Literal["time", "datetime"]], list[tuple[str, int]]] = {}
    for node in (part for function in functions for part in ast.walk(function)):
        if not isinstance(node, ast.Call) or (path := _path(node.func, named)) not in _READS:
            continue
        place, called = _READS[path]
        if place == _CLASS and asks:
            continue
        first = next(part.id for part in ast.walk(node.func) if isinstance(part, ast.Name))
        name = f"{module}.{first}" if outside.get(first) == place else place  # the module has a name for the object
        found.setdefault((name, "datetime" if place == _CLASS else "time"), []).append((called, node.lineno))
    return tuple(
        Clock(place, kind, tuple(dict.fromkeys(one for one, _ in calls)), tuple(sorted({line for _, line in calls})))
        for (place, kind), calls in found.items()
    )


def _imported(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield the names that are imported from `time` and `datetime`, each with the dotted name of its object."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names if alias.name in _MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in _MODULES and not node.level:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _path(node: ast.expr, named: Mapping[str, str]) -> str:
    """Return the dotted name of the object of an expression, "" if it is unknown."""
    if isinstance(node, ast.Name):
        return named.get(node.id, "")
    if isinstance(node, ast.Attribute) and (base := _path(node.value, named)):
        return f"{base}.{node.attr}"
    return ""


def _asks_for_datetime(tree: ast.Module, named: Mapping[str, str]) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("isinstance", "issubclass")
        and any(isinstance(part, ast.expr) and _path(part, named) == _CLASS for part in ast.walk(node))
        for node in ast.walk(tree)
    )
