"""A value conforms to a hint if a type checker would accept it, and in case of doubt."""

import abc
import decimal
import enum
from fractions import Fraction

import pytest

from fitgym.subject.types.conformance import conforms
from fitgym.subject.types.declarations import from_annotation
from fitgym.subject.types.hints import ANY, Hint


class Own:
    pass


class Sub(Own):
    pass


class Colour(enum.Enum):
    RED = 1


class Abstract(abc.ABC):
    """Lists belong to it by registration, which no method resolution order shows."""

    @abc.abstractmethod
    def act(self): ...


class Registered:
    pass


Abstract.register(list)
Abstract.register(Registered)


class Liar(type):
    def __instancecheck__(cls, instance):
        raise AssertionError("code of the subject ran")

    @property
    def __mro__(cls):
        raise AssertionError("code of the subject ran")


class Lied(metaclass=Liar):
    def __iter__(self):
        raise AssertionError("code of the subject ran")


def hint(annotation):
    return from_annotation(annotation, globals())


YES = [
    (1, int), (True, int), (1, float), (1, complex), ("", str), (b"", bytes), (bytearray(), bytes), (None, None),
    (None, int | None), ([1, 2], list[int]), ([], list[int]), ((1, "a"), tuple[int, str]), ((1, 2, 3), tuple[int, ...]),
    ({"a": 1}, dict[str, int]), ({1}, set[int]), (Own(), Own), (Sub(), Own), (Own, type[Own]), (len, "Callable"),
    ([1], "Iterable[int]"), ("ab", "Sequence"), ({}, "Mapping"), (iter([]), "Iterator"), (object(), object), (3, object),
    (Colour.RED, Colour), ([], Abstract), (Registered(), Abstract),
    (decimal.Decimal(1), decimal.Decimal), (Fraction(1), Fraction),
]  # fmt: skip

NO = [
    ("1", int), (1.0, int), (None, int), (1, str), (b"", str), ("", bytes), (0, None), (1.5, int | None),
    ([1, "a"], list[int]), ((1, 2), list[int]), ((1, 2), tuple[int, str]), ((1,), tuple[int, str]),
    ({"a": "b"}, dict[str, int]), ([1], dict), ({1: 2}, dict[str, int]), (3, Own), ("x", Own), (None, Own),
    (Own(), int), (Own(), str), (Fraction(1), float), (Own, bytes), ([], Own), (len, Own), ((), Colour), (Own(), type[Own]), (3, "Callable"), (3, "Iterable[int]"), ([1], "Iterator"), ({1}, "Sequence"), ([1], "Mapping"),
    (["a"], "Iterable[int]"),
]  # fmt: skip


def named(annotation):
    """The hint of an annotation, or of the name of an abstract class of `typing`."""
    if isinstance(annotation, str):
        import typing

        return from_annotation(eval(annotation, vars(typing)), globals())
    return hint(annotation)


@pytest.mark.parametrize(("value", "annotation"), YES)
def test_what_a_type_checker_accepts_conforms(value, annotation):
    assert conforms(value, named(annotation))


@pytest.mark.parametrize(("value", "annotation"), NO)
def test_what_a_type_checker_refuses_does_not(value, annotation):
    assert not conforms(value, named(annotation))


@pytest.mark.parametrize("value", [1, "a", None, Own(), Lied()])
def test_in_doubt_a_value_conforms(value):
    assert conforms(value, ANY)
    assert conforms(value, Hint("protocol", "some.Protocol"))


@pytest.mark.parametrize("kind", ["class", "list", "iterable", "mapping", "callable", "sequence", "type", "union"])
def test_no_code_of_the_subject_runs(kind):
    conforms(Lied(), Hint(kind, "builtins.int" if kind == "class" else "", (Hint("class", "builtins.int"),)))


def test_iterators_are_not_consumed():
    items = iter([1, 2])
    assert conforms(items, named("Iterable[int]"))
    assert list(items) == [1, 2]
