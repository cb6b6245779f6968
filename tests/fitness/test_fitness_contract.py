"""The contract of every fitness function."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_traces import SITES, SUBJECT, traces
from trace_by_hand import counted, dense

from fitgym.errors import InputError
from fitgym.fitness.base import Fitness, Target
from fitgym.instrument.trace import Trace
from fitgym.registry import Registry

FITNESS = Registry("fitgym.fitness", Fitness, "fitness function")
every = pytest.mark.parametrize("name", FITNESS.names())

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
def test_entries_say_what_distances_and_visits_say(name, suite):
    fitness = make(name)
    found = fitness.entries(suite)
    shape = len(suite), fitness.n_columns
    assert found.dense(*shape).tolist() == np.minimum(fitness.distances(suite), 1.0).tolist()
    assert found.rows.tolist() == sorted(found.rows.tolist())
    assert (found.distances >= 0).all() and (found.distances <= 1).all()
    visits = fitness.visits(suite)
    if visits is not None:
        entries = list(zip(found.rows.tolist(), found.columns.tolist(), strict=True))
        assert len(set(entries)) == len(entries)
        counted = np.zeros(shape, dtype=np.int64)
        counted[found.rows, found.columns] = found.visits
        assert counted.tolist() == np.minimum(visits, 2).tolist()


@every
@contract
@given(suite=suites)
def test_the_same_trace_has_the_same_numbers(name, suite):
    fitness = make(name)
    first = fitness.distances(suite)
    again = fitness.distances(copy.deepcopy(suite))
    alone = [fitness.distances([one])[0].tolist() for one in suite]
    assert first.tolist() == again.tolist() == alone


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
def test_what_a_copy_shares_with_the_original_does_not_change(name, suite):
    make(name).distances(suite)  # what the subject computes once is no change of a function
    fitness = make(name)
    twin = copy.deepcopy(fitness)
    before = pickle.dumps(fitness)
    measured = twin.distances(suite), twin.entries(suite)
    assert pickle.dumps(fitness) == before
    assert fitness.distances(suite).tolist() == measured[0].tolist()
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
    expected = 1.0 if fitness.targets or fitness.dynamic or fitness.reads_tests else 0.0
    if name == "line":  # nu(7 lines) + both entries, x < 3 true, the loop entered; divided by 1 + 4
        expected = (7 / 8 + 4) / 5
    assert fitness.of_suite(rows, fitness.visits([])) == pytest.approx(expected)


@every
def test_a_subject_without_anything_to_cover_is_no_error(name):
    empty = replace(SUBJECT, branches=(), operations=(), sites=(), source="")
    fitness = FITNESS.load(name)(empty)
    blank = Trace(direct=(b"", b"", b""), infected=(b"", b""))
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


RELATIONS = {"<": (1, 0, 0), "<=": (1, 1, 0), "!=": (1, 0, 1), "False": (0, 0, 0)}  # less, equal, greater


def infects(executed, target):
    (mutant,) = [mutant for mutant in SUBJECT.mutants if mutant.id == target.key[0]]
    _, distances = dense(executed, SUBJECT)
    sites, masks = (np.frombuffer(part, np.uint32).tolist() for part in executed.infected)
    bits = dict(zip(sites, masks, strict=True))
    if mutant.place == "comparison":
        differ = [a != b for a, b in zip(RELATIONS["<"], RELATIONS[mutant.replacement], strict=True)]
        return any(distances[i] == 0 for i in range(3) if differ[i]) or bool(bits.get(2, 0) & 1)
    if mutant.place == "truth" and mutant.function == "g":
        outcomes = {5 if outcome else 6 for _, outcome in mutant.at}
        return any(distances[i] == 0 for i in outcomes)
    if mutant.at == (((5, 20, 5, 21), True),):
        return bool(bits.get(9, 0) >> ["-z", "z + 1", "z - 1", "y", "x"].index(mutant.replacement) & 1)
    if mutant.place == "arithmetic":
        return bool(bits.get(10, 0) >> ["+", "-", "*", "/", "//", "%", "**"].index(mutant.replacement) & 1)
    return covers_line(executed, Target("line", (mutant.line,)))


COVERS = {
    "weak_mutation": infects,
    "branch": covers_branch,
    "direct_branch": covers_branch,
    "line": covers_line,
    "method": lambda t, target: {"f": 1, "g": 7}[target.key[0]] in counted(t),
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


def test_targets_that_nobody_would_ask_for_are_refused():
    with pytest.raises(InputError, match="'targets' of Novelty is a method, expected a list of Target"):

        class Novelty(Fitness):
            def targets(self):
                return [Target("novelty", ("one",))]

            def distances(self, traces):
                return np.ones((len(traces), 1))
