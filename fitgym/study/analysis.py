"""Analysis of a study: results by arm, by subject, and in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError
from fitgym.study.comparison import Contrast, Runs, contrast
from fitgym.study.null_arms import missing, notice
from fitgym.study.results import Reach, Results
from fitgym.study.statistics import (
    FEW,
    Interval,
    Ranks,
    correlation,
    friedman,
    iqm,
    likelihood,
    normalised,
)
from fitgym.study.trials.base import trials
from fitgym.study.verdict import ALPHA, Judged, Verdict, judge, too_few

__all__ = ["Analysis", "ArmLine", "SubjectLine"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ArmLine:
    """The results of one arm over all subjects.

    Attributes:
        arm: its name.
        runs, failed: numbers of runs with a result, and of failed runs.
        median: of the plan's metric over all runs.
        share: interquartile mean of the metric, normalised by subject; for a metric of 0 or 1, its probability.
        rank: mean rank over the subjects, NaN if there are no ranks.
        beside: contrast with the baseline and its verdict, corrected for the number of arms; None for the baseline
            itself and without one.
        reach: how soon the arm reaches the final value of the baseline, None if unknown.
        generation_ms: median time of a generation, NaN if unknown.
        deciding: median share of a run's time that the agent took, NaN if unknown.
        published: value reported by a paper, None if there is none.
    """

    arm: str
    runs: int
    failed: int
    median: float
    share: Interval
    rank: float
    beside: Judged[Contrast] | None
    reach: Reach | None
    generation_ms: float
    deciding: float
    published: float | None


@dataclass(frozen=True, slots=True)
class SubjectLine:
    """The results on one subject.

    Attributes:
        subject: its name.
        centres: by arm the median of its runs; for a metric of 0 or 1, the mean.
        best: the arms with the best of these values.
        beside: by arm the contrast with the baseline, with a verdict that is corrected for all subjects and arms.
    """

    subject: str
    centres: dict[str, float]
    best: tuple[str, ...]
    beside: dict[str, Judged[Contrast]]


@dataclass(frozen=True)
class Analysis:
    """The analysis of a study's results. Create it by `of`.

    Attributes:
        results: of the study.
        arms: one line per arm, in the order of the plan.
        subjects: one line per subject, in the order of the plan.
        ranks: of the arms, None if there are too few arms or subjects. Pairs without a shown effect have p = 1, others
            the Holm-adjusted p.
        sentences: conclusions with their certainty.
        warnings: weaknesses of the evidence.
    """

    results: Results
    arms: tuple[ArmLine, ...]
    subjects: tuple[SubjectLine, ...]
    ranks: Ranks | None
    sentences: tuple[str, ...]
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, results: Results) -> Analysis:
        """Analyse the results of a study."""
        try:
            ranks = friedman(results.centres(), larger_is_better=results.larger_is_better)
        except InputError:
            ranks = None
        ranks = None if ranks is None else _stated(results, ranks)
        arms = _arms(results, ranks)
        return cls(results, arms, _subjects(results), ranks, _sentences(results, arms, ranks), _warnings(results))


def _arms(results: Results, ranks: Ranks | None) -> tuple[ArmLine, ...]:
    plan, values, reaches = results.plan, results.metric, results.reaches()
    shares = values if results.likelihood else normalised(values)
    found = [_beside(results, arm, plan.baseline) for arm in results.arms if plan.baseline and arm != plan.baseline]
    judged = {one.evidence.agent: one for one in judge([one for one in found if one is not None])}
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
                judged.get(arm),
                reaches.get(arm),
                _median(np.array(results.generation_ms[arm])),
                _deciding(results, arm),
                plan.published.get(arm),
            )
        )
    return tuple(lines)


def _beside(results: Results, arm: str, baseline: str, subjects: tuple[str, ...] = ()) -> Contrast | None:
    """Return the contrast of two arms on some subjects, or on all; None if they have no run in common."""
    sign = 1.0 if results.larger_is_better else -1.0

    def runs(name: str) -> Runs:
        return {
            subject: {seed: sign * float(v) for seed, v in zip(results.plan.seeds, row, strict=True) if not np.isnan(v)}
            for subject, row in zip(results.plan.subjects, results.metric[name], strict=True)
            if not subjects or subject in subjects
        }

    try:
        return contrast(arm, baseline, runs(arm), runs(baseline), means=results.likelihood)
    except InputError:
        return None


def _stated(results: Results, ranks: Ranks) -> Ranks:
    """Return the ranks with verdicts on all pairs, judged together.

    p is Holm-adjusted, and 1 if no effect is shown. Nemenyi's test is not used, because its result for two arms depends
    on the other arms, and it could contradict the verdicts.

    References:
        Benavoli, Corani and Mangili 2016, Should We Really Use Post-Hoc Tests Based on Mean-Ranks?
    """
    cells = {pair: _beside(results, *pair) for pair in ranks.pairs}
    compared = {pair: found for pair, found in cells.items() if found is not None}
    judged = dict(zip(compared, judge(compared.values()), strict=True))
    stated = {pair: one.p for pair, one in judged.items() if one.verdict.stated}
    return replace(ranks, pairs={pair: stated.get(pair, 1.0) for pair in ranks.pairs})


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else math.nan


def _deciding(results: Results, arm: str) -> float:
    spent, took = (np.array(results.seconds[arm].get(name, [])) for name in ("deciding", "run"))
    return float(np.median(spent / took)) if spent.size and spent.size == took.size else math.nan


def _subjects(results: Results) -> tuple[SubjectLine, ...]:
    plan, centres = results.plan, results.centres()
    sign = 1.0 if results.larger_is_better else -1.0
    others = [arm for arm in results.arms if plan.baseline and arm != plan.baseline]
    cells = {
        (subject, arm): _beside(results, arm, plan.baseline, (subject,)) for subject in plan.subjects for arm in others
    }
    compared = {cell: found for cell, found in cells.items() if found is not None}
    judged = dict(zip(compared, judge(compared.values()), strict=True))
    lines = []
    for row, subject in enumerate(plan.subjects):
        found = {arm: float(centres[arm][row]) for arm in results.arms if not np.isnan(centres[arm][row])}
        best = max((sign * value for value in found.values()), default=0.0)
        lines.append(
            SubjectLine(
                subject,
                found,
                tuple(arm for arm, value in found.items() if sign * value == best),
                {arm: judged[subject, arm] for arm in others if (subject, arm) in judged},
            )
        )
    return tuple(lines)


def _sentences(results: Results, arms: tuple[ArmLine, ...], ranks: Ranks | None) -> tuple[str, ...]:
    said = []
    baseline, metric = results.plan.baseline, results.plan.metric
    for line in arms:
        if line.beside is None:
            continue
        found, judged = line.beside.evidence, line.beside
        test = "Mann and Whitney over the runs" if found.subjects == 1 else "Wilcoxon over the subjects"
        p = "" if math.isnan(judged.p) else f"; Holm-adjusted p = {judged.p:.2g} ({test})"
        said.append(
            f"By {metric}, {judged.verdict.sentence(line.arm, baseline)}. A12 {found}, ahead on {found.better} and behind on "
            f"{found.worse} of {found.subjects} subjects{p}."
        )
    if ranks is not None:
        differ = [pair for pair, p in ranks.pairs.items() if p < ALPHA]
        tied = ranks.best == ranks.names
        best = "all mean ranks are the same" if tied else f"best mean rank {' and '.join(ranks.best)}"
        text = f"Friedman's test over {ranks.blocks} subjects: p = {ranks.test.p:.2g}; {best}"
        pairs = "; ".join(f"{first} and {second}" for first, second in differ) or "none"
        pairs = Verdict.ONE_SEED if len(results.plan.seeds) == 1 else pairs
        said.append(f"{text}. Differences shown, with p adjusted for all {len(ranks.pairs)} pairs: {pairs}.")
    if {"detected", "value"} <= set(results.measures):
        said.append(_detection(results))
    return tuple(said)


def _detection(results: Results) -> str:
    """Return a sentence on whether runs that reach more of the goal detect more faults."""
    reached = np.concatenate([values.ravel() for values in normalised(results.measures["value"]).values()])
    detected = np.concatenate([values.ravel() for values in results.measures["detected"].values()])
    there = ~(np.isnan(reached) | np.isnan(detected))
    found = correlation([bool(one) for one in detected[there]], reached[there])
    of = "Detection of a fault and how far the goal was reached, as a share of the most on the subject"
    if math.isnan(found.statistic):
        return f"{of}: no correlation, because one of them has the same value in all {there.sum()} runs."
    return f"{of}: point-biserial correlation r = {found.statistic:.2f} over {there.sum()} runs (p = {found.p:.2g})."


def _alike(results: Results) -> list[tuple[str, str]]:
    """Return pairs of arms that chose the same actions with the same results."""
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
        said.append(f"{len(results.failures)} runs failed and are left out; they are listed below.")
    others = len(plan.arms) - 1 if plan.baseline else 0
    few_subjects = too_few(len(plan.subjects), others)
    if len(plan.seeds) == 1:
        said.append("One seed: no verdict. Every difference may change with another seed.")
    elif len(plan.seeds) < FEW:
        surer = "" if few_subjects else " Results over all subjects are more certain."
        said.append(
            f"{len(plan.seeds)} seeds for each subject are fewer than {FEW}: only large effects on a single subject "
            f"can be detected, and the best arm on a subject may change with other seeds.{surer}"
        )
    if few_subjects:
        said.append(
            f"{len(plan.subjects)} subjects are too few: with a correction for {others} comparisons, Wilcoxon's test "
            f"over them cannot give p < {ALPHA}. No difference can be shown."
        )
    said += [
        f"{one} and {other} made the same choices, so they cannot be distinguished here."
        for one, other in _alike(results)
    ]
    choosing = {arm: found for arm, found in results.choices.items() if len(found.times) > 1}
    trying = {arm: found.first / found.times.total() for arm, found in choosing.items()}
    most = [f"{arm} ({share:.0%})" for arm, share in trying.items() if share > 0.5]
    if most:
        said.append(
            f"Most decisions try an action for the first time in their run: {', '.join(most)}. An agent that learns "
            "from rewards has learned little by then; use more decisions, or fewer actions, to measure its ability."
        )
    if len(results.versions) > 1:
        said.append(f"The runs were made with different versions: {'; '.join(sorted(results.versions))}.")
    if "agent" in trials().load(plan.trial).settings() and (lacking := missing(_settings(results))):
        said.append(notice(lacking))
    return tuple(said)


def _settings(results: Results) -> dict[str, dict[str, Any]]:
    """Return the settings of each arm, including defaults."""
    kind = trials().load(results.plan.trial)
    return {arm.name: {**kind.settings(arm.settings), **arm.settings} for arm in results.plan.arms}
