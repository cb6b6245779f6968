"""Base class of trials: one kind of run, whose result depends only on its settings, subject, seed and budget."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from fitgym.errors import FitgymError, InputError
from fitgym.evolution.budget import Budget
from fitgym.registry import Registry
from fitgym.run.repetition import TIMED, Repetition, differences
from fitgym.run.setting import checked, hints

__all__ = ["Measured", "Trial", "about", "compared", "convert", "trials"]

_START_S = 0.5
_EXECUTION_S = 0.002
"""Seconds per test case in a search, including all other work; measured on two small cores."""


def trials() -> Registry[Trial]:
    """Return the registry of trials, which a study file can name."""
    return Registry("fitgym.study.trials", Trial, "kind of trial")


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of one run, as JSON-ready values.

    Attributes:
        measures: numbers by name; those declared in `Trial.metrics`, and more. The same in every process.
        series: by name, one value for each step of the run; quantities with an initial value have one more at the
            start.
        run: the data needed to repeat it.
        seconds: wall time by activity. Comparisons of results ignore it.
    """

    measures: dict[str, float]
    series: dict[str, list[Any]] = dataclasses.field(default_factory=dict)
    run: dict[str, Any] = dataclasses.field(default_factory=dict)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Trial(ABC):
    """One kind of run. The fields of the subclass, a frozen dataclass, are its settings; each has a default.

    Attributes:
        metrics: names of measures, and whether more is better (True) or less; the first is compared unless a study
            declares another one.
        likelihoods: the metrics that are 1 or 0, such as whether a fault is detected. They are averaged over several
            seeds, because their median is not informative.
        course: name of the series that records the first metric during a run, "" if there is none.
        units: of supported budgets, out of `s`, `x` and `g`.
    """

    metrics: ClassVar[dict[str, bool]]
    likelihoods: ClassVar[frozenset[str]] = frozenset()
    course: ClassVar[str] = ""
    units: ClassVar[str] = "xg"

    def check(self, budget: str) -> None:
        """Check the settings without running anything.

        Raises:
            InputError: they cannot be used; the message begins with the name of the setting and a colon.
        """
        return

    def check_subject(self, subject: str, path: str | None) -> None:
        """Check that the subject can be found, without importing it.

        Raises:
            InputError: it cannot be found.
        """
        from fitgym.subject.source import locate

        locate(subject, path)

    def estimate(self, budget: str) -> float:
        """Return a rough estimate of the seconds of a run on one core; subjects differ by a factor of ten."""
        found = Budget.parse(budget)
        if found.unit == "s":
            return found.amount
        tests = found.amount if found.unit == "x" else found.amount * int(getattr(self, "population", 1))
        return _START_S + _EXECUTION_S * tests

    @abstractmethod
    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Make the run.

        Raises:
            FitgymError: there is nothing to measure; the message has the reason.
        """

    def check_again(self, record: Mapping[str, Any], path: str | None) -> Repetition:
        """Repeat the run and compare every field with the record.

        Args:
            record: of `fitgym.study.cell`.
            path: as for `measure`.

        Raises:
            FitgymError: the run cannot be repeated.
        """
        if not Budget.parse(record["budget"]).deterministic:
            raise InputError(f"{TIMED}, and a trial '{record['trial']}' has none")
        made = dataclasses.asdict(self.measure(record["subject"], record["seed"], record["budget"], path))
        return compared(record, made)

    @classmethod
    def settings(cls, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the names of the settings with their defaults.

        Args:
            given: settings of the study; the settings of some trials depend on them.
        """
        blank = cls()
        return {each.name: getattr(blank, each.name) for each in dataclasses.fields(cls)}

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """Return the trial with these settings.

        Raises:
            InputError: a value is of another type or out of range; the message begins with the name and a colon.
        """
        known = hints(cls)
        return cls(**{name: convert(name, value, known[name]) for name, value in settings.items()})


def convert(name: str, value: Any, kind: Any) -> Any:
    """Return the value of a setting, checked against its type.

    Raises:
        InputError: it does not match; the message begins with the name and a colon.
    """
    try:
        return checked(name, value, kind)
    except InputError as problem:
        raise InputError(f"{name}: {str(problem).removeprefix(f'{name} is ')}") from None


def compared(record: Mapping[str, Any], made: Mapping[str, Any]) -> Repetition:
    """Compare the `Measured` of the new run with the record of the old one; fields of `UNCHECKED` do not count.

    Args:
        record: of `fitgym.study.cell`.
        made: the fields of `Measured`, as a table.
    """
    said = []
    for name in ("measures", "series", "run"):
        said += differences(record[name], made[name])
    return Repetition(tuple(said), {}, made)


@contextmanager
def about(setting: str) -> Iterator[None]:
    """Prefix errors with the name of a setting."""
    try:
        yield
    except FitgymError as problem:
        raise InputError(f"{setting}: {problem}") from None
