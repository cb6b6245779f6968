"""Queries: all read access to a running search. No query changes the search."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fitgym.engine.cost import Cost
from fitgym.engine.discovery import Discovery, function_name
from fitgym.engine.evaluation import ActiveEvaluation
from fitgym.engine.existing import Existing
from fitgym.evolution.individual import Individual
from fitgym.execution.history import Crash
from fitgym.fitness.base import Fitness
from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Subject
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["MOST_IDLE", "Queries"]

MOST_IDLE = 50
"""Generations in a row without an execution that end a search with a budget of executions."""


class Queries(ActiveEvaluation):
    """Read access to a search for goals, features and environments.

    Args:
        state: of the search.
    """

    # ------------------------------------------------------------------ progress

    @property
    def subject(self) -> Subject:
        """The code under test."""
        return self._state.subject

    @property
    def generation(self) -> int:
        """The number of generations so far."""
        return self._state.generation

    @property
    def executions(self) -> int:
        """The number of executed test cases so far."""
        return self._state.executions

    @property
    def spent(self) -> float:
        """The used share of the budget, in [0, 1]; 0 without a budget."""
        state = self._state
        if state.budget is None:
            return 0.0
        return state.budget.spent(generations=state.generation, executions=state.executions)

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        deadline = self._state.executor.deadline
        return deadline is not None and time.monotonic() >= deadline

    @property
    def over(self) -> bool:
        """Whether the budget is used up, the deadline has passed, or the search is `stuck`."""
        return self.spent >= 1.0 or self.late or self.stuck

    @property
    def stuck(self) -> bool:
        """Whether the last `MOST_IDLE` generations proposed nothing new.

        Then a budget of executions cannot be used up.
        """
        state = self._state
        return state.idle >= MOST_IDLE and state.budget is not None and state.budget.unit == "x"

    @property
    def progress(self) -> float:
        """The completed share of the search, in [0, 1].

        It is the used share of the budget, or without a budget the share of the time until the deadline.
        """
        state, deadline = self._state, self._state.executor.deadline
        if deadline is None or state.budget is not None:
            return self.spent
        return min(1.0, (time.monotonic() - state.began) / max(1e-9, deadline - state.began))

    @property
    def timings(self) -> dict[str, float]:
        """Seconds by stage; see `fitgym.engine.stopwatch.Stopwatch`."""
        return self._state.stopwatch.seconds

    @property
    def costs(self) -> dict[tuple[str, ...], Cost]:
        """The cost of each set of active fitness functions so far."""
        return self._state.costs

    # ------------------------------------------------------------------ guidance

    @property
    def active(self) -> tuple[str, ...]:
        """The fitness functions that guide the search."""
        return self._state.active

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights of active functions in the combined fitness; 1 for a function without an entry."""
        return self._state.weights

    @property
    def tracked(self) -> tuple[str, ...]:
        """The fitness functions whose targets are archived even when they are inactive."""
        return self._state.tracked

    @property
    def search_name(self) -> str:
        """The search algorithm in use, with its options."""
        return self._state.search_name

    @property
    def uses_archive(self) -> bool:
        """Whether covered targets leave the fitness, because the algorithm works with the archive."""
        return self._state.search.uses_archive

    @property
    def probes(self) -> frozenset[str]:
        """The probes that are recorded: those of all active, tracked and usable fitness functions.

        So activating a usable function executes nothing.
        """
        state = self._state
        fitness = state.measurements.fitness
        return frozenset().union(*(fitness[name].needs for name in (*state.archived, *state.usable)))

    # ------------------------------------------------------------------ fitness functions and their targets

    def measures(self, name: str) -> bool:
        """Return whether the values of a fitness function are known.

        They are known if it is usable, or was active or tracked at some time.
        """
        return name in self._state.measurements.fitness

    def records(self, name: str) -> bool:
        """Return whether the probes of a fitness function are recorded now.

        They are not recorded if the budget ended before they could be.
        """
        return self.measures(name) and self.function(name).needs <= self.probes

    @property
    def functions(self) -> Mapping[str, Fitness]:
        """The fitness functions that are usable, or were active or tracked at some time, by name."""
        return self._state.measurements.fitness

    def function(self, name: str) -> Fitness:
        """Return the fitness function with this name.

        Raises:
            KeyError: the function is not measured; see `measures`.
        """
        return self._state.measurements.fitness[name]

    def covered(self, name: str) -> NDArray[np.bool_]:
        """Return which targets of a fitness function the archive or existing tests cover, `(n_targets,)`."""
        return self._state.archive.covered(name)

    def granted(self, name: str) -> NDArray[np.bool_]:
        """Return which targets of a fitness function existing tests cover, `(n_targets,)`."""
        return self._state.archive.granted(name)

    @property
    def existing(self) -> Existing | None:
        """The results of existing tests; None without existing tests."""
        return self._state.existing

    @property
    def killed_before(self) -> frozenset[str]:
        """Ids of the mutants that existing tests kill."""
        return frozenset() if self._state.existing is None else self._state.existing.killed

    def covers(self, name: str, testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        """Return which executed test case covers which target of a fitness function, `(len(testcases), n_targets)`."""
        return self._state.measurements.covers(name, testcases)

    def coverage(self) -> dict[str, tuple[int, int]]:
        """Return covered and known targets of each fitness function that was ever active or tracked."""
        return {
            name: (int(covered.sum()), int(covered.size))
            for name in self._state.reported
            for covered in [self.covered(name)]
        }

    def coverage_of(self, testcases: Sequence[TestCase]) -> dict[str, tuple[int, int]]:
        """Return the same numbers as `coverage` for the targets that these executed test cases cover together."""
        found = {}
        for name in self._state.reported:
            covered = self.covers(name, self._measurable(name, testcases)).any(axis=0)
            found[name] = (int(covered.sum()), len(self.function(name).targets))
        return found

    def _measurable(self, name: str, testcases: Iterable[TestCase]) -> list[TestCase]:
        """Return the executed test cases with the probes that a function needs; others have unknown coverage."""
        measurements = self._state.measurements
        needs = measurements.fitness[name].needs
        return [testcase for testcase in testcases if needs <= measurements.recorded(testcase)]

    # ------------------------------------------------------------------ test cases

    @property
    def table(self) -> StatementTable:
        """The statements of all test cases."""
        return self._state.table

    @property
    def best(self) -> Individual:
        """The best individual of the population.

        Raises:
            IndexError: there is no population before the first generation.
        """
        return self._state.search.best

    @property
    def population(self) -> tuple[Individual, ...]:
        """The population of the algorithm in use, best first; empty at the start.

        Its individuals are suites, or suites of one test case.
        """
        return tuple(self._state.search.population)

    def age_of(self, individual: Individual) -> int:
        """Return the number of generations since the test cases of an individual came together; 0 if it is unknown."""
        return self.generation - self._state.births.get(individual.testcases, self.generation)

    def fitness_of(self, name: str, individual: Individual) -> float:
        """Return the suite fitness of one function, in [0, 1]; 0 is best."""
        return float(self._state.measurements.suite_fitness(name, [individual])[0])

    def mean_fitness(self, names: Sequence[str], individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """Return the mean suite fitness over several functions, `(len(individuals),)`, in [0, 1]; 0 is best.

        The mean is 0 without names.
        """
        values = [self._state.measurements.suite_fitness(name, individuals) for name in names]
        return np.mean(values, axis=0) if values else np.zeros(len(individuals))

    def kept_coverage(self, name: str) -> float:
        """Return the share of a function's targets that the archived test cases and the best suite cover, in [0, 1].

        Targets that existing tests cover count too. The share does not depend on whether the function is active. It is
        0 for a function without targets.
        """
        n_targets = len(self.function(name).targets)
        columns = self._state.measurements.covered(name, self._measurable(name, self._kept()))[1]
        columns = np.append(columns, np.flatnonzero(self.granted(name)))
        return len(np.unique(columns)) / n_targets if n_targets else 0.0

    def kept_fitness(self, name: str) -> float:
        """Return the suite fitness of the archived test cases and the best suite together, in [0, 1]; 0 is best.

        It does not depend on whether the function is active. A function that reads test cases values the best suite.
        """
        if self.function(name).reads_tests:
            return self.fitness_of(name, self.best)
        return self.fitness_of(name, Individual(tuple(self._measurable(name, self._kept()))))

    def least_distances(self, name: str) -> NDArray[np.float64]:
        """Return the least distance of any kept test case to each target, `(n_targets,)`, approach levels included.

        Kept are the test cases of the archive and of all populations. The distance to a target that existing tests
        cover is 0. It does not depend on the active functions.
        """
        populations = chain.from_iterable(individual.testcases for individual in self._state.individuals())
        kept = list(dict.fromkeys((*self.archived_testcases(), *populations)))
        least = self._state.measurements.least(name, self._measurable(name, kept))
        least[self.granted(name)] = 0.0
        return least

    def _kept(self) -> list[TestCase]:
        return list(dict.fromkeys((*self.archived_testcases(), *self.best.testcases)))

    def archived_testcases(self) -> tuple[TestCase, ...]:
        """Return the distinct test cases of the archive."""
        return self._state.archive.testcases()

    def has_trace(self, testcase: TestCase) -> bool:
        """Return whether a test case was executed and its trace is still kept."""
        return testcase in self._state.measurements

    def trace(self, testcase: TestCase) -> Trace:
        """Return the trace of an executed test case.

        Raises:
            KeyError: there is no trace; see `has_trace`.
        """
        return self._state.measurements.trace(testcase)

    @property
    def iterators(self) -> Container[int]:
        """Ids of operations that return an iterator although their signature does not say so."""
        return self._state.factory.knowledge.results.iterators

    @property
    def crashes(self) -> Sequence[Crash]:
        """The test cases that ended the worker, in order."""
        return self._state.executor.crashes

    def best_suite(self, names: Sequence[str] | None = None) -> list[TestCase]:
        """Return the best individual, plus archived test cases for the targets that it does not cover.

        Args:
            names: the fitness functions whose targets count; by default all active and tracked ones.
        """
        state = self._state
        chosen = dict.fromkeys(state.search.best.testcases if state.search.population else ())
        chosen = {t: None for t in chosen if self.has_trace(t) and not self.trace(t).failure}
        for name in state.archived if names is None else names:
            covered = set(state.measurements.covered(name, self._measurable(name, chosen))[1].tolist())
            for column, testcase in state.archive.best(name).items():
                if column not in covered:
                    chosen[testcase] = None
                    covered.update(state.measurements.covered(name, self._measurable(name, [testcase]))[1].tolist())
        return list(chosen)

    def reduced_suite(self, names: Sequence[str]) -> list[TestCase]:
        """Return few test cases that cover all targets of the named functions that `best_suite` covers.

        Targets that existing tests cover do not count. The choice is greedy: it takes the test case with the most
        uncovered targets until none is left, the earlier one of two equal ones.
        """
        testcases = self.best_suite(names)
        rows = [self.covers(name, testcases) & ~self.granted(name) for name in names]
        covers = np.hstack([np.zeros((len(testcases), 0), bool), *rows])
        chosen: list[int] = []
        while len(testcases) and (counts := covers.sum(axis=1)).any():
            chosen.append(int(counts.argmax()))
            covers &= ~covers[chosen[-1]]
        return [testcases[index] for index in sorted(chosen)]

    # ------------------------------------------------------------------ exceptions

    def discoveries(self) -> list[Discovery]:
        """Return the distinct exceptions discovered so far, in order of discovery."""
        return self.raised_by(list(self._state.archive.best("exception").values()))

    def raised_by(self, testcases: Sequence[TestCase]) -> list[Discovery]:
        """Return the distinct exceptions that executed test cases raise, in order; only exceptions that count."""
        found: dict[tuple[str, str], Discovery] = {}
        for testcase in testcases:
            trace = self.trace(testcase)
            raised = trace.raised
            if raised is None or not raised.counted or trace.failure:
                continue
            function = function_name(self.subject, raised.function)
            found.setdefault((raised.type, function), Discovery(raised.type, function, raised.kind, testcase))
        return list(found.values())

    def ill_typed(self) -> list[tuple[str, str]]:
        """Return class and function of exceptions that ill-typed arguments caused. Such exceptions do not count."""
        return list(self._state.ill_typed)
