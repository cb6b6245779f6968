#!/usr/bin/env python3
"""Which rates of random test generation, population and search should be the defaults?

    python benchmarks/rates_sweep.py --subjects results/subjects --half tune --seeds 2
    python benchmarks/rates_sweep.py --subjects results/subjects --half judge --only default long_half --seeds 2
    python benchmarks/rates_sweep.py --seeds 0

Settings are tried on half of the development modules of `subjects.toml` (core, extra and large, drawn once). The
winners are judged on the other half. The measure is the share of branches, in fitgym's unit, that is covered after a
number of executions under the coverage goal. Rows are appended to FOLDER/runs.csv at once and are not computed again;
`--seeds 0` only writes the table. A setting replaces the default if the verdict is "better" on the judging half.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from runs_file import RunsFile

from fitgym.engine.engine import Engine
from fitgym.errors import FitgymError
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.study.difference import Difference, difference
from fitgym.study.verdict import judge
from fitgym.subject.source import locate
from fitgym.suite.text.export import write
from fitgym.testcase.rates import DEFAULT

HERE = Path(__file__).parent
BUDGET = "3000x"
COLUMNS = ("half", "setting", "subject", "seed", "covered", "total", "area", "error")

PATTERNS: dict[str, Any] = {"pattern_rate": 0.7, "assembled_rate": 0.7, "static_pool": 0.8}
LONG: dict[str, Any] = {
    "insert_again": 0.85,
    "tested_rate": 0.7,
    "object_rate": 0.25,
    "initial_length": (10, 30),
    "delete_rate": 0.1,
}
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "patterns": {"rates": PATTERNS},
    "half_patterns": {"rates": {"pattern_rate": 0.5, "assembled_rate": 0.4, "static_pool": 0.65}},
    "long": {"rates": LONG},
    "long_half": {
        "rates": {
            "insert_again": 0.7,
            "tested_rate": 0.6,
            "object_rate": 0.35,
            "initial_length": (5, 20),
            "delete_rate": 0.15,
        }
    },
    "long_init": {"rates": {"initial_length": (5, 20)}},
    "long_edit": {"rates": {"insert_again": 0.85, "delete_rate": 0.1}},
    "long_calls": {"rates": {"tested_rate": 0.7, "object_rate": 0.25}},
    "long_patterns": {"rates": {**LONG, **PATTERNS}},
    "pool": {"rates": {"static_pool": 0.9, "dynamic_pool": 0.7}},
    "typed": {"rates": {"ill_typed": 0.02}},
    "accepted": {"rates": {"accepted_rate": 0.3}},
    "population_20": {"population": 20},
    "dynamosa": {"search": "dynamosa"},
    "mio": {"search": "mio"},
}
"""Differences from the default by name. The default is mosa, population 50, `fitgym.testcase.rates.DEFAULT`."""


def halves() -> dict[str, list[str]]:
    """Return the development modules, in two halves."""
    with (HERE / "subjects.toml").open("rb") as file:
        subjects = [one for one in tomllib.load(file)["subject"] if one["set"] != "hostile"]
    names = sorted(one["module"] + (f":{one['class']}" if "class" in one else "") for one in subjects)
    random.Random(28).shuffle(names)
    return {"tune": sorted(names[:34]), "judge": sorted(names[34:])}


def run(subject: str, seed: int, setting: str, folder: str | None) -> dict[str, Any]:
    """Return the branches covered in the end, their total, and the mean over the generations."""
    changes = dict(SETTINGS[setting])
    rates = replace(DEFAULT, **changes.pop("rates", {}))
    with Executor(locate(subject, folder)) as executor:
        engine = Engine(
            executor,
            fitness=("branch", "line"),
            seed=seed,
            budget=Budget.parse(BUDGET),
            rates=rates,
            **{"search": "mosa", "population": 50, **changes},
        )
        curve = []
        while not engine.over:
            engine.step()
            curve.append(engine.coverage()["branch"][0])
        covered, total = engine.coverage()["branch"]
    return {"covered": covered, "total": total, "area": round(statistics.fmean(curve), 2), "error": ""}


def made(
    half: str, seeds: int, only: list[str], folder: str | None, known: set[tuple[str, ...]]
) -> Iterator[dict[str, Any]]:
    """Compute and yield the missing rows."""
    for seed in range(seeds):
        for setting in only or SETTINGS:
            for subject in halves()[half]:
                key = (half, setting, subject, str(seed))
                if key in known:
                    continue
                try:
                    found = run(subject, seed, setting, folder)
                except FitgymError as error:
                    found = {"covered": 0, "total": 0, "area": 0, "error": str(error)}
                sys.stderr.write(f"{', '.join(key)}: {found['covered']} of {found['total']}\n")
                yield dict(zip(COLUMNS, (*key, *found.values()), strict=True))


def differences(rows: list[dict[str, str]], half: str) -> dict[str, Difference]:
    """Compare each setting with the default, on the runs that both have."""
    runs: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        if row["half"] == half and float(row["total"]):
            by_seed = runs.setdefault(row["setting"], {}).setdefault(row["subject"], {})
            by_seed[int(row["seed"])] = float(row["covered"]) / float(row["total"])
    return {name: difference(ours, runs["default"]) for name, ours in runs.items() if name != "default"}


def table(rows: list[dict[str, str]]) -> str:
    """Return the table as Markdown."""
    text = ["# Rates, population and search", "", f"Branches covered after {BUDGET}, in points beside the default.", ""]
    for half in ("tune", "judge"):
        found = differences(rows, half)
        if not found:
            continue
        text += [f"## On the half that {'tunes' if half == 'tune' else 'judges'}", ""]
        text += [
            "| setting | seeds | points | 95 % interval | Holm-adjusted p | verdict |",
            "|---|---:|---:|---|---:|---|",
        ]
        judged = dict(zip(found, judge(found.values()), strict=True))
        for name, one in sorted(judged.items(), key=lambda item: -item[1].evidence.value):
            seen = one.evidence
            interval = f"[{100 * seen.low:+.2f}, {100 * seen.high:+.2f}]"
            text.append(
                f"| {name} | {seen.seeds} | {100 * seen.value:+.2f} | {interval} | {_text(one.p)} | {one.verdict} |"
            )
        text.append("")
    return "\n".join(text)


def _text(p: float) -> str:
    return "" if math.isnan(p) else f"{p:.3f}"


def main() -> int:
    """Compute the missing rows, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", help="folder with the packages of requirements_subjects.txt")
    parser.add_argument("--folder", type=Path, default=HERE / "rates", help="folder of runs.csv and table.md")
    parser.add_argument("--half", choices=("tune", "judge"), default="tune", help="which modules")
    parser.add_argument("--seeds", type=int, default=2, help="number of seeds; 0 only writes the table")
    parser.add_argument("--only", nargs="+", default=[], choices=sorted(SETTINGS), metavar="SETTING", help="settings")
    given = parser.parse_args()
    file = RunsFile(given.folder / "runs.csv", COLUMNS, 4)
    file.add(made(given.half, given.seeds, given.only, given.subjects, set(file.rows())))
    file.sort(lambda key: (*key[:3], int(key[3])))
    write(table(list(file.rows().values())), given.folder / "table.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
