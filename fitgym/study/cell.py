"""A cell of a study: make one run and write its record, in any process."""

from __future__ import annotations

import json
import os
import platform
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fitgym import __version__
from fitgym.errors import FitgymError
from fitgym.study.plan import Cell
from fitgym.study.trials.base import trials

__all__ = ["lost", "place", "record", "run", "save"]


def run(cell: Cell, folder: str | Path) -> str:
    """Make one run and write its record, unless it exists; return the record's text.

    A failed run has a record with the reason. A record is written completely or not at all, so a killed process leaves
    nothing to repair, and running a cell twice has the same result as running it once.

    Args:
        cell: the run.
        folder: of the study.

    Raises:
        OSError: the record cannot be written.
    """
    file = place(folder, cell.id)
    if file.exists():
        return file.read_text("utf-8")
    text = record(cell)
    save(text, file)
    return text


def record(cell: Cell) -> str:
    """Make one run; return its record, one line of JSON."""
    found: dict[str, Any] = {"measures": {}, "series": {}, "run": {}, "seconds": {}, "error": ""}
    try:
        trial = trials().load(cell.trial).of(cell.settings)
        found.update(asdict(trial.measure(cell.subject, cell.seed, cell.budget, cell.path)))
    except FitgymError as problem:
        found["error"] = str(problem)
    except Exception as problem:  # a bug in fitgym becomes a failed run and does not end the study
        where = traceback.extract_tb(problem.__traceback__)[-1]
        found["error"] = f"{type(problem).__name__}: {problem} ({Path(where.filename).name}, line {where.lineno})"
    return _line(cell, found)


def lost(cell: Cell, reason: str) -> str:
    """Return the record of a run that did not write one."""
    return _line(cell, {"measures": {}, "series": {}, "run": {}, "seconds": {}, "error": reason})


def _line(cell: Cell, found: dict[str, Any]) -> str:
    head = {key: value for key, value in asdict(cell).items() if key != "path"}
    made_by = {"fitgym_version": __version__, "python": platform.python_version()}
    return json.dumps({"id": cell.id, **head, **found, **made_by}) + "\n"


def place(folder: str | Path, cell_id: str) -> Path:
    """Return the path of a record. There are 256 folders, because there may be many records."""
    return Path(folder) / "records" / cell_id[:2] / f"{cell_id}.json"


def save(text: str, file: Path) -> None:
    """Write a file atomically and durably: after a crash or power failure it is complete or absent."""
    file.parent.mkdir(parents=True, exist_ok=True)
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with open(scratch, "w", encoding="utf-8") as opened:
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(scratch, file)
    except OSError:
        scratch.unlink(missing_ok=True)
        raise
    # The new name is durable only after the folder is synced too.
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
