"""Trials: test cases are run on the mutants that they infect, and their traces say what came of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fitgym.execution.executor import Executor
from fitgym.fitness.base import Mask
from fitgym.instrument.trace import Trace
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["minimal", "tried"]


def tried(
    testcases: Sequence[TestCase],
    traces: Sequence[Trace],
    infected: Mask,
    executor: Executor,
    table: StatementTable,
    *,
    exhaustive: bool = False,
) -> list[Trace]:
    """The traces with the effects of mutants.

    A test case is run on the mutants that it infects, those that burn least fuel first; a mutant that one of them has
    killed is not run with the others. A test case that does not show the same every time is run on none.

    Args:
        testcases, traces: any number of test cases with their traces.
        infected: on which mutants to run each test case, shape `(len(traces), n_mutants)`.
        executor: runs them.
        table: holds their statements.
        exhaustive: mutants that are killed go on being run.

    Raises:
        OutOfBudget: the deadline passed.
    """
    found = list(traces)
    rows = [row for row in np.flatnonzero(infected.any(axis=1)).tolist() if not traces[row].failure]
    if not rows:
        return found
    rows.sort(key=lambda row: (traces[row].fuel, row))
    shown = executor.expect([testcases[row] for row in rows], [traces[row] for row in rows], table)
    expected = {testcases[row]: one for row, one in zip(rows, shown, strict=True) if one is not None}
    owners: list[int] = []
    trials: list[tuple[TestCase, int]] = []
    for row in rows:
        if testcases[row] in expected:
            numbers = np.flatnonzero(infected[row]).tolist()
            owners += [row] * len(numbers)
            trials += [(testcases[row], number) for number in numbers]
    effects: dict[int, dict[int, float]] = {}
    results = executor.kill(trials, expected, table, exhaustive=exhaustive)
    for row, (_, number), effect in zip(owners, trials, results, strict=True):
        if effect is not None:
            effects.setdefault(row, {})[number] = math.inf if effect.killed else effect.impact
    for row, impacts in effects.items():
        plain = traces[row]
        found[row] = replace(plain, effects=tuple(sorted(impacts.items())), plain=plain)
    return found


def minimal(kills: Mask) -> Mask:
    """The mutants that no other mutant implies: whoever kills all of these kills every mutant that anyone kills.

    A mutant implies another one if it is killed by somebody and the other one by all who kill it. Of several that are
    killed by the same test cases the first is taken.

    Args:
        kills: which test case kills which mutant, shape `(n_testcases, n_mutants)`.

    References:
        Ammann, Delamaro and Offutt 2014, Establishing Theoretical Minimal Sets of Mutants: dynamic subsumption.
    """
    chosen = np.zeros(kills.shape[1], dtype=bool)
    if not kills.size:
        return chosen
    distinct, first = np.unique(kills, axis=1, return_index=True)
    killed = distinct.any(axis=0)
    distinct, first = distinct[:, killed].astype(np.int64), first[killed]
    sizes = distinct.sum(axis=0)
    shared = distinct.T @ distinct  # how many test cases kill both
    implied = (shared == sizes[:, None]) & (sizes[:, None] < sizes[None, :])
    chosen[first[~implied.any(axis=0)]] = True
    return chosen
