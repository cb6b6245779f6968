"""Attributes that functions set, and attributes that their conditions depend on, read off the syntax tree.

A condition such as `if self._items:` can have another outcome only after a method that sets `_items` was called. The
search uses this to insert such calls. Attributes are told apart by name only, on whatever object they are.

References:
    Zhang, Saff, Bu and Ernst 2011, Combined Static and Dynamic Automated Test Generation, section 3.2: methods that
    read and write the same fields are related, and a test should call them together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from fitgym.immutable import immutable
from fitgym.subject.code.syntax import deep_trees, parsed
from fitgym.subject.subject import Function

__all__ = ["Accesses", "accesses"]

_CHANGING = frozenset(
    {
        *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "insert", "pop", "popitem"),
        *("popleft", "remove", "reverse", "setdefault", "sort", "update", "write"),
    }
)
"""Methods that change the object they are called on."""

_ROUNDS = 3  # how many assignments in a row an attribute is followed through local variables
_REMEMBERED = 16  # modules

Position = tuple[int, ...]
"""The span of a condition (`Site.span`), or the line of a loop alone."""


@immutable
@dataclass(frozen=True, slots=True)
class Accesses:
    """What one function does with attributes.

    Attributes:
        functions: ids of the function itself and of the methods of the same object that it calls, directly or not.
        sets: names of attributes that these set, delete or change in place.
        conditions: for each condition, by its position: the names of attributes that its outcome depends on, directly,
            through local variables or through methods.
    """

    functions: frozenset[int]
    sets: frozenset[str]
    conditions: Mapping[Position, frozenset[str]]


@lru_cache(maxsize=_REMEMBERED)
def accesses(
    source: str, functions: tuple[Function, ...], positions: tuple[frozenset[Position], ...]
) -> tuple[Accesses, ...]:
    """Return the accesses of each function, by id. The last 16 results are cached.

    Args:
        source: text of the module.
        functions: its code objects, by id; 0 is the module body.
        positions: the positions of the conditions of each function.
    """
    ids = {(function.name.rpartition(".")[2], function.line): function.id for function in functions}
    found = [_Function(function.id) for function in functions]
    with deep_trees():
        for node in ast.walk(parsed(source)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (node.name, node.lineno) in ids:
                at = ids[node.name, node.lineno]
                found[at].read(node, positions[at])
    by_name: dict[str, list[_Function]] = {}
    for function, one in zip(functions, found, strict=True):
        if "." in function.name:
            by_name.setdefault(function.name.rpartition(".")[2], []).append(one)
    return tuple(one.resolved(by_name) for one in found)


@dataclass(slots=True, eq=False)
class _Function:
    """The accesses of one function, before the methods that it calls on its own object are known."""

    number: int
    receiver: str = ""
    sets: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)  # attributes that it reads
    own: set[str] = field(default_factory=set)  # attributes of its receiver that it mentions
    conditions: dict[Position, set[str]] = field(default_factory=dict)

    def read(self, node: ast.FunctionDef | ast.AsyncFunctionDef, positions: frozenset[Position]) -> None:
        """Read the body of the function, without inner functions and classes."""
        parameters = [*node.args.posonlyargs, *node.args.args]
        self.receiver = parameters[0].arg if parameters else ""
        parts = list(_parts(node))
        for part in parts:
            self._access(part)
        behind = _locals(parts)
        for part in parts:
            if isinstance(part, (ast.For, ast.AsyncFor)):
                position: Position = (part.lineno,)
                condition = part.iter
            elif isinstance(part, ast.expr):
                position = (part.lineno, part.col_offset, part.end_lineno or 0, part.end_col_offset or 0)
                condition = part
            else:
                continue
            if position in positions and (names := _mentioned(condition, behind)):
                self.conditions[position] = names

    def _access(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(ctx=ast.Load()):
                self.uses.add(node.attr)
                if isinstance(node.value, ast.Name) and node.value.id == self.receiver:
                    self.own.add(node.attr)
            case ast.Attribute():
                self.sets.add(node.attr)
            case ast.AugAssign(target=ast.Attribute(attr=name)):
                self.uses.add(name)
            case ast.Subscript(value=ast.Attribute(attr=name), ctx=ast.Store() | ast.Del()):
                self.sets.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=name), attr=method)) if method in _CHANGING:
                self.sets.add(name)
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[_, ast.Constant(value=str(name)), *_]):
                self.sets.add(name)

    def resolved(self, by_name: dict[str, list[_Function]]) -> Accesses:
        """Return the accesses, including those of the methods of the same object that are called."""
        reached: list[_Function] = [self]
        for one in reached:
            reached += [other for name in sorted(one.own) for other in by_name.get(name, ()) if other not in reached]
        sets = frozenset(name for one in reached for name in one.sets)
        conditions = {}
        for position, names in self.conditions.items():
            behind = {name for method in names for one in by_name.get(method, ()) for name in one.uses}
            conditions[position] = frozenset(names | behind)
        functions = frozenset(one.number for one in reached)
        return Accesses(functions, sets, MappingProxyType(conditions))


def _parts(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of inner functions and classes."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def _locals(parts: Sequence[ast.AST]) -> dict[str, set[str]]:
    """Return, for each local variable, the attributes that its values depend on."""
    assigned: list[tuple[ast.AST, ast.AST]] = []
    for part in parts:
        match part:
            case ast.Assign():
                assigned += [(one, part.value) for one in part.targets]
            case ast.AnnAssign(target=annotated, value=ast.expr() as value):
                assigned.append((annotated, value))
            case ast.AugAssign() | ast.NamedExpr():
                assigned.append((part.target, part.value))
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                assigned.append((part.target, part.iter))
            case ast.withitem(context_expr=value, optional_vars=ast.expr() as entered):
                assigned.append((entered, value))
    behind: dict[str, set[str]] = {}
    for _ in range(_ROUNDS):
        for target, source in assigned:
            if names := _mentioned(source, behind):
                for bound in ast.walk(target):
                    if isinstance(bound, ast.Name):
                        behind.setdefault(bound.id, set()).update(names)
    return behind


def _mentioned(node: ast.AST, behind: dict[str, set[str]]) -> set[str]:
    """Return the attributes that the value of an expression depends on."""
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            names.add(part.attr)
        elif isinstance(part, ast.Name):
            names |= behind.get(part.id, set())
    return names
