"""Fitness selection: at every step an agent chooses which fitness functions guide the search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from fitgym.engine import Engine
from fitgym.envs.action.activate import Activate, choices
from fitgym.envs.action.base import Action, ActionSpace, Listed
from fitgym.envs.base import GOALS, Observation, SearchEnv
from fitgym.errors import InputError
from fitgym.goals.base import Goal
from fitgym.run.setting import FitnessOptions

__all__ = ["GOALS", "FitnessSelection", "Observation", "form_of"]


class FitnessSelection(SearchEnv):
    """## Description
    A genetic algorithm evolves a test suite for a Python module. Every few generations the agent chooses the
    combination of fitness functions that guides it. The agent is rewarded for progress towards a testing goal.

    ## Action Space
    `Discrete(n)` over a catalogue of named combinations, `env.unwrapped.action_names`. As in the paper, the exception
    goal has 64 combinations, the diversity goal 44 and strong mutation 31. The coverage goal uses "pairs", which has
    36. With `actions="bits"` the space is `MultiBinary(n)`, with a bit for each fitness function of the goal. With
    `actions="weights"` it is `Box(-1, 1, (n,))`, as in `fitgym.envs.weighted_fitness`.

    ## Observation Space, Rewards, Starting State, Episode End
    As in `fitgym.envs.base`.

    ## Arguments
    * `actions`: a catalogue, see `fitgym.envs.catalogue`, a list of combinations, "bits" or "weights"; the goal's own
      catalogue by default.
    * `populations`: "shared" uses one population for all actions. With "per-action", an action that differs from the
      last one resumes the population saved when it was last chosen. This starts after as many decisions as there are
      actions. The code released with the paper does this; the paper does not mention it.
    * `subject` and all others as in `fitgym.envs.base`.

    ## References
    Almulla and Gay 2022, Learning How to Search: Generating Effective Test Cases Through Adaptive Fitness Function
    Selection.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[FitnessOptions]] = FitnessOptions
    options: FitnessOptions

    def __init__(self, subject: str = "", **options: Any) -> None:
        super().__init__(subject, **options)
        if self.options.populations == "per-action" and not isinstance(self.actions, Listed):
            raise InputError(
                f"actions '{self.options.actions}' cannot have populations 'per-action': use a catalogue, or 'shared'"
            )

    def _actions(self) -> ActionSpace:
        replaced = self.options.functions is not None
        return form_of(self.goal, self.options.actions, "" if replaced else self.pursued)

    def _prepared(self, action: Action) -> Action:
        """With "per-action" populations, let the action resume its saved population."""
        taken = self.actions_taken
        assert isinstance(action, Activate) and self.engine is not None
        if self.options.populations == "shared" or len(taken) <= self.actions.size or taken[-1] == action.name:
            return action
        kept = self.engine.saved_population(action.name)
        return action if kept is None else replace(action, population=tuple(kept))

    def _after(self, chosen: Action, engine: Engine) -> None:
        if self.options.populations == "per-action":
            engine.save_population(chosen.name)


def form_of(goal: Goal | type[Goal], actions: str | Sequence[str] | None, of: str = "") -> ActionSpace:
    """Return the action space for a goal; `actions=None` selects the goal's own catalogue, see `choices`."""
    return choices(goal.catalogue if actions is None else actions, goal.functions, goal.required, of)
