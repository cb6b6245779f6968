"""Evaluation: the values of executed individuals under the active fitness functions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.engine.state import State
from fitgym.evolution.individual import Individual
from fitgym.testcase.statement import TestCase

__all__ = ["ActiveEvaluation"]


class ActiveEvaluation:
    """Evaluates executed individuals for a search algorithm; see `fitgym.search.base.Evaluation`.

    Args:
        state: of the search.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    def suite_fitness(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """Return the combined fitness of each suite, `(len(individuals),)`: the weighted sum over the active functions.

        Each function is in [0, 1]; 0 is best. Covered targets do not count, unless the algorithm works without the
        archive.
        """
        state = self._state
        total = np.zeros(len(individuals))
        with state.stopwatch.time("measure"):
            for name in state.active:
                total += state.weights.get(name, 1.0) * state.measurements.suite_fitness(name, individuals)
        return total

    def objectives(self, testcases: Sequence[TestCase], *, released: bool = False) -> NDArray[np.float64]:
        """Return the distance of each test case to each open target of active functions, `(len(testcases), n_open)`.

        Args:
            testcases: executed test cases.
            released: only the targets that `released` returns.
        """
        state = self._state
        with state.stopwatch.time("measure"):
            found = [
                state.measurements.objectives(name, testcases, self.released(name) if released else None)
                for name in state.active
            ]
            return np.hstack(found)

    def targets(self) -> list[tuple[str, int]]:
        """Return the open targets in the column order of `objectives`: function name and number of the target."""
        state = self._state
        return [(name, column) for name in state.active for column in state.measurements.open(name).tolist()]

    def secondary(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """Return the secondary objective of executed individuals, `(len(individuals),)`; less is better."""
        return self._state.secondary.of_suites(individuals, self._state.measurements.trace)

    def proxies(self, testcases: Sequence[TestCase]) -> NDArray[np.float64]:
        """Return performance proxies of executed test cases, `(len(testcases), 7)`; see `fitgym.evolution.proxies`."""
        state = self._state
        return state.proxies.of(testcases, list(map(state.measurements.trace, testcases)))

    def released(self, name: str) -> NDArray[np.bool_]:
        """Return which targets of a fitness function have a place that can be reached, `(n_targets,)`.

        A place can be reached in three cases: it is control dependent on no branch, on a branch that the archive
        covers, or on code outside the class under test. A target without a place can always be reached.

        References:
            Panichella, Kifetew and Tonella 2018, Automated Test Case Generation as a Many-Objective Optimisation Problem
            with Dynamic Selection of the Targets, section 3.2, algorithm 2.
        """
        state = self._state
        fitness = state.measurements.fitness[name]
        if fitness.sites is None:
            return np.ones(len(fitness.targets), dtype=bool)
        covered = state.archive.covered("branch").tolist()
        closed = {(b.site, b.outcome) for b, done in zip(state.subject.branches, covered, strict=True) if not done}
        after = [not pairs or not closed.issuperset(pairs) for pairs in state.subject.dependences]
        return np.array([any(after[site] for site in sites) for sites in fitness.sites], dtype=bool)
