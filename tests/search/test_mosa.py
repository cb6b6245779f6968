"""MOSA: proposals and survivors, on a factory made of counters."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fitgym.errors import UnknownName
from fitgym.search.mosa import MOSA


class Factory:
    """Test cases are tuples of numbers; mutation changes one of them."""

    def random_test(self, rng: random.Random) -> tuple[int, ...]:
        return tuple(int(rng.random() * 100) for _ in range(1 + int(rng.random() * 5)))

    def mutate(self, testcase: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
        changed = list(testcase)
        place = int(rng.random() * len(changed))
        changed[place] = max(0, min(99, changed[place] + (-1 if rng.random() < 0.5 else 1)))
        return tuple(changed)

    def cross(self, first: Any, second: Any, rng: random.Random) -> tuple[Any, Any]:
        return first[:1] + second[1:], second[:1] + first[1:]


class Stored:
    version = 0

    def __init__(self, *testcases: tuple[int, ...]) -> None:
        self.kept = testcases

    def testcases(self) -> tuple[Any, ...]:
        return self.kept


class Numbers:
    """Targets are numbers; a test case is as far from one as its nearest number."""

    def __init__(self, *targets: int) -> None:
        self.targets = targets

    def secondary(self, individuals: Any) -> np.ndarray:
        return np.array([individual.length for individual in individuals], float)

    def objectives(self, testcases: Any) -> np.ndarray:
        return np.array([[min(abs(n - t) for n in case) for t in self.targets] for case in testcases], float).reshape(
            len(testcases), len(self.targets)
        )


def search(seed: int = 0, archive: Any = None, **options: Any) -> MOSA:
    return MOSA(Factory(), archive or Stored(), np.random.default_rng(seed), **options)  # type: ignore[arg-type]


def run(algorithm: MOSA, generations: int, evaluation: Any) -> MOSA:
    for _ in range(generations):
        algorithm.ask()
        algorithm.tell(evaluation)
    return algorithm


def nearest(algorithm: MOSA, evaluation: Numbers) -> list[float]:
    values: list[float] = evaluation.objectives([i.testcases[0] for i in algorithm.population]).min(axis=0).tolist()
    return values


def test_it_gets_to_every_target() -> None:
    evaluation = Numbers(3, 41, 77, 99)
    assert nearest(run(search(population=20), 120, evaluation), evaluation) == [0, 0, 0, 0]


def test_the_nearest_to_a_target_is_never_lost() -> None:
    evaluation = Numbers(3, 41, 77, 99)
    algorithm = run(search(population=6), 1, evaluation)
    before = nearest(algorithm, evaluation)
    for _ in range(20):
        now = nearest(run(algorithm, 1, evaluation), evaluation)
        assert all(a <= b for a, b in zip(now, before, strict=True))
        before = now


def test_the_population_keeps_its_size_unless_more_are_needed() -> None:
    assert len(run(search(population=12), 9, Numbers(5, 50)).population) == 12
    spread = run(search(population=4), 60, Numbers(*range(0, 100, 7)))
    assert len(spread.population) > 4  # the nearest to each of fifteen targets


def test_the_same_seed_gives_the_same_run() -> None:
    first, second = (run(search(3), 10, Numbers(9, 60)) for _ in range(2))
    assert [i.testcases for i in first.population] == [i.testcases for i in second.population]
    assert [i.testcases for i in run(search(4), 10, Numbers(9, 60)).population] != [
        i.testcases for i in first.population
    ]


class Plateau(Numbers):
    """As far from the target everywhere but on it, and of the same length."""

    def secondary(self, individuals: Any) -> np.ndarray:
        return np.ones(len(individuals))

    def objectives(self, testcases: Any) -> np.ndarray:
        return np.where(super().objectives(testcases) > 0.0, 1.0, 0.0)


@pytest.mark.parametrize("neutral", [True, False])
def test_on_a_plateau_it_drifts_or_keeps_the_oldest(neutral: bool) -> None:
    algorithm = search(population=6, fresh=0.0, neutral=neutral)
    evaluation = Plateau(1000)  # which no mutation reaches
    first = run(algorithm, 2, evaluation).population[0].testcases
    preferred = {run(algorithm, 1, evaluation).population[0].testcases for _ in range(20)}
    assert (len(preferred) > 3) if neutral else preferred == {first}


def test_nothing_is_proposed_twice_and_nothing_that_is_there() -> None:
    algorithm = run(search(population=8), 5, Numbers(10, 90))
    there = [i.testcases[0] for i in algorithm.population]
    proposed = [i.testcases[0] for i in algorithm.ask()]
    assert len(set(proposed)) == len(proposed) and not set(proposed) & set(there)


def test_copies_are_proposed_if_that_is_wanted() -> None:
    algorithm = run(search(population=8, distinct=False, fresh=0.0, crossover=0.0), 60, Numbers(0))
    there = [i.testcases[0] for i in algorithm.population]
    assert len(set(there)) < len(there)  # a local optimum has filled it


def test_a_tenth_of_the_offspring_is_new_or_from_the_archive() -> None:
    algorithm = search(population=10, archive=Stored((500,)), crossover=0.0, clone_mutations=0, fresh=0.5)
    run(algorithm, 1, Numbers(1))
    drawn = [i.testcases[0] for _ in range(20) for i in algorithm.ask()]
    assert (500,) in drawn


def test_the_best_is_the_suite_of_the_archive_and_stays_the_same_object() -> None:
    algorithm = run(search(archive=Stored((1,), (2, 3))), 1, Numbers(5))
    assert algorithm.best.testcases == ((1,), (2, 3)) and algorithm.best is algorithm.best
    assert algorithm.individuals[-1] is algorithm.best and algorithm.individuals[:-1] == algorithm.population
    assert len(run(search(), 1, Numbers(5)).best) == 1  # while the archive is empty


def test_without_targets_that_count_the_search_goes_on() -> None:
    assert len(run(search(population=9), 5, Numbers()).population) == 9


@pytest.mark.parametrize("options", [{"distance": "epsilon"}, {"tournament": 0}])
def test_the_named_options_work(options: dict[str, Any]) -> None:
    evaluation = Numbers(3, 41, 77)
    assert nearest(run(search(population=20, **options), 120, evaluation), evaluation) == [0, 0, 0]


def test_an_unknown_distance_is_refused() -> None:
    with pytest.raises(UnknownName, match="no distance named 'far'"):
        search(distance="far")
