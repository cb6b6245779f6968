"""Repetition: the result of repeating a recorded run, and its differences from the record."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

__all__ = ["TIMED", "UNCHECKED", "Repetition", "differences"]

UNCHECKED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "seconds": "wall times differ in every run",
        "fitgym_version": "it describes the program that wrote the record",
        "python": "it describes the program that wrote the record",
    }
)
"""The fields that no repetition can compare, each with the reason; all other fields are compared."""

TIMED: Final = "the budget is in seconds, so only the decisions were repeated"
"""The reason why most fields of a run with a budget in seconds stay unchecked."""

_SHOWN = 60  # maximum number of characters of a value in a sentence


@dataclass(frozen=True, slots=True)
class Repetition:
    """The result of repeating a recorded run.

    Attributes:
        differences: a sentence for each field that differs from the record.
        unchecked: by field, or group of fields, the reason why it was not compared; without those of `UNCHECKED`.
        made: the record of the new run; empty if only the decisions were repeated.
    """

    differences: tuple[str, ...] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)


def differences(
    recorded: Mapping[str, Any], made: Mapping[str, Any], skipped: Mapping[str, str] = UNCHECKED
) -> list[str]:
    """Return a sentence for each field of a record that differs in the new run.

    Args:
        recorded: the record, as parsed from JSON.
        made: the record of the new run, with JSON-ready values.
        skipped: fields that are not compared.
    """
    new = json.loads(json.dumps(made))
    names = [name for name in dict.fromkeys((*recorded, *new)) if name not in skipped]
    found = []
    for name in names:
        if name not in new:
            found.append(f"the new run has no '{name}', recorded was {_shown(recorded[name])}")
        elif name not in recorded:
            found.append(f"the record has no '{name}', which is {_shown(new[name])}")
        else:
            found += _first(name, recorded[name], new[name])
    return found


def _first(path: str, recorded: Any, made: Any) -> list[str]:
    """Return the first difference below a field as a sentence; an empty list if the values are equal."""
    return [
        f"{where.replace('_', ' ')} is {_shown(new)}, recorded was {_shown(old)}"
        for where, old, new in [next(_unlike(path, recorded, made), ("", None, None))]
        if where
    ]


def _unlike(path: str, recorded: Any, made: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the places where two values differ: path, recorded value, new value."""
    if isinstance(recorded, dict) and isinstance(made, dict) and set(recorded) == set(made):
        for name, value in recorded.items():
            yield from _unlike(f"{path}.{name}", value, made[name])
    elif isinstance(recorded, list) and isinstance(made, list) and len(recorded) == len(made):
        for at, (old, new) in enumerate(zip(recorded, made, strict=True)):
            yield from _unlike(f"{path}[{at}]", old, new)
    elif isinstance(recorded, list) and isinstance(made, list):
        yield f"the length of {path}", len(recorded), len(made)
    elif not _same(recorded, made):
        yield path, recorded, made


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return bool(one == other)


def _shown(value: Any) -> str:
    """Return a value for a sentence, truncated if it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
