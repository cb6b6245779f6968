"""Finishing: from the best suite of a search to an exported file whose tests pass every time."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fitgym.engine import Discovery, Engine
from fitgym.suite.assertions import FinishedTest, finished_tests
from fitgym.suite.export import file_name, suite_text, write
from fitgym.suite.measure import Measured
from fitgym.suite.minimize import minimize
from fitgym.suite.stability import Dropped, stabilize
from fitgym.testcase.statement import TestCase

__all__ = ["Finished", "finish"]


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished suite.

    Attributes:
        tests: as exported, in the order of the file.
        source: the file's text, "" if no test is left.
        path: where it was written, None if it was not.
        coverage: targets covered by the exported tests, and known, for each fitness function that was ever active.
        exceptions: what the exported tests raise, each once, in the order of the file.
        measured: coverage of the exported file by coverage.py, None if no test is left.
        runs: how many clean runs in fresh interpreters it passed, all its tests.
        dropped: tests that did not behave the same every time, with the reason.
        weakened: how many assertions were dropped for that reason.
    """

    tests: tuple[FinishedTest, ...]
    source: str
    path: Path | None
    coverage: dict[str, tuple[int, int]]
    exceptions: tuple[Discovery, ...]
    measured: Measured | None
    runs: int
    dropped: tuple[Dropped, ...]
    weakened: int


def finish(
    engine: Engine,
    names: Sequence[str],
    *,
    output: Path | None = None,
    command: str = "",
    deadline: float | None = None,
) -> Finished:
    """Minimise, assert, check and export what a search has found.

    Args:
        engine: a search between two generations.
        names: the fitness functions whose targets the suite has to keep covered.
        output: folder for the file, made if it is missing; None writes nothing.
        command: repeats the run; for the header of the file.
        deadline: of `time.monotonic`; with little time left less is minimised and checked, but every exported test
            has passed at least once in a fresh interpreter.
    """

    def seconds_left() -> float:
        return math.inf if deadline is None else deadline - time.monotonic()

    engine.deadline = None
    started = time.monotonic()
    share = seconds_left() * 0.25

    def covered(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        engine.execute(testcases)
        rows = [engine.measurements.covers(name, testcases) for name in names]
        return np.concatenate(rows, axis=1) if rows else np.zeros((len(testcases), 0), dtype=bool)

    def returns(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        return np.array([engine.measurements.trace(testcase).raised is None for testcase in testcases], dtype=bool)

    kept = minimize(
        engine.best_suite(names),
        covered,
        engine.table,
        returns=returns,
        stop=lambda: time.monotonic() - started > share,
    )
    observed = list(zip(*(engine.executor.observe(kept, engine.table) for _ in range(2)), strict=True))
    before = engine.executor.observe([testcase[:-1] for testcase in kept], engine.table)
    statements = [engine.table.statements(testcase) for testcase in kept]
    made = finished_tests(statements, observed, engine.subject, before)
    tests = [test for test in made if test is not None]
    folder = None if output is None else output.resolve()

    def render(chosen: Sequence[FinishedTest]) -> str:
        return suite_text(chosen, engine.subject, folder=folder, command=command)

    stable = stabilize(tests, render, engine.subject.reference, seconds_left=seconds_left)
    testcases = [engine.table.testcase(test.statements) for test in stable.tests]
    engine.execute(testcases)
    source = render(stable.tests) if stable.tests else ""
    path = None
    if output is not None and source:
        path = output / file_name(engine.subject.reference)
        write(source, path)
    return Finished(
        stable.tests,
        source,
        path,
        engine.coverage_of(testcases),
        tuple(engine.raised_by(testcases)),
        stable.measured,
        stable.runs,
        stable.dropped,
        stable.weakened,
    )
