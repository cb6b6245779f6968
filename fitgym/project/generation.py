"""Suites for all modules of a project: one budget, several jobs, one file of tests for each module."""

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
"""Of a budget in seconds, what existing tests may take, and their mutants as much again."""

MUTANT_GOALS = frozenset({"tests", "strong_mutation"})
"""Goals for which it matters which mutants existing tests kill."""

LEAST_S = 3.0
"""Seconds that each module gets at least: to import it, and to see its tests pass."""


@dataclass(frozen=True, slots=True)
class ProjectRequest:
    """What is wanted of a project.

    Attributes:
        project: the modules.
        setting: for each module, but for its subject and its budget.
        budget: for all modules together; None for a request that is not carried out.
        output: folder for the tests, with a subfolder for each subpackage.
        tests: folder of existing tests; only tests that add something to them are written. None for none but those in the
            file of each module.
        jobs: how many modules are worked on at the same time.
        format: "pytest" or "unittest".
        again: modules whose tests are current are searched again.
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
        """The file of tests of a module."""
        return self.output.joinpath(*module.name.split(".")[1:-1], self._name(module))

    def of(self, module: Module) -> Request:
        """The request for one module, without a budget."""
        options = {"path": str(self.project.source), **self.setting.options}
        setting = replace(self.setting, subject=module.name, options=options)
        file = self.file(module)
        return Request(setting, file.parent, format=self.format, name=file.name)

    def _name(self, module: Module) -> str:
        """The name of its file; pytest cannot import two files of one name from folders that are no packages."""
        name = file_name(module.name)
        if not all(map(is_generated, self.project.tests.rglob(name))):
            return f"{name.removesuffix('.py')}_generated.py"
        return name


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one module.

    Attributes:
        record: of its run, None if there was none.
        path: its file of tests, None if there is none.
        error: why there was no run, "" if there was one or none was needed.
        current: its tests were made for the code as it is, so there was nothing to do.
        interrupted: the user stopped it.
    """

    record: dict[str, Any] | None = None
    path: Path | None = None
    error: str = ""
    current: bool = False
    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened while a project is worked on, for a view.

    Attributes:
        module: its name; "" for the existing tests of the project.
        spent: share of the module's budget that is used up, in [0, 1].
        note: what is going on, in a few words.
        outcome: the result, None before the end.
    """

    module: str
    spent: float = 0.0
    note: str = ""
    outcome: Outcome | None = None


@dataclass(slots=True)
class _Run:
    """One run over the modules of a project."""

    request: ProjectRequest
    report: Callable[[Event], None]
    records: Records
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    deadline: float = 0.0
    ends: dict[str, float] = field(default_factory=dict)  # of the budgets of modules that are worked on
    interrupted: bool = False
    existing: Mapping[str, Existing] = field(default_factory=dict)

    def end(self, module: str, outcome: Outcome) -> None:
        """Keep what came of a module."""
        self.outcomes[module] = outcome
        self.ends.pop(module, None)
        self.report(Event(module, 1.0, outcome=outcome))


def generate_project(request: ProjectRequest, report: Callable[[Event], None] = lambda _: None) -> dict[str, Outcome]:
    """Generate a suite for each module.

    Modules whose tests are current are left alone, so a run that was interrupted or killed goes on where it was. A module
    that cannot be imported is an outcome with an error. After an interruption (Ctrl-C) the modules that are worked on are
    finished in a hurry, and the others are left out.

    Args:
        request: what is wanted.
        report: told what happens.

    Returns:
        The outcomes by name of the module, in the order of the project.

    Raises:
        BudgetError: the budget is too small for so many modules.
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
        budget = _checked_budget(request, len(waiting))
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
    """Have all modules worked on, the smallest first, so that what it leaves goes to larger ones."""
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
    """What the existing tests do in some modules; of a budget in seconds it takes a part of `EXISTING_SHARE` at most."""
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
    """See to it that the tests of all modules pass together, as pytest will run them."""
    files = sorted({outcome.path.resolve() for outcome in run.outcomes.values() if outcome.path is not None})
    if len(files) < 2:
        return
    run.report(Event("", note="running all generated tests together"))
    for test in untangle(run.request.project, files):
        run.report(Event("", 1.0, f"left out, because tests of other files fail behind it: {test}"))


def _packed(existing: Existing | None) -> str:
    """The measurement as text that a job unpacks, "" for none."""
    return "" if existing is None else base64.b64encode(pickle.dumps(existing)).decode()


def _take(run: _Run, module: str, line: Mapping[str, Any]) -> None:
    """Take up a line that a job has said."""
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
    """The budget of the module that begins now, by the rules that `benchmarks/project_budget.py` found best.

    Of seconds it is a part in proportion to its size, see `fitgym.allocation.shares`; of executions and generations in
    proportion to the root of its size among `every` size, which no clock changes.
    """
    if whole.deterministic:
        part = math.sqrt(size) / sum(map(math.sqrt, every))
        return Budget(float(max(1, int(whole.amount * part))), whole.unit)
    now = time.monotonic()
    taken = sum(max(0.0, end - now) for end in run.ends.values())
    left = run.request.jobs * (run.deadline - now) - taken
    seconds = min(share(left, size, waiting, least=LEAST_S), run.deadline - now)
    return Budget(round(max(LEAST_S, seconds), 1), "s")


def _checked_budget(request: ProjectRequest, modules: int) -> Budget:
    """The budget, if it is enough for so many modules."""
    budget = request.budget
    assert budget is not None, "the request is not to be carried out"
    if budget.deterministic:
        least, each = modules, "1"
    else:
        least, each = math.ceil(LEAST_S * modules / min(request.jobs, modules)), f"{LEAST_S:g} s"
    if budget.amount < least:
        raise BudgetError(
            f"budget {budget} is too small for {modules} modules; expected at least {least}{budget.unit}, {each} for each, "
            "or choose some by --only"
        )
    return budget


def _is_current(filing: Filing, record: Mapping[str, Any] | None) -> bool:
    """There is nothing to do: the file is current, or the last run for the same found nothing to keep."""
    if filing.is_current or filing.standing is not None:
        return filing.is_current
    return record is not None and not record.get("suite_path") and record.get("made_for") == filing.made_for


def _source(module: Module) -> str:
    return module.path.read_text("utf-8", errors="replace")


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
