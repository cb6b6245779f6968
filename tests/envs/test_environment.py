"""The environments keep Gymnasium's contract, and more: forks, records, repeatable information."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from nightly import ALIKE, all_but, nightly

from fitgym.agents.base import make as make_agent
from fitgym.envs import ENVIRONMENTS
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.errors import BudgetError, InputError, ResetNeeded, SubjectError, UnknownName
from fitgym.testing import check_env_strict

PROGRAMS = Path(__file__).parents[1] / "programs"
TRIANGLE = str(PROGRAMS / "triangle.py")


def make(name="fitgym/ExceptionDiscovery-v0", **options):
    options = {"subject": TRIANGLE, "budget": "30g", "population": 6, **options}
    return gymnasium.make(name, **options)


@pytest.fixture
def env():
    with FitnessSelection(TRIANGLE, budget="30g", population=6) as made:
        yield made


def walk(env, actions, seed=1):
    """Everything an agent sees when it takes the actions."""
    seen = [env.reset(seed=seed)]
    seen += [env.step(action) for action in actions]
    return seen


def same(first, second):
    """Equal, arrays included."""
    return repr(first) == repr(second)


@pytest.mark.parametrize("name", all_but(ENVIRONMENTS, ALIKE))
def test_gymnasium_accepts_every_environment(name):
    with make(name) as env:
        check_env(env.unwrapped)


@pytest.mark.parametrize("name", ENVIRONMENTS)
@nightly
def test_stable_baselines_accepts_every_environment(name):
    checker = pytest.importorskip(
        "stable_baselines3.common.env_checker", reason="the extra 'deep' is not installed (torch has no wheel here)"
    )
    with make(name) as env:
        checker.check_env(env.unwrapped, warn=True)


@pytest.mark.parametrize("features", ["paper-v1", "full-v1", "full-v2"])
def test_observations_have_a_name_and_a_bound_for_every_entry(features):
    with make(features=features) as env:
        for seen in walk(env, [0, 5, 9]):
            assert seen[0].shape == (len(env.unwrapped.feature_names),)
            assert env.observation_space.contains(seen[0])


def test_full_features_say_what_was_done_and_what_is_left():
    with make(features="full-v1", budget="13g") as env:
        names = env.unwrapped.feature_names
        observation = env.reset(seed=0)[0]
        assert observation[names.index("remaining_budget")] == pytest.approx(12 / 13)
        assert observation[names.index("last_action")] == 0.0
        observation = env.step(63)[0]
        assert observation[names.index("remaining_budget")] == pytest.approx(9 / 13)
        assert observation[names.index("last_action")] == 1.0


def test_the_active_functions_can_be_seen(env):
    env.reset(seed=0)
    for action in (0, 7, 30):
        observation, *_ = env.step(action)
        active = [n for n in env.goal.functions if observation[env.feature_names.index(f"active_{n}")] == 1.0]
        assert active == sorted(env.actions.actions[action].functions, key=env.goal.functions.index)


def test_the_same_seed_and_actions_give_the_same_episode(env):
    assert same(walk(env, [3, 0, 20, 3]), walk(env, [3, 0, 20, 3]))


def test_another_seed_gives_another_episode(env):
    assert not same(walk(env, [3, 0, 20, 3], seed=1), walk(env, [3, 0, 20, 3], seed=2))


def test_the_episode_is_the_same_in_a_process_with_another_hash_seed(env):
    script = (
        "import sys; from fitgym.envs.fitness_selection import FitnessSelection\n"
        "with FitnessSelection(sys.argv[1], budget='30g', population=6) as env:\n"
        "    print(repr([env.reset(seed=1)] + [env.step(a) for a in (3, 0, 20)]))\n"
    )
    command = [sys.executable, "-c", script, TRIANGLE]
    texts = [
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1]
    assert texts[0].strip() == repr(walk(env, [3, 0, 20]))


def test_the_timings_say_what_each_step_and_each_combination_took(env):
    assert env.timings == {"steps": [], "actions": {}}
    env.reset(seed=0)
    for action in (3, 0, 3):
        env.step(action)
    timings = env.timings
    names = [env.action_names[action] for action in (3, 0, 3)]
    assert [name for name, _ in timings["steps"]] == names
    assert set(timings["actions"]) == {"exception", *names}  # the goal's own began
    assert sum(cost["generations"] for cost in timings["actions"].values()) == 10
    assert sum(cost["executions"] for cost in timings["actions"].values()) == env.engine.executions
    assert min(timings[part] for part in ("execute", "measure", "search")) > 0
    env.reset(seed=0)
    assert env.timings["steps"] == []


def test_a_fork_is_independent_and_goes_on_alike(env):
    walk(env, [3, 0])
    fork = env.fork()
    with fork:
        one, other = [env.step(a) for a in (8, 1)], [fork.step(a) for a in (8, 1)]
        assert same(one, other)
        fork.step(2)
        assert fork.engine.generation > env.engine.generation


def test_a_fork_survives_the_end_of_the_original():
    env = FitnessSelection(TRIANGLE, budget="30g", population=6)
    walk(env, [3])
    fork = env.fork()
    env.close()
    with fork:
        fork.step(0)


def test_an_environment_can_be_pickled_in_mid_episode(env):
    walk(env, [3, 0])
    twin = pickle.loads(pickle.dumps(env))
    with twin:
        assert same(env.step(4), twin.step(4))


@pytest.mark.parametrize("features", ["full-v1", "full-v2", "active+remaining_budget"])
def test_a_budget_that_can_be_observed_ends_the_episode_as_terminated(features):
    with make(budget="7g", features=features) as env:
        env.reset(seed=0)
        assert env.step(0)[2:4] == (False, False)
        assert env.step(0)[2:4] == (True, False)


@pytest.mark.parametrize("features", ["paper-v1", "active", "goal+stagnation"])
def test_a_budget_that_cannot_be_observed_ends_the_episode_as_truncated(features):
    with make(budget="7g", features=features) as env:
        env.reset(seed=0)
        assert env.step(0)[2:4] == (False, False)
        assert env.step(0)[2:4] == (False, True)
        with pytest.raises(ResetNeeded, match="call reset"):
            env.unwrapped.step(0)


def test_a_reached_goal_is_terminated_whatever_can_be_observed(tmp_path):
    (tmp_path / "easy.py").write_text("def f(x: int) -> int:\n    return 1 if x > 0 else 2\n", "utf-8")
    for features in ("paper-v1", "full-v2"):
        with make("fitgym/BranchCoverage-v0", subject=str(tmp_path / "easy.py"), features=features) as env:
            env.reset(seed=0)
            flags = (False, False)
            while not any(flags):
                flags = env.step(0)[2:4]
            assert flags == (True, False) and env.unwrapped.spent < 1.0


def test_a_step_after_the_end_is_refused():
    with make(budget="2g") as env:
        env.reset(seed=0)
        env.step(0)
        with pytest.raises(ResetNeeded, match="call reset"):
            env.unwrapped.step(0)


def test_rewards_and_flags_are_plain_python_values(env):
    env.reset(seed=0)
    _, reward, terminated, truncated, _ = env.step(np.int64(3))
    assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)


def test_info_has_constant_keys_and_no_times(env):
    keys = {tuple(seen[-1]) for seen in walk(env, [0, 9])}
    assert len(keys) == 1
    assert not any("time" in key or "second" in key for key in keys.pop())


def test_the_gain_rewards_add_up_to_the_rise_of_the_goal():
    with make(reward="gain") as env:
        _, info = env.reset(seed=0)
        start, total = info["goal_value"], 0.0
        for action in (0, 5, 30, 2):
            _, reward, _, _, info = env.step(action)
            total += reward
        assert total == pytest.approx(info["goal_value"] - start)


def test_there_is_a_suite_after_every_step_whatever_the_functions_need(env):
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(10):
        env.step(int(rng.integers(env.action_space.n)))
        suite = env.suite()
        assert suite and all(testcase in env.engine.measurements for testcase in suite)


def test_the_paper_reward_is_what_was_discovered_plus_what_the_best_suite_throws():
    with FitnessSelection(TRIANGLE, budget="30g", population=6, reward="paper") as env:
        env.reset(seed=0)
        _, reward, _, _, info = env.step(0)
        thrown = env.engine.measurements.covers("exception", env.engine.best.testcases).any(axis=0).sum()
    assert reward == info["goal_value"] + thrown


def test_the_record_repeats_the_episode(env):
    walk(env, [3, 0, 20])
    record = json.loads(json.dumps(env.record()))
    actions = [env.action_names.index(name) for name in record["actions"]]
    env.reset(seed=1)
    assert [env.step(action)[1] for action in actions] == record["rewards"]


def test_the_spec_can_be_written_as_json():
    with make() as env:
        spec = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
        with gymnasium.make(spec) as again:
            assert same(walk(env, [1, 2]), walk(again, [1, 2]))


def test_environments_run_in_daemonic_vector_workers():
    kwargs = {"subject": TRIANGLE, "budget": "30g", "population": 6}
    vector = gymnasium.make_vec(
        "fitgym.envs:fitgym/ExceptionDiscovery-v0", num_envs=2, vectorization_mode="async", **kwargs
    )
    try:
        observations, _ = vector.reset(seed=5)
        assert observations.shape[0] == 2
        observations, rewards, *_ = vector.step(np.array([0, 1]))
        assert np.isfinite(rewards).all()
    finally:
        vector.close()


def test_ansi_rendering_is_one_line_about_the_search():
    with make(render_mode="ansi") as env:
        env.reset(seed=0)
        env.step(3)
        text = env.render()
        assert "generation 4" in text
        assert env.unwrapped.action_names[3] in text


def test_another_subject_can_be_chosen_at_reset(env):
    env.reset(seed=0)
    env.reset(seed=0, options={"subject": str(PROGRAMS / "account.py")})
    assert env.engine.subject.reference.path.endswith("account.py")


def test_closing_twice_is_harmless():
    env = make()
    env.reset(seed=0)
    env.close()
    env.close()


def test_an_unknown_subject_goal_feature_set_or_reward_is_refused_by_name():
    with pytest.raises(SubjectError, match="no_such_module"):
        make(subject="no_such_module")
    with pytest.raises(UnknownName, match="no goal named 'exception'; did you mean 'exceptions'"):
        FitnessSelection(TRIANGLE, goal="exception")
    with pytest.raises(UnknownName, match="no feature set named 'paper-v2'; did you mean 'paper-v1'"):
        make(features="paper-v2")
    with pytest.raises(UnknownName, match="no reward named 'level'"):
        make(reward="level")
    with pytest.raises(InputError, match="catalogue 'everything' is unknown"):
        make(actions="everything")


def test_a_budget_in_seconds_is_refused_because_nothing_could_be_repeated():
    with pytest.raises(BudgetError, match="counts seconds"):
        make(budget="60s")


def test_an_action_outside_the_catalogue_is_refused(env):
    env.reset(seed=0)
    with pytest.raises(ValueError, match="action 99 is not in the catalogue of 64 actions"):
        env.step(99)


def switched(env, actions, monkeypatch):
    """For each step the population that it was told to go on with, and the one that it left."""
    env.reset(seed=0)
    told, activate = [], env.engine.activate
    monkeypatch.setattr(env.engine, "activate", lambda names, kept, _: (told.append(kept), activate(names, kept)))
    left = []
    for action in actions:
        env.step(action)
        left.append(list(env.engine.search.population))
    return told, left


def test_an_action_goes_on_with_the_population_that_it_left_once_all_could_have_been_tried(monkeypatch):
    with FitnessSelection(
        TRIANGLE, actions=["exception", "exception+branch"], populations="per-action", population=4
    ) as env:
        told, left = switched(env, [0, 1, 0, 1, 1, 0, 1], monkeypatch)
    # Three decisions are made as if there were one population; after them, only another action changes it.
    assert told == [None, None, None, left[1], None, left[2], left[4]]


def test_actions_share_one_population_by_default(monkeypatch, env):
    told, _ = switched(env, [0, 1, 0, 1], monkeypatch)
    assert told == [None] * 4 and env.engine.saved_population("branch") is None


def test_populations_that_were_left_survive_what_is_forgotten_and_are_copied_with_the_environment():
    options = {
        "actions": ["exception", "exception+branch", "exception+line"],
        "populations": "per-action",
        "population": 4,
    }
    with FitnessSelection(TRIANGLE, budget=None, generations_per_step=1, **options) as env:
        env.reset(seed=0)
        for step in range(45):  # longer than two sweeps; the third action is left alone for twenty steps and more
            env.step(2 if step in (2, 44) else step % 2)
        with env.fork() as twin:
            assert twin.step(0)[1] == env.step(0)[1]
        assert env.record()["options"]["populations"] == "per-action"


def test_another_kind_of_populations_is_refused():
    with pytest.raises(InputError, match="populations is 'per_action', expected 'shared' or 'per-action'"):
        FitnessSelection(TRIANGLE, populations="per_action")


# ------------------------------------------------------------------ other forms of actions


def test_bits_say_which_functions_are_active_and_none_leaves_those_that_are():
    with FitnessSelection(TRIANGLE, actions="bits", population=4, budget="30g") as env:
        assert env.action_space == gymnasium.spaces.MultiBinary(8)
        assert env.action_names == list(env.goal.functions)
        env.reset(seed=0)
        env.step(np.array([1, 0, 0, 1, 0, 0, 0, 0]))
        assert env.engine.active == ("exception", "line")
        observation, *_ = env.step(np.zeros(8, np.int8))
        assert env.engine.active == ("exception", "line") and env.observation_space.contains(observation)
        assert env.record()["actions"] == ["exception+line", ""]
        for wrong in ([1] * 7, [2] + [0] * 7, 3):
            with pytest.raises(ValueError, match="is not 8 bits, one for each fitness function"):
                env.step(np.array(wrong))


def test_weights_count_in_the_sum_that_guides_the_search():
    with FitnessSelection(TRIANGLE, actions="weights", population=6, budget="30g", generations_per_step=1) as env:
        assert env.action_space.shape == (8,) and (env.action_space.low == -1).all()
        env.reset(seed=0)
        x = np.full(8, -1.0, np.float32)
        x[[0, 1]] = -0.5, 1.0
        env.step(x)
        engine = env.engine
        assert engine.active == ("exception", "branch") and engine.weights == {"exception": 0.25, "branch": 1.0}
        population = engine.search.population
        expected = [0.25 * engine.fitness_of("exception", one) + engine.fitness_of("branch", one) for one in population]
        assert engine.search.fitness == pytest.approx(expected)
        assert sorted(expected) == expected
        x[0] = 0.0
        env.step(x)
        assert engine.weights == {"exception": 0.5, "branch": 1.0}
        env.step(np.full(8, -1.0, np.float32))
        assert engine.weights == {"exception": 0.5, "branch": 1.0}
        assert env.record()["actions"] == [[-0.5, 1.0, *[-1.0] * 6], [0.0, 1.0, *[-1.0] * 6], [-1.0] * 8]
        with pytest.raises(ValueError, match="is not 8 numbers between -1 and 1"):
            env.step(np.full(8, np.nan))


@nightly
@pytest.mark.parametrize("actions", ["bits", "weights"])
def test_other_forms_of_actions_pass_the_strict_check(actions):
    check_env_strict(
        "fitgym.envs:fitgym/ExceptionDiscovery-v0",
        **{"subject": TRIANGLE, "budget": "30g", "population": 4, "steps": 3, "actions": actions, "processes": False},
    )


@pytest.mark.parametrize("actions", ["bits", "weights"])
def test_agents_that_choose_from_a_list_say_so(actions):
    with FitnessSelection(TRIANGLE, actions=actions, population=4) as env:
        space = env.action_space
    with pytest.raises(InputError, match=r"UCB cannot act in .*, only in Discrete; agents that act in"):
        make_agent("ucb", space)
    with pytest.raises(InputError, match=f"actions '{actions}' cannot have populations 'per-action'"):
        FitnessSelection(TRIANGLE, actions=actions, populations="per-action")


@pytest.mark.parametrize(
    ("actions", "name"),
    [
        ("bits", "PPO"),
        pytest.param("weights", "PPO", marks=nightly),
        pytest.param("bits", "MaskablePPO", marks=nightly),
    ],
)
def test_libraries_learn_with_other_forms_of_actions(actions, name):
    for library in ("stable_baselines3", "sb3_contrib"):
        pytest.importorskip(library, reason="Stable-Baselines3 is in the extra 'deep'")
    import sb3_contrib
    import stable_baselines3

    algorithm = getattr(sb3_contrib if name == "MaskablePPO" else stable_baselines3, name)
    with FitnessSelection(TRIANGLE, actions=actions, population=4, budget="12g") as env:
        model = algorithm("MlpPolicy", env, n_steps=4, batch_size=4, n_epochs=1, device="cpu", seed=0).learn(4)
        observation, _ = env.reset(seed=0)
        assert env.action_space.contains(model.predict(observation)[0])
