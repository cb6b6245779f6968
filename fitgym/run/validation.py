"""Validation: repeats the run of a record and compares every claim with the result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fitgym.errors import FitgymError, InputError
from fitgym.run.replay import replay
from fitgym.study.store import Store
from fitgym.study.trials.base import trials

__all__ = ["Claim", "Validity", "claims", "validate"]


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
    """

    claim: Claim
    reasons: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Everything is as it says."""
        return not self.reasons


def claims(sources: Sequence[str | Path], path: str | None = None) -> Iterator[Claim]:
    """The records of folders of studies, of files with one record, and of files with one in each line.

    Args:
        sources: folders and files.
        path: a folder to look in first for subjects, instead of that of the study.

    Raises:
        InputError: a source holds no record.
    """
    for source in map(Path, sources):
        if source.is_dir():
            store = Store.open(source)
            for record in store.records():
                yield Claim(
                    f"{record['arm']}, {record['subject']}, seed {record['seed']}", record, path or store.plan.path
                )
            continue
        try:
            text = source.read_text("utf-8")
            found = [json.loads(text)] if source.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
        except (OSError, ValueError, RecursionError) as problem:
            raise InputError(f"the records '{source}' cannot be read: {problem}") from None
        if not found:
            raise InputError(f"'{source}' holds no record, expected at least one")
        for record in found:
            if not isinstance(record, dict) or not ({"trial", "settings"} <= set(record) or "actions" in record):
                raise InputError(f"'{source}' holds something that is no record of a run")
            who, where = (
                record.get("arm", record.get("agent")),
                record.get("subject") or record.get("env", "no subject"),
            )
            subject = f"{who}, {where}, seed {record.get('seed')}"
            suite = source.parent / record["suite_path"] if record.get("suite_path") else None
            yield Claim(subject, record, path, suite if suite is not None and suite.exists() else None)


def validate(claim: Claim) -> Validity:
    """Make the run of a record again and compare.

    A run that has failed is valid if it says why: there is nothing that it claims.
    """
    record = claim.record
    try:
        if "trial" not in record:
            found = list(replay(dict(record), path=claim.path, suite=claim.suite).differences)
        elif record["error"]:
            found = []
        else:
            found = trials().load(record["trial"]).of(record["settings"]).check_again(record, claim.path)
    except FitgymError as problem:
        found = [f"cannot be made again: {problem}"]
    except (KeyError, TypeError, ValueError) as problem:
        found = [f"lacks something: {type(problem).__name__} {problem}"]
    return Validity(claim, tuple(found))
