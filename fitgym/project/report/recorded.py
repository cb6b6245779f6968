"""Recorded: data about mutants and removed tests from the last `fitgym generate` of a module."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fitgym.mutants.generation import mutants
from fitgym.mutants.mutant import Mutant
from fitgym.project.layout import Module, Project
from fitgym.project.records import Records

__all__ = ["Recorded", "recorded"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The data in the record of a module; its mutants are mapped to the current source.

    Attributes:
        problem: why there are no mutants, as a sentence; "" if there are.
        suite: the generated file, relative to the root of the project; "" if nothing was written.
        total: number of mutants of the module.
        killed: number of mutants that the tests kill: generated tests, and existing ones if they were run on mutants.
        killed_before: number of mutants that the existing tests kill, None if they were not run on mutants.
        kills: the mutants that each generated test kills, by its name. Each mutant is credited to one test.
        survivors: the surviving mutants.
        dropped: name and reason of each removed test.
        unfinished: stages that were cut off.
    """

    problem: str = ""
    suite: str = ""
    total: int = 0
    killed: int = 0
    killed_before: int | None = None
    kills: Mapping[str, tuple[Mutant, ...]] = field(default_factory=dict)
    survivors: tuple[Mutant, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    unfinished: tuple[str, ...] = ()


def recorded(project: Project, module: Module, source: str) -> Recorded:
    """Read the record of a module.

    Args:
        project: has the record below its root.
        module: one of its modules.
        source: the text of the module, with `\\n` at line ends.

    Returns:
        A `Recorded` with a `problem` if there is no record, it cannot be read, it was made for another source, or no
        mutants were run. Removed tests are included if the record can be read.
    """
    file = Records(project.root).folder / f"{module.name}.json"
    try:
        record = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return Recorded("No record: `fitgym generate` has not run for this module. Only coverage is shown.")
    except (OSError, ValueError, RecursionError) as problem:
        return Recorded(f"The record {file.name} cannot be read ({problem}). Only coverage is shown.")
    try:
        return _of(record, source)
    except (KeyError, TypeError, ValueError, AttributeError):
        return Recorded(f"The record {file.name} was not written by `fitgym generate`. Only coverage is shown.")


def _of(record: Mapping[str, Any], source: str) -> Recorded:
    covered_only = Recorded(
        suite=str(record.get("suite_path") or ""),
        dropped=tuple((str(test["name"]), str(test["reason"])) for test in record.get("dropped") or ()),
        unfinished=tuple(map(str, record.get("unfinished") or ())),
    )
    if record["source_sha256"] != hashlib.sha256(source.encode()).hexdigest():
        return replace(
            covered_only, problem="The module has changed since its record was written. Only coverage is shown."
        )
    score = record["mutants"]
    if score is None:
        return replace(
            covered_only, problem="The record has no mutants, because the run used none. Only coverage is shown."
        )
    known = {mutant.id: mutant for mutant in mutants(source)}
    before = _before(record.get("existing"))
    survivors = [mutant for mutant in map(str, score["survivors"]) if before is None or mutant not in before]
    return replace(
        covered_only,
        total=int(score["total"]),
        killed=int(score["killed"]) + len(score["survivors"]) - len(survivors),
        killed_before=None if before is None else len(before),
        kills={str(test): _known(ids, known) for test, ids in score["by_test"].items()},
        survivors=_known(survivors, known),
    )


def _known(ids: Iterable[str], known: Mapping[str, Mutant]) -> tuple[Mutant, ...]:
    """Return the mutants of these ids; ids of another Python version may be unknown."""
    return tuple(known[mutant] for mutant in ids if mutant in known)


def _before(existing: Any) -> frozenset[str] | None:
    """Return the mutants that the existing tests kill, None if the record does not contain them."""
    score = existing.get("mutants") if isinstance(existing, dict) else None
    killed = score.get("killed") if isinstance(score, dict) else None
    return frozenset(map(str, killed)) if isinstance(killed, list) else None
