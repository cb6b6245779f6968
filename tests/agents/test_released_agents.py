"""The agents of the released code: by hand, and their two artefacts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from fitgym.agents.base import Agent, Transition
from fitgym.agents.released_dsg_sarsa import ReleasedDSGSarsa
from fitgym.agents.released_ucb import ReleasedUCB
from fitgym.errors import InputError


def played(agent: Agent, pays: Any, steps: int) -> list[int]:
    """The actions of an agent in an environment that pays `pays(action)`."""
    seen = []
    for _ in range(steps):
        seen.append(agent.act(None, {}))
        agent.observe(Transition(None, seen[-1], pays(seen[-1]), None))
    return seen


def test_two_updates_are_those_worked_out_by_hand() -> None:
    agent = ReleasedUCB(2)
    agent.observe(Transition(None, int(agent.order.actions[0]), 4.0, None))
    # t = 1 < n: every posterior mean is the reward; mean 4, variance 0.
    assert agent.posterior.tolist() == [4.0, 4.0] and (agent.mean, agent.variance) == (4.0, 0.0)
    agent.observe(Transition(None, int(agent.order.actions[1]), 1.0, None))
    # First position: mean (4 + 1) / 2 = 2.5, variance (0 + (1 - 2.5)(1 - 4)) / 2 = 2.25, m = (4 * 2.25 + 1) / 3.25.
    # Second: mean (2.5 + 1) / 2 = 1.75, variance (2.25 + (1 - 1.75)(1 - 2.5)) / 2 = 1.6875, m = (4 * 1.6875 + 1) / 2.6875.
    assert agent.posterior == pytest.approx([10 / 3.25, 7.75 / 2.6875])
    assert (agent.mean, agent.variance, agent.spread) == pytest.approx((1.75, 1.6875, 1.0))
    # sqrt(ln 2) = 0.8325546.
    assert agent.bounds() == pytest.approx([10 / 3.25 + 0.008325546, 7.75 / 2.6875 + 0.008325546])


@pytest.mark.parametrize("seed", range(5))
def test_with_a_constant_reward_the_released_ucb_takes_action_0_for_ever(seed: int) -> None:
    seen = played(ReleasedUCB(7, seed=seed), lambda _: 5.0, 60)
    # One decision after the sweep is still made with numbers; from then on there are none.
    assert sorted(seen[:7]) == list(range(7)) and set(seen[8:]) == {0}


def test_the_released_ucb_does_not_find_an_action_that_pays_half_as_much_again() -> None:
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        seen = played(ReleasedUCB(8, seed=seed), lambda a, r=rng: float(r.normal(10, 1)) + 5 * (a == 4), 400)
        found += Counter(seen[8:]).most_common(1)[0][0] == 4
    # By chance the place of action 4 in the list is the favoured one in an eighth of the runs, 2.5 of 20.
    assert found <= 6


def test_rewards_can_be_cut_to_whole_numbers() -> None:
    cut, whole = ReleasedUCB(3, whole=True), ReleasedUCB(3)
    assert played(cut, lambda a: a + 0.75, 30) == played(whole, lambda a: float(a), 30)


def test_the_schedule_of_the_released_sarsa_is_the_one_worked_out_by_hand() -> None:
    agent = ReleasedDSGSarsa(3, first_step=4, last_step=2, seed=1)
    steps = []
    for _ in range(12):
        steps.append((agent.n_updates, agent.step))
        agent.observe(Transition(None, 0, 1.0, None))
    # Greedy at 4 (a multiple of 4), then at 6 (of 3), then at 8 and 10 (of 2).
    assert [step for _, step in steps] == [4, 4, 4, 4, 4, 3, 3, 2, 2, 2, 2, 2]


@pytest.mark.parametrize("n", [31, 44, 64])
def test_the_released_sarsa_takes_action_0_far_more_often_than_any_other(n: int) -> None:
    agent = ReleasedDSGSarsa(n, seed=0)
    counts = Counter(played(agent, lambda a: float(a), 1500)[n:])
    assert 0.35 < counts[0] / (1500 - n) < 0.45
    assert counts.most_common(2)[1][1] < 0.06 * (1500 - n)


def test_a_schedule_that_rises_is_an_error() -> None:
    with pytest.raises(InputError, match="the schedule goes from 2 to 4, expected to fall to 1 or more"):
        ReleasedDSGSarsa(3, first_step=2, last_step=4)
