"""Listings: the available choices, with one line for each, and the details of one."""

from __future__ import annotations

import importlib
import inspect
import json
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import gymnasium

from fitgym.agents.base import Agent, agents
from fitgym.agents.pretrained import described, policies, purpose
from fitgym.engine import FITNESS, SEARCH, SECONDARY
from fitgym.envs import REGISTERED
from fitgym.envs.base import GOALS
from fitgym.envs.feature_set import FEATURE_SETS, FeatureSet
from fitgym.envs.features.base import View, blocks
from fitgym.errors import UnknownName
from fitgym.registry import Registry, keywords
from fitgym.study.executors.base import executors
from fitgym.study.trials.base import trials
from fitgym.subject.corpus import Corpus, corpora

__all__ = ["KINDS", "Kind", "describe", "explain", "options", "overview"]

_WIDTH = 100


class Kind(ABC):
    """One kind of choice, such as agents.

    Args:
        use: the option or call that selects an entry.
        noun: the word for one entry in messages.
    """

    def __init__(self, use: str, noun: str) -> None:
        self.use = use
        self.noun = noun

    @abstractmethod
    def lines(self) -> dict[str, str]:
        """Return a one-line description for each entry, by name."""

    @abstractmethod
    def whole(self, name: str) -> str:
        """Return the details of one entry."""


class _Extensions(Kind):
    """Extensions, one for each file of a folder."""

    def __init__(self, use: str, registry: Registry[Any]) -> None:
        super().__init__(use, registry.noun)
        self.registry = registry

    def lines(self) -> dict[str, str]:
        return {name: _documentation(self.registry.load(name)).partition("\n")[0] for name in self.registry.names()}

    def whole(self, name: str) -> str:
        found = self.registry.load(name)
        return "\n\n".join([":".join(filter(None, [name, ",".join(options(found))])), _documentation(found)])


class _Environments(Kind):
    """Environments that are registered with Gymnasium."""

    def lines(self) -> dict[str, str]:
        return {name: one.summary for name, one in REGISTERED.items()}

    def whole(self, name: str) -> str:
        spec = gymnasium.spec(name)
        module, _, attribute = str(spec.entry_point).partition(":")
        given = "".join(f", {key}={value!r}" for key, value in spec.kwargs.items())
        call = f"gymnasium.make({name!r}, ...)" + (f"   is {attribute}(...{given})" if given else "")
        return "\n\n".join([call, _documentation(getattr(importlib.import_module(module), attribute))])


class _Features(Kind):
    """Observations of agents: versioned feature sets, and the blocks that can be joined by +."""

    def lines(self) -> dict[str, str]:
        known = blocks()
        found = {name: ", ".join(names) for name, names in FEATURE_SETS.items()}
        return found | {name: _documentation(known.load(name)).partition("\n")[0] for name in known.names()}

    def whole(self, name: str) -> str:
        functions = GOALS.load("exceptions").functions
        names = FeatureSet.load(name).names(View(tuple(functions), slots=("part_0", "whole")))
        return "\n".join([f"{name}, for the goal 'exceptions':", "", *names])


class _Corpora(Kind):
    """Lists of subjects."""

    def lines(self) -> dict[str, str]:
        return {name: ", ".join(f"{split} {n}" for split, n in Corpus.load(name).splits.items()) for name in corpora()}

    def whole(self, name: str) -> str:
        parts = [
            f"{name}:{split}\n  {' '.join(Corpus.load(f'{name}:{split}').subjects)}"
            for split in Corpus.load(name).splits
        ]
        return "\n\n".join(
            textwrap.fill(part, _WIDTH, subsequent_indent="  ", break_on_hyphens=False) for part in parts
        )


class _Policies(Kind):
    """Trained agents that come with fitgym, by name."""

    def lines(self) -> dict[str, str]:
        return described()

    def whole(self, name: str) -> str:
        folder = next(folder for folder in policies().values() if folder.name == name)
        made = json.dumps(Agent.load(folder).made, indent=2)
        return "\n\n".join([f"{name}: --agent pretrained {purpose(folder)}", described()[name], made])


KINDS: Mapping[str, Kind] = {
    "goals": _Extensions("fitgym generate --goal", GOALS),
    "fitness": _Extensions("--agent fixed:A+B", FITNESS),
    "agents": _Extensions("--agent", agents()),
    "policies": _Policies("--agent pretrained", "policy"),
    "search": _Extensions("--search", SEARCH),
    "secondary": _Extensions("--secondary", SECONDARY),
    "envs": _Environments("gymnasium.make", "environment"),
    "features": _Features("--features", "feature set"),
    "corpora": _Corpora("--subjects", "corpus"),
    "trials": _Extensions("trial = in a study file", trials()),
    "executors": _Extensions("fitgym study run --executor", executors()),
}
"""The kinds by their name in `fitgym list`."""


def overview() -> str:
    """Return every kind with the option that selects it and its names."""
    parts = []
    for what, kind in KINDS.items():
        names = ", ".join(name.removeprefix("fitgym/") for name in kind.lines())
        head = f"{what} ({kind.use})"
        parts.append(textwrap.fill(names, _WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False))
        parts[-1] = f"{head}\n{parts[-1]}"
    return "\n".join(
        [
            *parts,
            "",
            "fitgym list agents       describe each agent in one line",
            "fitgym list agents ucb   all about one",
        ]
    )


def describe(what: str) -> list[tuple[str, str]]:
    """Return names and one-line descriptions of one kind.

    Raises:
        UnknownName: there is no such kind.
    """
    return list(_kind(what).lines().items())


def explain(what: str, name: str) -> str:
    """Return the details of one entry: its options with their defaults, and its docstring with formula and source.

    Args:
        what: the kind.
        name: the entry; names of environments may omit "fitgym/".

    Raises:
        UnknownName: there is no such kind, or no entry of that name.
    """
    kind = _kind(what)
    known = {full.removeprefix("fitgym/"): full for full in kind.lines()}
    short = name.removeprefix("fitgym/")
    if short not in known:
        raise UnknownName(kind.noun, name, known)
    return kind.whole(known[short])


def _kind(what: str) -> Kind:
    if what not in KINDS:
        raise UnknownName("listing", what, KINDS)
    return KINDS[what]


def options(cls: type) -> list[str]:
    """Return the constructor options of an extension with their defaults, as typed after the colon.

    Texts have no quotation marks, all other values are JSON.
    """
    found = {name: value for name, value in keywords(cls).items() if isinstance(value, (bool, int, float, str))}
    return [f"{name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in found.items()]


def _documentation(found: type) -> str:
    return inspect.getdoc(found) or ""
