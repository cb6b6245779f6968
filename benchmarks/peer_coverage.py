#!/usr/bin/env python3
"""Branch coverage of fitgym and of Pynguin, with the same algorithm and the same wall-clock budget.

    python benchmarks/peer_coverage.py --install results/subjects
    python benchmarks/peer_coverage.py --subjects results/subjects --algorithms mio --budget 30s --seeds 1 2 3

Both generate for the same module at the same time, each on its own core. coverage.py measures both suites in fresh
interpreters. The budget of fitgym includes finishing; Pynguin uses it for the search alone, without assertions. Each
row is appended to FOLDER/runs.csv at once, and existing rows are not run again. README.md in this folder explains the
columns.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from questions.peers import install_peers
from remeasure import HERE, Subject, environment, install, plain_branches, source_file, subjects, subjects_folder
from runs_file import Key, RunsFile
from suite_quality import TOOLS, generate

from fitgym.errors import InputError
from fitgym.study.comparison import contrast
from fitgym.study.verdict import judge
from fitgym.suite.text.export import write

ALGORITHMS = {
    "whole_suite": "WHOLE_SUITE",
    "mosa": "MOSA",
    "dynamosa": "DYNAMOSA",
    "mio": "MIO",
    "random_search": "RANDOM_TEST_CASE_SEARCH",
}
"""Names of the algorithms in fitgym and in Pynguin."""

COLUMNS = ("algorithm", "module", "seed", "budget", "tool", "covered", "branches", "problem")


def measured(key: Key, options: argparse.Namespace) -> dict[str, str]:
    """Generate one suite and measure it; returns its row. Without a suite nothing is covered."""
    algorithm, module, seed, budget, tool = key
    row = dict(zip(COLUMNS, (*key, "0", "", ""), strict=True))
    folder = (options.folder / "suites" / f"{algorithm}-{module}-{seed}-{budget}" / tool).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    env = environment(options.subjects, folder)
    given = argparse.Namespace(
        **{**vars(options), "budget": budget, "seed": int(seed), "goal": "coverage", "assertions": "NONE"},
        search=algorithm,
        algorithm=ALGORITHMS[algorithm],
    )
    suite = generate(tool, module, folder, env, given)
    if isinstance(suite, str):
        return {**row, "problem": suite}
    subject = Subject("", "", "", module)
    found = plain_branches(subject, source_file(module, env, folder), suite, env)
    if found is None:
        return {**row, "problem": "coverage.py measured nothing"}
    return {**row, "covered": str(found.covered), "branches": str(found.total)}


def make(wanted: Sequence[Key], file: RunsFile, options: argparse.Namespace) -> None:
    """Run the missing runs, both tools at the same time."""
    rows = file.rows()
    missing = [key for key in wanted if key not in rows]

    def made() -> Iterator[dict[str, str]]:
        with ThreadPoolExecutor(len(TOOLS)) as pool:
            for _, pair in itertools.groupby(missing, key=lambda key: key[:4]):
                for row in pool.map(lambda key: measured(key, options), list(pair)):
                    yield row
                    said = row["problem"] or f"{row['covered']} of {row['branches']}"
                    sys.stderr.write(f"{', '.join(row[column] for column in COLUMNS[:5])}: {said}\n")

    file.add(made())


Shares = dict[str, dict[int, float]]


def shares(rows: Sequence[dict[str, str]]) -> dict[str, Shares]:
    """Return the share of covered branches by tool, module and seed."""
    totals = {row["module"]: int(row["branches"]) for row in rows if row["branches"]}
    found: dict[str, Shares] = {tool: {} for tool in TOOLS}
    for row in rows:
        if total := totals.get(row["module"]):
            found[row["tool"]].setdefault(row["module"], {})[int(row["seed"])] = int(row["covered"]) / total
    return found


def table(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Compare all algorithms in Markdown, judged together."""
    yield (
        "| algorithm | modules | fitgym | Pynguin | A12 | above | below | Holm-adjusted p | verdict on fitgym "
        "| no suite: fitgym, Pynguin |"
    )
    yield f"|{'---|' * 10}"
    by_algorithm = {name: [row for row in rows if row["algorithm"] == name] for name in ALGORITHMS}
    found = []
    for name, of_it in by_algorithm.items():
        try:
            found.append(contrast(name, "Pynguin", *(shares(of_it)[tool] for tool in ("fitgym", "pynguin"))))
        except InputError:
            continue
    for judged in judge(found):
        one, of_it = judged.evidence, by_algorithm[judged.evidence.agent]
        by_tool = shares(of_it)
        modules = [module for module in by_tool["fitgym"] if module in by_tool["pynguin"]]
        means = [
            statistics.fmean(statistics.fmean(by_tool[tool][module].values()) for module in modules)
            for tool in ("fitgym", "pynguin")
        ]
        lost = [sum(bool(row["problem"]) for row in of_it if row["tool"] == tool) for tool in ("fitgym", "pynguin")]
        yield (
            f"| {one.agent} | {len(modules)} | {means[0]:.3f} | {means[1]:.3f} | {one} | {one.better} | {one.worse} "
            f"| {judged.shown_p} | {judged.verdict} | {lost[0]}, {lost[1]} |"
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the missing runs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=Path, help="folder with the pinned packages")
    parser.add_argument("--install", type=Path, help="first install the pinned packages to this folder")
    parser.add_argument("--set", default="core", help="set of subjects in subjects.toml")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of subjects")
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    parser.add_argument("--budget", default="10s")
    parser.add_argument("--seeds", nargs="*", default=["1"], help="without a number: the table only")
    parser.add_argument(
        "--peers",
        type=Path,
        default=Path("results/peers"),
        metavar="DIR",
        help="folder for the installation of Pynguin",
    )
    parser.add_argument("--folder", type=Path, default=HERE / "peers")
    options = parser.parse_args(arguments)
    file = RunsFile(options.folder / "runs.csv", COLUMNS, 5)
    if options.seeds:
        options.subjects = subjects_folder(parser, options)
        if options.install:
            install(options.install)
        present, absent = install_peers(options.peers, ("pynguin",))
        if absent:
            sys.stderr.write(f"{absent['pynguin']}\n")
            return 1
        options.pynguin = str(Path(present["pynguin"]).absolute())
        modules = dict.fromkeys(subject.module for subject in subjects(options.set, options.only))
        make(
            [
                (algorithm, module, seed, options.budget, tool)
                for seed in options.seeds
                for algorithm in options.algorithms
                for module in modules
                for tool in TOOLS
            ],
            file,
            options,
        )
    rows = [row for key, row in file.rows().items() if key[3] == options.budget]
    text = "\n".join([f"Branches that coverage.py sees covered, {options.budget} each.", "", *table(rows), ""])
    sys.stdout.write(text)
    write(text, options.folder / "table.md")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
