"""The form of a question and of its answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Answer", "NoSuchSubject", "Settings", "Table", "Target"]


class NoSuchSubject(Exception):
    """A subject was asked for that a question does not have."""


@dataclass(frozen=True)
class Settings:
    """What every question is told.

    Attributes:
        quick: a first impression in seconds instead of a figure to rely on.
        results: folder for what is installed and written.
        subjects: folder with the installed subjects.
        peers: Python of each peer's virtual environment.
        absent: why a peer is not there, for those that are not.
        seed: of every search.
        minutes: how long memory is watched.
        only: parts of the names of the subjects that are wanted; all if there are none.
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
        """The subjects of a quick run, else all; if some are asked for by a part of their name, those of all.

        Raises:
            NoSuchSubject: none is called so.
        """
        if not self.only:
            return list(quick if self.quick else full)
        found = [name for name in full if any(part in name for part in self.only)]
        if not found:
            raise NoSuchSubject(f"no subject of this question has {' or '.join(self.only)} in its name")
        return found

    def choose(self, quick: Any, full: Any) -> Any:
        """The first value in a quick run, else the second."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Table:
    """Rows of text under a heading."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


@dataclass(frozen=True)
class Target:
    """A figure that was promised.

    Attributes:
        what: is measured.
        limit: the figure has to be at most this, or at least this if `at_least`.
        value: what was measured, None if it could not be.
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
    """What one question gave.

    Attributes:
        tables: for people.
        targets: what was promised about it.
        figures: everything that was measured, raw repeats included, as JSON-ready values.
        notes: what could not be measured and why, and what else a reader has to know.
    """

    tables: list[Table] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
