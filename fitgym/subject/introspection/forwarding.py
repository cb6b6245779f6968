"""Forwarding: the keyword arguments that a function passes on, with the parameters that finally receive them.

Example: `def __init__(self, **kwargs): super().__init__(**kwargs)` takes the parameters of the base class.
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fitgym.subject.introspection.callables import signature_of, unwrapped

__all__ = ["Forwarded", "forwarded"]

_DEEPEST = 4  # functions in a row that pass the arguments on


@dataclass(frozen=True)
class Forwarded:
    """A parameter of another function that receives a forwarded argument.

    Attributes:
        entry: the parameter.
        receiver: the function that has the parameter.
        owner: the class of the receiver, None for a function of a module.
        by_position: it also receives positional arguments.
    """

    entry: inspect.Parameter
    receiver: Any
    owner: type | None
    by_position: bool


def forwarded(target: Any, owner: type | None = None) -> list[Forwarded]:
    """Return the parameters that receive the `**kwargs` of a callable, each name once; none without forwarding.

    Args:
        target: a function, or a class, which stands for its `__init__`.
        owner: the class whose method it is.
    """
    if isinstance(target, type):
        target, owner = _member(target.__mro__, "__init__"), target
    found: dict[str, Forwarded] = {}
    for one in _received(unwrapped(target), owner, _DEEPEST):
        found.setdefault(one.entry.name, one)
    return list(found.values())


def _received(function: Any, owner: type | None, depth: int) -> Iterator[Forwarded]:
    """Yield the parameters that receive forwarded arguments, and those that receive them in turn."""
    if not isinstance(function, types.FunctionType) or not function.__code__.co_flags & inspect.CO_VARKEYWORDS:
        return
    node = _definition(function)
    if node is None or node.args.kwarg is None or depth == 0:
        return
    own = {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    keywords = node.args.kwarg.arg
    rest = None if node.args.vararg is None else node.args.vararg.arg
    for call in ast.walk(node):
        if not isinstance(call, ast.Call) or not any(
            word.arg is None and _is_name(word.value, keywords) for word in call.keywords
        ):
            continue
        receiver, inner, bound = _receiver(call.func, function, owner)
        signature = signature_of(receiver) if receiver is not None else None
        if signature is None:
            continue
        given = {word.arg for word in call.keywords if word.arg} | own
        stars = [value.value for value in call.args if isinstance(value, ast.Starred)]
        places = len(call.args) - len(stars) + bound
        by_position = len(stars) == 1 and _is_name(stars[0], rest)
        for place, entry in enumerate(signature.parameters.values()):
            taken = place < places and entry.kind is not entry.KEYWORD_ONLY
            if taken or entry.name in given or entry.kind not in (entry.POSITIONAL_OR_KEYWORD, entry.KEYWORD_ONLY):
                continue
            yield Forwarded(entry, receiver, inner, by_position and entry.kind is entry.POSITIONAL_OR_KEYWORD)
        for one in _received(receiver, inner, depth - 1):
            if one.entry.name not in given:
                yield Forwarded(one.entry, one.receiver, one.owner, by_position and one.by_position)


def _receiver(node: ast.expr, function: types.FunctionType, owner: type | None) -> tuple[Any, type | None, int]:
    """Return the called function, its class, and the number of arguments that the call binds itself."""
    match node:
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name) if owner is not None:
            chain = owner.__mro__
            home = next((place for place, cls in enumerate(chain) if _holds(cls, function)), 0)
            return unwrapped(_member(chain[home + 1 :], name)), owner, 1
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if owner is not None:
            raw = _raw(owner.__mro__, name)
            return unwrapped(_plain(raw)), owner, int(not isinstance(raw, staticmethod))
        case ast.Name(id="cls") if owner is not None:
            return unwrapped(_member(owner.__mro__, "__init__")), owner, 1
    found = _named(node, function)
    if isinstance(found, type):
        return unwrapped(_member(found.__mro__, "__init__")), found, 1
    if isinstance(node, ast.Attribute) and isinstance(base := _named(node.value, function), type):
        raw = _raw(base.__mro__, node.attr)  # `Base.__init__(self, **kwargs)`: the receiver is an argument
        return unwrapped(_plain(raw)), base, int(isinstance(raw, classmethod))
    return unwrapped(found), None, 0


def _named(node: ast.expr, function: types.FunctionType) -> Any:
    """Return the object that a dotted name refers to at the level of the function's module, None if there is none."""
    if isinstance(node, ast.Name):
        return function.__globals__.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _named(node.value, function)
        return vars(base).get(node.attr) if isinstance(base, type | types.ModuleType) else None
    return None


def _definition(function: types.FunctionType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the syntax tree of a function, None without its source."""
    if str(function.__module__).partition(".")[0] in sys.stdlib_module_names:
        return None
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except Exception:  # no source, or one that is not the function's
        return None
    return body[0] if body and isinstance(body[0], ast.FunctionDef | ast.AsyncFunctionDef) else None


def _is_name(node: ast.expr, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _raw(classes: tuple[type, ...], name: str) -> Any:
    return next((vars(cls)[name] for cls in classes if name in vars(cls)), None)


def _plain(raw: Any) -> Any:
    return raw.__func__ if isinstance(raw, staticmethod | classmethod) else raw


def _member(classes: tuple[type, ...], name: str) -> Any:
    return _plain(_raw(classes, name))


def _holds(cls: type, function: types.FunctionType) -> bool:
    """The class defines the function, possibly below decorators."""
    return unwrapped(_member((cls,), function.__name__)) is function
