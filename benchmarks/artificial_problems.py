"""The artificial problems of the MIO paper: how much each algorithm covers, beside what the paper reports.

    python benchmarks/artificial_problems.py --jobs 2                              # as published; about half an hour
    python benchmarks/artificial_problems.py --runs 20 --sizes 1 10 30 100
    python benchmarks/artificial_problems.py --kinds deceptive --searches mio:population=1,distinct=true random_search

Every run has 1,000 evaluations, the optima of a run are those of its number, whatever the algorithm. Printed is the share
of the feasible targets that are covered, in percent, over all runs, and then what the paper says, with a tick or a cross
for each sentence. Exit code 0 in either case: what does not reproduce is a result too.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from fitgym.artificial import ArtificialEngine, Problem
from fitgym.execution.sandbox import die_with_parent
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

Means = dict[tuple[str, int, str], float]
"""By kind, size and name of the algorithm: the share of the feasible targets that are covered, in percent."""


def covered(kind: str, size: int, search: str, runs: int, budget: int) -> float:
    """The mean over the runs, in percent."""
    groups = {"gradient": 10, "infeasible": size} if kind == "infeasible" else {kind: size}
    found = []
    for run in range(runs):
        problem = Problem.draw(groups, run)
        engine = ArtificialEngine(problem, search=search, seed=run, budget=budget).run()
        found.append(100.0 * engine.n_covered / int(problem.feasible.sum()))
    return float(np.mean(found))


def sentences(means: Means) -> Iterator[tuple[str, str, bool]]:
    """What the paper says that can be told from the means: the sentence, the figures, and whether it holds."""
    names = {name for _, _, name in means}

    def at(kind: str, name: str, holds: Callable[[int], bool]) -> dict[int, float]:
        return {size: mean for (k, size, n), mean in means.items() if k == kind and n == name and holds(size)}

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
    if few := at("deceptive", "MIO", lambda size: size <= 10):
        chance = at("deceptive", "Random", lambda size: size <= 10)
        ahead = min(chance[size] - few[size] for size in few)
        yield "deceptive: up to 10 targets Random is not worse than MIO", f"{ahead:+.1f} at least", ahead >= 0.0
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


def table(means: Means, kinds: Sequence[str], sizes: Sequence[int], names: Sequence[str]) -> str:
    """The means in Markdown, a table for each kind, and then the sentences of the paper."""
    lines = []
    for kind in kinds:
        lines += [f"## {kind}", "", "| targets | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
        for size in sizes:
            cells = " | ".join(f"{means[kind, size, name]:.1f}" for name in names)
            lines.append(f"| {size} | {cells} |")
        lines.append("")
    found = [f"| {text} | {figures} | {'yes' if holds else 'no'} |" for text, figures, holds in sentences(means)]
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
    parser.add_argument("--searches", nargs="+", help="algorithms instead of those of the paper")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, help="file for the tables, Markdown")
    options = parser.parse_args(arguments)
    searches = {search: search for search in options.searches} if options.searches else SEARCHES
    names = list(searches)
    cells = list(itertools.product(options.kinds, options.sizes, names))
    means: Means = {}
    with ProcessPoolExecutor(options.jobs, initializer=die_with_parent) as pool:
        asked = {
            cell: pool.submit(covered, cell[0], cell[1], searches[cell[2]], options.runs, options.budget)
            for cell in cells
        }
        for done, (cell, future) in enumerate(asked.items(), 1):
            means[cell] = future.result()
            sys.stderr.write(f"{done} of {len(cells)}: {cell[0]}, {cell[1]}, {cell[2]}: {means[cell]:.1f} %\n")
    text = table(means, options.kinds, options.sizes, names)
    sys.stdout.write(text)
    if options.output:
        write(text, options.output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
