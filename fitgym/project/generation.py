"""Generation of suites for all modules of a project: one budget, several jobs, one test file per module."""

from __future__ import annotations

import base64
import math
import pickle
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fitgym.allocation.shares import decisions, share
from fitgym.engine.existing import Existing
from fitgym.errors import BudgetError, FitgymError
from fitgym.evolution.budget import Budget
from fitgym.project.existing.measurement import LIMIT_S, MUTANTS_S, measure, places
from fitgym.project.jobs import Jobs
from fitgym.project.layout import Module, Project
from fitgym.project.order import untangle
from fitgym.project.records import Records
from fitgym.run.generation import Request, filing_of
from fitgym.run.setting import GENERATED_GOAL, Setting
from fitgym.suite.text.export import file_name
from fitgym.suite.text.filing import Filing
from fitgym.suite.text.generated import is_generated

__all__ = ["LEAST_S", "Event", "Outcome", "ProjectRequest", "generate_project"]

EXISTING_SHARE = 0.25
"""Share of a budget in seconds that existing tests may take; running their mutants may take the same share again."""

MUTANT_GOALS = frozenset({"tests", "strong_mutation"})
"""Goals that use the mutants killed by existing tests."""

LEAST_S = 3.0
"""Minimal budget of a module in seconds: enough to import it and to run its tests."""


@dataclass(frozen=True, slots=True)
class ProjectRequest:
    """A request to generate suites for a project.

    Attributes:
        project: the modules.
        setting: for each module, without subject and budget.
        budget: for all modules together; None for a request that is not carried out.
        output: folder for the tests, with a subfolder for each subpackage.
        tests: folder of existing tests; only tests that add something to them are written. With None, only the tests in
            the output file of each module count.
        jobs: number of modules processed in parallel.
        format: "pytest" or "unittest".
        again: also search modules whose tests are up to date.
    """

    project: Project
    setting: Setting
    budget: Budget | None
    output: Path
    tests: Path | None = None
    jobs: int = 1
    format: str = "pytest"
    again: bool = False

    def file(self, module: Module) -> Path:
        """Return the test file of a module."""
        return self.output.joinpath(*module.name.split(".")[1:-1], self._name(module))

    def of(self, module: Module) -> Request:
        """Return the request for one module, without a budget."""
        options = {"path": str(self.project.source), **self.setting.options}
        setting = replace(self.setting, subject=module.name, options=options)
        file = self.file(module)
        return Request(setting, file.parent, format=self.format, name=file.name)

    def _name(self, module: Module) -> str:
        """Return the name of the module's test file.

        It ends in `_generated.py` if a hand-written test file has the usual name, because pytest cannot import two
        files of the same name from folders that are not packages.
        """
        name = file_name(module.name)
        if not all(map(is_generated, self.project.tests.rglob(name))):
            return f"{name.removesuffix('.py')}_generated.py"
        return name


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one module.

    Attributes:
        record: of its run, None if there was none.
        path: its test file, None if there is none.
        error: why there was no run, "" if there was one or none was needed.
        current: its tests were made for the current code, so there was nothing to do.
        interrupted: the user stopped it.
        postponed: the budget was too small for all modules, so it is left for the next run.
    """

    record: dict[str, Any] | None = None
    path: Path | None = None
    error: str = ""
    current: bool = False
    interrupted: bool = False
    postponed: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """A progress event of a project run, for a view.

    Attributes:
        module: its name; "" for events about all tests of the project.
        spent: used share of the module's budget, in [0, 1].
        note: the current activity, in a few words.
        outcome: the result, None before the end.
    """

    module: str
    spent: float = 0.0
    note: str = ""
    outcome: Outcome | None = None


@dataclass(slots=True)
class _Run:
    """The state of one run over the modules of a project."""

    request: ProjectRequest
    report: Callable[[Event], None]
    records: Records
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    deadline: float = 0.0
    ends: dict[str, float] = field(default_factory=dict)  # when the budgets of modules in progress end
    interrupted: bool = False
    existing: Mapping[str, Existing] = field(default_factory=dict)

    def end(self, module: str, outcome: Outcome) -> None:
        """Store and report the outcome of a module."""
        self.outcomes[module] = outcome
        self.ends.pop(module, None)
        self.report(Event(module, 1.0, outcome=outcome))


def generate_project(request: ProjectRequest, report: Callable[[Event], None] = lambda _: None) -> dict[str, Outcome]:
    """Generate a suite for each module.

    Modules whose tests are up to date are skipped, so an interrupted or killed run can be continued. A module that
    cannot be imported has an outcome with an error. After an interruption (Ctrl-C), modules in progress are finished
    quickly, and the others are left out. If the budget is too small for all modules, those in inner packages are
    postponed.

    Args:
        request: the modules and options.
        report: receives events.

    Returns:
        The outcomes by module name, in the order of the project.

    Raises:
        BudgetError: the budget is too small for one module.
        InputError: see `fitgym.run.generation.generate`.
        KeyboardInterrupt: a second interruption.
    """
    run = _Run(request, report, Records(request.project.root))
    waiting: deque[tuple[Module, Request]] = deque()
    for module in request.project.modules:
        try:
            wanted = request.of(module)
            filing = filing_of(wanted)
            assert filing is not None
            current = not request.again and _is_current(filing, run.records.get(module.name))
        except FitgymError as problem:
            run.end(module.name, Outcome(error=str(problem)))
            continue
        if current:
            run.end(module.name, Outcome(path=None if filing.standing is None else filing.path, current=True))
        else:
            waiting.append((module, wanted))
    if waiting:
        budget, room = _checked_budget(request)
        inward = sorted(waiting, key=lambda each: (each[0].name.count("."), each[0].name))
        run.outcomes |= {module.name: Outcome(postponed=True) for module, _ in inward[room:]}
        waiting = deque(inward[:room])
        run.deadline = time.monotonic() + budget.amount
        if request.tests is not None:
            run.existing = _existing(run, [module for module, _ in waiting], budget)
        with Jobs(min(request.jobs, len(waiting))) as jobs:
            _work(run, jobs, waiting, budget)
        if not run.interrupted:
            _untangle(run)
    order = [module.name for module in request.project.modules]
    return {name: run.outcomes[name] for name in order if name in run.outcomes}


def _work(run: _Run, jobs: Jobs, waiting: deque[tuple[Module, Request]], whole: Budget) -> None:
    """Process all modules, the smallest first, so that budget they leave unused goes to larger ones."""
    sizes = {module.name: decisions(_source(module)) for module, _ in waiting}
    waiting = deque(sorted(waiting, key=lambda each: (sizes[each[0].name], each[0].name)))
    while waiting or jobs.busy:
        try:
            while waiting and jobs.room:
                module, wanted = waiting.popleft()
                budget = _share(
                    run, whole, sizes[module.name], [sizes[m.name] for m, _ in waiting], list(sizes.values())
                )
                run.ends[module.name] = time.monotonic() + budget.amount
                setting = replace(wanted.setting, budget=str(budget))
                run.report(Event(module.name, 0.0, "starting"))
                jobs.begin(
                    module.name,
                    {
                        "setting": setting.to_json(),
                        "output": str(wanted.output),
                        "name": wanted.name,
                        "format": wanted.format,
                        "existing": _packed(run.existing.get(module.name)),
                    },
                )
            for name, line in jobs.answers():
                _take(run, name, line)
        except KeyboardInterrupt:
            if run.interrupted:
                raise
            run.interrupted = True
            waiting.clear()
            jobs.interrupt()


def _existing(run: _Run, modules: Sequence[Module], budget: Budget) -> Mapping[str, Existing]:
    """Measure the existing tests on some modules, using at most `EXISTING_SHARE` of a budget in seconds."""
    request = run.request
    assert request.tests is not None
    project = replace(request.project, modules=tuple(modules), tests=request.tests)
    if not places(project):
        return {}
    seconds = math.inf if budget.deterministic else EXISTING_SHARE * budget.amount
    goal = request.setting.options.get("goal", GENERATED_GOAL)
    found = measure(
        project,
        limit_s=min(LIMIT_S, seconds),
        mutants_s=(MUTANTS_S if budget.deterministic else seconds) if goal in MUTANT_GOALS else 0.0,
        generated=True,
        report=lambda note: run.report(Event("", note=note)),
    )
    for note in found.notes:
        run.report(Event("", 1.0, note))
    return found.modules


def _untangle(run: _Run) -> None:
    """Run the tests of all modules together, as pytest will, and remove tests that break others."""
    files = sorted({outcome.path.resolve() for outcome in run.outcomes.values() if outcome.path is not None})
    if len(files) < 2:
        return
    run.report(Event("", note="running all generated tests together"))
    for test in untangle(run.request.project, files):
        run.report(Event("", 1.0, f"removed, because tests of other files fail after it: {test}"))


def _packed(existing: Existing | None) -> str:
    """Return the measurement as text for a job, "" for None."""
    return "" if existing is None else base64.b64encode(pickle.dumps(existing)).decode()


def _take(run: _Run, module: str, line: Mapping[str, Any]) -> None:
    """Process a line that a job has written."""
    if "error" in line:
        if module:
            run.end(module, Outcome(error=line["error"], interrupted=bool(line.get("interrupted"))))
    elif "record" in line:
        path = None if line["path"] is None else Path(line["path"])
        root = run.request.project.root
        record = {**line["record"], "suite_path": None if path is None else _relative(path, root)}
        run.records.put(module, record)
        run.end(module, Outcome(record, path, interrupted=line["interrupted"]))
    else:
        run.report(Event(module, line["spent"], line["note"]))


def _share(run: _Run, whole: Budget, size: int, waiting: Sequence[int], every: Sequence[int]) -> Budget:
    """Return the budget of the module that begins now, by the rules that did best in `benchmarks/project_budget.py`.

    A budget in seconds is divided by size, see `fitgym.allocation.shares`. A budget in executions or generations is
    divided in proportion to the square root of the size among `every` size, independently of any clock.
    """
    if whole.deterministic:
        part = math.sqrt(size) / sum(map(math.sqrt, every))
        return Budget(float(max(1, int(whole.amount * part))), whole.unit)
    now = time.monotonic()
    taken = sum(max(0.0, end - now) for end in run.ends.values())
    left = run.request.jobs * (run.deadline - now) - taken
    seconds = min(share(left, size, waiting, least=LEAST_S), run.deadline - now)
    return Budget(round(max(LEAST_S, seconds), 1), "s")


def _checked_budget(request: ProjectRequest) -> tuple[Budget, int]:
    """Return the budget and the number of modules that it is enough for, at least 1."""
    budget = request.budget
    assert budget is not None, "the request is not to be carried out"
    least, jobs = (1.0, 1) if budget.deterministic else (LEAST_S, request.jobs)
    if budget.amount < least:
        raise BudgetError(f"budget {budget} is too small for a module; expected at least {least:g}{budget.unit}")
    return budget, int(jobs * budget.amount / least)


def _is_current(filing: Filing, record: Mapping[str, Any] | None) -> bool:
    """Return whether nothing is to be done: the file is current, or the last run for the same code kept no test."""
    if filing.is_current or filing.standing is not None:
        return filing.is_current
    return record is not None and not record.get("suite_path") and record.get("made_for") == filing.made_for


def _source(module: Module) -> str:
    return module.path.read_text("utf-8", errors="replace")


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
