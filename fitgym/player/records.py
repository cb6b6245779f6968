"""Records: picks the record of one run from a file or the folder of a study."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from fitgym.errors import InputError
from fitgym.run.record import read
from fitgym.study.validation import claims

__all__ = ["record_in"]


def record_in(source: Path, number: int = 0) -> dict[str, Any]:
    """The record of one run.

    Args:
        source: a file of `fitgym generate --json` or `fitgym evaluate --records`, or the folder of a study.
        number: which record, from 1; 0 for the only record of a file.

    Raises:
        InputError: there is no such record, or it is of a trial without an episode.
    """
    if number < 0:
        raise InputError(f"number is {number}, expected the number of a record, from 1")
    if number == 0 and not source.is_dir():
        return read(source)
    found = next(islice(claims([source]), max(1, number) - 1, None), None)
    if found is None:
        raise InputError(f"'{source}' has no record number {number}, expected a smaller number")
    record = dict(found.record.get("run", {}) if "trial" in found.record else found.record)
    if "actions" not in record:
        raise InputError(
            f"record {max(1, number)} of '{source}' is of a trial without an episode, expected another one"
        )
    return record
