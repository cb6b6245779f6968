"""What a trial is: one kind of run, with its settings, whose result depends on nothing but these, subject and seed."""

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
"""What a test case costs in a search, with everything that belongs to it; measured on two small cores."""


def trials() -> Registry[Trial]:
    """The kinds of runs that a study file can name."""
    return Registry("fitgym.study.trials", Trial, "kind of trial")


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run gave, as JSON-ready values.

    Attributes:
        measures: numbers by name; those that `Trial.metrics` promises, and more. The same in every process.
        series: by name, one value for each step of the run, and one before them for what has a value at the start.
        run: what is needed to repeat it.
        seconds: wall clock by what it was spent on. No comparison of results looks at these.
    """

    measures: dict[str, float]
    series: dict[str, list[Any]] = dataclasses.field(default_factory=dict)
    run: dict[str, Any] = dataclasses.field(default_factory=dict)
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True)
class Trial(ABC):
    """One kind of run. The fields of the subclass, a frozen dataclass, are its settings; each has a default.

    Attributes:
        metrics: what is measured, and whether more of it is better (True) or less; the first is what is compared unless a
            study declares another one.
        likelihoods: those of the metrics that are 1 or 0, such as whether a fault is detected: over several seeds their mean
            says something, and their median nothing.
        course: name of the series that tells how the first metric grows during a run, "" if none does.
        units: of budgets that the trial can keep, of `s`, `x` and `g`.
    """

    metrics: ClassVar[dict[str, bool]]
    likelihoods: ClassVar[frozenset[str]] = frozenset()
    course: ClassVar[str] = ""
    units: ClassVar[str] = "xg"

    def check(self, budget: str) -> None:
        """See to it that the settings can be used, without running anything.

        Raises:
            InputError: they cannot; the message begins with the name of the setting and a colon.
        """
        return

    def check_subject(self, subject: str, path: str | None) -> None:
        """See to it that the subject can be found, without importing it.

        Raises:
            InputError: it cannot.
        """
        from fitgym.subject.source import locate

        locate(subject, path)

    def estimate(self, budget: str) -> float:
        """Seconds that a run takes on one core, roughly: subjects differ by a factor of ten."""
        found = Budget.parse(budget)
        if found.unit == "s":
            return found.amount
        tests = found.amount if found.unit == "x" else found.amount * int(getattr(self, "population", 1))
        return _START_S + _EXECUTION_S * tests

    @abstractmethod
    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Make the run.

        Raises:
            FitgymError: there is nothing to measure, and why.
        """

    def check_again(self, record: Mapping[str, Any], path: str | None) -> Repetition:
        """Make the run again and compare every field with the record.

        Args:
            record: of `fitgym.study.cell`.
            path: as for `measure`.

        Raises:
            FitgymError: the run cannot be made again.
        """
        if not Budget.parse(record["budget"]).deterministic:
            raise InputError(f"{TIMED}, and a trial '{record['trial']}' has none")
        made = dataclasses.asdict(self.measure(record["subject"], record["seed"], record["budget"], path))
        return compared(record, made)

    @classmethod
    def settings(cls, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The names of the settings with their defaults.

        Args:
            given: what a study says already; the settings of some trials depend on it.
        """
        blank = cls()
        return {each.name: getattr(blank, each.name) for each in dataclasses.fields(cls)}

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Self:
        """The trial with these settings.

        Raises:
            InputError: a value is of another type or out of range; the message begins with the name and a colon.
        """
        known = hints(cls)
        return cls(**{name: convert(name, value, known[name]) for name, value in settings.items()})


def convert(name: str, value: Any, kind: Any) -> Any:
    """The value of a setting, checked against its type.

    Raises:
        InputError: it does not fit; the message begins with the name and a colon.
    """
    try:
        return checked(name, value, kind)
    except InputError as problem:
        raise InputError(f"{name}: {str(problem).removeprefix(f'{name} is ')}") from None


def compared(record: Mapping[str, Any], made: Mapping[str, Any]) -> Repetition:
    """What `Measured` says of the new run beside the record of the old one; no field of `UNCHECKED` counts.

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
    """Say in an error which setting it is about."""
    try:
        yield
    except FitgymError as problem:
        raise InputError(f"{setting}: {problem}") from None
