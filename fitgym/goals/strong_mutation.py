"""The goal of killing mutants."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.goals.base import REWARDS, Goal

__all__ = ["StrongMutation"]

_SCORES = ("strong_mutation", "weak_mutation")


class StrongMutation(Goal):
    """Kill as many mutants as possible.

    The value is the share of mutants killed by test cases of the archive, in [0, 1]. During the search, a test case
    kills a mutant if an assertion on any of its observable results would fail. The record of a finished suite counts
    again, with the assertions that its tests contain. The rewards are

        paper   the rise of a mutation score in percentage points since its last evaluation; steps alternate between the
        score of strong mutation (mutants killed) and that of weak mutation (mutants infected)

    and the others use strong mutation only. The released code has no reward for this goal, so `released` is `paper`.
    The paper alternates to save the time of the strong score. Here both scores are always available, so alternating
    saves nothing; the reward is kept as published.

    References:
        Almulla and Gay 2022, Learning How to Search: Generating Effective Test Cases Through Adaptive Fitness Function
        Selection, section 3.4.3: the reward, and the six functions that 31 actions combine.
    Differs from the paper: the scores are those of the archive, not of the best suite of the population, because a
    mutant that the archive kills is not run any more.
    """

    fitness = "strong_mutation"
    kept = ("strong_mutation",)
    tracked = ("weak_mutation",)
    functions = ("strong_mutation", "branch", "output", "exception", "method_no_exception", "weak_mutation")
    catalogue = "paper-mutation"
    unit = 0.01
    highest = 1.0
    paper_range = released_range = (0.0, 100.0)

    def __init__(self, reward: str = REWARDS[0]) -> None:
        super().__init__(reward)
        self._scores = [0.0, 0.0]
        self._turn = 0

    def value(self, engine: Queries) -> float:
        return _score(engine, "strong_mutation")

    def begin(self, engine: Queries) -> None:
        super().begin(engine)
        self._scores = [100.0 * _score(engine, name) for name in _SCORES]
        self._turn = 0

    def paper_reward(self, engine: Queries) -> float:
        turn, self._turn = self._turn, 1 - self._turn
        score = 100.0 * _score(engine, _SCORES[turn])
        reward, self._scores[turn] = score - self._scores[turn], score
        return reward

    def reached(self, engine: Queries) -> bool:
        return self.value(engine) >= 1.0


def _score(engine: Queries, name: str) -> float:
    covered = engine.covered(name)
    return float(covered.mean()) if covered.size else 1.0
