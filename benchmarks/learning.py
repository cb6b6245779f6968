"""Does PPO learn on randomly drawn tasks? Trains several seeds; evaluates with and without observations.

    python benchmarks/learning.py --envs fitgym/Landscapes-v0 --seeds 10
    python benchmarks/learning.py --envs fitgym/Programs-v0 --seeds 3
    python benchmarks/learning.py --table

Each policy is trained on the training split. It then plays the first test tasks once as usual and once with an
observation of zeros. A policy trained on landscapes also plays programs. Rows are appended to `learning/runs.csv`, the
training rewards by twentieths to `learning/curves.csv`. `learning/table.md` also has the ladder's rungs on the same
tasks.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from runs_file import RunsFile

from fitgym.agents.base import make as make_agent
from fitgym.learning.training import Training, train
from fitgym.run.environment import make
from fitgym.run.setting import Setting
from fitgym.study.statistics import mean_of
from fitgym.suite.text.export import write

FOLDER = Path(__file__).parent / "learning"
PPO = "ppo:n_steps=120,batch_size=120,n_epochs=8,learning_rate=0.001,gamma=0.99,trace=0.8,entropy=0.005"
LARGE = "ppo:n_steps=60,batch_size=480,n_epochs=4,learning_rate=0.001,gamma=0.99,trace=0.8,entropy=0.005"

TRAININGS: Mapping[str, tuple[str, int, int]] = {
    "fitgym/Landscapes-v0": (LARGE, 400_000, 64),
    "fitgym/ProjectBudget-v0": (PPO, 60_000, 4),
    "fitgym/Programs-easy-v0": (PPO, 40_000, 4),
    "fitgym/Programs-v0": (PPO, 60_000, 4),
}
"""The agent, its steps, and the number of parallel environments, by environment."""

TESTED: Mapping[str, tuple[str, ...]] = {
    "fitgym/Landscapes-v0": ("fitgym/Landscapes-v0", "fitgym/Programs-v0"),
    "fitgym/ProjectBudget-v0": ("fitgym/ProjectBudget-v0",),
    "fitgym/Programs-easy-v0": ("fitgym/Programs-easy-v0", "fitgym/Programs-v0"),
    "fitgym/Programs-v0": ("fitgym/Programs-v0",),
}
"""The environments in which a policy of each environment is evaluated."""

ROWS = ("env", "seed", "judged", "seen", "mean", "low", "high", "tasks", "early", "late", "actions")
CURVES = ("env", "seed", "part", "steps", "rewards")


def played(folder: str, env_id: str, tasks: int, blank: bool) -> tuple[list[float], np.ndarray[Any, Any], list[str]]:
    """Return final values on test tasks, and the frequency of each action in the first and second half."""
    env: Any = make(Setting(env=env_id, options={"split": "test"}))
    inner = env.unwrapped
    agent = make_agent(
        folder, env.action_space, action_names=inner.action_names, seed=0, reseed=True, environment=inner.environment
    )
    values, counts = [], np.zeros((2, env.action_space.n), dtype=np.int64)
    try:
        for task in range(200, 200 + tasks):
            observation, info = env.reset(seed=task, options={"task": task})
            step, done = 0, False
            while not done:
                action = int(agent.act(np.zeros_like(observation) if blank else observation, info))
                counts[int(step >= 15), action] += 1
                observation, _, terminated, truncated, info = env.step(action)
                step, done = step + 1, terminated or truncated
            values.append(float(info["goal_value"]))
    finally:
        env.close()
    return values, counts / counts.sum(axis=1, keepdims=True), list(inner.action_names)


def trained(env: str, seed: int, folder: str) -> list[dict[str, Any]]:
    """Train a policy into a folder; returns its learning curve."""
    agent, steps, envs = TRAININGS[env]
    found = train(Training.of(agent, env=env, steps=steps, envs=envs, seed=seed, output=folder))
    parts = np.array_split(np.array([(one.step, one.rewards) for one in found.episodes]), 20)
    return [
        {"env": env, "seed": seed, "part": number, "steps": int(part[-1, 0]), "rewards": f"{part[:, 1].mean():.4f}"}
        for number, part in enumerate(parts)
    ]


def measured(env: str, seed: int, tasks: int) -> None:
    """Train and evaluate one policy."""
    rows, curves = RunsFile(FOLDER / "runs.csv", ROWS, 4), RunsFile(FOLDER / "curves.csv", CURVES, 3)
    if (env, str(seed), env, "all") in rows.rows():
        return
    with tempfile.TemporaryDirectory() as folder:
        sys.stderr.write(f"{env}, seed {seed}\n")
        curves.add(trained(env, seed, folder))
        for judged in TESTED[env]:
            for blank in (True, False) if judged == env else (False,):
                values, shares, names = played(folder, judged, tasks, blank)
                mean = mean_of(values, seed=0)
                early, late = (" ".join(f"{share:.2f}" for share in half) for half in shares)
                rows.add(
                    [
                        {
                            **{"env": env, "seed": seed, "judged": judged, "seen": "nothing" if blank else "all"},
                            **{"mean": f"{mean.value:.4f}", "low": f"{mean.low:.4f}", "high": f"{mean.high:.4f}"},
                            **{"tasks": tasks, "early": early, "late": late, "actions": " ".join(names)},
                        }
                    ]
                )


def table() -> str:
    """Return the page: a row for each environment, evaluation environment and kind of observation."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for row in RunsFile(FOLDER / "runs.csv", ROWS, 4).rows().values():
        found.setdefault((row["env"], row["judged"], row["seen"]), []).append(float(row["mean"]))
    lines = [
        "# Is it learning?",
        "",
        "Mean score on the first test tasks, over training seeds, with the 95 % bootstrap interval of that mean over the",
        "seeds. Made by `python benchmarks/learning.py`; the ladders are in `../headroom/environments/ladder.md`.",
        "",
        "| trained on | judged on | sees | score | training seeds |",
        "|---|---|---|---|---|",
    ]
    for (env, judged, seen), values in sorted(found.items()):
        mean = mean_of(values, seed=0)
        shown = f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]" if len(values) > 1 else f"{mean.value:.3f}"
        lines.append(f"| {env} | {judged} | {seen} | {shown} | {len(values)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Train, evaluate and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", nargs="+", choices=list(TRAININGS), default=list(TRAININGS), metavar="ID")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=40, help="test tasks")
    parser.add_argument("--table", action="store_true", help="only rewrite the table")
    options = parser.parse_args()
    if not options.table:
        for seed in range(options.seeds):
            for env in options.envs:
                measured(env, seed, options.tasks)
                write(table(), FOLDER / "table.md")
    write(table(), FOLDER / "table.md")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
