"""aDynaMOSA: DynaMOSA that prefers test cases with low cost in time and memory unless coverage stagnates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from fitgym.evolution.individual import Individual
from fitgym.evolution.proxies import performance_heuristic
from fitgym.fitness.base import Floats
from fitgym.search.base import Covering, Evaluation, Variation
from fitgym.search.dynamosa import DynaMOSA

__all__ = ["ADynaMOSA"]

PERFORMANCE, CROWDING = "performance", "crowding"


class ADynaMOSA(DynaMOSA):
    """DynaMOSA with performance proxies (`fitgym.evolution.proxies`) in two places.

    Of two test cases that cover a target, the archive keeps the one with the lower performance score. Within a front,
    DynaMOSA prefers the test cases with the largest distance to the others; aDynaMOSA prefers the cheap ones, unless
    the search stagnates. A generation stagnates if none of its offspring is nearer to any target than the population
    was. Each of the two heuristics has a counter:

        stagnation       the counter of the last heuristic goes up; performance if its counter is not the larger one
        no stagnation    the counter of the last heuristic goes to 0, and it is kept

    The search begins with performance. The preference criterion is that of DynaMOSA.

    Args:
        factory, archive, rng, population, ...: as for `mosa`.
        adaptive: False always uses performance; the paper reports the cost of that.
        hysteresis: as in the released code, switch to crowding only if the counter of performance is larger by two.
            Between the two thresholds the last heuristic stays.

    References:
        Grano, Laaber, Panichella and Panichella 2021, Testing with Fewer Resources: An Adaptive Approach to
        Performance-Aware Test Case Generation, section 3.3, algorithms 1 and 2.

    Differs from the released code: there a test case must also be shorter to replace another one in the archive, and
    stagnation is judged by the best values of all time.
    """

    archives_by: ClassVar[str | None] = "performance"

    def __init__(
        self,
        factory: Variation,
        archive: Covering,
        rng: np.random.Generator,
        *,
        adaptive: bool = True,
        hysteresis: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(factory, archive, rng, **options)
        self.adaptive = adaptive
        self.hysteresis = hysteresis
        self.heuristic = PERFORMANCE
        self.counters = {PERFORMANCE: 0, CROWDING: 0}

    def tell(self, evaluation: Evaluation) -> None:
        if self.population and self.adaptive:
            self._switch(self._stagnates(evaluation))
        super().tell(evaluation)

    def _stagnates(self, evaluation: Evaluation) -> bool:
        """Return whether no offspring is nearer to any target than the whole population."""
        before = self._objectives([one.testcases[0] for one in self.population], evaluation)
        after = self._objectives([one.testcases[0] for one in self._offspring], evaluation)
        return not bool((after.min(axis=0, initial=np.inf) < before.min(axis=0, initial=np.inf)).any())

    def _switch(self, stagnates: bool) -> None:
        """Choose the heuristic of this generation."""
        counters = self.counters
        if not stagnates:
            counters[self.heuristic] = 0
            return
        counters[self.heuristic] += 1
        ahead = counters[PERFORMANCE] - counters[CROWDING]
        if ahead <= 0:
            self.heuristic = PERFORMANCE
        elif ahead > self.hysteresis:
            self.heuristic = CROWDING

    def _apart(self, values: Floats, front: Sequence[Individual], evaluation: Evaluation) -> Floats:
        if self.heuristic == CROWDING:
            return super()._apart(values, front, evaluation)
        return performance_heuristic(evaluation.proxies([one.testcases[0] for one in front]))
