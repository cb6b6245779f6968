"""The base class of environments in which the same fitness functions guide the whole search."""

from __future__ import annotations

from typing import Any

from fitgym.envs.base import SearchEnv
from fitgym.envs.catalogue import parse_action
from fitgym.run.setting import GuidedOptions

__all__ = ["GuidedEnv"]


class GuidedEnv(SearchEnv):
    """A search environment with the option `fitness`; the subclass defines the agent's decision."""

    options: GuidedOptions

    def __init__(self, subject: str, **options: Any) -> None:
        super().__init__(subject, **options)
        _ = self.guiding  # reports a wrong name now rather than at the first reset

    @property
    def guiding(self) -> tuple[str, ...]:
        """The fitness functions that guide the search.

        Raises:
            InputError: one of them is not a function of the goal.
        """
        chosen = self.options.fitness
        return (self.goal.fitness,) if chosen is None else parse_action(chosen, self.goal.functions)

    def _starts_with(self) -> tuple[str, ...]:
        return self.guiding
