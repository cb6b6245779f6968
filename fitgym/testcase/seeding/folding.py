"""Folding: evaluation of constant expressions without running code of the subject.

It covers more than `ast.literal_eval`: arithmetic, methods of text, ranges. Large results are rejected.
"""

from __future__ import annotations

import ast
import operator
import textwrap
from collections.abc import Callable, Mapping
from types import EllipsisType, MappingProxyType
from typing import Any

from fitgym.testcase.constants import LONGEST, text_of
from fitgym.testcase.distinct import distinct
from fitgym.testcase.expression import Collection, Expression, Literal

__all__ = ["NotConstant", "folded", "written_as"]

_SCALARS = (bool, int, float, complex, str, bytes, type(None), EllipsisType)
_MOST_ITEMS = 100
_DEEPEST = 20
_LARGEST = 2**2000

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Pow: operator.pow,
        ast.LShift: operator.lshift,
        ast.RShift: operator.rshift,
        ast.BitOr: operator.or_,
        ast.BitAnd: operator.and_,
        ast.BitXor: operator.xor,
    }
)
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = MappingProxyType(
    {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_}
)
_METHODS = frozenset(
    [
        *("capitalize", "decode", "encode", "join", "lower", "lstrip", "replace", "rstrip", "split"),
        *("splitlines", "strip", "title", "upper"),
    ]
)


class NotConstant(Exception):
    """The expression is not constant, or its value is large."""


def folded(node: ast.expr, depth: int = 0) -> Any:
    """Return the value of a constant expression.

    Raises:
        NotConstant: it contains names, its value would be large, or it has no value.
    """
    if depth > _DEEPEST:
        raise NotConstant
    if isinstance(node, ast.Constant):
        return node.value
    try:
        value = _value(node, depth + 1)
    except NotConstant:
        raise
    except Exception:  # a built-in operation failed: the expression has no value
        raise NotConstant from None
    if isinstance(value, int) and not -_LARGEST < value < _LARGEST:
        raise NotConstant
    if isinstance(value, str | bytes | list | tuple | set | dict) and len(value) > LONGEST:
        raise NotConstant
    return value


def _value(node: ast.expr, depth: int) -> Any:
    match node:
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](folded(operand, depth))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            first, second = folded(left, depth), folded(right, depth)
            _check_size(op, first, second)
            return _BINARY[type(op)](first, second)
        case ast.JoinedStr(values=values):
            return "".join(_text(part, depth) for part in values)
        case ast.List(elts=elements):
            return [folded(element, depth) for element in elements]
        case ast.Tuple(elts=elements):
            return tuple([folded(element, depth) for element in elements])
        case ast.Set(elts=elements):
            return {folded(element, depth): None for element in elements}.keys()
        case ast.Dict(keys=keys, values=values):
            return {
                folded(key or ast.Name(""), depth): folded(value, depth)
                for key, value in zip(keys, values, strict=True)
            }
        case ast.Call(func=ast.Name(id="range"), args=[*bounds], keywords=[]):
            numbers = range(*[folded(bound, depth) for bound in bounds])
            return list(numbers) if len(numbers) <= _MOST_ITEMS else _refuse()
        case ast.Call(func=ast.Attribute(value=ast.Name(id="textwrap"), attr="dedent"), args=[text], keywords=[]):
            return textwrap.dedent(folded(text, depth))
        case ast.Call(func=ast.Attribute(value=base, attr=name), args=[*arguments], keywords=[]) if name in _METHODS:
            text = folded(base, depth)
            if isinstance(text, str | bytes):
                return getattr(text, name)(*[folded(argument, depth) for argument in arguments])
    raise NotConstant


def _refuse() -> Any:
    raise NotConstant


def _text(part: ast.expr, depth: int) -> str:
    if isinstance(part, ast.FormattedValue):
        return str(folded(part.value, depth)) if part.conversion < 0 and part.format_spec is None else _refuse()
    return str(folded(part, depth))


def _check_size(op: ast.operator, first: Any, second: Any) -> None:
    """Reject operations with a large result before they are computed."""
    numbers = isinstance(first, int | float | complex) and isinstance(second, int | float | complex)
    if isinstance(op, ast.Mult) and not numbers:
        text, times = (second, first) if isinstance(first, int) else (first, second)
        if len(text) * abs(times) > LONGEST:
            raise NotConstant
    if isinstance(op, ast.Pow | ast.LShift) and abs(second) > 1000:
        raise NotConstant


def written_as(value: Any, depth: int = 0) -> Expression:
    """Return a value as an expression.

    Raises:
        NotConstant: it is too long or too deep, or neither a constant nor a container of constants.
    """
    if type(value) in _SCALARS:
        text = text_of(value)
        return Literal(text) if len(text) <= LONGEST else _refuse()
    if depth > _DEEPEST or not hasattr(value, "__len__") or len(value) > _MOST_ITEMS:
        raise NotConstant
    if isinstance(value, dict):
        parts = [part for pair in value.items() for part in pair]
        return Collection("dict", tuple([written_as(part, depth + 1) for part in parts]))
    items = [written_as(item, depth + 1) for item in value]
    if isinstance(value, type({}.keys())):
        return Collection("set", tuple(distinct(items)))
    if type(value) in (list, tuple):
        return Collection("list" if type(value) is list else "tuple", tuple(items))
    raise NotConstant
