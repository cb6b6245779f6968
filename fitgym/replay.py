"""Replay: a recorded run once more, decision by decision, to see whether everything comes out as it was written down."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fitgym import __version__
from fitgym.envs.action.activate import choices
from fitgym.envs.fitness_selection import GOALS, FitnessSelection
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.subject.source import locate
from fitgym.subject.source import read as read_source
from fitgym.suite.rerun import Rerun

__all__ = ["Replay", "read", "replay"]

_NEEDED = ("subject", "goal", "search", "reward", "budget", "seed", "actions", "rewards", "source_sha256")


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay has found.

    Attributes:
        steps: decisions that were repeated.
        differences: what came out otherwise, a sentence each; none if everything is as recorded.
        notes: what could not be compared, and why.
        tests: of the suite, how many passed in a fresh interpreter; None if there was no suite to run.
    """

    steps: int
    differences: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tests: int | None = None


def replay(record: dict[str, Any], *, path: str | None = None, suite: str | Path | None = None) -> Replay:
    """Repeat a run from its record: the same subject, seed and actions.

    Every reward must be the recorded one to the last bit, and so must generations, the goal's value and the coverage of
    a run with a budget in generations or executions. A run with a budget in seconds was cut off by the clock, at a place
    that no other run finds again: its rewards are compared but for the last, and nothing else is.

    Args:
        record: as `fitgym generate --json` writes it.
        path: a folder to look in first for the subject.
        suite: the exported file or the folder that it is in; run in a fresh interpreter, where every test must pass. Without
            one the text that is in the record is run, if there is any.

    Raises:
        InputError: the record lacks something, or the suite is not there.
        SubjectError: the subject cannot be found, imported or tested.
    """
    missing = [key for key in _NEEDED if key not in record]
    if missing:
        raise InputError(f"the record has no '{missing[0]}', expected one that `fitgym generate --json` has written")
    differences, notes = _environment(record, path)
    budget = Budget.parse(record["budget"])
    actions, rewards = list(record["actions"]), list(record["rewards"])
    timed = not budget.deterministic
    if timed:
        notes.append(f"the budget was {budget}: what the clock cut off at the end cannot be compared")
        actions, rewards = actions[:-1], rewards[:-1]
    env = FitnessSelection(
        record["subject"],
        path=path,
        goal=record["goal"],
        budget=None if timed else str(budget),
        actions=_catalogue(record["goal"], actions),
        reward=record["reward"],
        search=record["search"],
        smart=record.get("smart", False),
        secondary=record.get("secondary", "length"),
        population=record.get("population", 50),
        populations=record.get("populations", "shared"),
        generations_per_step=record.get("generations_per_step", 3),
    )
    try:
        env.reset(seed=record["seed"])
        for step, (action, expected) in enumerate(zip(actions, rewards, strict=True), 1):
            reward, ended = _step(env, action)
            if reward != expected:
                differences.append(f"step {step}, {action}: the reward is {reward!r}, recorded was {expected!r}")
                break
            if ended and step < len(actions):
                differences.append(f"the run ends after step {step}, recorded were {len(actions)}")
                break
        else:
            if not timed:
                differences += _end(env, record)
    finally:
        env.close()
    tests = None
    text = record.get("suite", "") if suite is None else _text(record, Path(suite))
    if text:
        tests, failures = _rerun(record, path, text)
        differences += failures
    return Replay(len(actions), tuple(differences), tuple(notes), tests)


def _environment(record: dict[str, Any], path: str | None) -> tuple[list[str], list[str]]:
    """What is not as it was before anything ran: differences that matter for sure, and others that may."""
    reference = locate(record["subject"], path)
    differences, notes = [], []
    if hashlib.sha256(read_source(reference).encode()).hexdigest() != record["source_sha256"]:
        differences.append(f"the source of '{record['subject']}' is another one than was recorded")
    if record.get("fitgym_version") != __version__:
        notes.append(f"recorded by fitgym {record.get('fitgym_version')}, replayed by {__version__}")
    return differences, notes


def _catalogue(goal: str, actions: list[str]) -> list[str] | None:
    """The combinations that there were to choose from: those of the goal, or the ones taken if others were."""
    wanted = GOALS.load(goal)
    known = choices(wanted.catalogue, wanted.functions, wanted.required).names
    return None if set(actions) <= set(known) else list(dict.fromkeys(actions))


def _step(env: FitnessSelection, action: str) -> tuple[float, bool]:
    _, reward, terminated, truncated, _ = env.step(env.action_names.index(action))
    return reward, terminated or truncated


def _end(env: FitnessSelection, record: dict[str, Any]) -> list[str]:
    """What the whole run came to."""
    assert env.engine is not None
    found = {"generations": env.engine.generation, "goal_value": env.goal.value(env.engine)}
    return [
        f"{key.replace('_', ' ')}: {value!r}, recorded was {record[key]!r}"
        for key, value in found.items()
        if key in record and record[key] != value
    ]


def _text(record: dict[str, Any], suite: Path) -> str:
    """The exported file."""
    if suite.is_dir() and record.get("suite_path"):
        suite = suite / record["suite_path"]
    try:
        return suite.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"the suite '{suite}' cannot be read: {problem}") from None


def _rerun(record: dict[str, Any], path: str | None, text: str) -> tuple[int, list[str]]:
    """How many tests of a suite pass in a fresh interpreter, and what is wrong with the others."""
    rerun = Rerun(text, locate(record["subject"], path))
    try:
        rerun.wait()
        if rerun.unusable:
            return 0, [f"the suite cannot be run: {rerun.unusable}"]
        failed = [f"{name} fails: {verdict.error}" for name, verdict in rerun.verdicts.items() if not verdict.passed]
        passed = len(rerun.verdicts) - len(failed)
    finally:
        rerun.close()
    if not failed and passed != record.get("tests", passed):
        failed = [f"the suite has {passed} tests, recorded were {record['tests']}"]
    return passed, failed


def read(file: str | Path) -> dict[str, Any]:
    """The record in a file.

    Raises:
        InputError: there is none.
    """
    try:
        record = json.loads(Path(file).read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"the record '{file}' cannot be read: {problem}") from None
    if not isinstance(record, dict):
        raise InputError(f"'{file}' holds a {type(record).__name__}, expected a record: an object")
    return record
