"""Several goals with the conventions of MO-Gymnasium, and with Gymnasium's own vector environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fitgym.envs
from fitgym.envs.multi_goal import MultiGoal
from fitgym.errors import InputError
from fitgym.study.hypervolume import hypervolume

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")
SMALL: dict[str, Any] = {"subject": TRIANGLE, "budget": "12g", "population": 6}
ID = "fitgym/MultiGoal-v0"


def test_make_vec_gives_a_reward_vector_for_each_episode() -> None:
    vector = gymnasium.make_vec(ID, num_envs=3, **SMALL)
    vector.reset(seed=5)
    _, rewards, *_ = vector.step(np.array([0, 3, 5]))
    assert rewards.shape == (3, 2) and rewards.dtype == np.float32
    for number, action in enumerate((0, 3, 5)):
        with MultiGoal(**SMALL) as single:
            single.reset(seed=5 + number)
            assert np.array_equal(single.step(action)[1], rewards[number])
    vector.close()


def test_an_episode_that_has_ended_begins_anew_in_a_vector() -> None:
    vector = gymnasium.make_vec(ID, num_envs=2, **SMALL)
    vector.reset(seed=0)
    ended = 0
    for _ in range(12):
        _, rewards, terminated, truncated, _ = vector.step(np.zeros(2, dtype=np.int64))
        assert rewards.shape == (2, 2)
        ended += int((terminated | truncated).sum())
    assert ended >= 2
    vector.close()


def test_with_weights_make_vec_gives_numbers_in_every_mode() -> None:
    for more in ({}, {"vectorization_mode": "sync"}):
        vector = gymnasium.make_vec(ID, num_envs=2, **more, **SMALL, weights=[1.0, 0.5])
        vector.reset(seed=0)
        assert vector.step(np.zeros(2, dtype=np.int64))[1].shape == (2,)
        vector.close()


def test_the_wrappers_and_vectors_of_mo_gymnasium_accept_it() -> None:
    mo = pytest.importorskip("mo_gymnasium", reason="MO-Gymnasium is in the extra 'test'")
    from mo_gymnasium.wrappers import LinearReward, MONormalizeReward, MORecordEpisodeStatistics
    from mo_gymnasium.wrappers.vector import MOSyncVectorEnv

    env = mo.make(ID, **SMALL)
    assert env.unwrapped.reward_space.shape == (env.unwrapped.reward_dim,) == (2,)
    env.reset(seed=1)
    vector = env.step(3)[1]
    weighed = LinearReward(mo.make(ID, **SMALL), weight=np.array([2.0, 0.5]))
    weighed.reset(seed=1)
    _, reward, _, _, info = weighed.step(3)
    assert reward == pytest.approx(2.0 * vector[0] + 0.5 * vector[1]) and np.array_equal(info["vector_reward"], vector)
    recorded = MORecordEpisodeStatistics(MONormalizeReward(mo.make(ID, **SMALL), idx=0))
    recorded.reset(seed=1)
    ended = False
    while not ended:
        _, _, terminated, truncated, info = recorded.step(0)
        ended = terminated or truncated
    assert info["episode"]["r"].shape == (2,)
    several = MOSyncVectorEnv([lambda: mo.make(ID, **SMALL)] * 2)
    several.reset(seed=1)
    assert several.step(np.array([3, 3]))[1].shape == (2, 2)
    for one in (env, weighed, recorded, several):
        one.close()


def test_the_outcomes_of_constant_actions_have_a_hypervolume() -> None:
    outcomes = []
    for action in (0, 3, 5):
        with MultiGoal(**SMALL, reward="gain") as env:
            env.reset(seed=1)
            total, ended = np.zeros(env.reward_dim), False
            while not ended:
                _, reward, terminated, truncated, _ = env.step(action)
                total, ended = total + reward, terminated or truncated
            outcomes.append(total)
    worst = np.full(2, -1.0)
    together = hypervolume(outcomes, worst)
    assert max(hypervolume([one], worst) for one in outcomes) <= together
    assert together == pytest.approx(_counted(np.array(outcomes) + 1.0), rel=0.02)


def test_ids_of_several_goals_are_registered_with_a_vector_of_their_own() -> None:
    assert fitgym.envs.REGISTERED[ID].vector_entry_point == "fitgym.envs.multi_goal:MultiGoalVector"


# ---------------------------------------------------------------------------------------------------------- hypervolume


@pytest.mark.parametrize(
    ("points", "reference", "volume"),
    [
        ([], [0.0, 0.0], 0.0),
        ([[2.0, 3.0]], [0.0, 0.0], 6.0),
        ([[2.0, 3.0]], [1.0, 1.0], 2.0),
        ([[2.0, 1.0], [1.0, 2.0]], [0.0, 0.0], 3.0),  # 2 + 2 less the square that both dominate
        ([[2.0, 1.0], [1.0, 0.5]], [0.0, 0.0], 2.0),  # the second one is dominated
        ([[2.0, -1.0], [1.0, 1.0]], [0.0, 0.0], 1.0),  # the first one is below the reference
        ([[1.0, 1.0], [1.0, 1.0]], [0.0, 0.0], 1.0),
        ([[1.0, 1.0, 2.0], [1.0, 2.0, 1.0]], [0.0, 0.0, 0.0], 3.0),
    ],
)
def test_hypervolumes_by_hand(points: list[list[float]], reference: list[float], volume: float) -> None:
    assert hypervolume(points, reference) == pytest.approx(volume)


@given(st.lists(st.tuples(*[st.integers(0, 6)] * 3), max_size=8))
def test_the_hypervolume_is_the_number_of_cells_that_a_point_dominates(points: list[tuple[int, int, int]]) -> None:
    cells = np.array(np.meshgrid(*[np.arange(6)] * 3, indexing="ij")).reshape(3, -1).T + 1
    dominated = sum(any((np.array(point) >= cell).all() for point in points) for cell in cells)
    assert hypervolume(points, [0, 0, 0]) == pytest.approx(dominated)


@pytest.mark.parametrize(
    ("points", "reference", "message"),
    [([[1.0, 2.0, 3.0]], [0.0, 0.0], "expected \\(n, n_goals\\)"), ([[float("nan"), 1.0]], [0.0, 0.0], "not finite")],
)
def test_points_that_fit_no_reference_are_refused(points: Any, reference: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hypervolume(points, reference)


def _counted(points: Any) -> float:
    """The dominated area, by counting a fine grid."""
    edge = points.max(axis=0)
    grid = (np.indices((400, 400)).reshape(2, -1).T + 0.5) / 400 * edge
    return float((grid[:, None] <= points[None]).all(axis=2).any(axis=1).mean() * edge.prod())
