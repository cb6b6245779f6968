"""The example of PPO in one file: it learns from parallel episodes, and ignores steps that only begin one."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

torch = pytest.importorskip("torch", reason="PPO needs torch, which is in the extra 'deep'")

EXAMPLE = Path(__file__).parents[2] / "examples" / "ppo.py"


@pytest.fixture(scope="module")
def ppo() -> Any:
    spec = importlib.util.spec_from_file_location("example_ppo", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settings(**changed: Any) -> argparse.Namespace:
    found = {
        **{"env_id": "fitgym/Landscapes-v0", "num_envs": 64, "num_steps": 60, "total_timesteps": 100_000, "seed": 0},
        **{"learning_rate": 1e-3, "gamma": 0.99, "gae_lambda": 0.8, "batch_size": 480, "epochs": 4, "clip": 0.2},
        **{"entropy": 0.005, "tests": 60, "vector": {}},
    }
    return argparse.Namespace(**{**found, **changed})


@nightly
def test_it_learns_landscapes_with_its_eyes_open(ppo: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options = settings()
    model = ppo.train(options)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("103680 steps, mean return")
    assert ppo.score(model, options, blank=False) > 0.68 > ppo.score(model, options, blank=True)


def test_the_same_seed_gives_the_same_policy(ppo: Any) -> None:
    options = settings(num_envs=4, num_steps=40, total_timesteps=320)
    one, other = (ppo.train(options).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_step_that_only_begins_an_episode_changes_nothing(ppo: Any) -> None:
    options = settings(epochs=1)
    model = ppo.ActorCritic(2, 3)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    optimiser = torch.optim.Adam(model.parameters(), lr=0.1)
    seen, actions = torch.rand(4, 2, 2), torch.zeros(4, 2, dtype=torch.int64)
    flat = [torch.rand(4, 2) for _ in range(3)]
    ppo.improve(model, optimiser, options, seen, actions, *flat, torch.zeros(4, 2))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    ppo.improve(model, optimiser, options, seen, actions, *flat, torch.ones(4, 2))
    assert not all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_an_environment_without_a_vector_of_its_own_is_trained_on_too(ppo: Any) -> None:
    options = settings(
        env_id="fitgym/Toy-v0", num_envs=2, num_steps=45, total_timesteps=90, vector={"vectorization_mode": "sync"}
    )
    assert ppo.train(options).actor[0].in_features == 11
