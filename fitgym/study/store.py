"""The folder of a study: the plan, a record for each run, and an index that says where everything stands.

It holds

    plan.json        what is run; a folder holds one study
    records/         a file of one line for each run that has ended, see `fitgym.study.cell`: the truth
    index.sqlite     a row for each run: its state, and how often it was tried; made again from the records whenever it is
                     missing or broken
    lock             held while runs are made, so that two drivers do not make the same ones
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
    """How many runs of a study are where.

    Attributes:
        done: with a result.
        failed: with a reason instead.
        open: still to be made.
    """

    done: int
    failed: int
    open: int

    @property
    def all(self) -> int:
        """Of the plan."""
        return self.done + self.failed + self.open


class Store:
    """The folder of one study. Use `create` or `open`.

    Attributes:
        folder: where it is.
        plan: what is run.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder = folder
        self.plan = plan
        self._index: sqlite3.Connection | None = None

    @classmethod
    def create(cls, folder: str | Path, plan: Plan) -> Self:
        """The folder of a plan, new, or with what was done of the same plan before.

        Raises:
            InputError: the folder holds another study, or cannot be written.
        """
        folder = Path(folder)
        file = folder / "plan.json"
        if file.exists():
            there = cls.open(folder).plan
            if {**there.to_json(), "path": ""} != {**plan.to_json(), "path": ""}:
                changed = [key for key, value in plan.to_json().items() if there.to_json()[key] != value]
                raise InputError(
                    f"'{folder}' holds another study, '{there.name}' ({', '.join(changed)} is different): name another "
                    "folder, or remove this one"
                )
        try:
            save(json.dumps(plan.to_json(), indent=1) + "\n", file)
        except OSError as problem:
            raise InputError(f"the folder '{folder}' cannot be written: {problem}") from None
        return cls(folder, plan)

    @classmethod
    def open(cls, folder: str | Path) -> Self:
        """A folder that there is.

        Raises:
            InputError: it holds no study.
        """
        file = Path(folder) / "plan.json"
        try:
            return cls(Path(folder), Plan.from_json(json.loads(file.read_text("utf-8"))))
        except (OSError, ValueError, KeyError, TypeError, RecursionError, AttributeError) as problem:
            raise InputError(f"'{folder}' holds no study that can be read: {problem}") from None

    @contextlib.contextmanager
    def driving(self) -> Iterator[None]:
        """Hold the lock.

        Raises:
            InputError: another process makes the runs of this study.
        """
        with open(self.folder / "lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InputError(f"another process makes the runs of '{self.folder}': wait for it, or end it") from None
            try:
                yield
            finally:
                self.close()

    def missing(self, *, again: bool = False) -> list[Cell]:
        """The runs without a record, after the index was brought in line with the records.

        Args:
            again: those that have failed too; their records are removed.
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
        """Put into the index what the record of a run says; the reason if it has failed, "" if not."""
        state, reason = self._state(cell_id)
        index = self._opened()
        with index:
            index.execute("update cells set state = ?, reason = ? where id = ?", (state, reason, cell_id))
        return reason

    def noted(self) -> Status:
        """Where the study stands by the index, which `missing` has brought in line with the records."""
        counts = dict(self._opened().execute("select state, count(*) from cells group by state"))
        return Status(*(counts.get(state, 0) for state in ("done", "failed", "open")))

    def status(self) -> Status:
        """Where the study stands, by its records."""
        states = [self._state(cell.id)[0] for cell in self.plan.cells()]
        return Status(*(states.count(state) for state in ("done", "failed", "open")))

    def records(self) -> Iterator[dict[str, Any]]:
        """The records of the runs that have ended, in the order of the plan, one at a time.

        Raises:
            InputError: a record cannot be read.
        """
        for cell in self.plan.cells():
            file = place(self.folder, cell.id)
            if file.exists():
                yield _read(file)

    def close(self) -> None:
        """Close the index; harmless when called twice."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _state(self, cell_id: str) -> tuple[str, str]:
        """The state of a run and the reason why it has failed, by its record; one that cannot be read does not count."""
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
    """The record in a file of its own."""
    source = f"the record '{file}'"
    found = parsed(read_text(file, source), source)
    if not isinstance(found, dict):
        raise InputError(f"{source} is a {type(found).__name__}, expected an object; remove it and resume the study")
    return found


def _connected(file: Path) -> sqlite3.Connection:
    index = sqlite3.connect(file)
    try:
        if index.execute("pragma quick_check").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("broken")
        index.execute("pragma synchronous = off")  # what is lost with the power is made again from the records
        index.execute(_TABLE)
    except sqlite3.DatabaseError:
        index.close()
        raise
    return index
