"""Repeat a recorded run in full: the agent decides again, and the suite is finished again."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Final

from fitgym import __version__
from fitgym.agents.base import agents, is_saved
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.run.evaluation import run
from fitgym.run.generation import Request, generate_request
from fitgym.run.repetition import TIMED, UNCHECKED, Repetition, differences
from fitgym.run.replay import replay, rerun, setting_of
from fitgym.run.setting import Setting
from fitgym.suite.text.suite_file import SuiteFile

__all__ = ["CUT_OFF", "OF_A_SUITE", "is_absent", "repeat"]

OF_A_SUITE: Final = (
    *("tests", "statements", "coverage", "measured", "exceptions", "ill_typed", "mutants", "crashed"),
    *("runs", "unfinished", "dropped", "weakened", "suite_path", "made_for"),
)
"""The fields that finishing adds to a record."""

CUT_OFF: Final = "a time limit cut the finishing short"
"""The reason why the fields of a suite stay unchecked on a machine that was too slow to finish it."""

_ADDED_LATER: Final[Mapping[str, Any]] = MappingProxyType({"format": "pytest", "kept": 0, "existing": None})
"""Fields that earlier versions did not write, with the values that their absence stands for."""


def repeat(record: Mapping[str, Any], *, path: str | None = None, suite: Path | None = None) -> Repetition:
    """Repeat a recorded run with the same agent and setting, and compare every field of its record.

    Two kinds of runs cannot be repeated in full. A run with a budget in seconds ends at a different point every time.
    An agent whose folder is missing cannot decide again. In both cases the recorded decisions are replayed as by
    `fitgym replay`, and the other fields stay unchecked.

    Args:
        record: a record of `fitgym generate --json` or `fitgym evaluate --records`.
        path: a folder to search first for the subject.
        suite: the exported file.

    Raises:
        InputError: the record does not fit its schema, or the run cannot be repeated.
        SubjectError: the subject cannot be found, imported or tested.
    """
    setting = setting_of(record, path)
    if setting.budget and not Budget.parse(setting.budget).deterministic:
        return _replayed(record, path, suite, TIMED)
    if is_absent(setting.agent):
        return _replayed(
            record, path, suite, f"the saved agent '{setting.agent}' is not here, so it cannot decide again"
        )
    made, source = _generated(record, setting) if "tests" in record else (_evaluated(setting), "")
    found = {**_ADDED_LATER, **record} if "tests" in record else dict(record)
    if found.get("suite_path"):
        found["suite_path"] = PurePath(found["suite_path"]).name  # the folder is not a result
    unchecked = _cut_off(record, made)
    if record.get("fitgym_version") != __version__:
        unchecked |= {
            name: "the version that wrote the record does not have this field" for name in made if name not in found
        }
        unchecked = {
            **unchecked,
            "fitgym_version": f"recorded by {record.get('fitgym_version')}, repeated by {__version__}",
        }
    said = differences(found, made, {**UNCHECKED, **unchecked})
    if suite is not None and "tests" in record:
        text = _text(suite)
        said += rerun(record, path, text)[1] if "tests" in unchecked else _unlike(text, source)
    return Repetition(tuple(said), unchecked, made)


def is_absent(agent: str) -> bool:
    """Whether a text names the folder of a saved agent that is missing on this machine."""
    name = agent.partition(":")[0]
    return "/" in name and not is_saved(agent) and name not in agents().names()


def _replayed(record: Mapping[str, Any], path: str | None, suite: Path | None, why: str) -> Repetition:
    """Compare a run by replaying its decisions, because the agent cannot decide again."""
    found = replay(dict(record), path=path, suite=suite)
    left = {name for name in record if name not in (*_REPLAYED, *UNCHECKED)}
    if found.tests is not None:
        left -= {"suite", "tests"}
    if why is not TIMED:
        left -= {"generations", "executions", "goal_value", "rewards"}
    if why == TIMED:
        left = {*left - {"rewards"}, "the last reward"}
    return Repetition(found.differences, dict.fromkeys(sorted(left), why))


_REPLAYED: Final = (
    "env",
    "subject",
    "seed",
    "budget",
    "options",
    "actions",
    "steps",
    "source_sha256",
    "existing",
    "kept",
)
"""The fields that a replay depends on or compares."""


def _generated(record: Mapping[str, Any], setting: Setting) -> tuple[dict[str, Any], str]:
    """Repeat a run with its suite. Return the new record and the text of the suite."""
    with tempfile.TemporaryDirectory() as folder:
        output = folder if record.get("made_for") or record.get("suite_path") else None
        found = generate_request(Request(setting, output, format=record.get("format", "pytest")))
    if found.interrupted:
        raise KeyboardInterrupt
    return found.record, found.source


def _evaluated(setting: Setting) -> Mapping[str, Any]:
    """Repeat a run without a suite. Return the new record."""
    row = run(setting)
    if row.record is None:
        raise InputError(row.error or f"environment '{setting.env}' keeps no record")
    return row.record


def _cut_off(*records: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that depend on the clock because one of the runs reached its time limit."""
    sentences = [sentence for one in records for sentence in one.get("unfinished", ())]
    late = [sentence for sentence in sentences if "by the clock" in sentence or "no time for more" in sentence]
    if not late:
        return {}
    if all(sentence.startswith("running mutants") for sentence in late):
        return dict.fromkeys(("mutants", "coverage", "unfinished"), CUT_OFF)
    return dict.fromkeys(OF_A_SUITE, CUT_OFF)


def _text(suite: Path) -> str:
    try:
        return suite.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"the suite '{suite}' cannot be read: {problem}") from None


def _unlike(text: str, source: str) -> list[str]:
    """Compare the tests of an exported file with those of the new run; layout and header are ignored."""
    try:
        theirs = {test.name: test.checksum for test in SuiteFile.parse(text).tests}
    except (SyntaxError, ValueError, RecursionError) as problem:
        return [f"the suite is not valid Python: {problem}"]
    ours = {test.name: test.checksum for test in SuiteFile.parse(source).tests} if source else {}
    names = [name for name in dict.fromkeys((*theirs, *ours)) if theirs.get(name) != ours.get(name)]
    if not names:
        return []
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return [f"the suite is not the one of the new run: {names[0]}{more} is different"]
