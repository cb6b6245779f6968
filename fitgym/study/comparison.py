"""Comparison of two agents: size and certainty of their difference.

    from fitgym.study.comparison import contrasts
    from fitgym.run.evaluation import evaluate
    from fitgym.study.verdict import judge
    rows = list(evaluate(["ucb", "linucb", "uniform"], "stdlib-v1:test", seeds=range(10)))
    for found in judge(contrasts(rows, ["uniform"])):
        print(found.evidence.agent, found.evidence.a12, found.p, found.verdict)

A contrast is an effect size with its interval and its test. Whether it is called an effect depends on all comparisons
of the table; `fitgym.study.verdict` has the rule.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError
from fitgym.run.evaluation import Row
from fitgym.study.statistics import mann_whitney, signed_ranks, wilcoxon

__all__ = ["Contrast", "Runs", "a12", "contrast", "contrasts"]

Runs = Mapping[str, Mapping[int, float]]
"""Values by subject and seed."""

RESAMPLES = 2000
"""Number of bootstrap samples: 50 of them lie outside each end of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The comparison of one agent with a baseline, over all subjects on which both have runs.

    Attributes:
        agent: its name.
        baseline: the agent that it is compared with.
        a12: mean over the subjects of the probability that a run of the agent reaches more, see `a12`.
        low, high: ends of the 95 % bootstrap interval of that mean. Subjects are drawn with replacement, and so are
            seeds, the same ones for all subjects and both agents. Runs with the same seed are not independent: they
            begin with the same population, and an agent makes the same random choices on every subject. With one
            subject and few seeds the interval is somewhat too short, with many subjects rather too long.
        better, worse: numbers of subjects with `a12` above and below one half.
        subjects: number of subjects compared.
        runs: number of pairs of runs with the same subject and seed.
        seeds: number of pairs of a subject, the median over the subjects.
        ours, theirs: data of the test: the median run of each subject, or all runs if there is one subject.
    """

    agent: str
    baseline: str
    a12: float
    low: float
    high: float
    better: int
    worse: int
    subjects: int
    runs: int
    seeds: int
    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def none(self) -> float:
        """A12 without a difference."""
        return 0.5

    @property
    def p(self) -> float:
        """The two-sided p, not corrected. Needs scipy (extra `study`).

        The test is Wilcoxon's signed-rank test over the subjects; for one subject, Mann and Whitney's test over the
        runs.
        """
        return (mann_whitney if self.subjects == 1 else wilcoxon)(self.ours, self.theirs).p

    @property
    def toward(self) -> int:
        """The direction of the test: 1 if the agent reaches more, -1 if less, 0 if neither.

        Needs scipy (extra `study`).
        """
        found = self.a12 - 0.5 if self.subjects == 1 else signed_ranks(np.subtract(self.ours, self.theirs))
        return (found > 0.0) - (found < 0.0)

    def __str__(self) -> str:
        """Return A12 with its interval."""
        return f"{self.a12:.2f} [{self.low:.2f}, {self.high:.2f}]"


def a12(ours: Sequence[float] | NDArray[np.float64], theirs: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the probability that a value of `ours` is larger than one of `theirs`; ties count half.

        A12 = (#(x > y) + #(x = y) / 2) / (m n)     over all m n pairs

    One half means no difference; by convention 0.56, 0.64 and 0.71 are called small, medium and large.

    Args:
        ours, theirs: values, at least one each.

    Raises:
        ValueError: one of them is empty.

    References:
        Vargha and Delaney 2000, A Critique and Improvement of the CL Common Language Effect Size Statistics.
    """
    x, y = np.asarray(ours, float), np.asarray(theirs, float)
    if not (x.size and y.size):
        raise ValueError("there is nothing to compare: both sides need at least one value")
    return float((_won(x, y).mean() + 1.0) / 2.0)


def contrasts(rows: Iterable[Row], baselines: Sequence[str], *, seed: int = 0) -> list[Contrast]:
    """Compare every other agent with every baseline, in the order of the rows and of the baselines.

    Args:
        rows: of one goal and budget; rows without a value, and seeds that only one of two agents has, are left out.
        baselines: names of agents that have rows.
        seed: of the bootstrap.

    Raises:
        InputError: a baseline has no row, or an agent and a baseline have no run in common.
    """
    values: dict[str, dict[str, dict[int, float]]] = defaultdict(dict)
    for row in rows:
        if row.value is not None:
            values[row.setting.agent].setdefault(row.setting.place, {})[row.setting.seed] = row.value
    for name in baselines:
        if name not in values:
            raise InputError(
                f"there is no run of the baseline '{name}'; expected one of: {', '.join(values) or 'none'}"
            )
    return [
        contrast(agent, baseline, values[agent], values[baseline], seed=seed)
        for agent in values
        for baseline in baselines
        if agent != baseline
    ]


def contrast(agent: str, baseline: str, ours: Runs, theirs: Runs, *, seed: int = 0, means: bool = False) -> Contrast:
    """Compare one agent with another.

    Args:
        agent, baseline: their names.
        ours, theirs: values of their runs; seeds that only one of them has are left out.
        seed: of the bootstrap.
        means: test the mean run of each subject instead of the median, for values of 0 or 1.

    Raises:
        InputError: they have no run in common.

    References:
        Owen 2007, The Pigeonhole Bootstrap: resampling rows and columns of a table independently of each other.
    """
    # Only pairs with the same subject and seed are compared.
    both = {name: sorted(ours[name].keys() & theirs.get(name, {}).keys()) for name in ours}
    both = {name: seeds for name, seeds in both.items() if seeds}
    if not both:
        raise InputError(f"'{agent}' and '{baseline}' have no subject and seed in common, so they cannot be compared")
    won = [_won(*(np.array([side[name][one] for one in both[name]]) for side in (ours, theirs))) for name in both]
    effects = np.array([(pairs.mean() + 1.0) / 2.0 for pairs in won])
    rng = np.random.default_rng(seed)
    every = {one: at for at, one in enumerate(sorted(set().union(*both.values())))}
    # Number of times that each resample contains each seed.
    drawn = rng.multinomial(len(every), np.full(len(every), 1 / len(every)), RESAMPLES)
    # One row per subject with the A12 of each resample; a resample of subjects then picks rows in its column.
    found = np.array(
        [_resampled(pairs, drawn[:, [every[one] for one in both[name]]]) for name, pairs in zip(both, won, strict=True)]
    )
    picked = rng.integers(len(won), size=(RESAMPLES, len(won)))
    chosen = found[picked, np.arange(RESAMPLES)[:, None]]
    kept = chosen[~np.isnan(chosen).all(axis=1)]
    low, high = np.quantile(np.nanmean(kept, axis=1), [0.025, 0.975])
    return Contrast(
        agent,
        baseline,
        float(effects.mean()),
        float(low),
        float(high),
        int((effects > 0.5).sum()),
        int((effects < 0.5).sum()),
        len(won),
        sum(map(len, won)),
        statistics.median_low(map(len, won)),
        *(_tested([[side[name][one] for one in both[name]] for name in both], means) for side in (ours, theirs)),
    )


def _tested(runs: list[list[float]], means: bool) -> tuple[float, ...]:
    """Return the data of the test, see `Contrast`."""
    if len(runs) == 1:
        return tuple(runs[0])
    return tuple(statistics.fmean(found) if means else statistics.median(found) for found in runs)


def _won(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 if our value is larger, -1 if theirs is, for each pair of values."""
    won: NDArray[np.float64] = np.sign(ours[:, None] - theirs[None, :])
    return won


def _resampled(won: NDArray[np.float64], drawn: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return A12 of each resample, NaN if it has none of the seeds; a row of `drawn` counts the seeds of a resample."""
    pairs = drawn.sum(axis=1) ** 2
    with np.errstate(invalid="ignore"):
        effects: NDArray[np.float64] = ((drawn @ won * drawn).sum(axis=1) / pairs + 1.0) / 2.0
    return effects
