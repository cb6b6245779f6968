#!/usr/bin/env python3
"""Check every agent in every environment whose actions it supports, with the commands, twice each.

    python benchmarks/agent_check.py
    python benchmarks/agent_check.py --agents ucb pretrained --envs Toy-v0 ExceptionDiscovery-v0 --subject textwrap

README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fitgym.agents._deep import Deep
from fitgym.agents.base import agents, kind
from fitgym.envs import REGISTERED
from fitgym.run.environment import has_subject, make
from fitgym.run.setting import Setting

TRAINING_STEPS = "32"

SMALL = ("--budget", "24g", "--population", "6")
"""Flags for short runs on a subject."""


@dataclass
class Row:
    """The check of one agent in one environment.

    Attributes:
        passed: the steps that succeeded.
        decisions: number of decisions in the run.
        refused: why the agent cannot act there, "" if it can.
        findings: failures; empty if there are none.
    """

    agent: str
    environment: str
    passed: list[str] = field(default_factory=list)
    decisions: int = 0
    refused: str = ""
    findings: list[str] = field(default_factory=list)


def command(*arguments: str, hash_seed: str = "0") -> subprocess.CompletedProcess[str]:
    """Run fitgym's command line with a given hash seed."""
    return subprocess.run(
        [sys.executable, "-m", "fitgym", *arguments],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
    )


def check(agent: str, env: str, subject: str) -> Row:
    """Check an agent in an environment: train it if necessary, evaluate it twice, validate, generate a suite."""
    row = Row(agent, env)
    where = ["--env", env]
    small = [*SMALL, "--subjects", f"{subject},"] if has_subject(env) else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = agent
        if issubclass(kind(agent), Deep):
            text = str(folder / "policy")
            train = ["train", agent, *where, *small, "--steps", TRAINING_STEPS, "--output", text, "-q"]
            if not did(row, "trained", command(*train)):
                return row
        runs = []
        for seed in ("1", "2"):
            records = folder / f"records-{seed}.jsonl"
            evaluate = ["evaluate", text, *where, *small, "--seeds", "1", "--records", str(records)]
            if not did(row, f"run {seed}", command(*evaluate, hash_seed=seed)):
                return row
            runs.append(json.loads(records.read_text("utf-8")))
        compared(row, *runs)
        if did(row, "validated", command("validate", str(folder / "records-1.jsonl"))) and has_subject(env):
            record = folder / "record.json"
            generate = ["generate", subject, *where, *SMALL, "--agent", text, "--seed", "3", "--json", str(record)]
            suite = folder / "suite"
            if did(row, "generated", command(*generate, "--output", str(suite))):
                # A short run may find no test case that its goal keeps; then it writes no suite.
                written = ["--suite", str(suite)] if suite.exists() else []
                did(row, "replayed", command("replay", str(record), *written))
    return row


def compared(row: Row, ours: dict[str, object], theirs: dict[str, object]) -> None:
    """Record the first difference between two runs with the same seed."""
    first, second = ours["actions"], theirs["actions"]
    assert isinstance(first, list) and isinstance(second, list), "actions of a record are a list"
    row.decisions = len(first)
    if ours != theirs:
        pairs = enumerate(zip(first, second, strict=False))
        step = next((number for number, (one, other) in pairs if one != other), min(len(first), len(second)))
        row.findings.append(f"the two runs differ from decision {step} on")


def did(row: Row, what: str, done: subprocess.CompletedProcess[str]) -> bool:
    """Record whether a process succeeded."""
    if done.returncode == 0:
        row.passed.append(what)
        return True
    said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
    if row.agent == "pretrained" and "has no policy for these" in said:
        row.refused = said.partition(": ")[2]
        return False
    row.findings.append(f"{what}: exit code {done.returncode}: {said}")
    return False


def able(agent: str, env: str) -> bool:
    """Return whether the agent supports the action space of the environment."""
    made = make(Setting(env=env))
    made.close()
    return isinstance(made.action_space, agents().load(agent.partition(":")[0]).spaces)


def show(rows: list[Row]) -> None:
    """The table."""
    table = Table("agent", "environment", "passed", "decisions", "findings")
    for row in rows:
        findings = "\n".join(row.findings) or row.refused
        table.add_row(row.agent, row.environment, ", ".join(row.passed), str(row.decisions), findings)
    well = sum(not row.findings for row in rows)
    Console(width=160).print(table, f"{well} of {len(rows)} without a finding")


def main() -> int:
    """Run the checks, print them and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", default=agents().names(), metavar="NAME")
    parser.add_argument("--envs", nargs="+", default=list(REGISTERED), metavar="ID")
    parser.add_argument("--subject", default="colorsys")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pairs = [(agent, env) for agent in options.agents for env in options.envs if able(agent, env)]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = []
        for row in pool.map(lambda pair: check(*pair, options.subject), pairs):
            rows.append(row)
            sys.stderr.write(f"{row.agent} in {row.environment}: {'; '.join(row.findings) or row.refused or 'ok'}\n")
    show(rows)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", "utf-8")
    return int(any(row.findings for row in rows))


if __name__ == "__main__":
    sys.exit(main())
