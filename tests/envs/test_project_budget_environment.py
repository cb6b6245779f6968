"""ProjectBudget-v0: the effect of a slice, the drawn projects, and real searches."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import nightly

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.allocation.recorded import recorded
from fitgym.allocation.rules import RULES
from fitgym.envs.project_budget import FEATURES, ProjectBudget
from fitgym.errors import InputError, ResetNeeded, SubjectError, UnknownName
from fitgym.testing import check_env_strict

SHOP = str(Path(__file__).parents[2] / "examples" / "shop")
SUBJECTS = ["bookshop.prices", "bookshop.ledger"]


def walked(env: Any, actions: Sequence[int]) -> tuple[list[float], dict[str, Any]]:
    """Rewards and the last info of an episode that has begun, until it ends or the actions do."""
    rewards: list[float] = []
    info: dict[str, Any] = {}
    for action in actions:
        _, reward, ended, _, info = env.step(action)
        rewards.append(reward)
        if ended:
            break
    return rewards, info


def ruled(env: Any, rule: str, **reset: Any) -> float:
    """The final value of an episode of one rule."""
    _, info = env.reset(**reset)
    action = env.action_names.index(rule) if env.pointing else None
    ended = False
    while not ended:
        chosen = env.rules[rule](None, info, None) if action is None else action
        _, _, ended, _, info = env.step(chosen)
    return float(info["goal_value"])


# Projects and slices


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1), st.lists(st.integers(0, len(RULES) - 1), min_size=48))
def test_rewards_sum_to_the_value_and_everything_stays_in_its_bounds(task: int, seed: int, actions: list[int]) -> None:
    env = ProjectBudget()
    observation, info = env.reset(seed=seed, options={"task": task})
    assert env.observation_space.contains(observation) and info["goal_value"] == 0.0 and info["task"] == task
    assert 4 <= len(env.courses) <= 8
    rewards, info = walked(env, actions)
    assert sum(rewards) == pytest.approx(info["goal_value"]) and 0.0 <= info["goal_value"] <= 1.0
    assert min(rewards) >= 0.0 and info["executions"] == 100 * len(rewards)


@pytest.mark.parametrize(
    ("split", "first"), [("validation", 0), ("validation", 199), ("test", 200), ("test", 399), ("train", 1000)]
)
def test_a_project_has_modules_of_its_own_split_only(split: str, first: int) -> None:
    env = ProjectBudget(task=first)
    env.reset(seed=0)
    names = [course.module for course in env.courses]
    assert set(names) <= recorded()[split].keys() and len(set(names)) == len(names)


def test_a_task_has_the_same_modules_with_every_seed() -> None:
    env = ProjectBudget(task=1234)
    seen = set()
    for seed in range(5):
        env.reset(seed=seed)
        seen.add(tuple(course.module for course in env.courses))
    assert len(seen) == 1


def test_without_a_task_the_seed_draws_one() -> None:
    env = ProjectBudget(split="400-499")
    tasks = {env.reset(seed=seed)[1]["task"] for seed in range(20)}
    assert len(tasks) > 5 and tasks <= set(range(400, 500))


@given(st.integers(0, 2**31 - 1))
def test_a_task_that_was_drawn_has_the_same_searches_when_it_is_given(seed: int) -> None:
    env = ProjectBudget()
    _, info = env.reset(seed=seed)
    drawn = env.courses
    env.reset(seed=seed, options={"task": info["task"]})
    assert env.courses == drawn


def test_the_seed_chooses_among_the_recorded_searches() -> None:
    env = ProjectBudget(task=1234)
    assert len({env.reset(seed=seed) and env.courses for seed in range(8)}) > 1


def test_the_budget_ends_the_episode() -> None:
    env = ProjectBudget(task=1000, budget="700x")
    env.reset(seed=0)
    rewards, info = walked(env, [0] * 99)
    assert len(rewards) == 7 and info["executions"] == 700
    with pytest.raises(ResetNeeded, match="the episode has ended"):
        env.step(0)


def test_an_environment_that_has_not_begun_wants_a_reset() -> None:
    with pytest.raises(ResetNeeded):
        ProjectBudget().step(0)


def test_in_turn_gives_each_module_as_many_slices() -> None:
    env = ProjectBudget(task=1003)
    ruled(env, "in_turn", seed=0)
    assert {one.slices for one in env.standings} == {6}


def test_every_rule_is_an_action_and_points_to_the_module_that_it_names() -> None:
    env = ProjectBudget(task=1001)
    assert tuple(env.action_names) == tuple(RULES) and env.rules == {}
    env.reset(seed=0)
    for action, (name, rule) in enumerate(RULES.items()):
        place = rule(env.standings)
        before = env.standings[place].slices
        env.step(action)
        assert env.standings[place].slices == before + 1, name


@pytest.mark.parametrize("action", [-1, 8, 99])
def test_an_action_that_does_not_exist_is_refused(action: int) -> None:
    env = ProjectBudget()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"^action {action} is not among the 8 actions$"):
        env.step(action)


# Slots


def test_a_slot_is_a_module_and_rules_choose_slots() -> None:
    pointing, slots = ProjectBudget(task=1007), ProjectBudget(task=1007, actions="slots")
    for name in RULES:
        assert ruled(slots, name, seed=2) == ruled(pointing, name, seed=2)


def test_slots_without_open_branches_are_masked() -> None:
    env = ProjectBudget(task=1000, actions="slots")
    _, info = env.reset(seed=0)
    n = len(env.courses)
    assert info["action_mask"].tolist() == [True] * n + [False] * (8 - n)


def test_a_slice_for_an_empty_slot_is_lost() -> None:
    task = next(n for n in range(1000, 1100) if len(_project(n)) < 8)
    env = ProjectBudget(task=task, actions="slots", render_mode="ansi")
    env.reset(seed=0)
    _, reward, _, _, info = env.step(7)
    assert reward == 0.0 and info["executions"] == 100 and not any(one.slices for one in env.standings)


def _project(task: int) -> Sequence[Any]:
    env = ProjectBudget(task=task)
    env.reset(seed=0)
    return env.courses


def test_an_empty_slot_is_seen_as_zeros() -> None:
    task = next(n for n in range(1000, 1100) if len(_project(n)) < 8)
    env = ProjectBudget(task=task, actions="slots")
    observation, _ = env.reset(seed=0)
    assert observation[-1 - len(FEATURES) : -1].tolist() == [0.0] * len(FEATURES) and observation[-1] == 1.0


def test_too_few_slots_are_refused() -> None:
    with pytest.raises(InputError, match=r"^slots is 3, expected at least 8: an action for each module$"):
        ProjectBudget(actions="slots", slots=3)


# Hindsight


@pytest.mark.parametrize("actions", ["pointers", "slots"])
@pytest.mark.parametrize("task", [0, 210, 1000, 1001])
def test_nobody_is_above_hindsight(actions: str, task: int) -> None:
    env = ProjectBudget(task=task, actions=actions)
    _, info = env.reset(seed=0)
    ended = False
    while not ended:
        _, _, ended, _, info = env.step(env.informed())
    assert all(ruled(env, rule, seed=0) <= info["goal_value"] + 1e-12 for rule in RULES)


def test_hindsight_makes_the_best_of_what_others_left() -> None:
    env = ProjectBudget(task=1002)
    env.reset(seed=0)
    walked(env, [0] * 10)
    twin = env.fork()
    _, ordinary = walked(env, [0] * 99)
    ended = False
    while not ended:
        _, _, ended, _, info = twin.step(twin.informed())
    assert info["goal_value"] >= ordinary["goal_value"]


# Options


@pytest.mark.parametrize("budget", ["20g", "30s", "50x", "150x"])
def test_a_budget_that_is_no_number_of_slices_is_refused(budget: str) -> None:
    with pytest.raises(InputError, match=f"^the budget is '{budget}', expected executions in steps of 100"):
        ProjectBudget(budget=budget)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownName, match="no split named 'tset'"):
        ProjectBudget(split="tset")
    with pytest.raises(InputError, match="task True cannot be used"):
        ProjectBudget().reset(options={"task": True})
    with pytest.raises(UnknownName, match="did you mean 'in_turn'"):
        ProjectBudget().action_of("in_trun")


def test_a_module_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(SubjectError):
        ProjectBudget(subjects=["bookshop.nothing"], path=SHOP)


@pytest.mark.parametrize("actions", ["pointers", "slots"])
def test_it_is_as_strict_as_every_environment(actions: str) -> None:
    check_env_strict("fitgym/ProjectBudget-v0", steps=8, processes=False, actions=actions)


# Searches that run


@pytest.fixture
def shop() -> Iterator[Any]:
    with gymnasium.make("fitgym/ProjectBudget-v0", subjects=SUBJECTS, path=SHOP, budget="500x") as env:
        yield env.unwrapped


def test_a_running_project_gives_the_same_episode_again(shop: Any) -> None:
    shop.reset(seed=4)
    first, info = walked(shop, [0, 3, 4, 1, 0])
    assert info["goal_value"] > 0.0 and info["task"] == -1
    shop.reset(seed=4)
    assert walked(shop, [0, 3, 4, 1, 0])[0] == first


def test_a_copy_of_a_running_project_goes_on_alike_and_ends_alone(shop: Any) -> None:
    shop.reset(seed=4)
    walked(shop, [0, 1])
    fork, pickled = shop.fork(), pickle.loads(pickle.dumps(shop))
    found = [walked(one, [0, 4, 5])[0] for one in (fork, pickled)]
    fork.close()
    pickled.close()
    assert found == [walked(shop, [0, 4, 5])[0]] * 2


def test_a_slice_for_one_module_changes_no_other(shop: Any) -> None:
    shop.reset(seed=1)
    shop.step(0)
    assert [one.slices for one in shop.standings] == [1, 0]


def test_a_running_project_is_never_above_its_hindsight_and_can_be_recorded(shop: Any) -> None:
    _, info = shop.reset(seed=2)
    ended = False
    while not ended:
        _, _, ended, _, info = shop.step(shop.informed())
    best = info["goal_value"]
    assert ruled(shop, "in_turn", seed=2) <= best + 1e-12
    record = json.loads(json.dumps(shop.record()))
    assert record["options"]["subjects"] == SUBJECTS and record["budget"] == "500x"


def test_a_closed_environment_can_begin_again(shop: Any) -> None:
    first = shop.reset(seed=0)[0]
    shop.close()
    shop.close()
    assert np.array_equal(shop.reset(seed=0)[0], first)


@nightly
def test_a_running_project_is_as_strict_as_every_environment() -> None:
    options = {"subjects": SUBJECTS, "path": SHOP, "budget": "800x"}
    check_env_strict("fitgym/ProjectBudget-v0", steps=4, processes=False, checkers=False, **options)
