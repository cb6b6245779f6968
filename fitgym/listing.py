"""Listings: every extension with the first line of its docstring."""

from __future__ import annotations

import inspect
from typing import Any

from fitgym.agents.base import agents
from fitgym.engine import FITNESS, SEARCH
from fitgym.envs import ENVIRONMENTS
from fitgym.envs.fitness_selection import GOALS
from fitgym.errors import UnknownName
from fitgym.features import FEATURE_SETS
from fitgym.registry import Registry

__all__ = ["describe"]


def describe(what: str) -> list[tuple[str, str]]:
    """Names and one-line descriptions of the extensions of one kind.

    Raises:
        UnknownName: there is no such kind.
    """
    registries: dict[str, Registry[Any]] = {"agents": agents(), "goals": GOALS, "fitness": FITNESS, "search": SEARCH}
    if what in registries:
        registry = registries[what]
        return [(name, _first_line(registry.load(name))) for name in registry.names()]
    if what == "envs":
        return [(name, f"choose fitness functions for the goal '{goal}'") for name, goal in ENVIRONMENTS.items()]
    if what == "features":
        return [(features.name, ", ".join(features.names(("...",)))) for features in FEATURE_SETS]
    raise UnknownName("listing", what, [*registries, "envs", "features"])


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0]
