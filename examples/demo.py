#!/usr/bin/env python3
"""A demonstration in about half a minute: tests for a module of the standard library, and their measured coverage.

A search writes a pytest suite. The suite then runs in a fresh interpreter without fitgym, where coverage.py measures
it. The demonstration prints one of the tests, writes a page that plays the search step by step, and suggests what to
try next.

    python examples/demo.py [SUBJECT] [BUDGET] [SEED]
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

import fitgym
from fitgym.commands.live import LiveView
from fitgym.errors import InputError
from fitgym.player.page import write_page
from fitgym.run.replay import replay
from fitgym.run.setting import GENERATED_GOAL

# A module that neither pytest nor coverage.py imports, so that its first import is measured too.
SUBJECT, BUDGET, SEED = "html.parser", "3000x", 0
OUTPUT = Path("demo_output")

Counts = tuple[int, int]
"""Covered and total."""


@dataclass(frozen=True)
class Coverage:
    """The counts of coverage.py for the file of the subject."""

    lines: Counts
    branches: Counts


def coverage(subject: str, *command: str) -> tuple[Coverage, subprocess.CompletedProcess[str]]:
    """Run Python under coverage.py in a fresh interpreter; return its coverage and how it ended."""
    spec = importlib.util.find_spec(subject.partition(":")[0])
    assert spec is not None and spec.origin is not None
    data, report = OUTPUT / ".coverage", OUTPUT / "coverage.json"

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "coverage", *arguments],
            cwd=OUTPUT,
            env=os.environ | {"COVERAGE_RCFILE": os.devnull, "COVERAGE_FILE": data.name},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    done = run("run", "--branch", f"--include={spec.origin}", *command)
    run("json", "-o", report.name)
    totals = json.loads(report.read_text("utf-8"))["totals"]
    data.unlink()
    report.unlink()
    lines = totals["covered_lines"], totals["num_statements"]
    branches = totals["covered_branches"], totals["num_branches"]
    return Coverage(lines, branches), done


def results(imported: Coverage, suite: Coverage, record: dict[str, Any]) -> Table:
    """The coverage of the suite, and of a program that only imports the subject."""
    table = Table(pad_edge=False, box=None, padding=(0, 3, 0, 0))
    for heading in ("", "import alone", "with the generated tests"):
        table.add_column(heading, justify="right" if heading else "left")

    def share(counts: Counts) -> str:
        return f"{counts[0]} of {counts[1]} ({counts[0] / max(1, counts[1]):.0%})"

    table.add_row("lines", share(imported.lines), f"[bold]{share(suite.lines)}")
    table.add_row("branches", share(imported.branches), f"[bold]{share(suite.branches)}")
    mutants = record["mutants"]
    killed = share((mutants["killed"], mutants["total"])) if mutants else "not measured: no time left"
    table.add_row("mutants killed", "0", f"[bold]{killed}")
    return table


def example(source: str) -> str:
    """Return a test of the suite to print: the longest of those with short lines and at most twelve of them.

    Tests that check a change come before tests that check that nothing changed.
    """
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    lines = source.splitlines()
    tests = [node for node in functions if node.name.startswith("test_")]
    texts = {
        "\n".join(lines[min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1 : node.end_lineno]): node
        for node in tests
    }
    short = [one for one in texts if one.count("\n") < 12 and max(map(len, one.splitlines())) <= 72]
    telling = [one for one in short if "_keeps_" not in texts[one].name]
    return max(telling or short or texts, key=lambda text: text.count("\n"))


def main() -> int:
    """Return 0 if the suite passes and its coverage matches the record, 1 otherwise, 2 for an unusable subject."""
    subject, budget, seed = (*sys.argv[1:], *(SUBJECT, BUDGET, str(SEED))[len(sys.argv) - 1 :])[:3]
    console = Console(highlight=False, soft_wrap=True)
    for old in OUTPUT.glob("test_*.py"):  # a run that adds to existing tests cannot be repeated from its record
        old.unlink()
    console.print(f"[bold]1. A search writes tests for {subject}[/bold] (budget {budget}, seed {seed})\n")
    try:
        with LiveView(subject, GENERATED_GOAL, "default") as view:
            run = fitgym.generate(
                subject, budget=budget, seed=int(seed), output=OUTPUT, json=OUTPUT / "record.json", progress=view
            )
    except InputError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 130
    if run.suite_path is None or run.interrupted:
        print(f"demo: there is no finished suite for {subject}: {run.summary()}", file=sys.stderr)
        return 130 if run.interrupted else 2

    (OUTPUT / "only_import.py").write_text(f"import {subject.partition(':')[0]}\n", "utf-8")
    imported, _ = coverage(subject, "only_import.py")
    suite, done = coverage(subject, "-m", "pytest", "-q", "-p", "no:cacheprovider", run.suite_path.name)
    verdict = (done.stdout.strip().splitlines() or ["nothing was run"])[-1]
    console.print(
        f"\n[bold]2. What the {run.record['tests']} tests are worth[/bold], in a fresh interpreter without fitgym\n"
    )
    console.print(results(imported, suite, run.record))
    console.print(f"\npytest says: {verdict}", style="dim")
    console.print("A mutant is a small mistake put into the code. A test kills it by failing.", style="dim")

    console.print("\n[bold]3. One of the tests[/bold]\n")
    console.print(Syntax(example(run.source), "python", theme="ansi_dark", background_color="default"))

    console.print("\n[bold]4. Watch the search[/bold]\n")
    repeated = replay(run.record, watch=True)
    page = OUTPUT / "replay.html"
    if repeated.episode is not None:
        write_page(repeated.episode, page)
    console.print(f"Open {page} in a browser. It plays the {repeated.steps} steps of the search:")
    console.print("the lines that light up, the test that each step found, and what guided the search.")

    console.print("\n[bold]5. What next?[/bold]\n")
    for command, what in (
        (f"less {run.suite_path}", "the whole suite"),
        (f"fitgym play {subject}", "choose the fitness functions yourself, against agents"),
        ("fitgym generate --budget 60s", "tests for your project, run in its root folder"),
        ("jupyter lab notebooks", "lessons: how the search works, how agents learn"),
    ):
        console.print(f"  {command:<38} [dim]{what}[/dim]")

    recorded = run.record["measured"]["branches"]
    differences = list(repeated.differences)
    if (recorded["covered"], recorded["total"]) != suite.branches:
        differences.append(f"the record says {recorded['covered']} of {recorded['total']} branches")
    if differences:
        console.print(f"\n[red]The record is not confirmed[/red]: {'; '.join(differences)}")
        return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
