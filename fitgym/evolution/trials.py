"""Trials: runs test cases on the mutants that they infect, and adds the effects to their traces."""

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
    """Return the traces with the effects of mutants.

    Test cases with the least fuel run first, each on the mutants that it infects. A killed mutant is not run with
    further test cases. A test case that does not behave the same every time runs on no mutant.

    Args:
        testcases, traces: any number of test cases with their traces.
        infected: which mutants to run each test case on, shape `(len(traces), n_mutants)`.
        executor: runs the test cases.
        table: holds their statements.
        exhaustive: also run killed mutants with further test cases.

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
    """Return a minimal set of mutants: test cases that kill all of these kill every mutant that is killed at all.

    A killed mutant implies another one if every test case that kills it also kills the other. The set contains the
    mutants that no other mutant implies. If the same test cases kill several mutants, the set contains the first.

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
    shared = distinct.T @ distinct  # number of test cases that kill both
    implied = (shared == sizes[:, None]) & (sizes[:, None] < sizes[None, :])
    chosen[first[~implied.any(axis=0)]] = True
    return chosen
