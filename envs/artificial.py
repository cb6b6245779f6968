"""Artificial problems: a real search on targets that are formulas; a step takes milliseconds."""

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
        gradient: number of targets with a gradient; 0 for none.
        plateau: number of targets with a plateau.
        deceptive: number of deceptive targets.
        infeasible: number of targets that no test case covers.
        budget: number of test case evaluations, as a number or a text such as 2000x.
        actions: a catalogue, a list of combinations, or bits.
        search: search algorithm, with options after a colon.
        population: number of individuals.
        generations_per_step: number of generations per decision.
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
    A real search whose targets are formulas instead of code. There are four groups: targets with a gradient, targets
    with a plateau, deceptive targets, and infeasible targets, which no test case covers. Every few generations the
    agent chooses the groups that guide the search. It is rewarded for newly covered targets, so budget spent on
    infeasible or deceptive targets is lost.

    ## Action Space
    `Discrete(n)` over combinations of the groups with targets, `env.unwrapped.action_names`. By default these are all
    combinations, 15 for four groups. With `actions="bits"` the space is `MultiBinary(n)`, with a bit for each group.

    ## Observation Space
    `Box(0, 1, (1 + 3 n,), float32)`, `env.unwrapped.feature_names`: the share of the budget that is left, and three
    numbers for each group: whether it is active, the share of its targets that are covered, and the mean over its
    targets of the smallest distance so far.

    ## Rewards
    The targets covered in the step, as a share of the feasible targets. The rewards sum to the final share of covered
    targets, minus the share covered in the first generation, before the first action.

    ## Starting State
    Optima drawn anew for each episode, and one generation of the search under all groups. The seed of `reset`
    determines everything.

    ## Episode End
    Terminated when all feasible targets are covered or the budget is spent.

    ## Arguments
    * `gradient`, `plateau`, `deceptive`, `infeasible`: number of targets in each group; 0 omits the group.
    * `budget`: number of test case evaluations, as a number or a text such as `2000x`.
    * `actions`: a catalogue, see `fitgym.envs.catalogue`, or "bits".
    * `search`: a search algorithm, such as `mio` or `mosa:crossover=0`.
    * `population`: the number of individuals.
    * `generations_per_step`: the number of generations per decision.
    * `render_mode`: "ansi" for a line of text; "rgb_array" for a picture of 800 by 600 pixels (extra `render`); "human"
      for the terminal, after every step; "episode" for the `fitgym.rendering.episode.Episode` so far; or None.

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
        self.kinds = Problem.draw(self.groups, 0).kinds  # reports wrong numbers now rather than at the first reset
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
        """Draw a problem and start a search on it."""
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
        """Let the chosen groups guide the search for `generations_per_step` generations.

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
        """Return a line, a picture or the episode so far, depending on the render mode; None for "human"."""
        if self._display is not None:
            return self._display.view()
        if self.render_mode is None or self.engine is None:
            return None
        done = ", ".join(f"{kind} {int(self.engine.covered(kind).sum())}/{self.groups[kind]}" for kind in self.kinds)
        active = "+".join(self.engine.active)
        return f"{self.engine.evaluations} of {self.budget} evaluations, active {active}, covered {done}"

    def close(self) -> None:
        """End the display on the terminal; a second call does nothing."""
        if self._display is not None:
            self._display.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of allowed actions, shape `(n_actions,)`, two entries per bit for `MultiBinary`; all are allowed."""
        return self.actions.mask()

    def fork(self) -> Artificial:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def reseed(self, seed: int) -> None:
        """Replace the random generator; for copies that simulate future steps.

        Raises:
            ResetNeeded: no episode has begun.
        """
        if self.engine is None:
            raise ResetNeeded("no episode has begun: call reset() before reseed()")
        self.engine.reseed(seed)

    @property
    def environment(self) -> dict[str, str]:
        """The names of the action catalogue and of the features."""
        return {"catalogue": self.actions.title, "features": "artificial-v1"}

    @property
    def default_agent(self) -> str:
        """The agent that is used if the user names none."""
        return "factored_ucb" if isinstance(self.action_space, spaces.MultiBinary) else "ucb"

    @property
    def recorded_budget(self) -> str:
        """The budget as text."""
        return f"{self.budget}x"

    def action_of(self, recorded: Any) -> Any:
        """Return the element of the action space that a recorded action names.

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
        """The last step in the form that displays show."""
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
    """Parse the budget into a number of evaluations.

    Raises:
        InputError: the number is below 1, the text cannot be parsed, or its unit is not x.
    """
    if isinstance(budget, str):
        parsed = Budget.parse(budget)
        if parsed.unit != "x":
            raise InputError(f"the budget is '{budget}', expected evaluations of test cases, such as 2000x")
        return int(parsed.amount)
    if budget < 1:
        raise InputError(f"the budget is {budget}, expected at least 1 evaluation")
    return budget
