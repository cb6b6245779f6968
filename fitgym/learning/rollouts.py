"""A vector environment of Stable-Baselines3 whose environments run in the actors of a Ray cluster.

    with Rollouts(makers, address="auto") as env:
        PPO("MlpPolicy", env).learn(100_000)

Every step is sent to all actors at once, and the results are returned in the order of the environments. The same makers
and seeds therefore give the same steps as `SubprocVecEnv`.

The training continues when a process or a node is lost. The environment restarts in another process, and its episode is
truncated. The lost step has reward 0 and repeats the last observation. The seed of the next episode is drawn from the
environment's own seed. Losses depend on the cluster, so a training with losses cannot be repeated exactly; `lost`
counts them.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, Final, Self

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import VecEnv

import fitgym
from fitgym.errors import ExecutionError, InputError
from fitgym.learning.remote_env import RemoteEnv
from fitgym.run.cluster import connected, reason

__all__ = ["LOSSES", "Rollouts"]

LOSSES: Final = 10
"""The number of losses of one environment after which the training ends."""

_PATIENCE_S: Final = 300.0
_CLOSING_S: Final = 5.0


class Rollouts(VecEnv):  # type: ignore[misc]
    """One Ray actor for each environment. Observations are arrays, or numbers.

    Args:
        makers: one function for each environment; pickled.
        address: the address of the cluster, see `fitgym.run.cluster.connected`.
        cores: cores that Ray reserves for each environment.
        patience_s: seconds that a new environment waits for a core.

    Attributes:
        lost: the number of losses of each environment.

    Raises:
        InputError: there is no cluster, it has too few cores, or its nodes have another version of fitgym.
        ExecutionError: no core became free in time, or an environment was lost more than `LOSSES` times.
    """

    def __init__(
        self,
        makers: Sequence[Callable[[], gymnasium.Env[Any, Any]]],
        address: str = "",
        *,
        cores: float = 1.0,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._makers = list(makers)
        self._patience_s = patience_s
        self._pending: dict[int, Any] = {}
        self._unbegun: set[int] = set()  # restarted environments without an episode
        self._actors: list[Any] = []
        self.lost = [0] * len(self._makers)
        with ExitStack() as stack:
            needed = cores * len(self._makers)
            self._ray = stack.enter_context(connected(address, int(np.ceil(needed))))
            stack.callback(self._end)
            self._actor = self._ray.remote(num_cpus=cores)(RemoteEnv)
            if (there := self._ray.cluster_resources().get("CPU", 0.0)) < needed:
                raise InputError(
                    f"the cluster has {there:g} cores, and {len(self._makers)} environments need {needed:g}: use fewer "
                    "environments, or add nodes first"
                )
            self._actors = [self._start(number) for number in range(len(self._makers))]
            replies = self._asked(range(len(self._makers)), "about", timeout_s=patience_s)
            if others := {version for *_, version in replies} - {fitgym.__version__}:
                raise InputError(
                    f"a node of the cluster has fitgym {min(others)}, this process has {fitgym.__version__}: install the "
                    "same version on every node"
                )
            super().__init__(len(self._makers), *replies[0][:2])
            self._began_with: list[int | None] = list(self._seeds)
            self._last: list[tuple[Any, dict[str, Any]]] = [(None, {})] * self.num_envs
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reset(self) -> Any:
        """Start an episode in every environment, with the seeds and options that were set."""
        self._began_with = [old if new is None else new for old, new in zip(self._began_with, self._seeds, strict=True)]
        arguments = list(zip(self._seeds, self._options, strict=True))
        found = self._called(range(self.num_envs), "reset", arguments)
        self._reset_seeds()
        self._reset_options()
        self._unbegun.clear()
        self._last = list(found)
        self.reset_infos = [info for _, info in found]
        return np.stack([observation for observation, _ in found])

    def step_async(self, actions: Any) -> None:
        """Send each environment its action."""
        pairs = enumerate(zip(self._actors, actions, strict=True))
        self._pending = {n: actor.step.remote(action) for n, (actor, action) in pairs if n not in self._unbegun}

    def step_wait(self) -> Any:
        """Wait for the steps of all environments."""
        asked, self._pending = self._pending, {}
        answers = dict(zip(asked, self._gathered(list(asked), list(asked.values()), self._cut_short), strict=True))
        found = [answers[number] if number in answers else self._cut_short(number) for number in range(self.num_envs)]
        observations, rewards, dones, infos, begun = zip(*found, strict=True)
        self.reset_infos = [old if new is None else new for old, new in zip(self.reset_infos, begun, strict=True)]
        # The `info` of a new episode replaces that of its last step.
        latest = (info if new is None else new for info, new in zip(infos, begun, strict=True))
        self._last = list(zip(observations, latest, strict=True))
        return np.stack(observations), np.stack(rewards), np.stack(dones), infos

    def close(self) -> None:
        """Close the environments, end their processes, and end the cluster if it was started here."""
        self._stack.close()

    def get_images(self) -> Sequence[Any]:
        """Return a picture of each environment."""
        return self.env_method("render")

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of each environment."""
        return self._asked(self._get_indices(indices), "attribute", attr_name)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of each environment."""
        self._asked(self._get_indices(indices), "change", attr_name, value)

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """Call a method of each environment."""
        return self._asked(self._get_indices(indices), "call", method_name, arguments, keywords)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Whether each environment has a wrapper of this class."""
        return self._asked(self._get_indices(indices), "wrapped_in", wrapper_class)

    def _start(self, number: int) -> Any:
        """Start a new actor for an environment."""
        return self._actor.remote(self._makers[number], os.getcwd())

    def _asked(self, numbers: Sequence[int], method: str, *arguments: Any, timeout_s: float | None = None) -> list[Any]:
        """Call a method of the actors with these numbers, all with the same arguments."""
        return self._called(numbers, method, [arguments for _ in numbers], timeout_s)

    def _called(
        self, numbers: Sequence[int], method: str, arguments: Sequence[Sequence[Any]], timeout_s: float | None = None
    ) -> list[Any]:
        """Call a method of the actors with these numbers; repeat the call for environments that are lost."""
        given = dict(zip(numbers, arguments, strict=True))
        asked = [getattr(self._actors[number], method).remote(*given[number]) for number in numbers]
        return self._gathered(numbers, asked, lambda number: self._again(number, method, *given[number]), timeout_s)

    def _gathered(
        self,
        numbers: Sequence[int],
        asked: Sequence[Any],
        instead: Callable[[int], Any],
        timeout_s: float | None = None,
    ) -> list[Any]:
        """Return the results in order. A lost environment is restarted, and `instead` gives its result."""
        try:
            return [pickle.loads(answer) for answer in self._answer(list(asked), timeout_s)]
        except self._ray.exceptions.RayError:
            pass  # at least one environment was lost; fetch each result separately to find out which
        found = []
        for number, one in zip(numbers, asked, strict=True):
            try:
                found.append(pickle.loads(self._answer(one, timeout_s)))
            except self._ray.exceptions.RayError as problem:
                self._make_again(number, problem)
                found.append(instead(number))
        return found

    def _answer(self, asked: Any, timeout_s: float | None = None) -> Any:
        """Return the results from Ray. Exceptions raised in an environment are raised here unchanged."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(asked, timeout=timeout_s)
        except errors.GetTimeoutError:
            raise ExecutionError(
                f"the cluster had no free core for an environment within {timeout_s:g} s: use fewer environments, add "
                "nodes, or end other jobs on it"
            ) from None
        except errors.RayTaskError as problem:
            raise problem.cause from None

    def _again(self, number: int, method: str, *arguments: Any) -> Any:
        """Call a method of a restarted environment; restart it again if it is lost again."""
        while True:
            try:
                self._answer(self._actors[number].about.remote(), self._patience_s)
                return pickle.loads(self._answer(getattr(self._actors[number], method).remote(*arguments)))
            except self._ray.exceptions.RayError as problem:
                self._make_again(number, problem)

    def _make_again(self, number: int, problem: Exception) -> None:
        """Replace the actor of a lost environment.

        Ray could restart the actor itself, but it would not start a new episode.
        """
        self.lost[number] += 1
        if self.lost[number] > LOSSES:
            raise ExecutionError(
                f"environment {number} was lost {self.lost[number]} times; the last time Ray said: {reason(problem)}"
            ) from None
        self._ray.kill(self._actors[number])
        self._actors[number] = self._start(number)
        self._unbegun.add(number)

    def _cut_short(self, number: int) -> tuple[Any, float, bool, dict[str, Any], dict[str, Any]]:
        """Return the step of a lost environment: it truncates the episode, and the next episode starts."""
        own = self._began_with[number]
        seed = None if own is None else int(np.random.SeedSequence((own, self.lost[number])).generate_state(1)[0])
        before, latest = self._last[number]
        observation, begun = self._again(number, "reset", seed, {})
        self._unbegun.discard(number)
        lost = {"environment": number, "reward": 0.0, "terminal_observation": before, "TimeLimit.truncated": True}
        return observation, 0.0, True, {**latest, **lost}, begun

    def _end(self) -> None:
        """Close the environments within a time limit, then kill all processes."""
        if closing := [actor.close.remote() for actor in self._actors]:
            self._ray.wait(closing, num_returns=len(closing), timeout=_CLOSING_S)
        for actor in self._actors:
            self._ray.kill(actor)
