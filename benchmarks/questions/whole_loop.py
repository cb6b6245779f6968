"""What does a search pay for a test case, compared with its bare calls and with other tools?

A search runs until start-up effects have ended. Then the processor time of all its processes is measured for as many
generations as take some seconds. The same search runs once more and records every test case that it executes in these
generations. They are replayed as plain Python functions on the module without probes, in a separate process.
"""

from __future__ import annotations

import gc
import os
import resource
import tempfile
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workload import look_in

from fitgym.errors import InputError
from fitgym.instrument.factories import in_use
from fitgym.suite.text.scope import Scope
from fitgym.suite.text.source import render
from fitgym.testcase.statement import Statement
from questions.answer import Answer, Settings, Table, Target
from questions.processes import apart
from questions.pynguin import ALGORITHMS, pynguin
from questions.searching import Span, engine_on, folder_of, spent

__all__ = ["answer"]

SUBJECTS = {"string_utils.validation": 5.0, "numeric": 5.0, "sortedcontainers.sortedlist": 3.5, "semver.version": 3.5}
"""The subjects, and the limit of the whole loop in bare calls with C sites."""

FACTORIES = {"C": "c", "Python": "python"}
TIMES_PYNGUIN = 100.0
MOST = 20_000
"""Limit of replayed test cases."""

CHUNK = 500
"""Test cases per chunk: few enough for the processor's caches, as in a batch of a worker."""


def enough(module: str, folder: Path, seed: int, before: int, seconds: float) -> int:
    """Return how many generations after the first ones take so long that the kernel's clock ticks do not matter."""
    generations, executions, cpu = 0, 0, 0.0
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, before)
        while cpu < seconds and executions < MOST:
            span = spent(engine, 5)
            generations, executions, cpu = generations + 5, executions + span.executions, cpu + span.cpu
    return generations


def timed(module: str, folder: Path, seed: int, before: int, generations: int) -> tuple[Span, dict[str, Any]]:
    """Measure a search: its generations after those `before`, and its final coverage."""
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, before)
        return spent(engine, generations), engine.coverage()


def recorded(module: str, folder: Path, seed: int, before: int, generations: int) -> tuple[list[list[str]], str, int]:
    """Repeat the search. Returns the lines of each executed test case, their imports, and the number left out.

    Test cases that did not end by themselves are left out, because without probes and limits they would never end.
    """
    kept: list[list[Statement]] = []
    left_out = 0
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, before)
        run = engine.executor.run

        def recording(testcases: Any, table: Any, *more: Any, **named: Any) -> Any:
            nonlocal left_out
            traces = run(testcases, table, *more, **named)
            for testcase, trace in zip(testcases, traces, strict=True):
                if trace.failure:
                    left_out += 1
                else:
                    kept.append(table.statements(testcase))
            return traces

        engine.executor.run = recording  # type: ignore[method-assign]
        spent(engine, generations)
        scope = Scope()
        lines = [render(statements, engine.subject, scope).lines for statements in kept]
    return lines, "\n".join(scope.imports()), left_out


def replayed(tests: list[list[str]], imports: str, folder: Path, repeats: int) -> list[list[float]]:
    """Return the processor seconds of plain calls: the repeats of each chunk of test cases."""
    look_in(folder)
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    os.chdir(tempfile.mkdtemp())
    namespace: dict[str, Any] = {}
    exec(imports, namespace)
    chunks: list[list[float]] = []
    for start in range(0, len(tests), CHUNK):
        functions = []
        for number, lines in enumerate(tests[start : start + CHUNK]):
            body = "".join(f" {line}\n" for line in lines) or " pass\n"
            exec(compile(f"def test():\n{body}", f"<test case {start + number}>", "exec"), namespace)
            functions.append(namespace["test"])
        gc.collect()
        gc.disable()
        chunks.append([_round(functions) for _ in range(repeats)])
        gc.enable()
    return chunks


def _round(functions: list[Any]) -> float:
    started = time.process_time()
    for function in functions:
        try:  # noqa: SIM105  (suppress() costs as much as a small test)
            function()
        except Exception:
            pass
    return time.process_time() - started


@dataclass
class Costs:
    """The measurements of one subject.

    Attributes:
        spans: of the search, by factory of sites, repeated in turns.
        bare: microseconds of the bare calls of one test case.
        calls: statements of one test case.
        rates: test cases per second of processor time of Pynguin's algorithms, None for a failed one.
    """

    spans: dict[str, list[Span]]
    bare: float
    calls: float
    rates: dict[str, float | None]

    def least(self, factory: str) -> Span | None:
        """Return the cheapest repeat; None without any."""
        return min(self.spans.get(factory, ()), key=lambda span: span.microseconds, default=None)


def measure(module: str, factories: Iterable[str], settings: Settings, result: Answer) -> Costs:
    """Measure the search with each factory, its bare calls, and Pynguin; figures and notes go to the answer."""
    before, seconds, repeats = settings.choose((3, 0.5, 1), (10, 3.0, 3))
    folder = folder_of(module, settings.subjects)
    start = (module, folder, settings.seed, before)
    run = (*start, apart(enough, *start, seconds))
    spans: dict[str, list[Span]] = {name: [] for name in factories}
    for repeat in range(repeats):
        for name in list(spans)[:: -1 if repeat % 2 else 1]:
            span, coverage = apart(timed, *run, environment={"FITGYM_SITES": FACTORIES[name]})
            spans[name].append(span)
    tests, imports, left_out = apart(recorded, *run)
    if len(tests) + left_out != span.executions:
        result.notes.append(f"{module}: {len(tests) + left_out} test cases recorded, {span.executions} executed")
    if left_out:
        result.notes.append(
            f"{module}: {left_out} of {span.executions} test cases did not end by themselves: the whole loop holds what "
            "they took, the bare calls do not"
        )
    chunks = apart(replayed, tests, imports, folder, settings.choose(3, 10))
    searches = {name: pynguin(settings, module, folder, name) for name in ALGORITHMS}
    result.notes += [f"Pynguin {name} on {module}: {found.said}" for name, found in searches.items() if found.said]
    result.figures[module] = {
        "spans": {name: [vars(span) for span in of_name] for name, of_name in spans.items()},
        "replayed": len(tests),
        "left_out": left_out,
        "seconds_of_chunks": chunks,
        "coverage": coverage,
        "pynguin": {name: vars(found) for name, found in searches.items()},
    }
    return Costs(
        spans,
        1e6 * sum(map(min, chunks)) / len(tests),
        sum(map(len, tests)) / len(tests),
        {name: found.executions / found.cpu if found.executions else None for name, found in searches.items()},
    )


def answer(settings: Settings) -> Answer:
    """Measure the cost of a test case, whole and bare, for each subject and factory, compared with Pynguin."""
    result = Answer()
    factories = []
    for name, value in FACTORIES.items():
        try:
            apart(in_use, environment={"FITGYM_SITES": value})
            factories.append(name)
        except InputError as reason:
            result.notes.append(f"{name} sites: {reason}")
    loop = (
        "",
        "sites",
        "executed",
        "calls each",
        "parent",
        "worker",
        "whole",
        "bare",
        "whole / bare",
        "executed / CPU s",
    )
    costs = Table("Whole loop / bare calls, microseconds of processor time for each executed test case", loop, [])
    beside = ("", "fitgym", *(f"Pynguin {name}" for name in ALGORITHMS), *(f"fitgym / {name}" for name in ALGORITHMS))
    others = Table("Executed test cases per second of processor time, beside Pynguin", beside, [])
    for module in settings.pick(("semver.version",), SUBJECTS):
        found = measure(module, factories, settings, result)
        for name in factories:
            span = found.least(name)
            assert span is not None
            shares = (1e6 * span.parent / span.executions, 1e6 * span.worker / span.executions, span.microseconds)
            costs.rows.append(
                (
                    *(module, name, str(span.executions), f"{found.calls:.1f}"),
                    *(f"{value:.1f}" for value in (*shares, found.bare, span.microseconds / found.bare)),
                    f"{span.executions / span.cpu:.0f}",
                )
            )
        best = found.least("C")
        rate = None if best is None else best.executions / best.cpu
        ratio = None if best is None else best.microseconds / found.bare
        times = {name: rate and other and rate / other for name, other in found.rates.items()}
        others.rows.append(
            (module, *(f"{v:.0f}" if v else "-" for v in (rate, *found.rates.values(), *times.values())))
        )
        result.targets += [
            Target(f"{module}: whole loop / bare calls", SUBJECTS[module], ratio),
            # Pynguin's counterpart of the algorithm that fitgym runs here.
            Target(f"{module}: times Pynguin's whole suite", TIMES_PYNGUIN, times["WHOLE_SUITE"], at_least=True),
        ]
    result.tables += [costs, others]
    return result
