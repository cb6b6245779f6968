#!/usr/bin/env python3
"""What does training on a Ray cluster cost, and how many environments should share a learner?

    python benchmarks/rollouts.py                     # about five minutes on two idle cores
    python benchmarks/rollouts.py --only waiting      # one part again; without a name it only writes the tables

It measures a step through Ray and through `SubprocVecEnv`, the decisions, memory and bytes of an actor on
`fitgym/Programs-v0`, and how many decisions per second the learner can process. The figures are written to
`rollouts/figures.json`, the tables to `rollouts/table.md`. `--only` measures some parts again.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from learning import LARGE, PPO
from speed import machine
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv

from fitgym.agents.base import make as make_agent
from fitgym.envs.programs import ProgramOptions
from fitgym.learning.remote_env import RemoteEnv
from fitgym.learning.rollouts import Rollouts
from fitgym.run.environment import make
from fitgym.run.setting import Setting
from fitgym.suite.text.export import write

FOLDER = Path(__file__).parent / "rollouts"
TOY, PROGRAMS = "fitgym/Toy-v0", "fitgym/Programs-v0"
SIDE_BY_SIDE = (1, 2, 4, 8)
SHARED = (1, 2, 10, 25, 50, 100, 200, 500, 1000)
AT_A_TIME = 2
WAITING = (2, 10, 25, 50)
ROUNDS = 4
REPEATS = 5
LENGTH = 30
ROUND = ProgramOptions().repeat
NAMES = ("batches of 120", "batches of 480")
PARTS = ("transport", "sizes", "actors", "waiting", "learner")
PREDICTED = ("one training", "all trainings", "works")


class Watched(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Reports the resources of an environment's process and its children."""

    @property
    def usage(self) -> dict[str, float]:
        """Return proportional memory in MB, and processor time in seconds."""
        every = family(os.getpid())
        return {"memory_mb": sum(map(memory_mb, every)), "cpu_s": sum(map(cpu_s, every))}


def family(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [one for child in (task / "children").read_text().split() for one in family(int(child))]
    return found


def memory_mb(pid: int) -> float:
    """Return the proportional memory of a process, which counts pages shared by several processes once."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def cpu_s(pid: int) -> float:
    """Return the processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def watched(env: str) -> Watched:
    """Return an environment with this id."""
    return Watched(make(Setting(env=env)))


def sent() -> int:
    """Return the bytes sent over the loopback interface so far."""
    line = next(line for line in Path("/proc/net/dev").read_text().splitlines() if line.strip().startswith("lo:"))
    return int(line.split()[9])


def stepped(env: VecEnv, steps: int, seed: int) -> tuple[float, float, float]:
    """Run random steps. Returns seconds and processor time per step, and bytes on the loopback interface."""
    rng = np.random.default_rng(seed)
    actions = rng.integers(env.action_space.n, size=(steps, env.num_envs))
    began, cpu, before = time.perf_counter(), time.process_time(), sent()
    for row in actions:
        env.step(row)
    return (
        (time.perf_counter() - began) / steps,
        (time.process_time() - cpu) / steps,
        (sent() - before) / steps,
    )


def transport(steps: int) -> list[dict[str, Any]]:
    """Measure a step of Toy-v0 in every way, for several numbers of environments; medians of repetitions."""
    rows = []
    ways: Mapping[str, Callable[[Any], VecEnv]] = {
        "SubprocVecEnv": partial(SubprocVecEnv, start_method="spawn"),
        "Ray": Rollouts,
    }
    for number in SIDE_BY_SIDE:
        for way, made in ways.items():
            env = made([partial(watched, TOY)] * number)
            try:
                env.seed(0)
                env.reset()
                stepped(env, steps, 0)  # warm-up: the first steps open connections
                found = [stepped(env, steps, repeat) for repeat in range(REPEATS)]
            finally:
                env.close()
            ms, cpu, wire = (statistics.median(values) for values in zip(*found, strict=True))
            row = {"way": way, "envs": number, "ms": 1000 * ms, "learner_ms": 1000 * cpu, "bytes": wire / number}
            rows.append(row)
            sys.stderr.write(f"{row}\n")
    return rows


def sizes() -> dict[str, Any]:
    """Return the bytes of an action and of its answer, on Programs-v0."""
    remote = RemoteEnv(partial(watched, PROGRAMS), ".")
    remote.reset(0, {})
    action = np.int64(3)
    answers = [len(remote.step(action)) for _ in range(60)]
    remote.close()
    return {"action": len(pickle.dumps(action)), "answer": statistics.median(answers), "largest": max(answers)}


def actors(number: int, episodes: int) -> dict[str, Any]:
    """Run random decisions on Programs-v0 in `number` actors; returns the seconds of every step of every episode."""
    with Rollouts([partial(watched, PROGRAMS)] * number) as env:
        env.seed(0)
        began = time.perf_counter()
        env.reset()
        first = time.perf_counter() - began
        rng, seconds, before, wire = np.random.default_rng(0), [], env.get_attr("usage"), sent()
        began, played = time.perf_counter(), [[]]
        while len(played) <= episodes:
            moment = time.perf_counter()
            _, _, dones, _ = env.step(rng.integers(env.action_space.n, size=number))
            played[-1].append(time.perf_counter() - moment)
            if dones.any():
                assert dones.all(), "episodes have equal lengths"
                played.append([])
        wall = time.perf_counter() - began
        after, wire = env.get_attr("usage"), sent() - wire
    seconds = played[:episodes]
    decisions = number * sum(map(len, seconds))
    return {
        "envs": number,
        "first_reset_s": first,
        "decisions_per_s": decisions / wall,
        "cores": sum(b["cpu_s"] - a["cpu_s"] for a, b in zip(before, after, strict=True)) / wall / number,
        "memory_mb": max(one["memory_mb"] for one in after),
        "bytes": wire / decisions,
        "seconds": [[round(value, 6) for value in one] for one in seconds],
    }


class Waiting(gymnasium.Env[Any, Any]):
    """Waits in every step as long as a step of Programs-v0 took, from a random program on, without computing."""

    def __init__(self, seconds: Sequence[Sequence[float]], number: int) -> None:
        self.observation_space, self.action_space = gymnasium.spaces.Box(0, 1, (2,)), gymnasium.spaces.Discrete(2)
        self._rounds = np.array(seconds[: len(seconds) // ROUND * ROUND]).reshape(-1, ROUND * LENGTH)
        self._rng = np.random.default_rng(number)
        self._left: list[float] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Nothing happens."""
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        """Wait."""
        self._left = self._left or self._rounds[self._rng.integers(len(self._rounds))].tolist()
        time.sleep(self._left.pop(0))
        return np.zeros(2, np.float32), 0.0, False, False, {}


def waiting(seconds: Sequence[Sequence[float]], number: int) -> dict[str, Any]:
    """Return the decisions per second of actors that wait instead of computing, which needs no cores."""
    with Rollouts([partial(Waiting, seconds, number) for number in range(number)]) as env:
        env.reset()
        stepped(env, 2, 0)
        env.env_method("reset")
        wall, cpu, _ = stepped(env, ROUNDS * ROUND * LENGTH, 0)
    return {"envs": number, "decisions_per_s": number / wall, "learner_ms": 1000 * cpu}


class Free(VecEnv):
    """Environments whose steps cost nothing, with the spaces of another one."""

    def __init__(self, like: gymnasium.Env[Any, Any], number: int) -> None:
        self._rng = np.random.default_rng(0)
        super().__init__(number, like.observation_space, like.action_space)

    def reset(self) -> Any:
        """Return random observations and rewards; an episode ends after 30 steps on average."""
        return self._rng.random((self.num_envs, *self.observation_space.shape), dtype=np.float32)

    def step_async(self, actions: Any) -> None:
        """Ignore the actions."""

    def step_wait(self) -> Any:
        """Return random observations and rewards; an episode ends after 30 steps on average."""
        rewards = self._rng.random(self.num_envs)
        return self.reset(), rewards, rewards < 1 / 30, [{} for _ in range(self.num_envs)]

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return None for every attribute."""
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing to set."""

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """Return None from every method."""
        return [None] * self.num_envs

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """No wrapper."""
        return [False] * self.num_envs


def learner(agent: str, number: int) -> dict[str, Any]:
    """Return how many decisions per second PPO processes if they cost nothing."""
    like = make(Setting(env=PROGRAMS))
    made = make_agent(agent, like.action_space, seed=0)
    env, steps = Free(like, number), number * 120
    like.close()
    began = time.perf_counter()
    made.learn(env, steps, seed=0)
    wall = time.perf_counter() - began
    return {"agent": agent, "envs": number, "decisions_per_s": steps / wall}


def slowest(seconds: Sequence[float], number: int) -> float:
    """Return the expected maximum of `number` draws from these values."""
    ranks = np.arange(len(seconds) + 1) / len(seconds)
    return float(np.diff(ranks**number) @ np.sort(seconds))


def acting(figures: Mapping[str, Any], number: int) -> float:
    """Return the seconds of an episode if `number` environments step together and wait for the slowest.

    The last step of an episode includes the reset, and every `ROUND`th reset switches to another program.
    """
    (one,) = [row["seconds"] for row in figures["actors"] if row["envs"] == 1]
    table = np.array(one[: len(one) // ROUND * ROUND])
    inner, last = table[:, :-1], table[:, -1]
    draws = last[::ROUND], np.delete(last, slice(0, None, ROUND))
    resets = (slowest(draws[0], number) + (ROUND - 1) * slowest(draws[1], number)) / ROUND
    return inner.shape[1] * slowest(inner.ravel(), number) + resets + LENGTH * (number - 1) * through_ray_s(figures)


def through_ray_s(figures: Mapping[str, Any]) -> float:
    """Return the processor time per step that each further environment costs the learner's process."""
    found = [(row["envs"], row["learner_ms"]) for row in figures["transport"] if row["way"] == "Ray"]
    return float(np.polyfit(*zip(*found, strict=True), 1)[0]) / 1000


def plan(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Predict for each number of environments per learner the decisions of 1,000 cores, one core per learner."""
    alone = acting(figures, 1)
    found = []
    for number in SHARED:
        rows = figures["learner"]
        episodes = [acting(figures, number) + number * LENGTH / row["decisions_per_s"] for row in rows]
        rates, works = [number * LENGTH / seconds for seconds in episodes], [alone / seconds for seconds in episodes]
        found.append({"envs": number, "trainings": 1000 // (number + 1), "rates": rates, "works": works})
    return found


def table(figures: Mapping[str, Any]) -> str:
    """The page."""
    size = figures["sizes"]
    lines = [
        "# Training on a Ray cluster",
        "",
        f"Measured on {figures['machine']}, with a cluster that starts there.",
        "",
        "## A step through Ray",
        "",
        f"Random actions on {TOY}; medians of {REPEATS} repetitions.",
        "",
        *head("environments", "way", "ms a step", "ms of the learner's process", "bytes a decision"),
        *(
            f"| {row['envs']} | {row['way']} | {row['ms']:.2f} | {row['learner_ms']:.2f} | "
            f"{format(row['bytes'], ',.0f') if row['way'] == 'Ray' else 'pipes'} |"
            for row in figures["transport"]
        ),
        "",
        f"Each further environment costs the learner's process {1000 * through_ray_s(figures):.2f} ms a step.",
        "",
        f"## Actors on {PROGRAMS}",
        "",
        *head("actors", "decisions a second", "predicted", "of one actor", "its cores", "its MB", "bytes a decision"),
        *(
            f"| {row['envs']} | {row['decisions_per_s']:.0f} | {row['envs'] * LENGTH / acting(figures, row['envs']):.0f} | "
            f"{row['decisions_per_s'] / row['envs']:.0f} | {row['cores']:.2f} | {row['memory_mb']:.0f} | "
            f"{row['bytes']:,.0f} |"
            for row in figures["actors"]
        ),
        "",
        f"An action is {size['action']} bytes, and the answer to it {size['answer']:,.0f}, at most {size['largest']:,}.",
        "",
        f"Actors that wait as long as the steps of the single actor took, and need no cores; {ROUNDS * ROUND} episodes of each:",
        "",
        *head("actors", "decisions a second", "predicted"),
        *(
            f"| {row['envs']} | {row['decisions_per_s']:.0f} | {row['envs'] * LENGTH / acting(figures, row['envs']):.0f} |"
            for row in figures["waiting"]
        ),
        "",
        "## The learner",
        "",
        *head("PPO", "decisions a second", "agent"),
        *(
            f"| {name} | {row['decisions_per_s']:,.0f} | `{row['agent']}` |"
            for name, row in zip(NAMES, figures["learner"], strict=True)
        ),
        "",
        "## 1,000 cores",
        "",
        "Predicted from the figures above, not measured: decisions a second, and the share of the time in which an "
        "environment works.",
        "",
        *head("environments of a training", "trainings", *(f"{what}, {name}" for name in NAMES for what in PREDICTED)),
    ]
    for row in plan(figures):
        cells = [
            f"{rate:,.0f} | {rate * row['trainings']:,.0f} | {works:.2f}"
            for rate, works in zip(row["rates"], row["works"], strict=True)
        ]
        lines.append(f"| {row['envs']} | {row['trainings']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def head(*columns: str) -> list[str]:
    """Return the first two lines of a table."""
    return [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]


def main() -> int:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000, help="steps of Toy-v0 in each repetition")
    parser.add_argument("--episodes", type=int, default=200, help="of Programs-v0")
    parser.add_argument(
        "--only",
        nargs="*",
        choices=PARTS,
        default=PARTS,
        help="measure these parts again; without a name: only write the tables",
    )
    options = parser.parse_args()
    file = FOLDER / "figures.json"
    figures: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    about = machine()
    for part in options.only:
        sys.stderr.write(f"{part}\n")
        figures["machine"] = f"{about['processor']}, {about['processors']} cores, Python {about['python'].split()[0]}"
        if part == "transport":
            figures[part] = transport(options.steps)
        elif part == "sizes":
            figures[part] = sizes()
        elif part == "actors":
            figures[part] = [actors(number, options.episodes) for number in range(1, AT_A_TIME + 1)]
        elif part == "waiting":
            figures[part] = [waiting(figures["actors"][0]["seconds"], number) for number in WAITING]
        else:
            figures[part] = [learner(agent, 100) for agent in (PPO, LARGE)]
        write(json.dumps(figures) + "\n", file)
    text = table(figures)
    write(text, FOLDER / "table.md")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
