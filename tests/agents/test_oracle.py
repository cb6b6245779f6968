"""The oracle: its look-ahead on forks does not affect the search."""

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


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every action that an oracle looks at, of which the larger ones pay more."""
    seen: list[int] = []

    def reward(env: Any, action: int) -> float:
        seen.append(action)
        return float(action)

    monkeypatch.setattr("fitgym.agents.oracle._reward", reward)
    return seen


def test_with_tries_it_looks_at_so_many_drawn_anew_each_time(looked_at: list[int]) -> None:
    agent = Oracle(40, tries=4, seed=1)
    agent.watch(Toy())
    allowed = {"action_mask": np.arange(40) != 7}
    for _ in range(50):
        looked_at.clear()
        assert agent.act(None, allowed) == max(looked_at)
        assert len(set(looked_at)) == len(looked_at) == 4 and 7 not in looked_at
    first, second = Oracle(40, tries=4, seed=1), Oracle(40, tries=4, seed=1)
    for one in (first, second):
        one.watch(Toy())
    assert [first.act(None, allowed) for _ in range(20)] == [second.act(None, allowed) for _ in range(20)]


@pytest.mark.parametrize("tries", [0, 3, 9])
def test_with_fewer_actions_than_tries_it_looks_at_all(looked_at: list[int], tries: int) -> None:
    agent = Oracle(40, tries=tries)
    agent.watch(Toy())
    assert agent.act(None, {"action_mask": np.arange(40) < 3}) == 2
    assert looked_at == [0, 1, 2]


def test_asked_without_chance_it_looks_at_the_first_of_its_order(looked_at: list[int]) -> None:
    agent = Oracle(40, tries=4)
    agent.watch(Toy())
    choices = {int(agent.predict(np.zeros(3), deterministic=True)[0]) for _ in range(3)}
    assert choices == {max(agent.order.actions[:4])} and set(looked_at) == set(agent.order.actions[:4].tolist())


def test_tries_are_counted_from_nought() -> None:
    with pytest.raises(InputError, match="tries is -1"):
        Oracle(5, tries=-1)


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
