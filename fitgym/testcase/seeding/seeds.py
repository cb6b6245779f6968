"""Seeds: test cases and arguments from existing hand-written uses of the subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fitgym.subject.subject import Subject
from fitgym.testcase.seeding.glossary import Glossary
from fitgym.testcase.seeding.translation import Given, Translation
from fitgym.testcase.statement import Statement

__all__ = ["Seeds", "seeds"]

_MOST = 200
"""Maximum number of test cases from examples; they are executed first, and are few relative to any budget."""

_OFTEN = 16
"""Calls of an operation by examples, beyond which further examples of only such operations are skipped."""

_LONGEST = 10
"""Maximum number of statements of a test case that combines unrelated groups."""

_MOST_GIVEN = 24
"""Maximum number of arguments kept for a parameter."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seeds of a search.

    Attributes:
        testcases: sequences of statements, nearest to the module first, without duplicates.
        given: arguments of calls that could not be translated as a whole.
    """

    testcases: tuple[tuple[Statement, ...], ...] = ()
    given: tuple[Given, ...] = ()


def seeds(subject: Subject, max_length: int) -> Seeds:
    """Return the seeds of a subject; deterministic, without random numbers.

    Args:
        subject: whose examples are translated.
        max_length: maximum number of statements of a test case.
    """
    glossary = Glossary(subject)
    entry_points = frozenset(operation.id for operation in subject.operations if operation.is_entry_point)
    kept: dict[tuple[Statement, ...], None] = {}
    called: Counter[int] = Counter()
    given: dict[Given, None] = {}
    for example in subject.examples:
        translation = Translation(glossary, example)
        given.update(dict.fromkeys(translation.given))
        for sequence in translation.sequences:
            for testcase in _parts(sequence, entry_points, max_length):
                own = {one.operation for one in testcase} & entry_points
                if len(kept) < _MOST and testcase not in kept and any(called[one] < _OFTEN for one in own):
                    kept[testcase] = None
                    called.update(own)
    often: Counter[tuple[int, str]] = Counter()
    chosen: list[Given] = []
    for one in given:
        key = one.operation, one.parameter
        if one.operation in entry_points and often[key] < _MOST_GIVEN:
            often[key] += 1
            chosen.append(one)
    return Seeds(tuple(kept), tuple(chosen))


def _parts(sequence: Sequence[Statement], entry_points: frozenset[int], max_length: int) -> list[tuple[Statement, ...]]:
    """Split the sequence into test cases: dependent statements stay together, small groups are merged.

    A test case ends at its first exception, so an unnecessarily long one may never run its second half.
    """
    group = list(range(len(sequence)))
    for position, statement in enumerate(sequence):
        for one in statement.refs:
            old, new = group[position], group[one]
            group = [new if value == old else value for value in group]
    members: dict[int, list[int]] = {}
    for position, name in enumerate(group):
        members.setdefault(name, []).append(position)
    parts: list[list[int]] = []
    for positions in members.values():
        useful = [position for position in positions if sequence[position].operation in entry_points]
        if not useful:
            continue
        positions = positions[: positions.index(useful[-1]) + 1][:max_length]  # their references come first
        if parts and len(parts[-1]) + len(positions) <= _LONGEST:
            parts[-1] = sorted([*parts[-1], *positions])
        else:
            parts.append(positions)
    found: list[tuple[Statement, ...]] = []
    for positions in parts:
        place = {old: new for new, old in enumerate(positions)}
        found.append(tuple([sequence[position].moved(place) for position in positions]))
    return found
