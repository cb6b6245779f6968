"""The schema of records: fields with types and limits, and a one-sentence error for every violation."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from fitgym.errors import InputError, printable
from fitgym.run.setting import MOST, Seed

__all__ = ["DEEPEST", "RunRecord", "StudyRecord", "check", "parsed", "read_text"]

DEEPEST: Final = 30
"""The maximum nesting depth of tables and lists."""

LARGEST: Final = 256 * 2**20
"""The maximum size in bytes of a file with records."""

_SHOWN = 60  # maximum number of characters of a value in a sentence

_NOUNS: Final = {
    "object": "a table",
    "array": "a list",
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "int | float": "a number",
    "bool": "true or false",
    "null": "null",
    "str | null": "text or null",
    "object | null": "a table or null",
}

Count = Annotated[int, Meta(ge=0, le=MOST)]
Number = int | float


class Covered(Struct, forbid_unknown_fields=True):
    """Number of covered items and total number."""

    covered: Count
    total: Count


class Raised(Struct, forbid_unknown_fields=True):
    """An exception that counts, see `fitgym.engine.discovery`."""

    type: str
    function: str
    kind: str


class IllTyped(Struct, forbid_unknown_fields=True):
    """An exception caused by arguments of a wrong type."""

    type: str
    function: str


class Crash(Struct, forbid_unknown_fields=True):
    """A test case that ended the worker process."""

    failure: str
    operation: str


class Dropped(Struct, forbid_unknown_fields=True):
    """A test that was left out."""

    test: str
    reason: str


class MeasuredFile(Struct, forbid_unknown_fields=True):
    """Coverage of the exported file, see `fitgym.suite.runs.measure`."""

    branches: Covered
    lines: Covered


class RunRecord(Struct, forbid_unknown_fields=True, kw_only=True):
    """The record of a run, from `fitgym.run.record` and `fitgym.run.generation`; see `docs/concepts.md`."""

    env: str
    subject: str
    agent: str
    seed: Seed
    budget: str | None
    options: dict[str, Any]
    actions: list[Any]
    rewards: list[Number]
    fitgym_version: str = ""
    python: str = ""
    source_sha256: str = ""
    steps: Count = 0
    generations: Count = 0
    executions: Count = 0
    goal_value: Number = 0.0
    seconds: dict[str, Number] = {}
    tests: Count = 0
    statements: Count = 0
    coverage: dict[str, Covered] = {}
    measured: MeasuredFile | None = None
    exceptions: list[Raised] = []
    ill_typed: list[IllTyped] = []
    mutants: dict[str, Any] | None = None
    existing: dict[str, Any] | None = None
    crashed: list[Crash] = []
    runs: Count = 0
    unfinished: list[str] = []
    dropped: list[Dropped] = []
    weakened: Count = 0
    suite_path: str | None = None
    made_for: str = ""
    kept: Count = 0
    format: str = "pytest"
    suite: str = ""


class StudyRecord(Struct, forbid_unknown_fields=True, kw_only=True):
    """The record of a run of a study, see `fitgym.study.cell`."""

    id: str
    trial: str
    arm: str
    subject: str
    seed: Seed
    budget: str
    settings: dict[str, Any]
    measures: dict[str, Number]
    series: dict[str, list[Any]]
    run: dict[str, Any]
    seconds: dict[str, Number]
    error: str
    fitgym_version: str
    python: str


def check(record: Any, kind: type[Struct] = RunRecord) -> dict[str, Any]:
    """Check a record against its schema and return it.

    Args:
        record: a value parsed from JSON.
        kind: `RunRecord` or `StudyRecord`.

    Raises:
        InputError: the record is not a table, lacks a field or has an unknown one, or a value has a wrong type or is
            out of range; the message names the field.
    """
    if not isinstance(record, dict):
        raise InputError(f"it is a {type(record).__name__}, expected a record: an object")
    if _is_deeper(record, DEEPEST):
        raise InputError(f"the record is nested more than {DEEPEST} levels deep, which no run writes")
    known = typing.get_type_hints(kind, include_extras=True)
    needed = {each.name for each in msgspec.structs.fields(kind) if each.required}
    for name in known:
        if name in needed and name not in record:
            raise InputError(
                f"the record has no '{name}', expected one that `fitgym generate --json` or a study has written"
            )
    for name, value in record.items():
        if name not in known:
            raise InputError(f"the record has an unknown field '{_short(name)}': remove it")
        try:
            msgspec.convert(value, known[name])
        except (msgspec.ValidationError, OverflowError) as problem:
            raise InputError(_sentence(name, value, str(problem))) from None
    if kind is RunRecord:
        _check_run(record)
    return record


def _check_run(record: Mapping[str, Any]) -> None:
    """Check the conditions that involve several fields of a run."""
    if len(record["actions"]) != len(record["rewards"]):
        raise InputError(
            f"the record has {len(record['actions'])} actions and {len(record['rewards'])} rewards, expected one reward "
            "for each action"
        )
    if record.get("suite_path"):
        place = PurePosixPath(record["suite_path"])
        if place.is_absolute() or ".." in place.parts or "\0" in str(place):
            raise InputError(
                f"suite_path of the record is '{_short(record['suite_path'])}', expected a file beside the record"
            )


def parsed(text: str, source: str) -> Any:
    """Parse a JSON text.

    Args:
        text: one JSON value.
        source: the origin of the text, for messages.

    Raises:
        InputError: the text is not valid JSON, or nested too deep.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        several = (
            "; `fitgym validate` repeats a file with a record in each line, `fitgym replay --number 1` the first"
            if problem.msg == "Extra data"
            else ""
        )
        raise InputError(f"{source} cannot be read: {problem}{several}") from None
    except RecursionError:
        raise InputError(f"{source} cannot be read: it is nested too deep") from None
    except ValueError as problem:  # a number with thousands of digits
        raise InputError(f"{source} cannot be read: {problem}") from None


def read_text(file: Path, source: str) -> str:
    """Read a file with records.

    Args:
        file: a regular file, or a device such as /dev/null.
        source: a description of the file, for messages.

    Raises:
        InputError: the file cannot be read, is a pipe, which may never end, or is larger than `LARGEST`.
    """
    try:
        if file.is_fifo() or file.is_socket():
            raise InputError(f"{source} cannot be read: it is a pipe, expected a file")
        with file.open("rb") as opened:
            found = opened.read(LARGEST + 1)
        if len(found) > LARGEST:
            raise InputError(f"{source} cannot be read: it is larger than {LARGEST // 2**20} MiB; split it")
        return found.decode("utf-8")
    except (OSError, ValueError) as problem:
        raise InputError(f"{source} cannot be read: {problem}") from None


def _sentence(name: str, value: Any, problem: str) -> str:
    """Turn an error of msgspec into a sentence in the style of other messages."""
    said, _, place = problem.partition(" - at `$")
    place = place.rstrip("`").replace("[...]", "")
    for word, noun in _NOUNS.items():
        said = said.replace(f"`{word}`", noun)
    shown = "out of range" if isinstance(value, int) and abs(value) > MOST else _short(repr(value))
    given = "does not fit:" if isinstance(value, dict | list) else f"is {shown},"
    return printable(f"{name}{place} of the record {given} {said[:1].lower()}{said[1:]}")


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether tables and lists are nested deeper than `levels`, computed without recursion."""
    layer = [value]
    for _ in range(levels):
        layer = [inner for outer in layer for inner in (outer.values() if isinstance(outer, dict) else outer)]
        layer = [one for one in layer if isinstance(one, dict | list)]
        if not layer:
            return False
    return True


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
