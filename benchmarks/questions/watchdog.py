"""What does the watchdog timer cost per test case?"""

from __future__ import annotations

from workload import BUNDLED

from fitgym.execution.executor import Executor, Limits
from fitgym.subject.source import locate
from questions.answer import Answer, Settings, Table, Target
from questions.estimate import bootstrap
from questions.hostile import Batch
from questions.processes import apart, cpu_of_tree

__all__ = ["answer"]

NEVER = 1e6
"""Seconds between two checks of the clock when the timer is practically off."""

MOST = 0.1
"""Microseconds per test case."""


def watched(rounds: int, batches: int) -> dict[str, list[float]]:
    """Return the worker's processor seconds per test case, with the timer and without it, in turns."""
    costs: dict[str, list[float]] = {"on": [], "off": []}
    reference = locate("hostile", BUNDLED)
    limits = {"on": Limits(), "off": Limits(seconds=8 * NEVER, idle_seconds=8 * NEVER)}
    with Executor(reference, limits["on"]) as on, Executor(reference, limits["off"]) as off:
        executors = {"on": (on, Batch(on)), "off": (off, Batch(off))}
        for executor, batch in executors.values():
            executor.run(batch.harmless(100), batch.table)
        for number in range(rounds):
            for name in list(executors)[:: -1 if number % 2 else 1]:
                executor, batch = executors[name]
                testcases = batch.harmless(100)
                before = cpu_of_tree()[1]
                for _ in range(batches):
                    executor.run(testcases, batch.table)
                costs[name].append((cpu_of_tree()[1] - before) / batches / len(testcases))
    return costs


def answer(settings: Settings) -> Answer:
    """Measure the difference per test case."""
    rounds, batches = settings.choose((10, 5), (60, 20))
    costs = apart(watched, rounds, batches)
    extra = bootstrap([1e6 * (on - off) for on, off in zip(costs["on"], costs["off"], strict=True)])
    least = {name: 1e6 * min(of_name) for name, of_name in costs.items()}
    table = Table(
        "The watchdog, microseconds of the worker's processor time for each test case",
        ("timer off, least", "timer on, least", "difference of neighbours, median"),
        [(f"{least['off']:.2f}", f"{least['on']:.2f}", str(extra))],
    )
    target = Target("watchdog: microseconds for each test case, median", MOST, extra.value)
    return Answer([table], [target], dict(costs))
