"""A campaign: a study is run, from nothing or from where it was cut off."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fitgym.errors import InputError
from fitgym.study.executors.base import executors
from fitgym.study.plan import Cell, Plan
from fitgym.study.store import Status, Store

__all__ = ["Progress", "run"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a campaign stands.

    Attributes:
        status: of all runs of the plan.
        last: the run that has ended last.
        reason: why it has failed, "" if it has not.
        seconds: since the campaign began or was resumed.
        made: runs since then.
    """

    status: Status
    last: Cell
    reason: str
    seconds: float
    made: int

    @property
    def left_s(self) -> float:
        """Seconds that the open runs will take if they take as long as those that were made."""
        return self.seconds / self.made * self.status.open


def run(
    plan: Plan,
    folder: str | Path,
    *,
    executor: str = "local",
    workers: int | None = None,
    address: str = "",
    again: bool = False,
    watch: Callable[[Progress], None] | None = None,
) -> Status:
    """Make the runs of a plan that have no record in the folder.

    Args:
        plan: the study.
        folder: for the results; made if it does not exist.
        executor: name of one, see `fitgym.study.executors`.
        workers, address: for it.
        again: make the runs again that have failed.
        watch: called after each run.

    Raises:
        InputError: there is no such executor, it lacks a library, or the folder holds another study.
        OSError: records cannot be written; called again it goes on from there.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}, expected at least 1")
    maker = executors().load(executor)(workers, address)
    store = Store.create(folder, plan)
    with store.driving():
        missing = store.missing(again=again)
        status = store.noted()
        began = time.monotonic()
        try:
            # With nothing to do no cluster is started.
            for made, cell in enumerate(maker.run(missing, store.folder) if missing else (), 1):
                reason = store.note(cell.id)
                status = Status(status.done + (not reason), status.failed + bool(reason), status.open - 1)
                if watch is not None:
                    watch(Progress(status, cell, reason, time.monotonic() - began, made))
        except ModuleNotFoundError as problem:
            extra = executor if executor in ("ray", "slurm") else "study"
            raise InputError(f"executor '{executor}' needs {problem.name}: pip install 'fitgym[{extra}]'") from None
    return status
