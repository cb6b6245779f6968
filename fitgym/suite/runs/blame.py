"""Blame: which tests to remove when some of a suite have failed in fresh interpreters."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.runs.rerun import Rerun, Verdict

__all__ = ["failures", "first_failures", "suspects", "without_victims"]

VICTIMS = 3  # fewest tests that fail after a suspect

_BREAKS_OTHERS = Verdict(False, (), "other tests fail after it")
_MISSING = Verdict(False, (), "it was not run")


def failures(reruns: Sequence[Rerun]) -> dict[str, Verdict]:
    """Return the failed tests with their verdicts; failed assertions of several runs are combined."""
    found: dict[str, Verdict] = {}
    for rerun in reruns:
        for name, verdict in rerun.verdicts.items():
            if verdict.passed:
                continue
            known = found.get(name)
            if known is None:
                found[name] = verdict
            elif known.assertions and verdict.assertions:
                found[name] = Verdict(False, tuple(sorted({*known.assertions, *verdict.assertions})), known.error)
            else:
                found[name] = verdict if not verdict.assertions else known
    return found


def without_victims(
    failures: dict[str, Verdict], reruns: Sequence[Rerun], tests: Sequence[FinishedTest]
) -> dict[str, Verdict]:
    """Return the failures without tests that may pass once others are removed.

    If two tests conflict (both register the same name), the second one fails in either order, and removing both would
    be one too many. Therefore tests that failed only in some runs are kept as long as others failed in all runs. If
    none did, the failures of the run that loses the fewest statements are removed.
    """
    hard = {name for name, verdict in failures.items() if not verdict.assertions}
    failed = [{name for name in hard if name in rerun.verdicts and not rerun.verdicts[name].passed} for rerun in reruns]
    blamed = set.intersection(*failed) if failed else set()
    if not blamed:
        size = {test.name: len(test.statements) for test in tests}
        blamed = min((one for one in failed if one), key=lambda one: sum(size.get(n, 0) for n in one), default=hard)
    return {name: verdict for name, verdict in failures.items() if name not in hard or name in blamed}


def suspects(reruns: Sequence[Rerun], most: int) -> dict[str, Verdict]:
    """Return tests that pass and may break others: in some run, several fail after them that pass in another run.

    A test that changes a class or a module for all later ones fails in no order. The last ones that passed before the
    others failed are suspected: at most `most`, and fewer than there are others.
    """
    found: dict[str, Verdict] = {}
    broken = {name for rerun in reruns for name, verdict in rerun.verdicts.items() if not verdict.passed}
    for rerun in reruns:
        victims = [
            name
            for name, verdict in rerun.verdicts.items()
            if not verdict.passed
            and not verdict.assertions
            and any(other.verdicts.get(name, _MISSING).passed for other in reruns)
        ]
        if len(victims) < VICTIMS:
            continue
        order = list(rerun.verdicts)
        before = [name for name in order[: order.index(victims[0])] if name not in broken]
        if most == 1 or len(before) < len(victims):
            found |= dict.fromkeys(before[-most:], _BREAKS_OTHERS)
    return found


def first_failures(failures: dict[str, Verdict], reruns: Sequence[Rerun]) -> dict[str, Verdict]:
    """Return the first failure of each run, which no other failed test can have caused.

    Used when all tests fail: two tests that break all later ones make every test fail, one in each order.
    """
    failed = [[name for name, verdict in rerun.verdicts.items() if not verdict.passed] for rerun in reruns]
    return {name: failures[name] for names in failed for name in names[:1]}
