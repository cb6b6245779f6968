"""What every fitness function promises, whichever file it is in."""

import copy
import pickle
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trace_by_hand import dense, trace_by_hand

from fitgym.fitness.base import Fitness
from fitgym.instrument.abstraction import abstract
from fitgym.instrument.trace import Call, Raised, Stop, Trace
from fitgym.registry import Registry
from fitgym.subject import subject as data
from fitgym.subject.hints import Hint

FITNESS = Registry("fitgym.fitness", Fitness, "fitness function")
every = pytest.mark.parametrize("name", FITNESS.names())

INT = Hint("class", "builtins.int")

# 1  def f(x: int) -> int:      entry 1, x < 3 is 2, the block behind it 3, `for` is 4, its body 5, the end 6
# 9  def g(y):                  entry 7, the condition 8
SITES = (
    data.Site(0, "block", 0, 1, lines=(1, 9)),
    data.Site(1, "block", 1, 2, lines=(2,)),
    data.Site(2, "comparison", 1, 2, operator="<", slot=0),
    data.Site(3, "block", 1, 3, lines=(3, 4)),
    data.Site(4, "loop", 1, 4, slot=3, in_loop=True),
    data.Site(5, "block", 1, 5, lines=(5, 6)),
    data.Site(6, "block", 1, 7, lines=(7,)),
    data.Site(7, "block", 2, 10, lines=(10,)),
    data.Site(8, "truth", 2, 10, slot=5),
)
SUBJECT = data.Subject(
    reference=data.Reference("m", "m", "m.py"),
    source="",
    sites=SITES,
    functions=(
        data.Function(0, "<module>", 1, 12, 0),
        data.Function(1, "f", 1, 7, 1),
        data.Function(2, "g", 9, 12, 7),
    ),
    branches=(
        data.Branch(1, True, root=True),
        data.Branch(7, True, root=True),
        *(data.Branch(site, outcome) for site in (2, 4, 8) for outcome in (True, False)),
    ),
    dependences=(
        (),
        (),
        ((1, True),),
        ((2, True),),
        ((2, True), (4, True)),
        ((4, True),),
        ((1, True),),
        (),
        ((7, True),),
    ),
    operations=(
        data.Operation(
            0,
            "function",
            "m",
            "f",
            parameters=(data.Parameter("x", "positional_or_keyword", INT),),
            returns=INT,
            function=1,
        ),
        data.Operation(
            1,
            "function",
            "m",
            "g",
            parameters=(data.Parameter("y", "positional_or_keyword", Hint("any")),),
            function=2,
        ),
    ),
    classes={},
)

VALUES = (-2, 0, 5, 1.5, "", "x", None, True)


@st.composite
def traces(draw):
    """A trace as the recorder could have written it: exactly one outcome at every execution of a decision."""
    counts = [draw(st.integers(0, 3)) for _ in SITES]
    distances = [inf] * SUBJECT.n_slots
    for site in SITES:
        if site.width and counts[site.id]:
            occurred = draw(st.integers(1, min(counts[site.id], site.width)))
            order = draw(st.permutations(range(site.width)))
            for rank, relation in enumerate(order):
                distances[site.slot + relation] = 0.0 if rank < occurred else draw(st.sampled_from([1.0, 2.5, 40.0]))
    calls = []
    for operation, parameter in draw(st.lists(st.sampled_from([(0, "x"), (1, "y")]), max_size=3)):
        output = abstract(draw(st.sampled_from(VALUES)))
        inputs = tuple((parameter, *entry) for entry in abstract(draw(st.sampled_from(VALUES))))
        calls.append(Call(operation, True, output, inputs))
    raised = None
    if calls and draw(st.booleans()):
        last = calls[-1]
        calls[-1] = Call(last.operation, False, (), last.inputs)
        name, function = draw(st.sampled_from([("KeyError", 1), ("ValueError", 2), ("ValueError", 1)]))
        raised = Raised(name, function, last.operation, len(calls) - 1, "implicit", draw(st.booleans()))
    stops = tuple(Stop(site, line) for site, line in ((3, 3), (5, 6)) if counts[site] and draw(st.booleans()))
    failure = draw(st.sampled_from(["", "", "", "fuel"]))
    return trace_by_hand(
        counts, distances, SITES, direct=True, calls=tuple(calls), raised=raised, stops=stops, failure=failure
    )


suites = st.lists(traces(), max_size=4)
contract = settings(max_examples=25, deadline=None)


def make(name):
    return FITNESS.load(name)(SUBJECT)


@every
@contract
@given(suite=suites)
def test_rows_are_finite_not_negative_and_as_long_as_there_are_columns(name, suite):
    fitness = make(name)
    rows = fitness.distances(suite)
    assert rows.shape == (len(suite), fitness.n_columns)
    assert rows.dtype == np.float64
    assert np.isfinite(rows).all() and (rows >= 0).all()
    assert len(fitness.targets) <= fitness.n_columns
    assert len(set(fitness.targets)) == len(fitness.targets)
    assert {target.kind for target in fitness.targets} <= {name}
    visits = fitness.visits(suite)
    assert visits is None or (visits.shape == rows.shape and (visits >= 0).all())


@every
@contract
@given(suite=suites)
def test_the_same_trace_has_the_same_numbers(name, suite):
    fitness = make(name)
    first = fitness.distances(suite)
    again = fitness.distances(copy.deepcopy(suite))
    alone = fitness.stack([fitness.distances([one])[0] for one in suite])
    assert first.tolist() == again.tolist() == alone.tolist()


@every
@contract
@given(suite=suites)
def test_a_failed_trace_covers_nothing(name, suite):
    fitness = make(name)
    fitness.distances(suite)
    failed = fitness.distances([replace(one, failure="timeout") for one in suite])
    assert not fitness.covered(failed).any()
    # Nothing is worse than a trace in which nothing ran.
    assert (failed >= fitness.distances(suite)).all()


@every
@contract
@given(suite=suites, extra=traces(), raw=st.booleans())
def test_suite_values_are_bounded_and_further_traces_do_not_hurt(name, suite, extra, raw):
    fitness = make(name)
    rows, visits = fitness.distances([*suite, extra]), fitness.visits([*suite, extra])
    n = len(suite)
    small = fitness.of_suite(rows[:n], None if visits is None else visits[:n], raw=raw)
    large = fitness.of_suite(rows, visits, raw=raw)
    if fitness.monotone:
        assert large <= small + 1e-12
    assert large >= 0.0 and (raw or large <= 1.0)
    assert np.isfinite([small, large]).all()


@every
@contract
@given(suite=suites, data=st.data())
def test_closing_targets_never_makes_a_suite_worse(name, suite, data):
    fitness = make(name)
    rows, visits = fitness.distances(suite), fitness.visits(suite)
    n = len(fitness.targets)
    open_targets = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    assert fitness.of_suite(rows, visits, open_targets) <= fitness.of_suite(rows, visits) + 1e-12


@every
@contract
@given(suite=suites)
def test_the_order_of_a_suite_does_not_matter(name, suite):
    fitness = make(name)
    rows, visits = fitness.distances(suite), fitness.visits(suite)
    backwards = fitness.of_suite(rows[::-1], None if visits is None else visits[::-1])
    assert backwards == fitness.of_suite(rows, visits)


@every
@contract
@given(suite=suites)
def test_a_pickled_function_goes_on_where_it_was(name, suite):
    fitness = make(name)
    fitness.distances(suite[:1])
    twin = pickle.loads(pickle.dumps(fitness))
    assert twin.distances(suite).tolist() == fitness.distances(suite).tolist()
    assert twin.targets == fitness.targets


@every
@contract
@given(suite=suites)
def test_only_dynamic_functions_find_new_targets(name, suite):
    fitness = make(name)
    before = list(fitness.targets)
    fitness.distances(suite)
    assert fitness.targets[: len(before)] == before
    assert fitness.dynamic or len(fitness.targets) == len(before)


@every
def test_the_worst_suite_is_the_empty_one(name):
    fitness = make(name)
    rows = fitness.distances([])
    expected = 1.0 if fitness.targets or fitness.dynamic else 0.0
    if name == "line":  # nu(7 lines) + both entries, x < 3 true, the loop entered; divided by 1 + 4
        expected = (7 / 8 + 4) / 5
    assert fitness.of_suite(rows, fitness.visits([])) == pytest.approx(expected)


@every
def test_a_subject_without_anything_to_cover_is_no_error(name):
    empty = replace(SUBJECT, branches=(), operations=())
    fitness = FITNESS.load(name)(empty)
    blank = Trace(has_direct=True)
    rows = fitness.distances([blank])
    assert rows.shape == (1, 0)
    assert fitness.of_suite(rows, fitness.visits([blank])) in (0.0, 1.0)


# Zero exactly when covered: what covers a target, told without distances.


def covers_branch(executed, target):
    _, _, site, outcome = target.key
    counts, distances = dense(executed, SUBJECT)
    if outcome == "entered":
        return counts[site] > 0
    slot = SITES[site].slot
    if SITES[site].kind == "comparison":
        slots = (slot,) if outcome else (slot + 1, slot + 2)
    else:
        slots = (slot + (not outcome),)
    return any(distances[i] == 0 for i in slots)


def covers_line(executed, target):
    counts, _ = dense(executed, SUBJECT)
    for site in SITES:
        if target.key[0] in site.lines:
            cut = sum(stop.count for stop in executed.stops if stop.site == site.id and stop.line < target.key[0])
            if counts[site.id] > cut:
                return True
    return False


COVERS = {
    "branch": covers_branch,
    "direct_branch": covers_branch,
    "line": covers_line,
    "method": lambda t, target: {"f": 1, "g": 7}[target.key[0]] in t.sites,
    "top_level_method": lambda t, target: any(call.operation == target.key[-1] for call in t.calls),
    "method_no_exception": lambda t, target: any(c.operation == target.key[-1] and c.returned for c in t.calls),
    "exception": lambda t, target: (
        t.raised is not None and t.raised.counted and (t.raised.type, t.raised.function) == target.key[::2]
    ),
    "output": lambda t, target: any(
        call.operation == target.key[-1] and fits(partition, target.key[-2], declared=call.operation == 0)
        for call in t.calls
        for partition, _ in call.output
        if call.returned
    ),
    "input": lambda t, target: any(
        call.operation == target.key[-1] and fits(partition, target.key[-2], declared=call.operation == 0)
        for call in t.calls
        for _, partition, _ in call.inputs
    ),
}


def fits(partition, target, *, declared):
    """The value belongs to the partition; where an int is declared True counts as 1."""
    return partition == target or (declared and (partition, target) == ("bool:true", "int:positive"))


@every
@contract
@given(suite=suites)
def test_zero_exactly_when_covered(name, suite):
    fitness = make(name)
    covered = fitness.covered(fitness.distances(suite))
    if name not in COVERS:
        pytest.skip("no independent definition of covered is known here")
    for row, executed in zip(covered, suite, strict=True):
        for target, zero in zip(fitness.targets, row, strict=True):
            assert zero == (not executed.failure and COVERS[name](executed, target)), target
