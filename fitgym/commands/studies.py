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

study = App(name="study", help="Run studies: many runs that answer one question.", help_epilogue=EXAMPLES)

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
    """Make the runs of a study file that have not been made.

    Parameters
    ----------
    file
        What is compared on what, see fitgym.study.plan.
    size
        One of the sizes that the file has, such as small or full.
    folder
        For the results (default: results/NAME, with the size behind it).
    executor
        serial, local (processes of this machine), ray or slurm.
    workers
        Runs at a time (default: as many as there are cores).
    address
        Of a cluster: ray://head:10001 or auto for ray; slurm, slurm:PARTITION, local or debug for slurm.
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
    """Go on with a study that was cut off.

    Parameters
    ----------
    folder
        With its results.
    executor
        As for run.
    workers
        As for run.
    address
        As for run.
    again
        Make the runs again that have failed.
    """
    from fitgym.study.store import Store

    return _campaign(Store.open(folder).plan, folder, executor, workers, address, again)


STATUS_EXAMPLES = """Examples:
  fitgym study status results/mine
"""


@study.command(help_epilogue=STATUS_EXAMPLES)
def status(folder: Path, /) -> int:
    """Say how many runs of a study are done, failed and open, and why the failed ones are.

    Parameters
    ----------
    folder
        With its results.
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
    """Write the report of a study: a page that needs no network, Markdown, LaTeX tables and figures.

    Parameters
    ----------
    folder
        With the results; a study that is not complete has a report that says so.
    output
        Folder for the report (default: the same).
    """
    from fitgym.study.report import report as written

    try:
        files = written(folder, output)
    except ModuleNotFoundError as problem:
        raise InputError(f"a report needs {problem.name}: pip install 'fitgym[study]'") from None
    for file in files:
        sys.stdout.write(f"{file}\n")
    return DONE


EXPORT_EXAMPLES = """Examples:
  fitgym study export results/mine mine.csv
  fitgym study export results/mine mine.parquet
"""


@study.command(help_epilogue=EXPORT_EXAMPLES)
def export(folder: Path, output: Path, /) -> int:
    """Write a table of all runs of a study: whose each is, its measures and its seconds.

    Parameters
    ----------
    folder
        With the results.
    output
        A file that ends in .csv or .parquet.
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
        A folder with NAME/NUMBER/fixed and NAME/NUMBER/buggy, as bugsinpy-checkout -w makes them; bugs that are not there
        are left out.
    output
        The list, a file that ends in .toml.
    """
    from fitgym.study.faults import as_toml, from_bugsinpy
    from fitgym.suite.text.export import write

    if output.suffix != ".toml":
        raise InputError(f"the list '{output}' must be a file that ends in .toml")
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
        sys.stderr.write(f"\nfitgym: interrupted; go on with: fitgym study resume {place}\n")
        return 130
    except OSError as problem:
        raise InputError(f"results cannot be written ({problem}); when they can: fitgym study resume {place}") from None
    sys.stdout.write(f"{place}: {_counts(found)}\n")
    return FINDING if found.failed else DONE


def _counts(status: Status) -> str:
    return f"{status.done} done, {status.failed} failed, {status.open} open, of {status.all} runs"


class _View:
    """A line on stderr, written again in place on a terminal and else from time to time."""

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
