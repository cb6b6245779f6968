"""Choices: the fitness functions, search algorithms and secondary objectives of a search, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

from fitgym.errors import InputError
from fitgym.fitness.base import Fitness
from fitgym.registry import Registry, keywords, parse_options
from fitgym.run.setting import checked
from fitgym.search.base import Search
from fitgym.secondary.base import SecondaryObjective

__all__ = ["FITNESS", "SEARCH", "SECONDARY", "Variants", "check_variants", "parse_search"]

FITNESS = Registry("fitgym.fitness", Fitness, "fitness function")
SEARCH = Registry("fitgym.search", Search, "search algorithm")
SECONDARY = Registry("fitgym.secondary", SecondaryObjective, "secondary objective")

Variants = Mapping[str, Mapping[str, Any]]
"""Arguments for the classes of fitness functions, by function name."""


def parse_search(text: str) -> tuple[type[Search], dict[str, Any]]:
    """Return the algorithm and the options in a text such as `whole_suite:use_archive=false`.

    Raises:
        UnknownName: no algorithm has this name.
        InputError: the algorithm does not have such an option, or its value is of another type or out of range.
    """
    name, _, argument = text.partition(":")
    algorithm = SEARCH.load(name)
    known = keywords(algorithm)
    words = [option for option, default in known.items() if isinstance(default, str)]
    who = f"search algorithm '{name}'"
    given = parse_options(argument, list(known), who, words)
    kinds = _kinds(algorithm)
    return algorithm, {
        key: value if key in words else checked(f"{who}: {key}", value, kinds[key]) for key, value in given.items()
    }


def _kinds(algorithm: type[Search]) -> dict[str, Any]:
    """Return the types of the options, including those that the constructor passes to its base class."""
    return {
        name: kind
        for cls in reversed(algorithm.__mro__)
        if "__init__" in vars(cls)
        for name, kind in get_type_hints(vars(cls)["__init__"], include_extras=True).items()
    }


def check_variants(variants: Variants) -> Variants:
    """Return `variants` unchanged if every function has the given arguments.

    Raises:
        UnknownName: no fitness function has this name.
        InputError: the fitness function does not have such an argument.
    """
    for name, arguments in variants.items():
        known = keywords(FITNESS.load(name))
        for argument in arguments:
            if argument not in known:
                raise InputError(
                    f"fitness function '{name}' has no argument '{argument}' (available: {', '.join(known) or 'none'})"
                )
    return variants
