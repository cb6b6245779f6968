"""Patterns: the regular expressions of the source."""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["PatternCalls", "compiled", "looks_like_pattern", "parsed", "patterns", "with_flags"]


def patterns(tree: ast.Module) -> tuple[str, ...]:
    """Return the regular expressions of the source, in order of occurrence, each once, with flags inline as `(?ix)`.

    They are the arguments of the functions of `re` (see `PatternCalls`), and literals that look like an expression
    because they are compiled elsewhere. Bytes patterns and patterns that do not compile are left out.
    """
    calls = PatternCalls(tree)
    found: dict[str, None] = {}
    seen: set[ast.expr] = set()
    for node in ast.walk(tree):
        text = calls.pattern(node) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and text is not None:
            found.setdefault(text)
            seen.add(node.args[0])
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node in seen:
            continue
        if looks_like_pattern(node.value) and not any(node.value in known for known in found):
            found.setdefault(node.value)
    return tuple(text for text in found if text and parsed(text) is not None)


def looks_like_pattern(text: str) -> bool:
    """Return whether a literal looks like a regular expression or a part of one, wherever it is compiled.

    Multi-line text does not: it is documentation.
    """
    return "\n" not in text and _LOOK.search(text) is not None


class PatternCalls:
    """The calls of the functions of `re` in a module.

    Args:
        tree: the module.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._bound = dict(_bound(tree))
        self._functions = _functions(tree)

    def pattern(self, call: ast.Call) -> str | None:
        """Return the pattern of a call, with its flags inline; None for other calls and unknown patterns.

        It may be written by names that are bound once, `+`, `%`, f-strings, `format` and `join` of constants.
        """
        if not call.args or not _called(call.func, self._functions):
            return None
        text = _text(call.args[0], self._bound)
        return None if text is None else with_flags(text, _flags(call))

    def compiled(self, node: ast.expr) -> ast.Call | None:
        """Return the call of `re.compile` that a name or attribute is bound to, None for others."""
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        value = self._bound.get(name)
        if not isinstance(value, ast.Call) or not _called(value.func, self._functions):
            return None
        last = value.func.attr if isinstance(value.func, ast.Attribute) else self._functions[ast.unparse(value.func)]
        return value if last == "compile" else None


@functools.lru_cache(maxsize=1024)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the compiled expression; its warnings are for its author.

    Raises:
        re.error, OverflowError, RecursionError: it does not compile.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern)


@functools.lru_cache(maxsize=1024)
def parsed(pattern: str) -> Any:
    """Return the parsed expression, None if it does not compile."""
    try:
        compiled(pattern)
        # The parser of `re` is private, but has had this form since Python 2. Without it no string is sampled.
        from re import _parser  # type: ignore[attr-defined]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _parser.parse(pattern)
    except (re.error, ImportError, OverflowError, RecursionError, ValueError):
        return None


_FUNCTIONS = frozenset({"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
_LOOK = re.compile(r"\\[dwsDWSbAZ](?![\w.]*\\)|\(\?[:P<=!aimsux]|\][+*{]|^\^[^^]|[^\\$]\$$")
_FLAGS = {"A": "a", "ASCII": "a", "I": "i", "IGNORECASE": "i", "M": "m", "MULTILINE": "m"}
_FLAGS |= {"S": "s", "DOTALL": "s", "X": "x", "VERBOSE": "x", "U": "", "UNICODE": ""}
_INLINE = re.compile(r"\(\?([aiLmsux]+)\)")


def _functions(tree: ast.Module) -> dict[str, str]:
    """Return the local names of `re` itself ("") and of its functions."""
    names = {"re": "", "regex": ""}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: "" for alias in node.names if alias.name == "re" and alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module == "re":
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
    return names


def _called(function: ast.expr, names: Mapping[str, str]) -> bool:
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return names.get(function.value.id) == "" and function.attr in _FUNCTIONS
    return isinstance(function, ast.Name) and names.get(function.id, "") in _FUNCTIONS


def _bound(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names with exactly one assignment in the module, and the assigned expression."""
    count: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        targets: Sequence[ast.expr] = ()
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                count[target.id] = count.get(target.id, 0) + 1
                values[target.id] = node.value
    for name, value in values.items():
        if count[name] == 1:
            yield name, value


def _text(node: ast.expr, bound: Mapping[str, ast.expr], depth: int = 8) -> str | None:
    """Return the string that an expression of constants evaluates to, None for any other expression."""
    if depth == 0:
        return None
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in bound:
            value_node = bound[name]
            if isinstance(value_node, ast.Call):  # the name of a compiled pattern, used inside another one
                return None
            return _text(value_node, bound, depth - 1)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _text(left, bound, depth - 1), _text(right, bound, depth - 1)
            return None if first is None or second is None else first + second
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            first = _text(left, bound, depth - 1)
            items = right.elts if isinstance(right, ast.Tuple) else [right]
            texts = [_text(item, bound, depth - 1) for item in items]
            if first is None or any(text is None for text in texts):
                return None
            try:
                return first % tuple(texts)
            except (TypeError, ValueError):
                return None
        case ast.JoinedStr(values=parts):
            texts = [_text(p.value if isinstance(p, ast.FormattedValue) else p, bound, depth - 1) for p in parts]
            return None if any(text is None for text in texts) else "".join(text or "" for text in texts)
        case ast.Call(func=ast.Attribute(value=base, attr="format"), args=args, keywords=keywords):
            first = _text(base, bound, depth - 1)
            places = [_text(argument, bound, depth - 1) for argument in args]
            names = {word.arg: _text(word.value, bound, depth - 1) for word in keywords if word.arg}
            if first is None or None in places or None in names.values() or len(names) < len(keywords):
                return None
            try:
                return first.format(*places, **names)
            except (IndexError, KeyError, ValueError):
                return None
        case ast.Call(func=ast.Attribute(value=base, attr="join"), args=[ast.List(elts=items) | ast.Tuple(elts=items)]):
            first = _text(base, bound, depth - 1)
            texts = [_text(item, bound, depth - 1) for item in items]
            return None if first is None or None in texts else first.join(text or "" for text in texts)
    return None


def _flags(call: ast.Call) -> str:
    """Return the letters of all flags in the further arguments of a call."""
    letters = ""
    for argument in [*call.args[1:], *(word.value for word in call.keywords)]:
        for node in ast.walk(argument):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            letters += _FLAGS.get(name, "") if isinstance(node, ast.Attribute | ast.Name) else ""
    return letters


def with_flags(pattern: str, letters: str) -> str:
    """Return the pattern with inline flags, merged with its own, because flags must be at the very start."""
    own = _INLINE.match(pattern.lstrip()) if letters else None
    if own:
        letters += own.group(1)
        pattern = pattern.lstrip()[own.end() :]
    merged = "".join(sorted(set(letters)))
    return f"(?{merged}){pattern}" if merged else pattern
