"""Every learning agent beats chance in every space that it declares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from nightly import nightly

from fitgym.agents._deep import Deep
from fitgym.agents.base import Agent, agents, agents_for, make
from fitgym.testing.agents import Levers

KINDS: tuple[type[spaces.Space[Any]], ...] = (spaces.Discrete, spaces.MultiBinary, spaces.Box)
SMALL = "hidden=16,learning_rate=0.01"
OPTIONS = {
    "ppo": f"{SMALL},n_steps=64",
    "maskable_ppo": f"{SMALL},n_steps=64",
    "recurrent_ppo": f"{SMALL},n_steps=64,memory=8",
    "a2c": SMALL,
    "dqn": f"{SMALL},target_interval=50,gamma=0",
    "sac": f"{SMALL},learning_starts=50,batch_size=32,gamma=0",
}
"""Small networks and large steps, so that a training takes about a second."""

STEPS = {"a2c": 2000, "dqn": 600, "sac": 500}
"""Of the training; 1000 for other deep agents, 300 for light ones."""

RELEASED = ("released_ucb", "released_dsg_sarsa")
"""They repeat released programs, in which learning goes wrong as well."""

CHANCE = {spaces.Discrete: 0.4, spaces.MultiBinary: 0.5, spaces.Box: 0.18}
"""The mean payment of uniform actions: 2/5, 1/2, and 1 - (1.8^2 + 0.2^2) / 4."""


def learning(name: str) -> bool:
    kind = agents().load(name)
    return name not in RELEASED and (kind.learns or issubclass(kind, Deep))


def paid(agent: Agent, kind: type[spaces.Space[Any]], deterministic: bool) -> float:
    """The mean payment of predictions for 20 observations of an episode."""
    env, state = Levers(5, kind), None
    total = 0.0
    for i, seen in enumerate(np.random.default_rng(5).random((20, 3), np.float32)):
        action, state = agent.predict(seen, state, np.array(i == 0), deterministic)
        total += env.pays(action)
    return total / 20


@pytest.mark.parametrize("kind", KINDS)
def test_chance_is_what_is_worked_out(kind: type[spaces.Space[Any]]) -> None:
    agent = make("uniform", Levers(5, kind).action_space, seed=0)
    found = np.mean([paid(agent, kind, False) for _ in range(50)])
    # 1000 payments with standard deviations of at most 0.3: four of their means are 0.04
    assert found == pytest.approx(CHANCE[kind], abs=0.04)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=[nightly] * issubclass(agents().load(name), Deep))
        for kind in KINDS
        for name in agents_for(kind)
        if learning(name)
    ],
)
def test_an_agent_that_learns_earns_clearly_more_than_chance(name: str, kind: type[spaces.Space[Any]]) -> None:
    deep = issubclass(agents().load(name), Deep)
    if deep:
        for library in ("stable_baselines3", "sb3_contrib"):
            pytest.importorskip(
                library, reason="deep agents learn with Stable-Baselines3, which is in the extra 'deep'"
            )
    text = f"{name}:{OPTIONS[name]}" if name in OPTIONS else name
    earned = []
    for seed in range(3):
        env = Levers(5, kind)
        agent = make(text, env.action_space, seed=seed).learn(env, STEPS.get(name, 1000 if deep else 300), seed=seed)
        earned.append(paid(agent, kind, True))
    assert min(earned) > CHANCE[kind] + 0.2, earned
    assert np.mean(earned) > CHANCE[kind] + 0.25, earned
