"""What a study says: for each arm, for each subject, and in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fitgym.comparison import Contrast, a12, contrast
from fitgym.errors import InputError
from fitgym.study.results import Reach, Results
from fitgym.study.statistics import (
    FEW,
    Interval,
    Ranks,
    correlation,
    friedman,
    holm,
    iqm,
    likelihood,
    mann_whitney,
    normalised,
    wilcoxon,
)

__all__ = ["Analysis", "ArmLine", "SubjectLine"]

Floats = NDArray[np.float64]

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class ArmLine:
    """One arm over all subjects.

    Attributes:
        arm: its name.
        runs, failed: that have ended.
        median: of the declared measure over all runs.
        share: interquartile mean of the same, normalised by subject; of what is 1 or 0, how likely it is.
        rank: mean rank over the subjects, NaN where ranks make no sense.
        beside: the arm beside the baseline, None for the baseline itself and without one.
        p: of Wilcoxon's test over the subjects' centres, corrected for the number of arms; NaN likewise.
        reach: how soon it gets to where the baseline ends, None if the runs do not tell.
        generation_ms: median time for a generation, NaN if it is not known.
        deciding: median share of the time of a run that the agent took, NaN likewise.
        published: what a paper reports, None if nothing.
    """

    arm: str
    runs: int
    failed: int
    median: float
    share: Interval
    rank: float
    beside: Contrast | None
    p: float
    reach: Reach | None
    generation_ms: float
    deciding: float
    published: float | None


@dataclass(frozen=True, slots=True)
class SubjectLine:
    """One subject.

    Attributes:
        subject: its name.
        centres: by arm the median of its runs, or of what is 1 or 0 the mean.
        best: the arms with the best of these.
        effects: by arm A12 beside the baseline.
        p: by arm of Mann and Whitney's test beside the baseline, corrected for the number of all such tests.
    """

    subject: str
    centres: dict[str, float]
    best: tuple[str, ...]
    effects: dict[str, float]
    p: dict[str, float]


@dataclass(frozen=True)
class Analysis:
    """What the results of a study come to. Use `of`.

    Attributes:
        results: of the study.
        arms: a line for each, in the order of the plan.
        subjects: likewise.
        ranks: of the arms, None if there are too few arms or subjects.
        sentences: what can be said, and how sure it is.
        warnings: what a reader should know before believing it.
    """

    results: Results
    arms: tuple[ArmLine, ...]
    subjects: tuple[SubjectLine, ...]
    ranks: Ranks | None
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, results: Results) -> Analysis:
        """Analyse."""
        try:
            ranks = friedman(results.centres(), larger_is_better=results.larger_is_better)
        except InputError:
            ranks = None
        arms = _arms(results, ranks)
        return cls(results, arms, _subjects(results), ranks, _sentences(results, arms, ranks), _warnings(results))


def _arms(results: Results, ranks: Ranks | None) -> tuple[ArmLine, ...]:
    plan, values, centres, reaches = results.plan, results.metric, results.centres(), results.reaches()
    shares = values if results.likelihood else normalised(values)
    others = [arm for arm in results.arms if plan.baseline and arm != plan.baseline]
    tests = [wilcoxon(centres[arm], centres[plan.baseline]).p for arm in others]
    corrected = dict(zip(others, holm(tests), strict=True))
    rank = dict(zip(ranks.names, ranks.means, strict=True)) if ranks else {}
    lines = []
    for arm in results.arms:
        there = values[arm][~np.isnan(values[arm])]
        lines.append(
            ArmLine(
                arm,
                int(there.size),
                sum(failed == arm for failed, *_ in results.failures),
                _median(there),
                (likelihood if results.likelihood else iqm)(shares[arm]),
                rank.get(arm, math.nan),
                _beside(results, arm) if arm in others else None,
                corrected.get(arm, math.nan),
                reaches.get(arm),
                _median(np.array(results.generation_ms[arm])),
                _deciding(results, arm),
                plan.published.get(arm),
            )
        )
    return tuple(lines)


def _beside(results: Results, arm: str) -> Contrast | None:
    sign = 1.0 if results.larger_is_better else -1.0

    def runs(name: str) -> dict[str, dict[int, float]]:
        return {
            subject: {seed: sign * float(v) for seed, v in zip(results.plan.seeds, row, strict=True) if not np.isnan(v)}
            for subject, row in zip(results.plan.subjects, results.metric[name], strict=True)
        }

    try:
        return contrast(arm, results.plan.baseline, runs(arm), runs(results.plan.baseline))
    except InputError:
        return None


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else math.nan


def _deciding(results: Results, arm: str) -> float:
    spent, took = (np.array(results.seconds[arm].get(name, [])) for name in ("deciding", "run"))
    return float(np.median(spent / took)) if spent.size and spent.size == took.size else math.nan


def _subjects(results: Results) -> tuple[SubjectLine, ...]:
    plan, centres = results.plan, results.centres()
    sign = 1.0 if results.larger_is_better else -1.0
    others = [arm for arm in results.arms if plan.baseline and arm != plan.baseline]
    tests: dict[tuple[str, str], float] = {}
    effects: dict[tuple[str, str], float] = {}
    for row, subject in enumerate(plan.subjects):
        theirs = _there(results.metric[plan.baseline][row]) if plan.baseline else np.array([])
        for arm in others:
            ours = _there(results.metric[arm][row])
            if ours.size and theirs.size:
                tests[subject, arm] = mann_whitney(ours, theirs).p
                effects[subject, arm] = a12(sign * ours, sign * theirs)
    corrected = dict(zip(tests, holm(list(tests.values())), strict=True))
    lines = []
    for row, subject in enumerate(plan.subjects):
        found = {arm: float(centres[arm][row]) for arm in results.arms if not np.isnan(centres[arm][row])}
        best = max((sign * value for value in found.values()), default=0.0)
        lines.append(
            SubjectLine(
                subject,
                found,
                tuple(arm for arm, value in found.items() if sign * value == best),
                {arm: effects[subject, arm] for arm in others if (subject, arm) in effects},
                {arm: corrected[subject, arm] for arm in others if (subject, arm) in corrected},
            )
        )
    return tuple(lines)


def _there(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def _sentences(results: Results, arms: tuple[ArmLine, ...], ranks: Ranks | None) -> tuple[str, ...]:
    said = []
    baseline, metric = results.plan.baseline, results.plan.metric
    for line in arms:
        if line.beside is None:
            continue
        found = line.beside
        verb = {"better": "is better than", "worse": "is worse than", "open": "cannot be told from"}[found.verdict]
        said.append(
            f"By {metric}, {line.arm} {verb} {baseline}: A12 {found.a12:.2f} [{found.low:.2f}, {found.high:.2f}], ahead on "
            f"{found.better} and behind on {found.worse} of {found.subjects} subjects; Wilcoxon over the subjects, p = "
            f"{line.p:.2g}."
        )
    if ranks is not None:
        differ = [pair for pair, p in ranks.pairs.items() if p < ALPHA]
        tied = ranks.best == ranks.names
        best = "all mean ranks are the same" if tied else f"best mean rank {' and '.join(ranks.best)}"
        text = f"Friedman's test over {ranks.blocks} subjects: p = {ranks.test.p:.2g}; {best}"
        pairs = "; ".join(f"{first} and {second}" for first, second in differ) or "none"
        said.append(f"{text}. Pairs that differ by Nemenyi's test: {pairs}.")
    if {"detected", "value"} <= set(results.measures):
        said.append(_detection(results))
    return tuple(said)


def _detection(results: Results) -> str:
    """Do runs that reach more of the goal detect more faults?"""
    reached = np.concatenate([values.ravel() for values in normalised(results.measures["value"]).values()])
    detected = np.concatenate([values.ravel() for values in results.measures["detected"].values()])
    there = ~(np.isnan(reached) | np.isnan(detected))
    found = correlation([bool(one) for one in detected[there]], reached[there])
    of = "Detection of a fault and how far the goal was reached, as a share of the most on the subject"
    if math.isnan(found.statistic):
        return f"{of}: nothing can be said, because one of them is the same in all {there.sum()} runs."
    return f"{of}: point-biserial correlation r = {found.statistic:.2f} over {there.sum()} runs (p = {found.p:.2g})."


def _alike(results: Results) -> list[tuple[str, str]]:
    """Pairs of arms that choose between actions and have taken the same ones with the same outcome."""
    return [
        (one, other)
        for one, other in combinations(results.choices, 2)
        if len(results.choices[one].times) > 1
        and results.choices[one].same(results.choices[other])
        and np.array_equal(results.metric[one], results.metric[other], equal_nan=True)
    ]


def _warnings(results: Results) -> tuple[str, ...]:
    said = []
    plan = results.plan
    if not results.complete:
        said.append(f"The study is not complete: {results.ended} of {len(plan.cells())} runs have ended.")
    if results.failures:
        said.append(f"{len(results.failures)} runs have failed and are left out; they are listed below.")
    others = len(plan.arms) - 1 if plan.baseline else 0
    few_subjects = 2.0 ** (1 - len(plan.subjects)) * others >= ALPHA  # the smallest p that signed ranks can have
    if len(plan.seeds) < FEW:
        surer = "" if few_subjects else " What is said over all subjects is surer."
        said.append(
            f"{len(plan.seeds)} seeds for each subject are fewer than {FEW}: an effect on a single subject has to be large to be "
            f"seen, and which arm is best there may change with other seeds.{surer}"
        )
    if few_subjects:
        said.append(
            f"{len(plan.subjects)} subjects are too few for Wilcoxon's test over them, corrected for {others} comparisons, to "
            f"give p < {ALPHA}, whatever the runs are; intervals over so few are narrower than they should be."
        )
    said += [
        f"{one} and {other} made the same choices: nothing here tells them apart." for one, other in _alike(results)
    ]
    choosing = {arm: found for arm, found in results.choices.items() if len(found.times) > 1}
    trying = {arm: found.first / found.times.total() for arm, found in choosing.items()}
    most = [f"{arm} ({share:.0%})" for arm, share in trying.items() if share > 0.5]
    if most:
        said.append(
            f"Most decisions take an action for the first time in their run: {', '.join(most)}. An agent that learns from what "
            "its actions have earned has hardly begun to; more decisions, or fewer actions, would tell what it can do."
        )
    if len(results.versions) > 1:
        said.append(f"The runs were made by different versions: {'; '.join(sorted(results.versions))}.")
    return tuple(said)
