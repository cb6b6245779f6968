"""Where does a search spend its time? Samples the parent and the worker by file.

The parent is sampled while it searches. The worker cannot be sampled in place. So its requests are recorded and
answered once more in a separate process, without forks.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import fitgym
from fitgym.execution.executor import Limits
from fitgym.execution.zygote import Zygote
from fitgym.messages.journal import Journal
from fitgym.messages.protocol import read_trusted
from fitgym.sandbox.sandbox import restrict
from fitgym.subject.source import locate
from fitgym.worker.runner import Runner
from questions.answer import Answer, Settings, Table
from questions.processes import apart
from questions.searching import engine_on, folder_of, spent

__all__ = ["answer"]

MODULES = ("semver.version", "sortedcontainers.sortedlist", "string_utils.validation", "numeric")
INTERVAL = 0.001
"""Seconds of processor time between two samples; the kernel's clock may make them longer."""

SHOWN = 12


@contextmanager
def sampling(subject: str) -> Iterator[Counter[str]]:
    """Count samples of this process by file of fitgym; the innermost file counts, including those of `subject`."""
    root = os.path.dirname(fitgym.__file__) + os.sep
    seen: Counter[str] = Counter()

    def look(number: int, frame: FrameType | None) -> None:
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(root) or file == subject:
                seen["the subject" if file == subject else file.removeprefix(root).removesuffix(".py")] += 1
                return
            frame = frame.f_back
        seen["elsewhere"] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        yield seen
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def of_parent(module: str, folder: Path, seed: int, before: int, generations: int) -> tuple[Counter[str], float]:
    """Return samples of a search without its first generations, and microseconds per executed test case."""
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, before)
        with sampling(engine.subject.reference.path) as seen:
            span = spent(engine, generations)
    return seen, 1e6 * span.parent / span.executions


def asked(module: str, folder: Path, seed: int, generations: int) -> list[bytes]:
    """Record the requests to the worker in a search."""
    requests: list[bytes] = []
    ask = Zygote.ask

    def asking(self: Zygote, payload: bytes, *limits: Any, **named: Any) -> bytes:
        answer = ask(self, payload, *limits, **named)
        requests.append(payload)  # requests that broke a process are left out
        return answer

    Zygote.ask = asking  # type: ignore[method-assign]
    with engine_on(module, folder, seed=seed) as engine:
        spent(engine, generations)
    return requests


def of_worker(module: str, folder: Path, requests: list[bytes]) -> tuple[Counter[str], float]:
    """Sample a runner that answers these requests in this process; returns microseconds per test case too."""
    reference = locate(module, folder)
    home = tempfile.mkdtemp()
    os.chdir(home)
    limits, journal = Limits(), Journal(Journal.create())
    guard = restrict(home, memory_mb=4096, file_mb=limits.file_mb, files=limits.files, mode="polite")
    runner = Runner.prepare(reference, limits, journal, guard)
    runner.settle()
    runner.begin()
    runner.wake()
    testcases = 0
    started = time.process_time()
    with sampling(reference.path) as seen:
        for payload in requests:
            request = read_trusted(payload)
            testcases += len(request[3])
            runner.answer(request)
    took = time.process_time() - started
    guard.mode = "off"
    return seen, 1e6 * took / testcases


def answer(settings: Settings) -> Answer:
    """Measure the shares of the files that take the most time."""
    modules = settings.pick(MODULES[:1], MODULES)
    before, generations = settings.choose((3, 20), (10, 200))
    result = Answer()
    for module in modules:
        folder = folder_of(module, settings.subjects)
        requests = apart(asked, module, folder, settings.seed, generations)
        for side, (seen, each) in (
            ("the parent", apart(of_parent, module, folder, settings.seed, before, generations)),
            ("the worker, without forks", apart(of_worker, module, folder, requests)),
        ):
            total = max(1, sum(seen.values()))
            shown = seen.most_common(SHOWN)
            shown.append(("others", sum(seen.values()) - sum(count for _, count in shown)))
            rows: list[tuple[str, ...]] = [(file, f"{100 * count / total:.1f} %") for file, count in shown]
            result.tables.append(
                Table(f"{module}: {side}, {each:.0f} us for each test case, {total} samples", ("", "share"), rows)
            )
            result.figures[f"{module} {side}"] = {"samples": dict(seen), "microseconds": each}
    return result
