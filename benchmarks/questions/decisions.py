"""How many decisions a second do the environments with generated tasks make, compared with Toy and with bare calls?"""

from __future__ import annotations

import inspect
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.programs.knobs import HARD
from fitgym.programs.program import generate
from questions.answer import Answer, Settings, Table, Target
from questions.estimate import ratio
from questions.processes import cpu_of_tree

__all__ = ["answer"]

EPISODES = 1024
"""Parallel episodes of Landscapes-v0."""

TASK = 5
TESTS = 20
"""Test cases in a decision of Programs-v0."""

MOST_MS = 20.0
"""Limit of the time until a search on another program has begun."""

LEAST_PER_S = {"Landscapes-v0": 100_000.0, "Programs-v0": 300.0}


def answer(settings: Settings) -> Answer:
    """Measure processor time for each decision in turns, and its ratio to a step of Toy-v0 and to bare calls.

    A decision of Programs-v0 proposes, runs and measures 20 test cases. Its base is 20 calls of functions of the same
    program, in this process and without probes.
    """
    repeats, steps = settings.choose(3, 15), settings.choose(20, 100)
    toy, programs = gymnasium.make("fitgym/Toy-v0"), gymnasium.make("fitgym/Programs-v0", task=TASK)
    landscapes = gymnasium.make_vec("fitgym/Landscapes-v0", num_envs=EPISODES)
    chance = np.random.default_rng(settings.seed)
    landscapes.reset(seed=settings.seed)
    try:
        ways: dict[str, Callable[[], float]] = {
            "Toy-v0": lambda: _stepped(toy, steps, settings.seed),
            f"Landscapes-v0, {EPISODES} episodes": lambda: _together(landscapes, steps, chance),
            "Programs-v0": lambda: _stepped(programs, settings.choose(1, 4), settings.seed),
            f"{TESTS} bare calls": lambda: _called(200 * steps, settings.seed),
        }
        for way in ways.values():
            way()  # the first round imports and starts processes
        costs: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(repeats):
            for name, way in ways.items():
                costs[name].append(way())
        another = _drawn(programs, settings.choose(4, 24))
    finally:
        for env in (toy, landscapes, programs):
            env.close()
    step, vector, program, bare = costs.values()
    names = list(costs)
    result = Answer(figures={"seconds": costs, "seconds to another program": another})
    rows = []
    for name, found, base, of in (
        (names[0], step, step, names[0]),
        (names[1], vector, step, names[0]),
        (names[2], program, step, names[0]),
        (names[2], program, bare, names[3]),
    ):
        times = ratio(found, base)
        rows.append(
            (name, f"{1e6 * min(found):.2f}", f"{1 / min(found):,.0f}", of, f"{times.least:.3g}", str(times.median))
        )
    header = ("", "us of processor time", "per CPU s", "beside", "ratio, least", "ratio, median")
    result.tables.append(Table("Decisions", header, rows))
    result.targets += [
        Target(f"{names[1]}: decisions per CPU s", LEAST_PER_S["Landscapes-v0"], 1 / min(vector), at_least=True),
        Target(f"{names[2]}: decisions per CPU s", LEAST_PER_S["Programs-v0"], 1 / min(program), at_least=True),
        Target(f"{names[1]}: beside a step of Toy-v0", 1.0, ratio(vector, step).least),
        Target(f"{names[2]}: milliseconds to another program", MOST_MS, 1000 * statistics.median(another)),
    ]
    return result


def _stepped(env: Any, episodes: int, seed: int) -> float:
    """Return the processor time of a step with random actions, without the resets."""
    chance = np.random.default_rng(seed)
    spent, steps = 0.0, 0
    for episode in range(episodes):
        env.reset(seed=seed + episode)
        done, started = False, sum(cpu_of_tree())
        while not done:
            _, _, terminated, truncated, _ = env.step(int(chance.integers(env.action_space.n)))
            done, steps = terminated or truncated, steps + 1
        spent += sum(cpu_of_tree()) - started
    return spent / steps


def _drawn(env: Any, programs: int) -> list[float]:
    """Return the wall time of a reset to each of several programs that the environment has not met."""
    found = []
    for task in range(TASK + 1, TASK + 1 + programs):
        started = time.perf_counter()
        env.reset(options={"task": task})
        found.append(time.perf_counter() - started)
    return found


def _together(env: Any, steps: int, chance: np.random.Generator) -> float:
    """Return the processor time of a decision in a vector environment, resets included."""
    actions = chance.integers(env.single_action_space.n, size=(steps, env.num_envs))
    started = time.process_time()
    for row in actions:
        env.step(row)
    return (time.process_time() - started) / actions.size


def _called(calls: int, seed: int) -> float:
    """Return the processor time of `TESTS` calls of functions of the program, in turn."""
    content: dict[str, Any] = {"__name__": "program"}
    exec(compile(generate(TASK, HARD).source, "program", "exec"), content)
    functions = [found for found in content.values() if inspect.isfunction(found)]
    chance = np.random.default_rng(seed)
    arguments = chance.integers(-1000, 1000, size=(calls, 8)).tolist()
    counts = [len(inspect.signature(function).parameters) for function in functions]
    started = time.process_time()
    for at, numbers in enumerate(arguments):
        try:
            functions[at % len(functions)](*numbers[: counts[at % len(functions)]])
        except Exception:
            continue
    return (time.process_time() - started) / calls * TESTS
