"""Which real faults do the suites detect, and why do they miss the others?

    python benchmarks/faults.py studies/faults.toml --goals tests coverage --budget 20000x
    python benchmarks/faults.py studies/faults.toml --only boltons --table benchmarks/faults/table.md

A list of faults names two versions of the same code (see `fitgym.study.faults`). A suite is generated for the fixed
version of each subject and then runs on the faulty version. Faults of the same release share a suite. For each missed
fault, the suite runs once more on both versions with a tracer, which gives the reason (`REASONS`).

Suites and rows are stored in `results/faults`, so an interrupted run resumes.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fitgym.errors import SubjectError
from fitgym.study.faults import Fault, cache_folder, detect, load
from fitgym.subject.source import locate

PROBE = Path(__file__).with_name("plugins") / "fault_probe.py"

REASONS = {
    "detected": "a test fails on the faulty version",
    "no suite": "no test was exported",
    "not reached": "no test executes a line that differs",
    "not infected": "a test executes such a line, and no call of the tests returns, raises or changes anything else",
    "not asserted": "a call of a test returns, raises or changes something else, and no assertion looks at it",
}


PATHS = re.compile(r"^sys\.path\.insert\((?:\n.*?^\)|.*\))\n", re.M | re.S)


def generated(fault: Fault, fixed: Path, goal: str, budget: str, seed: int, folder: Path) -> dict[str, Any]:
    """Generate a suite for the fixed version, unless it is there already, and return its record."""
    record = folder / "record.json"
    if not record.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "fitgym", "generate", fault.subject, "--path", str(fixed), "--goal", goal]
        command += ["--budget", budget, "--seed", str(seed), "--output", str(folder), "--json", str(record), "--quiet"]
        started = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
            said = (done.stderr.strip().splitlines() or [""])[-1]
        except subprocess.TimeoutExpired:
            said = "stopped after 900 s"
        found = json.loads(record.read_text("utf-8")) if record.exists() else {"problem": said}
        found["wall_s"] = round(time.monotonic() - started, 1)
        record.write_text(json.dumps(found), "utf-8")
    result: dict[str, Any] = json.loads(record.read_text("utf-8"))
    return result


def judged(fault: Fault, fixed: Path, buggy: Path, suite: Path | None) -> dict[str, Any]:
    """Run a suite on both versions of a fault and return the outcome with its reason."""
    if suite is None:
        return {"reason": "no suite"}
    text = PATHS.sub("", suite.read_text("utf-8"))  # the suite must import the faulty version from its path
    suite.with_name("judged.py").write_text(text, "utf-8")
    found = detect(text, locate(fault.subject, fixed), locate(fault.subject, buggy))
    counts = {"tests": found.tests, "failing": found.failing, "assertions": len(re.findall(r"^ +assert ", text, re.M))}
    if found.detected:
        return {"reason": "detected", **counts}
    return {**missed(fault, fixed, buggy, suite.with_name("judged.py")), **counts}


def missed(fault: Fault, fixed: Path, buggy: Path, suite: Path) -> dict[str, Any]:
    """Return why a suite misses a fault, and the tests that come nearest to it."""
    file = fault.file or os.path.relpath(locate(fault.subject, fixed).path, fixed)
    new, old = changed_lines(fixed / file, buggy / file)
    seen = [probed(suite, folder, file) for folder in (fixed, fixed, buggy)]
    if any(one is None for one in seen):
        return {"reason": "not asserted", "problem": "the suite does not run with a tracer"}
    first, again, other = ({} if one is None else one for one in seen)
    by: dict[str, list[str]] = {"not asserted": [], "not infected": []}
    for test in first:
        here, there = first[test], other.get(test, {"lines": [], "calls": None})
        if here["calls"] == again.get(test, here)["calls"] != there["calls"]:
            by["not asserted"].append(test)
        elif new & set(here["lines"]) or old & set(there["lines"]):
            by["not infected"].append(test)
    reason = next((reason for reason, tests in by.items() if tests), "not reached")
    return {"reason": reason, "by": by.get(reason, [])[:5]}


def changed_lines(fixed: Path, buggy: Path) -> tuple[set[int], set[int]]:
    """Return the numbers of the lines that only the fixed and only the faulty file have."""
    new, old = (path.read_text("utf-8").splitlines() for path in (fixed, buggy))
    changes = [
        one for one in difflib.SequenceMatcher(None, new, old, autojunk=False).get_opcodes() if one[0] != "equal"
    ]
    return (
        {line + 1 for _, start, end, _, _ in changes for line in range(start, end)},
        {line + 1 for _, _, _, start, end in changes for line in range(start, end)},
    )


def probed(suite: Path, folder: Path, file: str) -> dict[str, dict[str, Any]] | None:
    """Run a suite with the tracer; None if that fails."""
    command = [sys.executable, str(PROBE), str(suite), str(folder), file]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        result: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return None
    return result


def run(faults: Iterable[Fault], goal: str, seed: int, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Generate and judge the suites of one goal and seed; return one row for each fault."""
    rows_file = options.results / f"{goal}-{seed}.jsonl"
    rows = [json.loads(line) for line in rows_file.read_text("utf-8").splitlines()] if rows_file.exists() else []
    known = {row["id"] for row in rows}
    groups: dict[str, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(f"{fault.subject}-{fault.fixed}-{len(fault.requires)}".replace("/", "_"), []).append(fault)

    def of_group(name: str) -> list[dict[str, Any]]:
        made = []
        for fault in groups[name]:
            if fault.id in known:
                continue
            row: dict[str, Any] = {"id": fault.id, "goal": goal, "seed": seed}
            try:
                fixed, buggy = fault.folders(cache_folder())
                folder = options.results / goal / str(seed) / name
                record = generated(fault, fixed, goal, options.budget, seed, folder)
                suite = next(iter(sorted(folder.glob("test_*.py"))), None)
                row |= {"wall_s": record["wall_s"], "executions": record.get("executions")}
                row |= {"problem": record["problem"]} if "problem" in record else {}
                row |= judged(fault, fixed, buggy, suite)
            except SubjectError as problem:
                row |= {"reason": "no suite", "problem": str(problem)}
            made.append(row)
            with rows_file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(*(f"{key}={value}" for key, value in row.items()), flush=True)
        return made

    options.results.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        for made in pool.map(of_group, groups):
            rows += made
    wanted = {fault.id for group in groups.values() for fault in group}
    return [row for row in rows if row["id"] in wanted]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the counts by reason as a table, one line for each goal and seed."""
    lines = [
        f"| goal | seed | faults | {' | '.join(REASONS)} | tests | assertions |",
        "|---|---|---|" + "---|" * (len(REASONS) + 2),
    ]
    for goal, seed in dict.fromkeys((row["goal"], row["seed"]) for row in rows):
        some = [row for row in rows if (row["goal"], row["seed"]) == (goal, seed)]
        counts = Counter(row["reason"] for row in some)
        sizes = [sum(row.get(key, 0) for row in some) for key in ("tests", "assertions")]
        cells = [goal, seed, len(some), *(counts[reason] for reason in REASONS), *sizes]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", type=Path, help="the list of faults, a TOML file")
    parser.add_argument("--goals", nargs="+", default=["tests"])
    parser.add_argument("--budget", default="20000x", help="for each subject")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", default="", help="regular expression that the id of a fault must contain")
    parser.add_argument("--every", type=int, default=1, help="take every N-th fault only")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("results/faults"))
    parser.add_argument("--table", type=Path, help="file for the table of counts")
    options = parser.parse_args(arguments)
    options.results = options.results.resolve()
    faults = [fault for fault in load(options.faults).values() if re.search(options.only, fault.id)][:: options.every]
    rows = []
    for goal in options.goals:
        for seed in options.seeds:
            rows += run(faults, goal, seed, options)
    print(table(rows))
    if options.table is not None:
        options.table.write_text(table(rows) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
