"""The command `fitgym update`: adapt the generated tests to the changed code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from fitgym.commands.flags import Text, with_options
from fitgym.run.setting import DEFAULT_ENV

if TYPE_CHECKING:
    from fitgym.project.generation import ProjectRequest
    from fitgym.project.layout import Module

__all__ = ["UPDATE_EXAMPLES", "update"]

UPDATE_EXAMPLES = """Examples:
  fitgym update
  fitgym update shop --jobs 2 --budget 120s
"""


@with_options("path", "budget", "timeout_s", shown={"goal": "tests", "search": "chosen by the goal"})
def update(
    subject: str = ".",
    /,
    *,
    path: Path | None = None,
    agent: Text = "",
    budget: Text = "",
    seed: int = 0,
    output: Path | None = None,
    jobs: int = 1,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
    options: Mapping[str, Any],
) -> int:
    """Replace generated tests that no longer pass or add nothing, and add tests for new code.

    A generated test of changed code adds nothing if your tests and the other generated tests cover and kill all that it
    covers and kills. Tests that you wrote or edited are never changed or removed; those that fail are listed.

    Parameters
    ----------
    subject
        A package, or the folder of a project.
    path
        Folder to search first for the package.
    agent
        As for `fitgym generate`.
    budget
        As for `fitgym generate`, for all modules that have changed.
    seed
        As for `fitgym generate`.
    output
        Folder of the generated tests (default: the folder generated inside the project's test folder).
    jobs
        Number of modules to process in parallel.
    quiet
        Show no progress on stderr.
    """
    from fitgym.commands.check import described
    from fitgym.commands.project_run import run_project
    from fitgym.project.check import check
    from fitgym.project.generation import ProjectRequest
    from fitgym.project.layout import find
    from fitgym.project.pruning import prune
    from fitgym.project.redundancy import remove_redundant
    from fitgym.run.setting import Setting
    from fitgym.suite.text.generated import generated_files, tested

    keywords = {
        "env": DEFAULT_ENV,
        "agent": agent,
        "seed": seed,
        "path": None if path is None else str(path),
        **options,
    }
    project = find(subject, path)
    folder = output or project.generated
    files = [file.resolve() for file in generated_files(folder)]
    wanted = ProjectRequest(project, Setting.from_keywords(**keywords), None, folder)
    known = {wanted.file(module).resolve() for module in project.modules}
    obsolete = [file for file in files if file not in known and project.lacks(tested(file))]
    pruned = prune(check(project, [file for file in files if file in known or file in obsolete]), obsolete)
    if pruned.removed:
        sys.stdout.write(f"removed because they no longer pass ({len(pruned.removed)}):\n\n")
        sys.stdout.write("".join(f"{line}\n" for line in described(pruned.removed, project.root)))
    for file in pruned.deleted:
        sys.stdout.write(f"deleted: {file}: it contains no tests any more\n")
    if pruned.left:
        sys.stdout.write(
            f"not changed, because they are yours or their file cannot be imported ({len(pruned.left)}):\n\n"
        )
        sys.stdout.write("".join(f"{line}\n" for line in described(pruned.left, project.root)))
    redundant = remove_redundant(project, _changed(wanted))
    if redundant.removed:
        sys.stdout.write(f"removed because other tests do the same ({len(redundant.removed)}):\n\n")
        sys.stdout.write("".join(f"  {test}\n" for test in redundant.removed))
    sys.stdout.write("".join(f"not searched for redundant tests: {note}\n" for note in redundant.notes))
    return run_project(
        subject,
        keywords,
        budget=budget,
        output=output,
        only=(),
        exclude=(),
        tests=None,
        jobs=jobs,
        again=False,
        format="pytest",
        json=None,
        quiet=quiet,
    )


def _changed(request: ProjectRequest) -> dict[Module, Path]:
    """Return the generated files that were made for other code than their module has now, by module."""
    from fitgym.errors import FitgymError
    from fitgym.run.generation import filing_of

    changed = {}
    for module in request.project.modules:
        with suppress(FitgymError):  # generation reports it
            filing = filing_of(request.of(module))
            if filing is not None and filing.standing is not None and not filing.is_current:
                changed[module] = filing.path
    return changed
