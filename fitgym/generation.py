"""The main job: subject, goal, agent and budget in; a finished pytest suite and a record of the run out."""

from __future__ import annotations

import hashlib
import json as json_format
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fitgym import __version__
from fitgym.agents.base import Transition, kind, make, trained
from fitgym.engine import Engine, parse_search
from fitgym.envs.catalogue import action_name, parse_action
from fitgym.envs.fitness_selection import GOALS, FitnessSelection
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.suite.deadline import Deadline
from fitgym.suite.dialects import dialect
from fitgym.suite.export import GENERATED, file_name, write
from fitgym.suite.finishing import Finished, finish

__all__ = ["Progress", "Request", "Run", "generate", "generate_request"]

FINISHING_SHARE = 0.4
"""Of a budget in seconds, what is kept back for finishing at most."""

MINIMISING_SHARE = 0.15
"""Of a budget in seconds, what is kept back for minimising."""

FINISHING_S = 15.0
"""Seconds that finishing has in any case, and not more after an interruption."""


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that a run is asked for.

    Attributes:
        subject: `package.module`, `package.module:Class` or `path/to/file.py[:Class]`.
        path: a folder that is searched first for the subject.
        goal: name of a goal.
        agent: `name` or `name:argument`; the goal's default agent if None.
        search: a search algorithm, with options after a colon: `whole_suite:use_archive=false`.
        smart: leave out fitness functions and targets for which others stand, see `fitgym.smart_selection`.
        secondary: name of the secondary objective.
        budget: `60s`, `20000x` or `200g`. Seconds include finishing: up to 40 % are kept back for it. If that is not
            enough to see the suite pass it may go on, until it has had 15 s; what has not passed by then is dropped.
            With the other units finishing takes as long as it needs, because the result must not depend on time.
        seed: of everything random.
        population: number of individuals.
        populations: "shared" or "per-action", see `FitnessSelection`.
        generations_per_step: how many generations a decision of the agent holds.
        reward: "paper" or "gain"; None for "gain" where the agent learns, "paper" otherwise.
        output: folder for the suite; None writes nothing.
        json: file for the record; None writes none.
        format: "pytest" or "unittest".
    """

    subject: str
    path: str | Path | None = None
    goal: str = "exceptions"
    agent: str | None = None
    search: str = "whole_suite"
    smart: bool = False
    secondary: str = "length"
    budget: str = "60s"
    seed: int = 0
    population: int = 50
    populations: Literal["shared", "per-action"] = "shared"
    generations_per_step: int = 3
    reward: str | None = None
    output: str | Path | None = "generated_tests"
    json: str | Path | None = None
    format: str = "pytest"


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is, for a live view.

    Attributes:
        phase: "search" or "finish".
        spent: share of the budget, in [0, 1].
        generation, executions: so far.
        active: the fitness functions that guide the search now.
        coverage: targets covered and known, by fitness function.
        goal_value, reward: of the goal.
        note: what is going on, in a few words.
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
    """What a run gave.

    Attributes:
        record: one JSON object, as `docs/concepts.md` tells its keys.
        source: the exported suite as text, "" if there is none.
        suite_path: where it was written, or None.
        interrupted: the user stopped it; everything found until then is there.
        seconds: wall clock of "search" and "finish", and of "mutants", which is a part of finishing.
    """

    record: dict[str, Any]
    source: str
    suite_path: Path | None
    interrupted: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    def summary(self) -> str:
        """The result in a few lines for a person."""
        record = self.record
        measured = record["measured"]
        seconds = record["seconds"]["search"] + record["seconds"]["finish"]  # "mutants" is a part of the latter
        lines = [
            f"{record['subject']}: {_counted(record['tests'], 'test')}, {_counted(record['statements'], 'statement')}"
            + (f" -> {self.suite_path}" if self.suite_path else ""),
        ]
        if measured is not None:
            lines.append(
                f"branches {measured['branches']['covered']}/{measured['branches']['total']}, "
                f"lines {measured['lines']['covered']}/{measured['lines']['total']} (coverage.py, of the exported file)"
            )
        kinds = ", ".join(f"{e['type']} in {e['function']}" for e in record["exceptions"][:8])
        more = len(record["exceptions"]) - 8
        lines.append(
            _counted(len(record["exceptions"]), "exception")
            + (f": {kinds}" + (f" and {more} more" if more > 0 else "") if kinds else "")
        )
        lines.append(
            f"{_counted(record['generations'], 'generation')}, {_counted(record['executions'], 'execution')}, "
            f"{_counted(record['steps'], 'decision')}, {seconds:.1f} s"
        )
        if record["dropped"]:
            lines.append(f"left out: {_counted(len(record['dropped']), 'test')}, {self.left_out()}")
        return "\n".join(lines)

    def left_out(self) -> str:
        """Why tests were left out of the suite, each reason with its number of tests, the most frequent first."""
        reasons = Counter(test["reason"] for test in self.record["dropped"])
        return ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())


def generate(
    subject: str,
    *,
    progress: Callable[[Progress], None] | None = None,
    output: str | Path | None = None,
    **options: Any,
) -> Run:
    """Generate a suite for a subject; the options are the attributes of `Request`.

    Nothing is written unless `output` (or `json`) is given.

    Raises:
        InputError: the subject, the goal, the agent, the budget or the output cannot be used.
    """
    return generate_request(Request(subject, output=output, **options), progress=progress)


def generate_request(
    request: Request, *, progress: Callable[[Progress], None] | None = None, executor: Executor | None = None
) -> Run:
    """Generate a suite as requested.

    An interruption (Ctrl-C) ends the search; what has been found is finished in a hurry and written.

    Args:
        request: what is wanted.
        progress: told where the run is.
        executor: of the subject, if one has been started already; it is closed in the end.

    Raises:
        InputError: see `generate`.
    """
    return _Job(request, progress or (lambda _: None), executor).run()


class _Job:
    """One run, from a checked request to its result.

    Args:
        request: checked here; nothing is started or written before it is found good.
        report: told where the run is.
        executor: of the subject, None to make one.
    """

    def __init__(self, request: Request, report: Callable[[Progress], None], executor: Executor | None = None) -> None:
        self.started = time.monotonic()
        self.request = request
        self.report = report
        self.budget = Budget.parse(request.budget)
        if request.seed < 0:
            raise InputError(f"seed {request.seed} is negative: expected 0 or more")
        if request.population < 2:
            raise InputError(f"population {request.population} is too small: a search needs at least 2 individuals")
        if request.generations_per_step < 1:
            raise InputError(f"generations_per_step is {request.generations_per_step}, expected at least 1")
        goal = GOALS.load(request.goal)
        parse_search(request.search)
        self.dialect = dialect(request.format)
        self.agent_text = request.agent or goal.agent
        name, _, argument = self.agent_text.partition(":")
        learns = kind(self.agent_text).learns
        self.output = _writable_folder(request.output)
        self.record_path = _writable_file(request.json)
        actions = None
        if name == "fixed" and argument:  # any combination, also one that the catalogue leaves out
            actions = [action_name(parse_action(argument, goal.functions))]
        self.env = FitnessSelection(
            request.subject,
            path=None if request.path is None else str(request.path),
            goal=request.goal,
            budget=str(self.budget) if self.budget.deterministic else None,
            actions=actions,
            search=request.search,
            smart=request.smart,
            secondary=request.secondary,
            population=request.population,
            populations=request.populations,
            generations_per_step=request.generations_per_step,
            reward=request.reward or ("gain" if learns else "paper"),
            features="full-v1",
            executor=executor,
        )
        _refuse_to_replace(self.output, file_name(self.env.executor.reference))
        self.agent = trained(
            make(
                self.agent_text,
                self.env.action_space,
                action_names=self.env.action_names,
                seed=request.seed,
                reseed=True,
            )
        )

    def run(self) -> Run:
        """Search, finish, record.

        Raises:
            KeyboardInterrupt: the user stopped it before there was anything to finish, or a second time.
        """
        try:
            interrupted = self._search()
            if self.env.engine is None:
                raise KeyboardInterrupt
            searched, executions = time.monotonic(), self.engine.executions
            value = self.env.goal.value(self.engine)  # finishing tries shorter tests, which may find more
            try:
                finished = self._finish(interrupted)
            except KeyboardInterrupt:
                if interrupted:
                    raise
                interrupted = True
                finished = self._finish(interrupted)
            ended = time.monotonic()
        finally:
            self.env.close()
        seconds = {"search": searched - self.started, "finish": ended - searched}
        if finished.mutants is not None:  # part of finishing
            seconds["mutants"] = finished.mutants_s
        record = self._record(finished, executions, value, seconds)
        if self.record_path is not None:
            write(json_format.dumps(record, indent=2) + "\n", self.record_path)
        return Run(record, finished.source, finished.path, interrupted, seconds)

    @property
    def engine(self) -> Engine:
        assert self.env.engine is not None, "the environment has not been reset"
        return self.env.engine

    def _search(self) -> bool:
        """Step the environment until the budget is spent; True if the user interrupted."""
        env, agent = self.env, self.agent
        try:
            limit = float("inf")
            if self.budget.unit == "s":
                limit = self.budget.amount - self._reserve()
                env.deadline = self.started + limit
            observation, info = env.reset(seed=self.request.seed)
            agent.watch(env)
            agent.begin_episode(observation, info)
            reward, ended = 0.0, False
            while not ended:
                elapsed = time.monotonic() - self.started
                spent = min(1.0, elapsed / limit) if self.budget.unit == "s" else env.spent
                self._tell("search", spent, reward, "searching")
                if elapsed >= limit:
                    break
                action = agent.act(observation, info)
                seen, reward, terminated, truncated, news = env.step(action)
                agent.observe(Transition.between(observation, action, reward, seen, terminated, truncated, info, news))
                observation, info, ended = seen, news, terminated or truncated
        except KeyboardInterrupt:
            return True
        return False

    def _finish(self, interrupted: bool) -> Finished:
        """The finished suite, written; in a hurry if the user interrupted."""
        doing = "minimising, asserting, checking in fresh interpreters"
        if interrupted:
            doing = "interrupted: finishing what was found (Ctrl-C again gives it up)"
        rewards = self.env.rewards
        self._tell("finish", 1.0, rewards[-1] if rewards else 0.0, doing)
        return finish(
            self.engine,
            self.env.goal.kept,
            output=self.output,
            command=_command(self.request),
            dialect=self.dialect,
            deadline=self._deadline(interrupted),
        )

    def _reserve(self) -> float:
        """Seconds kept back for finishing: to minimise, and for five fresh interpreters and a measurement, two at a time."""
        self.env.executor.subject  # noqa: B018  (starts the worker, so that the time of the import is known)
        per_run = 0.9 + self.env.executor.import_seconds
        amount = self.budget.amount
        return min(FINISHING_SHARE * amount, 1.0 + 4 * per_run + MINIMISING_SHARE * amount)

    def _deadline(self, interrupted: bool) -> Deadline:
        """When finishing has to be over; a user who interrupts does not want to wait for all of it."""
        now = time.monotonic()
        if interrupted:
            return Deadline(now + FINISHING_S / 3, now + FINISHING_S)
        if self.budget.unit != "s":
            return Deadline()
        end = self.started + self.budget.amount
        return Deadline(end, max(end, now + FINISHING_S))

    def _tell(self, phase: str, spent: float, reward: float, note: str) -> None:
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

    def _record(self, finished: Finished, executions: int, value: float, seconds: dict[str, float]) -> dict[str, Any]:
        request, engine, episode = self.request, self.engine, self.env.record()
        return {
            "fitgym_version": __version__,
            "python": platform.python_version(),
            "subject": request.subject,
            "source_sha256": hashlib.sha256(engine.subject.source.encode()).hexdigest(),
            "goal": request.goal,
            "agent": self.agent_text,
            "search": request.search,
            "smart": request.smart,
            "secondary": request.secondary,
            "population": request.population,
            "populations": request.populations,
            "generations_per_step": request.generations_per_step,
            "reward": episode["reward"],
            "budget": str(self.budget),
            "seed": request.seed,
            "steps": len(episode["actions"]),
            "generations": engine.generation,
            "executions": executions,
            "seconds": {phase: round(took, 3) for phase, took in seconds.items()},
            "tests": len(finished.tests),
            "statements": sum(len(test.statements) for test in finished.tests),
            "coverage": {name: {"covered": c, "total": n} for name, (c, n) in finished.coverage.items()},
            "measured": None if finished.measured is None else finished.measured.as_dict(),
            "exceptions": [{"type": e.type, "function": e.function, "kind": e.kind} for e in finished.exceptions],
            "ill_typed": [{"type": kind, "function": function} for kind, function in engine.ill_typed()],
            "goal_value": value,
            "rewards": episode["rewards"],
            "actions": episode["actions"],
            "mutants": None if finished.mutants is None else finished.mutants.as_dict(),
            "crashed": [
                {"failure": crash.failure, "operation": engine.subject.operations[crash.operation].name}
                for crash in engine.executor.crashes
            ],
            "runs": finished.runs,
            "dropped": [{"test": test.name, "reason": test.reason} for test in finished.dropped],
            "weakened": finished.weakened,
            "suite_path": None if finished.path is None else finished.path.name,
        }


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _command(request: Request) -> str:
    """The command that repeats the run, without local paths."""
    parts = ["fitgym", "generate", request.subject, f"--goal {request.goal}"]
    if request.agent:
        parts.append(f"--agent {request.agent}")
    if request.search != "whole_suite":
        parts.append(f"--search {request.search}")
    if request.smart:
        parts.append("--smart")
    if request.secondary != "length":
        parts.append(f"--secondary {request.secondary}")
    parts += [f"--budget {request.budget}", f"--seed {request.seed}"]
    if request.population != Request(request.subject).population:
        parts.append(f"--population {request.population}")
    if request.populations != "shared":
        parts.append(f"--populations {request.populations}")
    if request.generations_per_step != Request(request.subject).generations_per_step:
        parts.append(f"--generations-per-step {request.generations_per_step}")
    if request.reward:
        parts.append(f"--reward {request.reward}")
    if request.format != "pytest":
        parts.append(f"--format {request.format}")
    return " ".join(parts)


def _writable_folder(folder: str | Path | None) -> Path | None:
    """The folder, checked but not made: nothing is written before there is something to write."""
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


def _refuse_to_replace(folder: Path | None, name: str) -> None:
    """An older generated suite may be replaced, what somebody wrote by hand may not."""
    if folder is not None and (folder / name).is_file():
        head = (folder / name).read_bytes()[:500]
        if GENERATED.encode() not in head:
            raise InputError(f"'{folder / name}' exists and was not generated by fitgym; name another output folder")


def _writable_file(file: str | Path | None) -> Path | None:
    if file is None:
        return None
    path = Path(file)
    if path.is_dir():
        raise InputError(f"record '{file}' is a folder, expected the name of a file")
    _writable_folder(path.parent)
    return path


def _can_write(folder: Path) -> bool:
    """Try it: permission bits do not tell about read-only file systems."""
    try:
        with tempfile.NamedTemporaryFile(dir=folder):
            return True
    except OSError:
        return False
