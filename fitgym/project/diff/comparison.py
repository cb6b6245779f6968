"""Comparison of a project's working tree with an earlier commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fitgym import __version__
from fitgym.errors import ExecutionError, InputError, SubjectError
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.project.diff.candidates import Candidate, candidates
from fitgym.project.diff.difference import Difference, Pair
from fitgym.project.diff.edits import is_public
from fitgym.project.diff.revision import Revision
from fitgym.project.diff.versions import Edited, Versions, versions
from fitgym.project.layout import Project
from fitgym.sandbox.folder import Folder
from fitgym.subject.source import locate
from fitgym.subject.subject import Subject
from fitgym.suite.assertions import renamed
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.text.export import file_name, suite_text, write
from fitgym.suite.text.generated import GENERATED

__all__ = ["Compared", "Comparison", "Request", "compare"]

SEARCH = 0.35
"""Share of a module's time for each of the two searches; the rest is for comparing."""

CONFIRMING, CONFIRMING_S = 0.35, 8.0
"""Share of a module's time for shortening and confirming (half each), and its maximum in seconds."""

_Ends = tuple[float | None, float | None]
"""End of comparing and end of shortening on the clock `time.monotonic`; None for budgets that count events."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to compare two versions.

    Attributes:
        project: in the working tree.
        revision: the earlier version.
        budget: for all modules together. Seconds include everything. Executions and generations count only the
            searches; the result then does not depend on time.
        seed: of all random decisions.
        callers: also compare unchanged modules that import a changed one.
        output: folder for the tests that show differences; None writes none.
    """

    project: Project
    revision: Revision
    budget: Budget
    seed: int = 0
    callers: bool = False
    output: Path | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of the comparison of one module.

    Attributes:
        edited: the module, and the differences in its source.
        differences: test cases with different outcomes.
        agreeing: number of test cases with equal outcomes.
        reached: changed functions that a compared test case ran.
        problem: why nothing was compared, "" if something was.
        path: of the file with its tests, None if none was written.
    """

    edited: Edited
    differences: tuple[Difference, ...] = ()
    agreeing: int = 0
    reached: tuple[str, ...] = ()
    problem: str = ""
    path: Path | None = None

    @property
    def name(self) -> str:
        """The dotted name of the module."""
        return self.edited.module.name

    @property
    def missed(self) -> tuple[str, ...]:
        """Changed functions that no compared test case ran."""
        return tuple(name for name in self.edited.edits.changed if name not in self.reached)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of the comparison of a project.

    Attributes:
        request: what was compared.
        versions: its modules.
        modules: the result of each changed module.
        interrupted: the user stopped the comparison; modules not compared by then are missing.
    """

    request: Request
    versions: Versions
    modules: tuple[Compared, ...] = ()
    interrupted: bool = False

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences of all modules."""
        return tuple(one for module in self.modules for one in module.differences)

    def record(self) -> dict[str, Any]:
        """Return the comparison as one JSON object."""
        return {
            "fitgym_version": __version__,
            "revision": self.request.revision.text,
            "commit": self.request.revision.commit,
            "budget": str(self.request.budget),
            "seed": self.request.seed,
            "unchanged": self.versions.unchanged,
            "added": list(self.versions.added),
            "removed": list(self.versions.removed),
            "modules": [
                {
                    "name": one.name,
                    "old_name": one.edited.old_name,
                    "changed": list(one.edited.edits.changed),
                    "added": list(one.edited.edits.added),
                    "removed": list(one.edited.edits.removed),
                    "agreeing": one.agreeing,
                    "not_reached": list(one.missed),
                    "problem": one.problem,
                    "suite_path": None if one.path is None else str(one.path),
                    "differences": [
                        {
                            "function": found.function,
                            "code": list(found.code),
                            "before": found.before,
                            "now": found.now,
                            "test": None if found.test is None else found.test.name,
                        }
                        for found in one.differences
                    ],
                }
                for one in self.modules
            ],
        }


def compare(request: Request, report: Callable[[str], None] = lambda _: None) -> Comparison:
    """Generate tests for the code changed since a commit, and run them on both versions.

    After an interruption (Ctrl-C), the results of the modules compared so far are returned.

    Args:
        request: the versions and options.
        report: receives progress.

    Raises:
        InputError: git cannot read the commit, or a file of the output was not generated by fitgym.
    """
    started = time.monotonic()
    if request.output is not None and request.output.exists() and not request.output.is_dir():
        raise InputError(f"'{request.output}' is a file; expected a folder for the tests")
    found = versions(request.project, request.revision, callers=request.callers)
    for edited in found.edited:
        _refuse_to_replace(request.output, edited)
    if not found.edited:
        return Comparison(request, found)
    report(f"reading {request.revision.text} from git")
    modules: list[Compared] = []
    interrupted = False
    folder = Folder()
    try:
        tree = Path(folder.path) / "tree"
        tree.mkdir()
        request.revision.checkout(tree)
        for number, edited in enumerate(found.edited):
            report(f"comparing {edited.module.name}")
            left = len(found.edited) - number
            end = latest = None
            if request.budget.unit == "s":
                now = time.monotonic()
                share = max(0.0, started + request.budget.amount - now) / left
                kept = min(CONFIRMING_S, CONFIRMING * share)
                end, latest = now + share - kept, now + share - kept / 2
            modules.append(_of_module(request, edited, tree, (end, latest), 2 * len(found.edited)))
    except KeyboardInterrupt:
        if not modules:
            raise
        interrupted = True
    finally:
        folder.remove()
    return Comparison(request, found, tuple(modules), interrupted)


def _of_module(request: Request, edited: Edited, tree: Path, ends: _Ends, searches: int) -> Compared:
    """Compare both versions of one module."""
    name = edited.module.name
    structure = _removed(edited)
    if edited.problem:
        return Compared(edited, structure, problem=edited.problem)
    if not edited.edits.changed:
        return Compared(edited, structure)
    with suppress(SubjectError):
        old_reference = locate(edited.old_name, tree / edited.old_source)
        new_reference = locate(name, request.project.source)
        with Executor(old_reference) as old, Executor(new_reference) as new:
            for executor in (old, new):
                executor.require(frozenset({"infection"}))
                executor.start()
            if problem := _import_problem(old):
                return Compared(edited, structure, problem=f"the old version cannot be imported: {problem}")
            if problem := _import_problem(new):
                broken = Difference(name, "the module", (f"import {name}",), "works", problem)
                return Compared(edited, (broken, *structure))
            return _searched(request, edited, (old, new), structure, ends, searches)
    return Compared(edited, structure, problem="the old version has no module of this name")


def _searched(
    request: Request,
    edited: Edited,
    executors: tuple[Executor, Executor],
    structure: tuple[Difference, ...],
    ends: _Ends,
    searches: int,
) -> Compared:
    """Search in both versions, then compare."""
    old, new = executors
    end, latest = ends
    amount = max(1, int(request.budget.amount) // searches)
    budget = None if end is not None else replace(request.budget, amount=float(amount))
    found: list[list[Candidate]] = []
    problems = []
    for executor in (old, new):
        deadline = None
        if end is not None:
            now, left = time.monotonic(), 2 - len(found)
            deadline = now + SEARCH / (1 - SEARCH * (2 - left)) * max(0.0, end - now)
        try:
            changed = edited.edits.changed
            found.append(candidates(executor, changed, budget=budget, deadline=deadline, seed=request.seed))
        except (SubjectError, ExecutionError) as problem:
            found.append([])
            problems.append(str(problem))
    pair = Pair(old, new, edited.edits.changed)
    try:
        differences = tuple(pair.differences(*found, deadline=end, latest=latest))
    except ExecutionError as problem:
        return Compared(edited, structure, problem=str(problem))
    path, differences = _written(request, edited, differences, new.subject)
    why = problems[0] if len(problems) == 2 else ""
    return Compared(edited, (*structure, *differences), pair.agreeing, tuple(sorted(pair.reached)), why, path)


def _import_problem(executor: Executor) -> str:
    """Return why a version cannot be imported, "" if it can."""
    try:
        executor.subject  # noqa: B018  (starts the worker)
    except (SubjectError, ExecutionError) as problem:
        return str(problem)
    return ""


def _removed(edited: Edited) -> tuple[Difference, ...]:
    """Return public functions and classes that the new version lacks, without the methods of a removed class."""
    gone = [name for name in edited.edits.removed if is_public(name)]
    whole = [name for name in gone if not any(name.startswith(f"{other}.") for other in gone)]
    name = edited.module.name
    return tuple(Difference(name, one, (f"{name}.{one}",), "is defined", "is not defined any more") for one in whole)


def _written(
    request: Request, edited: Edited, differences: Sequence[Difference], subject: Subject
) -> tuple[Path | None, tuple[Difference, ...]]:
    """Write the test file of a module; return its path, and the differences with their final test names."""
    tests: list[FinishedTest] = renamed([one.test for one in differences if one.test is not None], subject)
    named = iter(tests)
    final = tuple(one if one.test is None else replace(one, test=next(named)) for one in differences)
    if request.output is None or not tests:
        return None, final
    revision = request.revision.text
    text = suite_text(tests, subject, folder=request.output.resolve(), command=f"fitgym diff {revision}")
    path = request.output / _file(edited)
    write(text.replace(*_meaning(revision, request.revision.commit)), path)
    return path, final


def _meaning(revision: str, commit: str) -> tuple[str, str]:
    """Return the usual sentence of the header about failing tests, and its replacement for these tests."""
    usual = "They record what the code did when they were made; a failing test shows a change,\nnot always a fault."
    return usual, f"They state what the code did at {revision} ({commit[:12]}) and does not do any more."


def _file(edited: Edited) -> str:
    name = file_name(edited.module.name)
    return name.replace("test_", "test_differences_", 1)


def _refuse_to_replace(folder: Path | None, edited: Edited) -> None:
    """Raise an error if the output would replace a file that fitgym did not generate."""
    if folder is None or edited.problem:
        return
    path = folder / _file(edited)
    if path.is_file() and GENERATED.encode() not in path.read_bytes()[:500]:
        raise InputError(f"'{path}' exists and was not generated by fitgym; name another output folder")
