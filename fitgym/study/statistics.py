"""Statistics for randomised algorithms: estimates and tests for the arms of a study.

Arrays of results have a row for each subject and a column for each seed, unless stated otherwise; failed runs are NaN.
All random numbers are drawn from a seed, so the same results always give the same report.

The methods follow Arcuri and Briand 2014, A Hitchhiker's Guide to Statistical Tests for Assessing Randomized Algorithms
in Software Engineering: tests without assumptions about distributions, effect sizes in addition to p-values, at least
30 runs. `fitgym.study.comparison` has the effect size A12 over subjects.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fitgym.errors import InputError

__all__ = [
    "Interval",
    "Ranks",
    "Test",
    "area_under_curve",
    "correlation",
    "friedman",
    "holm",
    "iqm",
    "likelihood",
    "mann_whitney",
    "mean_of",
    "normalised",
    "signed_ranks",
    "time_to",
    "wilcoxon",
]

Floats = NDArray[np.float64]

FEW = 30
"""Reports warn about fewer seeds than this."""

_RESAMPLES = 2000

_DIVISIONS = 1000
"""Maximal number of divisions of runs among two arms for an exact test: up to six runs against six."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Test:
    """The result of a test.

    Attributes:
        statistic: of the test.
        p: probability of at least such a difference if there is none.
    """

    statistic: float
    p: float


@dataclass(frozen=True, slots=True)
class Ranks:
    """Results of Friedman's test, followed by Nemenyi's test of all pairs.

    Attributes:
        names: of the arms, the best first.
        means: mean rank of each over the subjects, 1 for the best.
        test: of Friedman, all arms at once.
        pairs: p of Nemenyi for each pair of arms.
        critical: critical difference: mean ranks that are further apart differ with p < 0.05.
        blocks: number of ranked subjects.
    """

    names: tuple[str, ...]
    means: tuple[float, ...]
    test: Test
    pairs: dict[tuple[str, str], float]
    critical: float
    blocks: int

    @property
    def best(self) -> tuple[str, ...]:
        """The arms with the lowest mean rank; more than one if there is a tie."""
        return tuple(name for name, mean in zip(self.names, self.means, strict=True) if mean == self.means[0])


def normalised(values: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    """Return values as shares of the most that any run of any arm reached on the same subject.

        normalised(x) = x / max over arms and seeds of the subject

    If the maximum is not above 0, every run has 1. For numbers of discovered exceptions this is the normalised
    exception count of Almulla and Gay 2022 (equation 10).

    Args:
        values: by arm, of the same subjects.
    """
    arrays = {name: np.atleast_2d(np.asarray(found, np.float64)) for name, found in values.items()}
    most = np.nanmax(np.hstack(list(arrays.values())), axis=1, keepdims=True, initial=-np.inf)
    shares = {}
    for name, found in arrays.items():
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(most > 0.0, found / most, 1.0)
        shares[name] = np.where(np.isnan(found), np.nan, share)
    return shares


def mann_whitney(
    ours: ArrayLike, theirs: ArrayLike, alternative: Literal["two-sided", "greater", "less"] = "two-sided"
) -> Test:
    """Test whether runs of one arm tend to reach more than those of another on one subject.

    p is 1 if no two runs differ, which scipy calls undefined from 1.18 on, and NaN if one arm has no runs. A few runs
    with ties are tested exactly, over all ways to divide them among the arms, because the normal approximation calls
    three runs against three significant.

    Args:
        ours, theirs: values of the runs.
        alternative: the hypothesis tested against no difference: any, that ours are larger, or that they are smaller.
    """
    from scipy.stats import mannwhitneyu

    x, y = _finite(ours), _finite(theirs)
    if not (x.size and y.size):
        return Test(float("nan"), float("nan"))
    if np.all(x == x[0]) and np.all(y == x[0]):
        return Test(x.size * y.size / 2.0, 1.0)
    found = mannwhitneyu(x, y, alternative=alternative)
    both = np.concatenate([x, y])
    if np.unique(both).size < both.size and math.comb(both.size, x.size) <= _DIVISIONS:
        return Test(float(found.statistic), _divided(x, y, alternative))
    return Test(float(found.statistic), float(found.pvalue))


def _divided(x: Floats, y: Floats, alternative: str) -> float:
    """Return the exact p of the rank sum, over all ways to divide the runs among the arms."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([x, y]))
    sums = np.array([ranks[list(mine)].sum() for mine in combinations(range(ranks.size), x.size)])
    beyond = sums - x.size * ranks.mean()
    observed = ranks[: x.size].sum() - x.size * ranks.mean()
    if alternative == "two-sided":
        return float((np.abs(beyond) >= abs(observed) - 1e-9).mean())
    sign = 1.0 if alternative == "greater" else -1.0
    return float((sign * beyond >= sign * observed - 1e-9).mean())


def wilcoxon(ours: ArrayLike, theirs: ArrayLike) -> Test:
    """Two-sided signed-rank test over pairs: of runs with the same seed, or of subjects; p is 1 if no pair differs."""
    from scipy.stats import wilcoxon as test

    x, y = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    if not np.any(x != y):
        return Test(0.0, 1.0)
    found = test(x, y)
    return Test(float(found.statistic), float(found.pvalue))


def signed_ranks(differences: ArrayLike) -> float:
    """Return the rank sum of positive minus that of negative differences: the direction of Wilcoxon's test.

    Differences of 0 and NaN are left out before ranking, as in the test.
    """
    from scipy.stats import rankdata

    found = _finite(differences)
    found = found[found != 0.0]
    return float((np.sign(found) * rankdata(np.abs(found))).sum()) if found.size else 0.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down procedure.

        adjusted of the k-th smallest of n = max over j <= k of min(1, (n - j + 1) p_j)

    The probability that any true null hypothesis has an adjusted p below 0.05 is at most 0.05.

    Args:
        p_values: of all comparisons of a table, in [0, 1]; NaN for comparisons that were not tested, which do not
            count.

    Returns:
        The adjusted p-values in the same order, never below the given ones; NaN stays NaN.

    Raises:
        InputError: a value is not in [0, 1].

    References:
        Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.
    """
    given = np.asarray(p_values, np.float64)
    found = np.full_like(given, np.nan)
    tested = np.flatnonzero(~np.isnan(given))
    outside = [p for p in given[tested] if not 0.0 <= p <= 1.0]
    if outside:
        raise InputError(f"p-value {outside[0]} is outside [0, 1]; expected a probability")
    order = tested[np.argsort(given[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    found[order] = np.minimum(1.0, np.maximum.accumulate(given[order] * factors))
    return [float(p) for p in found]


def friedman(values: Mapping[str, ArrayLike], *, larger_is_better: bool = True) -> Ranks:
    """Test whether the arms differ over the subjects, and which pairs do.

    Args:
        values: by arm, one for each subject (a median over seeds); subjects without a value for some arm are left out.
        larger_is_better: otherwise the smallest has rank 1.

    Raises:
        InputError: there are fewer than three arms or two subjects.

    References:
        Demsar 2006, Statistical Comparisons of Classifiers over Multiple Data Sets.
    """
    from scikit_posthocs import posthoc_nemenyi_friedman
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    names = list(values)
    table = np.column_stack([np.asarray(values[name], np.float64) for name in names])
    table = table[~np.isnan(table).any(axis=1)]
    blocks, arms = table.shape
    if arms < 3 or blocks < 2:
        raise InputError(f"there are {arms} arms and {blocks} subjects to rank; expected at least 3 and 2")
    ranks = rankdata(-table if larger_is_better else table, axis=1).mean(axis=0)
    if np.all(table == table[:, :1]):
        test, pairs = Test(0.0, 1.0), np.ones((arms, arms))
    else:
        found = friedmanchisquare(*table.T)
        test, pairs = Test(float(found.statistic), float(found.pvalue)), posthoc_nemenyi_friedman(table).to_numpy()
    # q of the studentized range with infinitely many degrees of freedom, as in Demsar's table 5.
    q = studentized_range.ppf(0.95, arms, np.inf) / np.sqrt(2.0)
    order = np.argsort(ranks, kind="stable")
    return Ranks(
        tuple(names[at] for at in order),
        tuple(float(ranks[at]) for at in order),
        test,
        {
            (names[first], names[second]): float(pairs[first, second])
            for place, first in enumerate(order)
            for second in order[place + 1 :]
        },
        float(q * np.sqrt(arms * (arms + 1) / (6.0 * blocks))),
        blocks,
    )


def iqm(values: ArrayLike, *, seed: int = 0) -> Interval:
    """Return the interquartile mean of all runs with a stratified bootstrap interval.

    The bootstrap keeps the subjects and resamples the seeds of each. The interquartile mean is the mean of the middle
    half: less sensitive to a lucky run than the mean, and based on more runs than the median.

    Args:
        values: normalised, because large subjects would otherwise have more weight.
        seed: of the bootstrap.

    References:
        Agarwal et al. 2021, Deep Reinforcement Learning at the Edge of the Statistical Precipice.
    """
    from scipy.stats import trim_mean

    table = np.atleast_2d(np.asarray(values, np.float64))
    rows = [row[~np.isnan(row)] for row in table]
    rows = [row for row in rows if row.size]
    if not rows:
        return Interval(float("nan"), float("nan"), float("nan"))
    rng = np.random.default_rng(seed)
    drawn = np.hstack([row[rng.integers(row.size, size=(_RESAMPLES, row.size))] for row in rows])
    low, high = np.quantile(trim_mean(drawn, 0.25, axis=1), [0.025, 0.975])
    return Interval(float(trim_mean(np.concatenate(rows), 0.25)), float(low), float(high))


def likelihood(values: ArrayLike, *, seed: int = 0) -> Interval:
    """Return the frequency of an event, with equal weight for each subject.

    It is the mean over the subjects of the mean over their runs. The bootstrap interval resamples subjects and then the
    runs of each. Resampling the runs alone would give a subject with one run no uncertainty.

    Args:
        values: 1 if the event happened, else 0.
        seed: of the bootstrap.
    """
    rows = [row[~np.isnan(row)] for row in np.atleast_2d(np.asarray(values, np.float64))]
    rows = [row for row in rows if row.size]
    if not rows:
        return Interval(float("nan"), float("nan"), float("nan"))
    rng = np.random.default_rng(seed)
    means = np.array([row[rng.integers(row.size, size=(_RESAMPLES, row.size))].mean(axis=1) for row in rows])
    drawn = np.take_along_axis(means, rng.integers(len(rows), size=means.shape), axis=0).mean(axis=0)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(np.mean([row.mean() for row in rows])), float(low), float(high))


def mean_of(values: ArrayLike, *, seed: int = 0) -> Interval:
    """Return the mean of independent values with its bootstrap interval.

    Args:
        values: at least one.
        seed: of the bootstrap.
    """
    found = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(found.size, size=(_RESAMPLES, found.size))
    low, high = np.percentile(found[drawn].mean(axis=1), (2.5, 97.5)).tolist()
    return Interval(float(found.mean()), low, high)


def area_under_curve(x: ArrayLike, y: ArrayLike) -> float:
    """Return the mean of y from 0 to the last x; y is 0 before the first x and keeps each value until the next.

        sum of y_i (x_(i+1) - x_i) / x_n

    Args:
        x: ascending, such as executions; the last one above 0.
        y: as many.
    """
    at, values = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return float((values[:-1] * np.diff(at)).sum() / at[-1])


def time_to(level: float, x: Sequence[ArrayLike], y: Sequence[ArrayLike]) -> tuple[float, int]:
    """Return when half of the runs have reached a level: the Kaplan-Meier median, in which other runs are censored.

    Args:
        level: of y.
        x: of each run, ascending: executions, generations, seconds.
        y: of each run, as many.

    Returns:
        The median, infinite if fewer than half ever reach the level, and the number of runs that have.
    """
    from scipy.stats import CensoredData, ecdf

    reached, ended = [], []
    for at, values in zip(x, y, strict=True):
        places = np.flatnonzero(np.asarray(values, np.float64) >= level)
        if places.size:
            reached.append(float(np.asarray(at, np.float64)[places[0]]))
        else:
            ended.append(float(np.asarray(at, np.float64)[-1]))
    if not reached:
        return float("inf"), 0
    survival = ecdf(CensoredData(uncensored=reached, right=ended)).sf
    below = np.flatnonzero(survival.probabilities <= 0.5)
    return (float(survival.quantiles[below[0]]) if below.size else float("inf")), len(reached)


def correlation(yes: Sequence[bool], values: ArrayLike) -> Test:
    """Return the point-biserial correlation of an event, such as a detected fault, with a number.

    The statistic is in [-1, 1]; NaN if the event always or never happened, or all numbers are equal.
    """
    from scipy.stats import pointbiserialr

    happened, numbers = np.asarray(yes, bool), np.asarray(values, np.float64)
    if happened.size < 2 or happened.all() or not happened.any() or np.all(numbers == numbers[0]):
        return Test(float("nan"), float("nan"))
    found = pointbiserialr(happened, numbers)
    return Test(float(found.statistic), float(found.pvalue))


def _finite(values: ArrayLike) -> Floats:
    found = np.asarray(values, np.float64).ravel()
    return found[~np.isnan(found)]
