"""Does a policy trained on landscapes help on real modules? Plays Focus-v0 with the shipped policy and simple rules.

    python benchmarks/focus_transfer.py --seeds 3
    python benchmarks/focus_transfer.py --table

Every player gets the same modules, seeds and budget of executions. Rows are appended to `learning/transfer.csv`;
`learning/transfer.md` shows the mean number of covered branches, and the difference to the best rule with its interval
over modules. An interrupted benchmark resumes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from runs_file import RunsFile

from fitgym.run.environment import agent_of, make
from fitgym.run.setting import Setting
from fitgym.study.statistics import mean_of
from fitgym.suite.text.export import write

FOLDER = Path(__file__).parent / "learning"
MODULES = ("textwrap", "shlex", "html.parser", "configparser", "difflib", "fractions", "ipaddress", "argparse")
"""Modules of the standard library with several parts; the policy has seen none of them."""

PLAYERS = ("pretrained", "blank", "random", "whole", "patient_1_first", "patient_1_promising")
"""The shipped policy, the same with observations of zeros, random actions, a constant and two rules."""

OPTIONS = {"actions": "pointers", "generations_per_step": 2}
COLUMNS = ("module", "seed", "player", "covered", "branches", "area", "decisions", "actions")


def play(env: Any, player: str, setting: Setting, seed: int) -> dict[str, Any]:
    """Play one episode; return the covered share at the end and its mean over the decisions."""
    inner = env.unwrapped
    agent = agent_of(setting, env)
    chance = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    counts, values, done = np.zeros(env.action_space.n, dtype=int), [], False
    while not done:
        if player in ("pretrained", "blank"):
            action = int(agent.act(observation if player == "pretrained" else np.zeros_like(observation), info))
        elif player == "random":
            action = int(chance.integers(env.action_space.n))
        elif player in inner.action_names:
            action = inner.action_names.index(player)
        else:
            action = inner.rules[player](observation, info, chance)
        counts[action] += 1
        observation, _, terminated, truncated, info = env.step(action)
        values.append(np.count_nonzero(inner.engine.covered("branch")))
        done = terminated or truncated
    return {
        **{"seed": seed, "player": player, "covered": values[-1], "branches": len(inner.engine.subject.branches)},
        **{"area": f"{np.mean(values):.2f}", "decisions": len(values), "actions": " ".join(map(str, counts))},
    }


def played(module: str, seed: int, players: list[str], budget: str) -> list[dict[str, Any]]:
    """Let some players play one module in turn."""
    setting = Setting.from_keywords(env="fitgym/Focus-v0", subject=module, agent="pretrained", budget=budget, **OPTIONS)
    env: Any = make(setting)
    try:
        return [{"module": module, **play(env, player, setting, seed)} for player in players]
    finally:
        env.close()


def table(rows: list[dict[str, str]]) -> str:
    """Return the page: final value and area of each player, and the difference of the policy to each other player."""
    found: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        for measure in ("covered", "area"):
            found[measure][row["player"]][row["module"]].append(float(row[measure]) / float(row["branches"]))
    modules = sorted({row["module"] for row in rows})
    seeds = len({row["seed"] for row in rows})
    lines = [
        "# A policy of landscapes on real modules",
        "",
        f'Focus-v0 with `actions="pointers"` and two generations a decision, {len(modules)} modules, {seeds} seeds. Covered',
        "share of all branches at the end, and its mean over the decisions. Differences are in points, with the 95 %",
        "bootstrap interval over modules. Made by `python benchmarks/focus_transfer.py`.",
        "",
        "| player | final | mean | pretrained minus this, final | mean |",
        "|---|---|---|---|---|",
    ]
    for player in PLAYERS:
        cells, gaps = [], []
        for measure in ("covered", "area"):
            own, policy = (
                np.array([np.mean(found[measure][name][module]) for module in modules])
                for name in (player, "pretrained")
            )
            cells.append(f"{own.mean():.3f}")
            gap = mean_of(100.0 * (policy - own), seed=0)
            gaps.append("" if player == "pretrained" else f"{gap.value:+.1f} [{gap.low:+.1f}, {gap.high:+.1f}]")
        lines.append(f"| {player} | {' | '.join([*cells, *gaps])} |")
    lines += [
        "",
        "Final share by module:",
        "",
        f"| module | {' | '.join(PLAYERS)} |",
        f"|{'---|' * (1 + len(PLAYERS))}",
    ]
    for module in modules:
        means = (np.mean(found["covered"][player][module]) for player in PLAYERS)
        lines.append(f"| {module} | {' | '.join(f'{mean:.3f}' for mean in means)} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Play, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", nargs="+", default=list(MODULES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", default="1200x")
    parser.add_argument("--jobs", type=int, default=1, help="processes that play")
    parser.add_argument("--table", action="store_true", help="only rewrite the table")
    options = parser.parse_args()
    file = RunsFile(FOLDER / "transfer.csv", COLUMNS, 3)
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        running = []
        for seed in range(0 if options.table else options.seeds):
            for module in options.modules:
                left = [player for player in PLAYERS if (module, str(seed), player) not in file.rows()]
                running += [pool.submit(played, module, seed, left, options.budget)] if left else []
        for number, one in enumerate(as_completed(running), 1):
            file.add(one.result())
            sys.stderr.write(f"{number} of {len(running)}\n")
    file.sort(lambda key: (key[0], int(key[1]), PLAYERS.index(key[2])))
    write(table(list(file.rows().values())), FOLDER / "transfer.md")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
