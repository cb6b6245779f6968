"""The base class of all environments: declared options, and a record from which an episode can be repeated."""

from __future__ import annotations

import inspect
import typing
from abc import abstractmethod
from typing import Any, ClassVar

import gymnasium
import numpy as np
from numpy.typing import NDArray

from fitgym.rendering.display import MODES
from fitgym.run import setting

__all__ = ["Observation", "RecordedEnv", "signature"]

Observation = NDArray[np.float32]


class RecordedEnv(gymnasium.Env[Observation, Any]):
    """An environment with declared options that records its episodes.

    Class attributes:
        Options: the keyword arguments, as a frozen dataclass.

    Attributes:
        options: the values of the options.
        subject_name: the module or class under test; "" if there is none.
        seed: the seed with which `reset` repeats the episode; None before the first episode.
        actions_taken: the actions of the episode in their JSON form.
        rewards: the rewards of the episode.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012  (as Gymnasium declares it)

    Options: ClassVar[type[setting.Options]]
    options: setting.Options
    subject_name: str = ""
    seed: int | None = None
    actions_taken: list[Any]
    rewards: list[float]
    action_names: typing.Sequence[str]
    feature_names: typing.Sequence[str]

    @property
    def env_id(self) -> str:
        """The registered id; `module:Class` for an environment that was constructed directly."""
        if self.spec is not None:
            return self.spec.id
        return f"{type(self).__module__}:{type(self).__qualname__}"

    @property
    @abstractmethod
    def environment(self) -> dict[str, str]:
        """The names of the action catalogue and of the features; a saved policy is valid only for the same names."""

    @property
    @abstractmethod
    def default_agent(self) -> str:
        """The agent that is used if the user names none."""

    @abstractmethod
    def action_of(self, recorded: Any) -> Any:
        """Return the element of the action space that a recorded action names.

        Example: `env.step(env.action_of("exception+branch"))`.

        Raises:
            InputError: the environment has no such action.
        """

    @property
    def recorded_budget(self) -> str | None:
        """The budget as text; None without one."""
        return None

    def record(self) -> dict[str, Any]:
        """Return the data needed to repeat the episode, and its rewards, as JSON-ready values.

        The keys are env, subject, budget, seed, options, actions and rewards. To repeat the episode, make the
        environment with these options and pass the seed to `reset`. Then convert each action with `action_of` and pass
        it to `step`.
        """
        options = self.options.recorded()
        options.pop("budget", None)
        return {
            "env": self.env_id,
            "subject": self.subject_name,
            "budget": self.recorded_budget,
            "seed": self.seed,
            "options": options,
            "actions": list(self.actions_taken),
            "rewards": list(self.rewards),
        }

    def _begin(self, seed: int | None) -> None:
        """Seed the episode and clear the record of the last one. Without a seed, draw one from `np_random`."""
        super().reset(seed=seed)
        self.seed = int(self.np_random.integers(2**31)) if seed is None else int(seed)
        self.actions_taken, self.rewards = [], []


def signature(kind: type[setting.Options], *first: str, last: typing.Mapping[str, str]) -> inspect.Signature:
    """Return the signature of a constructor that takes these options as keyword-only parameters.

    Args:
        kind: the class of the options.
        first: names of positional parameters.
        last: types of further keyword-only parameters by name; their default is None.
    """
    types, values = typing.get_type_hints(kind), setting.defaults(kind)
    parameter = inspect.Parameter
    return inspect.Signature(
        [
            *(parameter(name, parameter.POSITIONAL_OR_KEYWORD, default="", annotation="str") for name in first),
            *(
                parameter(name, parameter.KEYWORD_ONLY, default=value, annotation=inspect.formatannotation(types[name]))
                for name, value in values.items()
            ),
            *(parameter(name, parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in last.items()),
        ]
    )
