"""Random search: new random test cases in every generation; only the archive is kept."""

from __future__ import annotations

from fitgym.evolution.individual import Individual
from fitgym.search.base import Evaluation, Search

__all__ = ["RandomSearch"]


class RandomSearch(Search):
    """The baseline: each generation proposes `population` random suites of one test case.

    The population is the suite of all archived test cases. So features and rewards that read the best individual mean
    the same as for the other algorithms.

    References:
        Arcuri 2017, Many Independent Objective (MIO) Algorithm for Test Suite Generation, section on the empirical
        study: random search stores covering test cases in an archive.
    """

    def ask(self) -> list[Individual]:
        self._asked = [Individual((self.factory.random_test(self.chance),)) for _ in range(self.size)]
        return self._asked

    def tell(self, evaluation: Evaluation) -> None:
        kept = self.archive.testcases()
        self._rank([Individual(kept)] if kept else self._asked[:1], evaluation)
