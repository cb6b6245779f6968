"""Claims of papers, judged with the committed runs: the numbers and the verdicts that pages insert.

A file of `docs/claims` is a paper: where runs are (`source`), and its claims, each with a comparison. All comparisons of
a paper are judged together, so Holm's correction covers all of them.
"""

from __future__ import annotations

import csv
import statistics
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from fitgym.errors import InputError
from fitgym.study.comparison import Contrast, Runs, contrast
from fitgym.study.difference import Difference, difference, growth
from fitgym.study.verdict import Judged, Verdict, judge

__all__ = ["OUTCOMES", "Claim", "Paper", "Side", "Source", "load"]

REPRODUCED, REFUTED, OPEN, SHOWN = "reproduced", "refuted here", "cannot be told", "shown here"
OUTCOMES = (REPRODUCED, REFUTED, OPEN)
"""The verdicts on a claim of a paper. On a claim of our own, "shown here" stands in place of "reproduced"."""

_ALIKE = 0.44, 0.56  # A12 that is conventionally called negligible
_KINDS = ("more", "at least", "grows", "alike", "not run")


@dataclass(frozen=True, slots=True)
class Source:
    """Committed runs.

    Attributes:
        rows: a CSV file below the root of the repository.
        table: the table of `benchmarks/tables.toml` that belongs to them.
        arm: name of the column of the alternatives.
        value: name of the column of the measure.
        where: values of other columns.
        less: smaller values are better.
    """

    rows: str
    table: str
    value: str
    arm: str = "arm"
    where: Mapping[str, str] = field(default_factory=dict)
    less: bool = False

    def runs(self, root: Path, arm: str, on: Collection[str]) -> dict[str, dict[int, float]]:
        """Return the values of an arm by subject and seed.

        Raises:
            InputError: the arm has no run there.
        """
        found: dict[str, dict[int, float]] = {}
        for row in _rows(root / self.rows):
            if row[self.arm] != arm or any(row[name] != value for name, value in self.where.items()):
                continue
            if row[self.value] and (not on or row["subject"] in on):
                found.setdefault(row["subject"], {})[int(row["seed"])] = float(row[self.value])
        if not found:
            raise InputError(f"'{self.rows}' has no run of '{arm}' with a {self.value}; expected at least one")
        return found


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: its name, and its mean over the subjects."""

    name: str
    mean: float


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, with the evidence of committed runs.

    Attributes:
        says: the claim, a sentence that runs can refute.
        published: what the paper reports, and where.
        kind: "more" (ours reaches more), "at least" (not less by `least`), "grows" (the difference is larger on some
            subjects than on others), "alike" (a negligible difference), or "not run".
        why: the explanation of the verdict.
        tells: the command that would tell, or tell more.
        own: the paper does not make the claim; it belongs to its question.
        table: the committed table, "" without runs.
        sides: ours and the other one.
        judged: the comparison, None without runs and for "alike".
        beside: the contrast of both sides, None without runs.
    """

    says: str
    published: str
    kind: str
    why: str
    tells: str
    own: bool = False
    table: str = ""
    sides: tuple[Side, ...] = ()
    judged: Judged[Any] | None = None
    beside: Contrast | None = None

    @property
    def verdict(self) -> str:
        """Reproduced, refuted here, or cannot be told; for a claim of our own, shown here instead of reproduced."""
        found = self._outcome()
        return SHOWN if self.own and found == REPRODUCED else found

    def _outcome(self) -> str:
        if self.kind == "alike" and self.beside is not None:
            low, high = _ALIKE
            if low <= self.beside.low and self.beside.high <= high:
                return REPRODUCED if self.beside.seeds > 1 else OPEN
            return REFUTED if (self.beside.high < low or self.beside.low > high) and self.beside.seeds > 1 else OPEN
        if self.judged is None or not self.judged.verdict.stated:
            return OPEN
        return REPRODUCED if self.judged.verdict is Verdict.BETTER else REFUTED

    @property
    def ours(self) -> str:
        """The numbers of the committed runs, "no runs" without them."""
        if self.beside is None:
            return "no runs"
        one = self.beside
        left, right = (f"{side.name} {_short(side.mean)}" for side in self.sides)
        words = f"{left}, {right}; A12 {one}"
        if isinstance(self.judged, Judged) and isinstance(self.judged.evidence, Difference):
            gap = self.judged.evidence
            what = "grows by" if self.kind == "grows" else "difference"
            words += f"; {what} {gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"
        if one.subjects > 1:
            words += f"; ahead on {one.better}, behind on {one.worse} of {one.subjects}"
        test = f"p = {self.judged.shown_p}" if self.judged is not None and one.seeds > 1 else "no test"
        return f"{words}; {one.seeds} seed{'s' if one.seeds > 1 else ''}, {test}"


@dataclass(frozen=True)
class Paper:
    """A paper and its claims.

    Attributes:
        name: of its file.
        title: of its page.
        cited: the reference.
        asks: the comparison, in a sentence or two.
        differs: aspects of the set-up: a name, the paper's, ours.
        claims: of the paper, in order.
        own: claims that the paper does not make.
    """

    name: str
    title: str
    cited: str
    asks: str
    differs: tuple[tuple[str, ...], ...]
    claims: tuple[Claim, ...]
    own: tuple[Claim, ...] = ()

    def count(self, verdict: str) -> int:
        """Return how many claims of the paper have a verdict."""
        return sum(claim.verdict == verdict for claim in self.claims)


@cache
def load(file: Path, root: Path) -> Paper:
    """Read a paper and judge its claims.

    Args:
        file: one of `docs/claims`.
        root: the folder of the repository.

    Raises:
        InputError: a claim names an unknown kind, source or arm.
    """
    found = tomllib.loads(file.read_text("utf-8"))
    sources = {name: Source(**values) for name, values in found.get("source", {}).items()}
    drafts = [_claim(file.name, claim, sources, root) for claim in found["claim"]]
    evidence = [one for _, one in drafts if one is not None]
    judged = dict(zip(map(id, evidence), judge(evidence), strict=True))
    claims = [claim if one is None else replace(claim, judged=judged[id(one)]) for claim, one in drafts]
    return Paper(
        file.stem,
        found["title"],
        found["cited"],
        found["asks"],
        tuple(map(tuple, found["differs"])),
        tuple(claim for claim in claims if not claim.own),
        tuple(claim for claim in claims if claim.own),
    )


def _claim(
    file: str, told: Mapping[str, Any], sources: Mapping[str, Source], root: Path
) -> tuple[Claim, Contrast | Difference | None]:
    """Return a claim without its verdict, and its evidence."""
    kind = told["kind"]
    if kind not in _KINDS:
        raise InputError(f"docs/claims/{file}: '{kind}' is no kind of claim; expected one of: {', '.join(_KINDS)}")
    words = {name: told[name] for name in ("says", "published", "why", "tells", "own") if name in told}
    if kind == "not run":
        return Claim(kind=kind, **words), None
    source = sources[told["source"]]
    subjects = _subjects(root, told.get("on", ()))
    runs = [source.runs(root, told[side], subjects) for side in ("ours", "beside")]
    sides = tuple(Side(told[side], _mean(found)) for side, found in zip(("ours", "beside"), runs, strict=True))
    ours, theirs = (_signed(found, source.less) for found in runs)
    beside = contrast(told["ours"], told["beside"], ours, theirs)
    claim = Claim(kind=kind, table=source.table, sides=sides, beside=beside, **words)
    if kind == "more":
        return claim, beside
    if kind == "at least":
        return claim, difference(ours, theirs, float(told["least"]))
    if kind == "grows":
        than = _subjects(root, told["than"])
        before = [_signed(source.runs(root, told[side], than), source.less) for side in ("ours", "beside")]
        return claim, growth((ours, theirs), (before[0], before[1]))
    return claim, None


@cache
def _rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def _subjects(root: Path, on: str | Iterable[str]) -> frozenset[str]:
    """Return subjects: as listed, or those of a set of `benchmarks/subjects.toml`; none for all."""
    if not isinstance(on, str):
        return frozenset(on)
    listed = tomllib.loads((root / "benchmarks" / "subjects.toml").read_text("utf-8"))["subject"]
    return frozenset(
        ":".join(filter(None, (one["module"], one.get("class", "")))) for one in listed if one["set"] == on
    )


def _short(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000.0 else f"{number:.3g}"


def _mean(runs: Runs) -> float:
    return statistics.fmean(statistics.fmean(found.values()) for found in runs.values())


def _signed(runs: Runs, less: bool) -> Runs:
    return {name: {seed: -value if less else value for seed, value in found.items()} for name, found in runs.items()}
