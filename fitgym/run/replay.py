"""Replay: repeat a recorded run, decision by decision, and compare every number with the record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fitgym import __version__
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.rendering.episode import Episode
from fitgym.run.environment import make
from fitgym.run.schema import check
from fitgym.run.setting import Setting
from fitgym.subject.source import locate
from fitgym.subject.source import read as read_source
from fitgym.suite.runs.rerun import Rerun

__all__ = ["Replay", "replay", "rerun", "setting_of"]


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay.

    Attributes:
        steps: number of decisions that were repeated.
        differences: a sentence for each number that differs from the record.
        notes: a sentence for each item that could not be compared.
        tests: number of tests of the suite that passed in a fresh interpreter; None without a suite.
        episode: the repeated episode, for a player; None unless `watch` was set.
    """

    steps: int
    differences: tuple[str, ...]
    notes: tuple[str, ...] = ()
    tests: int | None = None
    episode: Episode | None = None


def replay(
    record: dict[str, Any], *, path: str | None = None, suite: str | Path | None = None, watch: bool = False
) -> Replay:
    """Repeat a run from its record: the same environment, subject, seed and actions.

    Every reward must equal the recorded one to the last bit. For a budget in generations or executions, the generations
    and the goal's value must be equal, too. A run with a budget in seconds is cut off by the clock at a point that no
    other run reproduces. In this case only the rewards are compared, without the last one.

    Args:
        record: a record as written by `fitgym generate --json`.
        path: a folder to search first for the subject.
        suite: the exported file or its folder. It runs in a fresh interpreter, where every test must pass. By default
            the suite in the record runs, if there is one.
        watch: keep the episode.

    Raises:
        InputError: the record lacks a field, its run subtracted existing tests, or the suite is missing.
        SubjectError: the subject cannot be found, imported or tested.
    """
    setting = setting_of(record, path)
    differences, notes = _beforehand(record, setting)
    actions, rewards = list(record["actions"]), list(record["rewards"])
    timed = bool(setting.budget) and not Budget.parse(setting.budget).deterministic
    if timed:
        notes.append(f"the budget was {setting.budget}: the step that the clock cut off cannot be compared")
        actions, rewards = actions[:-1], rewards[:-1]
    env = make(setting, render_mode="episode" if watch else None)
    inner: Any = env.unwrapped
    try:
        _, info = env.reset(seed=setting.seed)
        for step, (action, expected) in enumerate(zip(actions, rewards, strict=True), 1):
            _, reward, terminated, truncated, info = env.step(inner.action_of(action))
            if float(reward) != expected:
                differences.append(f"step {step}, {action}: the reward is {float(reward)!r}, recorded was {expected!r}")
                break
            if (terminated or truncated) and step < len(actions):
                differences.append(f"the run ends after step {step}, recorded were {len(actions)}")
                break
        else:
            if not timed:
                differences += _end(info, record)
        episode = inner.render() if watch else None
    finally:
        env.close()
    tests = None
    text = record.get("suite", "") if suite is None else _text(record, Path(suite))
    if text:
        tests, failures = rerun(record, path, text)
        differences += failures
    return Replay(len(actions), tuple(differences), tuple(notes), tests, episode)


def setting_of(record: Mapping[str, Any], path: str | None = None) -> Setting:
    """Return the setting of a recorded run, on this machine.

    Args:
        record: a record as written by `fitgym generate --json`.
        path: a folder to search first for the subject.

    Raises:
        InputError: the record does not fit its schema; or the run subtracted existing tests, so it cannot be repeated.
    """
    check(record)
    if record.get("existing") or record.get("kept"):
        raise InputError(
            "the run subtracted what existing tests cover, which the record does not hold, so it cannot be repeated; "
            "replay a run without --tests"
        )
    values = {key: record[key] for key in ("env", "subject", "agent", "seed")}
    options = {**record["options"], **({} if path is None else {"path": path})}
    return Setting.of({**values, "budget": record["budget"] or "", "options": options})


def _beforehand(record: dict[str, Any], setting: Setting) -> tuple[list[str], list[str]]:
    """Compare the circumstances with those of the recording: certain differences, and notes about possible ones."""
    differences, notes = [], []
    if setting.subject:
        source = read_source(locate(setting.subject, setting.options.get("path")))
        if hashlib.sha256(source.encode()).hexdigest() != record.get("source_sha256"):
            differences.append(f"the source of '{setting.subject}' is not the recorded one")
    if record.get("fitgym_version") != __version__:
        notes.append(f"recorded by fitgym {record.get('fitgym_version')}, replayed by {__version__}")
    return differences, notes


def _end(info: Mapping[str, Any], record: dict[str, Any]) -> list[str]:
    """Return the differences at the end of the run."""
    found = {
        "generations": int(info["generation"]),
        "executions": int(info["executions"]),
        "goal_value": float(info["goal_value"]),
    }
    return [
        f"{key.replace('_', ' ')}: {value!r}, recorded was {record[key]!r}"
        for key, value in found.items()
        if key in record and record[key] != value
    ]


def _text(record: dict[str, Any], suite: Path) -> str:
    """Read the exported file."""
    if suite.is_dir() and record.get("suite_path"):
        suite = suite / record["suite_path"]
    try:
        return suite.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"the suite '{suite}' cannot be read: {problem}") from None


def rerun(record: Mapping[str, Any], path: str | None, text: str) -> tuple[int, list[str]]:
    """Run a suite in a fresh interpreter. Return the number of passed tests and the problems of the others.

    Args:
        record: the record of the run that produced the suite.
        path: a folder to search first for the subject.
        text: the text of the suite.

    Raises:
        SubjectError: the subject cannot be found.
    """
    rerun = Rerun(text, locate(record["subject"], path, record["options"].get("programs", "")))
    try:
        rerun.wait()
        if rerun.unusable:
            return 0, [f"the suite cannot be run: {rerun.unusable}"]
        failed = [f"{name} fails: {verdict.error}" for name, verdict in rerun.verdicts.items() if not verdict.passed]
        passed = len(rerun.verdicts) - len(failed)
    finally:
        rerun.close()
    if not failed and passed != (recorded := record.get("tests", passed) + record.get("kept", 0)):
        failed = [f"the suite has {passed} tests, recorded were {recorded}"]
    return passed, failed
