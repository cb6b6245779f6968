"""The command `fitgym generate`: generate suites for a module, a class, a package or a project."""

from __future__ import annotations

import json as json_format
import os
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from fitgym.commands.codes import DONE, FINDING, INTERRUPTED
from fitgym.commands.flags import Text, with_options
from fitgym.commands.interruption import held
from fitgym.errors import InputError
from fitgym.run.setting import DEFAULT_ENV, GENERATED_GOAL, may_infect
from fitgym.sandbox.requirement import required

if TYPE_CHECKING:
    from fitgym.commands.live import LiveView
    from fitgym.run.generation import Request

__all__ = ["GENERATE_EXAMPLES", "generate"]

Patterns = Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)]

GENERATE_EXAMPLES = """Examples:
  fitgym generate textwrap --goal coverage --budget 30s
  fitgym generate mypackage.parser:Parser --agent ucb --budget 200g
  fitgym generate src/tool.py --agent fixed:exception+branch --json record.json
  fitgym generate textwrap --functions exception,branch,loop_twice --actions singles
  fitgym generate mypackage.parser --tests tests
  fitgym generate textwrap --env fitgym/AlgorithmSelection-v0 --goal coverage
  fitgym generate shop --jobs 2 --budget 300s
  fitgym generate . --only shop.store --exclude shop.store.legacy
"""


@with_options(
    *("path", "budget", "timeout_s"),
    shown={
        "goal": "tests, or the goal of --env",
        "search": "chosen by the goal: mosa for tests and coverage, else whole_suite",
    },
)
def generate(
    subject: str = ".",
    /,
    *,
    path: Path | None = None,
    env: str = DEFAULT_ENV,
    agent: Text = "",
    budget: Text = "",
    seed: int = 0,
    output: Path | None = None,
    only: Patterns = (),
    exclude: Patterns = (),
    jobs: int = 1,
    tests: Path | None = None,
    again: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    format: Literal["pytest", "unittest"] = "pytest",
    json: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
    require_sandbox: Literal[0, 1, 2, 3] = 0,
    options: Mapping[str, Any],
) -> int:
    """Generate pytest suites for a module, a class, a package or a project.

    Existing tests are kept, whether fitgym generated them or you wrote or edited them; new ones are added. If the code
    has not changed since its tests were generated, nothing is done.

    Parameters
    ----------
    subject
        package.module, package.module:Class or path/to/file.py[:Class]; or a package or the folder of a project, for
        all its modules.
    path
        Folder to search first for the subject.
    env
        The environment, which defines the agent's actions, see `fitgym list envs`.
    agent
        The agent: ucb, uniform, fixed:exception+branch, ..., or the folder of a saved agent (default: chosen by the
        environment and goal).
    budget
        60s (seconds, of which up to 40 % are for finishing), 20000x (executions of test cases) or 200g (generations),
        for all modules together (default: 60s for a module; 20s for each module of a project, divided by --jobs).
        With x and g, finishing does at most as much work as the search, and ends after three times its time. At least
        10 seconds plus the time of eight imports of the subject are allowed. Tests that have not passed by then are
        dropped.
    seed
        With a budget in x or g, the same seed gives the same suite.
    output
        Folder for the suites, created if needed (default: generated_tests; for a project the folder generated inside
        its test folder).
    only
        Modules of a project to generate tests for, such as shop.store or shop.*; may be repeated.
    exclude
        Modules of a project to leave out; may be repeated.
    jobs
        Number of modules to process in parallel.
    tests
        Folder with existing tests. They run first, and only tests that add something to them are exported (default: the
        tests of a project; for a single module only the tests in its output file).
    again
        Search even if the tests are up to date, and add new tests.
    format
        pytest functions, or unittest classes that need only the standard library.
    json
        File for the run record, - for stdout.
    quiet
        Show no progress on stderr.
    require_sandbox
        Refuse to run code under test below this level of the sandbox: 0 audit hook, 1 Landlock, 2 seccomp, 3
        namespaces. `fitgym doctor` shows the level of this machine.
    """
    to_stdout = json is not None and str(json) == "-"
    if json is not None and str(json).startswith("-") and not to_stdout:
        raise InputError(f"--json is followed by '{json}'; expected the name of a file, or - for stdout")
    if jobs < 1:
        raise InputError(f"--jobs is {jobs}; expected a number of processes above 0")
    keywords = {"env": env, "agent": agent, "seed": seed, "path": None if path is None else str(path), **options}
    with required(require_sandbox):
        if _is_project(subject, path):
            from fitgym.commands.project_run import run_project

            return run_project(
                subject,
                keywords,
                budget=budget,
                output=output,
                only=only,
                exclude=exclude,
                tests=tests,
                jobs=jobs,
                again=again,
                format=format,
                json=json,
                quiet=quiet,
            )
        if only or exclude:
            flag = "--only" if only else "--exclude"
            raise InputError(
                f"{flag} selects modules of a package or project, but '{subject}' is a single module; leave the "
                "option out"
            )
        return _generate_one(
            subject,
            keywords | {"budget": budget or "60s"},
            output=output or Path("generated_tests"),
            tests=tests,
            again=again,
            format=format,
            json=json,
            quiet=quiet,
        )


def _is_project(subject: str, path: Path | None) -> bool:
    """Return whether the subject is a folder or a package, not a module."""
    from fitgym.subject.source import package_folders

    return os.path.isdir(subject) or bool(package_folders(subject, path)[0])


def _generate_one(
    subject: str,
    keywords: Mapping[str, Any],
    *,
    output: Path,
    tests: Path | None,
    again: bool,
    format: str,
    json: Path | None,
    quiet: bool,
) -> int:
    """Generate the suite of one module or class."""
    with held():
        from fitgym.execution.executor import Executor
        from fitgym.subject.source import locate

    to_stdout = json is not None and str(json) == "-"
    env, agent, budget = keywords["env"], keywords["agent"], keywords["budget"]
    with Executor(locate(subject, keywords["path"], keywords.get("programs", ""))) as executor:
        goal = keywords.get("goal", GENERATED_GOAL if env == DEFAULT_ENV else env.rpartition("/")[2])
        if may_infect(goal, agent):
            executor.require(frozenset({"infection"}))
        with held():
            executor.start()  # the worker imports the subject while this process imports the search
            from fitgym.run.generation import Request, generate_request

        request = Request.of(
            subject, output=output, json=None if to_stdout else json, format=format, tests=tests or "", **keywords
        )
        if not again and json is None and _is_current(request):
            return DONE
        with nullcontext() if quiet else _view(subject, goal, agent or "the default") as view:
            run = generate_request(request, progress=view, executor=executor)
    for note in run.notes:
        sys.stderr.write(f"fitgym: {note}\n")
    if to_stdout:
        sys.stdout.write(json_format.dumps(run.record, indent=2) + "\n")
    else:
        sys.stdout.write(run.summary() + "\n")
    if not run.source and not run.record["kept"]:
        advice = (
            "" if goal in ("coverage", "tests") else "; --goal coverage keeps a test for every line and branch reached"
        )
        why = f"in {budget} the search found no test that goal '{goal}' keeps{advice}"
        if run.record["dropped"]:
            why = f"no test passed every time: {run.left_out()}"
        sys.stderr.write(f"fitgym: nothing was exported: {why}\n")
    if run.interrupted:
        return INTERRUPTED
    return DONE if run.source or run.record["kept"] else FINDING


def _is_current(request: Request) -> bool:
    """Return whether the tests are up to date, and tell the user if they are."""
    from fitgym.run.generation import filing_of

    filing = filing_of(request)
    if filing is None or not filing.is_current:
        return False
    sys.stdout.write(
        f"{filing.path} is up to date: the code has not changed since its tests were made (--again searches for more)\n"
    )
    return True


def _view(subject: str, goal: str, agent: str) -> LiveView:
    """Create the view of a run. Its import takes a tenth of the start-up time, so --quiet skips it."""
    with held():
        from fitgym.commands.live import LiveView

    return LiveView(subject, goal, agent)
