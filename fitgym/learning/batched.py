"""Adapts a vector environment of Gymnasium to Stable-Baselines3, so that one process steps many episodes at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv

__all__ = ["Batched", "batched"]


def batched(env: str, n: int, options: dict[str, Any]) -> Batched:
    """Make n parallel episodes of an environment whose registration names a `vector_entry_point`."""
    return Batched(gymnasium.make_vec(env, num_envs=n, autoreset_mode=AutoresetMode.SAME_STEP, **options), env, options)


class Batched(VecEnv):  # type: ignore[misc]
    """Steps all episodes at once, and adds `info["reward"]` and `info["environment"]` for `fitgym.learning.training`.

    Args:
        inner: a vector environment with `AutoresetMode.SAME_STEP`.
        env: the id of the environment.
        options: options of the environment.
    """

    def __init__(self, inner: VectorEnv[Any, Any, Any], env: str, options: dict[str, Any]) -> None:
        self._inner = inner
        self._single = gymnasium.make(env, disable_env_checker=True, **options)
        self._actions = np.zeros(inner.num_envs, dtype=np.int64)
        self._seed: int | None = None
        super().__init__(inner.num_envs, inner.single_observation_space, inner.single_action_space)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Set the seeds of the next `reset`."""
        self._seed = seed
        return [None if seed is None else seed + number for number in range(self.num_envs)]

    def reset(self) -> Any:
        """Start all episodes."""
        found, _ = self._inner.reset(seed=self._seed)
        self._seed = None
        return found

    def step_async(self, actions: Any) -> None:
        """Store the actions."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Take the stored actions."""
        found, rewards, terminated, truncated, infos = self._inner.step(self._actions)
        done = terminated | truncated
        each_info: list[dict[str, Any]] = [
            {"environment": number, "reward": reward} for number, reward in enumerate(rewards.tolist())
        ]
        for number in np.flatnonzero(done).tolist():
            each_info[number] |= {
                "terminal_observation": infos["final_obs"][number],
                "TimeLimit.truncated": bool(truncated[number] and not terminated[number]),
                "goal_value": float(infos["final_info"]["goal_value"][number]),
            }
        return found, rewards, done, each_info

    def close(self) -> None:
        """Close all environments."""
        self._inner.close()
        self._single.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of a single environment, once per episode."""
        single: Any = self._single.unwrapped
        if attr_name == "names":
            found: Any = (list(single.action_names), list(single.feature_names), dict(single.environment))
        else:
            found = {} if attr_name == "failures" else getattr(single, attr_name)
        return [found] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise an AttributeError, because the episodes have no environments of their own."""
        raise AttributeError(f"'{attr_name}' cannot be set in a batch of episodes")

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """Call a method of a single environment, and return its result once per episode."""
        found = getattr(self._single.unwrapped, method_name)(*arguments, **keywords)
        return [found] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """False for every episode, because there are no wrappers."""
        return [False] * len(list(self._get_indices(indices)))

    def _get_indices(self, indices: int | Sequence[int] | None) -> Sequence[int]:
        return range(self.num_envs) if indices is None else [indices] if isinstance(indices, int) else indices
