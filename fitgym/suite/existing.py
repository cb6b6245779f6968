"""Before and after: what existing tests cover and kill alone, and together with a finished suite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fitgym.engine.choices import FITNESS
from fitgym.engine.workbench import Workbench
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.score import MutationScore

__all__ = ["before_and_after"]


def before_and_after(
    engine: Workbench, tests: Sequence[FinishedTest], score: MutationScore | None
) -> dict[str, Any] | None:
    """Return what existing tests do alone ("before") and together with a finished suite ("after"), for the record.

    Args:
        engine: the search; it has executed the finished tests.
        tests: the finished suite.
        score: the mutants that the suite kills, None if no mutants were run.

    Returns:
        A dictionary, or None without existing tests. `tests` is the number of existing tests that reach the subject.
        `branches`, `lines` and `mutants` have the numbers `before`, `after` and `total`. Branches and lines are the
        targets of the fitness functions `branch` and `line`. "after" of mutants is None if no mutants were run in the
        search. `survivor_lines` are the lines of the mutants that neither the existing tests nor the suite kill;
        `killed` are the ids of the mutants that the existing tests kill.
    """
    existing = engine.existing
    if existing is None:
        return None
    numbers: dict[str, Any] = {"tests": existing.tests}
    traces = [engine.trace(engine.table.testcase(test.statements)) for test in tests]
    for name, noun in (("branch", "branches"), ("line", "lines")):
        function = FITNESS.load(name)(engine.subject)
        before = existing.covered(function)
        after = before.copy()
        if traces:
            after[function.entries(traces).covered(len(after))[1]] = True
        numbers[noun] = {"before": int(before.sum()), "after": int(after.sum()), "total": len(before)}
    killed = {mutant.id for mutant in engine.subject.mutants} & existing.killed
    mutants = engine.subject.mutants
    both = killed.union(() if score is None else (mutant for mutant, _ in score.killed))
    numbers["mutants"] = {
        "before": len(killed),
        "after": None if score is None else len(both),
        "total": len(mutants),
        "survivor_lines": [mutant.line for mutant in mutants if mutant.id not in both],
        "killed": sorted(killed),
    }
    return numbers
