"""Steps: statements as functions from the previous results to their own result.

Statements arrive as built-in values of the protocol (`fitgym.messages.protocol`) and become closures here. Everything
constant is resolved beforehand: the callable, the literals, the keyword names.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import math
import operator as operators
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from fitgym.messages.protocol import WireExpression

__all__ = [
    "CODES",
    "Arguments",
    "Results",
    "SetupError",
    "Step",
    "calling",
    "failing",
    "is_constant",
    "literal",
    "maker",
    "operating",
    "reading",
    "resolve",
    "sending",
    "setting",
]

Results = list[Any]
Step = Callable[[Results], Any]


class SetupError(Exception):
    """A statement cannot be run, because it names something that does not exist."""


def resolve(module: str, qualname: str) -> Any:
    """Return the object with a dotted name in a module. Imports the module.

    Raises:
        ImportError, AttributeError: there is no such object.
    """
    found: Any = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


# --------------------------------------------------------------------------------------------------------- arguments


class Arguments:
    """Builds the arguments of a statement. Literals are shared; all other arguments are evaluated per execution.

    Args:
        args, kwargs: expressions as they are sent.

    Attributes:
        fixed: the positional arguments, None for those that are evaluated.
        late: evaluators of positional arguments, by position.
        keywords: the keyword arguments, None for those that are evaluated.
        late_keywords: evaluators of keyword arguments, by name.

    Raises:
        SetupError: an argument names something that does not exist.
    """

    __slots__ = ("fixed", "keywords", "late", "late_keywords")

    def __init__(self, args: tuple[WireExpression, ...], kwargs: tuple[tuple[str, WireExpression], ...]) -> None:
        self.fixed: list[Any] = []
        self.late: list[tuple[int, Step]] = []
        self.keywords: dict[str, Any] = {}
        self.late_keywords: list[tuple[str, Step]] = []
        for argument in args:
            if type(argument) is str:
                self.fixed.append(literal(argument))
            else:
                self.late.append((len(self.fixed), maker(argument)))
                self.fixed.append(None)
        for name, argument in kwargs:
            if type(argument) is str:
                self.keywords[name] = literal(argument)
            else:
                self.keywords[name] = None
                self.late_keywords.append((name, maker(argument)))

    @property
    def are_fixed(self) -> bool:
        """True if all arguments are literals."""
        return not self.late and not self.late_keywords

    def build(self, results: Results) -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and keyword arguments for these results."""
        args = self.fixed.copy()
        for index, make in self.late:
            args[index] = make(results)
        keywords = self.keywords.copy()
        for name, make in self.late_keywords:
            keywords[name] = make(results)
        return args, keywords


def is_constant(expression: WireExpression) -> bool:
    """Return True if the expression consists of literals only.

    Its value is constant and runs no code of the subject.
    """
    if type(expression) is tuple:
        return expression[0] == "c" and all(map(is_constant, expression[2]))
    return type(expression) is str


def maker(expression: WireExpression) -> Step:
    """Return a function from the previous results to the value of the expression. Mutable values are created anew.

    Raises:
        SetupError: the expression names something that does not exist.
    """
    if type(expression) is str:
        return _constant(literal(expression))
    if type(expression) is int:
        return operators.itemgetter(expression)
    tag, first, second = expression
    if tag == "c":
        return _collecting(first, [maker(item) for item in second])
    if tag == "f":
        return _defining(first, second)
    try:
        return _constant(resolve(first, second))
    except Exception as error:
        raise SetupError(f"'{first}.{second}' cannot be found") from error


_WORDS = {"None": None, "True": True, "False": False} | {
    f"float({quote}{text}{quote})": float(text) for text in ("nan", "inf", "-inf") for quote in "'\""
}
# Fast patterns for most literals; `ast` takes ten times as long to parse them.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,99})").fullmatch
_REAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+(e[+-][0-9]+)?").fullmatch
_TEXT = re.compile(r"'[^'\\\n\r\0\ud800-\udfff]*'|\"[^\"\\\n\r\0\ud800-\udfff]*\"").fullmatch


@functools.lru_cache(maxsize=10_000, typed=True)
def literal(text: str) -> Any:
    """Return the value of a literal from its source text.

    Raises:
        SetupError: the text is not a literal.
    """
    if _INTEGER(text):
        return int(text)
    if _TEXT(text):
        return text[1:-1]
    if _REAL(text):
        return float(text)
    if text in _WORDS:
        return _WORDS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise SetupError(f"not a literal: {text}") from error


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


def _defining(arity: int, body: WireExpression) -> Step:
    """Return a step that makes a function of `arity` parameters. It returns a parameter or the value of `body`."""
    chosen = -1 - body if type(body) is int and body < 0 else -1
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
# Hot path: special closures for the most frequent arguments (none, literals, a single evaluated one).


def failing(problem: SetupError) -> Step:
    """Return a step that raises `problem`."""

    def step(results: Results) -> Any:
        raise SetupError(str(problem))

    return step


def calling(target: Any, arguments: Arguments) -> Step:
    """Return a step that calls a known object."""
    fixed, keywords, build = tuple(arguments.fixed), arguments.keywords, arguments.build
    if arguments.are_fixed and keywords:

        def step(results: Results) -> Any:
            return target(*fixed, **keywords)

    elif arguments.are_fixed:

        def step(results: Results) -> Any:
            return target(*fixed)

    elif len(fixed) == 1 and not keywords:
        ((_, make),) = arguments.late

        def step(results: Results) -> Any:
            return target(make(results))

    else:

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return target(*args, **kwargs)

    return step


def sending(receiver: int, name: str, arguments: Arguments) -> Step:
    """Return a step that calls a method of an earlier result."""
    fixed, keywords, build = tuple(arguments.fixed), arguments.keywords, arguments.build
    if arguments.are_fixed and keywords:

        def step(results: Results) -> Any:
            return getattr(results[receiver], name)(*fixed, **keywords)

    elif arguments.are_fixed:

        def step(results: Results) -> Any:
            return getattr(results[receiver], name)(*fixed)

    elif len(fixed) == 1 and not keywords:
        ((_, make),) = arguments.late

        def step(results: Results) -> Any:
            argument = make(results)
            return getattr(results[receiver], name)(argument)

    else:

        def step(results: Results) -> Any:
            args, kwargs = build(results)
            return getattr(results[receiver], name)(*args, **kwargs)

    return step


def reading(receiver: int, name: str) -> Step:
    """Return a step that reads an attribute of an earlier result."""

    def step(results: Results) -> Any:
        return getattr(results[receiver], name)

    return step


def setting(receiver: int, name: str, arguments: Arguments) -> Step:
    """Return a step that assigns an attribute of an earlier result."""
    build = arguments.build

    def step(results: Results) -> Any:
        args, _ = build(results)
        setattr(results[receiver], name, args[0])

    return step


def operating(receiver: int, name: str, arguments: Arguments) -> Step:
    """Return a step that applies an operator or a built-in function to an earlier result.

    Raises:
        SetupError: no operator or built-in function calls this special method.
    """
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
    # The driver awaits the result, iterates over it or enters it.
    "__await__": _same,
    "__aiter__": _same,
    "__aenter__": _same,
}


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code objects defined inside a function."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


CODES = frozenset(
    code for make in (failing, calling, sending, reading, setting, operating) for code in _codes(make.__code__)
)
"""Code objects of all steps. Calls made from them count as calls by the test case."""
