"""Generator rates: at every step an agent sets the probabilities of random test generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fitgym.envs.action.base import ActionSpace
from fitgym.envs.action.set_rates import RateNumbers
from fitgym.envs.guided import GuidedEnv
from fitgym.run.setting import GuidedOptions

__all__ = ["GeneratorRates", "RateOptions"]


@dataclass(frozen=True, kw_only=True)
class RateOptions(GuidedOptions):
    """The options of `GeneratorRates`.

    Attributes:
        rates: the rates that the agent sets, names in `fitgym.envs.action.set_rates.RANGES`.
    """

    rates: tuple[str, ...] = (
        "tested_rate",
        "object_rate",
        "delete_rate",
        "change_rate",
        "insert_rate",
        "object_reuse",
        "primitive_reuse",
        "ill_typed",
        "static_pool",
        "pattern_rate",
    )


class GeneratorRates(GuidedEnv):
    """## Description
    A search algorithm evolves a test suite for a Python module. Every few generations the agent sets the rates of
    random test generation. They determine, for example, how often a test case is changed, which call is inserted and
    where constants come from. The agent is rewarded for progress towards a testing goal. This is operator control, a
    case of dynamic algorithm configuration.

    ## Action Space
    `Box(-1, 1, (n,))`, a number for each rate, `env.unwrapped.action_names`. -1 is the lowest value of a rate in
    `fitgym.envs.action.set_rates.RANGES`, 0 its default and 1 the highest, linear in between. The zero vector restores
    the defaults exactly. `tested_rate` and `object_rate` sum to at most 1: `object_rate` is reduced if necessary. All
    rates stay in force until the next step.

    ## Observation Space, Rewards, Episode End
    As in `fitgym.envs.base`.

    ## Starting State
    The first population, generated with the default rates. The seed of `reset` determines everything.

    ## Arguments
    * `rates`: the rates that the agent sets; the others keep their defaults.
    * `fitness`: the fitness functions that guide the search, such as "exception+branch"; the goal's own by default.
    * `subject` and all others as in `fitgym.envs.base`.

    ## References
    Eimer, Biedenkapp, Reimer et al. 2021, DACBench: A Benchmark Library for Dynamic Algorithm Configuration.
    `fitgym.testcase.rates` documents each rate.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[RateOptions]] = RateOptions
    options: RateOptions

    def _actions(self) -> ActionSpace:
        return RateNumbers(self.options.rates)

    def _given(self) -> str:
        return f"search {self.search} · guided by {'+'.join(self.guiding)}"

    def _parts(self) -> tuple[str, ...]:
        return self.guiding
