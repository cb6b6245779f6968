"""What does each stage of a search cost per test case, and how many bare calls is that?

The parent's processor time is taken at the start and the end of each stage; time in a nested stage counts for the
nested one. If a single stage costs more than the limit of the whole loop, the loop cannot meet its limit, however fast
the other stages are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fitgym.evolution.archive import Archive
from fitgym.evolution.measurements import Measurements
from fitgym.execution.executor import Executor
from fitgym.search.whole_suite import WholeSuite
from fitgym.testcase.factory import TestFactory
from questions.answer import Answer, Settings, Table
from questions.processes import apart
from questions.searching import Span, engine_on, folder_of, spent
from questions.whole_loop import SUBJECTS, recorded, replayed, timed

__all__ = ["answer"]

STAGES: dict[str, tuple[tuple[type, str], ...]] = {
    "propose: change test cases, make new ones": (
        (TestFactory, "mutate"),
        (TestFactory, "random_test"),
        (TestFactory, "cut"),
    ),
    "carry: encode, send, receive, decode": ((Executor, "_ask"),),
    "execute: batches, bans, care": ((Executor, "run"), (Executor, "verify")),
    "learn: types and constants that were seen": (
        (TestFactory, "note"),
        (TestFactory, "learn"),
        (Executor, "learned"),
    ),
    "measure: distances, suite fitness": (
        (Measurements, "add"),
        (Measurements, "suite_fitness"),
        (Measurements, "unknown"),
    ),
    "archive: what is covered, and verified": ((Archive, "update"),),
    "search: parents, suites, ranks": ((WholeSuite, "ask"), (WholeSuite, "tell"), (WholeSuite, "refresh")),
}
"""The stages of the parent for a test case, and their methods."""

REST, WORKER = "everything else of the parent", "the worker: builds and runs it with probes, describes it"


@contextmanager
def clocked() -> Iterator[dict[str, int]]:
    """Add up nanoseconds of this process by stage, excluding nested stages."""
    spent_in = dict.fromkeys(STAGES, 0)
    within = [0]  # nanoseconds of nested stages for each open stage; the first entry belongs to none

    def watched(stage: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def enter(*arguments: Any, **named: Any) -> Any:
            within.append(0)
            started = time.process_time_ns()
            try:
                return method(*arguments, **named)
            finally:
                took = time.process_time_ns() - started
                spent_in[stage] += took - within.pop()
                within[-1] += took

        return enter

    places = [(stage, owner, name) for stage, methods in STAGES.items() for owner, name in methods]
    before = [getattr(owner, name) for _, owner, name in places]
    for (stage, owner, name), method in zip(places, before, strict=True):
        setattr(owner, name, watched(stage, method))
    try:
        yield spent_in
    finally:
        for (_, owner, name), method in zip(places, before, strict=True):
            setattr(owner, name, method)


def by_stage(module: str, folder: Path, seed: int, before: int, generations: int) -> tuple[dict[str, int], Span]:
    """Return nanoseconds of a search by stage without its first generations, and their total."""
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, before)
        with clocked() as seen:
            span = spent(engine, generations)
            taken = dict(seen)
    return taken, span


def answer(settings: Settings) -> Answer:
    """Measure microseconds per executed test case by stage, and the same in bare test cases."""
    before, generations, repeats = settings.choose((3, 20, 3), (10, 100, 10))
    result = Answer()
    for module in settings.pick(("semver.version",), SUBJECTS):
        folder = folder_of(module, settings.subjects)
        run = (module, folder, settings.seed, before, generations)
        plain, _ = apart(timed, *run)
        taken, span = apart(by_stage, *run)
        tests, imports, _ = apart(recorded, *run)
        bare = 1e6 * sum(map(min, apart(replayed, tests, imports, folder, repeats))) / len(tests)
        each = {stage: nanoseconds / 1000 / span.executions for stage, nanoseconds in taken.items()}
        each[REST] = 1e6 * span.parent / span.executions - sum(each.values())
        each[WORKER] = 1e6 * span.worker / span.executions
        rows = [(stage, f"{cost:.1f}", f"{cost / bare:.1f}") for stage, cost in each.items()]
        whole, unwatched = sum(each.values()), plain.microseconds
        rows += [
            ("the whole loop", f"{whole:.1f}", f"{whole / bare:.1f}"),
            ("the same, nobody looking", f"{unwatched:.1f}", f"{unwatched / bare:.1f}"),
            ("bare calls", f"{bare:.1f}", "1"),
            ("the whole loop is wanted to cost at most", f"{SUBJECTS[module] * bare:.1f}", f"{SUBJECTS[module]:g}"),
        ]
        title = f"{module}: microseconds for each of {span.executions} executed test cases"
        result.tables.append(Table(title, ("", "us", "times bare"), rows))
        result.figures[module] = {"stages": each, "bare": bare, "unwatched": unwatched, "executions": span.executions}
    return result
