"""Ray clusters (extra `ray`): the connection to a cluster, and the environments in its processes.

This file needs neither torch nor Stable-Baselines3, so the processes of a cluster do not load them.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Final

import gymnasium

import fitgym
from fitgym.errors import InputError, UnknownName

__all__ = ["EXECUTORS", "RemoteEnv", "check_executor", "connected", "enter", "reason"]

EXECUTORS: Final = ("local", "ray")
"""Where training and evaluation run: on this machine, or on a Ray cluster."""

_REACH_S: Final = 10.0


def check_executor(executor: str, address: str) -> None:
    """Refuse an executor that does not exist or cannot be used.

    Raises:
        InputError: the name is unknown, Ray is not installed, or there is an address without Ray.
    """
    if executor not in EXECUTORS:
        raise UnknownName("executor", executor, EXECUTORS)
    if address and executor != "ray":
        raise InputError(
            f"address '{address}' needs executor 'ray', not '{executor}': use executor ray, or leave the address out"
        )
    if executor == "ray" and find_spec("ray") is None:
        raise InputError("executor 'ray' needs ray: pip install 'fitgym[ray]'")


@contextmanager
def connected(address: str = "", cores: int | None = None) -> Iterator[Any]:
    """Connect to a Ray cluster for the duration of the block, and yield the package `ray`.

    A connection that exists already is used and left open. Without an address, the variable `RAY_ADDRESS` names the
    cluster. If that is not set either, a cluster starts on this machine and ends with the block.

    Args:
        address: of the cluster, such as `auto` or `head:6379`.
        cores: of a cluster that starts here; as many as the machine has if None.

    Raises:
        InputError: there is no cluster at the address.
    """
    import ray

    if ray.is_initialized():
        yield ray
        return
    there = address or os.environ.get("RAY_ADDRESS", "")
    try:
        _reach(there)
        ray.init(address=there or "local", num_cpus=None if there else cores, log_to_driver=False)
    except (ConnectionError, OSError, RuntimeError, ValueError) as problem:
        if not there:
            raise
        raise InputError(
            f"no Ray cluster answers at '{there}': start one with `ray start --head`, or correct the address "
            f"({reason(problem)})"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _reach(address: str) -> None:
    """Open a connection to HOST:PORT and close it. Ray would wait there for minutes, and then end this process."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_REACH_S).close()


def reason(problem: BaseException) -> str:
    """The first line of what Ray says about a problem."""
    return next(iter(str(problem).strip().splitlines()), type(problem).__name__)


def enter(folder: str) -> None:
    """Change to the working folder of the command, if this node has it. Relative paths then mean the same as there."""
    if os.path.isdir(folder):
        os.chdir(folder)


class RemoteEnv:
    """An environment in a process of a cluster, created at the first call.

    Every answer is pickled bytes. Ray itself would hand over arrays that cannot be written to.

    Args:
        maker: makes the environment; pickled.
        folder: of the command, see `enter`.
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
        """The spaces of observations and actions, and the version of fitgym."""
        return pickle.dumps((self._env.observation_space, self._env.action_space, fitgym.__version__))

    def reset(self, seed: int | None, options: Mapping[str, Any]) -> bytes:
        """The first observation and `info` of an episode."""
        return pickle.dumps(self._env.reset(seed=seed, **({"options": dict(options)} if options else {})))

    def step(self, action: Any) -> bytes:
        """Take an action, and reset the environment if that ends the episode.

        Returns:
            Observation, reward, whether the episode ended, `info`, and the `info` of the reset (None if there was none),
            as the workers of `SubprocVecEnv` give them.
        """
        observation, reward, terminated, truncated, info = self._env.step(action)
        done, begun = terminated or truncated, None
        info["TimeLimit.truncated"] = truncated and not terminated
        if done:
            info["terminal_observation"] = observation
            observation, begun = self._env.reset()
        return pickle.dumps((observation, reward, done, info, begun))

    def attribute(self, name: str) -> bytes:
        """The value of an attribute, from the outermost wrapper that has it."""
        return pickle.dumps(self._env.get_wrapper_attr(name))

    def change(self, name: str, value: Any) -> bytes:
        """Set an attribute of the outermost wrapper."""
        setattr(self._env, name, value)
        return pickle.dumps(None)

    def call(self, name: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> bytes:
        """What a method returns, from the outermost wrapper that has it."""
        return pickle.dumps(self._env.get_wrapper_attr(name)(*arguments, **keywords))

    def wrapped_in(self, wrapper: type[Any]) -> bytes:
        """Whether one of the wrappers is of this class."""
        env: Any = self._env
        while not isinstance(env, wrapper) and isinstance(env, gymnasium.Wrapper):
            env = env.env
        return pickle.dumps(isinstance(env, wrapper))

    def close(self) -> bytes:
        """Close the environment, if it was made."""
        if self._made is not None:
            self._made.close()
        return pickle.dumps(None)
