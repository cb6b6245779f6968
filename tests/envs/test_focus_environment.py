"""Focus-v0 and Programs-v0: a decision selects the part that the search focuses on."""

import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.envs.focus import Focus
from fitgym.envs.pool import Pool
from fitgym.envs.programs import Programs
from fitgym.envs.rules import POINTERS, RULES
from fitgym.errors import InputError
from fitgym.evolution.groups import groups
from fitgym.programs import EASY, generate

VAULT = str(Path(__file__).parents[1] / "programs" / "vault.py")
SLOPE = 1


@pytest.fixture(scope="module")
def focus():
    env = Focus(VAULT, parts=5, budget="400x", generations_per_step=2)
    yield env
    env.close()


@pytest.fixture(scope="module")
def programs():
    env = Programs(budget="16g")
    yield env
    env.close()


def episode(env, choose, seed=0, **options):
    observation, info = env.reset(seed=seed, options=options or None)
    chance, seen, rewards = np.random.default_rng(seed), [observation], []
    while True:
        observation, reward, terminated, truncated, info = env.step(choose(observation, info, chance))
        seen.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            return seen, rewards, info


def test_every_part_has_a_slot_and_the_whole_comes_last(focus):
    focus.reset(seed=1)
    assert focus.action_names == [*(f"part_{n}" for n in range(5)), "whole"]
    assert [part.name for part in focus.parts.groups] == ["plain", "slope", "dead", "word", "Dial"]
    assert focus.parts.seen[5].size == len(focus.engine.subject.branches)


def test_of_more_parts_than_slots_the_smallest_share_the_last_one():
    env = Focus(VAULT, budget="100x", parts=3)
    env.reset(seed=0)
    assert [part.name for part in env.parts.groups] == ["slope", "Dial", "others"]
    small = [group.size for group in groups(env.engine.subject) if group.name not in ("slope", "Dial")]
    assert env.parts.groups[2].size == sum(small)
    env.close()


def test_slots_without_a_part_are_masked(tmp_path):
    path = tmp_path / "small.py"
    path.write_text("def f(x):\n    if x * x == 12345:\n        return 1\n    return 0\n")
    env = Focus(str(path), budget="60x")
    _, info = env.reset(seed=0)
    assert info["action_mask"].tolist() == [True, *([False] * 7), True]
    env.step(5)  # an empty slot: the search goes on without a focus
    assert env.parts.last == 5
    env.close()


def test_a_slice_only_tests_the_chosen_part(focus):
    focus.reset(seed=3)
    for _ in range(6):
        focus.step(SLOPE)
    assert [part.spent for part in focus.parts.seen] == [0, 6, 0, 0, 0, 0]
    columns = [column for name, column in focus.engine.targets() if name == "branch"]
    assert focus.parts.groups[SLOPE].branches[columns].all()


def test_a_part_that_came_nearer_is_not_idle(focus):
    focus.reset(seed=3)
    before = focus.parts.seen[SLOPE]
    focus.step(SLOPE)
    after = focus.parts.seen[SLOPE]
    nearer = after.covered > before.covered or after.distance < before.distance
    assert (after.idle == 0) == nearer and after.spent == 1
    assert (after.approach > 0.0) == nearer


def test_observations_stay_within_their_bounds_and_every_feature_varies(focus):
    def choose(observation, info, chance):
        return int(chance.choice(np.flatnonzero(info["action_mask"])))

    seen = np.array([o for seed in range(3) for o in episode(focus, choose, seed)[0]])
    assert focus.observation_space.contains(seen[0]) and seen.min() >= 0.0 and seen.max() <= 1.0
    varying = {name for name, values in zip(focus.feature_names, seen.T, strict=True) if np.ptp(values) > 0.0}
    for part in ("part_1", "part_2", "part_4", "whole"):
        what = ("covered", "distance", "gain", "approach", "spent", "idle")
        assert {f"{name}_{part}" for name in what} <= varying


@pytest.mark.parametrize("name", RULES)
def test_a_rule_chooses_an_allowed_part(focus, name):
    def choose(observation, info, chance):
        action = focus.rules[name](observation, info, chance)
        assert info["action_mask"][action]
        return action

    assert episode(focus, choose)[1]


def test_the_same_seed_gives_the_same_episode(focus, programs):
    for env in (focus, programs):
        one, other = (episode(env, env.rules[next(iter(env.rules))], seed=7) for _ in range(2))
        assert np.array_equal(one[0], other[0]) and one[1] == other[1]


def test_a_fork_goes_on_by_itself(programs):
    programs.reset(seed=5)
    programs.step(1)
    twin = programs.fork(share_worker=True)
    first = [twin.step(0)[1] for _ in range(4)]
    assert [programs.step(0)[1] for _ in range(4)] == first


# ---------------------------------------------------------------------- Programs


@pytest.mark.parametrize("level", ["easy", "hard"])
def test_gymnasium_accepts_the_environment(level):
    env = gymnasium.make("fitgym/Programs-easy-v0" if level == "easy" else "fitgym/Programs-v0", budget="8g")
    check_env(env.unwrapped, skip_render_check=True)
    env.close()


def test_an_episode_has_thirty_decisions():
    env = Programs(split="0-3")
    _, rewards, _ = episode(env, lambda o, i, chance: int(chance.integers(7)))
    assert len(rewards) == gymnasium.spec("fitgym/Programs-v0").max_episode_steps == 30
    env.close()


def test_rewards_sum_to_the_share_of_what_could_be_covered(programs):
    _, rewards, info = episode(programs, lambda o, i, chance: int(chance.integers(7)), seed=11)
    engine = programs.engine
    possible = programs._possible
    left = possible.sum() - programs._first
    assert sum(rewards) == pytest.approx((engine.covered("branch").sum() - programs._first) / left)
    assert info["goal_value"] == pytest.approx(sum(rewards)) and 0.0 <= sum(rewards) <= 1.0
    assert not (engine.covered("branch") & ~possible).any()


def test_each_reset_draws_a_task_from_the_split():
    env = Programs(split="400-402", budget="3g")
    drawn = {env.reset(seed=seed)[1]["task"] for seed in range(12)}
    assert drawn == {400, 401, 402}
    env.close()


def test_without_a_seed_some_episodes_in_a_row_have_the_same_task():
    env = Programs(repeat=3, budget="3g")
    env.reset(seed=1)
    tasks = [env.reset()[1]["task"] for _ in range(8)]
    assert env.reset(seed=env.seed)[1]["task"] == tasks[-1]
    assert tasks[0] == tasks[1] == tasks[2] != tasks[3] == tasks[4] == tasks[5] != tasks[6]
    env.close()


def test_a_task_can_be_fixed_for_one_episode_or_for_all(programs):
    assert programs.reset(seed=0, options={"task": 250})[1]["task"] == 250
    assert programs.reset(seed=0)[1]["task"] >= 1000
    env = Programs(task=17, budget="3g")
    assert {env.reset(seed=seed)[1]["task"] for seed in range(3)} == {17}
    env.close()


def test_a_record_names_the_task_so_that_it_can_be_repeated(programs):
    _, rewards, _ = episode(programs, lambda o, i, chance: int(chance.integers(7)), seed=1, task=205)
    found = programs.record()
    assert found["options"]["task"] == 205 and found["subject"] == ""
    again = Programs(budget=found["budget"], **found["options"])
    again.reset(seed=found["seed"])
    assert [again.step(again.action_of(name))[1] for name in found["actions"]] == rewards
    again.close()


@pytest.mark.parametrize("options", [{"split": "exam"}, {"level": "brutal"}, {"task": -1}])
def test_wrong_options_are_refused(options):
    with pytest.raises(InputError):
        Programs(**options)


def test_a_wrong_task_is_refused_and_the_environment_stays_usable(programs):
    with pytest.raises(InputError, match="whole number"):
        programs.reset(options={"task": "first"})
    programs.reset(seed=0)
    programs.step(0)


def test_every_pointer_points_to_an_open_part(programs):
    programs.reset(seed=2)
    for step in range(7):
        for point in POINTERS.values():
            number = point(programs.parts)
            assert number == programs.parts.whole or programs.parts.seen[number].open
        programs.step(step % 7)


def test_stay_keeps_the_part_and_fresh_leaves_it(programs):
    programs.reset(seed=2)
    programs.step(1)
    last = programs.parts.last
    programs.step(0)
    assert programs.parts.last == last
    programs.step(1)
    assert programs.parts.last != last


def test_vector_environments_and_the_easy_level_work():
    envs = gymnasium.make_vec("fitgym/Programs-easy-v0", num_envs=2, vectorization_mode="sync", budget="4g")
    envs.reset(seed=0)
    for _ in range(5):
        observations = envs.step(envs.action_space.sample())[0]
    assert observations.shape[0] == 2
    assert all(one.unwrapped.program == generate(one.unwrapped.task, EASY) for one in envs.envs)
    envs.close()


def test_a_copy_goes_on_when_the_original_has_been_closed_and_nothing_is_left_behind():
    env = Programs(budget="8g")
    env.reset(seed=4)
    twin, revived = env.fork(), pickle.loads(pickle.dumps(env))
    folder = Path(env._folder.path)
    env.close()
    assert twin.step(1)[1] == revived.step(1)[1]
    twin.close()
    revived.close()
    assert not folder.exists()


# ---------------------------------------------------------------------- Pool


class Closing:
    def __init__(self):
        self.closed = False

    def close(self):
        self.closed = True


def test_a_pool_closes_what_was_used_longest_ago():
    pool = Pool(most=2)
    first, second = pool.take("a", Closing), pool.take("b", Closing)
    assert pool.take("a", Closing) is first
    pool.take("c", Closing)
    assert second.closed and not first.closed
    pool.close()
    assert first.closed


# --------------------------------------------------------------------------------------- pointers on real modules


def test_pointers_choose_the_same_parts_as_slots_do():
    options = {"budget": "100x", "generations_per_step": 2}
    with Focus(VAULT, actions="pointers", **options) as pointing, Focus(VAULT, parts=64, **options) as naming:
        seen, _ = pointing.reset(seed=4)
        naming.reset(seed=4)
        assert pointing.action_names == list(POINTERS) and pointing.action_masks().all()
        ended = False
        while not ended:
            name = pointing.action_names[int(seen.argmax()) % len(POINTERS)]
            number = POINTERS[name](pointing.parts)
            seen, reward, terminated, truncated, _ = pointing.step(pointing.action_names.index(name))
            assert naming.step(number)[1] == reward
            ended = terminated or truncated
        assert pointing.parts.seen == naming.parts.seen


def test_a_policy_for_generated_programs_fits_a_real_module():
    with Focus(VAULT, actions="pointers", budget="60x") as real, Programs() as generated:
        assert real.action_names == generated.action_names
        assert real.feature_names == generated.feature_names
        assert real.observation_space == generated.observation_space
        assert set(real.rules) == set(generated.rules)


def test_programs_have_pointers_only():
    with pytest.raises(InputError, match="every action points to a part here"):
        Programs(actions="slots")


@pytest.mark.parametrize(("features", "more"), [("parts+remaining_budget", False), ("parts+true_fitness", True)])
def test_a_search_records_for_other_functions_only_if_a_feature_reads_them(features, more):
    with Focus(VAULT, budget="40x", features=features) as env:
        env.reset(seed=0)
        kept = frozenset({"infection"})  # of weak mutation, which the goal always keeps
        assert env.engine.probes >= kept and (env.engine.probes != kept) is more
        assert env.engine.measures("output") is more
