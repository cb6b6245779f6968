"""Difference: how much more one side reaches than another, in the unit of the measure, with its interval."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError
from fitgym.study.comparison import RESAMPLES, Runs
from fitgym.study.statistics import mann_whitney, signed_ranks, wilcoxon

__all__ = ["Difference", "difference", "growth"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of means; evidence in the sense of `fitgym.study.verdict`.

    Attributes:
        value: mean over the subjects of our mean minus their mean.
        low, high: ends of its 95 % bootstrap interval; subjects and seeds are drawn as in
            `fitgym.study.comparison.contrast`.
        none: the difference that it is tested against.
        p: of the test against `none`.
        toward: the direction of the test, see `fitgym.study.verdict.Evidence`.
        seeds: number of seeds of a subject, the median over the subjects.
        by_subject: the difference on each subject.
    """

    value: float
    low: float
    high: float
    none: float
    p: float
    toward: int
    seeds: int
    by_subject: tuple[float, ...]


def difference(ours: Runs, theirs: Runs, none: float = 0.0, *, seed: int = 0) -> Difference:
    """Return our mean minus their mean over the subjects that both have.

    It is tested by Wilcoxon's signed ranks over the subjects; for one subject, by Mann and Whitney over the runs.

    Args:
        ours, theirs: values of their runs; seeds that only one of them has are left out.
        none: the difference to test against; -0.01 tests whether we are less than 0.01 below them.
        seed: of the bootstrap.

    Raises:
        InputError: they have no run in common.
    """
    found, drawn, seeds = _drawn(ours, theirs, seed)
    beyond = found - none
    if found.size > 1:
        return _of(found, drawn, none, wilcoxon(beyond, np.zeros_like(beyond)).p, _sign(signed_ranks(beyond)), seeds)
    (subject,) = [name for name in ours if ours[name].keys() & theirs.get(name, {}).keys()]
    both = sorted(ours[subject].keys() & theirs[subject].keys())
    x, y = np.array([ours[subject][one] - none for one in both]), np.array([theirs[subject][one] for one in both])
    test = mann_whitney(x, y)
    return _of(found, drawn, none, test.p, _sign(test.statistic - x.size * y.size / 2.0), seeds)


def growth(on: tuple[Runs, Runs], than: tuple[Runs, Runs], none: float = 0.0, *, seed: int = 0) -> Difference:
    """Return how much larger the difference is on some subjects than on others.

    It is tested by Mann and Whitney over the subjects.

    Args:
        on, than: our runs and their runs on the two groups of subjects.
        none: the growth to test against.
        seed: of the bootstrap.

    Raises:
        InputError: there is no run in common on one of the groups.
    """
    (found, drawn, seeds), (before, drawn_before, seeds_before) = _drawn(*on, seed), _drawn(*than, seed + 1)
    test = mann_whitney(found - none, before)
    toward = _sign(test.statistic - found.size * before.size / 2.0)
    value = float(found.mean() - before.mean())
    low, high = np.nanquantile(drawn - drawn_before, [0.025, 0.975])
    least = min(seeds, seeds_before)
    return Difference(value, float(low), float(high), none, test.p, toward, least, tuple(map(float, found)))


def _drawn(ours: Runs, theirs: Runs, seed: int) -> tuple[Floats, Floats, int]:
    """Return the difference on each subject, the mean of each resample, and the median number of seeds."""
    both = {name: sorted(ours[name].keys() & theirs.get(name, {}).keys()) for name in ours}
    both = {name: seeds for name, seeds in both.items() if seeds}
    if not both:
        raise InputError("both sides have no subject and seed in common, so they cannot be compared")
    pairs = {name: np.array([ours[name][one] - theirs[name][one] for one in seeds]) for name, seeds in both.items()}
    rng = np.random.default_rng(seed)
    every = {one: at for at, one in enumerate(sorted(set().union(*both.values())))}
    times = rng.multinomial(len(every), np.full(len(every), 1 / len(every)), RESAMPLES)
    rows = []
    for name, seeds in both.items():
        weights = times[:, [every[one] for one in seeds]]
        with np.errstate(invalid="ignore"):
            rows.append(weights @ pairs[name] / weights.sum(axis=1))
    picked = rng.integers(len(rows), size=(RESAMPLES, len(rows)))
    chosen = np.array(rows)[picked, np.arange(RESAMPLES)[:, None]]
    there = ~np.isnan(chosen).all(axis=1)
    means = np.full(RESAMPLES, np.nan)
    means[there] = np.nanmean(chosen[there], axis=1)
    by_subject = np.array([found.mean() for found in pairs.values()])
    return by_subject, means, statistics.median_low(map(len, both.values()))


def _of(found: Floats, drawn: Floats, none: float, p: float, toward: int, seeds: int) -> Difference:
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return Difference(
        float(found.mean()), float(low), float(high), none, p, toward, seeds, tuple(float(one) for one in found)
    )


def _sign(number: float) -> int:
    return (number > 0.0) - (number < 0.0)
