"""The types of questions and answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Answer", "NoSuchSubject", "Settings", "Table", "Target"]


class NoSuchSubject(Exception):
    """The question has no subject with the requested name."""


@dataclass(frozen=True)
class Settings:
    """The settings of all questions.

    Attributes:
        quick: a first impression in seconds instead of a reliable figure.
        results: folder for installations and output.
        subjects: folder with the installed subjects.
        peers: Python of each peer's virtual environment.
        absent: the reason for each missing peer.
        seed: of every search.
        minutes: duration of the memory measurement.
        only: parts of the names of the requested subjects; empty for all.
    """

    quick: bool
    results: Path
    subjects: Path
    peers: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    seed: int = 1
    minutes: float = 10.0
    only: tuple[str, ...] = ()

    def pick(self, quick: Iterable[str], full: Iterable[str]) -> list[str]:
        """Return the subjects of a quick run, or all; with `only`, the matching ones among all.

        Raises:
            NoSuchSubject: no subject matches.
        """
        if not self.only:
            return list(quick if self.quick else full)
        found = [name for name in full if any(part in name for part in self.only)]
        if not found:
            raise NoSuchSubject(f"no subject of this question has {' or '.join(self.only)} in its name")
        return found

    def choose(self, quick: Any, full: Any) -> Any:
        """Return the first value in a quick run, else the second."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Table:
    """Rows of text under a heading."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True)
class Target:
    """A target figure.

    Attributes:
        what: the measured quantity.
        limit: the figure must be at most this, or at least this if `at_least`.
        value: the measured value, None if it could not be measured.
    """

    what: str
    limit: float
    value: float | None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """ "met", "missed" or "not measured"."""
        if self.value is None:
            return "not measured"
        return "met" if (self.value >= self.limit if self.at_least else self.value <= self.limit) else "missed"


@dataclass
class Answer:
    """The answer to one question.

    Attributes:
        tables: for people.
        targets: the targets of this question.
        figures: all measurements, including raw repeats, as JSON-ready values.
        notes: missing measurements with their reasons, and other facts that a reader needs.
    """

    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
