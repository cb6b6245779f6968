"""Does a budget in seconds end on time, and how long does finishing take?"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from fitgym.run.generation import FINISHING_SHARE, generate
from fitgym.suite.share import FLOOR_S
from questions.answer import Answer, Settings, Table, Target
from questions.processes import apart
from questions.searching import folder_of

__all__ = ["answer"]

MODULES = ("semver.version", "numeric")
MOST = 0.5
"""Seconds beyond the budget."""


def kept(module: str, folder: Path, budget: int, seed: int) -> dict[str, Any]:
    """Return seconds of wall time of a whole run, of its search and of its finishing."""
    with tempfile.TemporaryDirectory() as output:
        started = time.perf_counter()
        run = generate(module, path=folder, budget=f"{budget}s", seed=seed, output=output)
        total = time.perf_counter() - started
    return {"total": total, **run.seconds, "tests": run.record["tests"]}


def answer(settings: Settings) -> Answer:
    """Measure the overshoot of each budget."""
    modules = settings.pick(MODULES[:1], MODULES)
    budgets, repeats = settings.choose(((5,), 1), ((5, 30), 3))
    result = Answer()
    table = Table(
        "A budget of wall-clock time, seconds",
        ("", "budget", "search", "finish", "whole run", "over the budget", "tests"),
        [],
    )
    for budget in budgets:
        for module in modules:
            runs = [
                apart(kept, module, folder_of(module, settings.subjects), budget, settings.seed + repeat)
                for repeat in range(repeats)
            ]
            result.figures[f"{module} {budget}s"] = runs
            for run in runs:
                table.rows.append(
                    (
                        *(module, str(budget)),
                        *(f"{run[name]:.2f}" for name in ("search", "finish", "total")),
                        *(f"{run['total'] - budget:+.2f}", str(run["tests"])),
                    )
                )
            over = max(run["total"] - budget for run in runs)
            finishing = max(run["finish"] for run in runs)
            allowed = max(FLOOR_S, FINISHING_SHARE * budget)
            result.targets += [
                Target(f"{module}, {budget} s: seconds over, finishing included, worst of all", MOST, over),
                Target(f"{module}, {budget} s: seconds of finishing, worst of all", allowed, finishing),
            ]
    result.tables.append(table)
    return result
