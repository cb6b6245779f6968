"""Results: what the records of a study come to, arm by arm, in memory that does not grow with the length of the runs."""

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
"""Shares of the length of a run at which curves are read."""

PHASES = 10
"""Parts of a run, of equal length, by which choices are counted."""


@dataclass
class Choices:
    """What an agent chose.

    Attributes:
        times: how often each action, over all runs.
        phases: the same by part of the run, `PHASES` of them.
        first: how many choices were the first of their action in a run.
    """

    times: Counter[str] = field(default_factory=Counter)
    phases: dict[str, Floats] = field(default_factory=dict)
    first: int = 0

    def add(self, actions: list[str]) -> None:
        """The choices of one run, in order."""
        self.first += len(set(actions))
        for step, action in enumerate(actions):
            self.times[action] += 1
            counts = self.phases.setdefault(action, np.zeros(PHASES))
            counts[step * PHASES // len(actions)] += 1.0

    def same(self, other: Choices) -> bool:
        """The same actions, as often, in the same parts of the runs."""
        return self.times == other.times and all(
            np.array_equal(counts, other.phases[action]) for action, counts in self.phases.items()
        )


@dataclass(frozen=True, slots=True)
class Curve:
    """How something goes on during the runs of an arm, at the shares `GRID` of their length.

    Attributes:
        middle: the median over the runs.
        low, high: the quartiles.
    """

    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Reach:
    """How soon the runs of an arm get to where the runs of the baseline end.

    Attributes:
        curve: share of the runs that have, at the shares `GRID` of their length.
        median: share of its length at which half of the runs have, infinite if fewer than half ever do.
        runs: of the arm.
        reached: those that have at their end.
    """

    curve: Floats
    median: float
    runs: int
    reached: int


class Results:
    """The results of a study.

    Args:
        plan: what was asked for.
        records: of the runs that have ended, see `fitgym.study.cell`.

    Attributes:
        plan: as given.
        measures: by measure and arm, an array with a row for each subject and a column for each seed; NaN where there is
            no result.
        choices: by arm, for trials in which something is chosen.
        seconds: by arm and what they were spent on, a value for each run.
        generation_ms: by arm the milliseconds that a generation took, a value for each run that tells.
        failures: of each run that has failed: arm, subject, seed, reason.
        versions: of fitgym and Python that made the records.
        ended: runs that have a record.
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
        """The measure that was declared beforehand, by arm."""
        return self._of(self.plan.metric)

    @property
    def larger_is_better(self) -> bool:
        """Of the declared measure."""
        return self._kind.metrics[self.plan.metric]

    @property
    def likelihood(self) -> bool:
        """The declared measure is 1 or 0."""
        return self.plan.metric in self._kind.likelihoods

    @property
    def _kind(self) -> type[Trial]:
        return trials().load(self.plan.trial)

    @property
    def complete(self) -> bool:
        """Every run of the plan has ended."""
        return self.ended == len(self.plan.cells())

    def centres(self) -> dict[str, Floats]:
        """By arm, of the declared measure, a number for each subject, NaN where no run has a result: the median over the
        seeds, or of what is 1 or 0 the mean."""
        middle = np.mean if self.likelihood else np.median
        return {arm: _centres(values, middle) for arm, values in self.metric.items()}

    def reaches(self) -> dict[str, Reach]:
        """How soon each arm gets to the level of the baseline: on each subject the median of what the runs of the baseline
        have at their end, or those of all arms where there is no baseline. Empty if the runs do not tell how what is
        compared has grown."""
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
                there = np.maximum.accumulate(there, axis=1)  # a goal such as diversity can fall again
                median, reached = time_to(1.0, [GRID] * len(there), list(there))
                found[arm] = Reach(there.mean(axis=0), median, len(there), reached)
        return found

    def curves(self, name: str) -> dict[str, Curve]:
        """How something goes on, by arm, as a share of the most that any run has on the same subject at any time.

        Empty if the runs do not tell.
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
    """A series at the shares of the run; it keeps each value until the next."""
    at = series.get("executions") or series.get("evaluations") or list(range(1, len(values) + 1))
    shares = np.asarray(at[-len(values) :], np.float64) / at[-1]  # what belongs to steps has no value for the start
    places = np.searchsorted(shares, GRID + 1e-9, side="right") - 1
    return np.where(places >= 0, np.asarray(values, np.float64)[np.maximum(places, 0)], 0.0)
