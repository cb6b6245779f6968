"""What does rendering an episode cost?"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import gymnasium

import fitgym.envs  # noqa: F401  (registers the environments)
from questions.answer import Answer, Settings, Table, Target
from questions.processes import apart

__all__ = ["answer"]

MODULES = ("colorsys", "html.parser", "argparse")
WITHOUT = ("Artificial-v0", "Toy-v0")
MOST_MS = 50.0


def drawn(name: str, subject: str, seed: int, steps: int) -> dict[str, Any]:
    """Return processor seconds of each frame of an episode with random actions, and of finding lines per step."""
    arguments: dict[str, Any] = {"subject": subject, "budget": f"{3 * steps + 1}g", "population": 10} if subject else {}
    env = gymnasium.make(f"fitgym/{name}", render_mode="rgb_array", **arguments)
    frames: list[float] = []
    lines_run: list[float] = []
    inner: Any = env.unwrapped
    try:
        env.action_space.seed(seed)
        env.reset(seed=seed)
        over = False
        while not over:
            started = time.process_time()
            env.render()
            frames.append(time.process_time() - started)
            over = env.step(env.action_space.sample())[2]
            if subject:
                started = time.process_time()
                inner._footprint.look(inner.engine, inner._seen(""), inner._display.episode)
                lines_run.append(time.process_time() - started)
        return {
            "frames": frames,
            "lines_run": lines_run,
            "lines": len(inner._display.episode.listing.lines) if subject else 0,
        }
    finally:
        env.close()


def answer(settings: Settings) -> Answer:
    """Measure milliseconds of every frame."""
    steps = settings.choose(10, 100)
    result = Answer()
    header = ("", "lines", "frames", "first, ms", "median, ms", "most after the first, ms", "looking up lines, ms")
    table = Table("A frame of 800 by 600 pixels, processor time", header, [])
    cases = [("BranchCoverage-v0", module) for module in settings.pick(MODULES[:2], MODULES)]
    for name, subject in [*cases, *((name, "") for name in WITHOUT)]:
        found = apart(drawn, name, subject, settings.seed, steps)
        first, *rest = (1000 * seconds for seconds in found["frames"])
        what = subject or name
        row = (
            f"{first:.1f}",
            f"{median(rest):.1f}",
            f"{max(rest):.1f}",
            f"{1000 * median(found['lines_run'] or [0.0]):.1f}",
        )
        table.rows.append((what, str(found["lines"] or "-"), str(len(rest) + 1), *row))
        result.figures[what] = found
        result.targets.append(Target(f"{what}: milliseconds for a frame, median", MOST_MS, median(rest)))
        result.targets.append(Target(f"{what}: milliseconds for the first frame", MOST_MS, first))
    result.tables.append(table)
    return result
