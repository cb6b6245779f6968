"""Targets that existing tests cover are not pursued by any search or fitness function."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from nightly import nightly

from fitgym.engine import FITNESS, SEARCH, Engine
from fitgym.engine.existing import Existing
from fitgym.errors import InputError
from fitgym.evolution.archive import Archive
from fitgym.evolution.measurements import Measurements
from fitgym.execution.executor import Executor
from fitgym.fitness.base import Entries, Fitness, Target
from fitgym.instrument.trace import Raised, Trace
from fitgym.subject.source import locate
from fitgym.suite.finishing import finish

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as running:
        running.require(frozenset({"infection"}))
        yield running


@pytest.fixture(scope="module")
def existing(executor: Executor) -> Existing:
    """The first population of a search, as if it had been written by hand."""
    first = Engine(executor, fitness=("branch", "weak_mutation"), population=4)
    first.step()
    traces = [first.trace(testcase) for testcase in first.archived_testcases()]
    return Existing(Existing.digest(first.subject.source), tuple(dict.fromkeys(traces)), tests=len(traces))


def test_targets_of_existing_tests_are_covered_before_the_first_generation(
    executor: Executor, existing: Existing
) -> None:
    running = Engine(executor, existing=existing, population=4)
    assert 0 < running.granted("branch").sum() < len(running.granted("branch"))
    assert (running.covered("branch") == running.granted("branch")).all()
    assert running.coverage()["branch"][0] == running.granted("branch").sum()


@pytest.mark.parametrize("search", SEARCH.names())
def test_no_search_pursues_or_keeps_a_test_for_them(executor: Executor, existing: Existing, search: str) -> None:
    running = Engine(executor, existing=existing, search=search, population=6)
    granted = set(np.flatnonzero(running.granted("branch")).tolist())
    for _ in range(5):
        running.step()
        assert granted.isdisjoint(column for name, column in running.targets() if name == "branch")
        assert granted.isdisjoint(running.archive.best("branch"))


def test_a_search_without_archive_does_not_pursue_them_either(executor: Executor, existing: Existing) -> None:
    running = Engine(executor, existing=existing, search="whole_suite:use_archive=false", population=6)
    running.step()
    granted = set(np.flatnonzero(running.granted("branch")).tolist())
    assert granted.isdisjoint(column for _, column in running.targets())


def test_a_function_that_is_activated_later_knows_them_too(executor: Executor, existing: Existing) -> None:
    running = Engine(executor, existing=existing, population=4)
    running.step()
    running.activate(("line", "weak_mutation"))
    for name in ("line", "weak_mutation"):
        assert running.granted(name).any()
        assert (running.covered(name) >= running.granted(name)).all()


def test_killed_mutants_are_targets_that_are_covered(executor: Executor, existing: Existing) -> None:
    mutants = [mutant.id for mutant in executor.subject.mutants]
    running = Engine(
        executor, fitness=("branch", "strong_mutation"), existing=replace(existing, killed=frozenset(mutants[:3]))
    )
    running.step()
    assert running.granted("strong_mutation").sum() == 3
    assert [
        target.key[0]
        for target in np.array(running.function("strong_mutation").targets)[running.granted("strong_mutation")]
    ] == mutants[:3]
    assert not set(running.archive.best("strong_mutation")) & set(
        np.flatnonzero(running.granted("strong_mutation")).tolist()
    )


def test_an_exception_that_a_test_expects_is_not_discovered_again(executor: Executor, existing: Existing) -> None:
    raised = Raised("ValueError", 1, 0, 0, "explicit", True)
    known = replace(existing, traces=(Trace(raised=raised, infected=(b"", b"")),))
    running = Engine(executor, fitness=("exception",), existing=known)
    assert running.covered("exception").tolist() == [True]
    assert running.discoveries() == []


@nightly
def test_the_finished_suite_has_no_test_for_what_is_covered(executor: Executor, existing: Existing) -> None:
    suites = []
    for known in (None, existing):
        running = Engine(executor, existing=known, search="mosa", population=10)
        for _ in range(8):
            running.step()
        suites.append(finish(running, ["branch"]))
    assert 0 < len(suites[1].tests) < len(suites[0].tests)


def test_a_suite_leaves_nothing_to_a_search_that_could_find_no_more(executor: Executor) -> None:
    running = Engine(executor, search="mosa", population=10)
    for _ in range(40):
        running.step()
    traces = tuple(running.trace(testcase) for testcase in running.archived_testcases())
    known = Existing(Existing.digest(running.subject.source), traces)
    again = Engine(executor, existing=known, search="mosa", population=10)
    assert (again.covered("branch") == running.covered("branch")).all()
    assert len(again.targets()) == (~running.covered("branch")).sum()


def test_an_existing_suite_without_traces_changes_no_number(executor: Executor) -> None:
    states = []
    for known in (None, Existing(Existing.digest(executor.subject.source))):
        running = Engine(executor, fitness=("branch", "line"), existing=known, population=6, seed=3)
        for _ in range(5):
            running.step()
        states.append((running.executions, running.coverage(), running.search.fitness.tolist()))
    assert states[0] == states[1]


def test_functions_that_need_other_probes_are_pursued_in_full(executor: Executor, existing: Existing) -> None:
    running = Engine(executor, fitness=("output", "direct_branch"), existing=existing, population=4)
    running.step()
    assert not running.granted("output").any() and not running.granted("direct_branch").any()


def test_a_measurement_of_another_version_of_the_source_is_refused(executor: Executor) -> None:
    with pytest.raises(InputError, match=r"another version of 'triangle'; measure them again"):
        Engine(executor, existing=Existing(Existing.digest("other")))


def test_a_subject_without_probes_for_infection_can_use_the_traces(existing: Existing) -> None:
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as plain:
        assert (
            len(plain.subject.sites)
            <= max(int(np.frombuffer(trace.reached[0], np.uint32).max()) for trace in existing.traces) + 1
        )
        running = Engine(plain, existing=existing, population=4)
        running.step()
        assert running.granted("branch").any()


def test_a_search_with_existing_tests_can_be_copied_and_the_tests_pickled(
    executor: Executor, existing: Existing
) -> None:
    again = pickle.loads(pickle.dumps(existing))
    assert again.source_sha256 == existing.source_sha256 and again.tests == existing.tests
    running = Engine(executor, existing=again, population=4)
    running.step()
    twin = copy.deepcopy(running)
    assert (twin.granted("branch") == running.granted("branch")).all()


def test_every_fitness_function_takes_the_traces(executor: Executor, existing: Existing) -> None:
    for name in FITNESS.names():
        function = FITNESS.load(name)(executor.subject)
        covered = existing.of(executor.subject).covered(function)
        assert covered.shape == (len(function.targets),)


class Columns(Fitness):
    """Two targets; column k is covered by a trace that burnt k."""

    dynamic = True

    def __init__(self) -> None:
        self.targets = [Target("columns", (0,)), Target("columns", (1,))]

    def distances(self, traces):  # type: ignore[no-untyped-def]
        return np.array([[0.0 if trace.fuel == k else 1.0 for k in range(len(self.targets))] for trace in traces])

    def entries(self, traces):  # type: ignore[no-untyped-def]
        return Entries(*np.nonzero(self.distances(traces) == 0.0), np.zeros(len(traces)))


def test_the_archive_takes_no_test_case_for_a_granted_target() -> None:
    columns = Columns()
    measurements = Measurements({"columns": columns})
    measurements.add([(1,), (2,)], [Trace(fuel=0), Trace(fuel=1)], frozenset())
    archive = Archive(measurements)
    archive.grant("columns", np.array([True, False]))
    assert archive.update(["columns"], [(1,), (2,)]) == 1
    assert archive.best("columns") == {1: (2,)}
    assert archive.covered("columns").tolist() == [True, True]
    columns.targets.append(Target("columns", (2,)))
    assert archive.granted("columns").tolist() == [True, False, False]
