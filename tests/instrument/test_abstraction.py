"""Partitions of values and of types."""

import enum
import gc
import math
import sys
import weakref
from array import array
from collections import Counter, OrderedDict, UserList, deque, namedtuple
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.abstraction import OBSERVERS, Places, abstract, family, partitions, place, siblings, wider
from fitgym.subject.types.hints import Hint

INT = Hint("class", "builtins.int")
STR = Hint("class", "builtins.str")
NONE = Hint("none")

Point = namedtuple("Point", "x y")


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = -1


@pytest.mark.parametrize(
    ("value", "partition", "number"),
    [
        (None, "none", 0.0),
        (True, "bool:true", 1.0),
        (False, "bool:false", 0.0),
        (-3, "int:negative", -3.0),
        (0, "int:zero", 0.0),
        (7, "int:positive", 7.0),
        (10**400, "int:positive", sys.float_info.max),
        (-(10**400), "int:negative", -sys.float_info.max),
        (-0.5, "float:negative", -0.5),
        (-0.0, "float:zero", 0.0),
        (5e-324, "float:positive", 5e-324),
        (math.inf, "float:inf", math.inf),
        (-math.inf, "float:inf", -math.inf),
        ("", "str:empty", 0.0),
        ("x", "str:non-empty", 0.0),
        (b"", "bytes:empty", 0.0),
        (bytearray(b"x"), "bytes:non-empty", 0.0),
        ([], "container:empty", 0.0),
        ((None,), "container:non-empty", 0.0),
        ({}, "container:empty", 0.0),
        ({1}, "container:non-empty", 0.0),
        (frozenset(), "container:empty", 0.0),
        (deque([1]), "container:non-empty", 0.0),
        (Counter(), "container:empty", 0.0),
        (OrderedDict(a=1), "container:non-empty", 0.0),
        (range(0), "container:empty", 0.0),
        (range(10**30), "container:non-empty", 0.0),
        ({}.keys(), "container:empty", 0.0),
        (iter([1]), "container:non-empty", 0.0),
        (Point(1, 2), "container:non-empty", 0.0),
        (Level.LOW, "int:negative", -1.0),
        (Color.RED, "object", 0.0),
        (object(), "object", 0.0),
        (int, "object", 0.0),
        (len, "object", 0.0),
        (array("q"), "object", 0.0),
    ],
)
def test_every_value_has_one_partition(value, partition, number):
    assert abstract(value)[0] == (partition, number)
    assert partition in siblings(partition)


def test_nan_is_a_partition():
    [(partition, number)] = abstract(math.nan)
    assert partition == "float:nan"
    assert math.isnan(number)


def test_observers_are_public_attributes_that_hold_bools_and_numbers():
    class Box:
        volume = 7  # of the class, not of the object

        def __init__(self):
            self.full = True
            self.size = -2
            self.weight = 1.5
            self.name = "box"
            self._hidden = 1

        @property
        def lid(self):
            raise AssertionError("code of the subject ran")

    assert abstract(Box()) == (
        ("object", 0.0),
        ("object.full:bool:true", 1.0),
        ("object.size:int:negative", -2.0),
        ("object.weight:float:positive", 1.5),
    )


def test_slots_are_read_and_empty_ones_left_out():
    @dataclass(slots=True)
    class Slotted:
        x: int
        y: int

    value = Slotted(0, 1)
    del value.y
    assert abstract(value) == (("object", 0.0), ("object.x:int:zero", 0.0))


def test_classes_are_told_apart_and_not_kept_alive():
    places = Places()
    for name in ["x", "y"] * 20:  # a class may get the place in memory of one that is gone
        kind = type("Slotted", (), {"__slots__": (name,)})
        value = kind()
        setattr(value, name, 1)
        for _ in range(2):
            assert abstract(value, places) == (("object", 0.0), (f"object.{name}:int:positive", 1.0))
        gone = weakref.ref(kind)
        del kind, value
        gc.collect()
        assert gone() is None


class Length(int):
    """A number that is no exact int."""


class Sample:
    def __init__(self, size):
        self.size = size


numbers = st.one_of(st.integers(-(1 << 1100), 1 << 1100), st.integers(-3, 3), st.floats(), st.booleans())


@given(st.one_of(numbers, st.integers(-9, 9).map(Length)))
def test_a_number_is_told_by_its_sign_whatever_its_class(number):
    ((partition, value),) = abstract(number)
    base, part = partition.split(":")
    assert base == ("bool" if type(number) is bool else "float" if type(number) is float else "int")
    if base == "bool":
        assert (part, value) == (str(number).lower(), float(number))
    elif number != number:
        assert part == "nan" and value != value
    elif number in (math.inf, -math.inf):
        assert (part, value) == ("inf", number)
    else:
        assert part == ("negative" if number < 0 else "positive" if number > 0 else "zero")
        assert value == (
            float(number) if abs(number) <= sys.float_info.max else math.copysign(sys.float_info.max, value)
        )


def test_a_class_that_was_seen_before_has_the_same_partitions():
    places = Places()
    values = [Sample(1), Length(3), UserList([1]), (1, 2), Sample(2), Length(-3), UserList([])]
    for _ in range(2):
        for value in values:
            assert abstract(value, places) == abstract(value)


def test_only_so_many_observers_are_looked_at_in_alphabetical_order():
    class Wide:
        pass

    value = Wide()
    for index in reversed(range(30)):
        setattr(value, f"a{index:02}", index)
    names = [partition for partition, _ in abstract(value)][1:]
    assert names == [f"object.a{i:02}:int:{'positive' if i else 'zero'}" for i in range(OBSERVERS)]


def test_no_code_of_the_subject_runs():
    def forbidden(*args, **kwargs):
        raise AssertionError("code of the subject ran")

    special = ["__len__", "__bool__", "__iter__", "__eq__", "__hash__", "__int__", "__float__", "__index__", "__abs__"]
    special += ["__getattribute__", "__getattr__", "__lt__", "__gt__", "__repr__", "__instancecheck__", "__dir__"]
    hostile = dict.fromkeys(special, forbidden)
    pretender = {**hostile, "__class__": property(forbidden), "__dict__": property(forbidden)}
    meta = type("Meta", (type,), {"__getattribute__": forbidden, "__instancecheck__": forbidden})
    assert abstract(type("L", (list,), hostile)([1])) == (("container:non-empty", 0.0),)
    assert abstract(type("S", (str,), hostile)()) == (("str:empty", 0.0),)
    assert abstract(type("I", (int,), hostile)(4)) == (("int:positive", 4.0),)
    assert abstract(type("F", (float,), hostile)(-4)) == (("float:negative", -4.0),)
    assert abstract(type("O", (), hostile)()) == (("object", 0.0),)
    assert abstract(type("P", (), pretender)()) == (("object", 0.0),)
    assert abstract(meta("M", (), {})()) == (("object", 0.0),)
    assert abstract(UserList([1])) == (("object", 0.0),)


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (Hint("any"), None),
        (Hint("class", "builtins.object"), None),
        (NONE, ("none",)),
        (Hint("class", "builtins.bool"), ("bool:true", "bool:false")),
        (INT, ("int:negative", "int:zero", "int:positive")),
        (STR, ("str:empty", "str:non-empty")),
        (Hint("union", args=(STR, NONE)), ("str:empty", "str:non-empty", "none")),
        (Hint("union", args=(INT, Hint("any"))), None),
        (Hint("literal", texts=("'a'", "'b'", "0")), ("str:non-empty", "int:zero")),
        (Hint("literal", texts=("Color.RED",)), ("object",)),
        (Hint("list", args=(INT,)), ("container:empty", "container:non-empty")),
        (Hint("mapping", args=(INT, INT)), ("container:empty", "container:non-empty")),
        (Hint("tuple", args=(INT, INT)), ("container:non-empty",)),
        (Hint("tuple", args=(INT, Hint("ellipsis"))), ("container:empty", "container:non-empty")),
        (Hint("tuple"), ("container:empty", "container:non-empty")),
        (Hint("class", "collections.deque"), ("container:empty", "container:non-empty")),
        (Hint("class", "m.C"), ("object",)),
        (Hint("callable", args=(INT,)), ("object",)),
        (Hint("ellipsis"), None),
    ],
)
def test_a_type_has_the_partitions_that_it_admits(hint, expected):
    assert partitions(hint) == expected


def test_float_has_five_partitions():
    assert partitions(Hint("class", "builtins.float")) == siblings("float:nan")
    assert len(siblings("float:nan")) == 5


def test_families_and_siblings():
    assert family("object.size:int:zero") == "object.size:int"
    assert siblings("object.size:int:zero")[0] == "object.size:int:negative"
    assert siblings("none") == ("none",)
    assert family("object") == "object"


@pytest.mark.parametrize(
    ("partition", "base", "expected"),
    [
        ("int:positive", "int", "int:positive"),
        ("int:positive", "float", "float:positive"),
        ("bool:true", "int", "int:positive"),
        ("bool:false", "float", "float:zero"),
        ("str:empty", "container", "container:empty"),
        ("bytes:non-empty", "object", "object"),
        ("none", "none", "none"),
    ],
)
def test_a_value_is_placed_in_a_wider_family(partition, base, expected):
    assert place(partition, base) == expected
    assert base == family(partition) or base in wider(family(partition))


plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()


@given(plain | st.lists(plain) | st.dictionaries(st.text(), plain) | st.tuples(plain, plain))
def test_placing_agrees_with_looking_at_the_converted_value(value):
    [(partition, number)] = abstract(value)
    for base in wider(family(partition)):
        assert place(partition, base) in siblings(place(partition, base))
    if isinstance(value, int) and abs(value) < 2**53:
        assert place(partition, "float") == abstract(float(value))[0][0]
        assert number == value
    if isinstance(value, bool):
        assert place(partition, "int") == abstract(int(value))[0][0]
