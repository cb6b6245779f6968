"""Output and input coverage: partitions of results and arguments of operations."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.fitness._partitions import FAMILIES
from fitgym.fitness.base import pad
from fitgym.fitness.input import Input
from fitgym.fitness.output import Output
from fitgym.instrument.abstraction import abstract
from fitgym.instrument.trace import Call, Trace
from fitgym.subject import subject as data
from fitgym.subject.types.hints import ANY, Hint

INT, FLOAT, STR = (Hint("class", f"builtins.{name}") for name in ("int", "float", "str"))
NONE = Hint("none")

COUNT, MEAN, FIND, LOOSE, VOID, NEW, HELP = range(7)


def parameter(name, hint, kind="positional_or_keyword"):
    return data.Parameter(name, kind, hint)


SUBJECT = data.Subject(
    reference=data.Reference("m", "m", "m.py"),
    source="",
    sites=(data.Site(0, "block", 0, 1),),
    functions=(data.Function(0, "<module>", 1, 1, 0),),
    branches=(),
    dependences=((),),
    operations=(
        data.Operation(COUNT, "function", "m", "count", returns=INT, parameters=(parameter("text", STR),)),
        data.Operation(
            MEAN,
            "function",
            "m",
            "mean",
            returns=FLOAT,
            parameters=(
                parameter("data", ANY),
                parameter("more", INT, "var_positional"),
                parameter("options", ANY, "var_keyword"),
            ),
        ),
        data.Operation(FIND, "method", "m", "C.find", returns=Hint("union", args=(STR, NONE))),
        data.Operation(LOOSE, "function", "m", "loose"),
        data.Operation(VOID, "method", "m", "C.close", returns=NONE),
        data.Operation(NEW, "constructor", "m", "C", owner="m.C", returns=Hint("class", "m.C")),
        data.Operation(HELP, "function", "n", "help", returns=INT, under_test=False),
    ),
    classes={},
)

# Columns of Output, by position.
DECLARED = [
    ("count", "int:negative", COUNT),
    ("count", "int:zero", COUNT),
    ("count", "int:positive", COUNT),
    *(("mean", f"float:{part}", MEAN) for part in ("negative", "zero", "positive", "nan", "inf")),
    ("C.find", "str:empty", FIND),
    ("C.find", "str:non-empty", FIND),
    ("C.find", "none", FIND),
]


def trace(*calls, **fields):
    return Trace(calls=calls, **fields)


def returned(operation, value):
    return Call(operation, True, abstract(value))


def called(operation, returns=True, **arguments):
    inputs = tuple((name, *entry) for name, value in arguments.items() for entry in abstract(value))
    return Call(operation, returns, (), inputs)


def test_declared_types_give_targets_beforehand():
    # Nothing for a result without a type, for None alone, for constructors and for what is not under test.
    assert [target.key for target in Output(SUBJECT).targets] == DECLARED


@pytest.mark.parametrize(
    ("value", "negative", "zero", "positive"),
    [
        (-3, 0, 3 / 4, 4 / 5),  # |-3| = 3 to zero, |-3| + 1 = 4 to positive
        (0, 1 / 2, 0, 1 / 2),  # 1 to either side
        (3, 4 / 5, 3 / 4, 0),
        (True, 2 / 3, 1 / 2, 0),  # counts as the int 1
        ("no int", 1, 1, 1),
        (None, 1, 1, 1),
    ],
)
def test_numbers_are_measured_to_the_other_partitions(value, negative, zero, positive):
    row = Output(SUBJECT).distances([trace(returned(COUNT, value))])[0, :3]
    assert row.tolist() == pytest.approx([negative, zero, positive])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2, [3 / 4, 2 / 3, 0, 1, 1]),  # an int where a float is declared
        (-0.5, [0, 1 / 3, 3 / 5, 1, 1]),  # 0.5 to zero, 1.5 to positive
        (float("nan"), [1, 1, 1, 0, 1]),
        (float("inf"), [1, 1, 1, 1, 0]),
        (10**400, [1, 1, 0, 1, 1]),
    ],
)
def test_floats_have_two_partitions_more(value, expected):
    assert Output(SUBJECT).distances([trace(returned(MEAN, value))])[0, 3:8].tolist() == pytest.approx(expected)


def test_the_least_distance_of_all_calls_counts():
    row = Output(SUBJECT).distances([trace(returned(COUNT, 9), returned(COUNT, -1), returned(COUNT, 2))])[0, :3]
    assert row.tolist() == [0, 0.5, 0]


def test_a_call_that_raised_or_failed_returns_nothing():
    output = Output(SUBJECT)
    failed = trace(returned(COUNT, 1), failure="crash")
    assert output.distances([trace(Call(COUNT, False)), failed]).tolist() == [[1.0] * 11] * 2


def test_a_result_without_a_type_opens_the_partitions_of_its_first_value():
    output = Output(SUBJECT)
    rows = output.distances([trace(returned(LOOSE, 4)), trace(returned(LOOSE, "")), trace(returned(LOOSE, True))])
    assert [target.key for target in output.targets[11:]] == [
        *(("loose", f"int:{part}", LOOSE) for part in ("negative", "zero", "positive")),
        *(("loose", f"str:{part}", LOOSE) for part in ("empty", "non-empty")),
        *(("loose", f"bool:{part}", LOOSE) for part in ("true", "false")),
    ]
    assert rows[:, 11:].tolist() == pytest.approx(
        np.array([[5 / 6, 4 / 5, 0, 1, 1, 1, 1], [1, 1, 1, 0, 1, 1, 1], [1, 1, 1, 1, 1, 0, 1]])
    )


def test_a_value_against_its_annotation_is_a_target_of_its_own():
    output = Output(SUBJECT)
    output.distances([trace(returned(COUNT, None))])
    assert [target.key for target in output.targets[11:]] == [("count", "none", COUNT)]
    # A narrower value fits, and a function that is declared to return None may do so.
    output.distances([trace(returned(MEAN, 1), returned(VOID, None))])
    assert len(output.targets) == 12


def test_attributes_of_results_become_targets():
    class Box:
        def __init__(self):
            self.size = 2

    output = Output(SUBJECT)
    row = output.distances([trace(returned(LOOSE, Box()))])[0]
    assert [target.key[1] for target in output.targets[11:]] == [
        "object",
        "object.size:int:negative",
        "object.size:int:zero",
        "object.size:int:positive",
    ]
    assert row[11:].tolist() == pytest.approx([0, 3 / 4, 2 / 3, 0])


def test_only_so_many_families_are_opened():
    output = Output(SUBJECT)
    calls = [Call(LOOSE, True, ((f"object.a{i}:bool:true", 1.0),)) for i in range(FAMILIES + 5)]
    rows = output.distances([trace(*calls)])
    assert rows.shape == (1, 11 + 2 * FAMILIES)
    assert output.distances([trace(calls[-1])]).tolist() == [[1.0] * rows.shape[1]]


def test_results_of_constructors_and_helpers_are_not_looked_at():
    output = Output(SUBJECT)
    assert output.distances([trace(returned(NEW, object()), returned(HELP, 1))]).tolist() == [[1.0] * 11]


def test_a_hash_is_no_behaviour():
    hashing = data.Operation(0, "operator", "m", "C.__hash__", owner="m.C", returns=INT, operator="__hash__")
    assert Output(dataclasses.replace(SUBJECT, operations=(hashing,))).targets == []


def test_input_looks_at_the_arguments_even_of_calls_that_raised():
    fitness = Input(SUBJECT)
    assert [target.key for target in fitness.targets] == [
        ("count", "text", "str:empty", COUNT),
        ("count", "text", "str:non-empty", COUNT),
        *(("mean", "more", f"int:{part}", MEAN) for part in ("negative", "zero", "positive")),
    ]
    rows = fitness.distances([trace(called(COUNT, text="")), trace(called(COUNT, returns=False, text="x"))])
    assert rows[:, :2].tolist() == [[0, 1], [1, 0]]


def test_parameters_without_a_type_open_targets():
    fitness = Input(SUBJECT)
    row = fitness.distances([trace(called(MEAN, data=[]), called(HELP, x=1))])[0]
    assert [target.key[1:3] for target in fitness.targets[5:]] == [
        ("data", "container:empty"),
        ("data", "container:non-empty"),
    ]
    assert row.tolist() == [1, 1, 1, 1, 1, 0, 1]


def test_all_items_of_args_and_kwargs_count_for_their_parameter():
    fitness = Input(SUBJECT)
    items = Call(MEAN, True, (), (("more", "int:negative", -1.0), ("more", "int:zero", 0.0)))
    row = fitness.distances([trace(items, called(MEAN, width=True, height=False))])[0]
    assert row[2:5].tolist() == [0, 0, 0.5]
    assert [target.key[1:3] for target in fitness.targets[5:]] == [("options", "bool:true"), ("options", "bool:false")]
    assert row[5:].tolist() == [0, 0]


def test_an_argument_that_no_parameter_takes_is_ignored():
    fitness = Input(SUBJECT)
    assert fitness.distances([trace(called(COUNT, returns=False, wrong="x"))]).tolist() == [[1.0] * 5]


def test_a_suite_is_worth_the_mean_of_the_least_distances():
    output = Output(SUBJECT)
    rows = output.distances([trace(returned(COUNT, 3)), trace(returned(COUNT, 1), returned(FIND, "x"))])
    # count: 2/3, 1/2, 0; mean: 5; find: 1, 0, 1.
    assert output.visits([]) is None
    assert output.of_suite(rows, raw=True) == pytest.approx(2 / 3 + 1 / 2 + 7)
    assert output.of_suite(rows) == pytest.approx((2 / 3 + 1 / 2 + 7) / 11)


values = st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=2) | st.lists(st.none())


@given(st.lists(st.lists(st.tuples(st.sampled_from([COUNT, MEAN, FIND, LOOSE, VOID]), values), max_size=4), max_size=5))
def test_padded_rows_equal_rows_measured_again(suite):
    output = Output(SUBJECT)
    traces = [trace(*(returned(operation, value) for operation, value in calls)) for calls in suite]
    early = [output.distances([one])[0] for one in traces]
    assert [pad(row, output.n_columns).tolist() for row in early] == output.distances(traces).tolist()


@given(st.integers() | st.floats())
def test_a_number_covers_exactly_one_partition(value):
    row = Output(SUBJECT).distances([trace(returned(MEAN, value))])[0, 3:8]
    assert (row == 0).sum() == 1
    assert np.isfinite(row).all() and (row <= 1).all()


def test_a_pickle_knows_the_targets_found_so_far():
    output = Output(SUBJECT)
    output.distances([trace(returned(LOOSE, 4))])
    copy = pickle.loads(pickle.dumps(output))
    assert copy.targets == output.targets
    assert copy.distances([trace(returned(LOOSE, ""))]).shape == (1, 16)
    assert len(output.targets) == 14
