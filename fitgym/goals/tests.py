"""The goal of a suite that a maintainer keeps: it covers, and it notices mistakes."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.goals.base import Goal

__all__ = ["Tests"]


class Tests(Goal):
    """Cover the branches, and kill the mutants.

    The value is the mean of two shares, in [0, 1]: the branch targets that the archive covers, and the mutants that its
    test cases kill. It is what `fitgym generate` pursues when nobody names a goal. The rewards `paper` and `released` are
    that level; no paper has this goal.

    Running a test case on mutants costs far more than running it, so nothing is run on them before an action has
    `strong_mutation`; until then no mutant counts as killed. Test cases of the archive and the population are run on
    mutants then, and from there on all new ones. When to begin is the agent's decision. The default agent, `in_turn`,
    covers branches as long as their number grows, and goes on with branches and mutants together.

    The final suite keeps branches and lines covered, and mutants killed.

    References:
        Fraser and Zeller 2012, Mutation-Driven Generation of Unit Tests and Oracles: tests are worth what they kill.
        Fraser and Arcuri 2015, Achieving Scalable Mutation-Based Generation of Whole Test Suites: coverage first, because
        no mutant is killed that is not reached.
    """

    __test__ = False  # its name makes pytest look for tests in it

    fitness = "branch"
    kept = ("branch", "line", "strong_mutation")
    late = ("strong_mutation",)
    functions = ("branch", "strong_mutation", "weak_mutation", "line", "direct_branch", "exception", "output", "input")
    agent = "in_turn:branch,branch+strong_mutation"
    search = "mosa"
    unit = 0.01
    highest = 1.0
    paper_range = released_range = (0.0, 1.0)

    def value(self, engine: Queries) -> float:
        return (_share(engine, "branch") + _share(engine, "strong_mutation")) / 2.0

    def reached(self, engine: Queries) -> bool:
        return self.value(engine) >= 1.0


def _share(engine: Queries, name: str) -> float:
    """Of the targets that are known, those covered; 0 as long as nobody looks at them."""
    if not engine.measures(name):
        return 0.0
    covered = engine.covered(name)
    return float(covered.mean()) if covered.size else 1.0
