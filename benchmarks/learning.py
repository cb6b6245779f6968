"""Does PPO learn on randomly drawn tasks? Trains several seeds; evaluates with and without observations.

    python benchmarks/learning.py --envs fitgym/Landscapes-v0 --seeds 10 --policies policies
    python benchmarks/learning.py --envs fitgym/ProjectBudget-v0 --seeds 3
    python benchmarks/learning.py --table

Each policy is trained on the training split, and stays in the folder `--policies`. A policy of landscapes is also
evaluated on generated programs, without further training. Every policy plays the first test tasks, with its
observations and with observations of zeros. Constant actions, random actions, two rules and the informed policy play
the same tasks.

`learning/episodes.csv` has the score and the actions of every episode, `learning/runs.csv` the mean of each policy, and
`learning/curves.csv` the training rewards by twentieths. `learning/table.md` and `learning/phases.svg` show them. An
interrupted benchmark resumes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from runs_file import RunsFile

from fitgym.agents.base import make as make_agent
from fitgym.learning.training import Training, train
from fitgym.rendering.palette import CYCLE
from fitgym.run.environment import make
from fitgym.run.setting import Setting
from fitgym.study.figures import Drawing
from fitgym.study.statistics import mean_of
from fitgym.suite.text.export import write

FOLDER = Path(__file__).parent / "learning"
PPO = "ppo:n_steps=120,batch_size=120,n_epochs=8,learning_rate=0.001,gamma=0.99,trace=0.8,entropy=0.005"
LARGE = "ppo:n_steps=60,batch_size=480,n_epochs=4,learning_rate=0.001,gamma=0.99,trace=0.8,entropy=0.005"

SHORT = "ppo:n_steps=30,batch_size=240,n_epochs=4,learning_rate=0.001,trace=0.8,entropy=0.005"

TRAININGS: Mapping[str, tuple[str, str, int, int]] = {
    "fitgym/Landscapes-v0": ("fitgym/Landscapes-v0", LARGE, 400_000, 64),
    "fitgym/Landscapes-v0 (short)": ("fitgym/Landscapes-v0", SHORT, 80_000, 32),
    "fitgym/ProjectBudget-v0": ("fitgym/ProjectBudget-v0", PPO, 60_000, 4),
    "fitgym/Programs-easy-v0": ("fitgym/Programs-easy-v0", PPO, 40_000, 4),
    "fitgym/Programs-v0": ("fitgym/Programs-v0", PPO, 60_000, 4),
}
"""The environment, the agent, its steps, and the number of parallel environments, by name of the training."""

TESTED: Mapping[str, tuple[str, ...]] = {
    "fitgym/Landscapes-v0": ("fitgym/Landscapes-v0", "fitgym/Programs-v0"),
    "fitgym/Landscapes-v0 (short)": ("fitgym/Landscapes-v0", "fitgym/Programs-v0"),
    "fitgym/ProjectBudget-v0": ("fitgym/ProjectBudget-v0",),
    "fitgym/Programs-easy-v0": ("fitgym/Programs-easy-v0", "fitgym/Programs-v0"),
    "fitgym/Programs-v0": ("fitgym/Programs-v0",),
}
"""The environments in which the policies of each training are evaluated."""

FIRST = 200
"""The first test task."""

RULES = ("patient_1_first", "patient_1_promising")
"""The baseline rules, the best ones of the ladder of Programs-v0."""

EPISODES = ("env", "seed", "judged", "seen", "task", "score", "taken")
ROWS = ("env", "seed", "judged", "seen", "mean", "low", "high", "tasks", "early", "late", "actions")
CURVES = ("env", "seed", "part", "steps", "rewards")


class Player(NamedTuple):
    """A policy that plays.

    Attributes:
        env: the name of its training; the name of a baseline otherwise.
        seed: of its training; "" for a baseline.
        seen: the observations of the policy: "all", or "nothing" for zeros.
        folder: of the saved agent; "" for a baseline.
    """

    env: str
    seed: str
    seen: str
    folder: str = ""


def baselines(env: Any) -> Iterator[Player]:
    """Yield random actions, the constants, the rules and the informed policy of an environment, as far as it has them."""
    yield Player("random", "", "nothing")
    for name in env.action_names:
        if name != "stay":  # it never leaves a part, which is worse than random
            yield Player(f"constant {name}", "", "nothing")
    for name in getattr(env, "rules", {}):
        if name in RULES:
            yield Player(f"rule {name}", "", "all")
    if hasattr(env, "informed"):
        yield Player("informed", "", "all")


def play(env: Any, player: Player, task: int) -> dict[str, Any]:
    """Play one task, and return the row of the episode."""
    inner = env.unwrapped
    chance = np.random.default_rng(task)
    if player.folder:
        own = {"action_names": inner.action_names, "environment": inner.environment}
        agent = make_agent(player.folder, env.action_space, seed=task, reseed=True, **own)
    observation, info = env.reset(seed=task, options={"task": task})
    taken, done = [], False
    while not done:
        if player.folder:
            action = int(agent.act(observation if player.seen == "all" else np.zeros_like(observation), info))
        elif player.env == "random":
            action = int(chance.integers(env.action_space.n))
        elif player.env == "informed":
            action = inner.informed()
        else:
            kind, name = player.env.split(" ")
            action = (
                inner.action_names.index(name) if kind == "constant" else inner.rules[name](observation, info, chance)
            )
        taken.append(action)
        observation, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
    return {
        **{"env": player.env, "seed": player.seed, "seen": player.seen, "task": task},
        **{"score": f"{info['goal_value']:.4f}", "taken": "".join(map(str, taken))},
    }


def played(judged: str, task: int, players: list[Player]) -> list[dict[str, Any]]:
    """Let all players play one task in turn, so that its program is imported once."""
    env: Any = make(Setting(env=judged, options={"split": "test"}))
    try:
        return [{**play(env, player, task), "judged": judged} for player in players]
    finally:
        env.close()


def trained(env: str, seed: int, folder: str) -> list[dict[str, Any]]:
    """Train a policy into a folder; return its learning curve. `env` is the name of the training."""
    place, agent, steps, envs = TRAININGS[env]
    found = train(Training.of(agent, env=place, steps=steps, envs=envs, seed=seed, output=folder))
    parts = np.array_split(np.array([(one.step, one.rewards) for one in found.episodes]), 20)
    return [
        {"env": env, "seed": seed, "part": number, "steps": int(part[-1, 0]), "rewards": f"{part[:, 1].mean():.4f}"}
        for number, part in enumerate(parts)
    ]


def evaluate(judged: str, policies: list[Player], tasks: int, jobs: int) -> None:
    """Let all policies and baselines play the test tasks that they have not played yet."""
    file = RunsFile(FOLDER / "episodes.csv", EPISODES, 5)
    env: Any = make(Setting(env=judged, options={"split": "test"}))
    players = [*policies, *baselines(env.unwrapped)]
    names = list(env.unwrapped.action_names)
    env.close()
    done = file.rows()
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        running = []
        for task in range(FIRST, FIRST + tasks):
            left = [one for one in players if (one.env, one.seed, judged, one.seen, str(task)) not in done]
            if left:
                running.append(pool.submit(played, judged, task, left))
        for number, one in enumerate(as_completed(running), 1):
            file.add(one.result())
            sys.stderr.write(f"{judged}: {number} of {len(running)} tasks\n")
    summarise(judged, names)


def summarise(judged: str, names: list[str]) -> None:
    """Write a row for each player of an environment, over the tasks that it has played."""
    found = defaultdict(list)
    for (env, seed, where, seen, _), row in RunsFile(FOLDER / "episodes.csv", EPISODES, 5).rows().items():
        if where == judged:
            found[env, seed, seen].append(row)
    made = []
    for (env, seed, seen), rows in found.items():
        mean = mean_of([float(row["score"]) for row in rows], seed=0)
        half = len(max((row["taken"] for row in rows), key=len)) // 2
        early, late = (
            " ".join(f"{share:.2f}" for share in shares([row["taken"][part] for row in rows], len(names)))
            for part in (slice(half), slice(half, None))
        )
        made.append(
            {
                **{"env": env, "seed": seed, "judged": judged, "seen": seen, "mean": f"{mean.value:.4f}"},
                **{"low": f"{mean.low:.4f}", "high": f"{mean.high:.4f}", "tasks": len(rows)},
                **{"early": early, "late": late, "actions": " ".join(names)},
            }
        )
    RunsFile(FOLDER / "runs.csv", ROWS, 4).add(made)


def shares(taken: list[str], n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the frequency of each of n actions."""
    counts = np.bincount([int(action) for actions in taken for action in actions], minlength=n)
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = counts / max(1, counts.sum())
    return found


def scores() -> dict[tuple[str, str, str], list[dict[str, str]]]:
    """Return the rows of `runs.csv` by evaluation environment, player and kind of observation; one for each seed."""
    found = defaultdict(list)
    for row in RunsFile(FOLDER / "runs.csv", ROWS, 4).rows().values():
        found[row["judged"], row["env"], row["seen"]].append(row)
    return dict(sorted(found.items()))


def shown(values: list[float]) -> str:
    """Return the mean over seeds with its interval; only the mean for a single seed."""
    mean = mean_of(values, seed=0)
    return f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]" if len(values) > 1 else f"{mean.value:.3f}"


def table() -> str:
    """Return the page: scores of policies and baselines, the closed share of the gap, and the actions by phase."""
    found = scores()
    means = {key: [float(row["mean"]) for row in rows] for key, rows in found.items()}
    lines = [
        "# Is it learning?",
        "",
        "Mean score on the first test tasks. For policies: the mean over training seeds, with the 95 % bootstrap interval",
        "over the seeds. For baselines: the mean over tasks, with the interval over tasks. Made by",
        "`python benchmarks/learning.py`; the ladders are in `../headroom/environments/ladder.md`.",
        "",
        "| judged on | policy | sees | score | tasks | training seeds |",
        "|---|---|---|---|---|---|",
    ]
    for (judged, env, seen), rows in found.items():
        policy = f"PPO, {env}" if rows[0]["seed"] else env
        one = rows[0]
        score = (
            shown(means[judged, env, seen])
            if one["seed"]
            else f"{float(one['mean']):.3f} [{float(one['low']):.3f}, {float(one['high']):.3f}]"
        )
        lines.append(
            f"| {judged} | {policy} | {seen} | {score} | {one['tasks']} | {len(rows) if one['seed'] else ''} |"
        )
    lines += [
        "",
        "## The share of the gap that is closed",
        "",
        "The gap is the difference between the informed policy and the constant that is best on these tasks. The second",
        "choice favours the constant, because an agent would have to choose it on training tasks.",
        "",
        "Intervals are over training seeds, except that of the difference to the constant, which is over tasks.",
        "",
        "| judged on | best constant | best rule | informed | PPO | minus constant | closes | with observations of zeros |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for judged in dict.fromkeys(judged for judged, env, _ in found if env == "informed"):
        constants = {
            env: values[0]
            for (where, env, _), values in means.items()
            if where == judged and env.startswith("constant")
        }
        rules = [values[0] for (where, env, _), values in means.items() if where == judged and env.startswith("rule")]
        best = max(constants, key=constants.__getitem__)
        low, high = constants[best], means[judged, "informed", "all"][0]
        for (where, env, seen), rows in found.items():
            if where != judged or seen != "all" or not rows[0]["seed"]:
                continue
            closed, blank = (
                shown([(value - low) / (high - low) for value in means.get((judged, env, kind), [low])])
                for kind in ("all", "nothing")
            )
            lines.append(
                f"| {judged} | {low:.3f} ({best.removeprefix('constant ')}) | {max(rules, default=0.0):.3f} | {high:.3f} "
                f"| {env}: {shown(means[where, env, seen])} | {difference(judged, env, best)} | {closed} | {blank} |"
            )
    lines += [
        "",
        "## Actions by phase",
        "",
        "The frequency of each action in the first and in the second half of the decisions.",
    ]
    for (judged, env, seen), rows in found.items():
        if seen != "all" or not rows[0]["seed"]:
            continue
        names = rows[0]["actions"].split()
        lines += [
            "",
            f"PPO trained on {env}, judged on {judged}:",
            "",
            f"| half | {' | '.join(names)} |",
            f"|{'---|' * (1 + len(names))}",
        ]
        for half in ("early", "late"):
            mean = np.mean([[float(share) for share in row[half].split()] for row in rows], axis=0)
            lines.append(f"| {half} | {' | '.join(f'{share:.2f}' for share in mean)} |")
    return "\n".join(lines) + "\n"


def difference(judged: str, env: str, constant: str) -> str:
    """Return the mean difference between the policies of a training and a constant, with the interval over tasks."""
    found: dict[str, dict[str, list[float]]] = {env: defaultdict(list), constant: defaultdict(list)}
    for (player, _, where, seen, task), row in RunsFile(FOLDER / "episodes.csv", EPISODES, 5).rows().items():
        if where == judged and (player == constant or (player == env and seen == "all")):
            found[player][task].append(float(row["score"]))
    gaps = [
        np.mean(values) - np.mean(found[constant][task]) for task, values in found[env].items() if found[constant][task]
    ]
    return shown([float(gap) for gap in gaps]) if gaps else ""


def phases(judged: str = "fitgym/Programs-v0", env: str = "fitgym/Landscapes-v0") -> Drawing:
    """Return the figure of the frequency of each action by decision: of the policies, and of the informed one."""
    names = scores()[judged, env, "all"][0]["actions"].split()
    taken = defaultdict(list)
    for (player, _, where, seen, _), row in RunsFile(FOLDER / "episodes.csv", EPISODES, 5).rows().items():
        if where == judged and seen == "all":
            taken[player].append(row["taken"])

    def draw(axes: Any) -> None:
        for axis, (player, title) in zip(axes, ((env, "PPO"), ("informed", "informed policy")), strict=True):
            length = max(map(len, taken[player]))
            parts = [shares([one[step : step + 1] for one in taken[player]], len(names)) for step in range(length)]
            axis.stackplot(range(1, length + 1), np.transpose(parts), labels=names, colors=CYCLE)
            axis.set(title=title, ylabel="frequency", ylim=(0, 1), xlim=(1, length))
        axes[-1].set_xlabel("decision")
        axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)

    return Drawing(draw, 14, 2)


def curves() -> Drawing:
    """Return the figure of the training rewards, with the interval over the seeds."""
    found: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for (env, _, part), row in RunsFile(FOLDER / "curves.csv", CURVES, 3).rows().items():
        found[env][int(part)].append((float(row["steps"]), float(row["rewards"])))

    def draw(axis: Any) -> None:
        for color, (env, parts) in zip(CYCLE, found.items(), strict=False):
            ends = max(steps for points in parts.values() for steps, _ in points)
            x = [np.mean([steps for steps, _ in points]) / ends for points in parts.values()]
            means = [mean_of([rewards for _, rewards in points], seed=0) for points in parts.values()]
            label = f"{env.removeprefix('fitgym/')}, {ends:,.0f} steps"
            axis.plot(x, [mean.value for mean in means], color=color, label=label)
            axis.fill_between(
                x, [mean.low for mean in means], [mean.high for mean in means], color=color, alpha=0.25, lw=0
            )
        axis.set(xlabel="share of the training", ylabel="sum of rewards")
        axis.legend(frameon=False)

    return Drawing(draw, 8)


def publish() -> None:
    """Sort the files, and write the page and the figures."""
    for name, columns, keys in (("episodes", EPISODES, 5), ("runs", ROWS, 4), ("curves", CURVES, 3)):
        RunsFile(FOLDER / f"{name}.csv", columns, keys).sort(
            lambda key: [one.zfill(9) if one.isdecimal() else one for one in key]
        )
    write(table(), FOLDER / "table.md")
    write(phases().svg(), FOLDER / "phases.svg")
    write(curves().svg(), FOLDER / "curves.svg")


def main() -> int:
    """Train, evaluate and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", nargs="+", choices=list(TRAININGS), default=list(TRAININGS), metavar="TRAINING")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=40, help="test tasks")
    parser.add_argument("--judged", nargs="+", metavar="ID", help="evaluate only in these environments")
    parser.add_argument("--jobs", type=int, default=1, help="processes that play")
    parser.add_argument("--policies", type=Path, default=FOLDER / "policies", help="folder of the trained policies")
    parser.add_argument("--table", action="store_true", help="only rewrite the table and the figures")
    options = parser.parse_args()
    if not options.table:
        policies: dict[str, list[Player]] = defaultdict(list)
        for env in options.envs:
            for seed in range(options.seeds):
                folder = options.policies / f"{env.removeprefix('fitgym/')}-{seed}"
                if not (folder / "bundle.json").exists():
                    sys.stderr.write(f"{env}, seed {seed}\n")
                    RunsFile(FOLDER / "curves.csv", CURVES, 3).add(trained(env, seed, str(folder)))
                for judged in TESTED[env]:
                    policies[judged] += [Player(env, str(seed), seen, str(folder)) for seen in ("all", "nothing")]
        for judged in options.judged or list(policies):
            players = policies[judged]
            evaluate(judged, players, options.tasks, options.jobs)
    publish()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
