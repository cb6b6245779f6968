"""The cost of an exported suite: how long its tests run, how many lines, and how much memory they take."""

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
        """From the measurements; the same ones always give the same interval."""
        found = np.asarray(values, np.float64)
        drawn = np.random.default_rng(0).choice(found, (_RESAMPLES, len(found)))
        low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
        return cls(float(np.median(found)), float(low), float(high))


@dataclass(frozen=True, slots=True)
class Cost:
    """What a suite costs each time it runs.

    Attributes:
        tests: in it.
        failed: of them, in the run in which most failed.
        seconds: of wall clock in the bodies of all tests together.
        processor: the same of processor time.
        peak: bytes; the most that Python held during a test beyond what it held before, over all tests.
        resident: bytes; the most memory that the process occupied, Python and pytest included.
        lines: of Python that the tests ran, their own and pytest's not counted. They stand for time where tests take so
            little of it that what else happens decides: the same each time, on every machine, unless the code under test
            goes by chance or by the clock.
        runs: interpreters for time, and as many for memory.
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
    """Run a suite again and again, each time in a fresh interpreter.

    Time and memory are measured in turns, in runs of their own, because tracing memory takes time; lines are counted in
    one more. What pytest takes to start, to collect and to report is no part of any.

    Args:
        suite: a file of tests.
        runs: for time, and as many for memory.
        path: a folder that is searched first for the subject.
        limit_s: seconds after which a run is given up.

    Raises:
        InputError: there is no such file, it has no tests, or a run does not come to its end.

    References:
        Grano, Laaber, Panichella and Panichella 2021, Testing with Fewer Resources, section 4.3: suites repeated in fresh
        virtual machines; there a thousand times.
    """
    file = Path(suite).resolve()
    if not file.is_file():
        raise InputError(f"there is no file '{suite}': give the path of an exported suite")
    if runs < 1:
        raise InputError(f"runs is {runs}, expected at least 1")
    timed, traced = [], []
    for _ in range(runs):
        timed.append(_run(file, path, limit_s))
        traced.append(_run(file, path, limit_s, "--trace-memory"))
    counted = _run(file, path, limit_s, "--count-lines")
    if not timed[0]["tests"]:
        raise InputError(f"'{suite}' has no tests")
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
    """What the plugin `fitgym.suite.runs.spending` wrote down."""
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
            raise InputError(f"'{file}' does not end within {limit_s:g} s") from None
        if not written.exists():
            said = (done.stdout.strip() or done.stderr.strip() or "nothing").splitlines()[-1]
            raise InputError(f"'{file}' cannot be run: {said}")
        found: dict[str, float] = json.loads(written.read_text("utf-8"))
        if not found["tests"] and done.returncode not in (0, 5):
            raise InputError(f"'{file}' cannot be run: {done.stdout.strip().splitlines()[-1]}")
        return found
