"""Simplification of arguments: smaller and rounder values, for tests that read well.

Every argument has a cost, about ten for each character. Round numbers cost less than others, unusual characters more,
and a value whose kind does not match its annotation costs extra. Empty texts, empty containers and 0 cost more than
values with content, because they exercise less of the code; only where a dict is not the first argument, it is seldom
more than a set of options, so the empty one costs less. Among texts, the name of the parameter is the cheapest.
Of the values that a parameter lists, the first is the cheapest: the year 2000 rather than the year 1.
A number that an earlier argument of the call has costs more, because such a call does not notice that they are exchanged.
Every proposal of `plainer` costs less than the value that it replaces, and the cost of an argument depends only on those
before it, so simplification terminates.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
import string
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from fitgym.subject.subject import Operation, Parameter
from fitgym.subject.types.hints import ANY, NONE, PATH_TEXT, SEVERAL, Hint, listed_in
from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement
from fitgym.testcase.subtyping import SCALARS, simple_kind

__all__ = ["Change", "arguments", "bare", "changed", "conforms", "parameter_at", "plainer", "refers", "weight"]

MAX_SINGLE = 8  # single elements are removed only from containers up to this length; longer ones are halved
MAX_CHUNKS = 32  # maximal number of proposals for each length of the piece to cut
MAX_DIGITS = 20  # powers of ten are tried up to this number of digits
SMALL = 20  # up to this size, all smaller whole numbers are tried

_REF, _NAME, _MISFIT = 300, 400, 500
_EMPTY_TEXT, _EMPTY_CONTAINER = 60, 340  # more than "a", and than a list of one earlier result
_AROUND = {"list": 20, "tuple": 20, "dict": 20, "set": 30, "iter": 120}
_EMPTY_OPTIONS = 20  # less than any dict with content
_LITTLE = {"0": 36, "1": 34, "2": 32, "3": 30}  # 0 and 1 are neutral to arithmetic, and 2 + 2 is 2 * 2
_SAME = 10  # a number that another argument has, too: such a call does not notice that they are exchanged
_NOTHING = 31  # None for what a constructor takes as it comes: more than 3, less than any container or object
_LISTED, _LATER = 20, 3  # the first of the values that a parameter accepts, and each after it
_WORD = 22  # the name of the parameter as a text; costs less than "a"

_PLAIN: dict[str, tuple[Expression, ...]] = {
    "bool": (Literal("False"), Literal("True")),
    "int": (Literal("0"), Literal("1")),
    "float": (Literal("0"), Literal("1")),
    "str": (Literal("''"), Literal("'a'")),
    "bytes": (Literal("b''"), Literal("b'a'")),
    "list": (Collection("list", ()),),
    "tuple": (Collection("tuple", ()),),
    "dict": (Collection("dict", ()),),
    "none": (Literal("None"),),
}
_SEVERAL = frozenset({"list", "tuple", "set", "frozenset", "iter"})
"""The kinds that fit an iterable of something else than characters; a text is one, but not of such elements."""

_TYPED_ITEMS = dict.fromkeys(("list", "set", "frozenset", "iterable", "sequence"), 1) | {"dict": 2, "mapping": 2}
"""The kinds of hints that have one type for all items, or one for keys and one for values."""

_NO_OPTIONS = Collection("dict", ())
_OPTION = re.compile(r"(.)--[a-z][a-z0-9_-]+\1")
_WORDS = re.compile(r"[A-Za-z]{2,}|[0-9]{2,}")
_ODD_KEYS = (Literal("None"), Literal("True"), Literal("False"))
"""Keys that tests seldom have, and that a text can replace where any key will do."""
_ANYTHING: tuple[Expression, ...] = (Literal("None"), Literal("0"), Literal("''"))


class Change(NamedTuple):
    """The simplification of one argument.

    Attributes:
        place: index of a positional argument or name of a keyword argument.
        value: the new value; None removes the argument.
        saved: reduction of the cost of the statement, above 0.
    """

    place: int | str
    value: Expression | None
    saved: int


class _Wish(NamedTuple):
    """What an argument should look like.

    Attributes:
        hint: its declared type.
        word: the name of its parameter as the text of a literal; "" for a name without meaning.
        option: it is not the first argument, so a dict contains options.
        nothing: None says that it does not matter.
        expected: the constants that the code compares it with, or the keys of its table; plainer than any other value.
    """

    hint: Hint = ANY
    word: str = ""
    option: bool = False
    nothing: bool = False
    expected: frozenset[str] = frozenset()


def plainer(statement: Statement, operation: Operation | None = None, *, raises: bool = False) -> Iterator[Change]:
    """Yield simplifications of single arguments of the statement; finitely many, the greatest steps first.

    Keyword arguments and the last positional argument are left out; containers are emptied, halved, or lose one
    element; texts lose a piece; numbers become 0, 1 or rounder; values that do not match their annotation are replaced
    by simple values that do. A reference to an earlier result is kept, except if the code never reads the parameter,
    or if the statement `raises`: it may also raise with a simple value of the annotated kind.
    """
    if operation is not None and operation.stops_clock:  # there is no plainer moment than those of the generator
        return
    given = list(arguments(statement))
    for index, (place, value) in enumerate(given):
        # A number that an argument before this one has, too. Only those before: of two equal numbers one must change.
        same = [one for _, one in given[index + 1 :] if _is_number(one)]
        parameter = parameter_at(operation, place)
        cost, cheaper = _cheaper(value, _wish(parameter, place, operation), raises)
        before = cost + _SAME * (value in same)
        if _can_go(statement, place, parameter):
            yield Change(place, None, before + _around(place))
        for smaller, cost in cheaper:
            if (after := cost + _SAME * (smaller in same)) < before:
                yield Change(place, smaller, before - after)


@lru_cache(maxsize=4096)
def _cheaper(value: Expression, wish: _Wish, raises: bool) -> tuple[int, tuple[tuple[Expression, int], ...]]:
    """Return the cost of an argument, and values that may replace it, each with its cost.

    Cached, because a step changes few of the arguments of a test.
    """
    before = _cost(value, wish)
    named = (Literal(wish.word),) if wish.word and _kind(value) == "str" else ()
    values = dict.fromkeys((*named, *_plainer(value), *_fitting(value, wish, raises)))
    costs = ((smaller, _cost(smaller, wish)) for smaller in values)
    return before, tuple((smaller, cost) for smaller, cost in costs if cost < before + _SAME)


def changed(statement: Statement, changes: Sequence[Change]) -> Statement:
    """Return the statement with the changes made; at most one for each argument."""
    new = {change.place: change.value for change in changes}
    args = tuple(value for place, old in enumerate(statement.args) if (value := new.get(place, old)) is not None)
    kwargs = tuple((name, value) for name, old in statement.kwargs if (value := new.get(name, old)) is not None)
    return statement.with_arguments(args, kwargs)


def bare(statement: Statement, operation: Operation | None = None) -> Statement:
    """Return the statement without the arguments that may be left out; a moment of the clock stays."""
    if operation is not None and operation.stops_clock:
        return statement
    args = statement.args
    while args and _can_go(statement.with_arguments(args, ()), len(args) - 1, parameter_at(operation, len(args) - 1)):
        args = args[:-1]
    needed = {one.name for one in (operation.parameters if operation else ()) if one.required and not one.hook}
    kwargs = tuple((name, value) for name, value in statement.kwargs if name in needed)
    return statement.with_arguments(args, kwargs)


def weight(statement: Statement, operation: Operation | None = None) -> int:
    """Return the total cost of the arguments of the statement."""
    total = 0
    for place, value in arguments(statement):
        total += _cost(value, _wish(parameter_at(operation, place), place, operation)) + _around(place)
    return total


def refers(expression: Expression) -> bool:
    """Return whether the expression uses the result of an earlier statement."""
    if isinstance(expression, Collection):
        return any(map(refers, expression.items))
    return isinstance(expression, Ref) or (isinstance(expression, Lambda) and refers(expression.body))


def arguments(statement: Statement) -> Iterator[tuple[int | str, Expression]]:
    """Yield the arguments with their places, the last one first."""
    yield from reversed(statement.kwargs)
    yield from reversed(list(enumerate(statement.args)))


def _around(place: int | str) -> int:
    """Return the cost of an argument in addition to its value."""
    return 20 + (10 * len(place) if isinstance(place, str) else 0)


def parameter_at(operation: Operation | None, place: int | str) -> Parameter | None:
    """Return the parameter of the argument at `place`, None if unknown."""
    parameters: Sequence[Parameter] = () if operation is None else operation.parameters
    if isinstance(place, str):
        return next((one for one in parameters if one.name == place), None)
    positional = [one for one in parameters if one.kind in ("positional_only", "positional_or_keyword")]
    further = [one for one in parameters if one.kind == "var_positional"]
    return next(iter(positional[place:] or further), None)


def _wish(parameter: Parameter | None, place: int | str, operation: Operation | None) -> _Wish:
    """Return what the argument of a parameter should look like."""
    if parameter is None:
        return _Wish(option=place != 0)
    name = parameter.name.strip("_")
    says_something = len(name) > 1 and not parameter.kind.startswith("var_")
    certain = parameter.declared or parameter.hint == NONE  # what the code never reads is None
    constructs = operation is not None and operation.kind == "constructor"
    nothing = constructs and parameter.hint == ANY and parameter.required and not parameter.kind.startswith("var_")
    texts = listed_in(parameter.hint)
    expected = frozenset(texts if len(texts) >= SEVERAL else ())
    hint = parameter.hint if certain else ANY
    return _Wish(hint, repr(name) if says_something else "", place != 0, nothing, expected)


def _can_go(statement: Statement, place: int | str, parameter: Parameter | None) -> bool:
    """Return whether an argument may be left out: any keyword argument, or a last positional one with a default."""
    if isinstance(place, str):
        return True
    optional = parameter is not None and (not parameter.required or parameter.kind == "var_positional")
    return optional and place == len(statement.args) - 1


def _kinds(hint: Hint) -> frozenset[str]:
    """Return the kinds of values that a hint accepts, empty if it accepts any; no value written in a test is a "class"."""
    if hint.kind == "union":
        parts = [_kinds(part) for part in hint.args]
        return frozenset().union(*parts) if all(parts) else frozenset()
    if hint.kind in ("iterable", "sequence") and hint.args and not _may_be_text(hint.args[0]):
        return _SEVERAL
    kind = simple_kind(hint)
    if kind in ("set", "frozenset", "class"):
        return frozenset({kind}) if hint != PATH_TEXT and hint.name != "builtins.object" else frozenset()
    if kind not in _PLAIN or (hint.kind == "class" and not hint.name.startswith("builtins.") and hint.name in SCALARS):
        return frozenset()
    return frozenset({kind, "int"}) if kind == "float" else frozenset({kind})


def conforms(expression: Expression, hint: Hint) -> bool:
    """Return whether an argument has the declared type, as far as this is known without running it."""
    if hint.kind == "union":
        return any(conforms(expression, part) for part in hint.args)
    if hint.kind == "literal":
        return expression.text in hint.texts if isinstance(expression, Literal) else not _kind(expression)
    kinds, kind = _kinds(hint), _kind(expression)
    if kinds and kind and kind not in kinds:
        return False
    if not isinstance(expression, Collection) or len(hint.args) != _TYPED_ITEMS.get(hint.kind):
        return True
    return all(map(conforms, expression.items, itertools.cycle(hint.args)))


def _may_be_text(hint: Hint) -> bool:
    """Return whether a character is such an element, or an unknown one."""
    if hint.kind == "union":
        return any(map(_may_be_text, hint.args))
    return hint.kind in ("any", "literal") or hint.name in ("builtins.str", "builtins.object")


def _fitting(value: Expression, wish: _Wish, raises: bool) -> Iterator[Expression]:
    """Yield simple values that match the wish better."""
    hint = wish.hint
    kinds = sorted(_kinds(hint))
    if wish.nothing and not refers(value):
        yield Literal("None")
    if hint.kind == "literal":
        yield from map(Literal, hint.texts)
    if not conforms(value, hint) or (hint == NONE and isinstance(value, Ref)):
        yield from (plain for kind in kinds for plain in _PLAIN.get(kind, ()))
    elif raises and (refers(value) or isinstance(value, Name | Lambda)):
        yield from (plain for kind in kinds for plain in _PLAIN.get(kind, ()))
        yield from _ANYTHING if hint == ANY else ()


def _is_number(expression: Expression) -> bool:
    return isinstance(expression, Literal) and kind_of_text(expression.text) in ("int", "float")


def _kind(expression: Expression) -> str:
    if isinstance(expression, Literal):
        return kind_of_text(expression.text)
    if isinstance(expression, Lambda):
        return "function"
    return expression.kind if isinstance(expression, Collection) else ""


# Costs


def _cost(expression: Expression, wish: _Wish) -> int:
    if wish.hint.kind == "literal" and isinstance(expression, Literal) and expression.text in wish.hint.texts:
        return _LISTED + _LATER * wish.hint.texts.index(expression.text)
    if isinstance(expression, Literal) and expression.text in wish.expected:
        return _LISTED
    misfit = 0 if conforms(expression, wish.hint) else _MISFIT
    if wish.word and expression == Literal(wish.word):
        return misfit + _WORD
    if wish.nothing and expression == Literal("None"):
        return _NOTHING
    return misfit + (_EMPTY_OPTIONS if wish.option and expression == _NO_OPTIONS else _size(expression))


def _size(expression: Expression) -> int:
    if isinstance(expression, Literal):
        return _literal_size(expression.text)
    if isinstance(expression, Collection):
        around = _AROUND.get(expression.kind, 100) + (0 if expression.items else _EMPTY_CONTAINER)
        return around + sum(_size(item) + 20 for item in expression.items)
    if isinstance(expression, Lambda):
        return 100 + _size(expression.body)
    return _NAME if isinstance(expression, Name) else _REF


@lru_cache(maxsize=16384)
def _literal_size(text: str) -> int:
    kind = kind_of_text(text)
    if kind in ("bool", "none", "ellipsis"):
        return 40
    if kind in ("float", "complex") and not text[0].isdigit() and not text[1:2].isdigit():
        return 200  # infinities and the like
    value = ast.literal_eval(text)
    if not value:
        return _EMPTY_TEXT if kind in ("str", "bytes") else _LITTLE["0"] + 5 * (kind != "int")
    if isinstance(value, str):
        return 20 + sum(map(_character_size, value))
    if isinstance(value, bytes):
        return 30 + sum(_character_size(chr(byte)) for byte in value)
    if text in _LITTLE:
        return _LITTLE[text]
    digits = text.lstrip("-")
    size = 10 * len(digits) + sum(20 for digit in digits if digit in "123456789") + 15 * text.startswith("-")
    return size + int(min(abs(value), SMALL)) + (0 if kind == "int" else 5)


def _character_size(character: str) -> int:
    if character in "aA0":
        return 7
    if character in "bcdefBCDEF12345":
        return 8
    if character.isascii() and (character.isalnum() or character == " "):
        return 10
    return 12 if character.isascii() and character.isprintable() else 30


# Smaller expressions


def _plainer(expression: Expression) -> Iterator[Expression]:
    """Yield other expressions of the same kind, most of them smaller."""
    if isinstance(expression, Collection):
        yield from _plainer_container(expression)
    elif isinstance(expression, Literal):
        yield from (Literal(text) for text in _plainer_literal(expression.text))
    elif isinstance(expression, Lambda):
        yield from (Lambda(expression.arity, body) for body in _plainer(expression.body))


def _plainer_container(container: Collection) -> Iterator[Expression]:
    width = 2 if container.kind == "dict" else 1
    entries = [container.items[at : at + width] for at in range(0, len(container.items), width)]

    def of(kept: list[tuple[Expression, ...]]) -> Collection:
        return Collection(container.kind, tuple(part for entry in kept for part in entry))

    if container.kind in ("iter", "set", "frozenset"):
        yield Collection("list", container.items)
    if container.kind in ("list", "tuple", "iter") and entries:
        texts = [item.text for item in container.items if isinstance(item, Literal) and item.text[0] in "'\""]
        if len(texts) == len(entries):  # a text is also a sequence of texts
            yield Literal(repr("".join(ast.literal_eval(text) for text in texts)))
    if entries:
        yield of([])
        if len(entries) > 2:
            middle = len(entries) // 2
            yield of(entries[:middle])
            yield of(entries[middle:])
    if 1 < len(entries) <= MAX_SINGLE:
        for index in range(len(entries)):
            yield of(entries[:index] + entries[index + 1 :])
    if len(entries) <= MAX_SINGLE:
        for index, item in enumerate(container.items):
            named = container.kind == "dict" and index % 2 == 0 and item in _ODD_KEYS
            for smaller in _PLAIN["str"][1:] if named else () if _is_option(item) else _plainer(item):
                yield Collection(container.kind, (*container.items[:index], smaller, *container.items[index + 1 :]))


def _is_option(expression: Expression) -> bool:
    """The expression is a long option, as in `["--verbose"]`: argparse accepts its beginning, which says less."""
    return isinstance(expression, Literal) and _OPTION.fullmatch(expression.text) is not None


def _plainer_literal(text: str) -> Iterator[str]:
    if text.startswith(("float(", "complex(")):
        yield from ("0", "1", "0.0")
        return
    value = ast.literal_eval(text)
    if isinstance(value, str | bytes):
        yield from map(repr, _shorter(value))
        if isinstance(value, str):
            yield from map(repr, _usual(value))
            yield from map(repr, _simpler(value))
        elif value.isascii():
            yield from (repr(simpler.encode()) for simpler in _simpler(value.decode()))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from map(str, _rounder(value))
    elif isinstance(value, float) and math.isfinite(value):
        yield from ("0", "1", "-1", "2")
        yield from map(str, _rounder(int(value)) if abs(value) < 10**MAX_DIGITS else ())
        yield from ("0.0", "1.0", "-1.0", "0.5", "1.5", "-0.5")
        yield from (repr(round(value, digits)) for digits in (1, 2))


def _shorter(text: str | bytes) -> Iterator[str | bytes]:
    """Yield the text without one piece: a half, a quarter, and so on down to one character.

    An empty text becomes one letter.
    """
    size = len(text)
    yield text[:0] if size else "a" if isinstance(text, str) else b"a"
    length = size // 2
    while length:
        if size / length <= MAX_CHUNKS:
            for start in range(0, size, length):
                yield text[:start] + text[start + length :]  # type: ignore[operator]  # both of one kind
        length //= 2


def _usual(text: str) -> Iterator[str]:
    """Yield the text with one unusual character replaced, and with all of them replaced."""
    usual = [_usual_character(character) for character in text]
    if "".join(usual) != text:
        yield "".join(usual)
        for index, character in enumerate(usual):
            if character != text[index]:
                yield text[:index] + character + text[index + 1 :]


def _simpler(text: str) -> Iterator[str]:
    """Yield the text with letters and digits replaced in order: "fox" becomes "abc", "7.7.9" becomes "0.0.1".

    Equal characters stay equal. First all are replaced, then only letters, then only digits, then one word after the
    other. A number also becomes rounder.
    """
    if text.isascii() and text.isdigit():
        yield from (str(number) for number in _rounder(int(text)) if number >= 0)
    yield from (_in_order(text, kind) for kind in (str.isalnum, str.isalpha, str.isdigit))
    for found in itertools.islice(_WORDS.finditer(text), MAX_CHUNKS):
        yield text[: found.start()] + _in_order(found[0], str.isalnum) + text[found.end() :]


def _in_order(text: str, kind: Callable[[str], bool]) -> str:
    """Replace the characters of one kind in the order of their first occurrence.

    The first letter becomes "a", the next new letter "b", each in its case; the first digit becomes "0".
    """
    letters = dict.fromkeys(one.lower() for one in text if one.isascii() and one.isalpha())
    digits = dict.fromkeys(one for one in text if one.isascii() and one.isdigit())
    new = dict(zip(letters, string.ascii_lowercase, strict=False)) | dict(zip(digits, string.digits, strict=False))
    new |= {old.upper(): letter.upper() for old, letter in new.items()}
    return "".join(new.get(one, one) if kind(one) else one for one in text)


def _usual_character(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    plain = unicodedata.normalize("NFKD", character)[:1]
    if plain.isascii() and plain.isalnum():
        return plain
    return "a" if character.isalpha() else "1" if character.isdigit() else " " if character.isspace() else character


def _rounder(number: int) -> Iterator[int]:
    """Yield 0, 1, small numbers, powers of ten, and the number with fewer or rounder digits."""
    sign = 1 if number > 0 else -1
    size = abs(number)
    yield from (0, sign, -sign)
    if size <= SMALL:
        yield from (sign * smaller for smaller in range(2, max(size, 4)))
        yield from (sign * smaller for smaller in (10,) if smaller < size)
        return
    yield from (sign * 2, sign * 3, sign * 5)
    digits = min(len(str(size)), MAX_DIGITS)
    yield from (sign * first * 10**power for power in range(1, digits + 1) for first in (1, 2, 5))
    yield sign * (size // 10)
    for power in range(digits - 1, 0, -1):
        rounded = size // 10**power * 10**power
        yield sign * rounded
        yield sign * (rounded + 10**power)
    yield size
