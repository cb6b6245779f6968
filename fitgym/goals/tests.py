"""The goal of a maintainable test suite: it covers branches and kills mutants."""

from __future__ import annotations

from fitgym.engine.queries import Queries
from fitgym.goals.base import Goal

__all__ = ["Tests"]


class Tests(Goal):
    """Cover the branches, and kill the mutants.

    The value is the mean of two shares, in [0, 1]: the branch targets that the archive covers, and the mutants that its
    test cases kill. It is the default goal of `fitgym generate`. The rewards `paper` and `released` are this value; no
    paper has this goal.

    Running a test case on mutants costs much more than running it on the original code. No mutant is therefore run
    before an action contains `strong_mutation`, and until then no mutant counts as killed. From then on, the test cases
    of the archive and the population, and all new ones, run on mutants. The agent decides when to start. The default
    agent, `in_turn`, covers branches as long as their number grows, then continues with branches and mutants together.

    The final suite keeps branches and lines covered, mutants infected, and mutants killed. Infection is recorded from the
    start, so that boundary values are kept even if there is no time to run a mutant. Tests that check nothing, or that
    record an accident such as the attribute of a None, are left out unless they alone take a branch.

    References:
        Fraser and Zeller 2012, Mutation-Driven Generation of Unit Tests and Oracles: the mutants that tests kill
        measure their quality.
        Fraser and Arcuri 2015, Achieving Scalable Mutation-Based Generation of Whole Test Suites: coverage first,
        because a mutant must be reached before it can be killed.
    """

    __test__ = False  # otherwise pytest collects the class because of its name

    fitness = "branch"
    kept = ("branch", "line", "weak_mutation", "strong_mutation")
    late = ("strong_mutation",)
    functions = ("branch", "strong_mutation", "weak_mutation", "line", "direct_branch", "exception", "output", "input")
    agent = "in_turn:branch,branch+strong_mutation"
    search = "mosa"
    unit = 0.01
    highest = 1.0
    checking = True
    paper_range = released_range = (0.0, 1.0)

    def value(self, engine: Queries) -> float:
        return (_share(engine, "branch") + _share(engine, "strong_mutation")) / 2.0

    def reached(self, engine: Queries) -> bool:
        return self.value(engine) >= 1.0


def _share(engine: Queries, name: str) -> float:
    """Return the share of covered targets; 0 while the function is not measured."""
    if not engine.measures(name):
        return 0.0
    covered = engine.covered(name)
    return float(covered.mean()) if covered.size else 1.0
