"""Mentions: callables that examples use, as dotted paths and as names of methods."""

from __future__ import annotations

import ast
from builtins import id
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fitgym.subject.example import Example

__all__ = ["Mentions", "mentions"]


@dataclass(frozen=True, slots=True)
class Mentions:
    """The callables that examples use, each once, the most frequent first.

    Attributes:
        paths: dotted paths, such as `networkx.Graph` for `nx.Graph` after `import networkx as nx`.
        members: names of called attributes of other objects.
    """

    paths: tuple[str, ...] = ()
    members: tuple[str, ...] = ()


def mentions(examples: Iterable[Example]) -> Mentions:
    """Return the callables that the examples use."""
    paths: Counter[str] = Counter()
    members: Counter[str] = Counter()
    seen: set[int] = set()  # several tests of one file share their leading statements
    for example in examples:
        known: dict[str, str] = {}
        for statement in (*example.body, *example.functions.values()):
            _imports(statement, known)
            if id(statement) in seen:
                continue
            seen.add(id(statement))
            for node in ast.walk(statement):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    _imports(node, known)
                elif isinstance(node, ast.Call):
                    path = _path(node.func, known)
                    if path:
                        paths[path] += 1
                    elif isinstance(node.func, ast.Attribute):
                        members[node.func.attr] += 1
    return Mentions(_ordered(paths), _ordered(members))


def _imports(node: ast.stmt, known: dict[str, str]) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            known[name] = alias.name if alias.asname else name
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            known[alias.asname or alias.name] = f"{node.module}.{alias.name}"


def _path(node: ast.expr, known: dict[str, str]) -> str:
    """Return the dotted path that a name or attribute refers to, "" if it was not imported."""
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute):
        base = _path(node.value, known)
        return f"{base}.{node.attr}" if base else ""
    return ""


def _ordered(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))
