"""Listings: every extension with the first line of its docstring."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from fitgym.agents.base import agents
from fitgym.engine import FITNESS, SEARCH, SECONDARY
from fitgym.envs import ENVIRONMENTS, VARIANTS, WITHOUT_SUBJECT
from fitgym.envs.fitness_selection import GOALS
from fitgym.errors import UnknownName
from fitgym.features import FEATURE_SETS
from fitgym.registry import Registry
from fitgym.subject.corpus import Corpus, corpora

__all__ = ["describe"]


def describe(what: str) -> list[tuple[str, str]]:
    """Names and one-line descriptions of the extensions of one kind.

    Raises:
        UnknownName: there is no such kind.
    """
    registries: dict[str, Registry[Any]] = {
        "agents": agents(),
        "goals": GOALS,
        "fitness": FITNESS,
        "search": SEARCH,
        "secondary": SECONDARY,
    }
    if what in registries:
        registry = registries[what]
        return [(name, _first_line(registry.load(name))) for name in registry.names()]
    if what == "envs":
        selection = [(name, f"choose fitness functions for the goal '{goal}'") for name, goal in ENVIRONMENTS.items()]
        variants = [("fitgym/WeightedFitness-v0", "weigh the fitness functions of a goal")]
        variants += [(name, _of_module(place)) for name, (place, kwargs) in VARIANTS.items() if not kwargs]
        return selection + variants + [(name, _of_module(place)) for name, place in WITHOUT_SUBJECT.items()]
    if what == "features":
        return [(features.name, ", ".join(features.names(("...",)))) for features in FEATURE_SETS]
    if what == "corpora":
        return [(name, _splits(Corpus.load(name))) for name in corpora()]
    raise UnknownName("listing", what, [*registries, "envs", "features", "corpora"])


def _splits(corpus: Corpus) -> str:
    return ", ".join(f"{split} {count}" for split, count in corpus.splits.items())


def _of_module(place: str) -> str:
    """The first line of a module's docstring, for `module:class`."""
    return (importlib.import_module(place.partition(":")[0]).__doc__ or "").partition("\n")[0]


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").partition("\n")[0]
