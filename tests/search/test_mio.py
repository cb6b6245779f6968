"""MIO: stored test cases per target, sampling, and chains of mutations."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fitgym.search.mio import MIO


class Factory:
    """Test cases are single numbers below 1000; mutation adds or takes away a power of 2."""

    def random_test(self, rng: random.Random) -> tuple[int, ...]:
        return (int(rng.random() * 1000),)

    def mutate(self, testcase: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
        step = 2 ** int(rng.random() * 10) * (-1 if rng.random() < 0.5 else 1)
        return (max(0, min(999, testcase[0] + step)), *testcase[1:])

    def strays(self, testcase: tuple[int, ...]) -> bool:
        return False


class Landscape:
    """Targets are numbers; it is near one from 200 numbers around.

    It is the archive too, since both have to agree on what is covered.
    """

    version = 0

    def __init__(self, *goals: int) -> None:
        self.goals = goals
        self.found: dict[int, tuple[int, ...]] = {}

    def testcases(self) -> tuple[Any, ...]:
        return tuple(self.found.values())

    def covered(self, name: str) -> Any:
        return np.array([column in self.found for column in range(len(self.goals))])

    def targets(self) -> list[tuple[str, int]]:
        return [("goal", column) for column in range(len(self.goals)) if column not in self.found]

    def secondary(self, individuals: Any) -> np.ndarray:
        return np.array([individual.length for individual in individuals], float)

    def objectives(self, testcases: Any) -> np.ndarray:
        columns = [self.goals[column] for _, column in self.targets()]
        rows = [[min(1.0, abs(t[0] - g) / 200) for g in columns] for t in testcases]
        return np.array(rows, float).reshape(len(testcases), len(columns))

    def archive(self, algorithm: MIO) -> None:
        for testcase, _ in algorithm._proposed:
            for column, goal in enumerate(self.goals):
                if testcase[0] == goal:
                    self.found.setdefault(column, testcase)


def search(landscape: Landscape, seed: int = 0, **options: Any) -> MIO:
    options.setdefault("population", 1)
    return MIO(Factory(), landscape, np.random.default_rng(seed), **options)  # type: ignore[arg-type]


def run(algorithm: MIO, landscape: Landscape, evaluations: int, budget: int | None = None) -> MIO:
    for done in range(0, evaluations, algorithm.size):
        algorithm.progress = done / budget if budget else 0.0
        algorithm.ask()
        landscape.archive(algorithm)
        algorithm.tell(landscape)
    return algorithm


@pytest.mark.parametrize("population", [1, 10])
def test_it_covers_target_after_target(population: int) -> None:
    landscape = Landscape(70, 333, 512, 871)
    run(search(landscape, population=population), landscape, 1500, budget=1500)
    assert sorted(landscape.found) == [0, 1, 2, 3]


def test_the_three_numbers_change_as_in_the_paper() -> None:
    algorithm = search(Landscape(1))
    seen = []
    for algorithm.progress in (0.0, 0.3, 0.5, 0.9):
        rate = algorithm._between(algorithm.random_rate, 0.0)
        seen.append((round(rate, 6), algorithm.limit, round(algorithm._between(1, algorithm.mutations))))
    assert seen == [(0.5, 10, 1), (0.2, 5, 6), (0.0, 1, 10), (0.0, 1, 10)]  # P_r = 0.2 for p = 0.3: section 3.1
    algorithm.focus, algorithm.progress = 0.0, 0.0
    assert algorithm.limit == 1


def test_no_more_than_n_are_kept_for_a_target_and_they_are_the_nearest() -> None:
    landscape = Landscape(500)
    algorithm = search(landscape, kept=3, random_rate=1.0)
    seen: list[int] = []
    for _ in range(200):
        algorithm.ask()
        seen += [t[0] for t, _ in algorithm._proposed if 0 < abs(t[0] - 500) < 200]
        algorithm.tell(landscape)
    kept = algorithm._nearest["goal", 0]
    nearest = sorted({abs(x - 500) for x in seen})[:3]
    assert [round(200 * distance) for distance, _ in kept.keys] == nearest
    assert [abs(t[0] - 500) for t in kept.testcases] == nearest
    assert [i.testcases[0] for i in algorithm.population] == kept.testcases


def test_the_target_is_the_one_that_was_chosen_least_since_something_better_came() -> None:
    landscape = Landscape(100, 500, 900)
    algorithm = search(landscape, random_rate=0.0, mutations=1)
    algorithm.population = algorithm._distinct([(120,), (480,), (950,)])
    algorithm.refresh(landscape)
    near = [algorithm._nearest["goal", column] for column in range(3)]
    near[0].sampled, near[1].sampled, near[2].sampled = 4, 2, 3
    algorithm.ask()
    assert [one.sampled for one in near] == [4, 3, 3]
    algorithm.ask()  # the first of those alike
    assert [one.sampled for one in near] == [4, 4, 3]
    near[2].offer(0.9, (720,), 10)  # worse than the one there
    assert near[2].sampled == 3
    near[2].offer(0.1, (920,), 10)
    assert near[2].sampled == 0


def test_a_mutant_goes_on_unless_it_is_worse_for_one_and_better_for_none() -> None:
    landscape = Landscape(500)
    algorithm = search(landscape, random_rate=0.0)
    algorithm.progress = 0.5
    algorithm.population = algorithm._distinct([(450,)])
    algorithm.refresh(landscape)
    went_on = set()
    for _ in range(40):
        algorithm.ask()
        ((testcase, line),) = algorithm._proposed
        assert line is not None
        before = line.testcase
        algorithm.tell(landscape)
        better = abs(testcase[0] - 500) <= abs(before[0] - 500)
        assert line.testcase == (testcase if better else before)
        went_on.add(better)
    assert went_on == {True, False}


def test_one_test_case_is_mutated_m_times_before_another_is_chosen() -> None:
    landscape = Landscape(1500, 480)
    algorithm = search(landscape, random_rate=0.0, mutations=4)
    algorithm.population = algorithm._distinct([(450,)])
    algorithm.refresh(landscape)
    algorithm.progress = 0.5
    lines = []
    for _ in range(12):
        algorithm.ask()
        lines.append(algorithm._proposed[0][1])
        algorithm.tell(landscape)
    changes = [number for number in range(1, 12) if lines[number] is not lines[number - 1]]
    assert changes == [4, 8]


@pytest.mark.parametrize("distinct", [True, False])
def test_a_test_case_is_kept_twice_unless_that_is_refused(distinct: bool) -> None:
    landscape = Landscape(500)
    algorithm = search(landscape, distinct=distinct)
    for _ in range(2):
        algorithm._proposed = [((450,), None)]
        algorithm.tell(landscape)
    assert algorithm._nearest["goal", 0].testcases == [(450,)] * (1 if distinct else 2)
    algorithm.refresh(landscape)  # what is offered again is what is there
    assert len(algorithm._nearest["goal", 0].testcases) == (1 if distinct else 2)


def test_when_all_is_covered_test_cases_of_the_archive_are_mutated() -> None:
    landscape = Landscape(7)
    landscape.found[0] = (7,)
    algorithm = search(landscape, random_rate=0.0)
    algorithm.ask()
    ((testcase, line),) = algorithm._proposed
    assert line is not None and line.testcase == (7,) and testcase != (7,)
    algorithm.tell(landscape)
    assert algorithm.best.testcases == ((7,),)


def test_what_was_kept_for_a_target_is_there_when_it_counts_again() -> None:
    class Others(Landscape):
        def targets(self) -> list[tuple[str, int]]:
            return [("other", 0)]

        def covered(self, name: str) -> Any:
            return np.zeros(9, dtype=bool)

    landscape, other = Landscape(500), Others(100)
    algorithm = run(search(landscape), landscape, 50)
    kept = list(algorithm._nearest["goal", 0].testcases)
    nearest = algorithm._nearest["goal", 0].keys[0]
    algorithm.refresh(other)
    run(algorithm, other, 20)
    assert kept and set(kept) <= {i.testcases[0] for i in algorithm.population}
    algorithm.refresh(landscape)
    again = algorithm._nearest["goal", 0]
    assert again.keys[0] <= nearest and len(again.testcases) >= len(set(kept))


def test_the_same_seed_gives_the_same_run() -> None:
    def found(seed: int) -> list[Any]:
        landscape = Landscape(70, 333, 2000)
        return [i.testcases for i in run(search(landscape, seed, population=4), landscape, 200, 200).population]

    assert found(1) == found(1) != found(2)
