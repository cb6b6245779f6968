"""Algorithm selection: at every step an agent chooses which search algorithm runs next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from fitgym.engine import Engine, parse_search
from fitgym.envs.action.base import ActionSpace
from fitgym.envs.action.use import algorithms
from fitgym.envs.guided import GuidedEnv
from fitgym.errors import InputError
from fitgym.run.setting import GuidedOptions

__all__ = ["AlgorithmOptions", "AlgorithmSelection"]


@dataclass(frozen=True, kw_only=True)
class AlgorithmOptions(GuidedOptions):
    """The options of `AlgorithmSelection`.

    Attributes:
        searches: search algorithms to choose from, with options after a colon; the episode starts with the first one.
    """

    without: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"search": "the agent chooses the search algorithm: name the choices in searches"}
    )
    searches: tuple[str, ...] = ("whole_suite", "mosa", "dynamosa", "mio")


class AlgorithmSelection(GuidedEnv):
    """## Description
    Several search algorithms work on one module and share one archive. Every few generations the agent chooses the
    algorithm that runs next. It is rewarded for progress towards a testing goal. Each algorithm has its own population,
    which does not change while another algorithm runs.

    ## Action Space
    `Discrete(n)` over the algorithms, `env.unwrapped.action_names`.

    ## Observation Space, Rewards, Episode End
    As in `fitgym.envs.base`.

    ## Starting State
    The first population of the first algorithm. The seed of `reset` determines everything.

    ## Arguments
    * `searches`: names of the algorithms, with options after a colon; the episode starts with the first one.
    * `fitness`: the fitness functions that guide all algorithms, such as "exception+branch"; the goal's own by default.
    * `subject` and all others as in `fitgym.envs.base`, without `search`.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[AlgorithmOptions]] = AlgorithmOptions
    options: AlgorithmOptions

    def __init__(self, subject: str = "", **options: Any) -> None:
        super().__init__(subject, **options)
        for search in self.options.searches:
            parse_search(search)

    @property
    def search(self) -> str:
        """The first algorithm."""
        return self.options.searches[0]

    def _actions(self) -> ActionSpace:
        searches = self.options.searches
        if not searches or len(set(searches)) < len(searches):
            raise InputError(f"the searches are {list(searches)}, expected at least one and each of them once")
        return algorithms(searches)

    def _given(self) -> str:
        return f"guided by {'+'.join(self.guiding)}"

    def _parts(self) -> tuple[str, ...]:
        return self.options.searches

    def _guides(self, engine: Engine) -> dict[str, float]:
        return {engine.search_name: 1.0}
