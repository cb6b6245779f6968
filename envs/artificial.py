"""Artificial problems as an environment: a real search on targets that are formulas, milliseconds for each step."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from msgspec import Meta
from numpy.typing import NDArray

from fitgym.engine import parse_search
from fitgym.envs.action.activate import Activate, choices
from fitgym.envs.recorded import Observation, RecordedEnv, signature
from fitgym.errors import InputError, ResetNeeded
from fitgym.evolution.budget import Budget
from fitgym.formulas.artificial import KINDS, ArtificialEngine, Problem
from fitgym.rendering.display import display
from fitgym.rendering.episode import Episode, Step
from fitgym.run.setting import Options, read

__all__ = ["Artificial", "ArtificialOptions"]


@dataclass(frozen=True, kw_only=True)
class ArtificialOptions(Options):
    """The options of `Artificial`.

    Attributes:
        gradient: number of targets with a gradient; 0 for no such group.
        plateau: number of targets with a plateau.
        deceptive: number of deceptive targets.
        infeasible: number of targets that nothing covers.
        budget: evaluations of test cases, a number or text: 2000x.
        actions: a catalogue, a list of combinations or bits.
        search: search algorithm, with options after a colon.
        population: number of individuals.
        generations_per_step: how many generations a decision holds.
    """

    gradient: int = 10
    plateau: int = 10
    deceptive: int = 5
    infeasible: int = 20
    budget: int | str = 2000
    actions: str | tuple[str, ...] = "upto:4"
    search: str = "whole_suite"
    population: int = 10
    generations_per_step: Annotated[int, Meta(ge=1)] = 3


class Artificial(RecordedEnv):
    """## Description
    A real search, but its targets are formulas instead of code: with a gradient, with a plateau, deceptive ones and ones
    that nothing covers. Every few generations the agent chooses the groups of targets that guide the search, and is
    rewarded for the targets that are covered. Whoever spends the budget on what is infeasible or deceptive loses.

    ## Action Space
    `Discrete(n)` over combinations of the groups that there are, `env.unwrapped.action_names`; by default all of them,
    15 for four groups. With `actions="bits"` it is `MultiBinary(n)`, a bit for each group.

    ## Observation Space
    `Box(0, 1, (1 + 3 n,), float32)`, `env.unwrapped.feature_names`: the share of the budget that is left, and for each
    group whether it is active, the share of its targets that are covered, and the mean over its targets of the least
    distance so far.

    ## Rewards
    The targets that were covered in the step, as a share of the feasible ones. They sum to the share that is covered in
    the end, but for the first generation, in which no agent has a part.

    ## Starting State
    Optima drawn anew for each episode, and one generation of the search under all groups. The seed of `reset` determines
    everything.

    ## Episode End
    Terminated when all feasible targets are covered or the budget is used up.

    ## Arguments
    * `gradient`, `plateau`, `deceptive`, `infeasible`: how many targets of each group; 0 for no such group.
    * `budget`: evaluations of test cases, a number or text such as `2000x`.
    * `actions`: a catalogue, see `fitgym.envs.catalogue`, or "bits".
    * `search`: a search algorithm, such as `mio` or `mosa:crossover=0`.
    * `population`: number of its individuals.
    * `generations_per_step`: for how many a decision holds.
    * `render_mode`: "ansi", a line; "rgb_array", a picture of 800 by 600 pixels (extra `render`); "human", the terminal,
      after every step; "episode", the `fitgym.rendering.episode.Episode` so far; or None.

    ## References
    Arcuri 2017, Many Independent Objective (MIO) Algorithm for Test Suite Generation, section 4.1: the problems.

    ## Version History
    * v0: initial version.
    """

    Options: ClassVar[type[ArtificialOptions]] = ArtificialOptions
    options: ArtificialOptions
    __signature__ = signature(ArtificialOptions, last={"render_mode": "str | None"})

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        self.options = wanted = read(ArtificialOptions, options, type(self).__name__)
        self.groups = {kind: int(getattr(wanted, kind)) for kind in KINDS}
        self.kinds = Problem.draw(self.groups, 0).kinds  # refused here rather than at the first reset
        if self.kinds == ("infeasible",):
            raise InputError("all targets are infeasible, so there is nothing to reach: give one of another group")
        if wanted.actions == "weights":
            raise InputError("the groups have no weights: use a catalogue such as upto:4, or bits")
        self.budget = _evaluations(wanted.budget)
        parse_search(wanted.search)
        self.actions = choices(wanted.actions, self.kinds)
        self.action_names = self.actions.names
        self.feature_names = (
            "remaining",
            *(f"{what}_{k}" for k in self.kinds for what in ("active", "covered", "least")),
        )
        self.render_mode = render_mode
        self._display = display(render_mode)
        self.action_space = self.actions.space
        self.observation_space = spaces.Box(0.0, 1.0, (len(self.feature_names),), np.float32)
        self.engine: ArtificialEngine | None = None
        self.actions_taken = []
        self.rewards = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a problem and begin a search on it."""
        self._begin(seed)
        drawn = int(seeding.np_random(self.seed)[0].integers(2**31))
        self.engine = ArtificialEngine(
            Problem.draw(self.groups, drawn),
            search=self.options.search,
            seed=drawn,
            population=self.options.population,
            budget=self.budget,
        )
        self.engine.step()
        if self._display is not None:
            setting = f"search {self.options.search} · seed {self.seed}"
            episode = Episode("artificial problems", setting, self.kinds, (self._seen(""),))
            self._display.begin(episode)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the chosen groups guide the search for some generations.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
        """
        engine = self.engine
        if engine is None or (self.actions_taken and self._over(engine)):
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        chosen = self.actions.read(action)
        assert isinstance(chosen, Activate)
        if chosen.functions:
            engine.activate(chosen.functions)
        before = engine.n_covered
        for _ in range(self.options.generations_per_step):
            engine.step()
        reward = (engine.n_covered - before) / self._feasible(engine)
        self.actions_taken.append(chosen.to_json())
        self.rewards.append(reward)
        if self._display is not None:
            ended = "" if not self._over(engine) else "budget spent" if engine.spent >= 1.0 else "all covered"
            self._display.follow(self._seen(chosen.label), ended=ended)
        return self._observation(), reward, self._over(engine), False, self._info()

    def render(self) -> Any:
        """A line or a picture of the running search, as the render mode says; None for "human", which shows each step."""
        if self._display is not None:
            return self._display.view()
        if self.render_mode is None or self.engine is None:
            return None
        done = ", ".join(f"{kind} {int(self.engine.covered(kind).sum())}/{self.groups[kind]}" for kind in self.kinds)
        active = "+".join(self.engine.active)
        return f"{self.engine.evaluations} of {self.budget} evaluations, active {active}, covered {done}"

    def close(self) -> None:
        """End what is shown on the terminal; harmless when called twice."""
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which actions make sense now, shape `(n_actions,)`, of bits two for each: all of them."""
        return self.actions.mask()

    def fork(self) -> Artificial:
        """An independent copy in the same state."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """Go on with another source of chance; for copies that look ahead.

        Raises:
            ResetNeeded: no episode has begun.
        """
        if self.engine is None:
            raise ResetNeeded("no episode has begun: call reset() before reseed()")
        self.engine.reseed(seed)

    @property
    def environment(self) -> dict[str, str]:
        """The names of the catalogue of actions and of the features."""
        return {"catalogue": self.actions.title, "features": "artificial-v1"}

    @property
    def default_agent(self) -> str:
        """The agent when the user names none."""
        return "factored_ucb" if isinstance(self.action_space, spaces.MultiBinary) else "ucb"

    @property
    def recorded_budget(self) -> str:
        """The budget as text."""
        return f"{self.budget}x"

    def action_of(self, recorded: Any) -> Any:
        """The element of the action space that a recorded action names.

        Raises:
            InputError: the environment has no such action.
        """
        return self.actions.raw(recorded)

    def _feasible(self, engine: ArtificialEngine) -> int:
        return int(engine.problem.feasible.sum())

    def _over(self, engine: ArtificialEngine) -> bool:
        return engine.spent >= 1.0 or engine.n_covered == self._feasible(engine)

    def _observation(self) -> Observation:
        assert self.engine is not None
        engine = self.engine
        seen = [1.0 - engine.spent]
        for kind in self.kinds:
            least = engine.least[engine.problem.columns(kind)]
            seen += [float(kind in engine.active), float(engine.covered(kind).mean()), float(least.mean())]
        return np.array(seen, dtype=np.float32)

    def _seen(self, choice: str) -> Step:
        """What there is to be shown of the step that was made."""
        assert self.engine is not None
        engine = self.engine
        return Step(
            choice,
            dict.fromkeys(engine.active, 1.0),
            {kind: (int(engine.covered(kind).sum()), self.groups[kind]) for kind in self.kinds},
            {kind: 1.0 - float(engine.least[engine.problem.columns(kind)].mean()) for kind in self.kinds},
            reward=self.rewards[-1] if self.rewards else 0.0,
            value=engine.n_covered / self._feasible(engine),
            spent=engine.spent,
            clock=f"{engine.evaluations:,} evaluations",
        )

    def _info(self) -> dict[str, Any]:
        assert self.engine is not None
        value = self.engine.n_covered / self._feasible(self.engine)
        return {
            "generation": self.engine.generation,
            "executions": self.engine.evaluations,
            "goal_value": value,
            "action_mask": self.action_masks(),
        }


def _evaluations(budget: int | str) -> int:
    """The budget as a number of evaluations.

    Raises:
        InputError: it is below 1, cannot be read, or has another unit.
    """
    if isinstance(budget, str):
        parsed = Budget.parse(budget)
        if parsed.unit != "x":
            raise InputError(f"the budget is '{budget}', expected evaluations of test cases, such as 2000x")
        return int(parsed.amount)
    if budget < 1:
        raise InputError(f"the budget is {budget}, expected at least 1 evaluation")
    return budget
