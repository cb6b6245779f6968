"""The artificial problems of the MIO paper: the coverage of each algorithm, compared with the paper.

    python benchmarks/artificial_problems.py --jobs 2                              # as published; about half an hour
    python benchmarks/artificial_problems.py --runs 20 --sizes 1 10 30 100
    python benchmarks/artificial_problems.py --kinds deceptive --sizes 1 2 3 4 5 10 --searches MIO Random --runs 1000
    python benchmarks/artificial_problems.py --kinds deceptive --searches MIO mio:population=1,distinct=true

Every run has 1,000 evaluations. Runs with the same number have the same optima for all algorithms. The output is the
share of covered feasible targets, in percent, over all runs; for random search also the expected share; then the claims
of the paper. A claim holds, or does not hold, only if the intervals of the differences and the Holm-adjusted p of their
tests show it. Otherwise no difference is shown. The exit code is always 0, because a failed reproduction is a result
too.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fitgym.formulas.artificial import LARGEST, ArtificialEngine, Problem
from fitgym.sandbox.sandbox import die_with_parent
from fitgym.study.difference import Difference, difference
from fitgym.study.verdict import Judged, Verdict, judge
from fitgym.suite.text.export import write

SIZES = (1, 2, 3, 4, 5, *range(10, 101, 10))
"""z, the number of targets. Infeasible targets are added to ten targets with a gradient."""

SEARCHES = {
    "MIO": "mio:population=1",
    "MIO without feedback": "mio:population=1,feedback=false",
    "MOSA": "mosa:fresh=0.0,distinct=false,neutral=false",
    "MOSA that drifts": "mosa:fresh=0.0,distinct=false",
    "WTS": "whole_suite:initial_tests=50,max_tests=50,crossover=0.7",
    "Random": "random_search",
}
"""The published algorithms: MIO evaluates one test case at a time; MOSA's offspring are mutants only and may be copies.

Of equally near test cases, the published MOSA keeps the oldest. The paper does not say so, but its results show it. The
drifting variant chooses at random, as fitgym does by default.
"""

Shares = dict[tuple[str, int, str], list[float]]
"""Shares of feasible targets that each run covered, in percent, by kind, size and algorithm."""


def covered(kind: str, size: int, search: str, runs: int, budget: int) -> list[float]:
    """Return the coverage of each run, in percent."""
    groups = {"gradient": 10, "infeasible": size} if kind == "infeasible" else {kind: size}
    found = []
    for run in range(runs):
        problem = Problem.draw(groups, run)
        engine = ArtificialEngine(problem, search=search, seed=run, budget=budget).run()
        found.append(100.0 * engine.n_covered / int(problem.feasible.sum()))
    return found


def expected(kind: str, size: int, budget: int) -> float:
    """Return the expected coverage of random search in percent: 1 - (1 - 1 / (z (r + 1))) ^ budget for z targets."""
    targets = 10 + size if kind == "infeasible" else size
    return 100.0 * (1.0 - (1.0 - 1.0 / (targets * (LARGEST + 1))) ** budget)


@dataclass(frozen=True)
class Sentence:
    """A claim of the paper.

    Attributes:
        text: in words.
        figures: the measured figures.
        needs: differences that must all exceed their margin.
    """

    text: str
    figures: str
    needs: tuple[Difference, ...]

    @staticmethod
    def holds(judged: Sequence[Judged[Difference]]) -> str:
        """Return "yes" if every difference exceeds its margin, "no" if one is below it, else why it is undecided."""
        found = {one.verdict for one in judged}
        if Verdict.WORSE in found:
            return "no"
        return "yes" if found == {Verdict.BETTER} else str(max(found - {Verdict.BETTER}))


def sentences(shares: Shares) -> Iterator[Sentence]:
    """Yield the claims of the paper that the runs can test. Sizes act as subjects, runs as seeds."""
    names = {name for _, _, name in shares}
    means = {cell: statistics.fmean(found) for cell, found in shares.items()}

    def sizes(kind: str, holds: Callable[[int], bool] = bool) -> list[int]:
        return [size for k, size, name in shares if k == kind and name == "MIO" and holds(size)]

    def gain(
        kind: str, some: Sequence[int], ours: str, theirs: str, none: float = 0.0, factor: float = 1.0
    ) -> Difference:
        """Return the difference ours minus theirs; theirs is an algorithm or a number."""

        def side(name: str, factor: float) -> dict[str, dict[int, float]]:
            found = {size: shares[kind, size, name if name in names else "MIO"] for size in some}
            value = (lambda x: factor * x) if name in names else (lambda _: float(name))
            return {str(size): {run: value(x) for run, x in enumerate(runs)} for size, runs in found.items()}

        return difference(side(ours, 1.0), side(theirs, factor), none)

    def most(kind: str, some: Sequence[int], ours: Sequence[str], theirs: Sequence[str]) -> str:
        ahead = min(min(means[kind, z, n] for n in ours) - max(means[kind, z, n] for n in theirs) for z in some)
        return f"{ahead:+.1f} at least"

    def apart(kind: str, some: Sequence[int], ours: str, theirs: Sequence[str]) -> str:
        return f"{max(abs(means[kind, z, ours] - means[kind, z, n]) for z in some for n in theirs):.1f} apart at most"

    if {"MIO", "Random"} <= names and (few := sizes("deceptive", lambda size: size <= 10)):
        needs = (gain("deceptive", few, "Random", "MIO"),)
        text = "deceptive: up to 10 targets Random is not worse than MIO"
        yield Sentence(text, most("deceptive", few, ["Random"], ["MIO"]), needs)
    if not {"MIO", "MOSA", "WTS", "Random"} <= names:
        return
    rest = ("MOSA", "WTS", "Random")
    if some := sizes("gradient"):
        needs = (gain("gradient", some, "MIO", "MOSA", -5.0), gain("gradient", some, "MOSA", "MIO", -5.0))
        figures = apart("gradient", some, "MIO", ["MOSA"])
        yield Sentence("gradient: MIO and MOSA within 5 points of each other", figures, needs)
        needs = tuple(gain("gradient", some, one, other) for one in ("MIO", "MOSA") for other in ("Random", "WTS"))
        figures = most("gradient", some, ["MIO", "MOSA"], ["Random", "WTS"])
        yield Sentence("gradient: both above Random and WTS", figures, needs)
    if some := sizes("plateau", lambda size: size >= 30):
        first = [min(some)]
        needs = (gain("plateau", first, "MIO", "15"), gain("plateau", first, "30", "MIO"))
        text = "plateau: with 30 targets MIO covers about 20 % (15 to 30)"
        yield Sentence(text, f"{means['plateau', first[0], 'MIO']:.1f}", needs)
        needs = tuple(
            gain("plateau", some, *pair, -5.0) for one in rest[:2] for pair in ((one, "Random"), ("Random", one))
        )
        figures = apart("plateau", some, "Random", rest[:2])
        yield Sentence("plateau: from there on MOSA and WTS within 5 points of Random", figures, needs)
    if some := sizes("deceptive", lambda size: size > 10):
        needs = tuple(gain("deceptive", some, "MIO", other) for other in rest)
        yield Sentence("deceptive: beyond, MIO is best", most("deceptive", some, ["MIO"], rest), needs)
    if some := sizes("infeasible", lambda size: size == 100):
        share = means["infeasible", 100, "MIO"]
        needs = (gain("infeasible", some, "MIO", "30"), gain("infeasible", some, "50", "MIO"))
        yield Sentence("infeasible: with 100 of them MIO covers about 40 % (30 to 50)", f"{share:.1f}", needs)
        if (without := "MIO without feedback") in names:
            needs = (gain("infeasible", some, "MIO", without, factor=1.5),)
            figures = f"{means['infeasible', 100, without]:.1f} without"
            yield Sentence("infeasible: half as much again as without feedback, or more", figures, needs)
            needs = tuple(gain("infeasible", some, without, other) for other in rest)
            figures = most("infeasible", some, [without], rest)
            yield Sentence("infeasible: MIO without feedback still above the others", figures, needs)


def judged(found: Sequence[Sentence]) -> Iterator[tuple[Sentence, str, str]]:
    """Yield each claim with its largest Holm-adjusted p and its verdict; all are judged together."""
    every = iter(judge([need for one in found for need in one.needs]))
    for one in found:
        mine = list(itertools.islice(every, len(one.needs)))
        p = max(mine, key=lambda need: need.p).shown_p
        yield one, p, Sentence.holds(mine)


def table(shares: Shares, budget: int) -> str:
    """Return the means in Markdown, a table for each kind, and then the claims of the paper."""
    kinds, sizes, names = (list(dict.fromkeys(column)) for column in zip(*shares, strict=True))
    runs = len(next(iter(shares.values())))
    lines = [f"{runs} runs of {budget} evaluations; feasible targets covered, in percent.", ""]
    for kind in kinds:
        heads = ["targets", *names, *(["Random, expected"] if "Random" in names else [])]
        lines += [f"## {kind}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        for size in sizes:
            means = [statistics.fmean(shares[kind, size, name]) for name in names]
            means += [expected(kind, size, budget)] if "Random" in names else []
            lines.append(f"| {size} | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")
        lines.append("")
    found = [f"| {one.text} | {one.figures} | {p} | {holds} |" for one, p, holds in judged(list(sentences(shares)))]
    if found:
        lines += ["## What the paper says", "", "| | here | Holm-adjusted p | holds |", "|---|---|---|---|", *found, ""]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--budget", type=int, default=1000, help="evaluations of a run")
    parser.add_argument("--kinds", nargs="+", default=["gradient", "plateau", "deceptive", "infeasible"])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--searches", nargs="+", help="algorithms, by the paper's name or fitgym's")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, help="file for the tables, Markdown")
    options = parser.parse_args(arguments)
    searches = {name: SEARCHES.get(name, name) for name in options.searches or SEARCHES}
    cells = list(itertools.product(options.kinds, options.sizes, searches))
    shares: Shares = {}
    with ProcessPoolExecutor(options.jobs, initializer=die_with_parent) as pool:
        asked = {
            cell: pool.submit(covered, cell[0], cell[1], searches[cell[2]], options.runs, options.budget)
            for cell in cells
        }
        for done, (cell, future) in enumerate(asked.items(), 1):
            shares[cell] = future.result()
            mean = statistics.fmean(shares[cell])
            sys.stderr.write(f"{done} of {len(cells)}: {cell[0]}, {cell[1]}, {cell[2]}: {mean:.1f} %\n")
    text = table(shares, options.budget)
    sys.stdout.write(text)
    if options.output:
        write(text, options.output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
