"""Algorithm selection: at every step an agent chooses which search algorithm goes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gymnasium import spaces

from fitgym.engine import Engine, parse_search
from fitgym.envs.action_form import ActionForm, Chosen
from fitgym.envs.catalogue import action_name, parse_action
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.errors import InputError

__all__ = ["AlgorithmSelection"]

SEARCHES = ("whole_suite", "mosa", "dynamosa", "mio")


class _Searches(ActionForm):
    """`Discrete(n)`: the number of an algorithm in a list; the fitness functions stay as they are."""

    def __init__(self, names: Sequence[str], functions: tuple[str, ...]) -> None:
        self.names = list(names)
        self.combinations = [functions] * len(self.names)
        self.space = spaces.Discrete(len(self.names))

    def read(self, action: Any) -> Chosen:
        number = int(action)
        if not 0 <= number < len(self.names):
            raise ValueError(f"action {number} is not one of the {len(self.names)} algorithms")
        return Chosen((), self.names[number], number)


class AlgorithmSelection(FitnessSelection):
    """## Description
    Several search algorithms work on one module and share one archive. Every few generations the agent chooses which of
    them goes on, and is rewarded for progress towards a testing goal. Each algorithm has a population of its own, which
    waits while others work.

    ## Action Space
    `Discrete(n)` over the algorithms, `env.unwrapped.action_names`.

    ## Observation Space, Rewards, Episode End
    As in `fitgym.envs.fitness_selection`.

    ## Starting State
    The first population of the first algorithm. The seed of `reset` determines everything.

    ## Arguments
    * `searches`: names of the algorithms, with options after a colon, the first to begin with.
    * `functions`: the fitness functions that guide all of them, such as "exception+branch"; the goal's own if not given.
    * `subject`, `goal`, `budget` and all others of `FitnessSelection`, but for `actions`, `search` and `populations`.

    ## Version History
    * v0: initial version.
    """

    def __init__(
        self,
        subject: str,
        *,
        searches: Sequence[str] = SEARCHES,
        functions: str | None = None,
        **options: Any,
    ) -> None:
        for name in ("actions", "search", "populations"):
            if name in options:
                raise InputError(f"'{name}' is chosen by the agent or fixed here: use `searches` and `functions`")
        if not searches or len(set(searches)) < len(searches):
            raise InputError(f"the searches are {list(searches)}, expected at least one and each of them once")
        for search in searches:
            parse_search(search)
        self.searches = tuple(searches)
        self.functions = functions
        super().__init__(subject, search=self.searches[0], **options)

    def record(self) -> dict[str, Any]:
        """As of `FitnessSelection`, with the algorithms in the place of one."""
        return {**super().record(), "search": list(self.searches), "functions": list(self.catalogue[0])}

    def _form(self, actions: str | Sequence[str] | None) -> ActionForm:
        goal = self.goal
        functions = (goal.fitness,) if self.functions is None else parse_action(self.functions, goal.functions)
        return _Searches(self.searches, functions)

    def _act(self, engine: Engine, chosen: Chosen) -> None:
        engine.use(chosen.name)

    def _starts_with(self) -> tuple[str, ...]:
        return self.catalogue[0]

    def _given(self) -> str:
        return f"guided by {action_name(self.catalogue[0])}"

    def _options(self) -> tuple[str, ...]:
        return self.searches

    def _guides(self, engine: Engine) -> dict[str, float]:
        return {engine.search_name: 1.0}
