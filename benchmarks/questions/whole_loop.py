"""What does a search pay for a test case, compared with the bare calls in it? And what do others pay?

A search runs until the start-up is forgotten; then the processor time of all its processes is taken for as many
generations as need some seconds. The same search runs once more and writes down every test case that it executes in these
generations. They are replayed as plain Python functions on the module without probes, in a process that holds nothing
else.
"""

from __future__ import annotations

import gc
import os
import resource
import struct
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from workload import look_in

from fitgym.testcase.scope import Scope
from fitgym.testcase.source import render
from fitgym.testcase.statement import Statement
from questions.answer import Answer, Settings, Table, Target
from questions.processes import apart
from questions.searching import Span, engine_on, folder_of, spent

__all__ = ["answer"]

SUBJECTS = {"string_utils.validation": 5.0, "numeric": 5.0, "sortedcontainers.sortedlist": 3.5, "semver.version": 3.5}
"""What is searched, and how many times the bare calls the whole loop may cost with C sites."""

FACTORIES = {"C": "c", "Python": "python"}
ALGORITHMS = ("WHOLE_SUITE", "DYNAMOSA")
TIMES_PYNGUIN = 100.0
MOST = 20_000
"""Test cases that are replayed at most."""

CHUNK = 500
"""Test cases that are replayed together: few enough to stay in the processor's caches, as a batch of a worker does."""


def enough(module: str, folder: Path, seed: int, before: int, seconds: float) -> int:
    """How many generations after the first ones take so long that the kernel's clock ticks do not matter."""
    generations, executions, cpu = 0, 0, 0.0
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, before)
        while cpu < seconds and executions < MOST:
            span = spent(engine, 5)
            generations, executions, cpu = generations + 5, executions + span.executions, cpu + span.cpu
    return generations


def timed(module: str, folder: Path, seed: int, before: int, generations: int) -> tuple[Span, dict[str, Any]]:
    """A search: what its generations took after those `before`, and its coverage in the end."""
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, before)
        return spent(engine, generations), engine.coverage()


def recorded(module: str, folder: Path, seed: int, before: int, generations: int) -> tuple[list[list[str]], str, int]:
    """The same search: the lines of each test case that it executes, their imports, and how many are left out.

    Left out are those that did not end by themselves: without probes and limits they would never end.
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

        engine.executor.run = recording  # type: ignore[assignment,method-assign]
        spent(engine, generations)
        scope = Scope()
        lines = [render(statements, engine.subject, scope).lines for statements in kept]
    return lines, "\n".join(scope.imports()), left_out


def replayed(tests: list[list[str]], imports: str, folder: Path, repeats: int) -> list[list[float]]:
    """Seconds of processor time that plain calls take: for each chunk of test cases its repeats."""
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


def pynguin(python: str, module: str, folder: Path, algorithm: str, seconds: int, seed: int) -> dict[str, Any]:
    """A search of Pynguin: executed test cases and processor time, the latter up to its last one if it had to be killed."""
    form = struct.Struct("qdq")  # as in pynguin_search.py
    script = Path(__file__).resolve().parent.parent / "pynguin_search.py"
    with tempfile.TemporaryDirectory() as home:
        progress = Path(home, "progress")
        progress.write_bytes(bytes(form.size))
        command = [python, str(script), module, str(folder), algorithm, str(seconds), str(seed), str(progress)]
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": home,
            "TMPDIR": home,
            "PYTHONHASHSEED": "0",
            "PYNGUIN_DANGER_AWARE": "1",
        }
        try:
            done = subprocess.run(
                command, cwd=home, env=environment, capture_output=True, text=True, timeout=3 * seconds + 60
            )
            said = "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        except subprocess.TimeoutExpired:
            said = f"killed: it had not ended {2 * seconds + 60} s after its budget of {seconds} s"
        executions, cpu, _ = form.unpack(progress.read_bytes())
    return {"executions": executions, "cpu": cpu, "said": said}


def answer(settings: Settings) -> Answer:
    """Cost of a test case, whole and bare, for each subject and factory, beside Pynguin."""
    modules = settings.pick(("semver.version",), SUBJECTS)
    before, seconds, repeats = settings.choose((3, 0.5, 1), (10, 3.0, 3))
    answer = Answer()
    costs = Table(
        "Whole loop / bare calls, microseconds of processor time per executed test case",
        (
            "",
            "sites",
            "executed",
            "calls each",
            "parent",
            "worker",
            "whole",
            "bare",
            "whole / bare",
            "test cases / CPU s",
        ),
        [],
    )
    others = Table(
        "Test cases per second of processor time, beside Pynguin",
        ("", "fitgym", *(f"Pynguin {name}" for name in ALGORITHMS), *(f"fitgym / {name}" for name in ALGORITHMS)),
        [],
    )
    for module in modules:
        folder = folder_of(module, settings.subjects)
        start = (module, folder, settings.seed, before)
        run = (*start, apart(enough, *start, seconds))
        figures: dict[str, Any] = {}
        answer.figures[module] = figures
        spans: dict[str, list[Span]] = {name: [] for name in FACTORIES}
        for repeat in range(repeats):
            for name in list(FACTORIES)[:: -1 if repeat % 2 else 1]:
                span, coverage = apart(timed, *run, environment={"FITGYM_SITES": FACTORIES[name]})
                spans[name].append(span)
        lines, imports, left_out = apart(recorded, *run)
        chunks = apart(replayed, lines, imports, folder, settings.choose(3, 10))
        bare = 1e6 * sum(map(min, chunks)) / len(lines)
        calls = sum(map(len, lines)) / len(lines)
        first = spans["C"][0]
        if len(lines) + left_out != first.executions:
            answer.notes.append(f"{module}: {len(lines) + left_out} test cases recorded, {first.executions} executed")
        figures |= {
            "spans": {name: [vars(span) for span in of_name] for name, of_name in spans.items()},
            "bare_microseconds": bare,
            "replayed": len(lines),
            "left_out": left_out,
            "chunks": chunks,
            "coverage": coverage,
        }
        for name, of_name in spans.items():
            least = min(of_name, key=lambda span: span.microseconds)
            each = 1e6 / least.executions
            rate = least.executions / least.cpu
            costs.rows.append(
                (
                    *(module, name, str(least.executions), f"{calls:.1f}"),
                    *(f"{value:.1f}" for value in (least.parent * each, least.worker * each, least.microseconds, bare)),
                    *(f"{least.microseconds / bare:.1f}", f"{rate:.0f}"),
                )
            )
            if name == "C":
                answer.targets.append(
                    Target(f"{module}: whole loop / bare calls", SUBJECTS[module], least.microseconds / bare)
                )
                fastest = rate
        others.rows.append(_beside(module, folder, fastest, settings, answer, figures))
    answer.tables += [costs, others]
    return answer


def _beside(
    module: str, folder: Path, rate: float, settings: Settings, answer: Answer, figures: dict[str, Any]
) -> tuple[str, ...]:
    """Pynguin on the same subject with the same seed."""
    rates: list[float | None] = []
    for algorithm in ALGORITHMS:
        if "pynguin" in settings.absent:
            rates.append(None)
            continue
        seconds = settings.choose(5, 60)
        found = pynguin(settings.peers["pynguin"], module, folder, algorithm, seconds, settings.seed)
        figures[f"pynguin_{algorithm.lower()}"] = found
        if found["said"]:
            answer.notes.append(f"Pynguin {algorithm} on {module}: {found['said']}")
        rates.append(found["executions"] / found["cpu"] if found["executions"] else None)
    if "pynguin" in settings.absent:
        answer.notes.append(settings.absent["pynguin"])
    for algorithm, other in zip(ALGORITHMS, rates, strict=True):
        if algorithm == "WHOLE_SUITE":  # the algorithm that fitgym runs here
            answer.targets.append(
                Target(
                    f"{module}: times Pynguin's rate, {algorithm}", TIMES_PYNGUIN, other and rate / other, at_least=True
                )
            )
    return (
        module,
        f"{rate:.0f}",
        *("-" if other is None else f"{other:.0f}" for other in rates),
        *("-" if other is None else f"{rate / other:.0f}" for other in rates),
    )
