"""MOSA: a genetic algorithm over test cases with every target as a separate objective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import UnknownName
from fitgym.evolution.fronts import epsilon_distance, fronts, subvector_distance
from fitgym.evolution.individual import Individual
from fitgym.evolution.selection import rank_selection
from fitgym.fitness.base import Floats
from fitgym.search._testcases import TestCaseSearch
from fitgym.search.base import Amount, Covering, Evaluation, Probability, Variation
from fitgym.testcase.statement import TestCase

__all__ = ["MOSA"]

DISTANCES = {"subvector": subvector_distance, "epsilon": epsilon_distance}


class MOSA(TestCaseSearch):
    """Many-objective sorting: individuals are single test cases, and the archive is the suite.

    Each generation pairs parents, crosses them with probability `crossover`, mutates both and adds some new test cases.
    Parents and offspring are sorted together: first the best test cases for some open target, then by Pareto dominance
    over the open targets (`fitgym.evolution.fronts`). The best survive, whole fronts first, and of the last front those
    with the largest distance to the others. The population keeps its size, except that all best test cases for some
    target survive, even if they are more.

    Args:
        factory, archive, rng: see `Search`.
        population: number of test cases.
        crossover: probability that a pair of parents is crossed.
        tournament: number of individuals drawn for a parent, which is the best of them; 0 for rank selection,
            EvoSuite's default.
        fresh: new test cases in each generation, as a share of the population. Each is random, or with probability 1/2
            a copy from the archive, mutated `clone_mutations` times.
        clone_mutations: see `fresh`.
        distance: the distance to the other test cases of a front: "subvector", as published, or "epsilon", as in the
            released code.
        distinct: propose no test case that is in the population, so that a local optimum cannot fill it; False as
            published.
        neutral: choose at random among test cases that are equally near to a target and equally long, so that the
            representative of the target drifts over a plateau. With False the oldest stays. The papers do not specify
            it. Arcuri's results on artificial problems correspond to the oldest (`benchmarks/artificial_problems.py`).

    References:
        Panichella, Kifetew and Tonella 2015, Reformulating Branch Coverage as a Many-Objective Optimization Problem.
        Panichella, Kifetew and Tonella 2018, Automated Test Case Generation as a Many-Objective Optimisation Problem
        with Dynamic Selection of the Targets: the archive.
        Arcuri 2017, Many Independent Objective (MIO) Algorithm for Test Suite Generation, section 4.
    """

    def __init__(
        self,
        factory: Variation,
        archive: Covering,
        rng: np.random.Generator,
        *,
        population: Amount = 50,
        crossover: Probability = 0.75,
        tournament: Amount = 10,
        fresh: Probability = 0.1,
        clone_mutations: Amount = 2,
        distance: Literal["subvector", "epsilon"] = "subvector",
        distinct: bool = True,
        neutral: bool = True,
    ) -> None:
        super().__init__(factory, archive, rng, population=population)
        if distance not in DISTANCES:
            raise UnknownName("distance", distance, tuple(DISTANCES))
        self.crossover = crossover
        self.tournament = tournament
        self.fresh = fresh
        self.clone_mutations = clone_mutations
        self.distance = distance
        self.distinct = distinct
        self.neutral = neutral
        self._offspring: list[Individual] = []

    def ask(self) -> list[Individual]:
        if not self.population:
            self._offspring = self._distinct(self.factory.random_test(self.chance) for _ in range(self.size))
            return self._offspring
        proposed = [child for _ in range(self.size // 2) for child in self._pair()]
        proposed += [self._new_test() for _ in range(round(self.fresh * self.size))]
        if self.distinct:
            there = {individual.testcases[0] for individual in self.population}
            proposed = [testcase for testcase in dict.fromkeys(proposed) if testcase not in there]
        self._offspring = [Individual((testcase,)) for testcase in proposed if testcase]
        return self._offspring

    def tell(self, evaluation: Evaluation) -> None:
        self._survive([*self.population, *self._offspring], evaluation)

    def refresh(self, evaluation: Evaluation) -> None:
        """Sort the population again, because other targets count."""
        if self.population:
            self._survive(self.population, evaluation)

    def _survive(self, individuals: Sequence[Individual], evaluation: Evaluation) -> None:
        """Make the best individuals the population, best first."""
        values = self._objectives([individual.testcases[0] for individual in individuals], evaluation)
        ties = evaluation.secondary(individuals)
        survivors: list[Individual] = []
        ranks: list[float] = []
        for rank, front in enumerate(fronts(values, ties, self.size, self.chance if self.neutral else None)):
            if rank and len(survivors) >= self.size:
                break
            apart = self._apart(values[front], [individuals[i] for i in front.tolist()], evaluation)
            ordered = front[np.lexsort((ties[front], -apart))].tolist()
            room = self.size - len(survivors)
            is_preferred = rank == 0 and values.shape[1] > 0
            chosen = ordered if is_preferred else ordered[:room]
            survivors += [individuals[i] for i in chosen]
            ranks += [float(rank)] * len(chosen)
        self.population = survivors
        self.fitness = np.array(ranks)

    def _apart(self, values: Floats, front: Sequence[Individual], evaluation: Evaluation) -> Floats:
        """Return the priority of each individual of a front for survival, given their distances to the targets."""
        return DISTANCES[self.distance](values)

    def _objectives(self, testcases: Sequence[TestCase], evaluation: Evaluation) -> NDArray[np.float64]:
        """Return the distances to the targets that the search pursues."""
        return evaluation.objectives(testcases)

    def _parent(self) -> TestCase:
        """Return the best of `tournament` random individuals.

        The population is sorted, so the smallest index is the best.
        """
        n = len(self.population)
        if not self.tournament:
            return self.population[rank_selection(n, self.chance)].testcases[0]
        random = self.chance.random
        return self.population[min([int(random() * n) for _ in range(self.tournament)])].testcases[0]

    def _pair(self) -> list[TestCase]:
        """Return the offspring of two parents that differ from both."""
        parents = self._parent(), self._parent()
        children = parents
        if self.chance.random() < self.crossover:
            children = self.factory.cross(*parents, self.chance)
        return [mutant for child in children if (mutant := self._mutant(child)) and mutant not in parents]

    def _mutant(self, testcase: TestCase) -> TestCase:
        """Return a changed copy, with a second attempt if the first one changed nothing."""
        changed = self.factory.mutate(testcase, self.chance)
        return self.factory.mutate(testcase, self.chance) if changed == testcase else changed

    def _new_test(self) -> TestCase:
        stored = self.archive.testcases()
        if not stored or self.chance.random() < 0.5:
            return self.factory.random_test(self.chance)
        testcase = stored[int(self.chance.random() * len(stored))]
        for _ in range(self.clone_mutations):
            testcase = self.factory.mutate(testcase, self.chance) or testcase
        return testcase
