"""Finishing with a real worker: random tests become a passing suite with the same coverage."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from shelf_subject import GOLDEN

from fitgym.execution.executor import Executor
from fitgym.fitness._recorded import recorded_counts
from fitgym.subject.source import locate
from fitgym.suite.assertions import finished_tests
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.reduction.minimize import minimize
from fitgym.suite.runs.measure import measure
from fitgym.suite.runs.stability import stabilize
from fitgym.suite.text.export import suite_text, write
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.statement import StatementTable, TestCase


def test_random_tests_become_a_suite_that_anyone_can_run(tmp_path: Path) -> None:
    reference = locate(str(GOLDEN / "shelf.py"))
    table = StatementTable()
    rng = np.random.default_rng(5)
    with Executor(reference) as executor:
        factory = TestFactory(executor.subject, table)
        candidates = [factory.random_test(rng) for _ in range(300)]

        def covered(testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
            traces = executor.run(testcases, table)
            return recorded_counts(executor.subject, traces) > 0

        def outcomes(testcases: Sequence[TestCase]) -> list[str | None]:
            return [None if t.raised is None else t.raised.type for t in executor.run(testcases, table)]

        kept = minimize(candidates, covered, table, outcomes=outcomes)
        assert (covered(kept).any(axis=0) == covered(candidates).any(axis=0)).all()
        assert len(kept) < 30
        seen = list(zip(executor.observe(kept, table), executor.observe(kept, table), strict=True))
        before = executor.observe([testcase[:-1] for testcase in kept], table)
        subject = executor.subject
    made = finished_tests([table.statements(testcase) for testcase in kept], seen, subject, before)
    tests = [test for test in made if test is not None]
    assert len(tests) == len(kept)

    def render(chosen: Sequence[FinishedTest]) -> str:
        return suite_text(chosen, subject, folder=tmp_path)

    stable = stabilize(tests, render, reference, runs=2)
    assert (len(stable.tests), stable.weakened, stable.dropped) == (len(kept), 0, ())
    assert all(test.assertions or test.raises for test in stable.tests)
    file = tmp_path / "test_shelf.py"
    write(render(stable.tests), file)

    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(file)]
    done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, timeout=60)
    assert f"{len(kept)} passed" in done.stdout, done.stdout
    assert measure(file, reference) == stable.measured
    assert stable.measured is not None and stable.measured.branch_coverage >= 0.75
