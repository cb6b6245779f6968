"""OneGoal: a separate genetic algorithm for each target in turn, as tests were generated before whole-suite search."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.evolution.selection import rank_selection
from fitgym.fitness.base import Floats
from fitgym.search._testcases import TestCaseSearch
from fitgym.search.base import Amount, Covering, Evaluation, Probability, Variation
from fitgym.testcase.statement import TestCase

__all__ = ["OneGoal"]

Key = tuple[str, int]


class OneGoal(TestCaseSearch):
    """A genetic algorithm over test cases for one target at a time.

    The targets are taken in random order. Each gets an equal share of the remaining budget. What it does not use goes
    to the later targets. When all have been tried, those that are not covered are tried again. The fitness is the
    distance to the target; the secondary objective breaks ties. A search begins with random test cases and ends when
    its target is covered. The other targets that its last best test case covers are then skipped. Targets that other
    test cases covered by chance do not count. The suite consists of the test cases that covered their targets (`best`);
    the archive is not used.

    Args:
        factory, archive, rng: see `Search`.
        population: number of test cases.
        elite: test cases copied unchanged into the next generation.
        crossover: probability that a pair of parents is crossed.
        patience: generations for each target if there is no budget to divide.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation, section 3.1: the single-goal strategy, its budget and its treatment of collateral coverage.
    """

    uses_archive = False

    def __init__(
        self,
        factory: Variation,
        archive: Covering,
        rng: np.random.Generator,
        *,
        population: Amount = 50,
        elite: Amount = 1,
        crossover: Probability = 0.75,
        patience: Amount = 20,
    ) -> None:
        super().__init__(factory, archive, rng, population=population)
        self.elite = elite
        self.crossover = crossover
        self.patience = patience
        self.target: Key | None = None
        self._waiting: list[Key] = []
        self._covered: set[Key] = set()
        self._found: dict[TestCase, None] = {}
        self._asked: list[Individual] = []
        self._begins = True
        self._ends = 0.0  # share of the budget at which the search for this target ends
        self._left = 0  # generations left for this target, if there is no budget
        self._suite_found: Individual | None = None

    @property
    def best(self) -> Individual:
        """The suite of the final test cases of all searches; the best individual of the population before that."""
        if not self._found:
            return self.population[0]
        if self._suite_found is None or len(self._suite_found) != len(self._found):
            self._suite_found = Individual(tuple(self._found))
        return self._suite_found

    def ask(self) -> list[Individual]:
        offspring = (
            [self.factory.random_test(self.chance) for _ in range(self.size)] if self._begins else self._offspring()
        )
        self._asked = self._distinct(offspring)
        return self._asked

    def tell(self, evaluation: Evaluation) -> None:
        individuals = [*([] if self._begins else self.population[: self.elite]), *self._asked]
        self._begins = False
        values = evaluation.objectives([one.testcases[0] for one in individuals])
        targets = evaluation.targets()
        if self.target not in targets:
            self._turn(targets)
            self._begins = False  # the current individuals are random too, or no target is left
        order = self._sort(individuals, values, targets, evaluation.secondary(individuals))
        if self.target is not None and self.fitness[0] == 0.0:
            self._found[self.population[0].testcases[0]] = None
            row = values[order[0]].tolist()
            self._covered |= {target for target, value in zip(targets, row, strict=True) if value == 0.0}
            self._turn(targets)
            return
        self._left -= 1
        if self.target is None or (self.progress >= self._ends if self.progress else self._left <= 0):
            self._turn(targets)

    def refresh(self, evaluation: Evaluation) -> None:
        """Continue with the target if it still counts, else with another one."""
        if self.population:
            values = evaluation.objectives([one.testcases[0] for one in self.population])
            targets = evaluation.targets()
            if self.target not in targets:
                self._turn(targets)
            self._sort(self.population, values, targets, evaluation.secondary(self.population))

    def _sort(
        self, individuals: Sequence[Individual], values: Floats, targets: Sequence[Key], ties: Floats
    ) -> list[int]:
        """Make the individuals the population, best first. Returns their former indices."""
        column = np.zeros(len(individuals)) if self.target is None else values[:, targets.index(self.target)]
        order: list[int] = np.lexsort((ties, column)).tolist()
        self.population = [individuals[i] for i in order]
        self.fitness = column[order]
        return order

    def _turn(self, targets: Sequence[Key]) -> None:
        """Switch to the next uncovered target, None if all are covered, and restart with random test cases."""
        there = set(targets)
        self._waiting = [target for target in self._waiting if target in there and target not in self._covered]
        if not self._waiting:
            rest = [target for target in targets if target not in self._covered]
            self._waiting = [rest[i] for i in self.rng.permutation(len(rest))]
        self.target = self._waiting.pop() if self._waiting else None
        # An equal share of the remaining budget for this target and for each waiting one.
        self._ends = self.progress + (1.0 - self.progress) / (1 + len(self._waiting))
        self._left = self.patience
        self._begins = True

    def _offspring(self) -> list[TestCase]:
        """Return the offspring that fill the population beyond the elite: two parents by rank, crossed, mutated."""
        offspring: list[TestCase] = []
        n = len(self.population)
        for _ in range(math.ceil((self.size - self.elite) / 2)):
            mother, father = (self.population[rank_selection(n, self.chance)].testcases[0] for _ in range(2))
            children = mother, father
            if self.chance.random() < self.crossover:
                children = self.factory.cross(mother, father, self.chance)
            offspring += [self.factory.mutate(child, self.chance) for child in children]
        return offspring
