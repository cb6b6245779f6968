"""Artificial problems: targets as formulas for the searches that generate tests, without a subject or a worker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fitgym.chance import Chance
from fitgym.engine import parse_search
from fitgym.errors import InputError, UnknownName
from fitgym.evolution.individual import Individual
from fitgym.fitness.base import Floats, Mask, nu
from fitgym.search.base import Search
from fitgym.testcase.statement import TestCase

__all__ = ["KINDS", "LARGEST", "ArtificialEngine", "Points", "Problem"]

KINDS: Final = ("gradient", "plateau", "deceptive", "infeasible")
LARGEST: Final = 1000
"""r: x is a whole number from 0 to r."""

_EXPONENTS = 11  # number of step sizes of a mutation: 2^0 to 2^10
_OTHER_TARGET = 0.01  # probability that a mutation draws target and number anew


@dataclass(frozen=True, slots=True)
class Problem:
    """Targets in groups. Each target is covered by one number, except the infeasible ones, which no number covers.

    A test case is `(id, x)`: the number of its target, and a whole number x in [0, r]. Only `(k, g)` covers a target k
    with the optimum g. The heuristic h of `(k, x)` is 1 / (1 + d) for k, and 0 for all other targets:

        gradient     d = |g - x|
        plateau      d = g - x if x <= g, else 0.1 r: constant on the other side
        deceptive    d = g - x if x <= g, else 1 + r - x: it falls with the distance from the optimum
        infeasible   d = 1 for any x

    As for the fitness functions of a subject, the measured distance is 1 - h = d / (d + 1).

    Attributes:
        kinds: the kinds of the groups, in order.
        sizes: the number of targets in each group.
        optima: the optimum g of each target, group by group.

    References:
        Arcuri 2017, Many Independent Objective (MIO) Algorithm for Test Suite Generation, section 4.1.
    """

    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    optima: tuple[int, ...]

    @classmethod
    def draw(cls, groups: Mapping[str, int], seed: int) -> Problem:
        """Return a problem with uniformly drawn optima.

        Args:
            groups: number of targets of each kind.
            seed: seed of the optima. Two problems with the same seed share the optima that both have, group by group.

        Raises:
            UnknownName: there is no such kind.
            InputError: there is no target, or a number of targets is below 0.
        """
        for kind, size in groups.items():
            if kind not in KINDS:
                raise UnknownName("kind of targets", kind, KINDS)
            if not (isinstance(size, int) and size >= 0):
                raise InputError(f"the number of {kind} targets is {size}, expected a whole number of at least 0")
        kinds = tuple(kind for kind in KINDS if groups.get(kind))
        if not kinds:
            raise InputError("the problem has no targets: give at least one group, such as {'gradient': 10}")
        sizes = tuple(groups[kind] for kind in kinds)
        optima: list[int] = []
        for kind, size in zip(kinds, sizes, strict=True):
            rng = np.random.default_rng((seed, KINDS.index(kind)))
            optima += rng.integers(LARGEST + 1, size=size).tolist()
        return cls(kinds, sizes, tuple(optima))

    def __len__(self) -> int:
        """The number of targets."""
        return len(self.optima)

    def columns(self, kind: str) -> slice:
        """Return the columns of a group's targets."""
        place = self.kinds.index(kind)
        return slice(sum(self.sizes[:place]), sum(self.sizes[: place + 1]))

    @property
    def feasible(self) -> Mask:
        """The mask of targets that can be covered, `(n_targets,)`."""
        return np.repeat([kind != "infeasible" for kind in self.kinds], self.sizes)

    def distances(self, testcases: Sequence[TestCase]) -> Floats:
        """Return the distances of test cases to targets, `(len(testcases), n_targets)`: 0 covered, 1 not reached."""
        found = np.ones((len(testcases), len(self)))
        if not testcases:
            return found
        ids, xs = np.array(testcases).T
        optima = np.array(self.optima)[ids]
        kinds = np.repeat([KINDS.index(kind) for kind in self.kinds], self.sizes)[ids]
        before = xs <= optima
        away = [optima - xs, np.full_like(xs, LARGEST // 10), 1 + LARGEST - xs, np.ones_like(xs)]
        d = np.where(before, optima - xs, np.choose(kinds, [-away[0], *away[1:]]))
        found[np.arange(len(testcases)), ids] = nu(np.where(kinds == KINDS.index("infeasible"), 1, d))
        return found


class Points:
    """Creates and mutates the test cases `(id, x)` of a problem.

    A mutation adds or subtracts 2^i, with i uniform in 0 to 10; x stays within its range. With probability 0.01 a
    mutation draws both numbers anew.

    References:
        Arcuri 2017, section 4.1. In the released code, id moves by a power of two and x stays the same.
    """

    def __init__(self, problem: Problem) -> None:
        self._n = len(problem)

    def random_test(self, rng: Chance) -> TestCase:
        """Draw both numbers uniformly."""
        return int(rng.random() * self._n), int(rng.random() * (LARGEST + 1))

    def mutate(self, testcase: TestCase, rng: Chance) -> TestCase:
        """Return a mutated copy."""
        if rng.random() < _OTHER_TARGET:
            return self.random_test(rng)
        identifier, x = testcase
        step = 1 << int(rng.random() * _EXPONENTS)
        upwards = x == 0 or (x < LARGEST and rng.random() < 0.5)
        return identifier, min(LARGEST, x + step) if upwards else max(0, x - step)

    def cross(self, first: TestCase, second: TestCase, rng: Chance) -> tuple[TestCase, TestCase]:
        """Return both test cases unchanged, because a number for one target is meaningless for another."""
        return first, second

    def strays(self, testcase: TestCase) -> bool:
        """Return False, because there is no focus."""
        return False


class ArtificialEngine:
    """A search on an artificial problem, the counterpart of `fitgym.engine.Engine`.

    The groups of targets are its fitness functions. It is also the archive: a covered target keeps its test case and
    leaves the fitness at the end of the generation.

    Args:
        problem: the problem to search.
        fitness: the active groups; all by default.
        search: the name of the algorithm, with options after a colon.
        seed: seed of all randomness in the run.
        population: number of individuals, unless `search` sets it.
        budget: evaluations of test cases, which are never exceeded. Test cases that a suite inherits are not evaluated
            again. Test cases proposed on their own are, even if they are known.

    Attributes:
        evaluations: number of evaluations so far.
        generation: number of generations so far.
        active: the groups that guide the search.
        least: the smallest distance to each target so far, `(n_targets,)`.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        fitness: Sequence[str] | None = None,
        search: str = "mio",
        seed: int = 0,
        population: int = 50,
        budget: int = 1000,
    ) -> None:
        if budget < 1:
            raise InputError(f"the budget is {budget}, expected at least 1 evaluation")
        self.problem = problem
        self.budget = budget
        self.evaluations = 0
        self.generation = 0
        self.active: tuple[str, ...] = ()
        self.least = np.ones(len(problem))
        self._best: dict[int, TestCase] = {}
        self._closed = np.zeros(len(problem), dtype=bool)
        self._known: dict[TestCase, None] = {}  # the test cases of the current suites
        self.activate(problem.kinds if fitness is None else fitness)
        algorithm, options = parse_search(search)
        options.setdefault("population", population)
        self.search: Search = algorithm(Points(problem), self, np.random.default_rng(seed), **options)

    def activate(self, names: Iterable[str]) -> None:
        """Activate these groups from the next generation.

        Raises:
            UnknownName: the problem has no such group.
            InputError: no name is given.
        """
        chosen = tuple(dict.fromkeys(names))
        for name in chosen:
            if name not in self.problem.kinds:
                raise UnknownName("group of targets", name, self.problem.kinds)
        if not chosen:
            raise InputError("no group of targets is active: name at least one")
        if chosen != self.active:
            self.active = chosen
            if self.evaluations and self.search.population:
                self.search.refresh(self)

    def reseed(self, seed: int) -> None:
        """Replace the random generator."""
        self.search.reseed(np.random.default_rng(seed))

    @property
    def spent(self) -> float:
        """The spent share of the budget, in [0, 1]."""
        return self.evaluations / self.budget

    @property
    def n_covered(self) -> int:
        """The number of covered targets."""
        return len(self._best)

    def step(self) -> None:
        """Run one generation. If the budget ends during it, only the covered targets of the generation count."""
        if self.spent >= 1.0:
            return
        self.search.progress = self.spent
        self.generation += 1
        proposed = self.search.ask()
        new = [t for one in proposed for t in one.testcases if len(one) == 1 or t not in self._known]
        if not new:  # otherwise a search that only proposes copies would never end
            self.evaluations += 1
        affordable = new[: self.budget - self.evaluations]
        self.evaluations += len(affordable)
        covered_before = len(self._best)
        self._cover(affordable)
        if len(affordable) < len(new):
            return
        self.search.tell(self)
        if len(self._best) > covered_before:
            if self.search.uses_archive:
                self._closed[list(self._best)] = True
            self.search.refresh(self)
        self._known = dict.fromkeys(t for one in self.search.individuals if len(one) > 1 for t in one.testcases)

    def run(self) -> ArtificialEngine:
        """Step until the budget is spent or all feasible targets are covered."""
        feasible = int(self.problem.feasible.sum())
        while self.spent < 1.0 and self.n_covered < feasible:
            self.step()
        return self

    # -------------------------------------------------------------------------------------- interface to the search

    def covered(self, name: str) -> NDArray[np.bool_]:
        """Return the mask of covered targets of a group, shape `(n_targets,)`."""
        columns = range(len(self.problem))[self.problem.columns(name)]
        return np.array([column in self._best for column in columns], dtype=bool)

    def testcases(self) -> tuple[TestCase, ...]:
        """Return the test cases that cover a target."""
        return tuple(self._best.values())

    def targets(self) -> list[tuple[str, int]]:
        """Return the open targets of the active groups: the group, and the index within the group."""
        return [
            (name, column)
            for name in self.active
            for column, closed in enumerate(self._closed[self.problem.columns(name)].tolist())
            if not closed
        ]

    def objectives(self, testcases: Sequence[TestCase], *, released: bool = False) -> Floats:
        """Return the distance of each test case to each open target, see `targets`; `released` makes no difference."""
        return self.problem.distances(testcases)[:, self._open()]

    def secondary(self, individuals: Sequence[Individual]) -> Floats:
        """Return the number of test cases of each individual, the only tie-breaker in artificial problems."""
        return np.array([len(one) for one in individuals], dtype=np.float64)

    def proxies(self, testcases: Sequence[TestCase]) -> Floats:
        """Return zeros, because all test cases cost the same."""
        return np.zeros((len(testcases), 1))

    def suite_fitness(self, individuals: Sequence[Individual]) -> Floats:
        """Return the mean over all active targets of the smallest distance in each suite; 0 for covered targets."""
        everything = list(dict.fromkeys(t for one in individuals for t in one.testcases))
        place: dict[Any, int] = {testcase: row for row, testcase in enumerate(everything)}
        distances = self.objectives(everything)
        total = sum(self.problem.sizes[self.problem.kinds.index(name)] for name in self.active)
        least = [distances[[place[t] for t in one.testcases]].min(axis=0).sum() for one in individuals]
        return np.array(least) / total

    def _open(self) -> NDArray[np.intp]:
        every = np.arange(len(self.problem))
        columns = np.concatenate([every[self.problem.columns(name)] for name in self.active])
        found: NDArray[np.intp] = columns[~self._closed[columns]]
        return found

    def _cover(self, testcases: Sequence[TestCase]) -> None:
        distances = self.problem.distances(testcases)
        np.minimum(self.least, distances.min(axis=0, initial=1.0), out=self.least)
        rows, columns = np.nonzero(distances == 0.0)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            self._best.setdefault(column, testcases[row])
