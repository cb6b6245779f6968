"""Deep agents in MultiBinary and Box: numpy decides like the library, and trained policies are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from fitgym.agents.base import Agent, Transition, make
from fitgym.errors import InputError
from fitgym.testing.agents import Levers

BITS, BOX = spaces.MultiBinary(5), spaces.Box(-1, 1, (5,))
CASES = [
    *(("ppo:n_steps=32", BITS), ("a2c", BITS), ("recurrent_ppo:n_steps=32,memory=8", BITS)),
    *(("maskable_ppo:n_steps=32", BITS), ("sac:learning_starts=10", BOX)),
    *(("ppo:n_steps=32", BOX), ("a2c", BOX), ("recurrent_ppo:n_steps=32,memory=8", BOX)),
]
SEEN = np.random.default_rng(0).random((20, 3), np.float32)


@pytest.fixture(scope="module")
def torch() -> Any:
    for library in ("stable_baselines3", "sb3_contrib"):
        pytest.importorskip(library, reason="deep agents learn with Stable-Baselines3, which is in the extra 'deep'")
    return pytest.importorskip("torch", reason="torch is in the extra 'deep'")


def levers(space: spaces.Space[Any]) -> Levers:
    return Levers(5, type(space))


@pytest.fixture(scope="module", params=CASES, ids=str)
def learnt(request: pytest.FixtureRequest, torch: Any) -> Any:
    """An agent after 200 steps."""
    text, space = request.param
    return make(text, space, seed=1).learn(levers(space), 200, seed=0)


def model_of(agent: Any, torch: Any) -> Any:
    """The library's model with the parameters of the agent."""
    import importlib

    package, _, name = agent.algorithm.partition(":")
    kwargs = {"net_arch": [64, 64], **agent.policy_arguments()}
    algorithm = getattr(importlib.import_module(package), name)
    model = algorithm(agent.policy, levers(agent.action_space), device="cpu", policy_kwargs=kwargs)
    parameters = {key: torch.as_tensor(values) for key, values in agent.arrays().items() if key != "held"}
    model.policy.load_state_dict(parameters)
    return model


def test_the_deterministic_choice_is_that_of_the_library(learnt: Any, torch: Any) -> None:
    model = model_of(learnt, torch)
    ours: Any = None
    theirs: Any = None
    for i, seen in enumerate(SEEN):
        start = np.array([i == 0])
        found, ours = learnt.predict(seen[None], ours, start, deterministic=True)
        expected, theirs = model.predict(seen[None], theirs, start, deterministic=True)
        assert found == pytest.approx(expected, abs=1e-5)
        assert found.shape == (1, 5) and found.dtype == learnt.action_space.dtype


def test_draws_are_spread_as_those_of_the_library(learnt: Any, torch: Any) -> None:
    model, n = model_of(learnt, torch), 2000
    torch.manual_seed(0)
    batch, starts = np.repeat(SEEN[:1], n, axis=0), np.ones(n, bool)
    ours = learnt.predict(batch, None, starts)[0].astype(float)
    theirs = model.predict(batch, None, starts)[0].astype(float)
    # Standard deviations are at most 1, so those of the means at most 0.023.
    assert ours.mean(axis=0) == pytest.approx(theirs.mean(axis=0), abs=0.12)
    assert ours.std(axis=0) == pytest.approx(theirs.std(axis=0), abs=0.12)


def test_probabilities_of_bits_are_those_of_the_library(torch: Any) -> None:
    agent: Any = make("ppo:n_steps=32,learning_rate=0.01", BITS, seed=1).learn(levers(BITS), 200, seed=0)
    model = model_of(agent, torch)
    with torch.no_grad():
        expected = model.policy.get_distribution(torch.as_tensor(SEEN[:1])).distribution.probs[0].numpy()
    assert 1 / (1 + np.exp(-agent.scores(SEEN[0]))) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("text", "space"), CASES, ids=str)
def test_a_callback_sees_actions_of_the_space_and_every_draw_is_one(
    text: str, space: spaces.Space[Any], torch: Any
) -> None:
    seen: list[Any] = []

    def look(agent: Agent, transition: Transition) -> None:
        seen.append(transition.action)
        agent.observe(transition)

    agent = make(text, space).learn(levers(space), 40, seed=0, callback=look)
    actions = [*seen, *(agent.act(row, {}) for row in SEEN)]
    assert all(space.contains(action) and action.dtype == space.dtype for action in actions)
    assert len({action.tobytes() for action in actions}) > 10


@pytest.mark.parametrize(("text", "space"), CASES, ids=str)
def test_a_saved_agent_goes_on_and_goes_on_learning(
    text: str, space: spaces.Space[Any], torch: Any, tmp_path: Path
) -> None:
    agent = make(text, space, seed=0).learn(levers(space), 40, seed=0)
    loaded = make(str(agent.save(tmp_path / "agent")), space)
    for each in (agent, loaded):
        each.learn(levers(space), 20, seed=1)
    assert all(np.array_equal(agent.act(row, {}), loaded.act(row, {})) for row in SEEN)


@pytest.mark.parametrize(("text", "space"), CASES, ids=str)
def test_before_it_has_learnt_it_draws_uniformly(text: str, space: spaces.Space[Any]) -> None:
    agent = make(text, space)
    assert not agent.ready and space.contains(agent.predict(SEEN[0], deterministic=True)[0])
    draws = np.array([agent.act(SEEN[0], {}) for _ in range(400)], float)
    assert draws.mean(axis=0) == pytest.approx([0.5 if space is BITS else 0.0] * 5, abs=0.15)


@pytest.mark.parametrize("text", ["ppo:n_steps=32", "maskable_ppo:n_steps=32"])
def test_masked_bits_take_their_other_value(text: str, torch: Any) -> None:
    agent = make(text, BITS, seed=0).learn(levers(BITS), 64, seed=0)
    mask = np.array([1, 0, 0, 1, 1, 1, 1, 1, 1, 1], bool)
    for row in SEEN:
        for bits in (agent.act(row, {"action_mask": mask}), agent.predict(row, action_masks=mask)[0]):
            assert np.asarray(bits)[:2].tolist() == [0, 1]


def test_sac_reaches_both_ends_of_a_box_that_is_not_centred(torch: Any) -> None:
    box = spaces.Box(np.array([2, -3], np.float32), np.array([4, 7], np.float32))
    agent: Any = make("sac", box)
    agent._keep(
        {
            **{f"actor.latent_pi.{i}.weight": np.eye(2, dtype=np.float32) for i in (0, 2)},
            **{f"actor.latent_pi.{i}.bias": np.zeros(2, np.float32) for i in (0, 2)},
            "actor.mu.weight": np.array([[100, 0], [0, -100]], np.float32),
            "actor.mu.bias": np.zeros(2, np.float32),
            "actor.log_std.weight": np.zeros((2, 2), np.float32),
            "actor.log_std.bias": np.zeros(2, np.float32),
        }
    )
    assert agent.predict(np.ones(2), deterministic=True)[0].tolist() == [4, -3]
    assert agent.predict(np.zeros(2), deterministic=True)[0].tolist() == [3, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sac:memory=0", "memory is 0, expected a whole number of steps, at least 1"),
        ("sac:batch_size=1", "batch_size is 1, expected a whole number of at least 2"),
        ("sac:entropy=0", "the weight of the entropy is 0, expected a number above 0"),
    ],
)
def test_a_senseless_hyper_parameter_is_explained(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make(text, BOX)
    assert str(caught.value) == message
