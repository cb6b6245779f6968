"""The policies that come with fitgym: trained on modules of the standard library, used without training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents.base import Agent

__all__ = ["Pretrained", "policies"]


@lru_cache(maxsize=1)
def policies() -> Mapping[tuple[str, ...], Path]:
    """The folders of the policies that come with fitgym, by the names of the actions that each chooses from."""
    root = Path(str(resources.files("fitgym"))) / "policies"
    return {Agent.load(file.parent).action_names: file.parent for file in sorted(root.glob("*/agent.json"))}


class Pretrained(Agent):
    """The policy that was trained for these actions on `stdlib-v1:train`, selected on `stdlib-v1:validation`.

    There is one for the catalogue of each goal of the paper; which it is depends on the names of the actions alone. It
    does not learn any more, and it takes the action that the policy judges best: drawing from the policy would exchange
    the fitness functions at nearly every step, which costs more than a good choice gains. Each comes with a `bundle.json`
    that says how it was made: with which subjects, budget, seed, hyper-parameters and versions. It was
    trained on the features "full-v1": a run that names no features takes these, and other features are refused when it is
    asked first. For other actions there is none, which `ready` and `lacking` say; it then chooses by chance.

    Args:
        action_space: as for every agent.
        action_names: as for every agent; they decide which policy it is.
        seed: as for every agent; not used where there is a policy.
    """

    trained_on: ClassVar[str | None] = "full-v1"

    def __init__(
        self, action_space: spaces.Space[Any] | int, action_names: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        super().__init__(action_space, action_names, seed)
        folder = policies().get(self.action_names)
        self.policy = None if folder is None else Agent.load(folder)

    @property
    def ready(self) -> bool:
        """There is a policy for these actions."""
        return self.policy is not None

    @property
    def lacking(self) -> str:
        """Which actions there are policies for."""
        goals = ", ".join(sorted(folder.name for folder in policies().values())) or "none"
        return (
            f"has no policy for these {self.n_actions} actions, only for the catalogues of these goals: {goals}; train "
            "one with `fitgym train ppo ...` and name the folder it was saved in"
        )

    def act(self, observation: Any, info: Mapping[str, Any]) -> int:
        """What the policy judges best."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> int:
        """What the policy judges best; without one any allowed action, the first if nothing may be drawn."""
        if self.policy is not None:
            return int(self.policy.choose(observation, allowed, None))
        among = np.flatnonzero(allowed)
        return int(among[0] if rng is None else rng.choice(among))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What the policy has learnt, so that a saved agent stays what it is when fitgym comes with another one."""
        return {} if self.policy is None else self.policy.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        if self.policy is not None:
            self.policy.restore(arrays)
