"""An environment in another process, for the actors of a Ray cluster.

This module imports neither torch nor Stable-Baselines3, so the processes of a cluster do not load them.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

import fitgym
from fitgym.run.cluster import enter

__all__ = ["RemoteEnv"]


class RemoteEnv:
    """An environment in a process of a cluster, created at the first call.

    Every result is pickled bytes, because arrays passed by Ray itself are read-only.

    Args:
        maker: makes the environment; pickled.
        folder: the working folder of the command, see `enter`.
    """

    def __init__(self, maker: Any, folder: str) -> None:
        enter(folder)
        self._maker = maker
        self._made: gymnasium.Env[Any, Any] | None = None

    @property
    def _env(self) -> gymnasium.Env[Any, Any]:
        if self._made is None:
            self._made = self._maker()
        return self._made

    def about(self) -> bytes:
        """Return the spaces of observations and actions, and the version of fitgym."""
        return pickle.dumps((self._env.observation_space, self._env.action_space, fitgym.__version__))

    def reset(self, seed: int | None, options: Mapping[str, Any]) -> bytes:
        """Return the first observation and `info` of an episode."""
        return pickle.dumps(self._env.reset(seed=seed, **({"options": dict(options)} if options else {})))

    def step(self, action: Any) -> bytes:
        """Take an action, and reset the environment if the action ends the episode.

        Returns:
            Observation, reward, whether the episode ended, `info`, and the `info` of the reset (None without a reset),
            as from the workers of `SubprocVecEnv`.
        """
        observation, reward, terminated, truncated, info = self._env.step(action)
        done, begun = terminated or truncated, None
        info["TimeLimit.truncated"] = truncated and not terminated
        if done:
            info["terminal_observation"] = observation
            observation, begun = self._env.reset()
        return pickle.dumps((observation, reward, done, info, begun))

    def attribute(self, name: str) -> bytes:
        """Return an attribute of the outermost wrapper that has it."""
        return pickle.dumps(self._env.get_wrapper_attr(name))

    def change(self, name: str, value: Any) -> bytes:
        """Set an attribute of the outermost wrapper."""
        setattr(self._env, name, value)
        return pickle.dumps(None)

    def call(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bytes:
        """Call a method of the outermost wrapper that has it, and return its result."""
        return pickle.dumps(self._env.get_wrapper_attr(name)(*arguments, **keywords))

    def wrapped_in(self, wrapper: type[Any]) -> bytes:
        """Whether one of the wrappers is an instance of this class."""
        env: Any = self._env
        while not isinstance(env, wrapper) and isinstance(env, gymnasium.Wrapper):
            env = env.env
        return pickle.dumps(isinstance(env, wrapper))

    def close(self) -> bytes:
        """Close the environment if it was made."""
        if self._made is not None:
            self._made.close()
        return pickle.dumps(None)
