"""Affixes: strings that the source looks for at the start, at the end and in the middle of other strings.

No branch distance leads to `text.startswith("from ")` or to the second part of `text.split(":")`. Strings that are
assembled from these affixes reach them quickly.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from fitgym.subject.code.syntax import parsed

__all__ = ["Affixes", "affixes"]

_LONGEST = 30
_SEPARATING = frozenset(
    ("split", "rsplit", "partition", "rpartition", "find", "rfind", "index", "rindex", "replace", "count", "join")
)
_STARTING = frozenset(("startswith", "removeprefix"))
_ENDING = frozenset(("endswith", "removesuffix"))


@dataclass(frozen=True, slots=True)
class Affixes:
    """Parts of strings, each in order of first occurrence.

    Attributes:
        starts: prefixes that the source tests for.
        ends: suffixes that the source tests for.
        separators: strings that the source splits at, searches for or joins with.
    """

    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()


@lru_cache(maxsize=16)
def affixes_of(source: str) -> Affixes:
    """Return the affixes of a module, by its text; the last 16 results are cached, because every episode needs them."""
    return affixes(parsed(source))


def affixes(tree: ast.AST) -> Affixes:
    """Return the affixes in calls of string methods, in `in`, and in comparisons of slices and items.

    Bytes count as the text that they spell.
    """
    starts: dict[str, None] = {}
    ends: dict[str, None] = {}
    separators: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in _STARTING and node.args:
                starts.update(dict.fromkeys(_texts(node.args[0])))
            elif name in _ENDING and node.args:
                ends.update(dict.fromkeys(_texts(node.args[0])))
            elif name in _SEPARATING:
                for part in (*node.args[:1], node.func.value):
                    separators.update(dict.fromkeys(_texts(part)))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            if isinstance(node.ops[0], ast.In | ast.NotIn):
                if not isinstance(node.comparators[0], ast.Tuple | ast.List | ast.Set | ast.Dict):
                    separators.update(dict.fromkeys(text for text in _texts(node.left) if not text.isidentifier()))
            elif isinstance(node.left, ast.Subscript):
                place, found = node.left.slice, _texts(node.comparators[0])
                if _is_start(place):
                    starts.update(dict.fromkeys(found))
                elif _is_end(place):
                    ends.update(dict.fromkeys(found))
    return Affixes(
        *(tuple(text for text in found if 0 < len(text) <= _LONGEST) for found in (starts, ends, separators))
    )


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, bytes):
        yield node.value.decode("latin-1")
    elif isinstance(node, ast.Tuple):
        for item in node.elts:
            yield from _texts(item)


def _is_start(place: ast.expr) -> bool:
    """Return whether an index is a start: `text[0]`, `text[:n]`."""
    if isinstance(place, ast.Slice):
        return place.lower is None and place.upper is not None and not isinstance(place.upper, ast.UnaryOp)
    return isinstance(place, ast.Constant) and place.value == 0


def _is_end(place: ast.expr) -> bool:
    """Return whether an index is an end: `text[-1]`, `text[-n:]`."""
    if isinstance(place, ast.Slice):
        return isinstance(place.lower, ast.UnaryOp) and place.upper is None
    return isinstance(place, ast.UnaryOp)
