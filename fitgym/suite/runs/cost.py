"""The cost of an exported suite: run time, executed lines and memory of its tests."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fitgym.errors import InputError
from fitgym.sandbox.bound import bound
from fitgym.sandbox.folder import Folder

__all__ = ["Cost", "Quantity", "cost"]

_RESAMPLES = 2000
_ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True, slots=True)
class Quantity:
    """The median of repeated measurements, with the ends of its 95 % bootstrap interval."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Quantity:
        """Compute the median and interval of measurements; deterministic, because resampling uses a fixed seed."""
        found = np.asarray(values, np.float64)
        drawn = np.random.default_rng(0).choice(found, (_RESAMPLES, len(found)))
        low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
        return cls(float(np.median(found)), float(low), float(high))


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run of a suite.

    Attributes:
        tests: number of tests.
        failed: number of failed tests, in the run with the most failures.
        seconds: wall time in the bodies of all tests together.
        processor: processor time in the bodies of all tests together.
        peak: bytes; the largest increase of Python's memory during a test, over all tests.
        resident: bytes; the largest resident memory of the process, including Python and pytest.
        lines: executed lines of Python, without those of the tests and pytest. Use them instead of time for tests that
            are too fast to be timed: unless the code under test depends on chance or the clock, they are the same each
            time, on every machine.
        runs: number of interpreters for time, and again for memory.
    """

    tests: int
    failed: int
    seconds: Quantity
    processor: Quantity
    peak: Quantity
    resident: Quantity
    lines: int
    runs: int


def cost(suite: str | Path, *, runs: int = 15, path: str | Path | None = None, limit_s: float = 120.0) -> Cost:
    """Run a suite repeatedly, each time in a fresh interpreter.

    Time and memory are measured in separate, alternating runs, because tracing memory takes time; lines are counted in
    one more run. Start, collection and reporting of pytest are excluded.

    Args:
        suite: a test file.
        runs: number of runs for time, and again for memory.
        path: folder to search first for the subject.
        limit_s: time limit of one run, in seconds.

    Raises:
        InputError: the file does not exist, it has no tests, or a run does not finish.

    References:
        Grano, Laaber, Panichella and Panichella 2021, Testing with Fewer Resources, section 4.3: suites repeated in
        fresh virtual machines; there a thousand times.
    """
    file = Path(suite).resolve()
    if not file.is_file():
        raise InputError(f"there is no file '{suite}'; expected the path of an exported suite")
    if runs < 1:
        raise InputError(f"runs is {runs}; expected at least 1")
    timed, traced = [], []
    for _ in range(runs):
        timed.append(_run(file, path, limit_s))
        traced.append(_run(file, path, limit_s, "--trace-memory"))
    counted = _run(file, path, limit_s, "--count-lines")
    if not timed[0]["tests"]:
        raise InputError(f"'{suite}' has no tests; expected a file with test functions")
    return Cost(
        int(timed[0]["tests"]),
        int(max(run["failed"] for run in (*timed, *traced))),
        Quantity.of([run["seconds"] for run in timed]),
        Quantity.of([run["processor"] for run in timed]),
        Quantity.of([run["peak"] for run in traced]),
        Quantity.of([run["resident"] for run in timed]),
        int(counted["lines"]),
        runs,
    )


def _run(file: Path, path: str | Path | None, limit_s: float, *more: str) -> dict[str, float]:
    """Run pytest once and return the values written by the plugin `fitgym.suite.runs.spending`."""
    with Folder() as folder:
        written = Path(folder, "spending.json")
        command = bound("pytest", "-q", "-p", "no:cacheprovider", "-p", "fitgym.suite.runs.spending")
        before = [str(Path(path).resolve())] if path is not None else []
        search = os.pathsep.join([*before, str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH", "")])])
        environment = {**os.environ, "PYTHONPATH": search, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                [*command, "--rootdir", folder, "--spending", str(written), *more, str(file)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=limit_s,
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"'{file}' did not finish within {limit_s:g} s") from None
        if not written.exists():
            said = (done.stdout.strip() or done.stderr.strip() or "nothing").splitlines()[-1]
            raise InputError(f"'{file}' cannot be run: {said}")
        found: dict[str, float] = json.loads(written.read_text("utf-8"))
        if not found["tests"] and done.returncode not in (0, 5):
            raise InputError(f"'{file}' cannot be run: {done.stdout.strip().splitlines()[-1]}")
        return found
