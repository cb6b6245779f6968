"""Scopes: the local variables of a function that certainly have a value, statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["Locals"]

_MADE_BY = frozenset({"int", "float", "str", "bytes", "bool", "list", "tuple", "dict", "set", "frozenset"})
_RETURNED_BY = {"len": "int", "sorted": "list", "repr": "str", "ord": "int", "chr": "str", "isinstance": "bool"}
_FOUND_BY = frozenset({"match", "search", "fullmatch"})  # methods that return a Match or None

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # the fields of a statement that hold further statements


@dataclass(frozen=True, slots=True)
class Locals:
    """The known local variables at one point of a function.

    Attributes:
        names: variables that have a value on every path, in the order of their first assignment.
        kinds: their types, "" if unknown.
        receiver: the first parameter of a method, "" if there is none.
        excluded: names that may lose their value again, or are shared with other scopes.
        nonlocal_below: names that inner functions declare nonlocal.
        returns: the declared type of the function's result, "" if it is unknown.
    """

    names: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    receiver: str = ""
    excluded: frozenset[str] = frozenset({"_"})
    nonlocal_below: frozenset[str] = frozenset()
    returns: str = ""

    @classmethod
    def none(cls) -> Locals:
        """Return an instance without variables."""
        return cls()

    @classmethod
    def of(cls, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Locals:
        """Return the variables at the start of a function: its parameters."""
        excluded, below = _unsteady(function)
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        receiver = parameters[0].arg if parameters and parameters[0].arg in ("self", "cls") else ""
        known = cls(
            receiver=receiver,
            excluded=frozenset({*excluded, "_", receiver}),
            nonlocal_below=below,
            returns=_declared(function.returns),
        )
        for parameter in parameters:
            known = known._with(parameter.arg, _declared(parameter.annotation))
        return known

    @classmethod
    def common(cls, ends: Sequence[Locals]) -> Locals:
        """Return the variables where several paths meet."""
        first = ends[0]
        kept = [i for i, name in enumerate(first.names) if all(name in other.names for other in ends[1:])]
        return replace(
            first,
            names=tuple(first.names[i] for i in kept),
            kinds=tuple(first.kinds[i] for i in kept),
        )

    def assigned(self, target: ast.expr, value: ast.expr | None = None, *, element: bool = False) -> Locals:
        """Return the variables after an assignment.

        Args:
            target: the left side.
            value: the right side if it is known.
            element: the assignment is of an element of `value`.
        """
        known = self
        for name in _bound(target):
            is_whole = isinstance(target, ast.Name) and value is not None
            kind = (_kind_of_element(value) if element else _kind(value)) if is_whole else ""
            known = known._with(name, kind)
        return known

    def is_receiver(self, name: str) -> bool:
        """Return whether the name is the receiver of the method."""
        return bool(name) and name == self.receiver

    def kind(self, name: str) -> str:
        """Return the type of a variable, "" if it is unknown."""
        return self.kinds[self.names.index(name)] if name in self.names else ""

    def alternatives(self, name: str) -> list[str]:
        """Return variables that may have the same type, the most recently assigned first; none for an unknown name."""
        if name not in self.names:
            return []
        kind = self.kind(name)
        others = [
            other
            for other, theirs in zip(self.names, self.kinds, strict=True)
            if other != name and (theirs == kind or not theirs or not kind)
        ]
        return others[::-1]

    def _with(self, name: str, kind: str) -> Locals:
        if name in self.excluded:
            return self
        if name in self.names:
            at = self.names.index(name)
            same = kind if self.kinds[at] == kind else ""
            return replace(self, kinds=(*self.kinds[:at], same, *self.kinds[at + 1 :]))
        return replace(self, names=(*self.names, name), kinds=(*self.kinds, kind))


def _declared(annotation: ast.expr | None) -> str:
    return annotation.id if isinstance(annotation, ast.Name) else ""


def _unsteady(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[set[str], frozenset[str]]:
    """Return names that are deleted, end with an `except`, or are shared; and names that inner functions rebind."""
    names: set[str] = set()
    below: set[str] = set()
    # Expressions are skipped: only statements can do this.
    waiting: list[tuple[ast.AST, bool]] = [(statement, False) for statement in function.body]
    while waiting:
        node, is_inner = waiting.pop()
        match node:
            case ast.Delete():
                parts = (part for target in node.targets for part in ast.walk(target))
                names.update(part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Del))
            case ast.ExceptHandler(name=str()):
                names.add(str(node.name))
            case ast.Global():
                names.update(node.names)
            case ast.Nonlocal():
                names.update(node.names)
                if is_inner:
                    below.update(node.names)
        is_inner = is_inner or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        waiting += [(child, is_inner) for field in _BLOCKS for child in getattr(node, field, ())]
    return names, frozenset(below)


def _bound(target: ast.expr) -> Iterable[str]:
    match target:
        case ast.Name():
            yield target.id
        case ast.Starred():
            yield from _bound(target.value)
        case ast.Tuple() | ast.List():
            for part in target.elts:
                yield from _bound(part)


def _kind(value: Any) -> str:
    match value:
        case ast.Constant():
            return type(value.value).__name__ if value.value is not None else ""
        case ast.JoinedStr():
            return "str"
        case ast.List() | ast.ListComp():
            return "list"
        case ast.Dict() | ast.DictComp():
            return "dict"
        case ast.Set() | ast.SetComp():
            return "set"
        case ast.Tuple():
            return "tuple"
        case ast.IfExp():
            return _kind(value.body) if _kind(value.body) == _kind(value.orelse) else ""
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "bool"
        case ast.Call(func=ast.Name(id=name)):
            return name if name in _MADE_BY else _RETURNED_BY.get(name, "")
        case ast.Call(func=ast.Attribute(attr=name)) if name in _FOUND_BY:
            return "Match"
    return ""


def _kind_of_element(value: Any) -> str:
    is_range = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "range"
    return "int" if is_range else ""
