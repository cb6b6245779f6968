"""Estimates from repeats: ratios, means of ratios, exponents and growth, each with an interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Interval", "Ratio", "geometric_mean", "growth_of_last_half", "power_law", "quartiles", "ratio", "slope"]

# 97.5 % quantiles of Student's distribution for 1 to 30 degrees of freedom; beyond that the normal one is close enough.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
      2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)  # fmt: skip
_NORMAL = 1.960


@dataclass(frozen=True)
class Interval:
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Ratio:
    """The ratio of two costs that were measured in turns.

    Attributes:
        least: the smallest cost of the one over the smallest of the other: the ratio without disturbances.
        median: the median over pairs of neighbouring repeats, with its 95 % bootstrap interval: the ratio in a single
            run.
    """

    least: float
    median: Interval


def ratio(costs: Sequence[float], base: Sequence[float], resamples: int = 2000) -> Ratio:
    """Return the ratio of costs to those of the base; the i-th repeats of both were measured one after the other.

    The interval comes from drawing pairs with replacement, with a fixed seed.

    Raises:
        ValueError: there are no repeats, the numbers of repeats differ, or a base cost is 0.
    """
    if not costs or len(costs) != len(base) or min(base) <= 0:
        raise ValueError(
            f"{len(costs)} repeats over {len(base)} of at least {min(base, default=0)}: cannot compare them"
        )
    pairs = np.asarray(costs) / np.asarray(base)
    return Ratio(min(costs) / min(base), bootstrap(pairs, resamples))


def bootstrap(values: Sequence[float] | np.ndarray, resamples: int = 2000) -> Interval:
    """Return the median of values and its 95 % percentile interval."""
    drawn = np.random.default_rng(0).choice(np.asarray(values, dtype=float), (resamples, len(values)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return Interval(float(np.median(values)), float(low), float(high))


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, which does not depend on which side of a ratio is the base."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return lower quartile, median and upper quartile."""
    low, middle, high = np.percentile(np.asarray(values, dtype=float), [25, 50, 75])
    return float(low), float(middle), float(high)


def slope(x: Sequence[float], y: Sequence[float]) -> tuple[Interval, float]:
    """Fit by least squares: the slope of y over x with its 95 % interval, and the value at x = 0.

    With two points the error cannot be estimated, and the interval is infinite.

    Raises:
        ValueError: fewer than two different x.
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    spread = float(((xs - xs.mean()) ** 2).sum()) if len(xs) else 0.0
    if spread == 0:
        raise ValueError(f"a slope needs two different x, there are {sorted(set(x))}")
    value = float(((xs - xs.mean()) * (ys - ys.mean())).sum()) / spread
    start = float(ys.mean() - value * xs.mean())
    freedom = len(xs) - 2
    if freedom == 0:
        return Interval(value, -math.inf, math.inf), start
    residue = float(((ys - start - value * xs) ** 2).sum())
    error = (_T[freedom - 1] if freedom <= len(_T) else _NORMAL) * math.sqrt(residue / freedom / spread)
    return Interval(value, value - error, value + error), start


def power_law(sizes: Sequence[float], costs: Sequence[float]) -> Interval:
    """Return the exponent b of cost = a * size ** b, fitted by least squares to the logarithms."""
    return slope([math.log(size) for size in sizes], [math.log(cost) for cost in costs])[0]


def growth_of_last_half(seconds: Sequence[float], amounts: Sequence[float]) -> Interval:
    """Return the growth over the last half of the time, as a share of the value at half time; fitted linearly.

    Raises:
        ValueError: fewer than three samples in the last half.
    """
    half = (seconds[0] + seconds[-1]) / 2
    late = [(s - half, a) for s, a in zip(seconds, amounts, strict=True) if s >= half]
    if len(late) < 3:
        raise ValueError(f"{len(late)} samples are too few to tell how much it grows")
    per_second, start = slope([s for s, _ in late], [a for _, a in late])
    span = late[-1][0] / start
    return Interval(per_second.value * span, per_second.low * span, per_second.high * span)


def best(measure: Callable[[], float], repeats: int) -> float:
    """Return the smallest of some measurements."""
    return min(measure() for _ in range(repeats))
