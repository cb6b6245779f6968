"""Values: constants, their mutation, and expressions for every kind of hint."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import math
import numbers
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from subject_by_hand import BOOL, CART, COLOR, FLOAT, INT, NONE, STR, VERSION, build, operation_named

from fitgym.subject.code.affixes import Affixes
from fitgym.subject.subject import SET_INPUT, Operation, Parameter
from fitgym.subject.types.hints import ANY, Hint, union
from fitgym.testcase.arguments.literals import Literals, _letters, _normal
from fitgym.testcase.arguments.mixture import ANY_KINDS
from fitgym.testcase.constants import KINDS, canonical, kind_of_text, text_of
from fitgym.testcase.draft import Draft
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref, refs
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.knowledge import kind_of
from fitgym.testcase.rates import Rates
from fitgym.testcase.statement import Statement, StatementTable
from fitgym.testcase.subtyping import fits

SUBJECT = build(patterns=())
BY_ADDRESS = build(
    patterns=(),
    classes={
        name: replace(known, by_address="Cart" in name or "Sized" in name) for name, known in SUBJECT.classes.items()
    },
)
SEEDS = st.integers(0, 2**32 - 1)
ELLIPSIS = Hint("ellipsis")


def factory(**rates: Any) -> TestFactory:
    return TestFactory(SUBJECT, StatementTable(), Rates(**rates))


def value(hint: Hint, seed: int, **rates: Any) -> tuple[Expression, Draft]:
    draft = Draft()
    return factory(**rates).calls.values.of(hint, draft, np.random.default_rng(seed), 0), draft


def evaluated(text: str) -> Any:
    return eval(text, {"__builtins__": {"float": float}})


# Literals


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.complex_numbers(allow_nan=False, allow_infinity=False),
        st.text(),
        st.binary(),
    )
)
def test_the_text_of_a_constant_evaluates_to_it(constant: Any) -> None:
    text = text_of(constant)
    back = evaluated(text)
    assert type(back) is type(constant)
    if isinstance(constant, complex):  # literals cannot hold their negative zeros
        assert back == constant
    else:
        assert repr(back) == repr(constant)  # tells nan from numbers and -0.0 from 0.0
    assert kind_of_text(text) == {"NoneType": "none"}.get(type(constant).__name__, type(constant).__name__)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('"it"', "'it'"),
        ("0x1F", "31"),
        ("1e3", "1000.0"),
        ("r'\\d'", "'\\\\d'"),
        ("'a' 'b'", "'ab'"),
        ("-1", "-1"),
        ('float("nan")', 'float("nan")'),
        ("...", "..."),
        ("[1]", None),
        ("name", None),
        ("f()", None),
        ("'" + "x" * 2000 + "'", None),
        ("1" * 900 + "e", None),
        ("", None),
        ("'", None),
        ("''", "''"),
        ("'it\\'s'", '"it\'s"'),
        ("'a' or 'b'", None),
        ('"a"', "'a'"),
        ("007", None),
        ("0", "0"),
        ("٣", None),  # a decimal digit, but no number of Python's grammar
    ],
)
def test_a_constant_has_one_text_however_it_was_written(written: str, text: str | None) -> None:
    assert canonical(written) == text


@given(st.sampled_from(KINDS), SEEDS)
def test_drawn_and_changed_constants_are_of_their_kind(kind: str, seed: int) -> None:
    literals, rng = Literals(SUBJECT.constants, ()), np.random.default_rng(seed)
    text = literals.of_kind(kind, rng)
    for _ in range(10):
        assert kind_of_text(text) == kind
        assert text_of(literals.value(text)) == text
        assert kind_of_text(text_of(evaluated(text))) == kind
        text = literals.perturbed(text, rng)


def draws(literals: Literals, kind: str, count: int = 400) -> list[Any]:
    rng = np.random.default_rng(0)
    return [literals.value(literals.of_kind(kind, rng)) for _ in range(count)]


def test_integers_come_from_the_source_and_from_next_to_it() -> None:
    drawn = draws(Literals(["5000"], []), "int")
    assert {4999, 5000, 5001} <= set(drawn)
    assert {0, 1, -1} <= set(drawn)


def test_strings_come_from_the_source_whole_in_pieces_and_joined() -> None:
    drawn = draws(Literals(["'needle'", "'hay'"], []), "str")
    assert {"needle", "hay", ""} <= set(drawn)
    assert any(text and text != "needle" and text in "needle" for text in drawn)
    assert any(re.fullmatch(r"needle.?hay|hay.?needle", text, re.DOTALL) for text in drawn)


def test_the_larger_random_integers_are_normal_with_the_given_scale() -> None:
    rng = np.random.default_rng(0)
    numbers = np.array([_normal(rng) for _ in range(4000)])
    assert abs(numbers.mean()) < 0.06  # 4 standard errors
    assert abs(numbers.std() - 1.0) < 0.05
    assert 0.66 < (np.abs(numbers) < 1.0).mean() < 0.71  # 0.683


def test_without_small_numbers_all_have_the_large_scale() -> None:
    for kind in ("int", "float"):
        drawn = np.array(draws(Literals([], [], Rates(max_int=10_000, small_numbers=0.0)), kind, 1000), float)
        assert np.isfinite(drawn).all()
        assert 0.62 < (np.abs(drawn) < 10_000).mean() < 0.75  # within one deviation: 0.683
        assert (np.abs(drawn) < 10).mean() < 0.01


@pytest.mark.parametrize("length", range(8))
def test_letters_are_as_many_as_wanted_and_each_as_likely(length: int) -> None:
    rng = np.random.default_rng(0)
    texts = [_letters(length, rng) for _ in range(2000)]
    assert {len(text) for text in texts} == {length}
    for place in range(length):
        counts = [sum(text[place] == letter for text in texts) for letter in "abcdefghijklmnopqrstuvwxyz"]
        assert 40 < min(counts) <= max(counts) < 120  # 77 expected


def test_without_a_pool_no_constant_of_the_source_is_drawn() -> None:
    assert "needle" not in draws(Literals(["'needle'"], [], Rates(static_pool=0.0)), "str")


def test_strings_match_the_expressions_of_the_source_or_nearly_do() -> None:
    drawn = draws(Literals([], [r"\d{3}-\d{4}"]), "str")
    matching = [text for text in drawn if re.fullmatch(r"\d{3}-\d{4}", text)]
    assert len(matching) > 20


def test_floats_include_the_extremes_rarely() -> None:
    drawn = draws(Literals([], []), "float", 4000)
    strange = [number for number in drawn if not math.isfinite(number)]
    assert 0 < len(strange) < 400
    assert any(math.isnan(number) for number in drawn)


def test_operands_seen_at_comparisons_are_drawn_and_the_oldest_are_forgotten() -> None:
    literals = Literals([], [], Rates(dynamic_size=2))
    literals.learn(["'old'"])
    literals.learn(["'new'", "'newer'", "not a literal", "[1, 2]"])
    drawn = draws(literals, "str")
    assert {"new", "newer"} <= set(drawn)
    assert "old" not in drawn


@given(
    st.lists(st.lists(st.sampled_from(["1", "2", "0x1", "'a'", "'b'", '"a"', "1.5", "b'x'", "nonsense"])), max_size=5)
)
def test_learning_in_pieces_is_learning_at_once_and_keeps_the_newest(pieces: list[list[str]]) -> None:
    literals, expected = Literals([], [], Rates(dynamic_size=3)), []
    for piece in pieces:
        literals.learn(piece)
        for text in filter(None, map(canonical, piece)):
            if text not in expected:
                expected = [*expected, text][-3:]
    at_once = Literals([], [], Rates(dynamic_size=3))
    at_once.learn(expected)
    first, second = np.random.default_rng(0), np.random.default_rng(0)
    for kind in KINDS * 8:
        assert literals.of_kind(kind, first) == at_once.of_kind(kind, second)


def test_half_of_the_pool_draws_are_dynamic_where_both_pools_have_something() -> None:
    literals = Literals(["111111"], [], Rates(static_pool=1.0))
    literals.learn(["222222"])
    drawn = draws(literals, "int", 1000)
    assert 400 < sum(abs(number - 222222) < 2 for number in drawn) < 600


def test_an_integer_moves_by_at_most_twenty_when_it_moves() -> None:
    literals = Literals([], [], Rates(random_perturbation=0.0))
    rng = np.random.default_rng(0)
    changes = [int(literals.perturbed("1000", rng)) for _ in range(300)]
    steps = [change - 1000 for change in changes]
    assert sum(0 < abs(step) <= 20 for step in steps) > 150
    assert -2000 in steps  # the sign
    assert any(change in (10000, 100) for change in changes)  # a digit more or less


def test_strings_are_lengthened_to_limits_that_the_source_names() -> None:
    drawn = draws(Literals(["320", "'ab'"], [], Rates(static_pool=1.0)), "str", 2000)
    assert any(len(text) in (322, 323, 321) for text in drawn)
    assert "abab" in drawn


def test_a_string_never_grows_beyond_the_limit() -> None:
    literals, rng = Literals([repr("x" * 900)], []), np.random.default_rng(0)
    text = literals.of_kind("str", rng)
    for _ in range(300):
        text = literals.perturbed(text, rng)
        assert len(str(literals.value(text))) <= 1000


# Expressions for hints


def shape(kind: str) -> Callable[[Expression], bool]:
    return lambda expression: isinstance(expression, Collection) and expression.kind == kind


def literal(*kinds: str) -> Callable[[Expression], bool]:
    return lambda expression: isinstance(expression, Literal) and kind_of_text(expression.text) in kinds


def name(*qualnames: str) -> Callable[[Expression], bool]:
    return lambda expression: isinstance(expression, Name) and expression.qualname in qualnames


HINTS = [
    (INT, literal("int")),
    (STR, literal("str")),
    (FLOAT, literal("float")),
    (BOOL, literal("bool")),
    (NONE, literal("none")),
    (Hint("class", "builtins.bytes"), literal("bytes")),
    (Hint("class", "builtins.complex"), literal("complex")),
    (Hint("class", "numbers.Integral"), literal("int")),
    (Hint("literal", texts=("'r'", '"w"', "1")), lambda e: e in (Literal("'r'"), Literal("'w'"), Literal("1"))),
    (Hint("list", args=(INT,)), lambda e: shape("list")(e) and all(map(literal("int"), e.items))),
    (Hint("class", "builtins.dict"), shape("dict")),
    (
        Hint("dict", args=(STR, INT)),
        lambda e: all(map(literal("str"), e.items[::2])) and all(map(literal("int"), e.items[1::2])),
    ),
    (Hint("set", args=(STR,)), lambda e: shape("set")(e) and len(set(e.items)) == len(e.items)),
    (Hint("frozenset", args=(STR,)), shape("frozenset")),
    (Hint("iterator", args=(INT,)), shape("iter")),
    (Hint("tuple", args=(INT, STR)), lambda e: literal("int")(e.items[0]) and literal("str")(e.items[1])),
    (Hint("tuple", args=(INT, ELLIPSIS)), lambda e: shape("tuple")(e) and all(map(literal("int"), e.items))),
    (Hint("tuple", args=()), shape("tuple")),
    (Hint("union", args=(INT, STR, NONE)), literal("int", "str", "none")),
    (COLOR, name("Color.RED", "Color.BLUE")),
    (Hint("type", args=(VERSION,)), name("Version")),
    (Hint("type", args=(INT,)), name("int")),
    (Hint("type"), lambda e: isinstance(e, Name)),
    (
        Hint("callable", args=(INT, INT)),
        lambda e: (
            isinstance(e, Name)
            or (isinstance(e, Lambda) and e.arity == 1 and (e.body == Ref(-1) or literal("int")(e.body)))
        ),
    ),
    (Hint("callable", args=(ELLIPSIS, STR)), lambda e: isinstance(e, Name | Lambda)),
    (Hint("sequence", args=(INT,)), lambda e: shape("list")(e) or shape("tuple")(e)),
    (Hint("protocol", texts=("upper", "encode")), literal("str")),
]


@pytest.mark.parametrize(("hint", "meets"), HINTS, ids=[repr(hint) for hint, _ in HINTS])
def test_a_value_is_what_its_hint_asks_for(hint: Hint, meets: Callable[[Expression], bool]) -> None:
    for seed in range(60):
        expression, _ = value(hint, seed)
        assert meets(expression), expression


def test_none_is_passed_with_its_published_probability_where_it_is_allowed() -> None:
    optional = Hint("union", args=(INT, NONE))
    nones = sum(value(optional, seed)[0] == Literal("None") for seed in range(600))
    assert 30 < nones < 100  # 60 expected


def test_objects_are_built_by_statements_before() -> None:
    for seed in range(40):
        expression, draft = value(CART, seed)
        assert isinstance(expression, Ref)
        assert SUBJECT.operations[draft[expression.position].operation].name == "Cart"


def test_existing_instances_are_used_as_they_are() -> None:
    assert Name("shop", "DEFAULT") in [value(VERSION, seed)[0] for seed in range(40)]


def test_existing_objects_are_used_again_with_the_given_probability() -> None:
    rng, values = np.random.default_rng(0), factory(object_reuse=0.9).calls.values
    draft = Draft()
    values.of(CART, draft, rng, 0)
    before = len(draft)
    again = sum(isinstance(values.of(CART, Draft(draft), rng, 0), Ref) for _ in range(50))
    assert again == 50
    grown = 0
    for _ in range(300):
        copy = Draft(draft)
        values.of(CART, copy, rng, 0)
        grown += len(copy) > before
    assert 10 < grown < 60  # 30 expected


def test_a_class_that_cannot_be_built_still_gets_a_value() -> None:
    for seed in range(40):
        expression, _ = value(Hint("class", "elsewhere.Unknown"), seed)
        assert expression is not None


def test_what_sets_the_environment_is_no_argument() -> None:
    parameters = (Parameter("text", "positional_only", STR),)
    setting = Operation(len(SUBJECT.operations), "function", *SET_INPUT, parameters=parameters)
    calls = TestFactory(replace(SUBJECT, operations=(*SUBJECT.operations, setting)), StatementTable()).calls
    hint, rng = Hint("callable"), np.random.default_rng(0)
    drawn = [calls.values.of(hint, Draft(), rng, 0) for _ in range(300)]
    assert any(isinstance(one, Name) for one in drawn)
    assert Name(*SET_INPUT) not in drawn


def test_an_argument_outside_its_annotation_is_rare_and_can_be_switched_off() -> None:
    operation = operation_named(SUBJECT, "Version.parse")
    for rate, least, most in ((0.0, 0, 0), (0.05, 5, 60), (1.0, 300, 600)):
        values, rng = factory(ill_typed=rate).calls.values, np.random.default_rng(1)
        place = values.place(operation, operation.parameters[0])
        drawn = [values.argument(place, Draft(), rng, 0) for _ in range(600)]
        assert least <= sum(not literal("str")(one) for one in drawn) <= most


def test_one_of_several_words_is_never_changed_to_another() -> None:
    words = Hint("literal", texts=("'left'", "'right'"))
    values, rng = factory().calls.values, np.random.default_rng(1)
    for hint in (words, union([words, NONE]), union([NONE, words])):
        changed = {values.changed(Literal("'left'"), hint, Draft(), rng) for _ in range(100)}
        assert changed <= {Literal("'left'"), Literal("'right'"), Literal("None")}
        assert len(changed) > 1


def test_helpers_are_always_called_with_what_they_ask_for() -> None:
    operation = operation_named(SUBJECT, "Cart.Item")
    values, rng = factory(ill_typed=1.0).calls.values, np.random.default_rng(1)
    place = values.place(operation, operation.parameters[0])
    assert all(literal("str")(values.argument(place, Draft(), rng, 0)) for _ in range(50))


@given(st.sampled_from([hint for hint, _ in HINTS] + [ANY, CART, VERSION]), SEEDS)
def test_values_and_their_changes_refer_to_the_draft_only(hint: Hint, seed: int) -> None:
    values, rng, draft = factory().calls.values, np.random.default_rng(seed), Draft()
    expression = values.of(hint, draft, rng, 0)
    for _ in range(8):
        assert all(index < len(draft) for index in refs(expression))
        assert_hashable(expression)
        expression = values.changed(expression, hint, draft, rng)


def assert_hashable(expression: Expression) -> None:
    """Whatever must be hashable in Python is, by construction."""
    if not isinstance(expression, Collection):
        return
    keyed = {"set": expression.items, "frozenset": expression.items, "dict": expression.items[::2]}
    for item in keyed.get(expression.kind, ()):
        assert not (isinstance(item, Collection) and item.kind in ("list", "dict", "set", "iter")), expression
    for item in expression.items:
        assert_hashable(item)


NAN = Literal('float("nan")')
TEXT, NUMBER = Literal("'a'"), Literal("1")
RED, INT_CLASS = Name("shop", "Color.RED"), Name("builtins", "int")
A_CART, A_VERSION, DEFAULT = Ref(0), Ref(1), Name("shop", "DEFAULT")


@pytest.mark.parametrize(
    ("items", "kept"),
    [
        ([TEXT, NUMBER, Literal("1.0")], [TEXT, NUMBER]),
        ([TEXT, A_CART], [TEXT]),
        ([A_CART], [A_CART]),
        ([A_CART, Lambda(0, NUMBER), INT_CLASS], [A_CART]),
        ([A_CART, A_VERSION, DEFAULT, RED], [A_VERSION, DEFAULT, RED]),
        ([Collection("tuple", (TEXT, Collection("tuple", (A_CART,)))), TEXT], [TEXT]),
        ([Collection("tuple", (TEXT, A_VERSION)), TEXT], [Collection("tuple", (TEXT, A_VERSION)), TEXT]),
        ([INT_CLASS, TEXT, Lambda(1, NUMBER), NAN], [TEXT]),
        ([], []),
    ],
)
def test_what_is_hashed_by_its_address_is_in_a_set_by_itself_only(
    items: list[Expression], kept: list[Expression]
) -> None:
    made = TestFactory(BY_ADDRESS, StatementTable())
    draft = Draft([Statement(operation_named(BY_ADDRESS, name).id) for name in ("Cart", "Version.parse")])
    assert made.calls.values.forms.of_set(items, draft) == kept


@given(st.sampled_from([Hint("set"), Hint("set", args=(CART,)), Hint("frozenset", args=(ANY,)), ANY]), SEEDS)
def test_no_set_mixes_addresses_with_anything_else(hint: Hint, seed: int) -> None:
    values, rng = TestFactory(BY_ADDRESS, StatementTable()).calls.values, np.random.default_rng(seed)
    expression = values.of(hint, draft := Draft(), rng, 0)
    for _ in range(8):
        for found in inside(expression):
            if isinstance(found, Collection) and found.kind in ("set", "frozenset") and len(found.items) > 1:
                assert values.forms.of_set(found.items, draft) == list(found.items)
        expression = values.changed(expression, hint, draft, rng)


def inside(expression: Expression) -> list[Expression]:
    """The expression and all that it is made of."""
    items = expression.items if isinstance(expression, Collection) else ()
    return [expression, *(part for item in items for part in inside(item))]


def test_containers_lose_gain_and_change_elements() -> None:
    values, rng = factory().calls.values, np.random.default_rng(0)
    start = Collection("list", (Literal("1"), Literal("2")))
    changes = [values.changed(start, Hint("list", args=(INT,)), Draft(), rng) for _ in range(60)]
    sizes = {len(change.items) for change in changes if isinstance(change, Collection)}
    assert sizes == {1, 2, 3}


def test_sets_and_dictionaries_never_hold_equal_keys() -> None:
    values, rng = factory().calls.values, np.random.default_rng(0)
    bits = Hint("literal", texts=("1", "True", "1.0", "0.0", "-0.0", "0"))
    for hint in (Hint("set", args=(bits,)), Hint("frozenset", args=(bits,)), Hint("dict", args=(bits, INT))):
        expression = values.of(hint, Draft(), rng, 0)
        for _ in range(60):
            assert isinstance(expression, Collection)
            keys = expression.items[::2] if expression.kind == "dict" else expression.items
            assert len({evaluated(key.text) for key in keys if isinstance(key, Literal)}) == len(keys)
            expression = values.changed(expression, hint, Draft(), rng)


def test_a_tuple_of_fixed_length_keeps_it() -> None:
    values, rng = factory().calls.values, np.random.default_rng(0)
    hint = Hint("tuple", args=(INT, STR))
    expression: Expression = Collection("tuple", (Literal("1"), Literal("'a'")))
    for _ in range(30):
        expression = values.changed(expression, hint, Draft(), rng)
        assert isinstance(expression, Collection)
        assert len(expression.items) == 2


# Subtyping


@pytest.mark.parametrize(
    ("given_", "wanted", "answer"),
    [
        (INT, INT, True),
        (BOOL, INT, True),
        (INT, FLOAT, True),
        (FLOAT, INT, False),
        (INT, ANY, True),
        (ANY, INT, False),
        (NONE, ANY, False),
        (INT, Hint("union", args=(STR, INT)), True),
        (Hint("union", args=(INT, NONE)), INT, True),
        (Hint("union", args=(INT, STR)), INT, False),
        (Hint("list", args=(INT,)), Hint("iterable", args=(INT,)), True),
        (Hint("list", args=(INT,)), Hint("iterable", args=(STR,)), False),
        (Hint("list", args=(ANY,)), Hint("sequence", args=(STR,)), True),
        (Hint("class", "builtins.list"), Hint("list", args=(INT,)), True),
        (Hint("iterable", args=(INT,)), Hint("list", args=(INT,)), False),
        (VERSION, VERSION, True),
        (VERSION, CART, False),
        (VERSION, Hint("class", "builtins.object"), True),
        (COLOR, Hint("class", "enum.Enum"), True),
        (VERSION, INT, False),
        (INT, VERSION, False),
    ],
)
def test_what_can_stand_where_something_is_wanted(given_: Hint, wanted: Hint, answer: bool) -> None:
    assert fits(given_, wanted, SUBJECT.classes) is answer


# Pieces of strings, repetitions, kinds of classes


def test_strings_are_put_together_from_the_pieces_that_the_subject_looks_for() -> None:
    pieces = Affixes(("from ",), (")",), (" import ",))
    drawn = draws(Literals([], [], Rates(assembled_rate=1.0), affixes=pieces), "str", 2000)
    assert any(re.fullmatch(r"from \w+ import \w+", text) for text in drawn)
    assert any(re.fullmatch(r"\w+ import \w+\)", text) for text in drawn)


def test_a_change_can_add_the_start_that_the_subject_looks_for() -> None:
    literals, rng = Literals([], [], affixes=Affixes(("from ",))), np.random.default_rng(0)
    assert "'from abc'" in {literals.perturbed("'abc'", rng) for _ in range(300)}


def test_bytes_of_the_source_are_text_too() -> None:
    assert ";base64" in draws(Literals(["b';base64'"], []), "str", 500)
    assert Literals(["b'raw'", "'key'"], []).keywords == ["key"]


def test_containers_hold_equal_items_now_and_then() -> None:
    wide = Hint("list", args=(FLOAT,))
    made = [value(wide, seed)[0] for seed in range(200)]
    repeated = [one for one in made if isinstance(one, Collection) and len(set(one.items)) < len(one.items)]
    assert 10 < len(repeated) < 150


def test_where_nothing_was_promised_a_list_may_come_as_an_iterator() -> None:
    operation = replace(operation_named(SUBJECT, "Cart.add"), under_test=True)
    kinds: dict[bool, set[str]] = {True: set(), False: set()}
    rng, values = np.random.default_rng(0), factory(ill_typed=0.0, accepted_rate=0.0).calls.values
    for declared in kinds:
        parameter = Parameter("x", "positional_or_keyword", Hint("list", args=(INT,)), True, declared)
        for _ in range(200):
            made = values.argument(values.place(operation, parameter), Draft(), rng, 0)
            kinds[declared].add(made.kind if isinstance(made, Collection) else "")
    assert kinds == {True: {"list"}, False: {"list", "iter"}}


def test_an_attribute_of_a_stand_in_is_no_iterator_where_its_class_has_a_list() -> None:
    parts = Parameter("parts", "keyword_only", Hint("list", args=(INT,)))
    stand_in = replace(operation_named(SUBJECT, "Cart.add"), owner="types.SimpleNamespace", kind="constructor")
    rng, values = np.random.default_rng(0), factory(ill_typed=0.0, accepted_rate=0.0).calls.values
    place = values.place(stand_in, parts)
    made = [values.argument(place, Draft(), rng, 0) for _ in range(200)]
    assert {one.kind for one in made if isinstance(one, Collection)} == {"list"}


def test_any_class_can_be_one_of_every_kind() -> None:
    made = {one for seed in range(400) if isinstance(one := value(Hint("type", args=(ANY,)), seed)[0], Name)}
    classes = [getattr(importlib.import_module(one.module), one.qualname) for one in made if one.module != "shop"]
    assert any(dataclasses.is_dataclass(cls) for cls in classes)
    assert any(issubclass(cls, enum.Enum) for cls in classes)
    assert any(inspect.isabstract(cls) or cls is numbers.Number for cls in classes)


def test_anything_is_of_every_kind() -> None:
    # The rarest one has a share of 0.01 of 1.10: that it does not come in 2000 draws has a chance of 1e-8.
    forms = factory().calls.values.forms
    rng = np.random.default_rng(0)
    made = {kind_of(forms.anything(Draft(), rng, 0)) for _ in range(2000)}
    assert made >= {*ANY_KINDS} - {"object"}  # which is seen as the result of a constructor


def test_or_anything_is_the_less_likely_part_of_a_union() -> None:
    hint = Hint("union", args=(Hint("list", args=(INT,)), ANY))
    made = [value(hint, seed)[0] for seed in range(400)]
    lists = sum(isinstance(one, Collection) and one.kind == "list" for one in made)
    assert 280 < lists < 380


@given(SEEDS)
def test_a_record_has_some_of_its_keys_in_order_each_with_a_value_of_its_own_kind(seed):
    hint = Hint("record", "", (INT, STR), ("'n'", "'s'"))
    expression, _ = value(hint, seed, primitive_reuse=0.0)
    assert isinstance(expression, Collection) and expression.kind == "dict"
    made = evaluated(text_of_items(expression))
    assert list(made) in ([], ["n"], ["s"], ["n", "s"])
    assert isinstance(made.get("n", 0), int) and isinstance(made.get("s", ""), str)


def text_of_items(expression: Collection) -> str:
    texts = [item.text for item in expression.items if isinstance(item, Literal)]
    return "{" + ", ".join(f"{key}: {one}" for key, one in zip(texts[::2], texts[1::2], strict=True)) + "}"


def test_half_of_all_records_are_complete_and_more_by_chance():
    hint = Hint("record", "", (INT, INT, INT), ("'a'", "'b'", "'c'"))
    complete = sum(len(value(hint, seed)[0].items) == 6 for seed in range(400))
    assert abs(complete / 400 - (0.5 + 0.5 * 0.7**3)) < 0.08


def test_a_record_stands_for_any_dict_and_a_namespace_only_for_one_with_the_same_attributes():
    record, mapping = Hint("record", "", (INT,), ("'a'",)), Hint("dict", args=(STR, INT))
    assert fits(record, mapping, {}) and fits(mapping, record, {}) and not fits(record, STR, {})
    one, other = (Hint("class", "types.SimpleNamespace", (INT,), (name,)) for name in "ab")
    assert fits(one, one, {}) and not fits(one, other, {}) and not fits(Hint("class", one.name), one, {})
    assert fits(one, Hint("class", one.name), {})
