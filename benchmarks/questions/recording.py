"""What does it cost to record the needs of a goal's whole catalogue instead of those of one fixed function?

An environment records everything from `reset` on, so that changing fitness functions executes nothing. Both searches of
a pair execute the same test cases, because recording changes no result. Ratios are those of the least times of the
repeats.
"""

from __future__ import annotations

import resource
import statistics
import time

from fitgym.engine import Engine
from fitgym.envs.base import GOALS
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from questions.answer import Answer, Settings, Table, Target
from questions.processes import apart

__all__ = ["answer"]

SUBJECTS = (
    *("textwrap", "shlex", "statistics", "json.decoder", "configparser"),
    *("html.parser", "string", "colorsys", "csv", "difflib"),
)
MOST = 1.10


def seconds(subject: str, goal: str, everything: bool, budget: str, seed: int) -> tuple[float, float]:
    """Return processor and wall seconds of a search guided by the goal's own function, including start and end."""
    pursued = GOALS.load(goal)()
    wall = time.perf_counter()
    with Executor(locate(subject)) as executor:
        engine = Engine(
            executor,
            fitness=(pursued.fitness,),
            tracked=(*pursued.kept, *pursued.tracked),
            usable=pursued.functions if everything else (),
            search="mosa" if goal == "exceptions" else "whole_suite",
            seed=seed,
            budget=Budget.parse(budget),
        )
        while not engine.over:
            engine.step()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used), time.perf_counter() - wall


def answer(settings: Settings) -> Answer:
    """Measure by goal and subject the time with everything recorded, divided by that for one function."""
    repeats = settings.choose(2, 5)
    budgets = settings.choose({"exceptions": "1000x"}, {"exceptions": "5000x", "diversity": "2000x"})
    result = Answer()
    for goal, budget in budgets.items():
        table = Table(f"{goal}, {budget}: all recorded beside one function", ("", "processor", "wall"), [])
        ratios = []
        for subject in settings.pick(SUBJECTS[:2], SUBJECTS):
            least = {True: [float("inf")] * 2, False: [float("inf")] * 2}
            for _ in range(repeats):
                for everything, before in least.items():
                    took = apart(seconds, subject, goal, everything, budget, settings.seed)
                    least[everything] = [min(pair) for pair in zip(before, took, strict=True)]
            ratio = [all_ / own for all_, own in zip(least[True], least[False], strict=True)]
            ratios.append(ratio)
            table.rows.append((subject, *(f"{one:.2f}" for one in ratio)))
            result.figures[f"{goal}, {subject}"] = {"all": least[True], "own": least[False]}
        mean = statistics.fmean(ratio[0] for ratio in ratios)
        table.rows.append(("mean", *(f"{statistics.fmean(found):.2f}" for found in zip(*ratios, strict=True))))
        result.tables.append(table)
        result.targets.append(Target(f"recording everything, processor time, {goal}", MOST, mean))
    return result
