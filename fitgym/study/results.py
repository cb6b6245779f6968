"""Results: what the records of a study come to, arm by arm, in memory that does not grow with the length of the runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.study.plan import Plan
from fitgym.study.trials.base import trials

__all__ = ["Choices", "Curve", "Results"]

Floats = NDArray[np.float64]

GRID = np.linspace(0.05, 1.0, 20)
"""Shares of the length of a run at which curves are read."""

PHASES = 10
"""Parts of a run, of equal length, by which choices are counted."""


@dataclass
class Choices:
    """What an agent chose.

    Attributes:
        times: how often each action, over all runs.
        phases: the same by part of the run, `PHASES` of them.
    """

    times: Counter[str] = field(default_factory=Counter)
    phases: dict[str, Floats] = field(default_factory=dict)

    def add(self, actions: list[str]) -> None:
        """The choices of one run, in order."""
        for step, action in enumerate(actions):
            self.times[action] += 1
            counts = self.phases.setdefault(action, np.zeros(PHASES))
            counts[step * PHASES // len(actions)] += 1.0


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
        return trials().load(self.plan.trial).metrics[self.plan.metric]

    @property
    def complete(self) -> bool:
        """Every run of the plan has ended."""
        return self.ended == len(self.plan.cells())

    def medians(self, measure: str | None = None) -> dict[str, Floats]:
        """By arm the median over the seeds for each subject, NaN where no run has a result."""
        found = self._of(measure or self.plan.metric)
        return {arm: _medians(values) for arm, values in found.items()}

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


def _medians(values: Floats) -> Floats:
    found = np.full(len(values), np.nan)
    for row, runs in enumerate(values):
        there = runs[~np.isnan(runs)]
        if there.size:
            found[row] = np.median(there)
    return found


def _read(values: list[float], series: Mapping[str, Any]) -> Floats:
    """A series at the shares of the run; it keeps each value until the next."""
    at = series.get("executions") or series.get("evaluations") or list(range(1, len(values) + 1))
    shares = np.asarray(at[-len(values) :], np.float64) / at[-1]  # what belongs to steps has no value for the start
    places = np.searchsorted(shares, GRID + 1e-9, side="right") - 1
    return np.where(places >= 0, np.asarray(values, np.float64)[np.maximum(places, 0)], 0.0)
