"""The archive keeps the shortest covering test case of each target, and each trace is measured once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.evolution.archive import Archive
from fitgym.evolution.measurements import Measurements
from fitgym.fitness.base import Fitness, Target
from fitgym.instrument.trace import Trace


def trace(*covered):
    """A trace with a byte for each column, 1 where it is covered."""
    return Trace((b"", bytes(covered), b""))


class Columns(Fitness):
    """Column k is covered when the k-th count is 1."""

    def __init__(self, n):
        self.targets = [Target("columns", (k,)) for k in range(n)]
        self.measured = 0

    def distances(self, traces):
        self.measured += len(traces)
        return np.array([[0.0 if count else 1.0 for count in t.reached[1]] for t in traces])


class Growing(Columns):
    """A column appears when a trace first has so many counts."""

    dynamic = True

    def distances(self, traces):
        for t in traces:
            while len(self.targets) < len(t.reached[1]):
                self.targets.append(Target("growing", (len(self.targets),)))
        rows = [list(t.reached[1]) + [0] * (len(self.targets) - len(t.reached[1])) for t in traces]
        return np.array([[0.0 if count else 1.0 for count in row] for row in rows])


@pytest.fixture
def columns():
    return Columns(3)


@pytest.fixture
def measurements(columns):
    return Measurements({"columns": columns})


def add(measurements, **tests):
    for letters, t in tests.items():
        measurements.add([tuple(letters.encode())], [t], frozenset())


A, AB, ABC = (97,), (97, 98), (97, 98, 99)


def test_the_archive_prefers_the_shorter_test(measurements):
    archive = Archive(measurements)
    add(measurements, ab=trace(1, 0, 0), a=trace(1, 0, 0))
    archive.update(["columns"], [AB])
    assert archive.best("columns") == {0: AB}
    archive.update(["columns"], [A])
    assert archive.best("columns") == {0: A}
    archive.update(["columns"], [AB])
    assert archive.best("columns") == {0: A}


def test_the_version_changes_only_when_a_target_is_covered_for_the_first_time(measurements):
    archive = Archive(measurements)
    add(measurements, ab=trace(1, 0, 0), a=trace(1, 0, 0), abc=trace(0, 1, 0))
    assert archive.update(["columns"], [AB]) == 1
    version = archive.version
    assert archive.update(["columns"], [A]) == 0
    assert archive.version == version
    assert archive.update(["columns"], [ABC]) == 1
    assert archive.version != version


def test_a_test_that_is_not_confirmed_stays_out(measurements):
    archive = Archive(measurements)
    add(measurements, a=trace(1, 0, 0), ab=trace(0, 1, 0))
    asked = []

    def confirm(testcases):
        asked.extend(testcases)
        return [testcase != A for testcase in testcases]

    assert archive.update(["columns"], [A, AB], confirm) == 1
    assert asked == [A, AB]
    assert archive.covered("columns").tolist() == [False, True, False]


def test_only_what_would_enter_is_confirmed(measurements):
    archive = Archive(measurements)
    add(measurements, a=trace(1, 0, 0), ab=trace(1, 0, 0))
    archive.update(["columns"], [A])
    archive.update(["columns"], [AB], lambda testcases: pytest.fail("a longer test was confirmed"))


def test_the_archive_grows_with_a_dynamic_function():
    growing = Growing(0)
    measurements = Measurements({"growing": growing})
    archive = Archive(measurements)
    add(measurements, a=trace(1), ab=trace(0, 0, 1))
    archive.update(["growing"], [A])
    archive.update(["growing"], [AB])
    assert archive.best("growing") == {0: A, 2: AB}
    assert archive.covered("growing").tolist() == [True, False, True]
    assert measurements.covers("growing", [A, AB]).tolist() == [[True, False, False], [False, False, True]]


def test_each_trace_is_measured_once(measurements, columns):
    shared = trace(1, 1, 0)
    measurements.add([A, AB], [shared, shared], frozenset())
    for _ in range(3):
        assert measurements.covers("columns", [A, AB, A]).tolist() == 3 * [[True, True, False]]
    assert columns.measured == 1


def test_a_test_is_unknown_again_when_more_has_to_be_recorded(measurements):
    measurements.add([A], [trace(0, 0, 0)], frozenset({"output"}))
    assert measurements.unknown([A, AB, A], frozenset()) == [AB]
    assert measurements.unknown([A, AB, A], frozenset({"output"})) == [AB]
    assert measurements.unknown([A, AB, A], frozenset({"direct"})) == [A, AB]


def test_what_is_not_retained_is_forgotten(measurements, columns):
    add(measurements, a=trace(1, 0, 0), ab=trace(0, 1, 0))
    measurements.covers("columns", [A, AB])
    measurements.retain([], [AB])
    assert A not in measurements
    assert AB in measurements
    with pytest.raises(KeyError):
        measurements.covers("columns", [A])
    assert measurements.covers("columns", [AB]).tolist() == [[False, True, False]]
    assert columns.measured == 2


class SlowArchive:
    """The archive by its definition, one test case and one target after the other."""

    def __init__(self):
        self.best = {}
        self.version = 0

    def update(self, offered, refused):
        """Offer (test case, covered columns) pairs; gives the test cases that would enter."""
        winners = {}
        for testcase, columns in offered:
            for column in columns:
                if len(testcase) < len(winners.get(column, self.best.get(column, 100 * (0,)))):
                    winners[column] = testcase
        first = [column for column, testcase in winners.items() if column not in self.best and testcase not in refused]
        self.best |= {column: testcase for column, testcase in winners.items() if testcase not in refused}
        self.version += bool(first)
        return [testcase for testcase, _ in offered if testcase in winners.values()], len(first)


testcases = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)
offers = st.lists(st.tuples(testcases, st.lists(st.booleans(), max_size=6)), max_size=6, unique_by=lambda pair: pair[0])


@given(st.lists(st.tuples(offers, st.sets(testcases, max_size=3)), max_size=6))
def test_the_archive_holds_what_its_definition_says(batches):
    growing, slow = Growing(0), SlowArchive()
    measurements = Measurements({"growing": growing})
    archive = Archive(measurements)
    for batch, refused in batches:
        asked = []
        measurements.add([t for t, _ in batch], [trace(*covered) for _, covered in batch], frozenset())

        def confirm(entering, refused=refused, asked=asked):
            asked.extend(entering)
            return [t not in refused for t in entering]

        first = archive.update(["growing"], [t for t, _ in batch], confirm)
        offered = [(t, [column for column, hit in enumerate(covered) if hit]) for t, covered in batch]
        assert (asked, first) == slow.update(offered, refused)
        assert archive.best("growing") == slow.best
        assert list(archive.best("growing")) == sorted(slow.best)
        assert archive.version == slow.version
        assert set(archive.testcases()) == set(slow.best.values())
        assert len(set(archive.testcases())) == len(archive.testcases())
        assert np.flatnonzero(archive.covered("growing")).tolist() == sorted(slow.best)
