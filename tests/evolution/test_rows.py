"""Rows of traces and values of suites, computed in batches, equal the definitions."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import every
from random_traces import SUBJECT, traces
from trace_by_hand import counted

from fitgym.evolution.individual import Individual
from fitgym.evolution.measurements import Measurements
from fitgym.fitness.base import Fitness, Target, nu
from fitgym.fitness.direct_branch import DirectBranch
from fitgym.fitness.exception import ExceptionCount
from fitgym.fitness.line import Line
from fitgym.instrument.trace import Trace
from fitgym.registry import Registry

FITNESS = Registry("fitgym.fitness", Fitness, "fitness function")
NO_PROBES = frozenset()


def by_definition(fitness, suite, covered):
    """What a suite of traces is worth: the formulas of the fitness functions, one column after the other."""
    rows, visits = fitness.distances(suite), fitness.visits(suite)
    column_of = {target.key: column for column, target in enumerate(fitness.targets)}
    covered = [*covered, *(False for _ in range(len(fitness.targets) - len(covered)))]
    values = []
    for column in range(fitness.n_columns):
        value = min([1.0, *(row[column] for row in rows)])
        if visits is not None and value > 0:
            executions = [int(row[column]) for row in visits]
            if type(fitness) is DirectBranch:
                value = 0.5 if max(executions, default=0) == 1 else value
            else:
                stands_for = 0
                if type(fitness).__name__ == "Branch":
                    *place, outcome = fitness.targets[column].key
                    other = column_of.get((*place, not outcome)) if outcome != "entered" else None
                    stands_for = covered[column] + (other is not None and covered[other])
                value = 1.0 if sum(executions) + stands_for < 2 else value
        values.append(value)
    targets, guides = values[: len(covered)], values[len(covered) :]
    open_ = [value for value, closed in zip(targets, covered, strict=True) if not closed]
    if type(fitness) is ExceptionCount:
        return 1.0 / (1 + targets.count(0.0))
    if type(fitness) is Line:
        missing = sum(value > 0 for value in open_)
        return (float(nu(missing)) + float(np.array(guides).sum())) / (1 + len(guides))
    return float(np.array(open_).sum()) / max(1, len(targets))


class Wide(Fitness):
    """A column for each of the site ids 0 to n - 1: its distance is 1 / count, or 0 if the count is a multiple of 5."""

    def __init__(self, n, *, visited):
        self.n, self.visited = n, visited
        self.targets = [Target("wide", (k,)) for k in range(n)]
        self.measured = []

    def distances(self, traces):
        self.measured += traces
        rows = np.full((len(traces), self.n), 2.0)
        for row, trace in zip(rows, traces, strict=True):
            for site, count in counted(trace).items():
                row[site] = 0.0 if count % 5 == 0 else 1.0 / count
        return rows

    def visits(self, traces):
        if not self.visited:
            return None
        rows = np.zeros((len(traces), self.n), dtype=np.int64)
        for row, trace in zip(rows, traces, strict=True):
            row[list(counted(trace))] = list(counted(trace).values())
        return rows


def wide_trace(rng, n):
    sites = np.flatnonzero(rng.random(n) < 0.3).astype(np.uint32)
    counts = rng.integers(1, 12, len(sites), dtype=np.uint32)
    return Trace((sites.tobytes(), counts.tobytes(), b""))


class Model:
    """Measurements of one fitness function beside what is expected of them."""

    def __init__(self, fitness):
        self.fitness = fitness
        self.measurements = Measurements({"f": fitness})
        self.added = 0
        self.known = {}
        self.individuals = []
        self.covered = np.zeros(len(fitness.targets), dtype=bool)

    def add(self, traces):
        testcases = [(self.added + k,) for k in range(len(traces))]
        self.added += len(traces)
        self.measurements.add(testcases, traces, NO_PROBES)
        self.known |= zip(testcases, traces, strict=True)

    def check(self):
        values = self.measurements.suite_fitness("f", self.individuals).tolist()
        suites = [[self.known[t] for t in individual.testcases] for individual in self.individuals]
        assert values == [by_definition(self.fitness, suite, self.covered) for suite in suites]
        covers = self.measurements.covers("f", list(self.known))
        assert covers.tolist() == self.fitness.covered(self.fitness.distances(list(self.known.values()))).tolist()

    def close(self, covered):
        self.covered = covered
        self.measurements.close("f", covered)

    def keep(self, individuals, others):
        self.individuals = individuals
        self.measurements.retain(individuals, others)
        kept = {t for individual in individuals for t in individual.testcases} | set(others)
        self.known = {t: trace for t, trace in self.known.items() if t in kept}


@pytest.mark.parametrize("name", [name for name in FITNESS.names() if not FITNESS.load(name).reads_tests])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_values_of_suites_are_those_of_the_definition(name, data):
    model = Model(FITNESS.load(name)(SUBJECT))
    for _ in range(data.draw(st.integers(1, 3))):
        model.add(data.draw(st.lists(traces(), max_size=4)))
        suite = st.lists(st.sampled_from(list(model.known)), max_size=5) if model.known else st.just([])
        model.individuals += [Individual(tuple(data.draw(suite))) for _ in range(3)]
        model.check()
        n = len(model.fitness.targets)
        more = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
        more[: len(model.covered)] |= model.covered
        model.close(more)
        model.check()


@pytest.mark.parametrize("visited", [True, False])
@pytest.mark.parametrize("n", [0, 1, 40, 200])
@pytest.mark.parametrize("seed", every(3, range(3)))
def test_values_hold_while_columns_are_closed_and_rows_are_forgotten(n, visited, seed):
    rng = np.random.default_rng(seed)
    model = Model(Wide(n, visited=visited))
    for _ in range(8):
        model.add([wide_trace(rng, n) for _ in range(int(rng.integers(1, 90)))])
        known = list(model.known)
        sizes = rng.integers(0, 150 if seed == 0 else 12, 6)
        model.individuals += [
            Individual(tuple(known[k] for k in rng.integers(0, len(known), size))) for size in sizes.tolist()
        ]
        model.check()
        model.close(model.covered | (rng.random(n) < 0.2))
        if rng.random() < 0.5:
            model.keep(model.individuals[::2], known[:3])
        model.check()


def test_a_trace_is_measured_once_whatever_is_asked():
    fitness = Wide(3, visited=True)
    measurements = Measurements({"f": fitness})
    rng = np.random.default_rng(0)
    shared = [wide_trace(rng, 3) for _ in range(5)]
    measurements.add([(k,) for k in range(10)], [*shared, *shared], NO_PROBES)
    suites = [Individual(tuple((k,) for k in range(first, first + 3))) for first in range(7)]
    for covered in (False, True):
        measurements.close("f", np.array([covered, False, False]))
        measurements.suite_fitness("f", suites)
        measurements.covers("f", [(k,) for k in range(10)])
        measurements.retain(suites, [(0,), (9,)])
    assert fitness.measured == shared


def test_new_traces_are_told_once():
    measurements = Measurements({})
    one, other = Trace(), Trace()
    assert measurements.add([(1,), (2,), (3,)], [one, other, one], NO_PROBES) == [one, other]
    assert measurements.add([(4,)], [other], NO_PROBES) == []


def test_a_suite_that_is_known_is_not_reduced_again():
    class Counting(Wide):
        reduced = 0

        def of_suites(self, columns, *, raw=False):
            self.reduced += len(columns)
            return super().of_suites(columns, raw=raw)

    fitness = Counting(3, visited=False)
    measurements = Measurements({"f": fitness})
    measurements.add([(1,), (2,)], [Trace(), wide_trace(np.random.default_rng(0), 3)], NO_PROBES)
    suites = [Individual(((1,),)), Individual(((1,), (2,)))]
    for asked in (suites[:1], suites, suites[1:]):
        measurements.suite_fitness("f", asked)
    assert fitness.reduced == 2
    measurements.close("f", np.array([True, False, False]))
    measurements.suite_fitness("f", suites)
    assert fitness.reduced == 4
    measurements.close("f", np.array([True, False, False]))
    measurements.suite_fitness("f", suites)
    assert fitness.reduced == 4


def test_targets_appended_by_another_measurement_change_the_values():
    class Growing(Wide):
        dynamic = True

    fitness = Growing(2, visited=False)
    measurements = Measurements({"f": fitness})
    measurements.add([(1,)], [Trace()], NO_PROBES)
    nothing = Individual(((1,),))
    assert measurements.suite_fitness("f", [nothing]).tolist() == [1.0]
    measurements.close("f", np.array([True, False]))
    assert measurements.suite_fitness("f", [nothing]).tolist() == [0.5]
    fitness.n = 4
    fitness.targets += [Target("wide", (2,)), Target("wide", (3,))]
    assert measurements.suite_fitness("f", [nothing]).tolist() == [0.75]
    assert measurements.covers("f", [(1,)]).tolist() == [[False] * 4]


@pytest.mark.parametrize("twin_of", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_measures_nothing_again(twin_of):
    measurements = Measurements({"f": Wide(3, visited=True)})
    rng = np.random.default_rng(1)
    measurements.add([(1,), (2,)], [wide_trace(rng, 3), wide_trace(rng, 3)], NO_PROBES)
    suites = [Individual(((1,), (2,))), Individual(((2,),))]
    expected = measurements.suite_fitness("f", suites).tolist()
    twin, twins = twin_of((measurements, suites))
    before = len(twin.fitness["f"].measured)
    assert twin.suite_fitness("f", twins).tolist() == expected
    twin.add([(3,)], [twin.trace((1,))], NO_PROBES)
    assert twin.covers("f", [(1,), (3,)])[0].tolist() == twin.covers("f", [(1,), (3,)])[1].tolist()
    assert len(twin.fitness["f"].measured) == before


def test_what_is_kept_does_not_grow_with_the_run():
    rng = np.random.default_rng(0)
    model = Model(Wide(60, visited=True))
    sizes = []
    for generation in range(60):
        model.add([wide_trace(rng, 60) for _ in range(20)])
        known = list(model.known)
        model.individuals += [Individual(tuple(known[k] for k in rng.integers(0, len(known), 8))) for _ in range(5)]
        model.check()
        if generation == 20:
            model.close(rng.random(60) < 0.3)
        if generation % 4 == 3:
            model.keep(model.individuals[-6:], known[:3])
            model.fitness.measured.clear()
            sizes.append(len(pickle.dumps(model.measurements)))
            assert len(model.measurements) == len(model.known)
    assert max(sizes) < 1.5 * sizes[0]
