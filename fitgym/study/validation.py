"""Validation: repeat the run of a record, including the agent, and compare every field."""

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
"""The reason why a failed run is unchecked."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A record to be validated.

    Attributes:
        name: its name in the answer.
        record: of a study's run, or of `fitgym generate --json`.
        path: a folder to search first for the subject, None for none.
        suite: its exported suite if the file exists, else None.
    """

    name: str
    record: Mapping[str, Any]
    path: str | None = None
    suite: Path | None = None


@dataclass(frozen=True, slots=True)
class Validity:
    """The result of validating a claim.

    Attributes:
        claim: the record.
        reasons: differences from the record, or why the run could not be repeated; none if the record is valid.
        unchecked: why fields were not compared, by field; fields that no record can prove are in
            `fitgym.run.repetition.UNCHECKED`.
        made: the record of the new run, or what a trial measured in it; empty if the run was not repeated.
    """

    claim: Claim
    reasons: tuple[str, ...]
    unchecked: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether every field that could be compared is as recorded."""
        return not self.reasons

    def __str__(self) -> str:
        why: dict[str, list[str]] = {}
        for name, reason in self.unchecked.items():
            why.setdefault(reason, []).append(name)
        parts = [*self.reasons, *(f"unchecked: {', '.join(names)} ({reason})" for reason, names in why.items())]
        return "; ".join([f"{'✓' if self.valid else '✗'} {self.claim.name}", *parts])


def claims(sources: Sequence[str | Path], path: str | None = None) -> Iterator[Claim]:
    """Yield the records of study folders, of files with one record, and of files with one record per line.

    Args:
        sources: folders and files.
        path: a folder to search first for subjects, instead of that of the study.

    Raises:
        InputError: a source contains no record.
    """
    for source in map(Path, sources):
        number = 0
        for number, claim in enumerate(_of_study(source, path) if source.is_dir() else _of_file(source, path), 1):  # noqa: B007
            yield claim
        if not number:
            raise InputError(f"'{source}' contains no record; expected at least one")


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
            raise InputError(f"'{file}' contains an entry that is not the record of a run; expected records of fitgym")
        place = record.get("suite_path")
        suite = file.parent / place if isinstance(place, str) and place else None
        yield Claim(_name(record), record, path, suite if suite is not None and _is_file(suite) else None)


def _is_file(path: Path) -> bool:
    """Tell whether there is such a file; a record may name what no file can be called."""
    try:
        return path.is_file()
    except OSError:  # the name is too long
        return False


def _name(record: Mapping[str, Any]) -> str:
    """Return the name of a run in the answer."""
    who = record.get("arm", record.get("agent"))
    where = record.get("subject") or record.get("env", "no subject")
    return f"{who!s:.60}, {where!s:.60}, seed {record.get('seed')!s:.20}"


def validate(claim: Claim) -> Validity:
    """Repeat the run of a record and compare.

    A failed run may record only the reason, which stays unchecked.
    """
    try:
        found = _repeated(claim)
    except FitgymError as problem:
        return Validity(claim, (f"cannot be repeated: {problem}",))
    except Exception as problem:  # a malformed record is invalid, and does not end the command
        return Validity(claim, (f"is malformed: {type(problem).__name__} {problem!s:.200}",))
    return Validity(claim, found.differences, found.unchecked, found.made)


def _repeated(claim: Claim) -> Repetition:
    if "trial" not in claim.record:
        return repeat(claim.record, path=claim.path, suite=claim.suite)
    record = check(dict(claim.record), StudyRecord)
    if said := _wrong_id(record):
        return Repetition(tuple(said))
    if record["error"]:
        claimed = [name for name in ("measures", "series", "run") if record[name]]
        said = [f"the run failed, but the record has {name}" for name in claimed]
        return Repetition(tuple(said), {"error": FAILED})
    found = trials().load(record["trial"]).of(record["settings"]).check_again(record, claim.path)
    unchecked = dict(found.unchecked)
    if record["fitgym_version"] != __version__:
        unchecked["fitgym_version"] = f"recorded by {record['fitgym_version']:.20}, repeated by {__version__}"
    return Repetition(found.differences, unchecked, found.made)


def _wrong_id(record: Mapping[str, Any]) -> list[str]:
    """Return a sentence if the id of a study's record does not match its run."""
    cell = Cell(*(record[name] for name in ("trial", "arm", "subject", "seed", "budget", "settings")))
    if cell.id == record["id"]:
        return []
    return [f"the id of trial, arm, subject, seed, budget and settings is {cell.id}, recorded was {record['id']:.20}"]
