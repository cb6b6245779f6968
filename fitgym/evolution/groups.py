"""Groups: the parts of a subject that a search can focus on, one for each public function or class."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fitgym.immutable import immutable
from fitgym.subject.callgraph import reachable
from fitgym.subject.code.syntax import deep_trees, docstring_end, parsed
from fitgym.subject.subject import Subject

__all__ = ["Group", "groups"]

_DECISIONS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.Match)


@immutable
@dataclass(frozen=True, slots=True)
class Group:
    """A top-level function or class, with the helper code that it calls.

    Attributes:
        name: of the function or class.
        operations: ids of the operations under test that belong to it.
        functions: ids of its code objects, and of helpers that it leads to and that are no group themselves.
        branches: which branches of the subject are in these functions, `(len(subject.branches),)`.
        nesting: the nesting depth of decisions in its code.
        ahead: the largest number of statements that one of its functions runs before its first decision.
    """

    name: str
    operations: frozenset[int]
    functions: frozenset[int]
    branches: NDArray[np.bool_]
    nesting: int = 0
    ahead: int = 0

    @property
    def size(self) -> int:
        """The number of its branches."""
        return int(self.branches.sum())


def groups(subject: Subject) -> tuple[Group, ...]:
    """Return the groups of a subject that have branches, in source order.

    A helper that several groups lead to belongs to each of them. For a class under test, each of its methods is a
    group.
    """
    owner = subject.reference.class_name
    operations: dict[str, set[int]] = {}
    for one in subject.under_test:
        operations.setdefault(_group_of(one.name, owner), set()).add(one.id)
    own = {name: {f.id for f in subject.functions if _group_of(f.name, owner) == name} for name in operations}
    taken = frozenset().union(*own.values()) | {0}  # the body of the module runs before any test case
    graph = reachable(subject.source, subject.functions) if subject.source else ()
    where = np.array([subject.sites[branch.site].function for branch in subject.branches], dtype=np.intp)
    shapes = _shapes(subject.source)
    found = []
    for name, ids in operations.items():
        entries = own[name] | {subject.operations[i].function for i in ids if subject.operations[i].function >= 0}
        led_to = frozenset().union(*(graph[entry] for entry in entries)) if graph else frozenset()
        functions = frozenset(entries | (led_to - taken))
        branches = np.isin(where, sorted(functions))
        if branches.any():
            shape = [shapes.get(subject.functions[number].name, (0, 0)) for number in functions]
            nesting, ahead = (max(numbers) for numbers in zip(*shape, strict=True))
            found.append(Group(name, frozenset(ids), functions, branches, nesting, ahead))
    return tuple(sorted(found, key=lambda group: (min(group.functions), group.name)))


def _group_of(name: str, owner: str) -> str:
    """Return the group name of an operation or code object: its first part, or the method of a class under test."""
    if owner and name.startswith(f"{owner}."):
        rest = name[len(owner) + 1 :]
        return f"{owner}.{rest.split('.')[0]}"
    return name.split(".")[0]


@lru_cache(maxsize=16)
def _shapes(source: str) -> Mapping[str, tuple[int, int]]:
    """Return by qualified function name the nesting depth and the number of statements before the first decision."""
    found: dict[str, tuple[int, int]] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                if isinstance(child, ast.ClassDef):
                    visit(child, f"{name}.")
                else:
                    body = child.body[docstring_end(child.body) :]
                    ahead = next(
                        (n for n, statement in enumerate(body) if isinstance(statement, _DECISIONS)), len(body)
                    )
                    found[name] = (_nesting(child), ahead)
                    visit(child, f"{name}.<locals>.")
            else:
                visit(child, prefix)

    with deep_trees():
        visit(parsed(source), "")
    return MappingProxyType(found)


def _nesting(node: ast.AST) -> int:
    inside = max((_nesting(child) for child in ast.iter_child_nodes(node)), default=0)
    return inside + isinstance(node, _DECISIONS)
