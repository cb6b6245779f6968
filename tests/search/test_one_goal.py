"""OneGoal: one target after another, and the definition of covered."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fitgym.search.one_goal import OneGoal


class Factory:
    """Test cases are one or two numbers below 100; mutation moves one of them by one."""

    def random_test(self, rng: random.Random) -> tuple[int, ...]:
        return tuple(int(rng.random() * 100) for _ in range(1 + int(rng.random() * 2)))

    def mutate(self, testcase: tuple[int, ...], rng: random.Random) -> tuple[int, ...]:
        place = int(rng.random() * len(testcase))
        changed = max(0, min(99, testcase[place] + (-1 if rng.random() < 0.5 else 1)))
        return (*testcase[:place], changed, *testcase[place + 1 :])

    def cross(self, first: tuple[int, ...], second: tuple[int, ...], rng: random.Random) -> Any:
        return first[:1] + second[1:], second[:1] + first[1:]


class Numbers:
    """Targets are numbers; a test case is as far from one as its nearest number. It is the archive too, which is empty."""

    def __init__(self, *numbers: int, name: str = "number") -> None:
        self.numbers = numbers
        self.name = name

    def testcases(self) -> tuple[Any, ...]:
        raise AssertionError("OneGoal looks at no archive")

    def covered(self, name: str) -> Any:
        raise AssertionError("OneGoal looks at no archive")

    def targets(self) -> list[tuple[str, int]]:
        return [(self.name, column) for column in range(len(self.numbers))]

    def secondary(self, individuals: Any) -> np.ndarray:
        return np.array([individual.length for individual in individuals], float)

    def objectives(self, testcases: Any) -> np.ndarray:
        rows = [[min(abs(n - t) for n in case) / 100 for t in self.numbers] for case in testcases]
        return np.array(rows, float).reshape(len(testcases), len(self.numbers))


def search(numbers: Numbers, seed: int = 0, **options: Any) -> OneGoal:
    options.setdefault("population", 6)
    return OneGoal(Factory(), numbers, np.random.default_rng(seed), **options)


def run(algorithm: OneGoal, numbers: Numbers, generations: int, budget: int | None = None) -> list[Any]:
    """The target of each generation."""
    targets = []
    for generation in range(generations):
        algorithm.progress = generation / budget if budget else 0.0
        algorithm.ask()
        algorithm.tell(numbers)
        targets.append(algorithm.target)
    return targets


def test_it_covers_one_target_after_another_and_the_suite_is_what_it_ended_with() -> None:
    numbers = Numbers(10, 55, 90)
    algorithm = search(numbers)
    run(algorithm, numbers, 400)
    assert algorithm.target is None
    assert (numbers.objectives(algorithm.best.testcases).min(axis=0) == 0.0).all()
    assert len(algorithm.best) <= 3
    assert algorithm.ask() and not run(algorithm, numbers, 3)[-1]  # nothing is left, and it goes on all the same


def test_a_search_begins_with_random_test_cases_and_keeps_the_best() -> None:
    numbers = Numbers(1000)
    algorithm = search(numbers, patience=1000)
    nearest = [algorithm.fitness[0] for _ in range(60) if run(algorithm, numbers, 1)]
    assert nearest == sorted(nearest, reverse=True) and nearest[-1] < nearest[0]


def test_a_target_that_takes_too_long_is_left_and_tried_again() -> None:
    numbers = Numbers(1000, 2000)  # out of reach
    targets = run(search(numbers, patience=5), numbers, 40)
    turns = [at for at in range(1, 40) if targets[at] != targets[at - 1]]
    assert set(targets) == {("number", 0), ("number", 1)} and len(turns) >= 3


def test_the_budget_is_shared_out_among_the_targets() -> None:
    numbers = Numbers(1000, 2000, 3000, 4000)
    targets = run(search(numbers), numbers, 100, budget=100)
    counts = [targets.count(target) for target in dict.fromkeys(targets)]
    assert len(counts) == 4 and all(23 <= count <= 27 for count in counts)


def test_what_the_last_best_test_case_covers_besides_is_left_out_and_nothing_else() -> None:
    numbers = Numbers(10, 20, 30)
    algorithm = search(numbers)
    algorithm._begins = False
    algorithm.target = ("number", 0)
    algorithm._waiting = [("number", 2), ("number", 1)]
    algorithm._asked = algorithm._distinct([(10, 20), (30, 11), (40, 41)])
    algorithm.tell(numbers)
    assert algorithm._covered == {("number", 0), ("number", 1)} and algorithm.target == ("number", 2)
    assert algorithm.best.testcases == ((10, 20),)


def test_of_two_that_cover_the_shorter_is_taken() -> None:
    numbers = Numbers(10)
    algorithm = search(numbers)
    algorithm._asked = algorithm._distinct([(10, 20), (10,), (9,)])
    algorithm.tell(numbers)
    assert algorithm.best.testcases == ((10,),)


def test_when_other_targets_count_it_turns_to_one_of_them() -> None:
    numbers = Numbers(1000, 2000)
    algorithm = search(numbers)
    run(algorithm, numbers, 3)
    other = Numbers(7, name="other")
    algorithm.refresh(other)
    assert algorithm.target == ("other", 0)
    run(algorithm, other, 100)
    assert any(7 in testcase for testcase in algorithm.best.testcases)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_gives_the_same_run(seed: int) -> None:
    numbers = Numbers(10, 55, 1000)
    first, second = (search(numbers, seed) for _ in range(2))
    assert run(first, numbers, 40) == run(second, numbers, 40)
    assert [i.testcases for i in first.population] == [i.testcases for i in second.population]
