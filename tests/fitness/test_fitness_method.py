"""Method criteria and the exception count: the targets that a trace's calls cover."""

import pickle

import numpy as np
import pytest
from trace_by_hand import trace_by_hand

from fitgym.fitness.base import pad
from fitgym.fitness.exception import ExceptionCount
from fitgym.fitness.method import Method
from fitgym.fitness.method_no_exception import MethodNoException
from fitgym.fitness.top_level_method import TopLevelMethod
from fitgym.instrument.trace import Call, Raised
from fitgym.subject import subject as data

# Functions: module, f, C.m and a private one. Operations: f, C() whose constructor is generated, C.m, and one that
# only helps to build arguments.
F, NEW, M, OTHER = range(4)
SUBJECT = data.Subject(
    reference=data.Reference("m", "m", "m.py"),
    source="",
    sites=tuple(data.Site(i, "block", i, i + 1) for i in range(4)),
    functions=tuple(data.Function(i, name, i + 1, i + 1, i) for i, name in enumerate(["<module>", "f", "C.m", "_g"])),
    branches=(),
    dependences=((), (), (), ()),
    operations=(
        data.Operation(F, "function", "m", "f", function=1),
        data.Operation(NEW, "constructor", "m", "C", owner="m.C"),
        data.Operation(M, "method", "m", "C.m", owner="m.C", function=2),
        data.Operation(OTHER, "constructor", "n", "D", owner="n.D", under_test=False),
    ),
    classes={},
)


def trace(*calls, entered=(), **fields):
    """A trace of (operation, returned) calls that entered the named functions."""
    counts = [int(function in entered) for function in range(4)]
    made = tuple(Call(operation, returned) for operation, returned in calls)
    return trace_by_hand(counts, calls=made, **fields)


def raised(function=1, counted=True, kind="implicit", name="ValueError"):
    return Raised(name, function, F, 0, kind, counted)


TABLE = [
    # what the trace did, covered by method, top level, no exception (f, C, C.m)
    ("nothing", trace(), "---", "---", "---"),
    ("all return", trace((F, True), (NEW, True), (M, True), entered=(1, 2)), "fCm", "fCm", "fCm"),
    ("f calls C.m", trace((F, True), entered=(1, 2)), "f-m", "f--", "f--"),
    ("f raises", trace((NEW, True), (F, False), entered=(1,), raised=raised()), "fC-", "fC-", "-C-"),
    ("f cannot be called so", trace((F, False), raised=raised(-1, False)), "---", "---", "---"),
    ("C cannot be called so", trace((NEW, False), raised=raised(-1, False)), "---", "---", "---"),
    ("f raises for a wrong type", trace((F, False), entered=(1,), raised=raised(1, False)), "f--", "f--", "---"),
    ("only help", trace((OTHER, True)), "---", "---", "---"),
    ("time-out", trace((F, True), (NEW, True), entered=(1,), failure="timeout"), "---", "---", "---"),
]


@pytest.mark.parametrize(("what", "executed", "method", "top_level", "no_exception"), TABLE)
def test_operations_covered(what, executed, method, top_level, no_exception):
    for kind, expected in ((Method, method), (TopLevelMethod, top_level), (MethodNoException, no_exception)):
        row = kind(SUBJECT).distances([executed])[0]
        assert row.tolist() == [float(letter == "-") for letter in expected], kind.__name__


@pytest.mark.parametrize("kind", [Method, TopLevelMethod, MethodNoException])
def test_targets_are_the_operations_under_test(kind):
    fitness = kind(SUBJECT)
    assert [t.key for t in fitness.targets] == [("f", "function", F), ("C", "constructor", NEW), ("C.m", "method", M)]
    assert {t.kind for t in fitness.targets} == {fitness.kind}


def test_a_suite_is_worth_the_share_of_operations_it_misses():
    fitness = MethodNoException(SUBJECT)
    rows = fitness.distances([trace((F, True)), trace((NEW, True))])
    assert fitness.of_suite(rows) == pytest.approx(1 / 3)
    assert fitness.of_suite(rows, raw=True) == 1.0
    assert fitness.of_suite(rows, open_targets=np.array([True, True, False])) == 0.0


# ------------------------------------------------------------------ exceptions


def failing(*args, **options):
    return trace((F, False), entered=(1,), raised=raised(*args, **options))


def test_exceptions_become_targets_in_order_of_first_appearance():
    fitness = ExceptionCount(SUBJECT)
    rows = fitness.distances(
        [failing(name="KeyError"), trace((F, True)), failing(2, kind="explicit"), failing(name="KeyError")]
    )
    assert [target.key for target in fitness.targets] == [("KeyError", "f", 1), ("ValueError", "C.m", 2)]
    assert fitness.kinds == ["implicit", "explicit"]
    assert rows.tolist() == [[0, 1], [1, 1], [1, 0], [0, 1]]


def test_class_and_innermost_function_tell_exceptions_apart_but_not_the_kind():
    fitness = ExceptionCount(SUBJECT)
    fitness.distances([failing(1), failing(2), failing(2, name="KeyError"), failing(2, kind="declared")])
    assert len(fitness.targets) == 3


def test_uncounted_exceptions_and_failures_are_no_targets():
    fitness = ExceptionCount(SUBJECT)
    failed = trace((F, False), raised=raised(), failure="memory")
    assert fitness.distances([failing(counted=False), failed]).shape == (2, 0)


def test_rows_measured_early_are_padded_to_what_measuring_again_gives():
    fitness = ExceptionCount(SUBJECT)
    executed = [failing(), failing(2), failing(name="KeyError")]
    early = [fitness.distances([one])[0] for one in executed]
    assert [len(row) for row in early] == [1, 2, 3]
    assert [pad(row, fitness.n_columns).tolist() for row in early] == fitness.distances(executed).tolist()


def test_a_suite_is_worth_one_over_one_more_than_its_distinct_exceptions():
    fitness = ExceptionCount(SUBJECT)
    rows = fitness.distances([failing(), failing(), failing(2), trace((F, True))])
    assert fitness.of_suite(rows) == pytest.approx(1 / 3)
    assert fitness.of_suite(rows[3:]) == 1.0
    assert fitness.of_suite(fitness.distances([])) == 1.0
    # Rows of the time before the second exception was known.
    assert fitness.of_suite(np.array([[0.0]])) == 0.5


def test_archived_exceptions_still_count_unless_the_released_code_is_asked_for():
    closed = np.array([False, False])
    for constant, expected in ((False, 1 / 3), (True, 0.0)):
        fitness = ExceptionCount(SUBJECT, constant=constant)
        rows = fitness.distances([failing(), failing(2)])
        assert fitness.of_suite(rows, open_targets=closed) == pytest.approx(expected)


def test_an_exception_from_outside_any_function_has_no_name():
    fitness = ExceptionCount(SUBJECT)
    fitness.distances([failing(-1)])
    assert fitness.targets[0].key == ("ValueError", "", -1)


def test_a_pickle_knows_the_targets_found_so_far():
    fitness = ExceptionCount(SUBJECT)
    fitness.distances([failing()])
    copy = pickle.loads(pickle.dumps(fitness))
    assert copy.distances([failing(2), failing()]).tolist() == [[1, 0], [0, 1]]
    assert len(fitness.targets) == 1
    assert copy.kinds == ["implicit", "implicit"]
