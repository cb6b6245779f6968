"""Inspected parameters: the code handles values for them that their annotation forbids."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fitgym.subject.types.hints import ANY, NONE, Hint, choices, name_of, union

__all__ = ["Inspected", "inspected"]

_ASKS = frozenset({"callable", "hasattr", "issubclass", "type"})
_FOREIGN = frozenset({"AttributeError", "Exception", "BaseException", "TypeError"})  # raised for ill-typed values

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True)
class Inspected:
    """How a function inspects a parameter.

    Attributes:
        classes: the second arguments of its `isinstance` tests, and what `type(...)` is compared with.
        none: it is compared with None by `is`.
        otherwise: it is inspected in another way.
    """

    classes: list[ast.expr] = field(default_factory=list)
    none: bool = False
    otherwise: bool = False

    def widened(self, hint: Hint) -> Hint:
        """Return the hint, with None if the function asks for it."""
        return union([*choices(hint), NONE]) if self.none and hint != ANY else hint

    def is_beyond(self, hint: Hint, names: Mapping[str, Any]) -> bool:
        """Return whether the function handles values that the hint forbids.

        A test for a proper subclass of the declared class, or for some members of a union, is no reason to pass anything
        else: allowed values pass it and fail it. Tests for all members are: no allowed value fails each of them.

        Args:
            hint: the declared type.
            names: what the names in the function stand for.
        """
        declared = {part.name or f"builtins.{part.kind}" for part in choices(hint)}
        tested = {"builtins.none"} if self.none else set()
        for cls in (cls for node in self.classes for cls in _classes(node, names)):
            own, *bases = [""] if cls is None else [name_of(base) for base in cls.__mro__]
            if own in declared:
                tested.add(own)
            elif not declared & set(bases):
                return True
        return self.otherwise or (bool(self.classes) and tested >= declared)


def inspected(function: _Function) -> dict[str, Inspected]:
    """Return how the function inspects its parameters; parameters that it does not inspect are left out.

    A function inspects a parameter if it tests its class, matches it against patterns, or compares it with None by
    `is`. It also inspects the parameters in the condition under which it raises an exception that values of a wrong
    class cause, and those in a `try` block that handles such an exception. If it returns NotImplemented, it inspects all
    of them. Only then does a test with an ill-typed argument test the code; otherwise it only shows that Python does not
    check types.
    """
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    found = {one.arg: Inspected() for one in every}
    settled: set[ast.AST] = set()  # calls of `type` that are compared with classes
    for node, conditions in _with_conditions(function, ()):
        asked: set[str] = set()
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), kind]) if name in found:
                found[name].classes.append(kind)
            case ast.Compare(
                left=ast.Name(id=name), ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]
            ):
                if name in found:
                    found[name].none = True
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[ast.Name(id=name)]) as call, comparators=[kind]
            ) if name in found and _classes_of(kind):
                found[name].classes += _classes_of(kind)
                settled.add(call)
            case ast.Call(func=ast.Name(id=called), args=[ast.Name(id=name), *_]) if called in _ASKS:
                asked = set() if node in settled else {name}
            case ast.Match(subject=ast.Name(id=name)):
                asked = {name}
            case ast.Raise(exc=ast.Call(func=ast.Name(id=name)) | ast.Name(id=name)) if name in _FOREIGN:
                asked = {name for condition in conditions for name in _names(condition)}
            case ast.Try(body=body, handlers=handlers) if any(map(_is_foreign, handlers)):
                asked = {name for statement in body for name in _names(statement)}
            case ast.Return(value=ast.Name(id="NotImplemented")):
                asked = set(found)
        for name in asked & set(found):
            found[name].otherwise = True
    return {name: one for name, one in found.items() if one != Inspected()}


def _with_conditions(node: ast.AST, conditions: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Yield all nodes, each with what decides whether it runs: conditions, and statements whose exception is handled."""
    yield node, conditions
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            inner: tuple[ast.AST, ...] = (*conditions, test)
        case ast.Try(body=body):
            for statement in body:
                yield from _with_conditions(statement, conditions)
            for later in (*node.handlers, *node.orelse, *node.finalbody):
                yield from _with_conditions(later, (*conditions, *body))
            return
        case _:
            inner = conditions
    for child in ast.iter_child_nodes(node):
        yield from _with_conditions(child, inner)


def _is_foreign(handler: ast.ExceptHandler) -> bool:
    """Return whether an `except` handles exceptions that values of a wrong class cause."""
    return handler.type is None or bool(_FOREIGN & set(_names(handler.type)))


def _names(node: ast.AST) -> Iterator[str]:
    return (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _classes_of(node: ast.expr) -> list[ast.expr]:
    """Return the expressions that name classes, `[Data, End]` for `(Data, End)`; none if there are others."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return parts if all(isinstance(part, ast.Name | ast.Attribute) for part in parts) else []


def _classes(node: ast.expr, names: Mapping[str, Any]) -> list[type | None]:
    """Return the classes that the second argument of `isinstance` names, None for each that is unknown."""
    match node:
        case ast.Tuple(elts=items):
            return [cls for part in items for cls in _classes(part, names)]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_classes(left, names), *_classes(right, names)]
    found = _value(node, names)
    parts = found if isinstance(found, tuple) else (found,)
    return [part if isinstance(part, type) else None for part in parts]


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return what a dotted name stands for, None if it is unknown; runs no code of the subject."""
    if isinstance(node, ast.Attribute):
        try:
            return vars(_value(node.value, names)).get(node.attr)
        except TypeError:
            return None
    if isinstance(node, ast.Name):
        try:
            return names[node.id] if node.id in names else vars(builtins).get(node.id)
        except Exception:  # a namespace may import on demand
            return None
    return None
