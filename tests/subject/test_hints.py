"""Hints: types from annotations, defaults and values."""

import collections
import collections.abc
import enum
import io
import typing
from typing import Annotated, Any, AnyStr, Literal, NewType, Protocol, TypedDict, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.subject.types.declarations import from_annotation, from_default
from fitgym.subject.types.hints import ANY, NONE, Hint, name_of, of_value, union

INT, STR, FLOAT, BYTES, BOOL = (Hint("class", f"builtins.{name}") for name in ("int", "str", "float", "bytes", "bool"))
ELLIPSIS = Hint("ellipsis")
Bound = TypeVar("Bound", bound=int)
Free = TypeVar("Free")
UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = 1


class Movie(TypedDict):
    title: str
    year: int


class Sized(Protocol):
    def size(self) -> int: ...


class Node:
    pass


@pytest.mark.parametrize(
    ("annotation", "hint"),
    [
        (int, INT),
        (None, NONE),
        (Any, ANY),
        (object, ANY),
        (list, Hint("list", args=(ANY,))),
        (list[int], Hint("list", args=(INT,))),
        (typing.List[int], Hint("list", args=(INT,))),  # noqa: UP006
        (dict[str, int], Hint("dict", args=(STR, INT))),
        (tuple[int, str], Hint("tuple", args=(INT, STR))),
        (tuple[int, ...], Hint("tuple", args=(INT, ELLIPSIS))),
        (tuple[()], Hint("tuple")),
        (tuple, Hint("tuple", args=(ANY, ELLIPSIS))),
        (set[str], Hint("set", args=(STR,))),
        (collections.abc.Iterable[int], Hint("iterable", args=(INT,))),
        (collections.abc.Generator[int, None, None], Hint("iterator", args=(INT,))),
        (collections.abc.Sequence[str], Hint("sequence", args=(STR,))),
        (collections.abc.Mapping[str, int], Hint("mapping", args=(STR, INT))),
        (collections.abc.MutableMapping[str, int], Hint("dict", args=(STR, INT))),
        (collections.deque[int], Hint("class", "collections.deque")),
        (int | None, Hint("union", args=(INT, NONE))),
        (typing.Optional[int], Hint("union", args=(INT, NONE))),  # noqa: UP045
        (typing.Union[int, str, int], Hint("union", args=(INT, STR))),  # noqa: UP007
        (Literal["a", 1], Hint("literal", texts=("'a'", "1"))),
        (Literal["a", None], Hint("union", args=(Hint("literal", texts=("'a'",)), NONE))),
        (type[int], Hint("type", args=(INT,))),
        (typing.Callable, Hint("callable", args=(ELLIPSIS, ANY))),
        (typing.Callable[..., int], Hint("callable", args=(ELLIPSIS, INT))),
        (typing.Callable[[int, str], bool], Hint("callable", args=(INT, STR, BOOL))),
        (collections.abc.Callable[[int, str], bool], Hint("callable", args=(INT, STR, BOOL))),
        (collections.abc.Callable[[], bool], Hint("callable", args=(BOOL,))),
        (collections.abc.Callable[..., bool], Hint("callable", args=(ELLIPSIS, BOOL))),
        (Annotated[int, "metres"], INT),
        (typing.Final[int], INT),
        (typing.ClassVar[int], INT),
        (Bound, INT),
        (Free, ANY),
        (AnyStr, Hint("union", args=(BYTES, STR))),
        (UserId, INT),
        (Movie, Hint("dict", args=(Hint("literal", texts=("'title'", "'year'")), Hint("union", args=(STR, INT))))),
        (Sized, Hint("protocol", f"{__name__}.Sized")),
        (Color, Hint("class", f"{__name__}.Color")),
        (typing.SupportsInt, Hint("union", args=(INT, FLOAT))),
        (typing.TextIO, Hint("class", "io.StringIO")),
        (typing.IO[bytes], Hint("class", "io.BytesIO")),
        (typing.NoReturn, ANY),
        (typing.TypeGuard[int], BOOL),
        (3, ANY),
        (..., ANY),
        ([int], ANY),
    ],
)
def test_an_annotation_is_read(annotation, hint):
    assert from_annotation(annotation, {}) == hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("int", INT),
        ("None", NONE),
        ("int | None", Hint("union", args=(INT, NONE))),
        ("Optional['int']", Hint("union", args=(INT, NONE))),
        ("dict[str, list[Unknown]]", Hint("dict", args=(STR, Hint("list", args=(ANY,))))),
        ("int | Unknown", Hint("union", args=(INT, ANY))),
        ("Unknown[int]", ANY),
        ("Unknown.inner", ANY),
        ("Callable[[int], str]", Hint("callable", args=(INT, STR))),
        ("Callable[..., Any]", Hint("callable", args=(ELLIPSIS, ANY))),
        ("tuple[int, ...]", Hint("tuple", args=(INT, ELLIPSIS))),
        ("Literal['a', -1]", Hint("literal", texts=("'a'", "-1"))),
        ("Annotated[int, Unknown(3)]", INT),
        ("collections.abc.Iterable[int]", Hint("iterable", args=(INT,))),
        ("Node", Hint("class", f"{__name__}.Node")),
        ("not valid ((", ANY),
        ("", ANY),
        ("...", ANY),
        ("__import__('os').abort()", ANY),
    ],
)
def test_text_is_read_name_by_name_and_never_evaluated(text, hint):
    assert from_annotation(text, globals()) == hint


def test_self_means_the_class_that_owns_the_method():
    assert from_annotation(typing.Self, {}, Node) == Hint("class", f"{__name__}.Node")
    assert from_annotation("Self", {}, Node) == Hint("class", f"{__name__}.Node")
    assert from_annotation(typing.Self, {}) == ANY


def test_an_alias_that_contains_itself_ends():
    space: dict[str, Any] = {"List": list}
    space["Tree"] = "List[Tree]"
    hint = from_annotation("Tree", space)
    assert hint.kind in ("list", "any")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "Later[int]",
            Hint("union", args=(Hint("callable", args=(Hint("list", args=(INT,)),)), Hint("list", args=(INT,)))),
        ),
        ("Later", Hint("union", args=(Hint("callable", args=(Hint("list", args=(ANY,)),)), Hint("list", args=(ANY,))))),
        ("Pairs[str, int]", Hint("mapping", args=(STR, Hint("list", args=(INT,))))),
        (
            "Pairs[str, Pairs[int, str]]",
            Hint("mapping", args=(STR, Hint("list", args=(Hint("mapping", args=(INT, Hint("list", args=(STR,)))),)))),
        ),
        ("typing.List[int]", Hint("list", args=(INT,))),
    ],
)
def test_the_variables_of_a_generic_alias_are_replaced(text, hint):
    key = TypeVar("key")
    later = collections.abc.Callable[[], list[Free]] | list[Free]
    space = {"Later": later, "Pairs": collections.abc.Mapping[key, list[Free]], "typing": typing}
    assert from_annotation(text, space) == hint


@pytest.mark.skipif(not hasattr(typing, "TypeAliasType"), reason="the type statement needs Python 3.12")
def test_a_type_statement_is_followed():
    space: dict[str, Any] = {}
    exec("type Pair[T] = tuple[T, T]\ntype Number = int | float", space)
    assert from_annotation(space["Number"], {}) == Hint("union", args=(INT, FLOAT))
    assert from_annotation(space["Pair"][int], {}) == Hint("tuple", args=(INT, INT))
    assert from_annotation("Pair[int]", space) == Hint("tuple", args=(INT, INT))


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (None, ANY),
        (object(), ANY),
        (True, BOOL),
        (0, INT),
        ("", STR),
        (1.5, FLOAT),
        ((), Hint("tuple", args=(ANY, ELLIPSIS))),
        ((1, 2), Hint("tuple", args=(INT, ELLIPSIS))),
        ([], Hint("list", args=(ANY,))),
        (len, Hint("callable", args=(ELLIPSIS, ANY))),
        (ValueError, Hint("type", args=(Hint("class", "builtins.ValueError"),))),
        (Color.RED, Hint("class", f"{__name__}.Color")),
    ],
)
def test_a_default_says_its_type_and_none_says_nothing(value, hint):
    assert from_default(value) == hint


def test_a_class_as_default_may_be_a_class_or_a_factory():
    assert from_default(dict) == Hint("union", args=(Hint("type", args=(ANY,)), Hint("callable", args=(ELLIPSIS, ANY))))


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (None, NONE),
        (True, BOOL),
        ([1, "a", 2], Hint("list", args=(Hint("union", args=(INT, STR)),))),
        ([], Hint("list", args=(ANY,))),
        ((1, "a"), Hint("tuple", args=(INT, STR))),
        ({"a": [1.0]}, Hint("dict", args=(STR, Hint("list", args=(FLOAT,))))),
        (frozenset({1}), Hint("frozenset", args=(INT,))),
        (Node(), Hint("class", f"{__name__}.Node")),
        (Node, Hint("type", args=(Hint("class", f"{__name__}.Node"),))),
        (collections.OrderedDict(), Hint("class", "collections.OrderedDict")),
        (io.StringIO(), Hint("class", "io.StringIO")),
        (len, Hint("callable", args=(ELLIPSIS, ANY))),
        (map(str, []), Hint("iterator", args=(ANY,))),
    ],
)
def test_a_value_is_described_by_its_type(value, hint):
    assert of_value(value) == hint


def test_an_iterator_is_not_advanced():
    values = iter([1, 2])
    of_value(values)
    assert list(values) == [1, 2]


def test_a_container_of_the_subject_is_not_looked_into():
    class Trap(list):
        def __iter__(self):
            raise AssertionError("code of the subject ran")

    assert of_value(Trap([1])).kind == "class"


def test_a_value_that_contains_itself_ends():
    value: list[Any] = []
    value.append(value)
    assert of_value(value).kind == "list"


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (int, "builtins.int"),
        (io.StringIO, "io.StringIO"),
        (type(__import__("sys")), "types.ModuleType"),
        (type(None), "types.NoneType"),
        (__import__("pathlib").Path, "pathlib.Path"),
        (collections.OrderedDict, "collections.OrderedDict"),
    ],
)
def test_a_class_is_named_where_a_test_can_import_it(cls, name):
    assert name_of(cls) == name


simple = st.sampled_from([INT, STR, FLOAT, NONE, Hint("list", args=(INT,))])


@given(
    st.lists(simple | st.lists(simple, min_size=2, max_size=3, unique=True).map(lambda p: Hint("union", args=tuple(p))))
)
def test_a_union_is_flat_and_without_repetition(parts):
    whole = union(parts)
    options = whole.args if whole.kind == "union" else (whole,)
    assert all(option.kind != "union" for option in options)
    assert len(set(options)) == len(options)
    assert union([whole]) == whole


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.text(), x),
        max_leaves=5,
    )
)
def test_every_plain_value_has_a_hint_of_its_own_kind(value):
    expected = {type(None): "none", list: "list", dict: "dict"}.get(type(value), "class")
    assert of_value(value).kind == expected
