#!/usr/bin/env python3
"""Two ways to look for exceptions in a module of the standard library, at the same budget, side by side.

On the left UCB chooses, every three generations, which fitness functions guide the search. On the right the goal's own
fitness function, the count of exceptions, guides it alone. Both suites are then run with pytest and measured with
coverage.py, apart from fitgym, and the numbers are put beside those of the record.

    python examples/demo.py [SUBJECT] [BUDGET] [SEED]
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import fitgym
from fitgym.commands.live import LiveView
from fitgym.errors import InputError

# A few hundred branches and many ways to fail. UCB tries each of its 64 combinations once before it chooses, which takes
# some 12,000 executions.
SUBJECT, BUDGET, SEED = "ipaddress", "20000x", 0
AGENTS = {"ucb": "UCB chooses", "fixed:exception": "exception count alone"}
OUTPUT = Path("demo_output")
SHOWN = 6  # exceptions that only one of them found
KINDS = ("declared", "explicit", "implicit")


@dataclass(frozen=True)
class Outcome:
    """One run and what came out when its suite was run again.

    Attributes:
        record: the run record.
        suite: the exported file.
        verdict: pytest's last line, without the time.
        passed: pytest's exit code was 0.
        branches: covered and total, as coverage.py counts them for the exported file.
    """

    record: dict[str, Any]
    suite: Path
    verdict: str
    passed: bool
    branches: tuple[int, int]


def attempt(subject: str, agent: str, budget: str, seed: int) -> Outcome:
    """Generate a suite with one agent, run it and measure it."""
    folder = OUTPUT / agent.replace(":", "_")
    with LiveView(subject, "exceptions", agent) as view:
        run = fitgym.generate(
            subject,
            goal="exceptions",
            agent=agent,
            budget=budget,
            seed=seed,
            output=folder,
            json=folder / "record.json",
            progress=view,
        )
    if run.interrupted:
        raise KeyboardInterrupt
    if run.suite_path is None:
        raise SystemExit(f"no suite for {subject} with {agent}: {run.summary()}")
    verdict, passed = run_pytest(run.suite_path)
    return Outcome(run.record, run.suite_path, verdict, passed, measure(subject, run.suite_path))


def run_pytest(suite: Path) -> tuple[str, bool]:
    """Run the suite as anyone would; pytest's verdict and whether all passed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", suite.name]
    done = subprocess.run(command, cwd=suite.parent, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    verdict = (done.stdout.strip().splitlines() or ["nothing was run"])[-1]
    return verdict.rpartition(" in ")[0] or verdict, done.returncode == 0  # without the time


def measure(subject: str, suite: Path) -> tuple[int, int]:
    """Branches of the subject's file that the suite covers, and all of them, by coverage.py."""
    spec = importlib.util.find_spec(subject.partition(":")[0])
    assert spec is not None and spec.origin is not None
    data, report = suite.parent / ".coverage", suite.parent / "coverage.json"
    coverage = [sys.executable, "-m", "coverage"]
    measured = ["run", "--branch", f"--include={spec.origin}", f"--data-file={data.name}"]
    written = ["json", f"--data-file={data.name}", "-o", report.name]
    environment = os.environ | {"COVERAGE_RCFILE": os.devnull}
    for command in ([*measured, "-m", "pytest", "-q", "-p", "no:cacheprovider", suite.name], written):
        subprocess.run([*coverage, *command], cwd=suite.parent, env=environment, capture_output=True, check=False)
    totals = json.loads(report.read_text("utf-8"))["totals"]
    data.unlink()
    report.unlink()
    return totals["covered_branches"], totals["num_branches"]


def side_by_side(outcomes: dict[str, Outcome]) -> Table:
    """What both reached, one column each."""
    table = Table(title="What they reached", title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("", no_wrap=True)
    for agent in outcomes:
        table.add_column(f"{AGENTS[agent]}\n[dim]--agent {agent}[/dim]", justify="right")

    def share(covered: int, total: int) -> str:
        return f"{covered}/{total} ({covered / max(total, 1):.1%})"

    each = list(outcomes.values())
    table.add_row("[bold]exceptions", *[f"[bold]{len(o.record['exceptions'])}" for o in each])
    kinds = {kind: sum(e["kind"] == kind for o in each for e in o.record["exceptions"]) for kind in KINDS}
    for kind in (kind for kind, count in kinds.items() if count):
        table.add_row(f"  {kind}", *[str(sum(e["kind"] == kind for e in o.record["exceptions"])) for o in each])
    table.add_row("tests, statements", *[f"{o.record['tests']}, {o.record['statements']}" for o in each])
    table.add_row("pytest", *[o.verdict for o in each])
    table.add_row("branches, recorded", *[share(*recorded(o)) for o in each])
    table.add_row("branches, measured", *[share(*o.branches) for o in each])
    table.add_row("decisions, actions", *[f"{o.record['steps']}, {len(set(o.record['actions']))}" for o in each])
    table.add_row("generations", *[str(o.record["generations"]) for o in each])
    table.add_row("seconds", *[f"{o.record['seconds']['search'] + o.record['seconds']['finish']:.1f}" for o in each])
    return table


def main() -> int:
    """0 if both suites pass and coverage is what was recorded, 1 otherwise, 2 for a subject that cannot be used."""
    subject, budget, seed = (*sys.argv[1:], *(SUBJECT, BUDGET, str(SEED))[len(sys.argv) - 1 :])[:3]
    console = Console()
    console.print(f"[bold]{subject}[/bold]: find many distinct exceptions, budget {budget} each, seed {seed}.")
    console.print("● marks the fitness functions that guide the search at the moment.\n", style="dim")
    try:
        outcomes = {agent: attempt(subject, agent, budget, int(seed)) for agent in AGENTS}
    except InputError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("demo: interrupted", file=sys.stderr)
        return 130
    console.print()
    console.print(side_by_side(outcomes))
    console.print("branches of the exported suite, by coverage.py: as recorded, and measured again\n", style="dim")
    only = {agent: found(outcomes[agent]) for agent in AGENTS}
    for agent, other in zip(AGENTS, reversed(AGENTS), strict=True):
        names = sorted(only[agent] - only[other])
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            console.print(f"[bold]only {AGENTS[agent]}[/bold]: {', '.join(names[:SHOWN])}{more}", highlight=False)
    console.print("\nThe suites, to read:")
    for outcome in outcomes.values():
        console.print(f"  {outcome.suite}", highlight=False)
    summary = {
        agent: {"record": o.record, "pytest": o.verdict, "branches": o.branches} for agent, o in outcomes.items()
    }
    (OUTPUT / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", "utf-8")
    honest = all(recorded(o) == o.branches for o in outcomes.values())
    if not honest:
        console.print("[red]coverage.py disagrees with a record[/red]")
    return 0 if honest and all(o.passed for o in outcomes.values()) else 1


def recorded(outcome: Outcome) -> tuple[int, int]:
    """The branches of the record, covered and total."""
    branches = outcome.record["measured"]["branches"]
    return branches["covered"], branches["total"]


def found(outcome: Outcome) -> set[str]:
    """The exceptions of a run, as text."""
    return {f"{e['type']} in {e['function']}" for e in outcome.record["exceptions"]}


if __name__ == "__main__":
    sys.exit(main())
