"""How much time does stepping the environment add to the engine's generations?"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from fitgym.envs.fitness_selection import FitnessSelection
from questions.answer import Answer, Settings, Table, Target
from questions.estimate import bootstrap
from questions.processes import apart, cpu_of_tree
from questions.searching import folder_of

__all__ = ["answer"]

MODULES = ("semver.version", "numeric")
FEATURES = ("paper-v1", "full-v1", "full-v2")
MOST = 0.02


def stepped(module: str, folder: Path, features: str, seed: int, steps: int) -> dict[str, Any]:
    """Run an episode with random actions.

    Measures the parent's processor time of each `env.step`, the part of it inside the engine's own `activate` and
    `step`, and wall time and processor time of everything for the whole episode.
    """
    env = FitnessSelection(module, path=str(folder), goal="exceptions", budget=None, features=features)
    whole: list[float] = []
    engine_s: list[float] = []
    inside = 0.0

    def timed(function: Any) -> Any:
        def call(*arguments: Any) -> None:
            nonlocal inside
            started = time.process_time()
            function(*arguments)
            inside += time.process_time() - started

        return call

    try:
        env.action_space.seed(seed)
        env.reset(seed=seed)
        assert env.engine is not None
        env.engine.activate = timed(env.engine.activate)  # type: ignore[method-assign]
        env.engine.step = timed(env.engine.step)  # type: ignore[method-assign]
        wall, cpu = time.perf_counter(), sum(cpu_of_tree())
        generation = env.engine.generation
        for _ in range(steps):
            action = env.action_space.sample()
            inside, started = 0.0, time.process_time()
            env.step(action)
            whole.append(time.process_time() - started)
            engine_s.append(inside)
        return {
            "step": whole,
            "engine": engine_s,
            "wall": time.perf_counter() - wall,
            "cpu": sum(cpu_of_tree()) - cpu,
            "generations": env.engine.generation - generation,
        }
    finally:
        env.close()


def answer(settings: Settings) -> Answer:
    """Measure the environment's share and steps per second."""
    modules, steps = settings.pick(MODULES[:1], MODULES), settings.choose(10, 100)
    result = Answer()
    table = Table(
        "Environment step against the engine's generations in it (three each)",
        (
            "",
            "features",
            "step, ms",
            "added, us",
            "share added",
            "median share of a step",
            "steps / s",
            "steps / CPU s",
        ),
        [],
    )
    for module in modules:
        for features in FEATURES:
            arguments = (module, folder_of(module, settings.subjects), features, settings.seed, steps)
            found = apart(stepped, *arguments)
            whole, engine = sum(found["step"]), sum(found["engine"])
            # All processes contribute to the engine's generations, only the parent to the environment.
            share = (whole - engine) / (found["cpu"] - (whole - engine))
            shares = [(a - b) / b for a, b in zip(found["step"], found["engine"], strict=True)]
            table.rows.append(
                (
                    *(module, features, f"{1000 * found['cpu'] / steps:.1f}", f"{1e6 * (whole - engine) / steps:.0f}"),
                    *(f"{100 * share:.2f} %", str(bootstrap([100 * s for s in shares])) + " %"),
                    *(f"{steps / found['wall']:.1f}", f"{steps / found['cpu']:.1f}"),
                )
            )
            result.figures[f"{module} {features}"] = {**found, "share": share}
            result.targets.append(Target(f"{module}, {features}: share that env.step adds", MOST, share))
    result.tables.append(table)
    return result
