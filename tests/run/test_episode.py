"""The episode loop: the calls to an actor and hooks, and the conditions for its end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import pytest

from fitgym.agents.base import make
from fitgym.agents.transition import Transition
from fitgym.envs.toy import Toy
from fitgym.run.episode import Curve, Deadline, Hook, deterministic, play


class Scripted:
    """Takes actions from a list and notes what it is told."""

    def __init__(self, actions: list[int]) -> None:
        self.actions = actions
        self.told: list[Any] = []

    def watch(self, env: gymnasium.Env[Any, Any]) -> None:
        self.told.append("watch")

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        self.told.append("begin")

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        self.told.append("act")
        return self.actions[int(info["generation"])]

    def observe(self, transition: Transition) -> None:
        self.told.append(transition.action)


def test_an_actor_is_told_in_order_and_the_rewards_are_summed() -> None:
    actor = Scripted([0, 3])
    played = play(actor, Toy(horizon=2), seed=0)
    assert actor.told == ["watch", "begin", "act", 0, "act", 3]
    assert played.steps == 2 and played.info["generation"] == 2
    assert played.rewards == pytest.approx(0.4 + 0.9)  # steady, then the mirage


class Stop(Hook):
    def __init__(self, after: int) -> None:
        self.left = after
        self.begun = 0

    def begin(self, env: gymnasium.Env[Any, Any], info: Mapping[str, Any]) -> None:
        self.begun += 1

    def proceed(self) -> bool:
        return self.left > 0

    def step(self, transition: Transition) -> None:
        self.left -= 1


def test_a_hook_can_end_the_episode_before_any_decision() -> None:
    for after in (0, 3):
        stop, actor = Stop(after), Scripted([0] * 40)
        assert play(actor, Toy(), seed=0, hooks=[stop]).steps == after
        assert stop.begun == 1 and actor.told.count("act") == after


def test_a_deadline_in_the_past_allows_no_decision() -> None:
    assert play(Scripted([0]), Toy(), hooks=[Deadline(time.monotonic() - 1)]).steps == 0


def test_a_curve_has_one_value_more_than_rewards() -> None:
    curve = Curve()
    played = play(Scripted([0] * 5), Toy(horizon=5), seed=0, hooks=[curve])
    assert len(curve.values) == len(curve.executions) == len(curve.generations) == 6
    assert len(curve.rewards) == 5 and sum(curve.rewards) == pytest.approx(played.rewards)
    assert curve.values[-1] == pytest.approx(played.rewards) and curve.generations[-1] == 5


def test_a_deterministic_actor_learns_nothing() -> None:
    agent = make("ucb", 5, seed=0)
    play(deterministic(agent), Toy(), seed=0)
    assert agent.n_updates == 0
    play(agent, Toy(), seed=0)
    assert agent.n_updates == 40


def test_the_state_of_a_policy_is_handed_on_within_an_episode_only() -> None:
    class Counting:
        def __init__(self) -> None:
            self.seen: list[tuple[Any, bool]] = []

        def predict(
            self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
        ) -> tuple[Any, Any]:
            self.seen.append((state, bool(episode_start[0])))
            return np.array(0), (state or 0) + 1

    policy = Counting()
    actor = deterministic(policy)
    for _ in range(2):
        play(actor, Toy(horizon=2), seed=0)
    assert policy.seen == [(None, True), (1, False)] * 2
