"""Recipes: constructor arguments for classes whose signature is not informative enough.

The values are chosen to be valid: a date is built to be used, and half of all randomly drawn days do not exist. Invalid
dates reach the subject through its own parameters. Objects also have content, because a test with an empty container, or
with a pattern that matches everything, checks little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from fitgym.subject.subject import SET_CLOCK, SET_COMMAND_LINE, SET_INPUT, SET_VARIABLE
from fitgym.subject.types.hints import ANY, PATH, PATH_TEXT, Hint, union

__all__ = [
    "CONCRETE",
    "INSTANCES",
    "RECIPES",
    "Recipe",
    "clock_setter",
    "command_line",
    "command_line_setter",
    "input_setter",
    "variable_setter",
]


@dataclass(frozen=True, slots=True)
class Recipe:
    """One way to create an object, or to change it: a call of `module.name` with these arguments.

    Attributes:
        kind: as in `Operation.kind`.
        parameters: name, hint, and whether it is required; all may be passed by position.
    """

    kind: Literal["constructor", "function", "class_method", "method"]
    module: str
    name: str
    parameters: tuple[tuple[str, Hint, bool], ...] = ()


def variable_setter(names: Sequence[str]) -> Recipe:
    """Return the operation that sets one of these environment variables."""
    value = union([_one_of("1", "0", "true", ""), _STR])
    return Recipe("function", *SET_VARIABLE, (("name", _one_of(*names), True), ("value", value, True)))


def command_line_setter(lines: Iterable[tuple[Hint, ...]]) -> Recipe:
    """Return the operation that sets one of these command lines."""
    return Recipe("function", *SET_COMMAND_LINE, (("words", command_line(lines), True),))


def input_setter() -> Recipe:
    """Return the operation that sets the text of the standard input: answers, numbers, words, or any other text."""
    text = union([_one_of("y\n", "1\n2\n", "a b\nc d\n", ""), _STR])
    return Recipe("function", *SET_INPUT, (("text", text, True),))


def clock_setter(kinds: Iterable[str]) -> Recipe:
    """Return the operation that stops the clock, at all times of the day, of the week and of the year.

    Args:
        kinds: "time" and "datetime", of which the code reads the time.
    """
    given = ((kind, _one_of(True), True) for kind in kinds)
    return Recipe("function", *SET_CLOCK, (("moment", _one_of(*_MOMENTS), True), *given))


def command_line(lines: Iterable[tuple[Hint, ...]]) -> Hint:
    """Return the hint for a list with the words of one of these command lines, or any other words."""
    return union([Hint("list", args=(_STR,)), *(Hint("row", args=line) for line in lines)])


def _one_of(*values: object) -> Hint:
    return Hint("literal", texts=tuple(repr(value) for value in values))


_INT, _FLOAT, _STR, _BYTES = (Hint("class", f"builtins.{name}") for name in ("int", "float", "str", "bytes"))
_ITEMS = Hint("iterable", args=(ANY,))
_PAIRS = Hint("dict", args=(_STR, ANY))
_DATE = (
    ("year", _one_of(2000, 1970, 2024, 1999, 1, 9999), True),
    ("month", _one_of(1, 2, 12, 6), True),
    ("day", _one_of(1, 28, 15), True),
)
_TIME = (
    ("hour", _one_of(0, 12, 23), False),
    ("minute", _one_of(0, 30, 59), False),
    ("second", _one_of(0, 1, 59), False),
    ("microsecond", _one_of(0, 1, 999999), False),
)
_MOMENTS = (
    "2024-01-15 10:00",  # a Monday
    "2024-06-01 22:30",  # a Saturday
    "2024-12-31 23:59",
    "2024-02-29 00:00",
    "2024-04-05 07:15",
    "2024-08-21 13:00",
    "2024-10-13 17:45",  # a Sunday
    "1999-09-09 09:00",
)
_NAMES = _one_of("data.txt", "folder", "", "a/b.txt", "..")
_NUMERAL = _one_of(0, 1, "-1.5", "3.14", "1E+3", "NaN")

RECIPES: Mapping[str, tuple[Recipe, ...]] = MappingProxyType(
    {
        "datetime.datetime": (
            Recipe("constructor", "datetime", "datetime", _DATE + _TIME),
            Recipe(
                "class_method",
                "datetime",
                "datetime.fromisoformat",
                (("text", _one_of("2020-02-29T12:30:00+02:00"), True),),
            ),
        ),
        "datetime.date": (Recipe("constructor", "datetime", "date", _DATE),),
        "datetime.time": (Recipe("constructor", "datetime", "time", _TIME),),
        "datetime.timedelta": (
            Recipe(
                "constructor",
                "datetime",
                "timedelta",
                (
                    ("days", _one_of(1, 7, 30, 365, 0, -1), True),
                    ("seconds", _one_of(0, 1, 59, 60, 3600, 86399), False),
                ),
            ),
        ),
        "datetime.timezone": (
            Recipe("constructor", "datetime", "timezone", (("offset", Hint("class", "datetime.timedelta"), True),)),
        ),
        "decimal.Decimal": (Recipe("constructor", "decimal", "Decimal", (("value", _NUMERAL, True),)),),
        "fractions.Fraction": (
            Recipe(
                "constructor",
                "fractions",
                "Fraction",
                (("numerator", _INT, True), ("denominator", _one_of(1, 2, 3, 7), False)),
            ),
        ),
        "uuid.UUID": (
            Recipe(
                "constructor", "uuid", "UUID", (("hex", _one_of("12345678123456781234567812345678", "0" * 32), True),)
            ),
        ),
        "re.Pattern": (
            Recipe("function", "re", "compile", (("pattern", _one_of("a", r"\d+", r"(\w+)\s*", r"[a-z]+"), True),)),
        ),
        "re.Match": (
            Recipe(
                "function",
                "re",
                "match",
                (("pattern", _one_of(r"(\w*)", r"(?P<name>.*)"), True), ("string", _STR, True)),
            ),
        ),
        "pathlib.Path": (
            Recipe("constructor", "pathlib", "Path", (("path", union([_NAMES, _STR]), True),)),
            Recipe("method", "pathlib", "Path.write_text", (("data", _STR, True),)),
            Recipe("method", "pathlib", "Path.write_bytes", (("data", _BYTES, True),)),
            Recipe("method", "pathlib", "Path.mkdir"),
        ),
        PATH_TEXT.name: (Recipe("function", "builtins", "str", (("path", PATH, True),)),),
        "pathlib.PurePath": (
            Recipe("constructor", "pathlib", "PurePath", (("path", _one_of("", "a", "a/b.txt", "/", ".."), True),)),
        ),
        "io.StringIO": (Recipe("constructor", "io", "StringIO", (("initial_value", _STR, False),)),),
        "io.BytesIO": (Recipe("constructor", "io", "BytesIO", (("initial_bytes", _BYTES, False),)),),
        "collections.OrderedDict": (Recipe("constructor", "collections", "OrderedDict", (("items", _PAIRS, True),)),),
        "collections.Counter": (Recipe("constructor", "collections", "Counter", (("items", _ITEMS, True),)),),
        "collections.deque": (
            Recipe(
                "constructor", "collections", "deque", (("items", _ITEMS, True), ("maxlen", _one_of(0, 1, 3), False))
            ),
        ),
        "collections.defaultdict": (
            Recipe(
                "constructor",
                "collections",
                "defaultdict",
                (("default", Hint("callable", args=(ANY,)), False), ("items", _PAIRS, False)),
            ),
        ),
        "collections.ChainMap": (Recipe("constructor", "collections", "ChainMap", (("map", _PAIRS, True),)),),
        "collections.UserDict": (Recipe("constructor", "collections", "UserDict", (("map", _PAIRS, True),)),),
        "types.SimpleNamespace": (Recipe("constructor", "types", "SimpleNamespace"),),
        "types.MappingProxyType": (Recipe("constructor", "types", "MappingProxyType", (("mapping", _PAIRS, True),)),),
        "types.ModuleType": (Recipe("constructor", "types", "ModuleType", (("name", _one_of("m"), True),)),),
        "types.CodeType": (
            Recipe(
                "function",
                "builtins",
                "compile",
                (("source", _one_of("1"), True), ("file", _one_of("f"), True), ("mode", _one_of("eval"), True)),
            ),
        ),
        "types.FrameType": (Recipe("function", "inspect", "currentframe"),),
        "ast.AST": (
            Recipe("function", "ast", "parse", (("source", _one_of("x = 1", "def f(a): return a", ""), True),)),
        ),
        "ast.Module": (
            Recipe("function", "ast", "parse", (("source", _one_of("x = 1", "def f(a): return a", ""), True),)),
        ),
        "random.Random": (Recipe("constructor", "random", "Random", (("seed", _INT, True),)),),
        "logging.Logger": (Recipe("function", "logging", "getLogger", (("name", _one_of("a", "a.b"), True),)),),
        "argparse.ArgumentParser": (Recipe("constructor", "argparse", "ArgumentParser"),),
        "argparse.Namespace": (Recipe("constructor", "argparse", "Namespace"),),
        "threading.Lock": (Recipe("function", "threading", "Lock"),),
        "itertools.count": (Recipe("constructor", "itertools", "count", (("start", _INT, False),)),),
        "array.array": (
            Recipe(
                "constructor",
                "array",
                "array",
                (("typecode", _one_of("i"), True), ("items", Hint("list", args=(_one_of(0, 1, 2),)), False)),
            ),
        ),
        "xml.etree.ElementTree.Element": (
            Recipe("constructor", "xml.etree.ElementTree", "Element", (("tag", _one_of("a", "b"), True),)),
            Recipe(
                "function", "xml.etree.ElementTree", "fromstring", (("text", _one_of("<a x='1'><b>t</b></a>"), True),)
            ),
        ),
        "email.message.Message": (Recipe("constructor", "email.message", "Message"),),
        "inspect.Signature": (
            Recipe("function", "inspect", "signature", (("function", Hint("callable", args=(ANY, ANY)), True),)),
        ),
        "builtins.bytearray": (Recipe("constructor", "builtins", "bytearray", (("source", _BYTES, False),)),),
        "builtins.memoryview": (Recipe("constructor", "builtins", "memoryview", (("source", _BYTES, True),)),),
        "builtins.range": (Recipe("constructor", "builtins", "range", (("stop", _one_of(0, 1, 5, 10), True),)),),
        "builtins.slice": (
            Recipe(
                "constructor",
                "builtins",
                "slice",
                (("start", _INT, True), ("stop", _INT, True), ("step", _one_of(1, 2, -1), False)),
            ),
        ),
        "builtins.object": (Recipe("constructor", "builtins", "object"),),
        "asyncio.Queue": (Recipe("constructor", "asyncio", "Queue"),),
        "queue.Queue": (Recipe("constructor", "queue", "Queue"),),
        "string.Template": (
            Recipe("constructor", "string", "Template", (("template", _one_of("$a", "a ${b}", "$$"), True),)),
        ),
    }
)
"""Ways to create objects of the standard library, by class name; they override the signature."""

CONCRETE: Mapping[str, str] = MappingProxyType(
    {
        "datetime.tzinfo": "datetime.timezone",
        "_thread.lock": "threading.Lock",
        "pathlib.PosixPath": "pathlib.Path",
        "pathlib.PurePosixPath": "pathlib.PurePath",
        "typing.Pattern": "re.Pattern",
        "typing.Match": "re.Match",
    }
)
"""Classes that are not built themselves, and the class that is built instead."""

INSTANCES: Mapping[str, tuple[str, ...]] = MappingProxyType({"datetime.timezone": ("datetime:timezone.utc",)})
"""Objects that need not be built, by class name, as in `Class.instances`."""
