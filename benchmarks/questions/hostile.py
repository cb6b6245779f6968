"""How long does a test case that breaks or hangs its process delay a batch?

A batch of harmless test cases is timed with one hostile test case in the middle and, in turn, without it. The
difference includes everything: detecting the failure, ending the process, starting another one, and repeating test
cases.
"""

from __future__ import annotations

import time

from workload import BUNDLED

from fitgym.execution.executor import Executor, Limits
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable, TestCase
from questions.answer import Answer, Settings, Table, Target
from questions.estimate import quartiles
from questions.processes import apart

__all__ = ["Batch", "answer"]

SECONDS = 2.0
"""Time limit of a test case in this measurement: fitgym's default."""

BEHAVIOURS = {
    "segfault": ("segmentation fault", 0.020),
    "end": ("os._exit", 0.020),
    "leave": ("sys.exit", None),
    "loop": ("endless loop of bytecode", None),
    "backtrack": ("regular expression that blows up", SECONDS + 0.020),
    "count": ("hang in C: sum(range(10**12))", SECONDS + 0.020),
    "grow": ("memory bomb", None),
    "fork": ("fork", None),
    "thread": ("thread left behind", None),
}
"""Functions of bundled/hostile.py: their behaviour, and the extra seconds that are allowed."""

HARMLESS = 50


class Batch:
    """Test cases on bundled/hostile.py, each one call."""

    def __init__(self, executor: Executor) -> None:
        self.table = StatementTable()
        self._ids = {operation.name: operation.id for operation in executor.subject.operations}

    def call(self, name: str, *arguments: int) -> TestCase:
        """Return a test case with one call of a function."""
        literals = tuple(Literal(str(argument)) for argument in arguments)
        return self.table.testcase([Statement(self._ids[name], args=literals)])

    def harmless(self, count: int = HARMLESS) -> list[TestCase]:
        """Return `count` different calls of the harmless function."""
        return [self.call("calm", n) for n in range(count)]


def held_up(name: str, repeats: int) -> tuple[list[float], list[float], str]:
    """Return seconds of wall time of a batch with a hostile test case and of one without, and its failure."""
    took: dict[bool, list[float]] = {True: [], False: []}
    failure = ""
    with Executor(locate("hostile", BUNDLED), Limits(seconds=SECONDS)) as executor:
        for repeat in range(repeats):
            for is_hostile in (True, False)[:: -1 if repeat % 2 else 1]:
                batch = Batch(executor)  # a new table, for which nothing is banned yet
                testcases = batch.harmless()
                executor.run(
                    testcases, batch.table
                )  # warm-up, so that a process waits for the next batch as in a search
                testcases.insert(HARMLESS // 2, batch.call(name) if is_hostile else batch.call("calm", 99))
                started = time.perf_counter()
                traces = executor.run(testcases, batch.table)
                took[is_hostile].append(time.perf_counter() - started)
                if is_hostile:
                    trace = traces[HARMLESS // 2]
                    failure = trace.failure or (f"raises {trace.raised.type}" if trace.raised else "nothing")
    return took[True], took[False], failure


def answer(settings: Settings) -> Answer:
    """Measure the delay of each behaviour."""
    repeats = settings.choose(2, 15)
    names = settings.choose(("segfault", "end", "loop", "count"), tuple(BEHAVIOURS))
    result = Answer()
    table = Table(
        f"Extra wall time of a batch of {HARMLESS} with one hostile test case, milliseconds; limit {SECONDS:g} s",
        ("", "ends as", "least", "median", "quartiles", "most"),
        [],
    )
    for name in names:
        what, limit = BEHAVIOURS[name]
        hostile, plain, failure = apart(held_up, name, repeats)
        extra = [with_it - without for with_it, without in zip(hostile, plain, strict=True)]
        low, middle, high = quartiles(extra)
        table.rows.append(
            (
                *(what, failure, f"{1000 * min(extra):.1f}", f"{1000 * middle:.1f}"),
                *(f"{1000 * low:.1f} to {1000 * high:.1f}", f"{1000 * max(extra):.1f}"),
            )
        )
        result.figures[name] = {"with": hostile, "without": plain, "failure": failure}
        if limit is not None:
            result.targets.append(Target(f"{what}: extra seconds, median", limit, middle))
    result.tables.append(table)
    return result
