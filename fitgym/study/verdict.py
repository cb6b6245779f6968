"""The rule for verdicts: when a table, a sentence or a figure may state an effect.

    from fitgym.study.comparison import contrasts
    from fitgym.study.verdict import judge
    for found in judge(contrasts(rows, ["uniform"])):
        print(found.evidence.agent, found.verdict, found.p)

Two conditions must hold, because an interval over few subjects is too short, and among many p-values some are small by
chance:

    1. The 95 % bootstrap interval excludes "no effect".
    2. The test has p < 0.05 after Holm's correction for all comparisons of the same table, and the same direction.

With one seed for each subject there is no verdict, because an interval cannot show how much another seed would change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from fitgym.study.statistics import holm

__all__ = ["ALPHA", "Evidence", "Judged", "Verdict", "judge", "too_few", "verdict"]

ALPHA = 0.05


class Verdict(StrEnum):
    """The conclusion from a comparison."""

    BETTER = "better"
    WORSE = "worse"
    OPEN = "no difference shown"
    ONE_SEED = "one seed: no verdict"

    @property
    def stated(self) -> bool:
        """Whether it states an effect."""
        return self in (Verdict.BETTER, Verdict.WORSE)

    def sentence(self, ours: str, theirs: str) -> str:
        """Return the verdict with the names of both sides, without a full stop."""
        if self.stated:
            return f"{ours} is {self} than {theirs}"
        return f"{ours} beside {theirs}, {self}" if self is Verdict.ONE_SEED else f"{ours} beside {theirs}: {self}"


class Evidence(Protocol):
    """The data of a comparison that the rule needs; `fitgym.study.comparison.Contrast` is one.

    Attributes:
        low, high: ends of the 95 % interval of the effect.
        none: the effect that means "no difference": 0.5 for A12, 0 for a difference.
        p: of the two-sided test, before any correction.
        toward: 1 if the test finds more on our side, -1 on theirs, 0 if neither.
        seeds: number of seeds of a subject, the median over the subjects.
    """

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def none(self) -> float: ...
    @property
    def p(self) -> float: ...
    @property
    def toward(self) -> int: ...
    @property
    def seeds(self) -> int: ...


E = TypeVar("E", bound=Evidence)


@dataclass(frozen=True, slots=True)
class Judged(Generic[E]):
    """A comparison with its verdict.

    Attributes:
        evidence: the comparison.
        p: Holm-adjusted, in [0, 1]; NaN with one seed.
        verdict: the conclusion.
    """

    evidence: E
    p: float
    verdict: Verdict

    @property
    def shown_p(self) -> str:
        """The Holm-adjusted p with two digits, "-" if there is none."""
        return "-" if math.isnan(self.p) else f"{self.p:.2g}"


def judge(table: Iterable[E]) -> list[Judged[E]]:
    """Judge all comparisons of one table together.

    Args:
        table: its comparisons. Comparisons with one seed are not tested, so they do not count for the correction.

    Returns:
        One for each comparison, in the same order.
    """
    found = list(table)
    adjusted = holm([one.p if one.seeds > 1 else math.nan for one in found])
    return [Judged(one, p, verdict(one, p)) for one, p in zip(found, adjusted, strict=True)]


def too_few(subjects: int, comparisons: int) -> bool:
    """Return whether no signed-rank test over so few subjects can have a Holm-adjusted p below 0.05.

    The smallest p of n signed ranks is 2^(1 - n). With one subject the runs are tested instead, so it is never too few.

    Args:
        subjects: number of subjects of the table.
        comparisons: number of comparisons for which the table is corrected.
    """
    return subjects > 1 and 2.0 ** (1 - subjects) * comparisons >= ALPHA


def verdict(evidence: Evidence, p: float) -> Verdict:
    """Apply the rule to one comparison.

    Args:
        evidence: the comparison.
        p: of its test, corrected for all comparisons of the table; NaN if there was no test.
    """
    if evidence.seeds < 2:
        return Verdict.ONE_SEED
    if not p < ALPHA:
        return Verdict.OPEN
    if evidence.low > evidence.none and evidence.toward > 0:
        return Verdict.BETTER
    if evidence.high < evidence.none and evidence.toward < 0:
        return Verdict.WORSE
    return Verdict.OPEN
