"""The command line of studies: `fitgym study run`, `resume`, `status`, `report`, `export`, `bugsinpy`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from fitgym.commands.codes import DONE, FINDING
from fitgym.errors import InputError

if TYPE_CHECKING:
    from fitgym.study.campaign import Progress
    from fitgym.study.plan import Plan
    from fitgym.study.store import Status

__all__ = ["study"]


EXAMPLES = """Examples:
  fitgym study run studies/mio.toml --size small
  fitgym study status results/mio-small
  fitgym study report results/mio-small
"""

study = App(
    name="study", help="Run studies: experiments of many runs that answer one question.", help_epilogue=EXAMPLES
)

RUN_EXAMPLES = """Examples:
  fitgym study run studies/affs_exceptions.toml --size small
  fitgym study run mine.toml --executor ray --address auto --folder results/mine
  fitgym study resume results/mine --workers 2
"""


@study.command(help_epilogue=RUN_EXAMPLES)
def run(
    file: Path,
    /,
    *,
    size: str = "",
    folder: Path | None = None,
    executor: str = "local",
    workers: int | None = None,
    address: str = "",
) -> int:
    """Run a study; runs with a result are not repeated.

    Parameters
    ----------
    file
        The study file, see fitgym.study.plan.
    size
        A size that the study file defines, such as small or full.
    folder
        Folder for the results (default: results/NAME, or results/NAME-SIZE with a size).
    executor
        serial, local (processes of this machine), ray or slurm.
    workers
        Number of parallel runs (default: the number of cores).
    address
        Address of a cluster: ray://head:10001 or auto for ray; slurm, slurm:PARTITION, local or debug for slurm.
    """
    from fitgym.study.plan import Plan

    plan = Plan.load(file, size)
    place = folder or Path("results") / "-".join(filter(None, (plan.name, size)))
    runs = f"{len(plan.arms)} arms on {len(plan.subjects)} subjects with {len(plan.seeds)} seeds"
    cores = 1 if executor == "serial" else workers or os.cpu_count() or 1
    sys.stderr.write(
        f"{plan.name}: {runs}, {len(plan.cells())} runs of {plan.budget}, about {_clock(plan.estimate(cores))} with "
        f"{cores} at a time, in {place}\n"
    )
    return _campaign(plan, place, executor, workers, address)


RESUME_EXAMPLES = """Examples:
  fitgym study resume results/mine
  fitgym study resume results/mine --again --workers 2
"""


@study.command(help_epilogue=RESUME_EXAMPLES)
def resume(
    folder: Path,
    /,
    *,
    executor: str = "local",
    workers: int | None = None,
    address: str = "",
    again: bool = False,
) -> int:
    """Continue a study that was interrupted.

    Parameters
    ----------
    folder
        Folder of its results.
    executor
        As for run.
    workers
        As for run.
    address
        As for run.
    again
        Repeat the runs that failed.
    """
    from fitgym.study.store import Store

    return _campaign(Store.open(folder).plan, folder, executor, workers, address, again)


STATUS_EXAMPLES = """Examples:
  fitgym study status results/mine
"""


@study.command(help_epilogue=STATUS_EXAMPLES)
def status(folder: Path, /) -> int:
    """Show how many runs of a study are done, failed and open, and why runs failed.

    Parameters
    ----------
    folder
        Folder of its results.
    """
    from fitgym.study.store import Store

    store = Store.open(folder)
    sys.stdout.write(f"{store.plan.name}: {_counts(store.status())}\n")
    reasons: dict[str, int] = {}
    for record in store.records():
        if record["error"]:
            reasons[record["error"]] = reasons.get(record["error"], 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda one: -one[1]):
        sys.stdout.write(f"  {count} failed: {reason}\n")
    return DONE


REPORT_EXAMPLES = """Examples:
  fitgym study report results/mine
  fitgym study report results/mine --output paper/results
"""


@study.command(help_epilogue=REPORT_EXAMPLES)
def report(folder: Path, /, *, output: Path | None = None) -> int:
    """Write the report of a study: an HTML page that works offline, Markdown, LaTeX tables and figures.

    Parameters
    ----------
    folder
        Folder of the results; the report of an incomplete study says that it is incomplete.
    output
        Folder for the report (default: the folder of the results).
    """
    from fitgym.study.report import report as written

    try:
        files = written(folder, output)
    except ModuleNotFoundError as problem:
        raise InputError(f"a report needs the package {problem.name}; pip install 'fitgym[study]'") from None
    for file in files:
        sys.stdout.write(f"{file}\n")
    return DONE


EXPORT_EXAMPLES = """Examples:
  fitgym study export results/mine mine.csv
  fitgym study export results/mine mine.parquet
"""


@study.command(help_epilogue=EXPORT_EXAMPLES)
def export(folder: Path, output: Path, /) -> int:
    """Write a table of all runs of a study: identification, measures and seconds.

    Parameters
    ----------
    folder
        Folder of the results.
    output
        File to write; its name ends in .csv or .parquet.
    """
    from fitgym.study.table import export as written

    sys.stdout.write(f"{output}: {written(folder, output)} runs\n")
    return DONE


BUGSINPY_EXAMPLES = """Examples:
  fitgym study bugsinpy ~/BugsInPy checkouts faults.toml
"""


@study.command(help_epilogue=BUGSINPY_EXAMPLES)
def bugsinpy(root: Path, checkouts: Path, output: Path, /) -> int:
    """Write a list of faults from BugsInPy, as the path of studies whose trial is "fault".

    Parameters
    ----------
    root
        A checkout of BugsInPy, with projects/NAME/bugs/NUMBER/bug_patch.txt.
    checkouts
        A folder with NAME/NUMBER/fixed and NAME/NUMBER/buggy, as made by bugsinpy-checkout -w. Bugs without both
        folders are left out.
    output
        File for the list; its name ends in .toml.
    """
    from fitgym.study.faults import as_toml, from_bugsinpy
    from fitgym.suite.text.export import write

    if output.suffix != ".toml":
        raise InputError(f"the list '{output}' does not end in .toml; expected a TOML file, such as faults.toml")
    found = list(from_bugsinpy(root.resolve(), checkouts.resolve()))
    if not found:
        raise InputError(
            f"'{root}' and '{checkouts}' have no bug in common: expected projects/NAME/bugs/NUMBER/bug_patch.txt in the one "
            "and NAME/NUMBER/fixed and NAME/NUMBER/buggy in the other"
        )
    write(as_toml(found), output)
    sys.stdout.write(f"{output}: {len(found)} faults\n")
    return DONE


def _campaign(plan: Plan, place: Path, executor: str, workers: int | None, address: str, again: bool = False) -> int:
    from fitgym.study import campaign

    view = _View()
    try:
        found = campaign.run(plan, place, executor=executor, workers=workers, address=address, again=again, watch=view)
    except KeyboardInterrupt:
        sys.stderr.write(f"\nfitgym: interrupted; to continue, run: fitgym study resume {place}\n")
        return 130
    except OSError as problem:
        raise InputError(
            f"results cannot be written ({problem}); fix this, then run: fitgym study resume {place}"
        ) from None
    sys.stdout.write(f"{place}: {_counts(found)}\n")
    return FINDING if found.failed else DONE


def _counts(status: Status) -> str:
    return f"{status.done} done, {status.failed} failed, {status.open} open, of {status.all} runs"


class _View:
    """A status line on stderr: redrawn in place on a terminal, otherwise printed at most every 10 seconds."""

    def __init__(self) -> None:
        self._said = 0.0

    def __call__(self, progress: Progress) -> None:
        terminal = sys.stderr.isatty()
        now = time.monotonic()
        if progress.reason:
            last = progress.last
            start = "\r\033[K" if terminal else ""
            sys.stderr.write(f"{start}failed: {last.arm} on {last.subject}, seed {last.seed}: {progress.reason}\n")
        if progress.status.open and now - self._said < (0.1 if terminal else 10.0):
            return
        self._said = now
        text = f"{_counts(progress.status)}, {_clock(progress.left_s)} left"
        sys.stderr.write(f"\r\033[K{text}" + ("" if progress.status.open else "\n") if terminal else f"{text}\n")
        sys.stderr.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
