"""The command `fitgym diff`: find behaviour that has changed since a commit."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from fitgym.commands.codes import DONE, FINDING, INTERRUPTED
from fitgym.commands.interruption import held
from fitgym.errors import InputError

__all__ = ["DIFF_EXAMPLES", "diff"]

DIFF_EXAMPLES = """Examples:
  fitgym diff HEAD
  fitgym diff main src/shop --budget 120s
  fitgym diff v1.2 --only shop.prices --output tests/differences
  fitgym diff HEAD~3 --budget 20000x --json differences.json
"""


def diff(
    revision: str,
    project: str = ".",
    /,
    *,
    budget: str = "60s",
    seed: int = 0,
    only: Annotated[list[str] | None, Parameter(negative=())] = None,
    exclude: Annotated[list[str] | None, Parameter(negative=())] = None,
    callers: Annotated[bool, Parameter(negative=())] = False,
    output: Path | None = None,
    json: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
) -> int:
    """Show what behaves differently since a commit, with a small test for each difference.

    The search looks for calls of public functions that reach changed code. Each call runs in both versions.

    The new version is the working tree, including uncommitted changes. The exit code is 0 if no difference was found,
    and 1 otherwise.

    Parameters
    ----------
    revision
        The earlier version: a hash, a tag, a branch or HEAD~1.
    project
        A package or folder.
    budget
        Budget for all changed modules: 60s (seconds), 20000x (executions of test cases) or 200g (generations).
    seed
        With a budget in x or g, the same seed gives the same result.
    only
        Modules or packages to compare, with * and ? as wildcards; may be repeated.
    exclude
        Modules or packages to leave out, with the same wildcards; may be repeated.
    callers
        Also compare unchanged modules that import a changed one.
    output
        Folder for tests that assert the behaviour of the old version; they fail now.
    json
        File for the result, - for stdout.
    quiet
        Show no progress on stderr.
    """
    with held():
        from fitgym.evolution.budget import Budget
        from fitgym.project.diff.account import account
        from fitgym.project.diff.comparison import Request, compare
        from fitgym.project.diff.revision import revision as named
        from fitgym.project.layout import find
        from fitgym.suite.text.export import write

    to_stdout = json is not None and str(json) == "-"
    if json is not None and str(json).startswith("-") and not to_stdout:
        raise InputError(f"--json is followed by '{json}'; expected the name of a file, or - for stdout")
    if seed < 0:
        raise InputError(f"seed {seed} is negative; expected a whole number of at least 0")

    def show(line: str) -> None:
        if not quiet:
            sys.stderr.write(f"{line}\n")

    amount = Budget.parse(budget)
    found = find(project, only=only or (), exclude=exclude or ())
    request = Request(found, named(revision, found.source), amount, seed, callers, output)
    result = compare(request, show)
    record = json_format.dumps(result.record(), indent=2) + "\n"
    if json is not None and not to_stdout:
        write(record, json)
    sys.stdout.write(record if to_stdout else account(result))
    if result.interrupted:
        return INTERRUPTED
    return FINDING if result.differences or result.versions.removed else DONE
