"""The interface of search algorithms: a search proposes individuals, receives their evaluation and executes nothing."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Protocol

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.chance import Chance
from fitgym.evolution.individual import Individual
from fitgym.testcase.statement import TestCase

__all__ = ["Amount", "Covering", "Evaluation", "Probability", "Search", "Variation"]

Probability = Annotated[float, Meta(ge=0.0, le=1.0)]
"""Type of an option that is a share or a probability."""

Amount = Annotated[int, Meta(ge=0, le=100_000)]
"""Type of an option that is a number of things."""


class Variation(Protocol):
    """The source of test cases of a search, such as `fitgym.testcase.factory.TestFactory`."""

    def random_test(self, rng: Chance, /) -> TestCase:
        """Return a new test case."""
        ...

    def mutate(self, testcase: TestCase, rng: Chance, /) -> TestCase:
        """Return a changed copy, or the same test case if no change was possible."""
        ...

    def cross(self, first: TestCase, second: TestCase, rng: Chance, /) -> tuple[TestCase, TestCase]:
        """Return two offspring."""
        ...

    def strays(self, testcase: TestCase, /) -> bool:
        """Return whether there is a focus and the test case calls nothing inside it."""
        ...


class Covering(Protocol):
    """The part of the archive that a search can read; see `fitgym.evolution.archive.Archive`."""

    def covered(self, name: str, /) -> NDArray[np.bool_]:
        """Return which targets of a fitness function are covered, shape `(n_targets,)`."""
        ...

    def testcases(self) -> tuple[TestCase, ...]:
        """Return the distinct test cases that the archive keeps."""
        ...


class Evaluation(Protocol):
    """The values of executed individuals under the active fitness functions, which the engine computes for a search."""

    def suite_fitness(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """Return the combined fitness of each individual: the sum of its active suite fitness values; 0 is best."""
        ...

    def objectives(self, testcases: Sequence[TestCase], *, released: bool = False) -> NDArray[np.float64]:
        """Return the distance of each test case to each open target, `(len(testcases), n_open)`; 0 is covered.

        The columns are those of the active functions, one function after the other. A function that only values whole
        suites, such as diversity, has none.

        Args:
            testcases: executed test cases.
            released: only the targets whose place depends on no branch, or on one that the archive covers. Branches
                must be tracked for this (`Search.tracks`).
        """
        ...

    def secondary(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """Return the secondary objective of executed individuals, `(len(individuals),)`; less is better.

        It breaks ties of fitness.
        """
        ...

    def proxies(self, testcases: Sequence[TestCase]) -> NDArray[np.float64]:
        """Return performance proxies of executed test cases, `(len(testcases), n)`; see `fitgym.evolution.proxies`."""
        ...

    def targets(self) -> list[tuple[str, int]]:
        """Return the open targets in the column order of `objectives`: function name and number of the target.

        Measuring may append targets, so call it after `objectives`.
        """
        ...


class Search(ABC):
    """The base class of search algorithms.

    `ask` proposes individuals. The engine executes their unknown test cases, offers them to the archive and calls
    `tell` with the evaluation. The engine may exchange the active fitness functions between two generations. So a
    search stores no fitness value across `tell`, or asks for it again.

    Args:
        factory: makes and changes test cases.
        archive: covering test cases, a source of new ones.
        rng: the only source of randomness.
        population: number of individuals.

    Attributes:
        progress: the completed share of the search, in [0, 1]; the engine sets it before each generation.
        least_population: the smallest number of individuals that makes sense.
        archives_by: the secondary objective by which the archive chooses; None for the one that breaks ties.
        uses_archive: covered targets leave the fitness, and covering test cases are a source of new ones.
        tracks: fitness functions whose targets the archive must know, active or not.
        chance: a separate random stream for single numbers, seeded from `rng`. Making a test case draws about thirty
            numbers; `random.Random` draws each in a tenth of the time of a `Generator`.
    """

    least_population: ClassVar[int] = 2
    archives_by: ClassVar[str | None] = None
    uses_archive: bool = True
    tracks: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, factory: Variation, archive: Covering, rng: np.random.Generator, *, population: Amount = 50
    ) -> None:
        if population < self.least_population:
            raise ValueError(f"population is {population}, expected at least {self.least_population}")
        self.factory = factory
        self.archive = archive
        self.rng = rng
        self.chance = random.Random(int(rng.integers(2**63)))
        self.size = population
        self.progress = 0.0
        self.population: list[Individual] = []
        self.fitness: NDArray[np.float64] = np.empty(0)

    def reseed(self, rng: np.random.Generator) -> None:
        """Continue with another random generator."""
        self.rng = rng
        self.chance = random.Random(int(rng.integers(2**63)))

    @abstractmethod
    def ask(self) -> list[Individual]:
        """Return the individuals to execute next; the first call returns the initial population."""

    @abstractmethod
    def tell(self, evaluation: Evaluation) -> None:
        """Form the next population, best first, from the last population and the individuals that `ask` proposed."""

    def refresh(self, evaluation: Evaluation) -> None:
        """Evaluate and sort the population again, because fitness functions or open targets were exchanged."""
        if self.population:
            self._rank(self.population, evaluation)

    @property
    def best(self) -> Individual:
        """The best individual of the population.

        Raises:
            IndexError: `tell` has not been called yet.
        """
        return self.population[0]

    @property
    def individuals(self) -> list[Individual]:
        """All individuals whose values may still be needed."""
        return self.population

    def _rank(self, individuals: Sequence[Individual], evaluation: Evaluation) -> None:
        """Make `individuals` the population: smallest fitness first, ties by the secondary objective, then by age."""
        fitness = evaluation.suite_fitness(individuals)
        order = np.lexsort((evaluation.secondary(individuals), fitness))
        self.population = [individuals[i] for i in order]
        self.fitness = fitness[order]
