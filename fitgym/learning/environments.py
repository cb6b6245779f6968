"""The environments of a training: a single one, several processes, actors of a cluster, or one vector environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.envs.registration import load_env_creator
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import NormalizeReward

from fitgym.agents._deep import Deep
from fitgym.agents.base import kind
from fitgym.envs.across_subjects import AcrossSubjects
from fitgym.errors import InputError
from fitgym.run.environment import make
from fitgym.run.setting import Setting

if TYPE_CHECKING:
    from fitgym.learning.request import Training

__all__ = ["Env", "at_once", "attribute_of_each", "environment", "environments"]

Env = gymnasium.Env[Any, Any]


class _Numbered(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds to `info` the number of the environment, and the reward before normalisation."""

    def __init__(self, env: gymnasium.Env[Any, Any], number: int) -> None:
        super().__init__(env)
        self._number = number

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return (
            observation,
            reward,
            terminated,
            truncated,
            {**info, "environment": self._number, "reward": float(reward)},
        )

    @property
    def failures(self) -> dict[str, str]:
        """The unusable subjects, each with the reason; empty if the environment has no subject."""
        found: dict[str, str] = getattr(self.env, "failures", {})
        return found

    @property
    def names(self) -> tuple[list[str] | None, list[str], dict[str, str]]:
        """The names of the actions, of the features, and of the catalogue and feature set that a policy is bound to."""
        inner: Any = self.unwrapped
        actions = getattr(inner, "action_names", None)
        return (
            None if actions is None else list(actions),
            list(getattr(inner, "feature_names", ())),
            dict(getattr(inner, "environment", {})),
        )

    def action_masks(self) -> Any:
        """The mask of the wrapped environment."""
        return self.env.get_wrapper_attr("action_masks")()


def environment(request: Training, subjects: tuple[str, ...], path: str | None, number: int) -> Env:
    """Make one of the parallel environments of a training."""
    # The environment is made with the first subject, which may be in the folder of the corpus, too.
    options = {**request.setting.options, "path": path} if subjects else request.setting.options
    inner = make(replace(request.setting, subject=subjects[0] if subjects else "", options=options))
    env: Env = _Numbered(AcrossSubjects(inner, subjects, path) if subjects else inner, number)
    return NormalizeReward(env) if request.normalise and issubclass(kind(request.setting.agent), Deep) else env


def attribute_of_each(env: Any, name: str) -> list[Any]:
    """Return an attribute of every single environment."""
    return list(env.get_attr(name)) if hasattr(env, "get_attr") else [env.get_wrapper_attr(name)]


def environments(request: Training, makers: Sequence[Callable[[], Env]]) -> Any:
    """Return the environment to learn in: a single one, or a vector environment."""
    if request.executor == "local" and request.envs == 1:
        return makers[0]()
    try:
        import stable_baselines3  # noqa: F401
    except ImportError as problem:
        raise InputError(
            "several environments need the extra 'deep': pip install torch==2.13.0, then pip install 'fitgym[deep]' "
            f"({problem})"
        ) from None
    if request.executor == "ray":
        from fitgym.learning.rollouts import Rollouts

        return Rollouts(makers, request.address)
    if env := at_once(request.setting):
        return _batched(env, request)
    from fitgym.learning.subprocesses import Subprocesses

    return Subprocesses(makers)


def at_once(setting: Setting) -> str:
    """Return the full id of an environment that steps all episodes in one process; "" for any other environment."""
    known = gymnasium.registry.get(setting.env) or gymnasium.registry.get(f"fitgym/{setting.env}")
    if known is None or known.vector_entry_point is None:
        return ""
    vector: Any = load_env_creator(str(known.vector_entry_point))
    # A `SyncVectorEnv` steps one episode after the other, so it is no faster than single environments.
    return "" if issubclass(vector, SyncVectorEnv) else known.id


def _batched(env: str, request: Training) -> Any:
    """Return a vector environment that steps all episodes at once."""
    from stable_baselines3.common.vec_env import VecNormalize

    from fitgym.learning.batched import batched

    found = batched(env, request.envs, dict(request.setting.options))
    return VecNormalize(found, norm_obs=False) if request.normalise else found
