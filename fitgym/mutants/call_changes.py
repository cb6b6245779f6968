"""Changes of calls, operands and collections: a part is left out, two parts are swapped, a method is another one.

Most mutants of calls stand for real faults that the classic operators do not represent: an argument left out, and a
similar function of the library called.

References:
    Just, Jalali, Inozemtseva, Ernst, Holmes and Fraser 2014, Are Mutants a Valid Substitute for Real Faults in Software
    Testing?, section 4.1.2: the faults that no mutant is coupled to, and the operators that this suggests.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from fitgym.mutants.text import Text, span_of

__all__ = ["of_call", "of_collection", "of_operation"]

_KEEPING = frozenset(
    {
        *("capitalize", "casefold", "copy", "expandtabs", "lower", "lstrip", "removeprefix", "removesuffix"),
        *("replace", "rstrip", "strip", "swapcase", "title", "upper", "zfill"),
    }
)
"""Methods whose result has the type of their object."""

_ALIKE = frozenset(
    {
        *(
            "abs",
            "bool",
            "bytes",
            "dict",
            "float",
            "frozenset",
            "int",
            "list",
            "max",
            "min",
            "reversed",
            "round",
            "set",
        ),
        *("sorted", "str", "tuple"),
    }
)
"""Functions whose result often has the type of an argument, but another value."""

_SYMMETRIC = frozenset({"max", "min"})
"""Functions whose result does not depend on the order of their arguments."""

_SIMILAR_METHODS = {
    "startswith": ("__contains__", "endswith"),
    "endswith": ("__contains__", "startswith"),
    "lower": ("upper",),
    "upper": ("lower",),
    "casefold": ("upper",),
    "strip": ("lstrip", "rstrip"),
    "lstrip": ("strip",),
    "rstrip": ("strip",),
    "find": ("rfind",),
    "rfind": ("find",),
    "index": ("rindex",),
    "rindex": ("index",),
    "split": ("rsplit",),
    "rsplit": ("split",),
    "partition": ("rpartition",),
    "rpartition": ("partition",),
    "isdigit": ("isalnum",),
    "isalpha": ("isalnum",),
    "isalnum": ("isalpha",),
    "appendleft": ("append",),
    "popleft": ("pop",),
    "extend": ("append",),
    "union": ("intersection",),
    "intersection": ("union",),
    "match": ("search", "fullmatch"),
    "search": ("match",),
    "fullmatch": ("match",),
    "floor": ("ceil",),
    "ceil": ("floor",),
}
"""Methods and functions of modules, with others that take the same arguments and return another result."""

_SIMILAR_FUNCTIONS = {"max": ("min",), "min": ("max",), "any": ("all",), "all": ("any",)}
"""The same for built-in functions."""

_NEEDS_COUNT = frozenset({"rsplit", "split"})
"""Methods that differ from their similar one only if they are given a maximal number."""

_OPTIONAL_LAST = {
    **dict.fromkeys(("get", "pop", "setdefault", "split", "rsplit", "startswith", "endswith", "find", "index"), 2),
    **dict.fromkeys(("enumerate", "int", "next", "round", "sum"), 2),
    **dict.fromkeys(("getattr", "replace", "sub"), 3),
}
"""Functions and methods whose argument at this place, counted from 1, can be left out."""

_MOST_ELEMENTS = 12
"""Collections with more elements are data: they are left alone."""


def of_call(node: ast.Call, text: Text, *, silent: bool = False) -> Iterator[str]:
    """Yield the replacements of a call.

    They are the object or an argument of the call, if it may have the type of the result; the call with two adjacent
    arguments swapped; the call without one of its keyword arguments or its last, optional argument; the call of a
    similar function.

    Args:
        node: the call.
        text: the module.
        silent: the call only shows messages to people, so its arguments are left alone.
    """
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    if isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPING:
        yield _alone(node, node.func.value, text)
    elif isinstance(node.func, ast.Name) and node.func.id in _ALIKE and plain and node.args:
        yield from (_alone(node, argument, text) for argument in node.args)
    elif plain and len(node.args) == 1 and not node.keywords and not silent and _is_own_function(node.func):
        yield _alone(node, node.args[0], text)
    if silent or not plain:
        return
    parts = [text.at(span_of(argument)) for argument in node.args]
    keywords = [
        f"**{text.at(span_of(k.value))}" if k.arg is None else _named(k.arg, k.value, text) for k in node.keywords
    ]
    symmetric = isinstance(node.func, ast.Name) and node.func.id in _SYMMETRIC
    for place in range(0 if symmetric else len(parts) - 1):
        if parts[place] != parts[place + 1]:
            exchanged = [*parts[:place], parts[place + 1], parts[place], *parts[place + 2 :]]
            yield _call(node, [*exchanged, *keywords], text)
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield _call(node, [*parts, *keywords[:place], *keywords[place + 1 :]], text)
    name = _name(node.func)
    if parts and _OPTIONAL_LAST.get(name) == len(parts):
        yield _call(node, [*parts[:-1], *keywords], text)
    for other in _similar(node, len(parts) + len(keywords)):
        yield _call(node, [*parts, *keywords], text, function=f"{text.at(span_of(node.func))[: -len(name)]}{other}")


def of_collection(node: ast.List | ast.Set | ast.Tuple, text: Text) -> Iterator[str]:
    """Yield a list, set or tuple without each of its elements; nothing for short and for long ones."""
    if not 1 < len(node.elts) <= _MOST_ELEMENTS or any(isinstance(element, ast.Starred) for element in node.elts):
        return
    brackets: dict[type[ast.expr], tuple[str, str]] = {ast.List: ("[", "]"), ast.Set: ("{", "}"), ast.Tuple: ("(", ")")}
    opening, closing = brackets[type(node)]
    parts = [text.at(span_of(element)) for element in node.elts]
    for place in range(len(parts)):
        rest = ", ".join([*parts[:place], *parts[place + 1 :]])
        comma = "," if isinstance(node, ast.Tuple) and len(parts) == 2 else ""
        yield f"{opening}{rest}{comma}{_NEWLINE * max(0, _lines(node) - rest.count(_NEWLINE))}{closing}"


def _similar(node: ast.Call, arguments: int) -> tuple[str, ...]:
    """Return the names of functions that can take the place of the one that is called."""
    name = _name(node.func)
    if isinstance(node.func, ast.Name):
        return _SIMILAR_FUNCTIONS.get(name, ())
    if name in _NEEDS_COUNT and arguments < 2:
        return ()
    others = _SIMILAR_METHODS.get(name, ())
    # `__contains__` takes one text, and no tuple of them.
    return tuple(other for other in others if other != "__contains__" or (arguments == 1 and _is_text(node.args[0])))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_own_function(function: ast.expr) -> bool:
    """Return whether the name is that of a function of the project or a method of `self`, and not of a class."""
    match function:
        case ast.Name(id=name):
            return name.islower() and not hasattr(builtins, name)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name.islower()
    return False


def _name(function: ast.expr) -> str:
    """Return the last part of the name of a called function, "" if it has none."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def of_operation(node: ast.BinOp, text: Text) -> Iterator[str]:
    """Yield each operand of an operation, without the other one."""
    yield from (_alone(node, operand, text) for operand in (node.left, node.right))


def _alone(whole: ast.expr, part: ast.expr, text: Text) -> str:
    """Return the text of a part in parentheses, padded to the line count of the whole."""
    found = text.at(span_of(part))
    lines = _lines(whole) - _lines(part)
    bare = not lines and isinstance(part, ast.Name | ast.Constant | ast.Attribute | ast.Call | ast.Subscript)
    return found if bare else f"({found}{_NEWLINE * lines})"


def _call(node: ast.Call, parts: list[str], text: Text, *, function: str = "") -> str:
    """Return the call with other arguments, or of another function, padded to the same line count."""
    inside = ", ".join(parts)
    lines = _lines(node) - _lines(node.func) - inside.count(_NEWLINE)
    return f"{function or text.at(span_of(node.func))}({inside}{_NEWLINE * max(0, lines)})"


def _named(name: str, value: ast.expr, text: Text) -> str:
    return f"{name}={text.at(span_of(value))}"


def _lines(node: ast.expr) -> int:
    first, _, last, _ = span_of(node)
    return last - first


_NEWLINE = "\n"
