"""Whole-suite search: a genetic algorithm whose individuals are suites, with an archive of covering test cases."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.evolution.selection import rank_selection
from fitgym.search.base import Amount, Covering, Evaluation, Probability, Search, Variation
from fitgym.testcase.statement import TestCase

__all__ = ["WholeSuite"]


class WholeSuite(Search):
    """A monotonic genetic algorithm over whole suites.

    Each generation keeps the elite and fills the rest with pairs. Two parents are chosen by rank selection, crossed
    with probability `crossover` and mutated. Then either both offspring or both parents survive, whichever pair
    contains the best individual (fitness first, then the secondary objective). Offspring with more than twice the
    statements of the best individual are rejected unless they beat it (bloat control).

    Mutation of a suite changes each test case with probability 1 / size. Then it adds new test cases with probability
    `insertion`, `insertion`^2, ... A new test case is a mutated copy from the archive with probability `clone`, else
    random.

    Args:
        factory, archive, rng: see `Search`.
        population: number of suites.
        elite: suites copied unchanged into the next generation.
        crossover: probability that a pair of parents is crossed.
        insertion: probability of adding a first new test case.
        clone: probability that a new test case starts from the archive.
        clone_mutations: largest number of mutations of a copy from the archive, uniform from 0.
        initial_tests: an initial suite has between 1 and this many test cases.
        max_tests: limit of test cases in a suite.
        use_archive: False makes all new test cases random (the algorithm called Whole instead of Archive; the engine
            then also keeps covered targets in the fitness).

    The defaults are EvoSuite 1.0.7's.

    References:
        Fraser and Arcuri 2013, Whole Test Suite Generation: representation, operators, bloat control.
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation: the archive as a source of test cases.

    Differs from EvoSuite: the offspring of one generation are all proposed before any is evaluated (`ask`, `tell`), so
    the bloat limit compares with the best of the previous generation. A suite with a test case that ran out of time
    does not get the worst fitness. The test case covers nothing, and its offspring omit the statement that hung
    (`TestFactory.cut`).
    """

    def __init__(
        self,
        factory: Variation,
        archive: Covering,
        rng: np.random.Generator,
        *,
        population: Amount = 50,
        elite: Amount = 1,
        crossover: Probability = 0.75,
        insertion: Probability = 0.1,
        clone: Probability = 0.2,
        clone_mutations: Amount = 2,
        initial_tests: Amount = 10,
        max_tests: Amount = 100,
        use_archive: bool = True,
    ) -> None:
        super().__init__(factory, archive, rng, population=population)
        self.elite = elite
        self.crossover = crossover
        self.insertion = insertion
        self.clone = clone
        self.clone_mutations = clone_mutations
        self.initial_tests = initial_tests
        self.max_tests = max_tests
        self.uses_archive = use_archive
        self._pairs: list[tuple[Individual, Individual, Individual, Individual]] = []
        self._initial: list[Individual] = []

    def ask(self) -> list[Individual]:
        if not self.population:
            self._initial = [self._random_suite() for _ in range(self.size)]
            return self._initial
        self._pairs = [self._pair() for _ in range((self.size - self.elite + 1) // 2)]
        return [child for _, _, *children in self._pairs for child in children]

    def tell(self, evaluation: Evaluation) -> None:
        if not self.population:
            self._rank(self._initial, evaluation)
            return
        members = list(dict.fromkeys([*self.population, *(i for pair in self._pairs for i in pair)]))
        values = evaluation.suite_fitness(members).tolist()
        ties = evaluation.secondary(members).tolist()
        key = {i: (value, tie) for i, value, tie in zip(members, values, ties, strict=True)}
        best = self.population[0]
        survivors = self.population[: self.elite]
        for mother, father, daughter, son in self._pairs:
            first = daughter if self._acceptable(daughter, best, key) else mother
            second = son if self._acceptable(son, best, key) else father
            if min(key[first], key[second]) <= min(key[mother], key[father]):
                survivors += (first, second)
            else:
                survivors += (mother, father)
        self._rank(survivors[: self.size], evaluation)

    def _acceptable(self, child: Individual, best: Individual, key: dict[Individual, tuple[float, float]]) -> bool:
        return 0 < child.length <= 2 * best.length or key[child][0] < key[best][0]

    def _pair(self) -> tuple[Individual, Individual, Individual, Individual]:
        """Return two parents and their two offspring."""
        n = len(self.population)
        mother = self.population[rank_selection(n, self.chance)]
        father = self.population[rank_selection(n, self.chance)]
        first, second = mother.testcases, father.testcases
        if self.chance.random() < self.crossover and len(first) > 1 and len(second) > 1:
            # Both suites are cut at the same relative position, so children are about as long as their parents.
            alpha = self.chance.random()
            cut_1, cut_2 = int((len(first) - 1) * alpha) + 1, int((len(second) - 1) * alpha) + 1
            first, second = first[:cut_1] + second[cut_2:], second[:cut_2] + first[cut_1:]
        return mother, father, self._mutant(first), self._mutant(second)

    def _mutant(self, testcases: Sequence[TestCase]) -> Individual:
        """Return a suite with each test case changed with probability 1 / size, and perhaps new ones."""
        random = self.chance.random
        rate = 1.0 / max(1, len(testcases))
        changed = [self.factory.mutate(t, self.chance) if random() < rate else t for t in testcases]
        probability = self.insertion
        while len(changed) < self.max_tests and random() < probability:
            changed.append(self._new_test())
            probability *= self.insertion
        distinct = tuple(dict.fromkeys(filter(None, changed[: self.max_tests])))
        return Individual(distinct or (self._new_test(),))

    def _new_test(self) -> TestCase:
        stored = self.archive.testcases() if self.uses_archive and self.chance.random() < self.clone else ()
        if not stored:
            return self.factory.random_test(self.chance)
        testcase = stored[int(self.chance.random() * len(stored))]
        for _ in range(int(self.chance.random() * (self.clone_mutations + 1))):
            testcase = self.factory.mutate(testcase, self.chance)
        return testcase

    def _random_suite(self) -> Individual:
        count = 1 + int(self.chance.random() * min(self.initial_tests, self.max_tests))
        return Individual(tuple(dict.fromkeys(self._new_test() for _ in range(count))))
