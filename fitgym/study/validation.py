"""Validation: makes the run of a record again, agent and all, and compares every field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fitgym import __version__
from fitgym.errors import FitgymError, InputError
from fitgym.run.repeat import repeat
from fitgym.run.repetition import Repetition
from fitgym.run.schema import StudyRecord, check, parsed, read_text
from fitgym.study.plan import Cell
from fitgym.study.store import Store
from fitgym.study.trials.base import trials

__all__ = ["Claim", "Validity", "claims", "validate"]

FAILED = "the run has failed, so there is nothing to compare"
"""Why a run that has failed is unchecked."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A record that says something of itself.

    Attributes:
        name: what it is called in the answer.
        record: of a study's run, or of `fitgym generate --json`.
        path: a folder to look in first for the subject, None for none.
        suite: where its exported suite may be, None for nowhere.
    """

    name: str
    record: Mapping[str, Any]
    path: str | None = None
    suite: Path | None = None


@dataclass(frozen=True, slots=True)
class Validity:
    """What became of a claim.

    Attributes:
        claim: the one.
        reasons: what is not as it says, or why that cannot be told; none if it is valid.
        unchecked: by field why it was not compared; those that no record can show are in
            `fitgym.run.repetition.UNCHECKED`.
        made: the record of the new run, or what a trial measured in it; empty if the run was not made again.
    """

    claim: Claim
    reasons: tuple[str, ...]
    unchecked: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Every field that could be compared is as it says."""
        return not self.reasons

    def __str__(self) -> str:
        why: dict[str, list[str]] = {}
        for name, reason in self.unchecked.items():
            why.setdefault(reason, []).append(name)
        parts = [*self.reasons, *(f"unchecked: {', '.join(names)} ({reason})" for reason, names in why.items())]
        return "; ".join([f"{'✓' if self.valid else '✗'} {self.claim.name}", *parts])


def claims(sources: Sequence[str | Path], path: str | None = None) -> Iterator[Claim]:
    """The records of folders of studies, of files with one record, and of files with one in each line.

    Args:
        sources: folders and files.
        path: a folder to look in first for subjects, instead of that of the study.

    Raises:
        InputError: a source holds no record.
    """
    for source in map(Path, sources):
        number = 0
        for number, claim in enumerate(_of_study(source, path) if source.is_dir() else _of_file(source, path), 1):  # noqa: B007
            yield claim
        if not number:
            raise InputError(f"'{source}' holds no record, expected at least one")


def _of_study(folder: Path, path: str | None) -> Iterator[Claim]:
    store = Store.open(folder)
    for record in store.records():
        yield Claim(_name(record), record, path or store.plan.path)


def _of_file(file: Path, path: str | None) -> Iterator[Claim]:
    source = f"the records '{file}'"
    text = read_text(file, source)
    texts = [text] if file.suffix == ".json" else text.splitlines()
    for record in [parsed(one, source) for one in texts if one.strip() or file.suffix == ".json"]:
        if not isinstance(record, dict) or not ({"trial", "settings"} <= set(record) or "actions" in record):
            raise InputError(f"'{file}' holds something that is no record of a run")
        place = record.get("suite_path")
        suite = file.parent / place if isinstance(place, str) and place and "\0" not in place else None
        yield Claim(_name(record), record, path, suite if suite is not None and suite.is_file() else None)


def _name(record: Mapping[str, Any]) -> str:
    """Whose run it is, for the answer."""
    who = record.get("arm", record.get("agent"))
    where = record.get("subject") or record.get("env", "no subject")
    return f"{who!s:.60}, {where!s:.60}, seed {record.get('seed')!s:.20}"


def validate(claim: Claim) -> Validity:
    """Make the run of a record again and compare.

    A run that has failed must claim nothing but the reason, which stays unchecked.
    """
    try:
        found = _repeated(claim)
    except FitgymError as problem:
        return Validity(claim, (f"cannot be made again: {problem}",))
    except Exception as problem:  # whatever a record holds, it is a reason, not the end of the command
        return Validity(claim, (f"lacks something: {type(problem).__name__} {problem!s:.200}",))
    return Validity(claim, found.differences, found.unchecked, found.made)


def _repeated(claim: Claim) -> Repetition:
    if "trial" not in claim.record:
        return repeat(claim.record, path=claim.path, suite=claim.suite)
    record = check(dict(claim.record), StudyRecord)
    if said := _misnamed(record):
        return Repetition(tuple(said))
    if record["error"]:
        claimed = [name for name in ("measures", "series", "run") if record[name]]
        said = [f"the run has failed, and yet the record has {name}" for name in claimed]
        return Repetition(tuple(said), {"error": FAILED})
    found = trials().load(record["trial"]).of(record["settings"]).check_again(record, claim.path)
    unchecked = dict(found.unchecked)
    if record["fitgym_version"] != __version__:
        unchecked["fitgym_version"] = f"recorded by {record['fitgym_version']:.20}, repeated by {__version__}"
    return Repetition(found.differences, unchecked, found.made)


def _misnamed(record: Mapping[str, Any]) -> list[str]:
    """A sentence if the id of a study's record is not that of its run."""
    cell = Cell(*(record[name] for name in ("trial", "arm", "subject", "seed", "budget", "settings")))
    if cell.id == record["id"]:
        return []
    return [f"the id of trial, arm, subject, seed, budget and settings is {cell.id}, recorded was {record['id']:.20}"]
