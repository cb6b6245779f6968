"""Null arms: baselines that every table of agents needs to show whether choosing fitness functions pays."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fitgym.errors import InputError
from fitgym.run.evaluation import Row

__all__ = ["BEST_CONSTANT", "NULL_ARMS", "best_constant", "missing", "notice"]

BEST_CONSTANT = "best constant"

NULL_ARMS = {
    "random search": "test cases without any guidance",
    "uniform": "another combination of functions drawn at every step",
    "random_fixed": "one combination drawn for the whole run",
    BEST_CONSTANT: "the combination that reached most on the training split, fixed for the whole run",
}
"""The null arms, with a description of each."""


def missing(arms: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the null arms that a table lacks.

    An arm with `search = "random_search"` is random search, whatever its agent. An arm is the best constant if its
    agent is `fixed:...` and its name contains "best constant", because settings do not tell how a constant was chosen.

    Args:
        arms: the settings of each arm by name, with `agent` and, if set, `search`.
    """
    there = set()
    for name, settings in arms.items():
        agent, search = str(settings.get("agent", "")), str(settings.get("search", ""))
        if search.partition(":")[0] == "random_search":
            there.add("random search")
        elif agent in ("uniform", "random_fixed"):
            there.add(agent)
        elif agent.startswith("fixed:") and BEST_CONSTANT in name.lower():
            there.add(BEST_CONSTANT)
    return tuple(name for name in NULL_ARMS if name not in there)


def notice(lacking: Sequence[str]) -> str:
    """Return the sentence of a report about missing null arms."""
    which = "; ".join(f"{name} ({NULL_ARMS[name]})" for name in lacking)
    return f"Null arms are missing: {which}. Without them the table cannot show that choosing fitness functions pays."


def best_constant(rows: Iterable[Row], training: Sequence[str]) -> str:
    """Return the constant that reached most on a training split.

    For each subject and seed, values are divided by the most that any constant reached there (all values count as 1 if
    that is 0). The mean is taken over seeds, then over subjects. Ties go to fewer functions, then to the first name.

    Args:
        rows: of one goal and budget; rows of agents other than `fixed:...` are left out.
        training: the subjects of the training split.

    Returns:
        The agent, such as `fixed:exception+branch`.

    Raises:
        InputError: there is no run of a constant, a run is on another subject, or the constants have different runs.
    """
    values: dict[str, dict[tuple[str, int], float]] = defaultdict(dict)
    for row in rows:
        setting = row.setting
        if not setting.agent.startswith("fixed:") or row.value is None:
            continue
        if setting.subject not in training:
            raise InputError(
                f"'{setting.subject}' is not in the training split; choose constants on the training split only"
            )
        values[setting.agent][setting.subject, setting.seed] = row.value
    if not values:
        raise InputError("there is no run of an agent 'fixed:...' on the training split; expected at least one")
    cells = set(next(iter(values.values())))
    for agent, found in values.items():
        if set(found) != cells:
            raise InputError(
                f"'{agent}' has {len(found)} runs on other subjects or seeds than the first constant; expected the "
                "same subjects and seeds"
            )
    most = {cell: max(found[cell] for found in values.values()) for cell in cells}

    def share(found: Mapping[tuple[str, int], float]) -> float:
        by_subject: dict[str, list[float]] = defaultdict(list)
        for cell, value in sorted(found.items()):
            by_subject[cell[0]].append(value / most[cell] if most[cell] > 0.0 else 1.0)
        return statistics.fmean(map(statistics.fmean, by_subject.values()))

    return min(values, key=lambda agent: (-share(values[agent]), agent.count("+"), agent))
