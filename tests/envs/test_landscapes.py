"""Landscapes-v0: equal episodes alone and in batches, correct numbers, and a task that can be learned."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from hypothesis import given
from hypothesis import strategies as st
from nightly import nightly

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.envs.landscapes import LandscapesEnv, LandscapesVector
from fitgym.envs.programs import Programs
from fitgym.errors import InputError, ResetNeeded
from fitgym.formulas.landscapes import ACTIONS, PARTS, SLICES, Landscapes

EVERY = st.lists(st.integers(0, len(ACTIONS) - 1), min_size=SLICES, max_size=SLICES)


def episode(env, actions, seed=0, **options):
    observation, info = env.reset(seed=seed, options=options or None)
    seen, rewards = [observation], []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        seen.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            break
    return seen, rewards, info


def started(n, first=1000):
    state = Landscapes(n)
    state.reset(np.ones(n, bool), np.arange(first, first + n), np.arange(n))
    return state


@given(EVERY, st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))
def test_rewards_sum_to_the_score_and_everything_stays_in_its_bounds(actions, seed, task):
    env = LandscapesEnv()
    seen, rewards, info = episode(env, actions, seed, task=task)
    assert sum(rewards) == pytest.approx(info["goal_value"]) and 0.0 <= info["goal_value"] <= 1.0
    assert min(rewards) >= 0.0 and len(rewards) <= SLICES
    assert all(env.observation_space.contains(one) for one in seen)


@given(st.lists(st.integers(0, 2**31 - 1), min_size=2, max_size=5, unique=True), st.integers(0, 2**31 - 1))
@nightly
def test_an_episode_is_the_same_alone_and_among_others(seeds, chance):
    actions = np.random.default_rng(chance).integers(len(ACTIONS), size=(SLICES, len(seeds)))
    vector = LandscapesVector(len(seeds))
    observations, _ = vector.reset(seed=list(seeds))
    singles = [LandscapesEnv() for _ in seeds]
    for row, (env, seed) in zip(observations, zip(singles, seeds, strict=True), strict=True):
        assert np.array_equal(row, env.reset(seed=seed)[0])
    alive = [True] * len(seeds)
    for step in range(SLICES):
        observations, rewards, terminated, _, infos = vector.step(actions[step])
        for number, env in enumerate(singles):
            if alive[number]:
                seen, reward, ended, _, info = env.step(actions[step, number])
                assert np.array_equal(seen, observations[number]) and reward == rewards[number]
                assert ended == terminated[number] and info["goal_value"] == infos["goal_value"][number]
                alive[number] = not ended


def test_a_number_as_the_seed_gives_each_episode_the_next_one():
    vector = LandscapesVector(3)
    observations, infos = vector.reset(seed=7)
    for number in range(3):
        seen, info = LandscapesEnv().reset(seed=7 + number)
        assert np.array_equal(seen, observations[number]) and info["task"] == infos["task"][number]


def test_an_episode_that_has_ended_begins_anew_at_the_next_step_or_at_once():
    later = LandscapesVector(4, task=3)
    later.reset(seed=1)
    for _ in range(SLICES):
        _, _, terminated, _, infos = later.step(np.full(4, 6))
    assert terminated.all() and (infos["goal_value"] > 0.0).all()
    _, rewards, terminated, _, infos = later.step(np.full(4, 6))
    assert not terminated.any() and not rewards.any() and not infos["goal_value"].any()

    at_once = LandscapesVector(4, task=3, autoreset_mode=AutoresetMode.SAME_STEP)
    at_once.reset(seed=1)
    for _ in range(SLICES):
        seen, _, terminated, _, infos = at_once.step(np.full(4, 6))
    assert terminated.all() and infos["_final_obs"].all() and infos["_final_info"].all()
    assert (infos["final_info"]["goal_value"] > 0.0).all() and not infos["goal_value"].any()
    assert (infos["final_obs"][:, -1] == 0.0).all() and (seen[:, -1] == 1.0).all()


def test_a_reset_in_between_begins_with_the_tasks_of_its_seed():
    vector = LandscapesVector(2)
    vector.reset(seed=1)
    for _ in range(SLICES):
        vector.step(np.full(2, 6))
    _, infos = vector.reset(seed=np.int64(5))
    expected = infos["task"].tolist()
    assert vector.step(np.zeros(2, int))[4]["task"].tolist() == expected
    assert LandscapesVector(2).reset(seed=5)[1]["task"].tolist() == expected


@pytest.mark.parametrize("actions", [[0, -1], [0, 7], [0], [0, 0, 0]])
def test_actions_that_there_are_not_are_refused(actions):
    vector = LandscapesVector(2)
    vector.reset(seed=0)
    with pytest.raises(ValueError, match="expected 2 numbers from 0 to 6"):
        vector.step(np.array(actions))


@pytest.mark.parametrize("name", LandscapesEnv().rules)
def test_a_rule_stays_while_a_part_comes_nearer(name):
    env = LandscapesEnv()
    observation, info = env.reset(seed=3)
    chance, done, taken = np.random.default_rng(0), False, []
    while not done:
        action = env.rules[name](observation, info, chance)
        assert (action == 0) == (env._state.idle_of_last()[0] < int(name.split("_")[1]))
        observation, _, done, _, info = env.step(action)
        taken.append(action)
    assert 0 in taken and len(set(taken)) == 2


def test_a_limit_truncates():
    vector = LandscapesVector(2, max_episode_steps=5)
    vector.reset(seed=0)
    for step in range(5):
        _, _, terminated, truncated, _ = vector.step(np.zeros(2, int))
        assert truncated.all() == (step == 4) and not terminated.any()


def test_gymnasium_makes_one_and_many():
    check_env(gymnasium.make("fitgym/Landscapes-v0").unwrapped, skip_render_check=True)
    many = gymnasium.make_vec("fitgym/Landscapes-v0", num_envs=5, split="test")
    assert isinstance(many.unwrapped, LandscapesVector)
    _, infos = many.reset(seed=0)
    assert all(200 <= task < 400 for task in infos["task"])


def test_it_is_seen_and_done_as_in_programs():
    program, landscape = Programs(), LandscapesEnv()
    assert program.feature_names == list(landscape.feature_names)
    assert program.action_names == landscape.action_names
    assert program.environment == landscape.environment
    assert program.observation_space == landscape.observation_space
    program.close()


def test_a_dead_part_is_never_covered_and_any_other_one_can_be():
    state = started(400)
    for part in range(PARTS):
        for _ in range(40):
            state.spend(np.full(400, part))
    assert state.open[state.dead].all()
    assert not state.open[~state.dead].any()
    assert (state.covered <= state._layout.possible).all()
    assert state.covered.sum() == state._layout.possible.sum()


def test_looks_tell_what_is_dead_in_four_cases_of_five():
    state = started(3000)
    guarded = state._layout.depth > 0
    right = (state._layout.ahead == 2) == state.dead
    assert abs(right[guarded].mean() - 0.8) < 0.02
    assert abs(state.dead[guarded].mean() - 2 / 3) < 0.02


def test_no_constant_is_as_good_as_knowing_which_locks_open():
    constants = []
    for action in range(len(ACTIONS)):
        state = started(600)
        for _ in range(SLICES):
            state.act_where(np.full(600, action), ~state.over)
        constants.append(state.score.mean())
    state = started(600)
    for _ in range(SLICES):
        alive = state.open & ~state.dead
        state.spend(np.where(alive.any(axis=1), alive.argmax(axis=1), PARTS))
    assert state.score.mean() > max(constants) + 0.1


def test_a_task_can_be_fixed_and_a_fork_can_get_other_luck():
    env = LandscapesEnv()
    assert env.reset(seed=1, options={"task": 77})[1]["task"] == 77
    twin = env.fork()
    assert [env.step(1)[1] for _ in range(5)] == [twin.step(1)[1] for _ in range(5)]
    other = env.fork()
    other.reseed(5)
    assert [env.step(6)[0].tolist() for _ in range(5)] != [other.step(6)[0].tolist() for _ in range(5)]


def test_a_record_can_be_repeated():
    env = LandscapesEnv()
    _, rewards, _ = episode(env, [1, 0, 0, 2, 0, 6, 4], seed=4, task=300)
    found = env.record()
    again = LandscapesEnv(**found["options"])
    again.reset(seed=found["seed"])
    assert [again.step(again.action_of(name))[1] for name in found["actions"]] == rewards


def test_wrong_options_and_steps_without_an_episode_are_refused():
    with pytest.raises(InputError):
        LandscapesEnv(split="exam")
    with pytest.raises(InputError, match="whole number"):
        LandscapesEnv().reset(options={"task": "x"})
    with pytest.raises(InputError, match="DISABLED"):
        LandscapesVector(2, autoreset_mode=AutoresetMode.DISABLED)
    for ask in (lambda: LandscapesEnv().step(0), lambda: LandscapesEnv().reseed(1)):
        with pytest.raises(ResetNeeded):
            ask()
