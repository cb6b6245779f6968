"""Bandits: discounted averages, and each rule computed by hand."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fitgym.agents._averages import Averages
from fitgym.agents._draw import draw
from fitgym.agents.base import Agent, Transition, make
from fitgym.agents.epsilon_greedy import EpsilonGreedy
from fitgym.agents.random_fixed import RandomFixed
from fitgym.agents.softmax import Softmax
from fitgym.agents.thompson import Thompson
from fitgym.agents.ucb import UCB
from fitgym.errors import InputError

ALL = np.ones(3, bool)
HISTORIES = st.lists(st.tuples(st.integers(0, 2), st.floats(-100, 100)), max_size=30)


def told(agent: Agent, *outcomes: tuple[int, float]) -> Any:
    """The agent after it has seen these actions with these rewards."""
    for action, reward in outcomes:
        agent.observe(Transition(None, action, reward, None))
    return agent


def averaged(history: list[tuple[int, float]], **options: Any) -> Averages:
    averages = Averages(3, **options)
    for action, reward in history:
        averages.add(action, reward)
    return averages


# Averages


def test_a_discount_weighs_rewards_by_their_age() -> None:
    averages = averaged([(0, 8.0), (1, 4.0), (0, 2.0)], discount=0.5)
    # Action 0: weights 0.25 and 1, so N = 1.25 and Q = (0.25 * 8 + 2) / 1.25 = 3.2. Action 1: weight 0.5, Q = 4.
    assert averages.counts == pytest.approx([1.25, 0.5, 0.0])
    assert averages.means() == pytest.approx([3.2, 4.0, 0.0])


def test_a_window_remembers_the_last_decisions_only() -> None:
    averages = averaged([(0, 8.0), (1, 4.0), (0, 2.0), (0, 1.0)], window=2)
    assert averages.counts.tolist() == [2.0, 0.0, 0.0]
    assert averages.means().tolist() == [1.5, 0.0, 0.0]


@given(HISTORIES, st.integers(1, 12))
def test_a_window_is_the_average_of_its_decisions(history: list[tuple[int, float]], window: int) -> None:
    whole, part = averaged(history, window=window), averaged(history[-window:])
    assert whole.counts.tolist() == part.counts.tolist()
    assert whole.means() == pytest.approx(part.means(), abs=1e-9)


@given(HISTORIES, st.floats(0.1, 0.99))
def test_a_discounted_mean_is_the_sum_written_out(history: list[tuple[int, float]], discount: float) -> None:
    averages = averaged(history, discount=discount)
    for action in range(3):
        weights = [(discount ** (len(history) - 1 - s), r) for s, (a, r) in enumerate(history) if a == action]
        n = sum(w for w, _ in weights)
        assert averages.counts[action] == pytest.approx(n)
        assert averages.means()[action] == pytest.approx(sum(w * r for w, r in weights) / n if n else 0, abs=1e-9)


@given(HISTORIES)
def test_normalised_means_are_between_minus_one_and_one(history: list[tuple[int, float]]) -> None:
    assert (np.abs(averaged(history, normalise="largest").means()) <= 1 + 1e-12).all()


@given(HISTORIES, st.sampled_from([{}, {"discount": 0.9}, {"window": 4}]))
def test_restored_averages_go_on_as_the_old_ones(history: list[tuple[int, float]], options: dict[str, Any]) -> None:
    old, new = averaged(history, **options), Averages(3, **options)
    new.restore(old.arrays())
    for averages in (old, new):
        averages.add(1, 2.5)
    assert {name: a.tolist() for name, a in old.arrays().items()} == {n: a.tolist() for n, a in new.arrays().items()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ucb:discount=0", "the discount is 0, expected a number above 0 and at most 1"),
        ("ucb:discount=1.5", "the discount is 1.5, expected a number above 0 and at most 1"),
        ("ucb:discount=true", "the discount is True, expected a number above 0 and at most 1"),
        ("softmax:window=-1", "the window is -1, expected a whole number of decisions, 0 for all of them"),
        ("softmax:window=2.5", "the window is 2.5, expected a whole number of decisions, 0 for all of them"),
        ("thompson:window=5,discount=0.9", "discount 0.9 and window 5 both forget: use one of them"),
        ("softmax:temperature=0", "the temperature is 0, expected a number above 0"),
        ("thompson:sigma=-1", "the deviation sigma is -1, expected a number of at least 0"),
        ("epsilon_greedy:epsilon=2", "epsilon is 2, expected a probability between 0 and 1"),
        ("linucb:ridge=0", "ridge is 0, expected a number above 0"),
        ("dsg_sarsa:alpha=0", "the step size alpha is 0, expected a number above 0"),
        ("dsg_sarsa:tilings=0", "tilings is 0, expected a whole number of at least 1"),
    ],
)
def test_a_senseless_hyper_parameter_is_explained(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make(text, 3)
    assert str(caught.value) == message


# All bandits


@pytest.mark.parametrize("name", ["ucb", "epsilon_greedy", "softmax", "thompson", "linucb", "dsg_sarsa"])
def test_every_action_is_tried_once_in_the_random_order_first(name: str) -> None:
    for seed in range(3):
        agent = make(name, 7, seed=seed)
        seen = []
        for step in range(7):
            seen.append(agent.act(np.zeros(2), {}))
            agent.observe(Transition(np.zeros(2), seen[-1], float(step), np.zeros(2)))
        assert seen == agent.order.actions.tolist()  # type: ignore[attr-defined]
        assert sorted(seen) == list(range(7))


@pytest.mark.parametrize("name", ["ucb", "epsilon_greedy", "softmax", "thompson"])
def test_an_action_that_left_the_window_is_tried_again(name: str) -> None:
    agent = told(make(f"{name}:window=2", 3), (0, 1.0), (1, 1.0), (2, 1.0))
    assert agent.act(None, {}) == 0


# UCB that forgets


def test_discounted_bounds_are_those_worked_out_by_hand() -> None:
    agent = told(UCB(2, c=1.0, discount=0.5, normalise="none"), (0, 1.0), (1, 0.0), (0, 1.0))
    # N = (1.25, 0.5), t = 1.75, ln t = 0.5596157879; Q = (1, 0).
    expected = [1 + math.sqrt(0.5596157879 / 1.25), math.sqrt(0.5596157879 / 0.5)]
    assert agent.indices() == pytest.approx(expected, abs=1e-9)


def test_windowed_bounds_are_those_worked_out_by_hand() -> None:
    agent = told(UCB(2, c=1.0, window=3, normalise="none"), (0, 9.0), (1, 0.0), (0, 1.0), (0, 2.0))
    # In the window: 0.0 of action 1, 1.0 and 2.0 of action 0. ln 3 = 1.0986122887.
    assert agent.indices() == pytest.approx([1.5 + math.sqrt(1.0986122887 / 2), math.sqrt(1.0986122887)], abs=1e-9)


def played(agent: Agent, pays: Any, steps: int) -> list[int]:
    """What the agent does in an environment that pays `pays(step, action)`."""
    seen = []
    for step in range(steps):
        seen.append(agent.act(None, {}))
        told(agent, (seen[-1], pays(step, seen[-1])))
    return seen


@pytest.mark.parametrize("options", [{"discount": 0.95}, {"window": 40}], ids=str)
def test_a_bandit_that_forgets_follows_a_change_that_another_misses(options: dict[str, Any]) -> None:
    def pays(step: int, action: int) -> float:
        return 1.0 if (action == 0) == (step < 300) else 0.0

    late = slice(400, 500)
    forgetful = played(UCB(2, c=0.1, **options), pays, 500)[late].count(1)
    plain = played(UCB(2, c=0.1), pays, 500)[late].count(1)
    # Of 300 rewards of 1 and 100 of 0 the mean is still 0.75; of the last 40 it is 0.
    assert forgetful > 90 and plain == 0


# Epsilon-greedy, softmax, Thompson sampling


def test_epsilon_greedy_takes_any_action_with_probability_epsilon() -> None:
    agent = told(EpsilonGreedy(3, epsilon=0.3, seed=1), (0, 0.0), (1, 1.0), (2, 0.5))
    counts = Counter(agent.act(None, {}) for _ in range(3000))
    # The best with probability 0.7 + 0.1, the others with 0.1 each: deviations sqrt(3000 * 0.8 * 0.2) = 22 and 16.
    assert abs(counts[1] - 2400) < 88 and abs(counts[0] - 300) < 66 and abs(counts[2] - 300) < 66


def test_without_epsilon_the_best_mean_is_taken() -> None:
    agent = told(EpsilonGreedy(3, epsilon=0), (0, 0.2), (1, 0.1), (2, 0.3), (2, 0.0))
    assert {agent.act(None, {}) for _ in range(20)} == {0}


def test_softmax_probabilities_are_those_worked_out_by_hand() -> None:
    agent = told(Softmax(3, temperature=0.5, normalise="none"), (0, 0.0), (1, 0.5), (2, 1.0))
    # exp(0), exp(1), exp(2) = 1, 2.718281828, 7.389056099; their sum is 11.107337927.
    assert agent.probabilities(ALL) == pytest.approx([0.0900305732, 0.2447284711, 0.6652409558])
    masked = agent.probabilities(np.array([True, True, False]))
    assert masked == pytest.approx([1 / 3.718281828, 2.718281828 / 3.718281828, 0])


@pytest.mark.parametrize("temperature", [1e-300, 1e-9, 1e9])
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_softmax_stays_a_distribution_at_any_temperature(temperature: float, scale: float) -> None:
    agent = told(Softmax(3, temperature=temperature), (0, -scale), (1, 0.0), (2, scale))
    probabilities = agent.probabilities(np.array([True, True, False]))
    assert probabilities.sum() == pytest.approx(1) and probabilities[2] == 0
    assert probabilities[1] >= probabilities[0] >= 0


def test_the_posterior_shrinks_to_the_mean() -> None:
    agent = told(Thompson(3, sigma=2.0, normalise="none"), (0, 3.0), (0, 3.0), (0, 3.0), (1, 5.0))
    mean, deviation = agent.posterior()
    # S / (N + 1): 9 / 4, 5 / 2, 0 / 1; sigma / sqrt(N + 1): 2 / 2, 2 / sqrt 2, 2.
    assert mean == pytest.approx([2.25, 2.5, 0.0])
    assert deviation == pytest.approx([1.0, math.sqrt(2), 2.0])


def test_thompson_takes_actions_as_often_as_they_are_believed_best() -> None:
    agent = told(Thompson(2, seed=3, sigma=1.0, normalise="none"), (0, 2.0), (1, 0.0))
    # Both posteriors have variance 1 / 2, means 1 and 0: the difference of the draws is Normal(1, 1), above 0 with
    # probability 0.8413; of 3000 draws 2524 expected, deviation 20.
    assert abs(sum(agent.act(None, {}) == 0 for _ in range(3000)) - 2524) < 80


@pytest.mark.parametrize("text", ["ucb:c=0.5", "epsilon_greedy", "softmax", "thompson", "thompson:discount=0.99"])
def test_every_bandit_finds_the_better_of_two_noisy_actions(text: str) -> None:
    noise = np.random.default_rng(0).normal(0, 0.2, 600)
    seen = played(make(text, 2, seed=5), lambda step, action: 0.5 * action + noise[step], 600)
    assert seen[300:].count(1) > 200


# One draw for a run


def test_random_fixed_stays_with_one_action_for_an_episode() -> None:
    agent = RandomFixed(8, seed=0)
    runs = []
    for _ in range(60):
        agent.begin_episode(None, {})
        run = {agent.act(None, {}) for _ in range(5)}
        assert len(run) == 1
        runs += run
    assert set(runs) == set(range(8))


# An independent implementation


@settings(deadline=None)  # importing it takes a second
@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), max_size=40), st.sampled_from([0.0, 0.3, 1.0, 1.7]))
def test_the_bounds_are_those_of_mabwiser(history: list[tuple[int, float]], alpha: float) -> None:
    mab = pytest.importorskip("mabwiser.mab", reason="MABWiser is in the extra 'test'")
    history = [*((arm, 0.5) for arm in range(4)), *history]
    theirs = mab.MAB(arms=[0, 1, 2, 3], learning_policy=mab.LearningPolicy.UCB1(alpha=alpha))
    theirs.fit([arm for arm, _ in history], [reward for _, reward in history])
    expected = theirs.predict_expectations()
    # Its bonus is alpha * sqrt(2 ln t / N), so c = alpha * sqrt(2).
    ours = told(UCB(4, c=alpha * math.sqrt(2), normalise="none"), *history).indices()
    assert ours == pytest.approx([expected[arm] for arm in range(4)], abs=1e-12)


# Draws


@given(st.lists(st.integers(0, 20), min_size=1, max_size=20).filter(any), st.integers(0, 100))
def test_a_draw_by_weight_is_that_of_numpy(weights: list[int], seed: int) -> None:
    ours, theirs = np.random.default_rng(seed), np.random.default_rng(seed)
    drawn = [draw(np.array(weights, float), ours) for _ in range(20)]
    assert drawn == [theirs.choice(len(weights), p=np.array(weights) / sum(weights)) for _ in range(20)]
    assert ours.random() == theirs.random()
    assert all(weights[index] for index in drawn)
