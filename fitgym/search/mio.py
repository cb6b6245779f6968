"""MIO: many independent objectives. Every target has a small population, and the search focuses on fewer over time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.fitness.base import Floats
from fitgym.search._testcases import TestCaseSearch
from fitgym.search.base import Amount, Covering, Evaluation, Probability, Variation
from fitgym.testcase.statement import TestCase

__all__ = ["MIO"]

_NEVER = np.iinfo(np.int64).max  # never the least count, so an empty population is not chosen


@dataclass(slots=True)
class _Line:
    """A test case that is mutated several times in a row.

    Attributes:
        testcase: the start of the next mutation.
        left: the number of mutations left.
    """

    testcase: TestCase
    left: int


@dataclass(slots=True)
class _Nearest:
    """The population of one target: the test cases nearest to it, nearest first, the shorter of two equally near ones.

    Attributes:
        keys: distance and length of each.
        testcases: in the same order.
        sampled: how often one of them was chosen since a better one was found.
    """

    keys: list[tuple[float, int]] = field(default_factory=list)
    testcases: list[TestCase] = field(default_factory=list)
    sampled: int = 0

    def offer(self, distance: float, testcase: TestCase, limit: int) -> bool:
        """Add a test case if there is room or if it is not worse than the last one, which it replaces.

        Returns:
            Whether the test case was added.
        """
        key = distance, len(testcase)
        full = len(self.keys) >= limit
        if full and key > self.keys[-1]:
            return False
        if not self.keys or key < self.keys[-1]:
            self.sampled = 0
        place = bisect_left(self.keys, key)
        self.keys.insert(place, key)
        self.testcases.insert(place, testcase)
        self.shrink(limit)
        return True

    def shrink(self, limit: int) -> None:
        """Keep at most `limit` test cases."""
        del self.keys[limit:], self.testcases[limit:]


class MIO(TestCaseSearch):
    """Many Independent Objective algorithm: every target has its own population, and the archive is the suite.

    A test case is in the population of a target if it executes the decision behind the target (its distance is below
    1). The algorithm either evaluates a new random test case, with probability P_r, or mutates a test case from the
    population of one target. It mutates up to m times in a row. A mutant replaces its parent in this chain unless it is
    worse for some open target and better for none. The algorithm chooses the target with the fewest samples since a
    better test case was found for it (feedback-directed sampling). So it spends little on targets that cannot be
    covered.

    With the used share p of the budget, three numbers go from exploration to exploitation, linearly until p = `focus`
    and constant from then on:

        P_r, probability of a random test case   random_rate -> 0
        n, largest population of a target        kept -> 1
        m, mutations in a row                    1 -> mutations

    Without a budget they keep their initial values.

    Args:
        factory, archive, rng: see `Search`.
        population: number of test cases proposed together. With 1, each is evaluated before the next is chosen, as
            published. Larger numbers cost less time per test case, and as many test cases are mutated side by side.
        random_rate: P_r at the beginning.
        kept: n at the beginning.
        mutations: m at the end.
        focus: F, the share of the budget after which the search is focused.
        feedback: False draws the target at random.
        distinct: True stores no test case twice in a population, so that a local optimum cannot fill it.

    References:
        Arcuri 2017, Many Independent Objective (MIO) Algorithm for Test Suite Generation, section 3. As in EvoMaster:
        the treatment of a mutant, the reset of a counter, and the choice of the first target among several with the
        fewest samples.

    Differs from the paper: distances are stored instead of the heuristic, which gives the same order. A covering test
    case is replaced by a shorter one, not by one of equal length that is better for other targets (all searches share
    the archive). A mutant is judged by the targets that are open now; in EvoMaster, by those that were open when its
    ancestor was chosen.
    """

    least_population = 1

    def __init__(
        self,
        factory: Variation,
        archive: Covering,
        rng: np.random.Generator,
        *,
        population: Amount = 50,
        random_rate: Probability = 0.5,
        kept: Amount = 10,
        mutations: Amount = 10,
        focus: Probability = 0.5,
        feedback: bool = True,
        distinct: bool = False,
    ) -> None:
        super().__init__(factory, archive, rng, population=population)
        self.random_rate = random_rate
        self.kept = kept
        self.mutations = mutations
        self.focus = focus
        self.feedback = feedback
        self.distinct = distinct
        self._targets: list[tuple[str, int]] = []  # the open ones, in the order of the columns
        self._nearest: dict[tuple[str, int], _Nearest] = {}  # includes targets of inactive functions
        self._shrunk = self.limit  # limit of test cases per target
        self._bar = np.zeros(0)  # by target: a test case that is farther away is not stored
        self._proposed: list[tuple[TestCase, _Line | None]] = []

    @property
    def limit(self) -> int:
        """n, the current limit of test cases per target."""
        return round(self._between(self.kept, 1))

    def ask(self) -> list[Individual]:
        if self.limit != self._shrunk:
            self._shrunk = self.limit
            for nearest in self._nearest.values():
                nearest.shrink(self.limit)
            self._set_bars()
        # Chains of mutations continue before new test cases are sampled, unless the focus has moved to another part.
        going_on = [
            line
            for _, line in self._proposed
            if line is not None and line.left > 0 and not self.factory.strays(line.testcase)
        ]
        counts = self._counts()
        self._proposed = [self._mutated(line) for line in going_on[: self.size]]
        while len(self._proposed) < self.size:
            self._proposed.append(self._sampled(counts))
        return self._distinct(testcase for testcase, _ in self._proposed)

    def tell(self, evaluation: Evaluation) -> None:
        proposed = [(testcase, line) for testcase, line in self._proposed if testcase]
        testcases = [testcase for testcase, _ in proposed]
        lines = [line for _, line in proposed if line is not None]
        values = self._values([*testcases, *(line.testcase for line in lines)], evaluation)
        ancestors = iter(values[len(testcases) :])
        changed = not self.population
        for (testcase, line), row in zip(proposed, values, strict=False):
            if line is not None:
                if _subsumes(next(ancestors), line.testcase, row, testcase):
                    continue
                line.testcase = testcase
                changed = True
            changed |= self._store(testcase, row, distinct=self.distinct)
        if changed:
            self._gather(testcases[:1])

    def refresh(self, evaluation: Evaluation) -> None:
        """Offer the known test cases to the targets that are open now."""
        testcases = [t for individual in self.population for t in individual.testcases]
        for testcase, row in zip(testcases, self._values(testcases, evaluation), strict=True):
            self._store(testcase, row, distinct=True)
        self._gather(testcases[:1])

    def _between(self, first: float, last: float) -> float:
        """Return the current value between `first` and `last`: linear in time until the search is focused."""
        share = min(1.0, self.progress / self.focus) if self.focus > 0.0 else 1.0
        return first + (last - first) * share

    def _counts(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return how often the population of each open target was chosen; the largest integer if it is empty."""
        near = [self._nearest[target] for target in self._targets]
        return np.array([one.sampled if one.keys else _NEVER for one in near], dtype=np.int64)

    def _sampled(self, counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[TestCase, _Line | None]:
        """Return a new test case, or the first mutant of a stored one."""
        chosen: Sequence[TestCase] = ()
        if self.chance.random() >= self._between(self.random_rate, 0.0):
            filled = np.flatnonzero(counts != _NEVER)
            if len(filled):
                column = filled[int(self.chance.random() * len(filled))] if not self.feedback else counts.argmin()
                counts[column] += 1
                nearest = self._nearest[self._targets[column]]
                nearest.sampled += 1
                chosen = nearest.testcases
            else:
                chosen = self.archive.testcases()
        if not chosen:
            return self.factory.random_test(self.chance), None
        line = _Line(chosen[int(self.chance.random() * len(chosen))], round(self._between(1, self.mutations)))
        return self._mutated(line)

    def _mutated(self, line: _Line) -> tuple[TestCase, _Line]:
        """Return the next mutant of a test case."""
        line.left -= 1
        return self.factory.mutate(line.testcase, self.chance), line

    def _values(self, testcases: Sequence[TestCase], evaluation: Evaluation) -> Floats:
        """Return the distances to the open targets; update the stored targets if they changed."""
        values = evaluation.objectives(testcases)
        targets = evaluation.targets()
        if targets != self._targets:
            covered = {name: self.archive.covered(name) for name in {name for name, _ in self._nearest}}
            gone = [key for key in self._nearest if covered[key[0]][key[1]]]
            for key in gone:
                del self._nearest[key]
            for key in targets:
                self._nearest.setdefault(key, _Nearest())
            self._targets = targets
            self._set_bars()
        return values

    def _set_bars(self) -> None:
        self._bar = np.array([self._worst(self._nearest[target]) for target in self._targets])

    def _worst(self, nearest: _Nearest) -> float:
        # With room left, every distance below 1 is near enough: the decision behind the target was executed.
        return nearest.keys[-1][0] if len(nearest.keys) >= self.limit else np.nextafter(1.0, 0.0)

    def _store(self, testcase: TestCase, row: Floats, *, distinct: bool) -> bool:
        """Store a test case for the targets that it is near but does not cover. Returns whether it was stored for any.

        A test case that covers a target is in the archive.
        """
        kept = False
        for column in np.flatnonzero((row <= self._bar) & (row > 0.0)).tolist():
            nearest = self._nearest[self._targets[column]]
            if not (distinct and testcase in nearest.testcases):
                kept |= nearest.offer(float(row[column]), testcase, self.limit)
                self._bar[column] = self._worst(nearest)
        return kept

    def _gather(self, otherwise: Sequence[TestCase]) -> None:
        """Make the population of all test cases stored for any target and of those being mutated."""
        kept = dict.fromkeys(t for target in self._nearest.values() for t in target.testcases)
        kept.update(dict.fromkeys(line.testcase for _, line in self._proposed if line is not None))
        self.population = self._distinct(kept or otherwise)
        self.fitness = np.zeros(len(self.population))


def _subsumes(values: Floats, testcase: TestCase, others: Floats, other: TestCase) -> bool:
    """Return whether a test case is nowhere worse than the other, and nearer to some target or shorter."""
    if bool((others < values).any()):
        return False
    return bool((values < others).any()) or (len(testcase) < len(other) and bool(values.size))
