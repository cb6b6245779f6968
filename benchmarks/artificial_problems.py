"""The artificial problems of the MIO paper: how much each algorithm covers, beside what the paper reports.

    python benchmarks/artificial_problems.py --jobs 2                              # as published; about half an hour
    python benchmarks/artificial_problems.py --runs 20 --sizes 1 10 30 100
    python benchmarks/artificial_problems.py --kinds deceptive --sizes 1 2 3 4 5 10 --searches MIO Random --runs 1000
    python benchmarks/artificial_problems.py --kinds deceptive --searches MIO mio:population=1,distinct=true

Every run has 1,000 evaluations, the optima of a run are those of its number, whatever the algorithm. Printed is the share
of the feasible targets that are covered, in percent, over all runs, for random search also the share that is to be
expected, and then what the paper says, with a tick or a cross for each sentence. Exit code 0 in either case: what does not
reproduce is a result too.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from fitgym.artificial import LARGEST, ArtificialEngine, Problem
from fitgym.execution.sandbox import die_with_parent
from fitgym.study.statistics import mann_whitney
from fitgym.suite.export import write

SIZES = (1, 2, 3, 4, 5, *range(10, 101, 10))
"""z, the number of targets; of infeasible ones these are added to ten with a gradient, and none besides."""

SEARCHES = {
    "MIO": "mio:population=1",
    "MIO without feedback": "mio:population=1,feedback=false",
    "MOSA": "mosa:fresh=0.0,distinct=false,neutral=false",
    "MOSA that drifts": "mosa:fresh=0.0,distinct=false",
    "WTS": "whole_suite:initial_tests=50,max_tests=50,crossover=0.7",
    "Random": "random_search",
}
"""As published: MIO one evaluation at a time, MOSA with offspring that are mutants only and may be copies. Of the test cases
that are as near to a target the published MOSA keeps the oldest, which the paper does not say and its results do; the one that
drifts draws, as fitgym's does by itself."""

Shares = dict[tuple[str, int, str], list[float]]
"""By kind, size and name of the algorithm: the share of the feasible targets that each run covered, in percent."""


def covered(kind: str, size: int, search: str, runs: int, budget: int) -> list[float]:
    """What each run covered, in percent."""
    groups = {"gradient": 10, "infeasible": size} if kind == "infeasible" else {kind: size}
    found = []
    for run in range(runs):
        problem = Problem.draw(groups, run)
        engine = ArtificialEngine(problem, search=search, seed=run, budget=budget).run()
        found.append(100.0 * engine.n_covered / int(problem.feasible.sum()))
    return found


def expected(kind: str, size: int, budget: int) -> float:
    """What random search covers on average, in percent: 1 - (1 - 1 / (z (r + 1))) ^ budget for z targets."""
    targets = 10 + size if kind == "infeasible" else size
    return 100.0 * (1.0 - (1.0 - 1.0 / (targets * (LARGEST + 1))) ** budget)


def sentences(shares: Shares) -> Iterator[tuple[str, str, bool]]:
    """What the paper says that can be told from the runs: the sentence, the figures, and whether it holds."""
    names = {name for _, _, name in shares}
    means = {cell: statistics.fmean(found) for cell, found in shares.items()}

    def at(kind: str, name: str, holds: Callable[[int], bool]) -> dict[int, float]:
        return {size: mean for (k, size, n), mean in means.items() if k == kind and n == name and holds(size)}

    if {"MIO", "Random"} <= names and (few := at("deceptive", "MIO", lambda size: size <= 10)):
        ahead = min(means["deceptive", size, "Random"] - few[size] for size in few)
        pairs = [(shares["deceptive", size, "MIO"], shares["deceptive", size, "Random"]) for size in few]
        p = min(mann_whitney(*pair, alternative="greater").p for pair in pairs)
        figures = f"{ahead:+.1f} at least; that MIO is above, p = {p:.2f} at least (Mann and Whitney)"
        yield "deceptive: up to 10 targets Random is not worse than MIO", figures, ahead >= 0.0
    if not {"MIO", "MOSA", "WTS", "Random"} <= names:
        return
    if gradient := at("gradient", "MIO", bool):
        mosa, wts, chance = (at("gradient", name, bool) for name in ("MOSA", "WTS", "Random"))
        apart = max(abs(gradient[size] - mosa[size]) for size in gradient)
        yield "gradient: MIO and MOSA within 5 points of each other", f"{apart:.1f} apart at most", apart <= 5.0
        ahead = min(min(gradient[z], mosa[z]) - max(wts[z], chance[z]) for z in gradient)
        yield "gradient: both above Random and WTS", f"{ahead:+.1f} at least", ahead > 0.0
    if plateau := at("plateau", "MIO", lambda size: size >= 30):
        rest = [at("plateau", name, lambda size: size >= 30) for name in ("MOSA", "WTS", "Random")]
        at_30 = plateau[min(plateau)]
        yield "plateau: with 30 targets MIO covers about 20 %", f"{at_30:.1f}", 15.0 <= at_30 <= 30.0
        apart = max(abs(other[size] - rest[-1][size]) for other in rest for size in plateau)
        figures = f"{apart:.1f} apart at most; " + ", ".join(f"{max(other.values()):.1f}" for other in rest)
        yield "plateau: from there on MOSA and WTS within 5 points of Random, nearly none", figures, apart <= 5.0
    if many := at("deceptive", "MIO", lambda size: size > 10):
        rest = [at("deceptive", name, lambda size: size > 10) for name in ("MOSA", "WTS", "Random")]
        ahead = min(many[size] - max(other[size] for other in rest) for size in many)
        yield "deceptive: beyond, MIO is best", f"{ahead:+.1f} at least", ahead >= 0.0
    if infeasible := at("infeasible", "MIO", lambda size: size == 100):
        share = infeasible[100]
        yield "infeasible: with 100 of them MIO covers about 40 %", f"{share:.1f}", 30.0 <= share <= 50.0
        if "MIO without feedback" in names:
            without = means["infeasible", 100, "MIO without feedback"]
            yield "infeasible: clearly more than without feedback", f"{without:.1f} without", share > 1.5 * without
            others = max(means["infeasible", 100, name] for name in ("MOSA", "WTS", "Random"))
            yield "infeasible: MIO without feedback still above the others", f"{others:.1f}", without > others


def table(shares: Shares, budget: int) -> str:
    """The means in Markdown, a table for each kind, and then the sentences of the paper."""
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
    found = [f"| {text} | {figures} | {'yes' if holds else 'no'} |" for text, figures, holds in sentences(shares)]
    if found:
        lines += ["## What the paper says", "", "| | here | holds |", "|---|---|---|", *found, ""]
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
