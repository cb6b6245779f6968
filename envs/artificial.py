"""Artificial problems as an environment: a real search on targets that are formulas, milliseconds for each step."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.artificial import KINDS, ArtificialEngine, Problem
from fitgym.engine import parse_search
from fitgym.envs.action_form import action_form
from fitgym.errors import InputError, ResetNeeded
from fitgym.rendering.display import MODES, display
from fitgym.rendering.episode import Episode, Step

__all__ = ["Artificial"]

Observation = NDArray[np.float32]


class Artificial(gymnasium.Env[Observation, np.int64]):
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
    * `budget`: evaluations of test cases.
    * `actions`: a catalogue, see `fitgym.envs.catalogue`, or "bits".
    * `search`: a search algorithm, such as `mio` or `mosa:crossover=0`.
    * `population`: number of its individuals.
    * `generations_per_step`: for how many a decision holds.
    * `render_mode`: "ansi", a line; "rgb_array", a picture of 800 by 600 pixels (extra `render`); "human", the terminal,
      after every step; or None.

    ## References
    Arcuri 2017, Many Independent Objective (MIO) Algorithm for Test Suite Generation, section 4.1: the problems.

    ## Version History
    * v0: initial version.
    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 4}  # noqa: RUF012  (Gymnasium declares it so)

    def __init__(
        self,
        *,
        gradient: int = 10,
        plateau: int = 10,
        deceptive: int = 5,
        infeasible: int = 20,
        budget: int = 2000,
        actions: str | Sequence[str] = "upto:4",
        search: str = "whole_suite",
        population: int = 10,
        generations_per_step: int = 3,
        render_mode: str | None = None,
    ) -> None:
        self.groups = dict(zip(KINDS, (gradient, plateau, deceptive, infeasible), strict=True))
        self.kinds = Problem.draw(self.groups, 0).kinds  # refused here rather than at the first reset
        if self.kinds == ("infeasible",):
            raise InputError("all targets are infeasible, so there is nothing to reach: give one of another group")
        if actions == "weights":
            raise InputError("the groups have no weights: use a catalogue such as upto:4, or bits")
        if budget < 1:
            raise InputError(f"the budget is {budget}, expected at least 1 evaluation")
        if generations_per_step < 1:
            raise InputError(f"generations_per_step is {generations_per_step}, expected at least 1")
        parse_search(search)
        self.form = action_form(actions, self.kinds)
        self.action_names = self.form.names
        self.feature_names = (
            "remaining",
            *(f"{what}_{k}" for k in self.kinds for what in ("active", "covered", "least")),
        )
        self.budget = budget
        self.search = search
        self.population = population
        self.generations_per_step = generations_per_step
        self.render_mode = render_mode
        self._display = display(render_mode)
        self.action_space = self.form.space
        self.observation_space = spaces.Box(0.0, 1.0, (len(self.feature_names),), np.float32)
        self.engine: ArtificialEngine | None = None
        self.seed: int | None = None
        self._taken: list[str] = []
        self._rewards: list[float] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Draw a problem and begin a search on it."""
        super().reset(seed=seed)
        self.seed = int(self.np_random.integers(2**31))
        self.engine = ArtificialEngine(
            Problem.draw(self.groups, self.seed),
            search=self.search,
            seed=self.seed,
            population=self.population,
            budget=self.budget,
        )
        self.engine.step()
        self._taken, self._rewards = [], []
        if self._display is not None:
            setting = f"search {self.search} · seed {self.seed}"
            episode = Episode("artificial problems", setting, self.kinds, (self._seen(""),))
            self._display.begin(episode)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let the chosen groups guide the search for some generations.

        Raises:
            ResetNeeded: the episode has ended, or none has begun.
        """
        engine = self.engine
        if engine is None or (self._taken and self._over(engine)):
            raise ResetNeeded("the episode has ended: call reset() before the next step()")
        chosen = self.form.read(action)
        if chosen.functions:
            engine.activate(chosen.functions)
        before = engine.n_covered
        for _ in range(self.generations_per_step):
            engine.step()
        reward = (engine.n_covered - before) / self._feasible(engine)
        self._taken.append(chosen.name)
        self._rewards.append(reward)
        if self._display is not None:
            ended = "" if not self._over(engine) else "budget spent" if engine.spent >= 1.0 else "all covered"
            self._display.follow(self._seen(chosen.label), ended=ended)
        return self._observation(), reward, self._over(engine), False, self._info()

    def render(self) -> Any:
        """A line or a picture of the running search, as the render mode says; None for "human", which shows each step."""
        if self._display is not None:
            return self._display.picture()
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
        return self.form.mask()

    def fork(self) -> Artificial:
        """An independent copy in the same state."""
        return copy.deepcopy(self)

    def record(self) -> dict[str, Any]:
        """What is needed to repeat the episode, and what it gave, as JSON-ready values."""
        return {
            **self.groups,
            "budget": self.budget,
            "search": self.search,
            "population": self.population,
            "seed": self.seed,
            "actions": list(self._taken),
            "rewards": list(self._rewards),
        }

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
            reward=self._rewards[-1] if self._rewards else 0.0,
            value=engine.n_covered / self._feasible(engine),
            spent=engine.spent,
            clock=f"{engine.evaluations:,} evaluations",
        )

    def _info(self) -> dict[str, Any]:
        assert self.engine is not None
        value = self.engine.n_covered / self._feasible(self.engine)
        return {"generation": self.engine.generation, "goal_value": value, "action_mask": self.action_masks()}
