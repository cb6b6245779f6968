"""Generate a pytest suite and the record of the run from a subject, a goal, an agent and a budget."""

from __future__ import annotations

import json as json_format
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fitgym.agents._saved import description_of
from fitgym.agents.base import is_saved
from fitgym.agents.transition import Transition
from fitgym.engine import Engine, Existing
from fitgym.envs.base import GOALS, SearchEnv
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.run.command import command
from fitgym.run.environment import agent_of, has_subject, make, options_of, resolved
from fitgym.run.episode import Deadline as SearchDeadline
from fitgym.run.episode import Hook, play
from fitgym.run.record import record
from fitgym.run.setting import DEFAULT_ENV, GENERATED_GOAL, FitnessOptions, Setting, defaults, may_infect
from fitgym.run.summary import left_out, summary
from fitgym.subject.source import locate, read
from fitgym.subject.subject import Reference
from fitgym.suite.existing import before_and_after
from fitgym.suite.finishing import Finished, finish
from fitgym.suite.share import Share
from fitgym.suite.text.dialects import dialect
from fitgym.suite.text.export import file_name, write
from fitgym.suite.text.filing import Filing, fingerprint

__all__ = ["Progress", "Request", "Run", "filing_of", "generate", "generate_request", "writable_file"]

BUDGET = "60s"
"""The default budget of a request."""

FINISHING_SHARE = 0.4
"""The maximum share of a budget in seconds that is reserved for finishing."""

MINIMISING_SHARE = 0.15
"""The share of a budget in seconds that is reserved for minimising."""

TELLING_S = 0.5
"""The minimum time in seconds between two reports of the same stage of finishing."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a run.

    Attributes:
        setting: environment, subject, agent, seed, budget and options. A budget in seconds includes finishing, for
            which up to 40 % are reserved. If this is too short for the suite to pass, finishing continues for up to 10
            s plus the time of eight imports of the subject; tests that have not passed by then are dropped. Mutants
            may run for 2 s after the budget; those that have not run count as survivors. With other
            units, finishing may do as much work as the search, so that the result does not depend on time. As a last
            resort it ends after three times the time of the search, at least three times the time above and at most 600
            s; the record lists everything that was cut off.
        output: folder for the suite; None writes no suite.
        json: file for the record; None writes no record.
        format: "pytest" or "unittest".
        name: name of the suite's file; None for that of `fitgym.suite.text.export.file_name`.
        tests: folder with existing tests; only tests that add something to them are exported. They are run first, which
            the budget does not include. With "", only the tests in the suite's file count as existing.
    """

    setting: Setting
    output: str | Path | None = "generated_tests"
    json: str | Path | None = None
    format: str = "pytest"
    name: str | None = None
    tests: str | Path = ""

    @classmethod
    def of(
        cls,
        subject: str,
        *,
        output: str | Path | None = "generated_tests",
        json: str | Path | None = None,
        format: str = "pytest",
        tests: str | Path = "",
        **keywords: Any,
    ) -> Request:
        """Make a request from keywords: those of `Setting`, and the options of its environment."""
        setting = Setting.from_keywords(subject=subject, **{"budget": BUDGET, **keywords})
        return cls(setting, output, json, format, tests=tests)


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a run, for a live view.

    Attributes:
        phase: "search" or "finish".
        spent: the spent share of the budget, in [0, 1].
        generation, executions: their numbers so far.
        active: the fitness functions that guide the search now.
        coverage: covered and known targets by fitness function.
        goal_value, reward: the goal's value and the last reward.
        note: a short description of the current activity.
    """

    phase: str
    spent: float
    generation: int
    executions: int
    active: tuple[str, ...]
    coverage: dict[str, tuple[int, int]]
    goal_value: float
    reward: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a run.

    Attributes:
        record: one JSON object; `docs/concepts.md` explains its keys.
        source: the exported suite as text; "" if there is none.
        suite_path: the file of the suite, or None.
        interrupted: whether the user stopped the run; the result contains everything found until then.
        seconds: wall time of "search" and "finish", and of "mutants", which is a part of finishing.
        notes: sentences about existing tests that do not count.
    """

    record: dict[str, Any]
    source: str
    suite_path: Path | None
    interrupted: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return the result in a few lines for a person."""
        return summary(self.record, self.suite_path)

    def left_out(self) -> str:
        """Return the reasons why tests were left out of the suite, with their numbers of tests, most frequent first."""
        return left_out(self.record)


def generate(
    subject: str,
    *,
    progress: Callable[[Progress], None] | None = None,
    output: str | Path | None = None,
    **options: Any,
) -> Run:
    """Generate a suite for a subject.

    Files are only written if `output` or `json` is given.

    Args:
        subject: `package.module`, `package.module:Class` or `path/to/file.py[:Class]`.
        progress: called with the state of the run before each decision.
        output: folder for the suite.
        options: attributes of `fitgym.run.setting.Setting` and options of its environment, such as `goal="coverage"`,
            `agent="ucb"`, `budget="200g"`, `search="mosa"`; also `json`, `format` and `tests`, see `Request`.

    Raises:
        InputError: the subject, the goal, the agent, the budget or the output cannot be used.
    """
    return generate_request(Request.of(subject, output=output, **options), progress=progress)


def generate_request(
    request: Request,
    *,
    progress: Callable[[Progress], None] | None = None,
    executor: Executor | None = None,
    existing: Existing | None = None,
) -> Run:
    """Generate a suite for a request.

    An interruption (Ctrl-C) ends the search; the tests found so far are finished quickly and written.

    Args:
        request: the request.
        progress: called with the state of the run.
        executor: the executor of the subject, if it has already been started; it is closed at the end.
        existing: measurements of existing tests in the subject, if they are available; `request.tests` is then not run.

    Raises:
        InputError: see `generate`; or `existing` was measured on another version of the source.
    """
    return _Job(request, progress or (lambda _: None), executor, existing).run()


def filing_of(request: Request) -> Filing | None:
    """Return the suite's file with the tests that it already contains; None if no suite is to be written.

    Raises:
        InputError: see `generate`.
    """
    folder = _writable_folder(request.output)
    if folder is None:
        return None
    setting = _filled(request.setting)
    path, programs = setting.options.get("path"), setting.options.get("programs", "")
    return _filing(locate(setting.subject, path, programs), folder, setting, request.name)


class _Job:
    """One run, from a checked request to its result.

    Args:
        request: checked by the constructor; nothing is started or written before the checks pass.
        report: called with the state of the run.
        executor: the executor of the subject; None to make one.
        existing: see `generate_request`.
    """

    def __init__(
        self,
        request: Request,
        report: Callable[[Progress], None],
        executor: Executor | None = None,
        existing: Existing | None = None,
    ) -> None:
        self._stage = ""
        self.deadline: float | None = None  # end of the search, for a budget in seconds
        setting = _filled(request.setting)
        self.request = request = replace(request, setting=setting)
        self.report = report
        self.budget = Budget.parse(setting.budget or BUDGET)
        if not has_subject(setting.env):
            raise InputError(
                f"environment '{setting.env}' has no subject, so there is nothing to generate tests for: "
                f"use one such as {DEFAULT_ENV}"
            )
        population = setting.option("population")
        if isinstance(population, int) and population < 2:
            raise InputError(f"population {population} is too small: a search needs at least 2 individuals")
        self.setting = resolved(setting)
        self.dialect = dialect(request.format)
        self.output = _writable_folder(request.output)
        self.record_path = writable_file(request.json)
        env = make(self.setting, executor=executor)
        assert isinstance(env, SearchEnv), "has_subject says so"
        self.env = env
        where = env.executor.reference
        self.filing = None if self.output is None else _filing(where, self.output, self.setting, request.name)
        self.agent = agent_of(self.setting, env)
        if (actions := self.agent.repertoire()) is not None:
            env.settle(*actions)
        env.existing, self.notes = (existing, ()) if existing is not None else self._measured()
        self.started = self._reported_at = time.monotonic()

    def run(self) -> Run:
        """Search, finish, and write the record.

        Raises:
            KeyboardInterrupt: the user stopped the run before there was anything to finish, or a second time.
        """
        try:
            interrupted = self._search()
            if self.env.engine is None:
                raise KeyboardInterrupt
            searched = time.monotonic()
            # Read before finishing, which tries shorter tests: they cost executions and may reach more.
            reached = {
                "generation": self.engine.generation,
                "executions": self.engine.executions,
                "goal_value": self.env.goal.value(self.engine),
            }
            try:
                finished = self._finish(interrupted)
            except KeyboardInterrupt:  # the first one makes finishing quick, the second one ends the run
                if interrupted:
                    raise
                interrupted = True
                finished = self._finish(interrupted)
            ended = time.monotonic()
        finally:
            self.env.close()
        seconds = {"search": searched - self.started, "finish": ended - searched}
        if finished.mutants is not None:  # included in "finish"
            seconds["mutants"] = finished.mutants_s
        written = self._record(finished, reached, seconds)
        if self.record_path is not None:
            write(json_format.dumps(written, indent=2) + "\n", self.record_path)
        return Run(written, finished.source, finished.path, interrupted, seconds, self.notes)

    def _measured(self) -> tuple[Existing | None, tuple[str, ...]]:
        """Measure the existing tests: those of the request, otherwise those in the suite's file; also return notes."""
        tests: str | Path = self.request.tests
        if not tests and self.filing is not None and self.filing.standing is not None:
            tests = self.filing.path
        if not tests:
            return None, ()
        from fitgym.project.existing.measurement import measure_one  # imported here: it imports this package

        def tell(note: str) -> None:
            self.report(Progress("tests", 0.0, 0, 0, (), {}, 0.0, 0.0, note))

        return measure_one(self.env.executor.reference, tests, tell)

    @property
    def engine(self) -> Engine:
        assert self.env.engine is not None, "the environment has not been reset"
        return self.env.engine

    def _search(self) -> bool:
        """Play the episode. Return True if the user interrupted it."""
        try:
            hooks: list[Hook] = [_Reporting(self)]
            if self.budget.unit == "s":
                self.deadline = self.started + self.budget.amount - self._reserve()
                self.env.deadline = self.deadline
                hooks.append(SearchDeadline(self.deadline))
            play(self.agent, self.env, seed=self.setting.seed, hooks=hooks)
        except KeyboardInterrupt:
            return True
        return False

    def spent(self) -> float:
        """Return the spent share of the search budget, in [0, 1]."""
        if self.deadline is None:
            return self.env.spent
        return min(1.0, (time.monotonic() - self.started) / max(1e-9, self.deadline - self.started))

    def _finish(self, interrupted: bool) -> Finished:
        """Return the finished suite, written; finish quickly if the user interrupted."""
        prefix = "interrupted (Ctrl-C again gives it up), " if interrupted else ""
        share = self._share(interrupted)
        return finish(
            self.engine,
            [name for name in self.env.goal.kept if self.engine.records(name)],
            filing=self.filing if self.filing is None or not interrupted else replace(self.filing, made_for=""),
            command=command(self.request.setting, self.budget, format=self.request.format, tests=self.request.tests),
            dialect=self.dialect,
            deadline=share.deadline,
            units=share.units,
            scoring_s=share.scoring_s,
            scored=next(iter(self.env.goal.late), ""),
            checking=self.env.goal.checking,
            report=lambda note: self._tell_finishing(prefix + note),
        )

    def _tell_finishing(self, note: str) -> None:
        """Report every new stage of finishing, and its progress every `TELLING_S` seconds."""
        now, stage = time.monotonic(), note.partition(":")[0]
        if stage != self._stage or now - self._reported_at >= TELLING_S:
            self._stage, self._reported_at = stage, now
            rewards = self.env.rewards
            self.tell("finish", 1.0, rewards[-1] if rewards else 0.0, note)

    def _reserve(self) -> float:
        """Return the seconds reserved for finishing: minimising, plus five fresh interpreters and a measurement.

        Two of the interpreters run at a time.
        """
        if may_infect(self.env.pursued, self.setting.agent):
            self.env.executor.require(frozenset({"infection"}))
        self.env.executor.subject  # noqa: B018  (starts the worker, which measures the import)
        per_run = 0.9 + self.env.executor.import_seconds
        amount = self.budget.amount
        return min(FINISHING_SHARE * amount, 1.0 + 4 * per_run + MINIMISING_SHARE * amount)

    def _share(self, interrupted: bool) -> Share:
        """Return the time and work that finishing may use; little after an interruption: the user is waiting."""
        import_s = self.env.executor.import_seconds
        if interrupted:
            return Share.interrupted()
        if self.budget.unit == "s":
            return Share.until(self.started + self.budget.amount, import_s)
        return Share.of_search(time.monotonic() - self.started, self.engine.work, import_s)

    def tell(self, phase: str, spent: float, reward: float, note: str) -> None:
        """Report the state of the run."""
        engine = self.engine
        self.report(
            Progress(
                phase,
                spent,
                engine.generation,
                engine.executions,
                engine.active,
                engine.coverage(),
                self.env.goal.value(engine),
                reward,
                note,
            )
        )

    def _record(self, finished: Finished, reached: dict[str, Any], seconds: dict[str, float]) -> dict[str, Any]:
        engine = self.engine
        head = record(self.env, replace(self.setting, budget=str(self.budget)), reached)
        return {
            **head,
            "seconds": {phase: round(took, 3) for phase, took in seconds.items()},
            "tests": len(finished.tests),
            "statements": sum(len(test.statements) for test in finished.tests),
            "coverage": {name: {"covered": c, "total": n} for name, (c, n) in finished.coverage.items()},
            "measured": None if finished.measured is None else finished.measured.as_dict(),
            "exceptions": [{"type": e.type, "function": e.function, "kind": e.kind} for e in finished.exceptions],
            "ill_typed": [{"type": kind, "function": function} for kind, function in engine.ill_typed()],
            "mutants": None if finished.mutants is None else finished.mutants.as_dict(),
            "existing": before_and_after(engine, finished.tests, finished.mutants),
            "crashed": [
                {"failure": crash.failure, "operation": engine.subject.operations[crash.operation].name}
                for crash in engine.crashes
            ],
            "runs": finished.runs,
            "unfinished": list(finished.unfinished),
            "dropped": [{"test": test.name, "reason": test.reason} for test in finished.dropped],
            "weakened": finished.weakened,
            "suite_path": None if finished.path is None else finished.path.name,
            "made_for": self.filing.made_for if self.filing is not None else "",
            "kept": len(self.filing.standing.tests) if self.filing is not None and self.filing.standing else 0,
            "format": self.request.format,
        }


def _filled(setting: Setting) -> Setting:
    """Add a goal to the setting, and the goal's own search unless the user names one."""
    known, options = options_of(setting.env), dict(setting.options)
    if setting.env in (DEFAULT_ENV, DEFAULT_ENV.rpartition("/")[2]):
        options.setdefault("goal", _trained_for(setting.agent) or GENERATED_GOAL)
    goal = options.get("goal", known.get("goal"))
    if "search" in known and known["search"] == defaults(FitnessOptions)["search"] and isinstance(goal, str):
        options.setdefault("search", GOALS.load(goal).search)
    return replace(setting, options=options)


def _trained_for(agent: str) -> str | None:
    """Return the goal that a saved agent was trained for; None for other agents, or if it was not recorded."""
    if not is_saved(agent):
        return None
    trainings = description_of(Path(agent)).get("made", {}).get("trainings", ())
    goal = trainings[-1].get("environment", {}).get("goal") if trainings else None
    return goal if isinstance(goal, str) else None


class _Reporting(Hook):
    """Reports the state of the run before each decision."""

    def __init__(self, job: _Job) -> None:
        self._job = job
        self._reward = 0.0

    def proceed(self) -> bool:
        self._job.tell("search", self._job.spent(), self._reward, "searching")
        return True

    def step(self, transition: Transition) -> None:
        self._reward = transition.reward


def _writable_folder(folder: str | Path | None) -> Path | None:
    """Check a folder without making it, because nothing is written before there is a result."""
    if folder is None:
        return None
    path = Path(folder)
    existing = path
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InputError(f"output '{folder}' cannot be a folder: '{existing}' is a file; name another one")
    if not _can_write(existing):
        raise InputError(f"output '{folder}' cannot be written: no permission in '{existing}'; name another folder")
    return path


def _filing(reference: Reference, folder: Path, setting: Setting, name: str | None) -> Filing:
    """Return the suite's file, with a fingerprint of the subject's source and of the suite's goals."""
    wanted = [setting.env, *(setting.options.get(name) for name in ("goal", "functions", "fitness"))]
    made_for = fingerprint(read(reference), json_format.dumps(wanted))
    return Filing.of(folder / (name or file_name(reference.module, reference.class_name)), made_for)


def writable_file(file: str | Path | None) -> Path | None:
    """Check a file without making it; None stays None.

    Raises:
        InputError: it is a folder, or its folder cannot be written.
    """
    if file is None:
        return None
    path = Path(file)
    if path.is_dir():
        raise InputError(f"'{file}' is a folder, expected the name of a file")
    _writable_folder(path.parent)
    return path


def _can_write(folder: Path) -> bool:
    """Try to write: permission bits do not reveal read-only file systems."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            return True
    except OSError:
        return False
