"""What searches have in common that evolve single test cases and leave the suite to the archive."""

from __future__ import annotations

from collections.abc import Iterable

from fitgym.evolution.individual import Individual
from fitgym.search.base import Search
from fitgym.testcase.statement import TestCase

__all__ = ["TestCaseSearch"]


class TestCaseSearch(Search):
    """A search whose individuals are single test cases; arguments as for `Search`."""

    __test__ = False  # its name makes pytest look for tests in it
    _suite: Individual | None = None

    @property
    def best(self) -> Individual:
        """The suite of all that the archive holds; the first of the population while that is nothing."""
        kept = self.archive.testcases()
        if not kept:
            return self.population[0]
        if self._suite is None or self._suite.testcases != kept:
            self._suite = Individual(kept)
        return self._suite

    @property
    def living(self) -> list[Individual]:
        """The population and the best suite."""
        return [*self.population, self.best] if self.population else []

    @staticmethod
    def _distinct(testcases: Iterable[TestCase]) -> list[Individual]:
        """An individual of each of the test cases that are not empty, each once, in order."""
        return [Individual((testcase,)) for testcase in dict.fromkeys(testcases) if testcase]
