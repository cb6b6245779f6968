"""Campaigns: run a study from the beginning, or resume an interrupted one."""

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
    """The progress of a campaign.

    Attributes:
        status: of all runs of the plan.
        last: the run that has ended last.
        reason: why it failed, "" if it did not.
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
        """Estimated seconds for the open runs, from the mean duration so far."""
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
        folder: for the results; created if needed.
        executor: its name, see `fitgym.study.executors`.
        workers, address: passed to the executor.
        again: repeat failed runs.
        watch: called after each run.

    Raises:
        InputError: there is no such executor, it lacks a library, or the folder contains another study.
        OSError: records cannot be written; a second call continues from there.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}; expected at least 1")
    maker = executors().load(executor)(workers, address)
    store = Store.create(folder, plan)
    with store.driving():
        missing = store.missing(again=again)
        status = store.noted()
        began = time.monotonic()
        try:
            # Do not start a cluster if nothing is to be done.
            for made, cell in enumerate(maker.run(missing, store.folder) if missing else (), 1):
                reason = store.note(cell.id)
                status = Status(status.done + (not reason), status.failed + bool(reason), status.open - 1)
                if watch is not None:
                    watch(Progress(status, cell, reason, time.monotonic() - began, made))
        except ModuleNotFoundError as problem:
            extra = executor if executor in ("ray", "slurm") else "study"
            package = (problem.name or "").partition(".")[0]
            raise InputError(
                f"executor '{executor}' needs the package {package}: pip install 'fitgym[{extra}]'"
            ) from None
    return status
