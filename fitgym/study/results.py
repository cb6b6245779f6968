"""Results: the records of a study aggregated by arm, in memory that does not grow with the length of the runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.study.plan import Plan
from fitgym.study.statistics import time_to
from fitgym.study.trials.base import Trial, trials

__all__ = ["Choices", "Curve", "Reach", "Results"]

Floats = NDArray[np.float64]

GRID = np.linspace(0.01, 1.0, 100)
"""Shares of the length of a run at which curves are sampled."""

PHASES = 10
"""Number of parts of equal length into which a run is divided to count choices."""


@dataclass
class Choices:
    """The choices of an agent.

    Attributes:
        times: count of each action, over all runs.
        phases: counts of each action by part of the run, `PHASES` of them.
        first: number of choices that were the first of their action in a run.
    """

    times: Counter[str] = field(default_factory=Counter)
    phases: dict[str, Floats] = field(default_factory=dict)
    first: int = 0

    def add(self, actions: list[str]) -> None:
        """Add the choices of one run, in order."""
        self.first += len(set(actions))
        for step, action in enumerate(actions):
            self.times[action] += 1
            counts = self.phases.setdefault(action, np.zeros(PHASES))
            counts[step * PHASES // len(actions)] += 1.0

    def same(self, other: Choices) -> bool:
        """Return whether the same actions were chosen equally often in the same parts of the runs."""
        return self.times == other.times and all(
            np.array_equal(counts, other.phases[action]) for action, counts in self.phases.items()
        )


@dataclass(frozen=True, slots=True)
class Curve:
    """The course of a quantity during the runs of an arm, at the shares `GRID` of their length.

    Attributes:
        middle: the median over the runs.
        low, high: the quartiles.
    """

    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Reach:
    """How soon the runs of an arm reach the final level of the baseline's runs.

    Attributes:
        curve: share of the runs that have reached it, at the shares `GRID` of their length.
        median: share of the length at which half of the runs have reached it, infinite if fewer than half ever do.
        runs: number of runs of the arm.
        reached: number of runs that have reached it at their end.
    """

    curve: Floats
    median: float
    runs: int
    reached: int


class Results:
    """The results of a study.

    Args:
        plan: of the study.
        records: of the runs that have ended, see `fitgym.study.cell`.

    Attributes:
        plan: as given.
        measures: by measure and arm, an array with a row for each subject and a column for each seed; NaN without a
            result.
        choices: by arm, for trials with choices.
        seconds: by arm and activity, a value for each run.
        generation_ms: by arm the milliseconds per generation, a value for each run that records it.
        failures: arm, subject, seed and reason of each failed run.
        versions: of fitgym and Python that made the records.
        ended: number of runs that have a record.
    """

    def __init__(self, plan: Plan, records: Iterable[Mapping[str, Any]]) -> None:
        self.plan = plan
        self.arms = tuple(arm.name for arm in plan.arms)
        self.measures: dict[str, dict[str, Floats]] = {}
        self.choices: dict[str, Choices] = {}
        self.seconds: dict[str, dict[str, list[float]]] = {arm: defaultdict(list) for arm in self.arms}
        self.generation_ms: dict[str, list[float]] = {arm: [] for arm in self.arms}
        self.failures: list[tuple[str, str, int, str]] = []
        self.versions: set[str] = set()
        self.ended = 0
        self._curves: dict[str, dict[str, list[tuple[str, Floats]]]] = {}
        self._rows = {subject: row for row, subject in enumerate(plan.subjects)}
        self._columns = {seed: column for column, seed in enumerate(plan.seeds)}
        for record in records:
            self._add(record)

    def _add(self, record: Mapping[str, Any]) -> None:
        arm, subject, seed = record["arm"], record["subject"], record["seed"]
        self.ended += 1
        self.versions.add(f"fitgym {record['fitgym_version']} on Python {record['python']}")
        if record["error"]:
            self.failures.append((arm, subject, seed, record["error"]))
            return
        for name, value in record["measures"].items():
            self._of(name)[arm][self._rows[subject], self._columns[seed]] = value
        for name, value in record["seconds"].items():
            self.seconds[arm][name].append(value)
        if "generations" in record["measures"] and "run" in record["seconds"]:
            self.generation_ms[arm].append(1e3 * record["seconds"]["run"] / max(1.0, record["measures"]["generations"]))
        series = record["series"]
        if "action" in series:
            self.choices.setdefault(arm, Choices()).add(series["action"])
        for name in ("value", "reward", "covered"):
            if series.get(name):
                self._curves.setdefault(name, {}).setdefault(arm, []).append((subject, _read(series[name], series)))

    def _of(self, measure: str) -> dict[str, Floats]:
        if measure not in self.measures:
            shape = len(self.plan.subjects), len(self.plan.seeds)
            self.measures[measure] = {arm: np.full(shape, np.nan) for arm in self.arms}
        return self.measures[measure]

    @property
    def metric(self) -> dict[str, Floats]:
        """The metric of the plan, by arm."""
        return self._of(self.plan.metric)

    @property
    def larger_is_better(self) -> bool:
        """Whether larger values of the metric are better."""
        return self._kind.metrics[self.plan.metric]

    @property
    def likelihood(self) -> bool:
        """Whether the metric is 0 or 1."""
        return self.plan.metric in self._kind.likelihoods

    @property
    def _kind(self) -> type[Trial]:
        return trials().load(self.plan.trial)

    @property
    def complete(self) -> bool:
        """Whether every run of the plan has ended."""
        return self.ended == len(self.plan.cells())

    def centres(self) -> dict[str, Floats]:
        """Return the metric by arm, one number for each subject, NaN if no run has a result.

        The number is the median over the seeds; for a metric of 0 or 1, the mean.
        """
        middle = np.mean if self.likelihood else np.median
        return {arm: _centres(values, middle) for arm, values in self.metric.items()}

    def reaches(self) -> dict[str, Reach]:
        """Return how soon each arm reaches the level of the baseline.

        The level on each subject is the median of the final values of the baseline's runs, or of all arms without a
        baseline. The result is empty if the runs do not record the course of the metric.
        """
        first = next(iter(self._kind.metrics))
        by_arm = self._curves.get(self._kind.course, {}) if self.plan.metric == first else {}
        ends: dict[str, list[float]] = defaultdict(list)
        for arm, runs in by_arm.items():
            if arm == self.plan.baseline or not self.plan.baseline:
                for subject, values in runs:
                    ends[subject].append(float(values[-1]))
        levels = {subject: float(np.median(found)) for subject, found in ends.items()}
        found = {}
        for arm, runs in by_arm.items():
            there = np.array([values >= levels[subject] for subject, values in runs if subject in levels], np.float64)
            if there.size:
                there = np.maximum.accumulate(there, axis=1)  # a goal such as diversity can decrease
                median, reached = time_to(1.0, [GRID] * len(there), list(there))
                found[arm] = Reach(there.mean(axis=0), median, len(there), reached)
        return found

    def curves(self, name: str) -> dict[str, Curve]:
        """Return the course of a quantity by arm, as a share of its maximum over all runs on the same subject.

        Empty if the runs do not record it.
        """
        by_arm = self._curves.get(name, {})
        most: dict[str, float] = defaultdict(float)
        for runs in by_arm.values():
            for subject, values in runs:
                most[subject] = max(most[subject], float(values.max()))
        found = {}
        for arm, runs in by_arm.items():
            shares = np.array([values / (most[subject] or 1.0) for subject, values in runs])
            low, middle, high = np.quantile(shares, [0.25, 0.5, 0.75], axis=0)
            found[arm] = Curve(middle, low, high)
        return found


def _centres(values: Floats, middle: Callable[[Floats], Any]) -> Floats:
    found = np.full(len(values), np.nan)
    for row, runs in enumerate(values):
        there = runs[~np.isnan(runs)]
        if there.size:
            found[row] = middle(there)
    return found


def _read(values: list[float], series: Mapping[str, Any]) -> Floats:
    """Return a series sampled at the shares of the run; each value holds until the next."""
    at = series.get("executions") or series.get("evaluations") or list(range(1, len(values) + 1))
    shares = np.asarray(at[-len(values) :], np.float64) / at[-1]  # series of steps have no value for the start
    places = np.searchsorted(shares, GRID + 1e-9, side="right") - 1
    return np.where(places >= 0, np.asarray(values, np.float64)[np.maximum(places, 0)], 0.0)
