"""The folder of a study: the plan, a record for each run, and an index of their states.

It contains

    plan.json        the plan; a folder contains one study
    records/         a file of one line for each run that has ended, see `fitgym.study.cell`; the authoritative data
    index.sqlite     a row for each run with its state; rebuilt from the records if it is missing or broken
    lock             held while runs are made, so that two processes do not make the same ones
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from fitgym.errors import InputError
from fitgym.run.schema import parsed, read_text
from fitgym.study.cell import place, save
from fitgym.study.plan import Cell, Plan

__all__ = ["Status", "Store"]

_TABLE = """
create table if not exists cells (
    id text primary key, arm text, subject text, seed integer, state text default 'open', reason text default ''
)
"""


@dataclass(frozen=True, slots=True)
class Status:
    """The numbers of runs of a study by state.

    Attributes:
        done: with a result.
        failed: with a reason instead.
        open: not made yet.
    """

    done: int
    failed: int
    open: int

    @property
    def all(self) -> int:
        """The number of runs of the plan."""
        return self.done + self.failed + self.open


class Store:
    """The folder of one study. Use `create` or `open`.

    Attributes:
        folder: its path.
        plan: of the study.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        self._index: sqlite3.Connection | None = None

    @classmethod
    def create(cls, folder: str | Path, plan: Plan) -> Self:
        """Create the folder of a plan, or open one with earlier results of the same plan.

        Raises:
            InputError: the folder contains another study, or cannot be written.
        """
        folder = Path(folder)
        file = folder / "plan.json"
        if file.exists():
            there = cls.open(folder).plan
            if {**there.to_json(), "path": ""} != {**plan.to_json(), "path": ""}:
                changed = [key for key, value in plan.to_json().items() if there.to_json()[key] != value]
                raise InputError(
                    f"'{folder}' contains another study, '{there.name}', which differs in {', '.join(changed)}; name "
                    "another folder, or remove this one"
                )
        try:
            save(json.dumps(plan.to_json(), indent=1) + "\n", file)
        except OSError as problem:
            raise InputError(f"the folder '{folder}' cannot be written: {problem}") from None
        return cls(folder, plan)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """Open an existing folder.

        Raises:
            InputError: it contains no study.
        """
        file = Path(folder) / "plan.json"
        try:
            return cls(Path(folder), Plan.from_json(json.loads(file.read_text("utf-8"))))
        except (OSError, ValueError, KeyError, TypeError, RecursionError, AttributeError) as problem:
            raise InputError(f"'{folder}' contains no readable study: {problem}") from None

    @contextlib.contextmanager
    def driving(self) -> Iterator[None]:
        """Hold the lock of the study.

        Raises:
            InputError: another process makes the runs of this study.
        """
        with open(self.folder / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(
                    f"another process is making the runs of '{self.folder}'; wait for it, or end it"
                ) from None
            try:
                yield
            finally:
                self.close()

    def missing(self, *, again: bool = False) -> list[Cell]:
        """Update the index from the records, and return the runs without a record.

        Args:
            again: include failed runs; their records are removed.
        """
        cells = self.plan.cells()
        states = {cell.id: self._state(cell.id) for cell in cells}
        if again:
            for cell in cells:
                if states[cell.id][0] == "failed":
                    place(self.folder, cell.id).unlink()
                    states[cell.id] = ("open", "")
        rows = [(cell.id, cell.arm, cell.subject, cell.seed, *states[cell.id]) for cell in cells]
        index = self._opened()
        with index:
            index.execute("delete from cells")
            index.executemany("insert or replace into cells values (?, ?, ?, ?, ?, ?)", rows)
        return [cell for cell in cells if states[cell.id][0] == "open"]

    def note(self, cell_id: str) -> str:
        """Update the index from the record of a run; return the reason if the run failed, else ""."""
        state, reason = self._state(cell_id)
        index = self._opened()
        with index:
            index.execute("update cells set state = ?, reason = ? where id = ?", (state, reason, cell_id))
        return reason

    def noted(self) -> Status:
        """Return the numbers of runs from the index, which `missing` has updated."""
        counts = dict(self._opened().execute("select state, count(*) from cells group by state"))
        return Status(*(counts.get(state, 0) for state in ("done", "failed", "open")))

    def status(self) -> Status:
        """Return the numbers of runs from the records."""
        states = [self._state(cell.id)[0] for cell in self.plan.cells()]
        return Status(*(states.count(state) for state in ("done", "failed", "open")))

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records of the runs that have ended, in the order of the plan.

        Raises:
            InputError: a record cannot be read.
        """
        for cell in self.plan.cells():
            file = place(self.folder, cell.id)
            if file.exists():
                yield _read(file)

    def close(self) -> None:
        """Close the index; may be called twice."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _state(self, cell_id: str) -> tuple[str, str]:
        """Return the state of a run and the reason of a failure, from its record; an unreadable record is removed."""
        file = place(self.folder, cell_id)
        try:
            reason = str(json.loads(file.read_text("utf-8"))["error"])
        except FileNotFoundError:
            return "open", ""
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            file.unlink(missing_ok=True)
            return "open", ""
        return ("failed", reason) if reason else ("done", "")

    def _opened(self) -> sqlite3.Connection:
        if self._index is None:
            file = self.folder / "index.sqlite"
            try:
                self._index = _connected(file)
            except sqlite3.DatabaseError:
                for part in (file, *(file.with_name(file.name + end) for end in ("-wal", "-shm", "-journal"))):
                    part.unlink(missing_ok=True)
                self._index = _connected(file)
        return self._index


def _read(file: Path) -> dict[str, Any]:
    """Return the record in a file."""
    source = f"the record '{file}'"
    found = parsed(read_text(file, source), source)
    if not isinstance(found, dict):
        raise InputError(f"{source} is a {type(found).__name__}; expected an object. Remove it and resume the study")
    return found


def _connected(file: Path) -> sqlite3.Connection:
    index = sqlite3.connect(file)
    try:
        if index.execute("pragma quick_check").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("broken")
        index.execute("pragma synchronous = off")  # data lost in a power failure is rebuilt from the records
        index.execute(_TABLE)
    except sqlite3.DatabaseError:
        index.close()
        raise
    return index
