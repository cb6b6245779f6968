"""Pretrained: the policies shipped with fitgym, trained on modules of the standard library or on landscapes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._made import summary
from fitgym.agents._saved import same_environment
from fitgym.agents.base import Agent, kind

__all__ = ["Pretrained", "constant", "described", "policies", "purpose"]


@lru_cache(maxsize=1)
def policies() -> Mapping[tuple[str, ...], Path]:
    """The folders of the shipped policies, by the names of their actions."""
    root = Path(str(resources.files("fitgym"))) / "policies"
    return {Agent.load(file.parent).action_names: file.parent for file in sorted(root.glob("*/agent.json"))}


def described() -> dict[str, str]:
    """A line for each shipped policy, by name: how it was trained, and the action if it is constant."""
    found = {}
    for folder in sorted(policies().values()):
        agent = Agent.load(folder)
        action = constant(folder)
        what = "takes different actions" if action is None else f"a constant, always {action}"
        found[folder.name] = f"{kind(str(folder)).__name__}, {summary(agent.made)}; {what}"
    return found


def constant(folder: Path) -> str | None:
    """The only action that a policy takes, as its `bundle.json` declares; None if it takes several."""
    action: str | None = json.loads((folder / "bundle.json").read_text("utf-8")).get("constant")
    return action


def purpose(folder: Path) -> str:
    """The option that leads to a policy's actions, such as `--goal diversity`."""
    request = json.loads((folder / "bundle.json").read_text("utf-8"))["request"]
    return f"--goal {request['goal']}" if "goal" in request else f"--env {request['setting']['env']}"


class Pretrained(Agent):
    """The policy that was trained for these actions; `fitgym list policies` shows all of them.

    | policy | for | what the policy does | trained with |
    |---|---|---|---|
    | `pointers` | Programs-v0, Landscapes-v0, Focus-v0 with `actions="pointers"` | takes different actions | 400000 steps |
    | `exceptions` | the catalogue of the goal | constant: always `exception+branch+line+method_no_exception` | 8000 steps |
    | `diversity` | the catalogue of the goal | constant: always `diversity+method_no_exception` | 8000 steps |
    | `strong_mutation` | the catalogue of the goal | takes different actions | 2000 steps |

    `pointers` chooses the part of a program to search next. It was trained on Landscapes-v0 and beats the best constant
    there and on Programs-v0. The other three choose fitness functions. They were trained on `stdlib-v1:train`, with the
    features "full-v1" and the reward "gain". None of the three beats the best constant, that is, the best single
    combination of fitness functions; two of them are constants themselves.

    The names of the actions select the policy. The agent no longer learns and takes the best action of the policy. Each
    policy has a `bundle.json` with environment, seed, hyper-parameters and versions of its training; unknown entries are
    "not recorded". The features of the training are the default of a run with this agent; other features are refused.
    For other actions there is no policy: `ready` is False, and the agent chooses at random.

    Args:
        action_space: as for every agent.
        action_names: as for every agent; they select the policy.
        seed: as for every agent; not used if there is a policy.
    """

    trained_on: ClassVar[tuple[str, ...]] = ("full-v1", "parts+last_choice+remaining_budget")

    def __init__(
        self, action_space: spaces.Space[Any] | int, action_names: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        self.policy: Agent | None = None
        super().__init__(action_space, action_names, seed)
        folder = policies().get(self.action_names)
        self.policy = None if folder is None else Agent.load(folder)

    @property
    def environment(self) -> dict[str, str]:
        """Names of parts of the environment, see `fitgym.agents.base.make`.

        Raises:
            InputError: the policy was trained for another part, such as other features.
        """
        return self._environment

    @environment.setter
    def environment(self, given: dict[str, str]) -> None:
        if self.policy is not None:
            same_environment("the pretrained policy", self.policy.environment, given)
        self._environment = given

    @property
    def ready(self) -> bool:
        """Whether there is a policy for these actions."""
        return self.policy is not None

    @property
    def lacking(self) -> str:
        """The actions that have policies."""
        names = ", ".join(sorted(folder.name for folder in policies().values())) or "none"
        return (
            f"has no policy for these {self.n_actions} actions, only these policies: {names}; train "
            "one with `fitgym train ppo ...` and name the folder it was saved in"
        )

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """The best action of the policy."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """The best action of the policy. Without a policy, a random allowed action, or the first one without `rng`."""
        if self.policy is not None:
            return int(self.policy.choose(observation, allowed, None))
        among = np.flatnonzero(allowed)
        return int(among[0] if rng is None else rng.choice(among))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The parameters of the policy, so that a saved agent does not depend on the version of fitgym."""
        return {} if self.policy is None else self.policy.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the policy from `arrays`."""
        if self.policy is not None:
            self.policy.restore(arrays)
