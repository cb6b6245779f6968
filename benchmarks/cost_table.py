#!/usr/bin/env python3
"""Do suites of adynamosa run faster and in less memory than those of dynamosa, and how much coverage do they lose?

    python benchmarks/cost_table.py --install results/subjects --jobs 2 --folder results/costs
    python benchmarks/cost_table.py --seeds 0          # the table only

Every run is `fitgym generate` with six of the paper's seven fitness functions and the same budget in executions. Then
the suite is measured as by `fitgym cost`, in fresh interpreters. Each row is appended to FOLDER/runs.csv at once, and
existing rows are not run again. README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from remeasure import HERE, environment, install, run, subjects, subjects_folder
from runs_file import Key, RunsFile

from fitgym.errors import InputError
from fitgym.study.comparison import contrast
from fitgym.study.verdict import judge
from fitgym.suite.runs.cost import cost
from fitgym.suite.text.export import write

SEARCHES = ("dynamosa", "adynamosa", "adynamosa:adaptive=false")
FUNCTIONS = "branch+line+method+input+output+exception"
"""The functions of the aDynaMOSA paper, section 4, without weak mutation, which the coverage goal does not use."""

PAPER = (
    "faster on 72 % and slower on 23 % of the classes, less memory on 70 % and more on 25 %; -24 % time where faster, "
    "-15 % memory where less; branch coverage within a point; always performance loses coverage"
)
COLUMNS = (
    *("search", "subject", "seed", "budget"),
    *("covered", "branches", "tests", "seconds", "peak", "lines", "failed", "problem"),
)


def measured(key: Key, options: argparse.Namespace) -> dict[str, str]:
    """Generate one suite and measure its cost; returns its row."""
    search, subject, seed, budget = key
    row = dict(zip(COLUMNS, (*key, *("",) * 8), strict=True))
    folder = (options.folder / "suites" / "-".join(key).replace(":", ".")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    env = environment(options.subjects, folder)
    command = [
        sys.executable,
        "-m",
        "fitgym",
        "generate",
        subject,
        "--goal",
        "coverage",
        "--agent",
        f"fixed:{FUNCTIONS}",
    ]
    command += ["--search", search, "--budget", budget, "--seed", seed, "--output", "suite", "--json", "record.json"]
    done = run([*command, "--quiet"], env, folder, 1800)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
        return {**row, "problem": f"exit code {done.returncode}: {last[:200]}"}
    record = json.loads((folder / "record.json").read_text("utf-8"))
    try:
        found = cost(folder / "suite" / record["suite_path"], runs=options.runs, path=options.subjects)
    except InputError as problem:
        return {**row, "problem": str(problem)}
    branches = record["measured"]["branches"]
    values = (
        branches["covered"],
        branches["total"],
        found.tests,
        found.processor.median,
        found.peak.median,
        found.lines,
        found.failed,
    )
    return {**row, **dict(zip(COLUMNS[4:], map(str, values), strict=False))}


def make(wanted: Sequence[Key], file: RunsFile, options: argparse.Namespace) -> None:
    """Run the missing runs."""
    rows = file.rows()
    missing = [key for key in wanted if key not in rows]

    def made() -> Iterator[dict[str, str]]:
        with ThreadPoolExecutor(options.jobs) as pool:
            for done, future in enumerate(as_completed([pool.submit(measured, key, options) for key in missing]), 1):
                row = future.result()
                yield row
                said = row["problem"] or f"{row['covered']} of {row['branches']}, {float(row['seconds']) * 1e3:.3g} ms"
                sys.stderr.write(f"{done} of {len(missing)}: {', '.join(row[c] for c in COLUMNS[:4])}: {said}\n")

    file.add(made())
    file.sort(lambda key: (*key[:2], int(key[2]), *key[3:]))


def medians(rows: Sequence[dict[str, str]], search: str) -> dict[str, dict[str, float]]:
    """Return by subject the medians over seeds of a suite's cost, coverage and size for one search."""
    found: dict[str, dict[str, float]] = {}
    for subject in dict.fromkeys(row["subject"] for row in rows):
        of_it = [row for row in rows if (row["search"], row["subject"]) == (search, subject) and not row["problem"]]
        if of_it:
            found[subject] = {
                name: statistics.median(float(row[name]) for row in of_it)
                for name in ("seconds", "peak", "lines", "tests")
            }
            shares = [int(row["covered"]) / max(1, int(row["branches"])) for row in of_it]
            found[subject]["coverage"] = statistics.median(shares)
    return found


def table(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Compare each other search with the first in Markdown; costs only if their coverage differs by at most a point."""
    yield f"The paper: {PAPER}."
    yield ""
    yield (
        "| search | subjects | coverage | beside | above | below | tests | beside | same coverage | faster | slower | time "
        "| less memory | more | memory | fewer lines | more | lines |"
    )
    yield f"|{'---|' * 18}"
    theirs = medians(rows, SEARCHES[0])
    for search in SEARCHES[1:]:
        ours = medians(rows, search)
        both = [subject for subject in ours if subject in theirs]
        if not both:
            continue
        same = [one for one in both if abs(ours[one]["coverage"] - theirs[one]["coverage"]) <= 0.01]
        cells = [search, str(len(both))]
        cells += [f"{statistics.fmean(side[one]['coverage'] for one in both):.3f}" for side in (ours, theirs)]
        gains = [ours[one]["coverage"] - theirs[one]["coverage"] for one in both]
        cells += [str(sum(gain > 0.0 for gain in gains)), str(sum(gain < 0.0 for gain in gains))]
        cells += [f"{statistics.fmean(side[one]['tests'] for one in both):.1f}" for side in (ours, theirs)]
        cells.append(str(len(same)))
        for name in ("seconds", "peak", "lines"):
            ratios = [ours[one][name] / max(theirs[one][name], 1e-9) for one in same]
            cells += [str(sum(ratio < 1.0 for ratio in ratios)), str(sum(ratio > 1.0 for ratio in ratios))]
            cells.append(f"{statistics.median(ratios) - 1.0:+.1%}" if ratios else "-")
        yield f"| {' | '.join(cells)} |"


COMPARED = {"coverage": "branches covered", "seconds": "speed", "peak": "thrift of memory", "lines": "fewness of lines"}
"""The compared quantities; less of the last three is better."""


def judged_table(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Compare each other search with the first in Markdown, judged together.

    Costs are compared only if the coverage of both differs by at most a point.
    """
    theirs = medians(rows, SEARCHES[0])
    found, whats = [], []
    for search in SEARCHES[1:]:
        ours = medians(rows, search)
        both = [subject for subject in ours if subject in theirs]
        same = [one for one in both if abs(ours[one]["coverage"] - theirs[one]["coverage"]) <= 0.01]
        for what in COMPARED:
            sides = (runs(rows, name, what, both if what == "coverage" else same) for name in (search, SEARCHES[0]))
            try:
                found.append(contrast(search, SEARCHES[0], *sides))
            except InputError:
                continue
            whats.append(what)
    yield f"| search | | subjects | A12 beside {SEARCHES[0]} | above | below | Holm-adjusted p | verdict |"
    yield f"|{'---|' * 8}"
    for what, one in zip(whats, judge(found), strict=True):
        side = one.evidence
        yield (
            f"| {side.agent} | {COMPARED[what]} | {side.subjects} | {side} | {side.better} | {side.worse} "
            f"| {one.shown_p} | {one.verdict} |"
        )


def runs(
    rows: Sequence[dict[str, str]], search: str, what: str, subjects: Sequence[str]
) -> dict[str, dict[int, float]]:
    """Return by subject and seed the coverage of a search's suites, or their negated cost, so that more is better."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["search"] == search and row["subject"] in subjects and not row["problem"]:
            covered = int(row["covered"]) / max(1, int(row["branches"]))
            value = covered if what == "coverage" else -float(row[what])
            found.setdefault(row["subject"], {})[int(row["seed"])] = value
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the missing runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=Path, help="folder with the pinned packages")
    parser.add_argument("--install", type=Path, help="first install the pinned packages to this folder")
    parser.add_argument("--set", default="core", help="set of subjects in subjects.toml")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of subjects")
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", default="5000x")
    parser.add_argument("--runs", type=int, default=15, help="interpreters for time, and the same number for memory")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=HERE / "costs")
    options = parser.parse_args(arguments)
    file = RunsFile(options.folder / "runs.csv", COLUMNS, 4)
    if options.seeds:
        options.subjects = subjects_folder(parser, options)
        if options.install:
            install(options.install)
        make(
            [
                (search, subject.text, str(seed), options.budget)
                for seed in range(options.seeds)
                for subject in subjects(options.set, options.only)
                for search in options.searches
            ],
            file,
            options,
        )
    rows = [row for key, row in file.rows().items() if key[3] == options.budget]
    text = "\n".join([*table(rows), "", *judged_table(rows), ""])
    sys.stdout.write(text)
    write(text, options.folder / "table.md")
    return int(any(row["problem"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
