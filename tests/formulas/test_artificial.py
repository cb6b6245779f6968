"""Artificial problems: the formulas, and the searches on them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.engine import SEARCH
from fitgym.errors import InputError, UnknownName
from fitgym.formulas.artificial import KINDS, LARGEST, ArtificialEngine, Points, Problem

GROUPS = {"gradient": 3, "plateau": 2, "deceptive": 2, "infeasible": 2}


def problem(**optima: int) -> Problem:
    """One target of each kind."""
    return Problem(tuple(optima), (1,) * len(optima), tuple(optima.values()))


@pytest.mark.parametrize(
    ("kind", "x", "d"),
    [
        ("gradient", 300, 0),
        ("gradient", 290, 10),
        ("gradient", 1000, 700),
        ("plateau", 300, 0),
        ("plateau", 290, 10),
        ("plateau", 301, 100),
        ("plateau", 1000, 100),
        ("deceptive", 300, 0),
        ("deceptive", 299, 1),
        ("deceptive", 301, 700),
        ("deceptive", 1000, 1),
        ("infeasible", 300, 1),
        ("infeasible", 7, 1),
    ],
)
def test_the_formulas_by_hand(kind: str, x: int, d: int) -> None:
    assert problem(**{kind: 300}).distances([(0, x)])[0, 0] == pytest.approx(d / (1 + d))


def test_a_test_case_is_near_its_own_target_only() -> None:
    found = problem(gradient=5, plateau=5, deceptive=5).distances([(1, 5), (2, 4)])
    assert found.tolist() == [[1.0, 0.0, 1.0], [1.0, 1.0, 0.5]]
    assert problem(gradient=5).distances([]).shape == (0, 1)


@given(st.integers(0, 50), st.integers(0, 1000))
def test_only_the_optimum_covers_and_nothing_covers_what_is_infeasible(seed: int, x: int) -> None:
    made = Problem.draw(GROUPS, seed)
    distances = made.distances([(k, x) for k in range(len(made))])
    covers = [g == x and bool(possible) for g, possible in zip(made.optima, made.feasible, strict=True)]
    assert (np.diag(distances) == 0.0).tolist() == covers
    assert ((distances >= 0.0) & (distances <= 1.0)).all()


def test_problems_with_one_seed_share_the_optima_of_what_they_share() -> None:
    small, large = Problem.draw({"gradient": 3}, 1), Problem.draw({"gradient": 3, "infeasible": 9}, 1)
    assert small.optima == large.optima[:3] and large.feasible.tolist() == [True] * 3 + [False] * 9
    assert Problem.draw({"gradient": 3}, 2) != small == Problem.draw({"gradient": 3}, 1)
    assert large.columns("infeasible") == slice(3, 12)


def test_mutations_are_steps_of_powers_of_two_within_the_range() -> None:
    points, chance = Points(Problem.draw({"gradient": 100_000}, 0)), random.Random(0)
    for x in (0, 1, 500, 999, LARGEST):
        drawn = [points.mutate((7, x), chance) for _ in range(3000)]
        near = {y for k, y in drawn if k == 7}
        powers = {2**i for i in range(11)}
        assert all(0 <= y <= LARGEST and (abs(y - x) in powers or y in (0, LARGEST)) for y in near)
        assert {y for y in (x - 1, x + 1, x - 64, x + 64) if 0 <= y <= LARGEST} <= near
        others = [k for k, _ in drawn if k != 7]
        assert 10 <= len(others) <= 60 and len(set(others)) > 5  # one in a hundred is about another target


@pytest.mark.parametrize("search", SEARCH.names())
def test_every_search_runs_on_it_and_keeps_the_budget(search: str) -> None:
    for budget in (1, 77, 300):
        first, second = (
            ArtificialEngine(Problem.draw(GROUPS, 3), search=search, seed=5, population=10, budget=budget).run()
            for _ in range(2)
        )
        assert first.evaluations == budget or first.n_covered == 7
        assert first.testcases() == second.testcases() and first.generation == second.generation
        assert sum(int(first.covered(kind).sum()) for kind in KINDS) == first.n_covered
        assert not first.covered("infeasible").any()
        for testcase in first.testcases():
            assert first.problem.distances([testcase]).min() == 0.0


@pytest.mark.parametrize("search", SEARCH.names())
def test_groups_can_be_exchanged_between_two_generations(search: str) -> None:
    engine = ArtificialEngine(Problem.draw(GROUPS, 3), search=search, population=6, budget=2000)
    for names in (("gradient",), ("plateau", "infeasible"), ("deceptive",), KINDS):
        engine.activate(names)
        for _ in range(5):
            engine.step()
        assert engine.active == names
        assert {name for name, _ in engine.targets()} <= set(names)


def test_the_fitness_of_a_suite_is_the_mean_of_its_least_distances() -> None:
    engine = ArtificialEngine(problem(gradient=10, plateau=20), search="whole_suite", population=4)
    from fitgym.evolution.individual import Individual

    suite = Individual(((0, 9), (0, 8), (1, 16)))
    assert engine.suite_fitness([suite, Individual(((0, 10),))]) == pytest.approx([(0.5 + 0.8) / 2, 0.5])


def test_covered_targets_leave_the_fitness_at_the_end_of_a_generation() -> None:
    engine = ArtificialEngine(problem(gradient=500, infeasible=0), search="mio:population=1", budget=5000)
    while not engine.n_covered:
        engine.step()
    assert engine.targets() == [("infeasible", 0)]
    assert engine.objectives([(0, 500), (1, 3)]).tolist() == [[1.0], [0.5]]


def test_feedback_directed_sampling_leaves_infeasible_targets_alone() -> None:
    def covered(search: str) -> int:
        runs = [
            ArtificialEngine(Problem.draw({"gradient": 10, "infeasible": 50}, seed), search=search, seed=seed)
            for seed in range(4)
        ]
        return sum(run.run().n_covered for run in runs)

    with_feedback, without = covered("mio:population=1"), covered("mio:population=1,feedback=false")
    assert with_feedback > 2 * without > 0


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"gradients": 1}, UnknownName, "did you mean 'gradient'"),
        ({"gradient": -1}, InputError, "the number of gradient targets is -1"),
        ({}, InputError, "the problem has no targets"),
    ],
)
def test_a_problem_that_makes_no_sense_is_refused(groups: dict[str, int], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Problem.draw(groups, 0)


def test_a_group_that_is_not_there_and_a_budget_of_nothing_are_refused() -> None:
    with pytest.raises(UnknownName, match="no group of targets named 'plateau'"):
        ArtificialEngine(problem(gradient=1), fitness=["plateau"])
    with pytest.raises(InputError, match="no group of targets is active"):
        ArtificialEngine(problem(gradient=1), fitness=[])
    with pytest.raises(InputError, match="the budget is 0"):
        ArtificialEngine(problem(gradient=1), budget=0)
