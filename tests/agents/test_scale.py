"""The running scale: its formula by hand, and actions that do not depend on the unit of rewards."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from fitgym.agents._functions import function_bits, functions_of
from fitgym.agents._scale import Scale
from fitgym.agents.base import Agent, Transition, make
from fitgym.errors import InputError

SAVED = Path(__file__).parents[1] / "saved"
SETS = ("goal", "goal+a", "goal+b", "goal+c", "goal+a+b", "goal+b+c")
BANDITS = (
    *("ucb", "ucb:discount=0.9", "ucb:window=9", "ucb:normalise=largest", "epsilon_greedy", "softmax", "thompson"),
    *("factored_ucb", "factored_ucb:window=9", "factored_ucb:discount=0.9", "linucb", "linucb:features=action"),
    *("linucb:features=observation", "linucb:features=action,discount=0.9", "linucb:window=9", "dsg_sarsa"),
)
REWARDS = st.lists(st.sampled_from([0.0, 0.0, 0.04, 0.5, 1.0, 3.0, -0.5, 40.0]), min_size=8, max_size=40)


def scaled(*rewards: float, normalise: str | bool = "running") -> Scale:
    scale = Scale(normalise)
    for reward in rewards:
        scale.add(reward)
    return scale


def taken(text: str, rewards: list[float], space: Any = 6) -> list[Any]:
    """The actions of an agent that gets these rewards, whatever it does."""
    names = SETS if isinstance(space, int) else SETS[: space.n]
    agent = make(text, space, action_names=names, seed=4)
    rng = np.random.default_rng(0)
    found = []
    for reward in rewards:
        seen = rng.random(2)
        action = agent.act(seen, {})
        agent.observe(Transition(seen, action, reward, rng.random(2)))
        found.append(np.asarray(action).tolist())
    return found


def test_the_scale_is_the_standard_deviation_of_the_first_rewards() -> None:
    assert scaled(0.0, 2.0, 4.0, 0.0).value == pytest.approx(np.std([0, 2, 4, 0]))


def test_equal_rewards_are_measured_by_their_size_and_zeros_by_one() -> None:
    assert scaled(0.04, 0.04, 0.04).value == pytest.approx(0.04)
    assert scaled(0.0, 0.0).value == 1.0


def test_an_outlier_counts_five_times_what_is_typical() -> None:
    scale = scaled(*[1.0] * 10)
    assert scale.add(1000.0) == 5.0
    assert scale.add(-1000.0) == pytest.approx(-5 * (1 + 4 / 11))
    assert scale.largest == 1000.0


def test_the_other_units_are_the_largest_reward_and_one() -> None:
    assert scaled(3.0, -8.0, normalise=True).value == scaled(3.0, -8.0, normalise="largest").value == 8.0
    assert scaled(3.0, -8.0, normalise=False).value == scaled(3.0, normalise="none").value == 1.0


@pytest.mark.parametrize("normalise", ["mean", 1, 0.5, None])
def test_an_unknown_unit_is_explained(normalise: Any) -> None:
    with pytest.raises(InputError, match=f"normalise is {normalise}, expected running, largest or none"):
        Scale(normalise)


@given(REWARDS)
def test_a_restored_scale_goes_on(rewards: list[float]) -> None:
    old, new = scaled(*rewards), Scale("running")
    new.restore(old.arrays())
    assert old.add(0.7) == new.add(0.7) and old.value == new.value


@pytest.mark.parametrize("text", BANDITS)
@given(REWARDS, st.integers(-30, 30))
@settings(max_examples=15, deadline=None)
def test_a_constant_factor_of_all_rewards_changes_no_action(text: str, rewards: list[float], power: int) -> None:
    # A power of two changes no digit of a reward, so that not even ties are decided by rounding.
    assert taken(text, rewards) == taken(text, [reward * 2.0**power for reward in rewards])


@given(REWARDS, st.integers(-30, 30))
@settings(max_examples=15, deadline=None)
def test_nor_does_it_change_bits(rewards: list[float], power: int) -> None:
    bits = spaces.MultiBinary(3)
    assert taken("factored_ucb", rewards, bits) == taken("factored_ucb", [r * 2.0**power for r in rewards], bits)


@pytest.mark.parametrize("factor", [0.04, 0.002, 1e4])
@pytest.mark.parametrize("text", BANDITS)
def test_rewards_as_small_and_as_large_as_those_of_the_goals_change_no_action(text: str, factor: float) -> None:
    rewards = np.random.default_rng(7).exponential(1.0, 60).tolist()
    assert taken(text, rewards) == taken(text, [reward * factor for reward in rewards])


def test_the_rule_of_the_paper_depends_on_the_unit() -> None:
    rewards = np.random.default_rng(7).exponential(1.0, 60).tolist()
    text = f"ucb:c={math.sqrt(2)},normalise=none"
    assert taken(text, rewards) != taken(text, [reward * 1e4 for reward in rewards])


def late(text: str, pays: Any, n: int, seed: int) -> list[int]:
    """The last 40 of 140 actions."""
    agent, rng = make(text, n, seed=seed), np.random.default_rng(seed)
    found = []
    for _ in range(140):
        action = agent.act(None, {})
        agent.observe(Transition(None, action, pays(int(action), rng), None))
        found.append(int(action))
    return found[-40:]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unit", [0.04, 1e4])
def test_ucb_is_neither_round_robin_nor_bound_to_its_first_success(unit: float, seed: int) -> None:
    def pays(action: int, rng: np.random.Generator) -> float:
        return unit * float(rng.random() < 0.1 + 0.7 * (action == 3))

    assert late("ucb", pays, 10, seed).count(3) > 20


def test_functions_are_the_parts_of_a_name() -> None:
    assert functions_of("exception + branch+branch") == ("exception", "branch")
    assert function_bits(SETS).tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize("names", [["a", "b", "c"], ["C++", "b", "c"], ["0"], ["a+b"], ["a+b", "b+a"]])
def test_actions_that_share_nothing_are_functions_of_their_own(names: list[str]) -> None:
    assert function_bits(names).tolist() == np.eye(len(names)).tolist()


@pytest.mark.parametrize("name", sorted(json.loads((SAVED / "expected.json").read_text("utf-8"))))
def test_an_agent_saved_by_version_0_1_0_takes_the_actions_that_it_would_have_taken(name: str) -> None:
    agent = Agent.load(SAVED / name)
    rng = np.random.default_rng(1)

    def reward(action: Any) -> float:
        return float(np.sum(action)) * 0.01 + float(rng.random() < 0.3) * 0.04

    for _ in range(20):  # numbers that the agent has seen already
        rng.random(2), rng.random()
    found = []
    for _ in range(20):
        seen = rng.random(2)
        action = agent.act(seen, {})
        agent.observe(Transition(seen, action, reward(action), seen))
        found.append(np.asarray(action).tolist())
    assert found == json.loads((SAVED / "expected.json").read_text("utf-8"))[name]
