"""The catalogue: which combinations of fitness functions an agent can choose, by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from fitgym.errors import InputError

__all__ = ["LIMIT", "action_name", "catalogue", "parse_action"]

LIMIT = 1024
"""The largest catalogue that is built."""

Action = tuple[str, ...]


def action_name(functions: Sequence[str]) -> str:
    """A combination as text, for example `exception+branch`."""
    return "+".join(functions)


def parse_action(text: str, functions: Sequence[str]) -> Action:
    """The combination that a text names.

    Raises:
        InputError: a part of it is none of `functions`.
    """
    parts = tuple(dict.fromkeys(part.strip() for part in text.split("+") if part.strip()))
    unknown = [part for part in parts if part not in functions]
    if unknown or not parts:
        wrong = f"'{unknown[0]}' is not one of its fitness functions" if unknown else "it names no fitness function"
        raise InputError(f"action '{text}' cannot be used: {wrong} (there are: {', '.join(functions)})")
    return parts


def catalogue(kind: str | Sequence[str], functions: Sequence[str], required: Sequence[str] = ()) -> list[Action]:
    """The combinations of `functions` that an agent can choose, small ones first.

    Args:
        kind: "paper" every set of up to four functions that contains the required ones (Almulla and Gay 2022: with
            the eight functions of the exception goal 1 + 7 + 21 + 35 = 64); "singles"; "pairs" sets of one or two;
            "upto:k" sets of one to k; or a list of actions such as `["branch", "branch+line"]`.
        functions: the fitness functions of the goal, in the order in which they are combined.
        required: those that every set of "paper" contains.

    Raises:
        InputError: the kind is unknown, an action names an unknown function, or there are more than `LIMIT` sets.
    """
    if not isinstance(kind, str):
        return [parse_action(text, functions) for text in kind]
    if kind == "paper":
        others = [name for name in functions if name not in required]
        rest = [combination for size in range(0, 5 - len(required)) for combination in combinations(others, size)]
        return [(*required, *combination) for combination in rest if required or combination]
    if kind == "singles":
        return [(name,) for name in functions]
    largest = 2 if kind == "pairs" else None
    if kind.startswith("upto:") and kind[5:].isdigit() and int(kind[5:]) > 0:
        largest = int(kind[5:])
    if largest is None:
        raise InputError(f"catalogue '{kind}' is unknown: use paper, singles, pairs, upto:K or a list of actions")
    found = [combination for size in range(1, largest + 1) for combination in combinations(functions, size)]
    if len(found) > LIMIT:
        raise InputError(
            f"catalogue '{kind}' has {len(found)} actions, more than {LIMIT}: use singles, pairs, a smaller upto:K or "
            "an explicit list"
        )
    return found
