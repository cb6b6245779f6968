"""Steps: a statement as a function from the results so far to its own result.

Everything that does not change is looked up beforehand: the callable, the literals, the keyword names.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import math
import operator as operators
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fitgym.testcase.expression import Collection, Expression, Lambda, Name, Ref
from fitgym.testcase.expression import Literal as LiteralExpression
from fitgym.testcase.statement import Statement

__all__ = [
    "Arguments",
    "Results",
    "SetupError",
    "Step",
    "arguments_of",
    "calling",
    "expressions",
    "failing",
    "literal",
    "maker",
    "no_arguments",
    "operating",
    "reading",
    "resolve",
    "sending",
    "setting",
]

Results = list[Any]
Step = Callable[[Results], Any]


class SetupError(Exception):
    """A statement cannot even be tried: what it names does not exist."""


def resolve(module: str, qualname: str) -> Any:
    """The object that a module holds under a dotted name; imports the module.

    Raises:
        ImportError, AttributeError: there is none.
    """
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


@dataclass(frozen=True, slots=True)
class Arguments:
    """How the arguments of a statement are made: constants in place, the rest built for each execution."""

    constants: list[Any]
    dynamic: tuple[tuple[int, Step], ...]
    keywords: tuple[tuple[str, Step], ...]

    def build(self, results: Results) -> tuple[list[Any], dict[str, Any]]:
        args = self.constants.copy()
        for index, make in self.dynamic:
            args[index] = make(results)
        return args, {name: make(results) for name, make in self.keywords}


def expressions(statement: Statement) -> list[Expression]:
    return [*statement.args, *(argument for _, argument in statement.kwargs)]


def no_arguments(results: Results) -> tuple[list[Any], dict[str, Any]]:
    return [], {}


def failing(problem: SetupError) -> Step:
    def step(results: Results) -> Any:
        raise SetupError(str(problem))

    return step


def arguments_of(statement: Statement) -> Arguments:
    constants: list[Any] = []
    dynamic: list[tuple[int, Step]] = []
    for index, argument in enumerate(statement.args):
        if isinstance(argument, LiteralExpression):
            constants.append(literal(argument.text))
        else:
            constants.append(None)
            dynamic.append((index, maker(argument)))
    return Arguments(constants, tuple(dynamic), tuple([(name, maker(argument)) for name, argument in statement.kwargs]))


_FLOATS = {f"float({quote}{text}{quote})": float(text) for text in ("nan", "inf", "-inf") for quote in "'\""}


@functools.lru_cache(maxsize=10_000, typed=True)
def literal(text: str) -> Any:
    """The value of a literal's text.

    Raises:
        SetupError: it is not the text of a literal.
    """
    if text in _FLOATS:
        return _FLOATS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise SetupError(f"not a literal: {text}") from error


def maker(expression: Expression) -> Step:
    """A function from the results so far to the value of the expression, made afresh where it can be changed.

    Raises:
        SetupError: it names something that does not exist.
    """
    match expression:
        case LiteralExpression(text):
            return _constant(literal(text))
        case Ref(index):
            return operators.itemgetter(index)
        case Name(module, qualname):
            try:
                return _constant(resolve(module, qualname))
            except Exception as error:
                raise SetupError(f"'{module}.{qualname}' cannot be found") from error
        case Collection(kind, items):
            return _collecting(kind, [maker(item) for item in items])
        case Lambda(arity, body):
            return _defining(arity, body)


def _constant(value: Any) -> Step:
    return lambda results: value


def _collecting(kind: str, makers: list[Step]) -> Step:
    if kind == "dict":
        keys, values = makers[::2], makers[1::2]
        pairs = list(zip(keys, values, strict=True))
        return lambda results: {key(results): value(results) for key, value in pairs}
    if kind == "list":
        return lambda results: [make(results) for make in makers]
    convert: Callable[[list[Any]], Any] = _CONVERSIONS[kind]
    return lambda results: convert([make(results) for make in makers])


_CONVERSIONS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "iter": iter,
}


def _defining(arity: int, body: Expression) -> Step:
    """A function of `arity` parameters that returns one of them or the value of an expression."""
    chosen = -1 - body.position if isinstance(body, Ref) and body.position < 0 else -1
    make = maker(body) if chosen < 0 else None

    def define(results: Results) -> Any:
        value = make(results) if make is not None else None
        if arity < 0:
            return lambda *args: args[chosen] if chosen >= 0 else value
        if arity == 0:
            return lambda: value
        if arity == 1:
            return lambda a: a if chosen == 0 else value
        if arity == 2:
            return lambda a, b: (a, b)[chosen] if chosen >= 0 else value
        if arity == 3:
            return lambda a, b, c: (a, b, c)[chosen] if chosen >= 0 else value
        names = ", ".join(f"p{i}" for i in range(arity))
        result = f"p{chosen}" if chosen >= 0 else "value"
        return eval(f"lambda {names}: {result}", {"value": value})

    return define


# ------------------------------------------------------------------------------------------------------------- calls


def calling(target: Any, arguments: Arguments) -> Step:
    constants, dynamic, keywords = arguments.constants, arguments.dynamic, arguments.keywords
    if keywords:
        build = arguments.build

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return target(*args, **kwargs)

    elif not dynamic:
        fixed = tuple(constants)

        def step(results: Results) -> Any:
            return target(*fixed)

    else:

        def step(results: Results) -> Any:
            args = constants.copy()
            for index, make in dynamic:
                args[index] = make(results)
            return target(*args)

    return step


def sending(receiver: int, name: str, arguments: Arguments) -> Step:
    constants, dynamic, keywords = arguments.constants, arguments.dynamic, arguments.keywords
    if keywords or dynamic:
        build = arguments.build

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return getattr(results[receiver], name)(*args, **kwargs)

    else:
        fixed = tuple(constants)

        def step(results: Results) -> Any:
            return getattr(results[receiver], name)(*fixed)

    return step


def reading(receiver: int, name: str) -> Step:
    def step(results: Results) -> Any:
        return getattr(results[receiver], name)

    return step


def setting(receiver: int, name: str, arguments: Arguments) -> Step:
    build = arguments.build

    def step(results: Results) -> Any:
        args, _ = build(results)
        setattr(results[receiver], name, args[0])

    return step


def operating(receiver: int, name: str, arguments: Arguments) -> Step:
    build = arguments.build
    if name == "__call__":

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return results[receiver](*args, **kwargs)

    elif name == "__enter__":

        def step(results: Results) -> Any:
            with results[receiver] as entered:
                return entered

    elif name in _REFLECTED:
        apply = _REFLECTED[name]

        def step(results: Results) -> Any:
            args, _ = build(results)
            return apply(args[0], results[receiver])

    elif name in _OPERATORS:
        apply = _OPERATORS[name]

        def step(results: Results) -> Any:
            args, _ = build(results)
            return apply(results[receiver], *args)

    else:
        raise SetupError(f"no operator calls '{name}'")
    return step


def _same(value: Any) -> Any:
    return value


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operators.add,
    "sub": operators.sub,
    "mul": operators.mul,
    "matmul": operators.matmul,
    "truediv": operators.truediv,
    "floordiv": operators.floordiv,
    "mod": operators.mod,
    "divmod": divmod,
    "pow": pow,
    "lshift": operators.lshift,
    "rshift": operators.rshift,
    "and": operators.and_,
    "or": operators.or_,
    "xor": operators.xor,
}
_REFLECTED = {f"__r{name}__": apply for name, apply in _ARITHMETIC.items()}
_OPERATORS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": apply for name, apply in _ARITHMETIC.items()},
    **{f"__i{name}__": getattr(operators, f"i{name}") for name in _ARITHMETIC if name != "divmod"},
    **{f"__{name}__": getattr(operators, name) for name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs")},
    **{f"__{name}__": getattr(operators, name) for name in ("invert", "index", "contains", "getitem")},
    **{f"__{name}__": getattr(operators, name) for name in ("setitem", "delitem")},
    **{f"__{name}__": getattr(math, name) for name in ("trunc", "floor", "ceil")},
    **{f"__{name}__": getattr(builtins, name) for name in ("len", "bool", "str", "repr", "bytes", "hash", "format")},
    **{f"__{name}__": getattr(builtins, name) for name in ("int", "float", "complex", "round", "reversed", "next")},
    "__iter__": iter,
    "__anext__": anext,
    # Driving the result awaits it, iterates over it or enters it.
    "__await__": _same,
    "__aiter__": _same,
    "__aenter__": _same,
}
