"""What a search algorithm is: it asks for evaluations and is told the results; it never executes anything."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, ClassVar, Protocol

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.evolution.individual import Individual
from fitgym.subject.code.patterns import Chance
from fitgym.testcase.statement import TestCase

__all__ = ["Amount", "Covering", "Evaluation", "Probability", "Search", "Variation"]

Probability = Annotated[float, Meta(ge=0.0, le=1.0)]
"""Of an option: a share or a probability."""

Amount = Annotated[int, Meta(ge=0, le=100_000)]
"""Of an option: how many."""


class Variation(Protocol):
    """Where a search gets test cases from; `fitgym.testcase.factory.TestFactory` for those of a subject."""

    def random_test(self, rng: Chance, /) -> TestCase:
        """A new one."""
        ...

    def mutate(self, testcase: TestCase, rng: Chance, /) -> TestCase:
        """A changed copy, the same one if no change could be made."""
        ...

    def cross(self, first: TestCase, second: TestCase, rng: Chance, /) -> tuple[TestCase, TestCase]:
        """Two offspring."""
        ...


class Covering(Protocol):
    """What a search sees of the archive, see `fitgym.evolution.archive.Archive`."""

    def covered(self, name: str, /) -> NDArray[np.bool_]:
        """Which targets of a fitness function are covered, shape `(n_targets,)`."""
        ...

    def testcases(self) -> tuple[TestCase, ...]:
        """The distinct test cases that are kept."""
        ...


class Evaluation(Protocol):
    """What the engine tells about executed individuals under the fitness functions that are active now."""

    def suite_fitness(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """The combined fitness of each individual: the sum of its active suite fitness values, smaller is better."""
        ...

    def objectives(self, testcases: Sequence[TestCase], *, released: bool = False) -> NDArray[np.float64]:
        """How far each test case is from each open target, `(len(testcases), n_open)`; 0 is covered.

        The columns are those of the active functions, one function after the other. A function that values whole suites
        only, such as diversity, has none.

        Args:
            testcases: that were executed.
            released: only the targets whose place depends on no branch, or on one that the archive covers; branches must
                be tracked for that (`Search.tracks`).
        """
        ...

    def secondary(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """The secondary objective of executed individuals, `(len(individuals),)`, which breaks ties; less is better."""
        ...

    def proxies(self, testcases: Sequence[TestCase]) -> NDArray[np.float64]:
        """Performance proxies of executed test cases, `(len(testcases), n)`, see `fitgym.evolution.proxies`."""
        ...

    def targets(self) -> list[tuple[str, int]]:
        """The open targets, in the order of the columns of `objectives`: name of the function, and which of its targets.

        Measuring may append targets, so ask after `objectives`.
        """
        ...


class Search(ABC):
    """A search algorithm.

    `ask` proposes individuals, the engine executes the test cases among them that it has not seen, offers them to the
    archive and calls `tell` with the evaluation. Between two generations the engine may exchange the active fitness
    functions; a search therefore never keeps a number across `tell`, or asks for it again.

    Args:
        factory: makes and changes test cases.
        archive: covering test cases, as a source of new ones.
        rng: the only source of chance.
        population: number of individuals.

    Attributes:
        progress: how much of the search is over, in [0, 1], as the engine says before each generation.
        least_population: the smallest number of individuals that makes sense.
        archives_by: the secondary objective by which the archive chooses; None for the one that breaks ties.
        uses_archive: covered targets leave the fitness, and covering test cases are a source of new ones.
        tracks: fitness functions whose targets the archive must know whatever is active.
        chance: a stream of its own, seeded from `rng`, for single numbers: making a test case takes some thirty, and
            `random.Random` draws one in a tenth of the time that a `Generator` needs.
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
        """Go on with another source of chance."""
        self.rng = rng
        self.chance = random.Random(int(rng.integers(2**63)))

    @abstractmethod
    def ask(self) -> list[Individual]:
        """The individuals to execute next; the first call gives the initial population."""

    @abstractmethod
    def tell(self, evaluation: Evaluation) -> None:
        """Form the next population from the last population and what `ask` proposed, best first."""

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
    def living(self) -> list[Individual]:
        """All individuals of which values may be asked."""
        return self.population

    def _rank(self, individuals: Sequence[Individual], evaluation: Evaluation) -> None:
        """Make `individuals` the population: smallest fitness first, ties by the secondary objective, then by age."""
        fitness = evaluation.suite_fitness(individuals)
        order = np.lexsort((evaluation.secondary(individuals), fitness))
        self.population = [individuals[i] for i in order]
        self.fitness = fitness[order]
