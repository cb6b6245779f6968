"""Focus: at every step an agent chooses the part of the subject to search next."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Final, Literal

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.engine import Engine
from fitgym.envs.action.base import Action, ActionSpace
from fitgym.envs.action.focus_on import WHOLE, FocusOn, parts
from fitgym.envs.guided import GuidedEnv
from fitgym.envs.parts import Part, Parts, slots
from fitgym.envs.rules import POINTERS, POINTING, RULES
from fitgym.run.setting import GuidedOptions, Name, WholeNumber

__all__ = ["MIO", "Focus", "FocusOptions"]

MIO: Final = "mio:random_rate=0.1,kept=3,mutations=3,feedback=false"
"""MIO with little exploration. Each target has its own population, so a part keeps its progress while it is not
searched.

Without its feedback-directed sampling, MIO draws targets at random, because the agent decides which targets to pursue.
The published algorithm is a baseline: `search="mio:random_rate=0.1,kept=3,mutations=3"` with the constant action
`whole`.
"""


_TOLD_APART: Final = 64  # parts that pointers distinguish; the smallest parts beyond that are merged


@dataclass(frozen=True, kw_only=True)
class FocusOptions(GuidedOptions):
    """The options of `Focus`.

    Attributes:
        parts: number of slots for parts of the subject, at least 2. Pointers distinguish at least 64 parts.
        actions: what an action names: a slot, or a part by the progress on it so far (`pointers`).
    """

    goal: Name = "coverage"
    search: Name = MIO
    population: WholeNumber = 10
    generations_per_step: WholeNumber = 5
    budget: str | None = "3000x"
    features: Name = "parts+last_choice+remaining_budget"
    parts: Annotated[int, Meta(ge=2)] = 8
    actions: Literal["slots", "pointers"] = "slots"


class Focus(GuidedEnv):
    """## Description
    A search algorithm evolves tests for a Python module. A decision holds for a slice: a few generations that search
    only one function or class of the module. The agent chooses the part. It is rewarded for progress towards the goal.
    It should neither spend too long on parts that cannot be covered nor leave coverable parts too early.

    ## Action Space
    `Discrete(n + 1)`: a slot for each of n parts, and `whole`, which removes the restriction, so that the search
    algorithm divides the effort itself. `info["action_mask"]` and `action_masks()` allow the parts with open branches,
    and `whole`.

    A part is a public function or class with the helpers that it calls. The parts are in source order. If there are
    more parts than slots, the largest parts get their own slots and the last slot merges all others.

    With `actions="pointers"` the space is `Discrete(7)`. An action then points to a part by the progress on it so far,
    as in `fitgym.envs.programs`. Actions mean the same on every module, so a policy trained on generated programs can
    be used on real modules. Every action is allowed. The agent `pretrained` is such a policy. On modules of the standard
    library no difference to a constant action is shown: `benchmarks/learning/transfer.md`.

    ## Observation Space
    `Box(0, 1, ...)`: nine numbers for each slot, or for the part that each action points to, see
    `fitgym.envs.features.parts`; the last choice; and the remaining budget.

    ## Rewards, Starting State, Episode End
    As in `fitgym.envs.base`.

    ## Arguments
    * `parts`: the number of slots.
    * `actions`: "slots" or "pointers".
    * `fitness`: the fitness functions that guide the search; the goal's own by default.
    * `subject` and all others as in `fitgym.envs.base`. By default the goal is coverage and the search is MIO with a
      small population. MIO keeps test cases for each branch, so a change of focus loses no progress.

    ## References
    Arcuri 2017, Many Independent Objective (MIO) Algorithm for Test Suite Generation: with `whole`, its
    feedback-directed sampling makes the same decision.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[FocusOptions]] = FocusOptions
    options: FocusOptions

    def __init__(self, subject: str = "", **options: Any) -> None:
        super().__init__(subject, **options)
        self.parts: Parts | None = None
        self._label = ""  # name of the last action
        self._chosen = 0  # the part of the last action

    @property
    def pointing(self) -> bool:
        """Whether actions point to parts by their progress, rather than name slots."""
        return self.options.actions == "pointers"

    def _actions(self) -> ActionSpace:
        return parts([*self._slots()], "pointers to parts" if self.pointing else f"{self.options.parts} parts")

    def _slots(self) -> tuple[str, ...]:
        if self.pointing:
            return tuple(POINTERS)
        return (*(f"part_{number}" for number in range(self.options.parts)), WHOLE)

    def _started(self, engine: Engine) -> None:
        n = max(self.options.parts, _TOLD_APART) if self.pointing else self.options.parts
        self.parts = Parts(slots(engine.subject, n), engine)
        self._label = ""

    def _parts_seen(self) -> tuple[Part, ...]:
        if self.parts is None:
            return ()
        if self.pointing:
            return tuple(self.parts.seen[point(self.parts)] for point in POINTERS.values())
        return tuple(self.parts.seen)

    def _prepared(self, action: Action) -> Action:
        assert isinstance(action, FocusOn) and self.parts is not None
        self._chosen = self._pointed(action)
        return replace(action, group=None if self._chosen == self.parts.whole else self.parts.groups[self._chosen])

    def _pointed(self, action: Action) -> int:
        """Return the number of the part that an action selects now."""
        assert self.parts is not None
        return POINTERS[action.name](self.parts) if self.pointing else action.index

    def _after(self, chosen: Action, engine: Engine) -> None:
        assert self.parts is not None
        self.parts.note(self._chosen, engine)
        self._label = chosen.name

    def _given(self) -> str:
        return f"search {self.search} guided by {'+'.join(self.guiding)}"

    def _parts(self) -> tuple[str, ...]:
        return tuple(self.actions.names)

    def _guides(self, engine: Engine) -> dict[str, float]:
        return {self._label: 1.0} if self._label else {}

    def action_masks(self) -> NDArray[np.bool_]:
        """The parts with open branches; `whole` and pointers are always allowed. All before the first `reset`."""
        if self.parts is None or self.pointing:
            return self.actions.mask()
        return np.array([*(part.open for part in self.parts.seen[:-1]), True])

    @property
    def rules(self) -> Mapping[str, Callable[[Any, Mapping[str, Any], np.random.Generator], int]]:
        """Baseline rules by name, see `fitgym.envs.rules`; each takes observation, info and a generator."""
        return {name: functools.partial(self._ruled, name) for name in (POINTING if self.pointing else RULES)}

    def _ruled(self, name: str, observation: Any, info: Mapping[str, Any], chance: np.random.Generator) -> int:
        """Return the action that a rule chooses now."""
        assert self.parts is not None
        if self.pointing:
            return self.action_names.index(POINTING[name](self.parts))
        return int(RULES[name](self.parts, chance))
