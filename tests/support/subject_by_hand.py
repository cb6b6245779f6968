"""A small subject, described by hand, with one operation and one parameter of every kind.

The test cases made from it import nothing. These tests look at statements and text only, except where they run the
exporter's text; then `SOURCE` is executed as the module `shop`.
"""

from __future__ import annotations

from typing import Any

from fitgym.subject.subject import Class, Function, Operation, Parameter, Reference, Site, Subject
from fitgym.subject.types.hints import ANY, Hint

INT = Hint("class", "builtins.int")
STR = Hint("class", "builtins.str")
FLOAT = Hint("class", "builtins.float")
BOOL = Hint("class", "builtins.bool")
NONE = Hint("none")
VERSION = Hint("class", "shop.Version")
COLOR = Hint("class", "shop.Color")
CART = Hint("class", "shop.Cart")

SOURCE = """
import enum
import asyncio
import contextlib


class Version:
    def __init__(self, text="1.2.3", /, *parts, strict=False):
        self.text = text
        self.size = 1

    @property
    def major(self):
        return 1

    @classmethod
    def parse(cls, text):
        return cls(text)

    @staticmethod
    def compare(a, b=None):
        return 0

    def bump(self, by=1, *, minor=False):
        return Version(self.text)

    def __add__(self, other): return self
    def __getitem__(self, key): return key
    def __setitem__(self, key, value): pass
    def __delitem__(self, key): pass
    def __contains__(self, item): return True
    def __len__(self): return 3
    def __bool__(self): return True
    def __call__(self, *args, **kwargs): return args
    def __iter__(self): return iter([1, 2])
    def __neg__(self): return self
    def __lt__(self, other): return False


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Cart:
    class Item:
        def __init__(self, name, price):
            self.name, self.price = name, price

    def __init__(self, version, color): pass
    def add(self, item, /, count=1, *rest, note="", **options): return [item]


class Failure(ValueError): pass


def numbers(limit, step=1):
    yield from range(3)


async def wait(seconds): return seconds


async def stream(values):
    for value in values:
        yield value


@contextlib.contextmanager
def opened(path, mode="r"): yield path


@contextlib.asynccontextmanager
async def connected(path): yield path


def apply(function, values, default=None, *, key=None): return values
def choose(mode, pair, mapping, kinds, either): return mode
def untyped(a, b, c=0, *args, **kwargs): return a
def mystery(n): return iter([n])
def raise_(error): return error
DEFAULT = Version()
"""


def positional(name: str, hint: Hint = ANY, required: bool = True) -> Parameter:
    """Return a parameter that accepts a positional or keyword argument."""
    return Parameter(name, "positional_or_keyword", hint, required)


def build(**changes: Any) -> Subject:
    """Return the subject; `changes` replace its fields."""
    made: list[Operation] = []

    def operation(kind: Any, name: str, *parameters: Parameter, module: str = "shop", **more: Any) -> None:
        made.append(Operation(len(made), kind, module, name, parameters=parameters, **more))

    def special(name: str, *parameters: Parameter, returns: Hint = ANY, drive: Any = "") -> None:
        operation(
            "operator",
            f"Version.{name}",
            *parameters,
            owner="shop.Version",
            operator=name,
            returns=returns,
            drive=drive,
        )

    rest, options = Parameter("rest", "var_positional", INT, False), Parameter("options", "var_keyword", ANY, False)
    operation(
        "constructor",
        "Version",
        Parameter("text", "positional_only", STR, False),
        Parameter("parts", "var_positional", INT, False),
        Parameter("strict", "keyword_only", BOOL, False),
        owner="shop.Version",
        returns=VERSION,
    )
    operation("property", "Version.major", owner="shop.Version", returns=INT)
    operation("setter", "Version.size", positional("value", INT), owner="shop.Version", returns=NONE)
    operation("class_method", "Version.parse", positional("text", STR), owner="shop.Version", returns=VERSION)
    operation(
        "static_method",
        "Version.compare",
        positional("a", VERSION),
        positional("b", Hint("union", args=(VERSION, NONE)), False),
        owner="shop.Version",
        returns=INT,
    )
    operation(
        "method",
        "Version.bump",
        positional("by", INT, False),
        Parameter("minor", "keyword_only", BOOL, False),
        owner="shop.Version",
        returns=VERSION,
    )
    special("__add__", positional("other", VERSION), returns=VERSION)
    special("__getitem__", positional("key", INT))
    special("__setitem__", positional("key", INT), positional("value"), returns=NONE)
    special("__delitem__", positional("key", INT), returns=NONE)
    special("__contains__", positional("item"), returns=BOOL)
    special("__len__", returns=INT)
    special("__bool__", returns=BOOL)
    special("__call__", Parameter("args", "var_positional", ANY, False), options)
    special("__iter__", returns=Hint("list", args=(INT,)), drive="iterate")
    special("__neg__", returns=VERSION)
    special("__lt__", positional("other", VERSION), returns=BOOL)
    operation(
        "constructor",
        "Cart",
        positional("version", VERSION),
        positional("color", COLOR),
        owner="shop.Cart",
        returns=CART,
    )
    operation(
        "method",
        "Cart.add",
        Parameter("item", "positional_only", Hint("class", "shop.Cart.Item")),
        positional("count", INT, False),
        rest,
        Parameter("note", "keyword_only", STR, False),
        options,
        owner="shop.Cart",
        returns=Hint("list", args=(ANY,)),
    )
    operation(
        "constructor",
        "Cart.Item",
        positional("name", STR),
        positional("price", FLOAT),
        owner="shop.Cart.Item",
        returns=Hint("class", "shop.Cart.Item"),
        under_test=False,
    )
    ints = Hint("list", args=(INT,))
    operation(
        "function", "numbers", positional("limit", INT), positional("step", INT, False), returns=ints, drive="iterate"
    )
    operation("function", "wait", positional("seconds", FLOAT), returns=FLOAT, drive="await")
    operation("function", "stream", positional("values", Hint("iterable", args=(STR,))), returns=ints, drive="aiterate")
    operation("function", "opened", positional("path", STR), positional("mode", STR, False), returns=STR, drive="enter")
    operation("function", "connected", positional("path", STR), returns=STR, drive="aenter")
    operation(
        "function",
        "apply",
        positional("function", Hint("callable", args=(INT, INT))),
        positional("values", Hint("sequence", args=(INT,))),
        positional("default", Hint("union", args=(INT, NONE)), False),
        Parameter("key", "keyword_only", Hint("callable", args=(Hint("ellipsis"), STR)), False),
    )
    operation(
        "function",
        "choose",
        positional("mode", Hint("literal", texts=("'r'", "'w'", "1", "True"))),
        positional("pair", Hint("tuple", args=(INT, STR))),
        positional("mapping", Hint("mapping", args=(STR, Hint("set", args=(INT,))))),
        positional("kinds", Hint("type", args=(Hint("class", "builtins.Exception"),))),
        positional("either", Hint("union", args=(COLOR, Hint("frozenset", args=(STR,)), Hint("class", "shop.Sized")))),
        returns=STR,
    )
    operation(
        "function",
        "untyped",
        positional("a"),
        positional("b"),
        positional("c", ANY, False),
        Parameter("args", "var_positional", ANY, False),
        Parameter("kwargs", "var_keyword", ANY, False),
    )
    operation("function", "mystery", positional("n"))
    operation("function", "raise_", positional("error", Hint("protocol", "shop.Sized")))
    classes = (
        Class("shop.Version", "shop", "Version", ("shop.Version", "builtins.object"), instances=("shop:DEFAULT",)),
        Class("shop.Color", "shop", "Color", ("shop.Color", "enum.Enum", "builtins.object"), members=("RED", "BLUE")),
        Class("shop.Cart", "shop", "Cart", ("shop.Cart", "builtins.object")),
        Class("shop.Cart.Item", "shop", "Cart.Item", ("shop.Cart.Item", "builtins.object")),
        Class("shop.Sized", "shop", "Sized", ("shop.Sized", "builtins.object"), demands=("__len__",), abstract=True),
    )
    fields: dict[str, Any] = {
        "reference": Reference("shop", "shop", "shop.py"),
        "source": SOURCE,
        "sites": (Site(0, "block", 0, 1),),
        "functions": (Function(0, "<module>", 1, 1, 0),),
        "branches": (),
        "dependences": ((),),
        "operations": tuple(made),
        "classes": {one.name: one for one in classes},
        "constants": ("'1.2.3'", "7", "'-'", "2.5", "'key'", "b'raw'"),
        "patterns": (r"\d+\.\d+",),
    }
    return Subject(**{**fields, **changes})


def operation_named(subject: Subject, name: str) -> Operation:
    """Return the operation with this qualified name."""
    (found,) = (operation for operation in subject.operations if operation.name == name)
    return found
