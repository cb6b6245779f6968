"""Patterns: the regular expressions of the source, and strings that match them or nearly do.

Strings are written by walking the parsed expression and choosing at each branch, set and repetition. That covers the
regular part of the language; lookarounds and references to optional groups are only tried, and the result is checked.
"""

from __future__ import annotations

import ast
import functools
import re
import string
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

__all__ = ["Chance", "near_miss", "patterns", "sample"]


class Chance(Protocol):
    """A source of random numbers: a `random.Random`, or a `numpy.random.Generator`, which is slower at single ones."""

    def random(self) -> float:
        """A number in [0, 1)."""
        ...


def patterns(tree: ast.Module) -> tuple[str, ...]:
    """The regular expressions of the source, in order of occurrence, each once, flags written inline as `(?ix)`.

    Taken are the arguments of the functions of `re` (through names bound to constants, `+`, `%`, f-strings and
    `format` of constants), and literals that have the look of an expression because they are compiled elsewhere.
    Bytes patterns and patterns that do not compile are left out.
    """
    bound = dict(_bound(tree))
    functions = _functions(tree)
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node.func, functions) and node.args:
            text = _text(node.args[0], bound)
            if text is not None:
                found.setdefault(_with_flags(text, _flags(node)))
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
        # Text over several lines is documentation, unless the first loop found it to be an expression.
        if _LOOK.search(text) and "\n" not in text and not any(text in known for known in found):
            found.setdefault(text)
    return tuple(text for text in found if text and _parsed(text) is not None)


def sample(pattern: str, rng: Chance) -> str:
    """A string that matches the whole of `pattern`, repetitions kept short.

    Up to twelve attempts are made and checked. When none matches (contradictory lookarounds, a pattern that does not
    compile) the last attempt is returned: it still has most of the right parts. Draws from `rng` a bounded number of
    times.
    """
    program = _program(pattern)
    if program is None:
        return ""
    text = ""
    partial: str | None = None
    for _ in range(12):
        text = _Writer(rng).write(program)
        if not _is_safe(pattern):
            return text
        compiled = _compiled(pattern)
        if compiled.fullmatch(text):
            return text
        if partial is None and compiled.search(text):
            partial = text
    return text if partial is None else partial


def near_miss(pattern: str, rng: Chance) -> str:
    """A string one small change away from one that matches: a character lost, doubled, exchanged or added.

    It is not checked: now and then the changed string matches as well.
    """
    text = sample(pattern, rng)
    place = int(rng.random() * (len(text) + 1))
    change = int(rng.random() * 4)
    other = _NEAR[int(rng.random() * len(_NEAR))]
    if change == 0 or not text:
        return text[:place] + other + text[place:]
    place = min(place, len(text) - 1)
    replacement = {1: "", 2: text[place] * 2, 3: other}[change]
    return text[:place] + replacement + text[place + 1 :]


# Finding

_FUNCTIONS = frozenset({"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
_LOOK = re.compile(r"\\[dwsDWSb](?![\w.]*\\)|\(\?[:P<=!]|\][+*{]")
_FLAGS = {"A": "a", "ASCII": "a", "I": "i", "IGNORECASE": "i", "M": "m", "MULTILINE": "m"}
_FLAGS |= {"S": "s", "DOTALL": "s", "X": "x", "VERBOSE": "x", "U": "", "UNICODE": ""}
_INLINE = re.compile(r"\(\?([aiLmsux]+)\)")


def _functions(tree: ast.Module) -> dict[str, str]:
    """Local names of `re` itself ("") and of its functions."""
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
    """Names that are assigned once, wherever that is, and what is assigned."""
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
    """The string that an expression of constants gives, None if it is something else."""
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
    """The letters of the flags that a call names anywhere in its further arguments."""
    letters = ""
    for argument in [*call.args[1:], *(word.value for word in call.keywords)]:
        for node in ast.walk(argument):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            letters += _FLAGS.get(name, "") if isinstance(node, ast.Attribute | ast.Name) else ""
    return letters


def _with_flags(pattern: str, letters: str) -> str:
    """The pattern with its flags inline; flags must stand at the very start, so they are merged with its own."""
    own = _INLINE.match(pattern.lstrip()) if letters else None
    if own:
        letters += own.group(1)
        pattern = pattern.lstrip()[own.end() :]
    merged = "".join(sorted(set(letters)))
    return f"(?{merged}){pattern}" if merged else pattern


@functools.lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return re.compile(pattern)


@functools.lru_cache(maxsize=1024)
def _parsed(pattern: str) -> Any:
    """The parsed expression, None if it does not compile."""
    try:
        _compiled(pattern)
        # The parser of `re` is private, but has had this form since Python 2; without it no string is sampled.
        from re import _parser  # type: ignore[attr-defined]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _parser.parse(pattern)
    except (re.error, ImportError, OverflowError, RecursionError, ValueError):
        return None


@functools.lru_cache(maxsize=1024)
def _is_safe(pattern: str) -> bool:
    """No repetition inside a repetition: matching a short string cannot take exponential time."""
    return _nesting(_parsed(pattern)) < 2


def _nesting(items: Any) -> int:
    deepest = 0
    for operation, argument in items:
        here = 1 if "REPEAT" in str(operation) and argument[1] > 4 else 0
        deepest = max([deepest, here, *(here + _nesting(part) for part in _parts(argument))])
    return deepest


def _parts(argument: Any) -> Iterator[Any]:
    """The sequences inside the argument of one parsed item."""
    if type(argument).__name__ == "SubPattern":
        yield argument
    elif isinstance(argument, tuple | list):
        for part in argument:
            yield from _parts(part)


# Writing

_WORD = string.ascii_letters + string.digits + "_"
_POOL = "abcxyzABCXYZ0123456789 _-.,:;/+*=?!@#$%&()[]{}<>'\"\\|~^`\tée\n"
_NEAR = "a0 -_.Z\n/:é"
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": _WORD,
    "CATEGORY_SPACE": "  \t\n",
    "CATEGORY_NOT_DIGIT": "".join(c for c in _POOL if not c.isdigit()),
    "CATEGORY_NOT_WORD": "".join(c for c in _POOL if c not in _WORD and c != "é"),
    "CATEGORY_NOT_SPACE": "".join(c for c in _POOL if not c.isspace()),
}
_LONGEST = 400


class _Writer:
    """Writes one string; `groups` holds what each group has produced so far."""

    def __init__(self, rng: Chance) -> None:
        self.rng = rng
        self.groups: dict[int, str] = {}
        self.length = 0

    def pick(self, count: int) -> int:
        return int(self.rng.random() * count)

    def write(self, program: _Program) -> str:
        text = ""
        for name, argument in program:
            if name == "text":
                part = argument
            elif name == "one of":
                part = argument[self.pick(len(argument))]
            else:
                part = self.part(name, argument)
            self.length += len(part)
            text += part
        return text

    def part(self, name: str, argument: Any) -> str:
        match name:
            case "member":
                start, count = argument[self.pick(len(argument))]
                if isinstance(start, str):
                    return start[self.pick(count)] if count > 1 else start
                return chr(start + self.pick(count))
            case "branch":
                return self.write(argument[self.pick(len(argument))])
            case "group":
                number, program = argument
                text = self.write(program)
                if number is not None:
                    self.groups[number] = text
                return text
            case "repeat":
                return self.repeat(*argument)
            case "reference":
                return self.groups.get(argument, "")
            case _:  # "if"
                group, yes, no = argument
                return self.write(yes if group in self.groups else no)

    def repeat(self, least: int, most: int, program: _Program) -> str:
        count = least
        if self.length < _LONGEST:
            while count < min(most, least + 6) and self.rng.random() < 0.55:
                count += 1
        return "".join([self.write(program) for _ in range(min(count, _LONGEST))])


_Program = tuple[tuple[str, Any], ...]
"""What to write, part by part, as a name and what it needs:

"text" a text; "one of" the characters to choose from; "member" pairs of a start and a count, a text or the first of as
many code points; "branch" programs; "group" a number and a program; "repeat" bounds and a program; "reference" the
number of a group; "if" the number of a group and two programs.
"""


@functools.lru_cache(maxsize=1024)
def _program(pattern: str) -> _Program | None:
    """How to write strings for the pattern, None if it does not compile."""
    parsed = _parsed(pattern)
    return None if parsed is None else _translated(parsed)


def _translated(items: Iterable[Any]) -> _Program:
    sequence = list(items)
    parts = []
    for index, (operation, argument) in enumerate(sequence):
        at_edge = index == 0 or index + 1 == len(sequence)
        part = _part(str(operation), argument, at_edge)
        if part is not None:
            parts.append(part)
    return tuple(parts)


def _part(operation: str, argument: Any, at_edge: bool) -> tuple[str, Any] | None:
    """One part of a program; None for anchors, boundaries and negative lookarounds, which write nothing."""
    match operation:
        case "LITERAL":
            return "text", chr(argument)
        case "NOT_LITERAL":
            return _outside([("LITERAL", argument)])
        case "ANY":
            return "one of", _POOL[:-1]  # all but the newline at its end
        case "IN" if str(argument[0][0]) == "NEGATE":
            return _outside(argument[1:])
        case "IN":
            return "member", tuple(_member(str(kind), part) for kind, part in argument)
        case "CATEGORY":
            return "one of", _CATEGORIES.get(str(argument), _WORD)
        case "BRANCH":
            return "branch", tuple(map(_translated, argument[1]))
        case "SUBPATTERN":
            return "group", (argument[0], _translated(argument[3]))
        case "ATOMIC_GROUP":
            return "group", (None, _translated(argument))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, repeated = argument
            return "repeat", (int(least), int(most), _translated(repeated))
        case "GROUPREF":
            return "reference", argument
        case "GROUPREF_EXISTS":
            group, yes, no = argument
            return "if", (group, _translated(yes), _translated(no or ()))
        case "ASSERT" if at_edge:  # what stands at the edge has nothing else to provide it
            return "group", (None, _translated(argument[1]))
    return None


def _member(operation: str, argument: Any) -> tuple[str | int, int]:
    """A part of a set of characters, as it stands in a program."""
    if operation == "RANGE":
        return argument[0], argument[1] - argument[0] + 1
    known = chr(argument) if operation == "LITERAL" else _CATEGORIES.get(str(argument), _WORD)
    return known, len(known)


def _outside(items: Sequence[Any]) -> tuple[str, str]:
    """The characters that none of the parts of a set holds, one that is in no alphabet if they hold all of the pool."""
    allowed = "".join(character for character in _POOL if not any(_contains(item, character) for item in items))
    return ("one of", allowed) if allowed else ("text", chr(0x4E2D))


def _contains(item: tuple[Any, Any], character: str) -> bool:
    operation, argument = str(item[0]), item[1]
    if operation == "RANGE":
        return bool(argument[0] <= ord(character) <= argument[1])
    if operation == "LITERAL":
        return bool(ord(character) == argument)
    return character in _CATEGORIES.get(str(argument), "")
