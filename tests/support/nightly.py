"""Nightly tests: slow tests that add little to those that always run. `make nightly` runs them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

__all__ = ["ALIKE", "all_but", "every", "nightly"]

nightly = pytest.mark.nightly

ALIKE = frozenset(
    {
        *("fitgym/ExceptionDiscovery-v0", "fitgym/SuiteDiversity-v0", "fitgym/MeanDiversity-v0"),
        *("fitgym/StrongMutation-v0", "fitgym/BranchCoverage-v0", "fitgym/Programs-easy-v0", "fitgym/Landscapes-v0"),
        "fitgym/Corpus-v0",
    }
)
"""Environments that differ from another one only in keywords; those others always run."""


def all_but(values: Iterable[Any], late: Collection[Any]) -> list[Any]:
    """Return parameter values; those in `late` run nightly."""
    return [pytest.param(value, marks=nightly) if value in late else value for value in values]


def every(number: int, values: Iterable[Any]) -> list[Any]:
    """Return parameter values; the first and every `number`-th value after it run always, the others nightly."""
    return [value if at % number == 0 else pytest.param(value, marks=nightly) for at, value in enumerate(values)]
