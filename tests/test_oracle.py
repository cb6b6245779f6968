"""The oracle: what it sees by forking, and that the search it watches does not notice."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.agents.oracle import Oracle
from fitgym.envs.toy import Toy
from fitgym.errors import InputError


def test_on_the_toy_it_takes_what_pays_most_at_once() -> None:
    env = Toy(12)
    Oracle(5).learn(env, episodes=1)
    taken = env.record()["actions"]
    # The mirage pays 0.9 times what it has spoilt; everything is spoilt alike, so it stays ahead of 0.8 t / 11. Only
    # fading pays 0.9 too, at first.
    assert taken.count("mirage") >= 11 and set(taken) <= {"mirage", "fading"}


def test_a_forbidden_action_is_not_tried() -> None:
    env = Toy()
    env.reset()
    agent = Oracle(5)
    agent.watch(env)
    assert agent.act(None, {"action_mask": [True, False, True, False, True]}) == 0


def test_without_an_environment_it_cannot_act() -> None:
    with pytest.raises(InputError, match=r"call watch\(env\) first"):
        Oracle(5).act(None, {})


@pytest.fixture
def search() -> Any:
    env = gymnasium.make("fitgym/ExceptionDiscovery-v0", subject="string", budget="12g", population=6, reward="gain")
    yield env
    env.close()


def test_a_search_that_is_watched_goes_on_as_one_that_is_not(search: Any) -> None:
    agent = Oracle(search.action_space.n)
    agent.watch(search)
    runs = []
    for watched in (False, True):
        _, info = search.reset(seed=4)
        seen = []
        for action in (0, 5, 9):
            if watched:
                agent.act(None, {"action_mask": np.arange(search.action_space.n) < 4})
            _, reward, *_, info = search.step(action)
            seen.append((reward, info["executions"], info["goal_value"]))
        runs.append(seen)
    assert runs[0] == runs[1]


def test_what_it_takes_pays_at_least_as_much_as_everything_else(search: Any) -> None:
    agent = Oracle(search.action_space.n)
    agent.watch(search)
    search.reset(seed=1)
    mask = np.arange(search.action_space.n) < 6
    rewards = [search.unwrapped.fork(share_worker=True).step(action)[1] for action in range(6)]
    assert rewards[agent.act(None, {"action_mask": mask})] == max(rewards)


def test_a_fork_that_shares_the_worker_gives_what_one_with_its_own_gives(search: Any) -> None:
    search.reset(seed=3)
    search.step(2)
    alone, shared = search.unwrapped.fork(), search.unwrapped.fork(share_worker=True)
    try:
        for action in (1, 7):
            ours, theirs = shared.step(action), alone.step(action)
            assert ours[0].tolist() == theirs[0].tolist() and ours[1:4] == theirs[1:4]
            assert shared.record() == alone.record()
    finally:
        alone.close()
