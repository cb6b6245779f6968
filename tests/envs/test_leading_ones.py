"""LeadingOnes-v0: the recursion, the simulation and numbers by hand agree."""

import itertools

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st

from fitgym.envs.leading_ones import LeadingOnes, constant_value, optimum, passes
from fitgym.errors import InputError, ResetNeeded


def leading(bits):
    return next((place for place, bit in enumerate(bits) if not bit), len(bits))


@given(st.integers(1, 7), st.data())
def test_the_probability_of_a_rise_is_that_of_counting_all_flips(bits, data):
    fitness = data.draw(st.integers(0, bits - 1))
    k = data.draw(st.integers(1, bits))
    chosen = list(itertools.combinations(range(bits), k))
    rises = sum(fitness in some and min(some) >= fitness for some in chosen)
    assert passes(bits, fitness, k) == pytest.approx(rises / len(chosen))


def test_two_bits_by_hand():
    # Start: fitness 0, 1, 2 with 1/2, 1/4, 1/4. One try of one flip: from 0 half of the flips hit the first bit, and then
    # the second is one with 1/2; from 1 half of them hit the second.
    after = 0.5 * (0.5 * 0 + 0.25 * 1 + 0.25 * 2) + 0.25 * (0.5 * 1 + 0.5 * 2) + 0.25 * 2
    assert constant_value(2, 1, 1, 1) == pytest.approx(after / 2)
    # From 0 two flips always hit the first bit: better than one flip. From 1 they never help.
    value, policy = optimum(2, (1, 2), 1, 1)
    assert policy.tolist() == [[1, 0]]
    best = 0.5 * (0.5 * 1 + 0.5 * 2) + 0.25 * 1.5 + 0.25 * 2
    assert value == pytest.approx(best / 2)


def test_many_flips_are_best_at_first_and_one_flip_at_last():
    _, policy = optimum(40, (1, 2, 4, 8, 16), 60, 10)
    assert policy[0, 0] == 4 and (policy[:, 20:] == 0).all()
    assert (np.diff(policy[0].astype(int)) <= 0).all()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_constant_reaches_on_average_what_the_recursion_says(k):
    env = LeadingOnes(bits=12, flips=(k,), horizon=6, tries=4)
    values = []
    for seed in range(1500):
        env.reset(seed=seed)
        done = False
        while not done:
            _, _, done, _, info = env.step(0)
        values.append(info["goal_value"])
    error = np.std(values) / len(values) ** 0.5
    assert abs(np.mean(values) - constant_value(12, k, 6, 4)) < 4 * error


def test_no_constant_and_not_the_rule_of_the_theory_beats_the_best_policy():
    value, _ = optimum(40, (1, 2, 4, 8, 16), 60, 10)
    assert value > max(constant_value(40, k, 60, 10) for k in (1, 2, 4, 8, 16)) + 0.1


def test_gymnasium_accepts_it_and_rewards_sum_to_the_rise():
    env = LeadingOnes()
    check_env(env, skip_render_check=True)
    env.reset(seed=3)
    first, rewards, done = env.fitness, [], False
    while not done:
        _, reward, done, truncated, _ = env.step(env.best_action())
        rewards.append(reward)
        assert not truncated
    assert sum(rewards) == pytest.approx((env.fitness - first) / 40)
    assert leading(env._bits) == env.fitness
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_the_same_seed_gives_the_same_episode_and_a_fork_can_get_other_luck():
    def play(reseed=None):
        env = LeadingOnes()
        env.reset(seed=9)
        if reseed is not None:
            env = env.fork()
            env.reseed(reseed)
        return [env.step(action)[0].tolist() for action in (3, 2, 1, 0) * 3]

    assert play() == play()
    assert play(1) == play(1) != play(2)


@pytest.mark.parametrize("flips", [(), (2, 1), (1, 1), (50,)])
def test_flips_that_make_no_sense_are_refused(flips):
    with pytest.raises(InputError, match="expected ascending numbers"):
        LeadingOnes(flips=flips)
