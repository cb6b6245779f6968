"""Catalogues: the combinations of fitness functions from which an agent can choose, by name."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from fitgym.errors import InputError

__all__ = ["LIMIT", "action_name", "catalogue", "parse_action"]

LIMIT = 1024
"""The maximum number of actions in a catalogue."""

Action = tuple[str, ...]


def action_name(functions: Sequence[str]) -> str:
    """Return the name of a combination, for example `exception+branch`."""
    return "+".join(functions)


def parse_action(text: str, functions: Sequence[str]) -> Action:
    """Parse the name of a combination.

    Raises:
        InputError: the text is empty, or a part of it is not in `functions`.
    """
    parts = tuple(dict.fromkeys(part.strip() for part in text.split("+") if part.strip()))
    unknown = [part for part in parts if part not in functions]
    if unknown or not parts:
        wrong = f"there is no fitness function '{unknown[0]}'" if unknown else "it names no fitness function"
        raise InputError(f"action '{text}' cannot be used: {wrong} (there are: {', '.join(functions)})")
    return parts


def catalogue(kind: str | Sequence[str], functions: Sequence[str], required: Sequence[str] = ()) -> list[Action]:
    """Return the combinations of `functions` from which an agent can choose, sorted by size.

    Args:
        kind: a catalogue of the paper, see below; "singles" for single functions; "pairs" for sets of one or two;
            "upto:k" for sets of one to k; or a list of actions such as `["branch", "branch+line"]`.

            "paper": every set of up to four functions that contains the required ones. With the eight functions of the
                exception goal there are 1 + 7 + 21 + 35 = 64.
            "paper-diversity": the same without method coverage, plus two sets with it: diversity, method and either
                branch or direct branch. There are 1 + 6 + 15 + 20 + 2 = 44.
            "paper-mutation": every set of one or two functions, and every set of three that contains branch. There are
                6 + 15 + 10 = 31.
        functions: the fitness functions of the goal, in the order in which they are combined.
        required: the functions that every set of "paper" contains.

    Raises:
        InputError: the kind is unknown or belongs to another goal, an action names an unknown function, or there are
            more than `LIMIT` sets.

    References:
        Almulla and Gay 2022, Learning How to Search, sections 3.4.1 to 3.4.3, give the numbers of combinations. The
        code released with the paper lists the combinations. Its 64 contain {exception, branch, method} twice and lack
        {exception, method_no_exception, direct_branch, output}. It also combines branch and direct branch for
        diversity, although the paper says that these were not combined.
    """
    if not isinstance(kind, str):
        if not kind:
            raise InputError("the list of actions is empty: name at least one, such as ['branch', 'branch+line']")
        return [parse_action(text, functions) for text in kind]
    if kind == "paper":
        others = [name for name in functions if name not in required]
        rest = _sets(others, 0, 4 - len(required))
        return [(*required, *combination) for combination in rest if required or combination]
    if kind == "paper-diversity":
        _demand(kind, functions, "diversity", "branch", "direct_branch", "method")
        others = [name for name in functions if name not in ("diversity", "method")]
        free = [("diversity", *combination) for combination in _sets(others, 0, 3)]
        return sorted([*free, *(("diversity", name, "method") for name in ("branch", "direct_branch"))], key=len)
    if kind == "paper-mutation":
        _demand(kind, functions, "strong_mutation", "branch")
        return [chosen for chosen in _sets(functions, 1, 3) if len(chosen) < 3 or "branch" in chosen]
    if kind == "singles":
        return [(name,) for name in functions]
    largest = 2 if kind == "pairs" else None
    if kind.startswith("upto:") and kind[5:].isdigit() and int(kind[5:]) > 0:
        largest = int(kind[5:])
    if largest is None:
        raise InputError(
            f"catalogue '{kind}' is unknown: use paper, paper-diversity, paper-mutation, singles, pairs, upto:K or a list "
            "of actions"
        )
    found = _sets(functions, 1, largest)
    if len(found) > LIMIT:
        raise InputError(
            f"catalogue '{kind}' has {len(found)} actions, more than {LIMIT}: use singles, pairs, a smaller upto:K or "
            "an explicit list"
        )
    return found


def _sets(functions: Sequence[str], smallest: int, largest: int) -> list[Action]:
    """Return the sets of `smallest` to `largest` functions, sorted by size."""
    return [chosen for size in range(smallest, largest + 1) for chosen in combinations(functions, size)]


def _demand(kind: str, functions: Sequence[str], *names: str) -> None:
    missing = [name for name in names if name not in functions]
    if missing:
        raise InputError(
            f"catalogue '{kind}' combines '{missing[0]}', which is not a function of the goal (there are: {', '.join(functions)})"
        )
