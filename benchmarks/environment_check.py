#!/usr/bin/env python3
"""Check every environment with its checkers and with many steps of a random agent, on each subject of a set.

    python benchmarks/environment_check.py --install results/subjects
    python benchmarks/environment_check.py --subjects results/subjects --only semver --steps 300 --strict

README.md in this folder explains the columns.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.utils import env_checker
from remeasure import Subject, install, subjects, subjects_folder
from rich.console import Console
from rich.table import Table

from fitgym.envs import ENVIRONMENTS
from fitgym.testing import check_env_strict

WITH_STABLE_BASELINES = importlib.util.find_spec("stable_baselines3") is not None
STEPS_OF_CHECKS = 3


@dataclass
class Row:
    """The check of one environment on one subject.

    Attributes:
        passed: the checks without findings.
        steps: number of steps of the random agent.
        episodes: number of episodes that it began.
        rewards: the least and the greatest.
        findings: problems in words; empty if there are none.
    """

    environment: str
    subject: str
    passed: list[str] = field(default_factory=list)
    steps: int = 0
    episodes: int = 0
    executions: int = 0
    rewards: tuple[float, float] | None = None
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)


def check(name: str, subject: Subject, options: argparse.Namespace) -> Row:
    """Run all checks on one environment with one subject; their exceptions become findings."""
    row, started = Row(name, subject.text), time.perf_counter()
    arguments = {
        "subject": subject.text,
        "path": str(options.subjects.resolve()),
        "population": options.population,
        "generations_per_step": 1,
        "budget": f"{3 * options.steps}g",
        "reward": options.reward,
    }
    attempt(row, "made", lambda: by_hand(name, arguments, options, row))
    if options.strict:
        strict: dict[str, Any] = {"checkers": False, "seed": options.seed, "steps": STEPS_OF_CHECKS}
        attempt(row, "strict", lambda: check_env_strict(name, **strict, **arguments))
    row.seconds = round(time.perf_counter() - started, 1)
    return row


def attempt(row: Row, what: str, run: Callable[[], None]) -> None:
    """Record that a check passed, or its exception or warning."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            run()
        except Exception as problem:
            row.findings.append(f"{what}: {type(problem).__name__}: {' '.join(str(problem).split())[:300]}")
            return
    said = list(dict.fromkeys(" ".join(str(warning.message).split())[:300] for warning in warned))
    row.findings += [f"{what}: warning: {text}" for text in said]
    if not said:
        row.passed.append(what)


def by_hand(name: str, arguments: dict[str, Any], options: argparse.Namespace, row: Row) -> None:
    """Make the environment by its id, run a random agent, then both checkers; Gymnasium's closes it twice."""
    env = gymnasium.make(name, **arguments)
    try:
        attempt(row, "steps", lambda: walk(env, options, row))
        if WITH_STABLE_BASELINES:
            from stable_baselines3.common.env_checker import check_env

            attempt(row, "stable-baselines3", lambda: check_env(env.unwrapped, warn=True))
        attempt(row, "gymnasium", lambda: env_checker.check_env(env.unwrapped))
    finally:
        env.close()


def walk(env: gymnasium.Env[Any, Any], options: argparse.Namespace, row: Row) -> None:
    """Take uniform actions from a seed; when an episode ends, the next one begins.

    Raises:
        AssertionError: an observation or a reward is out of range, or the keys of `info` change.
    """
    lowest, highest = env.get_wrapper_attr("reward_range")
    env.action_space.seed(options.seed)
    observation, first = env.reset(seed=options.seed)
    row.episodes = 1
    while row.steps < options.steps:
        assert env.observation_space.contains(observation), f"the observation {observation} is not in its space"
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        row.steps += 1
        least, most = row.rewards or (math.inf, -math.inf)
        row.rewards = min(least, float(reward)), max(most, float(reward))
        assert math.isfinite(reward), f"the reward of step {row.steps} is {reward}"
        assert lowest <= reward <= highest, f"the reward of step {row.steps} is {reward}: {lowest} to {highest}"
        assert info.keys() == first.keys(), f"info of step {row.steps} has the keys {sorted(info)}"
        if terminated or truncated:
            row.executions += info["executions"]
            observation, info = env.reset()
            row.episodes += 1
    assert env.observation_space.contains(observation), f"the observation {observation} is not in its space"
    row.executions += info["executions"]


def table(rows: list[Row], options: argparse.Namespace) -> Table:
    """Return a table of the rows, and the number of rows without findings."""
    title = f"{options.steps} steps, seed {options.seed}, reward {options.reward}, population {options.population}"
    shown = Table(title=title, title_justify="left")
    for name in ("environment", "subject"):
        shown.add_column(name, no_wrap=True)
    for name in ("gym", "sb3", "strict", "steps", "episodes", "executions", "rewards", "s"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("findings", overflow="fold")
    for row in rows:
        shown.add_row(
            *(row.environment.removeprefix("fitgym/"), row.subject),
            *(verdict(row, what) for what in ("gymnasium", "stable-baselines3", "strict")),
            *(str(row.steps), str(row.episodes), str(row.executions)),
            f"{row.rewards[0]:.4g} to {row.rewards[1]:.4g}" if row.rewards else "-",
            f"{row.seconds:.1f}",
            "; ".join(row.findings),
        )
    shown.add_section()
    well = sum(not row.findings for row in rows)
    shown.add_row(f"{well} of {len(rows)} without a finding")
    return shown


def write(rows: list[Row], options: argparse.Namespace) -> None:
    """Write all rows so far, and the options."""
    settings = {key: str(value) for key, value in vars(options).items()}
    report = {"settings": settings, "rows": [asdict(row) for row in rows]}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(report, indent=2) + "\n", "utf-8")


def verdict(row: Row, what: str) -> str:
    """Return one word for a check."""
    if what in row.passed:
        return "ok"
    return "no" if any(finding.startswith(f"{what}:") for finding in row.findings) else "-"


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install the pinned packages to this folder")
    parser.add_argument(
        "--subjects", type=Path, metavar="DIR", help="folder of the installed packages (default: the --install folder)"
    )
    parser.add_argument("--set", default="core", choices=["core", "extra", "large"])
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only subjects whose name contains this part"
    )
    parser.add_argument("--environments", nargs="+", default=list(ENVIRONMENTS), metavar="ID")
    parser.add_argument("--reward", default="paper", choices=["paper", "gain"])
    parser.add_argument("--steps", type=int, default=100, help="steps of the random agent; each is one generation")
    parser.add_argument("--population", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strict", action="store_true", help="also run check_env_strict, which doubles the time")
    parser.add_argument("--json", type=Path, metavar="FILE", default=Path("results/environments/table.json"))
    options = parser.parse_args()
    options.subjects = subjects_folder(parser, options)
    unknown = [name for name in options.environments if name not in ENVIRONMENTS]
    if unknown:
        parser.error(f"there is no environment {unknown[0]} with a subject (there are: {', '.join(ENVIRONMENTS)})")
    return options


def main() -> int:
    """Return 0 without findings, 1 otherwise, 2 if no subject or environment is selected."""
    options, console = arguments(), Console(width=None if sys.stdout.isatty() else 200)
    if options.install:
        install(options.install)
    chosen = subjects(options.set, options.only)
    if not chosen:
        console.print(f"no subject has {' or '.join(options.only)} in its name")
        return 2
    if not WITH_STABLE_BASELINES:
        print("Stable-Baselines3 is not installed: its checker is left out", file=sys.stderr)
    jobs = [(name, subject) for subject in chosen for name in options.environments]
    rows: list[Row] = []
    for name, subject in jobs:
        rows.append(row := check(name, subject, options))
        said = row.findings or [f"{row.steps} steps, {row.seconds} s"]
        print(f"{len(rows)}/{len(jobs)} {name} on {subject.text}", *said, sep="\n    ", file=sys.stderr, flush=True)
        write(rows, options)  # after each check, so that an interrupted run keeps its results
    console.print(table(rows, options))
    return int(any(row.findings for row in rows))


if __name__ == "__main__":
    sys.exit(main())
