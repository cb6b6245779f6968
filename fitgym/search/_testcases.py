"""The base class of searches that evolve single test cases; their suite is the archive."""

from __future__ import annotations

from collections.abc import Iterable

from fitgym.evolution.individual import Individual
from fitgym.search.base import Search
from fitgym.testcase.statement import TestCase

__all__ = ["TestCaseSearch"]


class TestCaseSearch(Search):
    """A search whose individuals are single test cases; arguments as for `Search`."""

    __test__ = False  # pytest would collect the class because of its name
    _suite: Individual | None = None

    @property
    def best(self) -> Individual:
        """The suite of all archived test cases; the first individual of the population while the archive is empty."""
        kept = self.archive.testcases()
        if not kept:
            return self.population[0]
        if self._suite is None or self._suite.testcases != kept:
            self._suite = Individual(kept)
        return self._suite

    @property
    def individuals(self) -> list[Individual]:
        """The population and the best suite."""
        return [*self.population, self.best] if self.population else []

    @staticmethod
    def _distinct(testcases: Iterable[TestCase]) -> list[Individual]:
        """Return an individual for each distinct test case that is not empty, in order."""
        return [Individual((testcase,)) for testcase in dict.fromkeys(testcases) if testcase]
