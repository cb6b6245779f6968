#!/usr/bin/env python3
"""Let every agent act in every environment, from the command line and from Python, and replay what it did.

    python benchmarks/agent_check.py
    python benchmarks/agent_check.py --agents ucb pretrained --goals exceptions --subject textwrap --jobs 2

What the columns mean is in README.md of this folder.
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
from fitgym.envs import ENVIRONMENTS, WITHOUT_SUBJECT
from fitgym.envs.fitness_selection import GOALS

FORMULAS = {identifier.partition("/")[2]: identifier for identifier in WITHOUT_SUBJECT}
"""The environments without a subject, by their short names."""

TRAINING_STEPS = 32

# One run in a process of its own: what was chosen and what came of it.
RUN = """
import json, sys
import gymnasium, fitgym.envs
from fitgym.agents.base import make, trained
from fitgym.evaluation import play
agent, arguments = sys.argv[1], json.loads(sys.argv[2])
env = gymnasium.make(arguments.pop("id"), **arguments)
chosen, rewards = [], []
class Noting(gymnasium.Wrapper):
    def step(self, action):
        seen = self.env.step(action)
        chosen.append(int(action))
        rewards.append(float(seen[1]))
        return seen
names = getattr(env.unwrapped, "action_names", None)
play(trained(make(agent, env.action_space, action_names=names, seed=3)), Noting(env), seed=3)
env.close()
print(json.dumps([chosen, rewards]))
"""


@dataclass
class Row:
    """One agent in one environment.

    Attributes:
        passed: what was done and came out as it should.
        decisions: of the run in Python.
        refused: why the agent cannot act there, "" if it can.
        findings: what is not as it should be; empty if all is well.
    """

    agent: str
    environment: str
    passed: list[str] = field(default_factory=list)
    decisions: int = 0
    refused: str = ""
    findings: list[str] = field(default_factory=list)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line of fitgym."""
    return subprocess.run([sys.executable, "-m", "fitgym", *arguments], capture_output=True, text=True, timeout=600)


def check(agent: str, goal: str, options: argparse.Namespace) -> Row:
    """An agent in the environment of a goal, or in one without a subject."""
    row = Row(agent, goal)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = agent
        if issubclass(kind(agent), Deep):
            text = str(folder / "policy")
            if not (
                trained_in_python(agent, FORMULAS[goal], text, row)
                if goal in FORMULAS
                else trained(agent, goal, text, options, row)
            ):
                return row
        if goal in FORMULAS:
            in_python(text, {"id": FORMULAS[goal]}, row)
        elif from_the_command_line(text, goal, folder, options, row):
            (made,) = [made for made, its_goal in ENVIRONMENTS.items() if its_goal == goal]
            arguments = {"id": made, "subject": options.subject, "budget": "24g", "features": "full-v1"}
            in_python(text, {**arguments, "population": 6}, row)
    return row


def trained(agent: str, goal: str, folder: str, options: argparse.Namespace, row: Row) -> bool:
    """Train a little, so that there is something to use."""
    arguments = ["--subjects", f"{options.subject},", "--goal", goal, "--steps", str(TRAINING_STEPS), "--budget", "12g"]
    return did(row, "trained", command("train", agent, *arguments, "--population", "6", "--output", folder, "-q"))


def trained_in_python(agent: str, environment: str, folder: str, row: Row) -> bool:
    """The same without a subject, which the command line has no need for."""
    code = (
        "import sys, gymnasium, fitgym.envs; from fitgym.agents.base import make; env = gymnasium.make(sys.argv[2]); "
        "names = env.unwrapped.action_names; "
        f"make(sys.argv[1], env.action_space, action_names=names).learn(env, {TRAINING_STEPS}).save(sys.argv[3])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, agent, environment, folder], capture_output=True, text=True, timeout=600
    )
    return did(row, "trained", done)


def from_the_command_line(agent: str, goal: str, folder: Path, options: argparse.Namespace, row: Row) -> bool:
    """Generate a suite, and replay the run from its record."""
    record = folder / "record.json"
    arguments = ["--goal", goal, "--agent", agent, "--budget", "12g", "--seed", "3", "--json", str(record)]
    done = command("generate", options.subject, *arguments, "--output", str(folder / "suite"))
    return did(row, "generated", done) and did(
        row, "replayed", command("replay", str(record), "--suite", str(folder / "suite"))
    )


def in_python(agent: str, arguments: dict[str, object], row: Row) -> None:
    """The same run in two processes with different hash seeds."""
    found = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", RUN, agent, json.dumps(arguments)],
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        if not did(row, f"run {seed}", done):
            return
        found.append(json.loads(done.stdout))
    row.decisions = len(found[0][0])
    if found[0] != found[1]:
        ours, theirs = (list(zip(*run, strict=True)) for run in found)
        first = next(i for i in range(1 + min(len(ours), len(theirs))) if ours[: i + 1] != theirs[: i + 1])
        row.findings.append(f"the two runs differ from decision {first} on")


def did(row: Row, what: str, done: subprocess.CompletedProcess[str]) -> bool:
    """Note whether a process has ended well."""
    if done.returncode == 0:
        row.passed.append(what)
        return True
    said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
    if row.agent == "pretrained" and "has no policy for these" in said:
        row.refused = said.partition(": ")[2]
        return False
    row.findings.append(f"{what}: exit code {done.returncode}: {said}")
    return False


def show(rows: list[Row]) -> None:
    """The table."""
    table = Table("agent", "environment", "passed", "decisions", "findings")
    for row in rows:
        table.add_row(
            row.agent,
            row.environment,
            ", ".join(row.passed),
            str(row.decisions),
            "\n".join(row.findings) or row.refused,
        )
    well = sum(not row.findings for row in rows)
    Console(width=160).print(table, f"{well} of {len(rows)} without a finding")


def main() -> int:
    """Check, show, and write down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", default=agents().names(), metavar="NAME")
    parser.add_argument("--goals", nargs="+", default=[*GOALS.names(), *FORMULAS], metavar="NAME")
    parser.add_argument("--subject", default="colorsys")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pairs = [(agent, goal) for agent in options.agents for goal in options.goals]
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = []
        for row in pool.map(lambda pair: check(*pair, options), pairs):
            rows.append(row)
            sys.stderr.write(f"{row.agent} in {row.environment}: {'; '.join(row.findings) or row.refused or 'ok'}\n")
    show(rows)
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", "utf-8")
    return int(any(row.findings for row in rows))


if __name__ == "__main__":
    sys.exit(main())
