"""Assertable facts about a value, found without running code of the subject."""

from __future__ import annotations

import collections
import csv
import dataclasses
import datetime
import decimal
import enum
import json
import math
import os
import pickle
import sys
import tempfile
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.determinism.fleeting import is_fleeting
from fitgym.messages.observation import (
    FEW_FACTS,
    MAX_FACTS,
    NOT_RUN,
    Observation,
    Observed,
    agreement,
    describe,
    observe,
)
from fitgym.messages.reflection import name_of
from fitgym.testcase.expression import Collection, Literal, Name, Ref

HOME = "observed_subject"


@pytest.fixture
def subject(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A loaded module whose classes defend themselves against being looked at."""
    module = types.ModuleType(HOME)
    monkeypatch.setitem(sys.modules, HOME, module)
    exec(
        compile(
            """
import enum, collections, dataclasses

class Color(enum.Enum):
    RED = 1
    GREEN = 2

class Text(str):
    pass

class Point(collections.namedtuple("Point", "x y")):
    pass

@dataclasses.dataclass
class Account:
    owner: str
    balance: float
    _secret: int = 3

class Slotted:
    __slots__ = ("name", "unset", "_hidden")
    def __init__(self):
        self.name = "n"
        self._hidden = 1

class Hostile:
    def __init__(self):
        self.__dict__["kept"] = 7
        self.__dict__["shadowed"] = 8
    def boom(self, *args):
        raise SystemExit("code of the subject ran")
    __repr__ = __str__ = __eq__ = __hash__ = __len__ = __iter__ = __bool__ = __getattr__ = __setattr__ = boom
    __format__ = __contains__ = __getitem__ = __lt__ = __call__ = __index__ = __dir__ = boom
    shadowed = property(boom)
    computed = property(boom)

class Watched(Hostile):
    def __init__(self):
        object.__getattribute__(self, "__dict__")["kept"] = 7
    __getattribute__ = Hostile.boom

class Liar:
    @property
    def __class__(self):
        raise SystemExit("code of the subject ran")
    @property
    def __dict__(self):
        raise SystemExit("code of the subject ran")

class Meta(type):
    def boom(cls, *args):
        raise SystemExit("code of the subject ran")
    __getattribute__ = __repr__ = __eq__ = __instancecheck__ = __subclasscheck__ = boom
    __hash__ = type.__hash__

class Made(metaclass=Meta):
    def __init__(self):
        self.size = 2

class Bag(list):
    pass

class Own(list):
    def __getitem__(self, index):
        raise SystemExit("code of the subject ran")

class Odd(list):
    def __len__(self):
        raise SystemExit("code of the subject ran")

class Outer:
    class Inner(Exception):
        pass

KEPT = Made()
_HIDDEN = Made()

def local_class():
    class Local(KeyError):
        pass
    return Local

def plain():
    pass
""",
            HOME,
            "exec",
        ),
        vars(module),
    )
    return module


def facts(value: object) -> list[tuple[str, str, str]]:
    """The facts about a value as `(path, kind, text)`."""
    return [(fact.path, fact.kind, text(fact.expression)) for fact in describe(value, 0, home=HOME)]


def label(value: object) -> str:
    """A name for a test, the same in every process: sets have no order, and an address is another one each time."""
    named = (
        not callable(value) and type(value).__repr__ is not object.__repr__ and not isinstance(value, set | frozenset)
    )
    return ascii(value)[:30] if named else type(value).__name__


def text(expression: Any) -> str:
    if isinstance(expression, Collection):
        return f"{expression.kind}({', '.join(map(text, expression.items))})"
    if isinstance(expression, Name):
        return f"{expression.module}:{expression.qualname}"
    return str(expression.text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, [("", "is", "None")]),
        (True, [("", "is", "True")]),
        (0, [("", "equal", "0")]),
        (-7, [("", "equal", "-7")]),
        ("", [("", "equal", "''")]),
        ("naïve\n", [("", "equal", "'naïve\\n'")]),
        (b"\x00a", [("", "equal", "b'\\x00a'")]),
        (bytearray(b"a"), [("", "equal", "b'a'")]),
        (0.5, [("", "approx", "0.5")]),
        (-0.0, [("", "approx", "-0.0")]),
        (1e300, [("", "approx", "1e+300")]),
        (999.0, [("", "approx", "999.0")]),
        (-922406400.0, [("", "equal", "-922406400.0")]),
        (922406400.5, [("", "approx", "922406400.5")]),
        ([1000.0, 2], [("", "equal", "list(1000.0, 2)")]),
        ([1000.0, 0.5], [("", "approx", "list(1000.0, 0.5)")]),
        (math.nan, [("", "nan", 'float("nan")')]),
        (-math.inf, [("", "equal", 'float("-inf")')]),
        (1 + 2j, [("", "approx", "(1+2j)")]),
        ([], [("", "equal", "list()")]),
        ((1, "a", None), [("", "equal", "tuple(1, 'a', None)")]),
        ({"a": [1, {2}]}, [("", "equal", "dict('a', list(1, set(2)))")]),
        (frozenset({3}), [("", "equal", "frozenset(3)")]),
        ({"b", "a", "c"}, [("", "equal", "set('a', 'b', 'c')")]),
        ([0.5, 1], [("", "approx", "list(0.5, 1)")]),
        ({"a": 0.5}, [("", "approx", "dict('a', 0.5)")]),
        ([math.inf], [("", "equal", 'list(float("inf"))')]),
        ([True, 0.5], [("", "length", "2"), ("[0]", "is", "True"), ("[1]", "approx", "0.5")]),
        ({"k": math.nan}, [("", "list", "list('k')"), ("['k']", "nan", 'float("nan")')]),
        ({"k": print, None: []}, [("", "list", "list('k', None)"), ("['k']", "is", "builtins:print")]),
        ({0.5: print}, [("", "length", "1")]),
        (NotImplemented, [("", "is", "builtins:NotImplemented")]),
        ([[0.5], 1], [("", "length", "2"), ("[0]", "approx", "list(0.5)"), ("[1]", "equal", "1")]),
        ({0.5}, [("", "length", "1")]),
        ([[[[1]]]], [("", "length", "1"), ("[0]", "equal", "list(list(list(1)))")]),
        (
            list(range(13)),
            [("", "length", "13"), ("[0]", "equal", "0"), ("[1]", "equal", "1"), ("[-1]", "equal", "12")],
        ),
        (set(range(13)), [("", "length", "13")]),
        ("x" * 200 + "y", [("", "equal", repr("x" * 200 + "y"))]),
        ("x" * 498, [("", "equal", repr("x" * 498))]),
        (
            "x" * 498 + "y",
            [("[:40]", "equal", repr("x" * 40)), ("[-40:]", "equal", repr("x" * 39 + "y")), ("", "length", "499")],
        ),
        ("x" * 201 + "0x7f1234567890", [("", "length", "215")]),
        (b"x" * 201, [("", "length", "201")]),
        (collections.OrderedDict(a=1).items(), [("", "list", "list(tuple('a', 1))")]),
        (collections.Counter("aa"), [("", "equal", "dict('a', 2)")]),
        (collections.deque([1]), [("", "list", "list(1)")]),
        ({"a": 1}.keys(), [("", "list", "list('a')")]),
        (range(2), [("", "list", "list(0, 1)")]),
        (range(10**9), [("", "length", "1000000000")]),
        (decimal.Decimal("1.50"), [("", "text", "'1.50'")]),
        (datetime.date(1999, 1, 2), [("", "text", "'1999-01-02'")]),
        (ValueError, [("", "is", "builtins:ValueError")]),
        (math.sin, [("", "is", "math:sin")]),
        (ValueError("x"), [("", "text", "'x'"), ("", "isinstance", "builtins:ValueError")]),
        (KeyError("x"), [("", "text", "\"'x'\""), ("", "isinstance", "builtins:KeyError")]),
        (ValueError(3), [("", "isinstance", "builtins:ValueError")]),
        (ValueError("at 0x7f1234567890"), [("", "isinstance", "builtins:ValueError")]),
        (object(), []),
        (lambda: None, []),
    ],
    ids=label,
)
def test_a_value_gives_the_facts_a_test_can_assert(value: object, expected: list[tuple[str, str, str]]) -> None:
    assert facts(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        object(),
        repr(object()),
        [repr(object())],
        hex(id(object())),
        id(object()),
        time.time(),
        int(time.time()),
        time.time_ns(),
        time.localtime().tm_year,
        time.strftime("%Y-%m-%d"),
        time.ctime(),
        str({"left", "right"}),
        str(frozenset({b"left", b"right"})),
        tempfile.gettempdir() + "/a",
        os.getcwd() + "/a",
        10**400,
        (character for character in "abc"),
        iter([1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_differs_the_next_time_gives_no_equality(value: object) -> None:
    assert [fact for fact in facts(value) if fact[1] not in ("length", "isinstance")] == []


def test_a_file_that_comes_with_a_package_has_another_name_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["", "/opt/packages", 7])
    assert facts("/opt/packages/books/cover.png") == []
    assert facts("/opt/books/cover.png") == [("", "equal", "'/opt/books/cover.png'")]


def test_an_object_of_today_is_known_by_its_class_only() -> None:
    assert facts(datetime.datetime.now()) == [("", "isinstance", "datetime:datetime")]


def test_iterators_are_not_consumed() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    generator, iterator = numbers(), iter([1])
    describe(generator, 0)
    describe([iterator, generator], 0)
    assert (list(generator), list(iterator)) == ([1], [1])


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        ("Color.RED", [("", "is", f"{HOME}:Color.RED")]),
        ("[Color.RED]", [("", "equal", f"list({HOME}:Color.RED)")]),
        ("Text('a')", [("", "isinstance", f"{HOME}:Text")]),
        ("Point(1, 0.5)", [(".x", "equal", "1"), (".y", "approx", "0.5")]),
        ("Account('me', 2.0)", [(".owner", "equal", "'me'"), (".balance", "approx", "2.0")]),
        ("Slotted()", [(".name", "equal", "'n'")]),
        ("Hostile()", [(".kept", "equal", "7")]),
        ("[Hostile()]", [("", "length", "1"), ("[0].kept", "equal", "7")]),
        ("Watched()", [("", "isinstance", f"{HOME}:Watched")]),
        ("Liar()", [("", "isinstance", f"{HOME}:Liar")]),
        ("Made()", [(".size", "equal", "2")]),
        ("Made", [("", "is", f"{HOME}:Made")]),
        ("Bag([1, 2])", [("", "equal", "list(1, 2)")]),
        ("Bag([0.5, None])", [("", "length", "2"), ("[0]", "approx", "0.5"), ("[1]", "is", "None")]),
        ("Own([1, 2])", [("", "length", "2")]),
        ("Odd([1])", [("", "isinstance", f"{HOME}:Odd")]),
        ("plain", [("", "is", f"{HOME}:plain")]),
        ("local_class()", [(".__name__", "equal", "'Local'")]),
        ("local_class()()", [("", "isinstance", "builtins:KeyError")]),
        ("Outer.Inner()", [("", "isinstance", f"{HOME}:Outer.Inner")]),
    ],
)
def test_objects_are_read_without_running_their_code(
    subject: types.ModuleType, make: str, expected: list[tuple[str, str, str]]
) -> None:
    assert facts(eval(make, vars(subject))) == expected


OPTIONS = {f"option_{number}": None for number in range(20)} | {"option_7": "Q", "option_9": False, "option_15": [3]}


def test_of_a_large_dict_the_items_with_content_come_first_and_its_length_last() -> None:
    found = facts(OPTIONS)
    assert found[:2] == [("['option_7']", "equal", "'Q'"), ("['option_15']", "equal", "list(3)")]
    assert {fact[1] for fact in found[2:-1]} == {"is"} and found[-1] == ("", "length", "20") and len(found) == FEW_FACTS
    assert facts(types.SimpleNamespace(**OPTIONS))[:2] == [
        (".option_7", "equal", "'Q'"),
        (".option_15", "equal", "list(3)"),
    ]
    assert facts({"few": {}} | dict.fromkeys("abc"))[0][1] == "equal"


def test_objects_in_objects_are_read_one_level_deep() -> None:
    inner = types.SimpleNamespace(number=1)
    middle = types.SimpleNamespace(inner=inner, word="w")
    assert facts(types.SimpleNamespace(middle=middle, top=0)) == [
        (".top", "equal", "0"),
        (".middle.word", "equal", "'w'"),
    ]


def test_an_empty_container_of_a_class_of_its_own_has_no_content_either() -> None:
    class Names(set):  # type: ignore[type-arg]
        def __bool__(self) -> bool:
            raise AssertionError("it runs no code of the class")

    empty = {f"a{number}": Names() for number in range(20)}
    found = facts(types.SimpleNamespace(**empty, used=Names({"b"}), last=0))
    assert found[0][0] == ".used"


def test_what_an_object_keeps_in_a_list_is_read_after_its_other_attributes() -> None:
    items = [types.SimpleNamespace(number=1), types.SimpleNamespace(number=2)]
    assert facts(types.SimpleNamespace(items=items, last="z")) == [
        (".items", "length", "2"),
        (".last", "equal", "'z'"),
        (".items[0].number", "equal", "1"),
        (".items[1].number", "equal", "2"),
    ]
    many = [types.SimpleNamespace(**{f"a{i}": i for i in range(40)})] * 2
    assert len(facts(types.SimpleNamespace(items=many))) == FEW_FACTS


def test_an_object_in_an_object_is_told_by_the_statement_that_returned_it() -> None:
    wheel, word = types.SimpleNamespace(size=3), "word"
    car = types.SimpleNamespace(wheel=wheel, pair=(wheel, 3), wheels=[wheel, types.SimpleNamespace(size=4)], name=word)
    car.itself = car
    found = [fact for fact in observe([car, word, wheel]).observations if fact.position == 0]
    assert [(fact.path, fact.kind, fact.expression) for fact in found] == [
        (".wheel", "is", Ref(2)),
        (".pair", "equal", Collection("tuple", (Ref(2), Literal("3")))),
        (".wheels", "length", Literal("2")),
        (".wheels[0]", "is", Ref(2)),
        (".name", "equal", Literal("'word'")),
        (".wheels[1].size", "equal", Literal("4")),
    ]


def test_a_list_of_results_in_an_object_is_told_as_a_whole() -> None:
    first, second = types.SimpleNamespace(size=1), types.SimpleNamespace(size=2)
    shelf = types.SimpleNamespace(items=[second, first, "a"])
    found = [fact for fact in observe([first, second, shelf]).observations if fact.position == 2]
    assert found == [Observation(2, ".items", "equal", Collection("list", (Ref(1), Ref(0), Literal("'a'"))))]
    shelf.items[2] = shelf
    found = [fact for fact in observe([first, second, shelf]).observations if fact.position == 2]
    assert [(fact.path, fact.kind) for fact in found] == [
        (".items", "length"),
        (".items[0]", "is"),
        (".items[1]", "is"),
    ]


def test_an_object_that_a_module_keeps_is_told_by_its_name(subject: types.ModuleType) -> None:
    assert facts(subject.KEPT) == [("", "is", f"{HOME}:KEPT"), (".size", "equal", "2")]
    assert facts((subject.KEPT, 3)) == [("", "equal", f"tuple({HOME}:KEPT, 3)")]
    assert facts([subject._HIDDEN]) == [("", "length", "1"), ("[0].size", "equal", "2")]


def test_the_number_of_facts_about_a_value_is_limited() -> None:
    assert len(facts(types.SimpleNamespace(**{f"a{i}": i for i in range(60)}))) == MAX_FACTS


@pytest.mark.parametrize(
    ("thing", "home", "expected"),
    [
        (ValueError, "", Name("builtins", "ValueError")),
        (json.JSONDecodeError, "", Name("json.decoder", "JSONDecodeError")),
        (json.JSONDecodeError, "json", Name("json", "JSONDecodeError")),
        (csv.Error, "", Name("csv", "Error")),  # its own module is `_csv`
        (type(iter([])), "", None),
        (json.dumps, "", Name("json", "dumps")),
        (collections.OrderedDict.fromkeys, "", None),
    ],
)
def test_a_name_is_given_only_if_it_leads_to_the_thing(thing: object, home: str, expected: Name | None) -> None:
    assert name_of(thing, home) == expected


class Pair(NamedTuple):
    left: int
    right: int


def test_the_state_after_the_last_statement_is_described_once_per_object() -> None:
    shared: list[int] = [1]
    observed = observe([shared, 5, shared, 5, None])
    assert [(fact.position, fact.kind, fact.expression) for fact in observed.observations] == [
        (0, "equal", Collection("list", (Literal("1"),))),
        (1, "equal", Literal("5")),
        (2, "is", Ref(0)),
        (3, "equal", Literal("5")),
        (4, "is", Literal("None")),
    ]
    assert (observed.raises, observed.position) == ((), -1)


def test_an_exception_is_known_by_its_importable_classes(subject: types.ModuleType) -> None:
    local = subject.local_class()
    observed = observe([1, NOT_RUN, NOT_RUN], local("k"), home=HOME)
    assert [name.qualname for name in observed.raises] == ["KeyError", "LookupError", "Exception", "BaseException"]
    assert observed.position == 1


def test_agreement_keeps_what_all_executions_saw() -> None:
    same = Observation(0, "", "equal", Literal("1"))
    first = Observed((same, Observation(1, "", "equal", Literal("2"))))
    second = Observed((same, Observation(1, "", "equal", Literal("3"))))
    assert agreement([first, second]) == Observed((same,))


def test_executions_that_ended_differently_do_not_agree() -> None:
    assert agreement([Observed(), Observed(raises=(Name("builtins", "ValueError"),), position=0)]) is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_facts_are_true_and_survive_the_pipe(value: Any) -> None:
    for fact in describe(value, 3):
        assert fact.position == 3
        assert pickle.loads(pickle.dumps(fact)) == fact
        seen = eval("value" + fact.path, {"value": value})
        assert holds(fact, seen)


def holds(fact: Observation, seen: Any) -> bool:
    expected = value_of(fact.expression)
    if fact.kind == "nan":
        return math.isnan(seen)
    if fact.kind == "length":
        return len(seen) == expected
    if fact.kind == "list":
        return bool(list(seen) == expected)
    if fact.kind == "approx":
        return bool(seen == pytest.approx(expected))
    return bool(seen is expected) if fact.kind == "is" else bool(seen == expected and type(seen) is type(expected))


def value_of(expression: Any) -> Any:
    if isinstance(expression, Collection):
        items = [value_of(item) for item in expression.items]
        return dict(zip(items[::2], items[1::2], strict=True)) if expression.kind == "dict" else items
    return eval(expression.text)


def test_dataclass_facts_come_in_the_order_of_the_fields() -> None:
    made = dataclasses.make_dataclass("Made", ["b", "a"])
    assert [path for path, _, _ in facts(made(1, 2))] == [".b", ".a"]


def test_a_member_of_a_flag_without_a_name_is_known_by_its_class() -> None:
    assert facts(enum.Flag("Local", "A B")(3)) == [("", "isinstance", "enum:Flag")]


def test_named_tuples_are_read_by_field() -> None:
    assert facts(Pair(1, 2)) == [(".left", "equal", "1"), (".right", "equal", "2")]


def test_paths_outside_this_machine_are_told_by_their_text() -> None:
    assert facts(Path("a/b")) == [("", "text", "'a/b'")]


@pytest.mark.parametrize(
    ("literal", "fleeting"),
    [
        ("7", False),
        ("-7", False),
        ("1e9", False),
        ("1j", False),
        ("9" * 5000, False),
        (str(time.localtime().tm_year), False),  # a program may well know a year
        ("'2001-01-01'", False),
        ("'text'", False),
        (str(int(time.time())), True),
        (repr(time.time()), True),
        (str(time.time_ns()), True),
        (str(id(object())), True),
        (str(1 << 47), True),  # what stands in for an address while a search runs
        ("1700000000.5", True),  # and for the time
        (repr(repr(object())), True),
        (repr(time.strftime("%Y-%m-%d")), True),
        (repr(time.ctime().encode()), True),
    ],
    ids=lambda value: type(value).__name__,  # texts of the time would be others in each process
)
def test_a_literal_that_will_be_different_the_next_time_is_known(literal: str, fleeting: bool) -> None:
    assert is_fleeting(literal) == fleeting
