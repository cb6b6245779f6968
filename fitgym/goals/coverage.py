"""The goal of branch coverage."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.goals.base import Goal

__all__ = ["Coverage"]


class Coverage(Goal):
    """Cover as many branches as possible.

    The value is the share of branch targets that the archive covers, in [0, 1]. The targets are both outcomes of every
    decision, and the entry of every function. The rewards `paper` and `released` are this value.

    The final suite also keeps the lines covered, because exception handlers are not branches. And it keeps the mutants
    infected (`weak_mutation`), because a branch can be covered without the value at its boundary: `size < 1024` is true
    for 0 and false for 2000, and only 1024 shows a `<=`.

    The fitness function of branch coverage guides the search well by itself, so the default agent is `fixed:branch`.
    The goal serves as the baseline of current practice. It also shows whether choosing functions helps where it should
    not be necessary. `fitgym generate` searches with `mosa`: over 42 subjects and three seeds it covered 1.4 percentage
    points more branches than `whole_suite` (95 % interval 0.6 to 2.4, Holm-adjusted p = 0.002;
    `benchmarks/searches/table.md`).
    """

    fitness = "branch"
    kept = ("branch", "line", "weak_mutation")
    functions = ("branch", "direct_branch", "line", "method", "method_no_exception", "exception", "output", "input")
    agent = "fixed:branch"
    search = "mosa"
    unit = 0.01
    highest = 1.0
    paper_range = released_range = (0.0, 1.0)

    def value(self, engine: Queries) -> float:
        covered = engine.covered(self.fitness)
        return float(covered.mean()) if covered.size else 1.0

    def reached(self, engine: Queries) -> bool:
        return self.value(engine) >= 1.0
