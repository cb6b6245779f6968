"""Inspection: the contents of an imported module, on tiny programs and on the standard library."""

import importlib
import importlib.util
import pickle

import pytest
from described import describe
from nightly import every

from fitgym.errors import SubjectError
from fitgym.execution.executor import Executor
from fitgym.subject.introspection.helpers import Helpers
from fitgym.subject.introspection.special import OPERATORS
from fitgym.subject.source import locate
from fitgym.subject.types.hints import ANY, NONE, Hint, choices, union

INT, STR = Hint("class", "builtins.int"), Hint("class", "builtins.str")


def names_under_test(subject):
    return [f"{operation.kind} {operation.name}" for operation in subject.under_test]


def only(subject, name):
    found = [operation for operation in subject.operations if operation.name == name]
    assert len(found) == 1, [operation.name for operation in subject.operations]
    return found[0]


def hint(subject, name, parameter):
    return next(p.hint for p in only(subject, name).parameters if p.name == parameter)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): pass", ["function f"]),
        ("def f(): pass\ndef _g(): pass", ["function f"]),
        ("def _g(): pass", ["function _g"]),  # no public callable: then the private ones
        ("f = lambda x: x", ["function f"]),
        ("def f(): pass\ng = f", ["function f"]),
        ("from textwrap import dedent\ndef f(): pass", ["function f"]),
        ("class C:\n    def m(self): pass", ["constructor C", "method C.m"]),
        ("class C:\n    def _m(self): pass\n    def n(self): pass", ["constructor C", "method C.n"]),
        ("class C:\n    @staticmethod\n    def s(): pass", ["constructor C", "static_method C.s"]),
        ("class C:\n    @classmethod\n    def c(cls): pass", ["constructor C", "class_method C.c"]),
        ("class C:\n    @property\n    def p(self): return 1", ["constructor C", "property C.p"]),
        (
            "class C:\n    @property\n    def p(self): return 1\n    @p.setter\n    def p(self, v): pass",
            ["constructor C", "property C.p", "setter C.p"],
        ),
        (
            "import functools\nclass C:\n    @functools.cached_property\n    def p(self): return 1",
            ["constructor C", "property C.p"],
        ),
        ("class C:\n    def __len__(self): return 0", ["constructor C", "operator C.__len__"]),
        ("class C:\n    def __missing__(self, k): return 0", ["constructor C", "method C.__missing__"]),
        (
            "class C:\n    def __exit__(self, *a): return 0\n    def __enter__(self): pass",
            ["constructor C", "operator C.__enter__"],
        ),
        ("class C:\n    class D:\n        def m(self): pass", ["constructor C", "constructor C.D", "method C.D.m"]),
        (
            "class B:\n    def m(self): pass\nclass C(B): pass",
            ["constructor B", "method B.m", "constructor C"],
        ),
        (
            "class _B:\n    def m(self): pass\nclass C(_B): pass",
            ["constructor C", "method C.m"],
        ),
        (
            "import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def m(self): pass\n    def n(self): pass",
            ["constructor A", "method A.n"],
        ),
        (
            "import dataclasses\n@dataclasses.dataclass\nclass D:\n    x: int\n    def m(self): pass",
            ["constructor D", "method D.m"],
        ),
        (
            "import typing\nclass N(typing.NamedTuple):\n    x: int\n    def m(self): pass",
            ["constructor N", "method N.m"],
        ),
        (
            "import collections\nP = collections.namedtuple('P', 'x y')\ndef f(): pass",
            ["constructor P", "function f"],
        ),
        (
            "import enum\nclass E(enum.Enum):\n    A = 1\n    def m(self): pass",
            ["constructor E", "method E.m"],
        ),
        ("class C:\n    def __call__(self, x): pass\nc = C()", ["constructor C", "operator C.__call__", "function c"]),
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test_f(self): f()\ndef f(): pass",
            ["function f"],
        ),
        ("import functools\n@functools.lru_cache\ndef f(x): pass", ["function f"]),
        ("import functools\ndef f(x, y): pass\ng = functools.partial(f, 1)", ["function f", "function g"]),
    ],
)
def test_what_is_under_test(inspected, source, expected):
    assert names_under_test(inspected(source)) == expected


def test_a_lazy_object_that_is_not_ready_is_no_operation(inspected):
    subject = inspected(
        """
        class Lazy:
            def __getattribute__(self, name):
                raise RuntimeError("settings are not configured")
        settings = Lazy()
        def f(): return settings
        """
    )
    assert names_under_test(subject) == ["constructor Lazy", "function f"]


@pytest.mark.parametrize(
    ("body", "drive"),
    [
        ("def f(): return 1", ""),
        ("def f(): yield 1", "iterate"),
        ("async def f(): return 1", "await"),
        ("async def f(): yield 1", "aiterate"),
        ("import contextlib\n@contextlib.contextmanager\ndef f(): yield 1", "enter"),
        ("import contextlib\n@contextlib.asynccontextmanager\nasync def f(): yield 1", "aenter"),
        ("from typing import Iterator\ndef f() -> Iterator[int]: return iter([1])", "iterate"),
        ("import functools\n@functools.lru_cache\ndef f(): return 1", ""),
    ],
)
def test_what_has_to_be_done_with_the_result(inspected, body, drive):
    assert only(inspected(body), "f").drive == drive


@pytest.mark.parametrize(
    ("body", "returns"),
    [
        ("def f() -> int: ...", INT),
        ("async def f() -> int: ...", INT),
        ("from typing import Iterator\ndef f() -> Iterator[int]:\n    yield 1", Hint("list", args=(INT,))),
        (
            "from typing import AsyncIterator\nasync def f() -> AsyncIterator[int]:\n    yield 1",
            Hint("list", args=(INT,)),
        ),
        (
            "import contextlib\nfrom typing import Iterator\n@contextlib.contextmanager\ndef f() -> Iterator[str]: yield 'a'",
            STR,
        ),
        ("def f(): return 1", ANY),
    ],
)
def test_what_comes_back_after_that(inspected, body, returns):
    assert only(inspected(body), "f").returns == returns


def test_decorators_are_peeled_off_to_find_the_body(inspected):
    subject = inspected(
        """
        import functools

        def plain(function):
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper

        def careful(function):
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                return function(*args, **kwargs)
            return wrapper

        class Counted:
            def __init__(self, function):
                self.function = function
            def __call__(self, *args):
                return self.function(*args)

        @plain
        def first(a: int, b=2):
            return a

        @careful
        def second(a: int):
            return a

        @Counted
        def third(a: int):
            return a

        @functools.singledispatch
        def fourth(a: int):
            return a
        """
    )
    for name in ("first", "second", "third", "fourth"):
        operation = only(subject, name)
        assert subject.functions[operation.function].name == name
    assert hint(subject, "first", "a") == INT
    assert hint(subject, "second", "a") == INT


def test_functions_are_told_apart_by_line_when_they_share_a_name(inspected):
    subject = inspected("if True:\n    def f(): pass\nelse:\n    def f(): pass\ndef g(): pass\n")
    assert subject.functions[only(subject, "f").function].line == 2


def test_a_constructor_runs_the_body_that_the_class_has(inspected):
    subject = inspected(
        """
        import dataclasses

        class Own:
            def __init__(self, x): pass
        class New:
            def __new__(cls, x): return object.__new__(cls)
        class Inherits(Own): pass
        @dataclasses.dataclass
        class Data:
            x: int
            def __post_init__(self): pass
        class Nothing: pass
        """
    )
    bodies = {o.name: subject.functions[o.function].name for o in subject.under_test if o.function >= 0}
    assert bodies == {
        "Own": "Own.__init__",
        "New": "New.__new__",
        "Inherits": "Own.__init__",
        "Data": "Data.__post_init__",
    }
    assert only(subject, "Nothing").function == -1


def test_parameters_are_described(inspected):
    subject = inspected("def f(a, /, b: int, c=1.5, *d: str, e: bool, f=None, **g: int): pass")
    shown = [(p.name, p.kind, p.required) for p in only(subject, "f").parameters]
    assert shown == [
        ("a", "positional_only", True),
        ("b", "positional_or_keyword", True),
        ("c", "positional_or_keyword", False),
        ("d", "var_positional", False),
        ("e", "keyword_only", True),
        ("f", "keyword_only", False),
        ("g", "var_keyword", False),
    ]
    assert [p.hint for p in only(subject, "f").parameters][1:4] == [INT, Hint("class", "builtins.float"), STR]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def f(x: int): ...", INT),
        ("def f(x: 'int'): ...", INT),
        ("from __future__ import annotations\ndef f(x: int): ...", INT),
        ("def f(x: int = None): ...", Hint("union", args=(INT, NONE))),
        ("def f(x=3): ...", INT),
        ("def f(x=None): ...", ANY),
        ("def f(x):\n    ':param int x: a number'", INT),
        ("def f(x):\n    ':type x: int'", INT),
        ("def f(x):\n    '''F.\n\n    Args:\n        x (int): a number\n    '''", INT),
        ("def f(x):\n    '''F.\n\n    Parameters\n    ----------\n    x : int\n        a number\n    '''", INT),
        ("def f(x):\n    '''F.\n\n    >>> f(3)\n    4\n    '''", INT),
        ("def f(x):\n    '''F.\n\n    >>> data = 'text'\n    >>> f(x=data)\n    '''", STR),
        ("def f(x):\n    return x.startswith('a')", STR),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from decimal import Decimal\ndef f(x: 'Decimal'): ...",
            Hint("class", "decimal.Decimal"),
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from nowhere import Thing\ndef f(x: 'Thing'): ...",
            ANY,
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from _typeshed import ReadableBuffer\n"
            "def f(x: 'ReadableBuffer'): ...",
            Hint("class", "builtins.bytes"),
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from _typeshed.wsgi import WSGIEnvironment as Given\n"
            "def f(x: 'Given'): ...",
            Hint("dict", args=(STR, ANY)),
        ),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from _typeshed import Unused\ndef f(x: 'Unused'): ...",
            ANY,
        ),
    ],
)
def test_where_the_type_of_a_parameter_comes_from(inspected, body, expected):
    assert hint(inspected(body), "f", "x") == expected


def shape(hint):
    """A hint in a few words."""
    inner = list(map(shape, hint.args))
    if hint.kind == "record":
        return "{" + ", ".join(f"{key}: {value}" for key, value in zip(hint.texts, inner, strict=True)) + "}"
    if hint.kind == "union":
        return " | ".join(inner)
    name = hint.name.rpartition(".")[2] or hint.kind
    return f"{name}[{', '.join(inner)}]" if inner else name


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("dict", "{'name': str, 'size': int | float} | dict[any, any]"),
        ("Mapping[str, Any]", "{'name': str, 'size': int | float} | mapping[str, any]"),
        ("dict[str, object]", "{'name': str, 'size': int | float} | dict[str, any]"),
        ("dict[str, int | str]", "{'name': str, 'size': int | float} | dict[str, int | str]"),
        ("dict[str, int]", "{'name': int, 'size': int} | dict[str, int]"),
        ("dict | None", "{'name': str, 'size': int | float} | dict[any, any] | none"),
        ("dict[int, str]", "dict[int, str]"),
        ("int", "int"),
    ],
)
def test_a_declared_dictionary_gets_the_keys_that_the_body_reads(inspected, annotation, expected):
    subject = inspected(
        f"""
        from typing import Any, Mapping

        def f(config: {annotation}):
            return config["name"].upper(), config["size"] + 1
        """
    )
    assert shape(hint(subject, "f", "config")) == expected


def test_keys_taken_out_of_keyword_arguments_are_parameters(inspected):
    subject = inspected("def f(**options):\n    return options['name'].upper() + options['tail']")
    parameters = {p.name: (p.kind, p.required, p.hint) for p in only(subject, "f").parameters}
    assert parameters["name"] == ("keyword_only", True, STR)
    assert parameters["tail"][:2] == ("keyword_only", True)
    assert parameters["options"][0] == "var_keyword"


def test_keys_that_may_be_missing_from_keyword_arguments_are_optional(inspected):
    body = "return o['a'], o.get('b'), o.pop('c', 1), o.pop('d'), o.setdefault('e', 2)"
    subject = inspected(f"def f(**o):\n    {body}")
    required = {p.name: p.required for p in only(subject, "f").parameters if p.kind == "keyword_only"}
    assert required == {"a": True, "b": False, "c": False, "d": True, "e": False}


def test_operands_are_objects_of_the_class_or_anything(inspected):
    subject = inspected(
        """
        class C:
            def __eq__(self, other): return self is other
            def __add__(self, other: int): return self
        """
    )
    own = Hint("class", "tiny.C")
    assert hint(subject, "C.__eq__", "other") == Hint("union", args=(own, ANY))
    assert hint(subject, "C.__add__", "other") == INT
    assert {o.operator for o in subject.under_test if o.kind == "operator"} == {"__eq__", "__add__"} <= set(OPERATORS)


def test_documented_exceptions_are_declared(inspected):
    subject = inspected(
        """
        def sphinx():
            ''':raises ValueError: if bad.
            :raises tiny.KeyProblem, OSError: if worse.'''
        def google():
            '''Do.

            Raises:
                ValueError: if bad,
                    and an explanation that mentions TypeError.
                KeyError: if missing.
            '''
        def numpy():
            '''Do.

            Raises
            ------
            ValueError
                If bad.
            '''
        """
    )
    assert only(subject, "sphinx").declared == ("ValueError", "KeyProblem", "OSError")
    assert only(subject, "google").declared == ("ValueError", "KeyError")
    assert only(subject, "numpy").declared == ("ValueError",)


def test_a_class_under_test_leaves_the_rest_of_the_module_as_helpers(inspected):
    subject = inspected(
        """
        class Base:
            def inherited(self): pass
        class C(Base):
            def __init__(self, other: 'Other'): pass
            def own(self): pass
        class Other:
            def m(self): pass
        def make() -> Other: return Other()
        """,
        class_name="C",
    )
    assert names_under_test(subject) == ["constructor C", "method C.own", "method C.inherited"]
    helpers = {operation.name for operation in subject.operations if not operation.under_test}
    assert {"Other", "make"} <= helpers


def test_classes_from_elsewhere_are_built_when_a_parameter_asks_for_them(inspected):
    subject = inspected(
        """
        import datetime, decimal, re
        from other import Engine, Colour
        def f(day: datetime.date, price: decimal.Decimal, pattern: re.Pattern, engine: Engine, colour: Colour): pass
        """,
        other="""
        import enum
        class Fuel: pass
        class Engine:
            def __init__(self, fuel: Fuel): pass
        class Turbo(Engine): pass
        class Colour(enum.Enum):
            RED = 1
            BLUE = 2
        """,
    )
    helpers = {(o.kind, f"{o.module}.{o.name}") for o in subject.operations if not o.under_test}
    assert ("constructor", "datetime.date") in helpers
    assert ("constructor", "decimal.Decimal") in helpers
    assert ("function", "re.compile") in helpers
    assert ("constructor", "other.Engine") in helpers and ("constructor", "other.Fuel") in helpers
    assert subject.classes["other.Colour"].members == ("RED", "BLUE")
    assert subject.classes["re.Pattern"].name == "re.Pattern"


def test_concrete_subclasses_stand_in_for_an_abstract_class(inspected):
    subject = inspected(
        """
        import abc
        class _Shape(abc.ABC):
            @abc.abstractmethod
            def area(self): ...
        class _Square(_Shape):
            def area(self): return 1
        def f(shape: _Shape): pass
        """
    )
    assert subject.classes["tiny._Shape"].abstract
    assert "tiny._Shape" in subject.classes["tiny._Square"].bases
    assert only(subject, "_Square").kind == "constructor" and not only(subject, "_Square").under_test


def test_classes_that_have_what_a_protocol_demands_count_as_its_subclasses(inspected):
    subject = inspected(
        """
        from typing import Protocol
        class Speaker(Protocol):
            def speak(self) -> str: ...
        class Dog:
            def speak(self): return 'wuff'
        class Stone:
            def lie(self): pass
        def f(speaker: Speaker): pass
        """
    )
    assert subject.classes["tiny.Speaker"].demands == ("speak",)
    assert "tiny.Speaker" in subject.classes["tiny.Dog"].bases
    assert "tiny.Speaker" not in subject.classes["tiny.Stone"].bases


PROTOCOLS = {
    "def send(self, to: str, n: int) -> bool: ...": {"send": "callable(str, int) -> bool"},
    "def send(self, *to: str) -> None: ...": {"send": "callable(...) -> none"},
    "limit: int\n    def send(self): ...": {"limit": "int", "send": "callable() -> any"},
    "@property\n    def limit(self) -> int: ...": {"limit": "int"},
    "async def send(self) -> int: ...": None,
    "def __len__(self) -> int: ...": None,
}


def spelt(hint: Hint) -> str:
    name = hint.name.rpartition(".")[2] or hint.kind
    if hint.kind != "callable":
        return name
    *given, result = ["..." if part.kind == "ellipsis" else spelt(part) for part in hint.args]
    return f"callable({', '.join(given)}) -> {result}"


@pytest.mark.parametrize("body", PROTOCOLS)
def test_a_holder_of_the_attributes_that_a_protocol_demands_does_as_its_double(inspected, body):
    subject = inspected(
        f"from typing import Protocol\nclass Sender(Protocol):\n    {body}\ndef f(sender: Sender): pass\n"
    )
    double, expected = subject.classes["tiny.Sender"].double, PROTOCOLS[body]
    if expected is None:
        assert double is None
        return
    assert dict(zip(double.texts, map(spelt, double.args), strict=True)) == expected
    (maker,) = [one for one in subject.operations if one.name == "SimpleNamespace"]
    assert maker.returns == double and [one.name for one in maker.parameters] == list(expected)


def test_objects_at_module_level_may_be_used(inspected):
    subject = inspected("class C:\n    def m(self): pass\nDEFAULT = C()\ndef f(c: C): pass\n")
    assert subject.classes["tiny.C"].instances == ("tiny:DEFAULT",)


def test_classes_whose_objects_are_hashed_by_their_address_are_known(inspected):
    subject = inspected("""
        import dataclasses, enum

        class Plain: pass
        class Child(Plain): pass
        class Equal:
            def __eq__(self, other): return True
        class Keyed(Equal):
            def __hash__(self): return 1
        @dataclasses.dataclass(frozen=True)
        class Point:
            x: int
        class Colour(enum.Enum):
            RED = 1
        class Number(int): pass
        class Meta(type):
            def __hash__(cls): return 7
        class Made(metaclass=Meta): pass

        def f(a: Plain, b: Child, c: Equal, d: Keyed, e: Point, g: Colour, h: Number, i: Made): pass
    """)
    assert [name for name, known in subject.classes.items() if known.by_address] == [
        "tiny.Child",
        "tiny.Made",
        "tiny.Plain",
    ]


def test_a_class_bound_to_another_name_is_imported_by_that_name(inspected):
    subject = inspected("import collections\nPoint = collections.namedtuple('P', 'x y')\ndef f(p: Point): pass\n")
    assert only(subject, "Point").kind == "constructor"
    assert (subject.classes["tiny.P"].module, subject.classes["tiny.P"].qualname) == ("tiny", "Point")


def test_literals_of_examples_follow_those_of_the_source(inspected):
    subject = inspected("def f(x):\n    '''F.\n\n    >>> f('1.2.3')\n    '''\n    return x == 'latest'\n")
    assert subject.constants == ("'latest'", "'1.2.3'")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "the module defines no function and no class whose code a test could call"),
        ("X = 1\nfrom textwrap import dedent", "the module defines no function"),
        ("class C: pass", "the module defines no function"),
    ],
)
def test_a_module_without_code_of_its_own_is_refused(inspected, source, reason):
    with pytest.raises(SubjectError, match=f"'tiny' offers nothing to test: {reason}"):
        inspected(source)


def test_a_name_that_is_no_class_after_import_is_refused(inspected):
    with pytest.raises(SubjectError, match="'tiny' is not a class after the import of 'tiny'"):
        inspected("Point = 3\ndef f(): pass", class_name="Point")


def test_strange_objects_do_no_harm(inspected):
    subject = inspected(
        """
        class Meta(type):
            def __getattr__(cls, name): raise RuntimeError(name)
        class Odd(metaclass=Meta):
            __signature__ = 'no signature'
            def m(self): pass
        class Lazy:
            def __getattr__(self, name): raise RuntimeError(name)
            def __eq__(self, other): raise RuntimeError
            __hash__ = None
        lazy = Lazy()
        def f(x: lazy, y: 'lazy.attribute', z: Odd = lazy): pass
        f.__wrapped__ = None
        """
    )
    assert {"function f", "method Odd.m"} <= set(names_under_test(subject))


def test_the_same_module_is_described_in_the_same_way_twice():
    reference = locate("configparser")
    module = importlib.import_module("configparser")
    assert describe(reference, module) == describe(reference, module)


def test_stubs_fill_in_what_the_standard_library_does_not_say():
    subject = describe(locate("textwrap"), importlib.import_module("textwrap"))
    assert hint(subject, "wrap", "text") == STR
    assert only(subject, "wrap").returns == Hint("list", args=(STR,))


STANDARD = (
    "argparse",
    "base64",
    "calendar",
    "colorsys",
    "configparser",
    "contextlib",
    "csv",
    "dataclasses",
    "difflib",
    "enum",
    "graphlib",
    "heapq",
    "html.parser",
    "http.cookies",
    "ipaddress",
    "json.decoder",
    "queue",
    "random",
    "reprlib",
    "shlex",
    "statistics",
    "string",
    "textwrap",
    "tokenize",
    "urllib.parse",
    "uuid",
)


@pytest.mark.parametrize("name", every(3, STANDARD))
def test_the_standard_library_is_described(name):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"this Python has no {name}")
    subject = describe(locate(name), importlib.import_module(name))
    assert pickle.loads(pickle.dumps(subject)) == subject
    assert [operation.id for operation in subject.operations] == list(range(len(subject.operations)))
    assert any(operation.function > 0 for operation in subject.under_test)
    for operation in subject.operations:
        assert not operation.owner or operation.owner in subject.classes or "<locals>" in operation.owner
        names = [parameter.name for parameter in operation.parameters]
        assert len(set(names)) == len(names)
        if operation.needs_receiver:
            assert operation.owner
    for key, cls in subject.classes.items():
        assert cls.name == key and cls.bases[0] == key


def test_a_promised_signature_is_called_as_the_code_accepts_it(inspected):
    subject = inspected(
        """
        import inspect

        def _interface(statement: str, width: int) -> str: ...

        def mode(**interface):
            return interface["statement"]

        mode.__signature__ = inspect.signature(_interface)
        """
    )
    assert [(p.name, p.kind) for p in only(subject, "mode").parameters] == [
        ("statement", "keyword_only"),
        ("width", "keyword_only"),
    ]


def test_methods_that_change_an_argument_are_known(inspected):
    subject = inspected(
        """
        class _State:
            def __init__(self) -> None:
                self.done = False

            def finish(self) -> None:
                self.done = True

        def report(state: _State) -> str:
            return "done" if state.done else "open"
        """
    )
    finish = only(subject, "_State.finish")
    assert (finish.kind, finish.under_test) == ("method", False)


def test_keywords_that_a_stub_spells_out_are_parameters():
    subject = describe(locate("textwrap"), importlib.import_module("textwrap"))
    wrap = {p.name: (p.kind, p.hint, p.declared) for p in only(subject, "wrap").parameters}
    assert wrap["width"] == ("positional_or_keyword", INT, True)
    assert wrap["tabsize"] == ("keyword_only", INT, True)


def test_typeshed_is_read_inside_the_worker_too():
    # The worker may not start processes, and typeshed_client starts one unless it is told where to look.
    with Executor(locate("textwrap")) as executor:
        assert hint(executor.subject, "TextWrapper.wrap", "text") == STR
        assert all(p.declared for p in only(executor.subject, "dedent").parameters)


NAMESPACES = """
    import argparse


    def width(options):
        return options.columns + 1


    def height(options: argparse.Namespace):
        return options.rows * 2


    def both(options):
        return width(options), options.title.upper()
    """


def test_what_is_only_asked_for_attributes_is_a_namespace_with_these_attributes(inspected):
    made = {
        operation.parameters: f"{operation.module}.{operation.name}"
        for operation in inspected(NAMESPACES).operations
        if operation.name.endswith("Namespace") and operation.parameters
    }
    names = {tuple(parameter.name for parameter in parameters): name for parameters, name in made.items()}
    assert names == {
        ("columns",): "types.SimpleNamespace",
        ("rows",): "argparse.Namespace",
        ("columns", "title"): "types.SimpleNamespace",
    }
    assert {parameter.kind for parameters in made for parameter in parameters} == {"keyword_only"}
    assert {parameter.hint.name for parameters in made for parameter in parameters if parameter.name == "title"} == {
        "builtins.str"
    }


def test_keyword_arguments_that_are_passed_on_are_parameters(inspected):
    subject = inspected(
        """
        class Shape:
            def __init__(self, colour, *, width: int = 1):
                self.colour, self.width = colour, width

        class Circle(Shape):
            def __init__(self, radius, **options):
                super().__init__("red", **options)

        class Anything(Shape):
            def __init__(self, *args, **options):
                super().__init__(*args, **options)
        """
    )
    assert [p.name for p in only(subject, "Circle").parameters] == ["radius", "width", "options"]
    assert hint(subject, "Circle", "width") == INT
    assert [p.name for p in only(subject, "Anything").parameters] == ["colour", "width", "options"]


PACKAGE = {
    "tiny_trees": """
        class Tree:
            def __init__(self, cells):
                self.cells = list(cells)
                self.root = self.cells[0].key

            def walk(self):
                return self.cells

            @classmethod
            def from_text(cls, text): return cls(text.split())

        class Parser:
            def parse(self, text: str) -> Tree: return Tree(text)
            def pruned(self, tree: Tree) -> Tree: return tree

        def load(name: str) -> "Tree | None": return Tree([name])
        """
}


def test_functions_and_methods_annotated_to_return_a_class_build_it(inspected, monkeypatch):
    monkeypatch.setattr("fitgym.subject.introspection.inspection.Helpers", _whole_prefix)
    subject = inspected("from tiny_trees import Tree\ndef f(tree: Tree): return tree.root", **PACKAGE)
    makers = {one.name for one in subject.operations if one.returns.name == "tiny_trees.Tree"}
    assert makers == {"Tree", "Tree.from_text", "load", "Parser.parse"}
    assert {"Parser"} <= {one.name for one in subject.operations}


def _whole_prefix(package, catalogue, parameters):
    return Helpers("tiny_trees", catalogue, parameters)


def test_a_plain_object_can_replace_an_object_of_another_module(inspected):
    subject = inspected(
        """
        from tiny_trees import Tree
        def size(tree: Tree): return len(tree.root.name) + tree.root.depth * 2
        def same(tree: Tree): return tree
        def each(tree: Tree): return [cell for cell in tree if tree.root]
        def text(name: str): return name.upper()
        """,
        **PACKAGE,
    )
    doubles = {one.name: one.parameters[0].double for one in subject.operations if one.under_test}
    assert doubles["size"].texts == ("root",) and doubles["size"].args[0].args[0].texts == ("depth", "name")
    assert [name for name, double in doubles.items() if double is not None] == ["size"]
    makers = [one for one in subject.operations if one.id in subject.doubles]
    assert [[p.name for p in one.parameters] for one in makers] == [["root"]]
    assert subject.doubles <= subject.reserve


TYPED = {
    "tiny_shop": """
        from __future__ import annotations
        from dataclasses import dataclass
        from typing import Any
        @dataclass
        class Box:
            size: int
            label: str | None = None
            lid: Lid = None
            thing: Any = None
            marks: dict[str, Any] | None = None
        @dataclass(slots=True)
        class Lid:
            colour: bytes
            knobs: int = 3
        class Shop:
            def __init__(self): self.left = 3
            @property
            def boxes(self) -> list[Box]: return []
            def find(self, label: str) -> Box: return Box(1)
        """,
}


def test_a_plain_object_has_the_types_that_its_class_declares(inspected):
    subject = inspected(
        """
        from tiny_shop import Box, Shop
        def weigh(box: Box): return (box.size, box.label, box.thing.b, box.thing.c, box.lid.colour, box.lid.knobs,
            box.marks["top"])
        def count(shop: Shop): return (len(shop.boxes), shop.left, shop.find("a").size, shop.find("b").label)
        def either(box: Box | Shop): return box.size
        """,
        **TYPED,
    )
    doubles = {one.name: one.parameters[0].double for one in subject.operations if one.under_test}
    weigh, count = (dict(zip(doubles[name].texts, doubles[name].args, strict=True)) for name in ("weigh", "count"))
    assert (weigh["size"], weigh["label"]) == (INT, union([STR, NONE]))
    weigh = {name: choices(part)[0] for name, part in weigh.items()}
    assert (weigh["thing"].texts, weigh["lid"].texts, weigh["lid"].args) == (
        ("b", "c"),
        ("colour", "knobs"),
        (Hint("class", "builtins.bytes"), INT),
    )
    assert (weigh["marks"].kind, weigh["marks"].texts) == ("record", ("'top'",))
    assert count["boxes"] == Hint("list", args=(Hint("class", "tiny_shop.Box"),))
    assert count["left"] == ANY
    assert count["find"].args[:-1] == (STR,)
    assert (count["find"].args[-1].texts, count["find"].args[-1].args) == (("label", "size"), (union([STR, NONE]), INT))
    assert doubles["either"].args == (ANY,)  # which class it replaces is unknown


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [("grid_view", "tiny.GridView"), ("gridview", "tiny.GridView"), ("view", ""), ("cell", "")],
)
def test_a_parameter_without_other_evidence_has_the_class_that_it_is_named_after(inspected, parameter, expected):
    subject = inspected(f"class GridView: pass\nclass Cell: pass\nclass CELL: pass\ndef f({parameter}): pass")
    found = hint(subject, "f", parameter)
    assert (found.args[0].name if found.kind == "union" else "") == expected
