"""Training history of a policy: its trainings in order, and their totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["UNKNOWN", "joined", "summary"]

UNKNOWN = "not recorded"
"""The value of a total that was not recorded."""


def joined(parent: Mapping[str, Any], before: int, training: Mapping[str, Any] | None) -> dict[str, Any]:
    """The training history of a policy after one more training.

    Args:
        parent: the history before; empty if it was not recorded.
        before: number of steps before.
        training: the new training, with its own `steps` and `episodes`; None if no step was left.

    Returns:
        `steps` and `episodes`, the totals over all trainings, and `trainings`, oldest first. A total is `UNKNOWN` if a
        part of it is.
    """
    trainings = [dict(one) for one in parent.get("trainings", ())]
    if before and not trainings:
        trainings = [{"steps": before, "episodes": UNKNOWN, "corpus": UNKNOWN, "seeds": UNKNOWN}]
    if training is not None:
        trainings.append(dict(training))
    return {**{what: _total(trainings, what) for what in ("steps", "episodes")}, "trainings": trainings}


def _total(trainings: Sequence[Mapping[str, Any]], what: str) -> int | str:
    parts = [one[what] for one in trainings]
    return sum(parts) if all(isinstance(part, int) for part in parts) else UNKNOWN


def summary(made: Mapping[str, Any]) -> str:
    """The training history in one line, such as `8000 steps, 219 episodes on stdlib-v1:train`."""
    trainings = made.get("trainings", ())
    corpora = list(dict.fromkeys(_place(one) for one in trainings)) or [UNKNOWN]
    steps, episodes = (
        f"{what} {UNKNOWN}" if (n := made.get(what, UNKNOWN)) == UNKNOWN else f"{n} {what}"
        for what in ("steps", "episodes")
    )
    found = f"{steps}, {episodes} on {' and '.join(corpora)}"
    return found if len(trainings) < 2 else f"{found}, in {len(trainings)} trainings"


def _place(training: Mapping[str, Any]) -> str:
    """Return the corpus of a training; its environment if that has no subjects."""
    environment = training.get("environment")
    named = environment.get("id") if isinstance(environment, Mapping) else None
    return str(training.get("corpus") or named or "no subjects")
