"""The example of deep Q-learning: Bellman's equation, masks, learning, and reproducibility."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from nightly import nightly
from numpy.typing import NDArray

from fitgym.envs.toy import optimum

torch = pytest.importorskip("torch", reason="deep Q-learning needs torch, which is in the extra 'deep'")

EXAMPLE = Path(__file__).parents[2] / "examples" / "dqn.py"
ALL = np.ones(3, bool)
HERE, THERE = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


@pytest.fixture(scope="module")
def dqn() -> Any:
    spec = importlib.util.spec_from_file_location("example_dqn", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.set_num_threads(1)
    return module


def values(agent: Any, observation: NDArray[np.float32]) -> list[float]:
    with torch.no_grad():
        return [round(value, 1) for value in agent.network(torch.as_tensor(observation)).tolist()]


def test_values_become_what_can_be_earned(dqn: Any) -> None:
    """Two states: from here action 1 pays 1 and leads there, where action 0 pays 2 and action 2, forbidden, 9."""
    agent = dqn.DQN(2, 3, hidden=16, gamma=0.5, learning_rate=0.01, batch=16, copied=20)
    without_2 = np.array([True, True, False])
    steps = [
        dqn.Step(HERE, 0, 0.0, HERE, ALL, True),
        dqn.Step(HERE, 1, 1.0, THERE, without_2, False),
        dqn.Step(HERE, 2, 0.0, HERE, ALL, True),
        dqn.Step(THERE, 0, 2.0, THERE, ALL, True),
        dqn.Step(THERE, 1, 0.0, THERE, ALL, True),
        dqn.Step(THERE, 2, 9.0, THERE, ALL, True),
    ]
    for number in range(4000):
        agent.remember(steps[number % len(steps)])
    assert values(agent, HERE) == [0.0, 2.0, 0.0]  # 1 + 0.5 * 2, not 1 + 0.5 * 9
    assert values(agent, THERE) == [2.0, 0.0, 9.0]
    assert agent.act(HERE, ALL) == 1
    assert agent.act(THERE, without_2) == 0


def test_chance_keeps_to_the_mask_too(dqn: Any) -> None:
    agent = dqn.DQN(2, 3)
    assert {agent.act(HERE, np.array([True, False, True]), epsilon=1.0) for _ in range(50)} == {0, 2}


@nightly
def test_it_learns_a_short_toy_nearly_to_the_optimum(dqn: Any) -> None:
    env = gymnasium.make("fitgym/Toy-v0", horizon=6)
    agent = dqn.DQN(11, 5, hidden=32, learning_rate=2e-3, every=2, copied=100)
    returns = dqn.train(agent, env, 6000)
    assert len(returns) == 1000
    assert dqn.evaluate(agent, env) >= 0.95 * optimum(6)[0]


def test_the_same_seed_gives_the_same_agent_and_leaves_the_generator_of_torch_alone(dqn: Any) -> None:
    before, learnt = torch.get_rng_state(), []
    for _ in range(2):
        agent = dqn.DQN(11, 5, hidden=8, batch=8, seed=3)
        returns = dqn.train(agent, gymnasium.make("fitgym/Toy-v0", horizon=5), 300, seed=1)
        learnt.append((returns, [weights.tolist() for weights in agent.network.state_dict().values()]))
    assert learnt[0] == learnt[1]
    assert torch.equal(before, torch.get_rng_state())
