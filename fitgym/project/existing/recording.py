"""Recording: a pytest session that runs existing tests once with probes, and then runs mutants on them.

The session collects the tests but runs none of them itself. A fork runs all tests in order, with the probes. For each
mutant, another fork replaces the code of one function and runs the tests that infect the mutant, up to the first
failure. Every run thus starts with the state directly after the collection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fitgym.project.existing.fork import Send, forked
from fitgym.project.existing.probes import Probes, WireRecord

__all__ = ["RanTest", "Recording"]

_GRACE_S = 10.0
"""Seconds after the time limit in which the running test may still end."""


@dataclass(frozen=True, slots=True)
class RanTest:
    """One test that was run.

    Attributes:
        name: its node id.
        outcome: "passed", "failed" or "skipped".
        seconds: duration.
        records: its records, by module.
        raised: module, class and function of exceptions that the test expects.
    """

    name: str
    outcome: str
    seconds: float
    records: dict[str, WireRecord] = field(default_factory=dict)
    raised: tuple[tuple[str, str, int], ...] = ()


class Recording:
    """A pytest plugin that replaces pytest's loop over the tests.

    Args:
        probes: in the modules of the project.
        tell: receives messages of built-in values: ("unusable", file, why), ("collected", number), ("test", ...) with
            the attributes of `RanTest`, ("late",), ("broken",).
        ignore: returns whether to skip a file.
        limit_s: seconds for all tests.
        then: runs the mutants; called with the session's items, a function that runs one, and the tests that ran.
    """

    def __init__(
        self,
        probes: Probes,
        tell: Send,
        *,
        ignore: Callable[[Path], bool],
        limit_s: float,
        then: Callable[[Sequence[pytest.Item], Runs, Sequence[RanTest]], None],
    ) -> None:
        self._probes = probes
        self._tell = tell
        self._ignore = ignore
        self._limit_s = limit_s
        self._then = then
        self._reports: list[pytest.TestReport] = []
        self._raised: dict[tuple[str, str, int], None] = {}

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Skip files without existing tests."""
        return True if collection_path.suffix == ".py" and self._ignore(collection_path) else None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Report a file that cannot be imported."""
        if report.failed:
            self._tell(("unusable", report.nodeid, _last_line(str(report.longrepr))))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the report of a phase of a test."""
        self._reports.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests in forks."""
        items = list(session.items)
        self._tell(("collected", len(items)))
        ran: list[RanTest] = []

        def heard(message: Any) -> None:
            self._tell(message)
            if message[0] == "test":
                ran.append(RanTest(*message[1:]))

        if items:
            limit = self._limit_s + min(_GRACE_S, self._limit_s)
            end = forked(lambda send: self._record(items, send), limit, heard).end
            if end != "done":
                heard(("late",) if end == "late" else ("broken",))
            self._then(items, self.run, ran)
        return True

    def run(self, item: pytest.Item, following: pytest.Item | None) -> str:
        """Run one test in this process; return "passed", "failed" or "skipped" (also for expected failures)."""
        self._reports.clear()
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        if any(report.failed for report in self._reports):
            return "failed"
        expected = any(hasattr(report, "wasxfail") for report in self._reports)
        passed = not expected and any(report.when == "call" and report.passed for report in self._reports)
        return "passed" if passed else "skipped"

    def _record(self, items: Sequence[pytest.Item], send: Send) -> None:
        """Run all tests and send the record of each."""
        self._probes.watch(lambda *found: self._raised.setdefault(found))
        end = time.monotonic() + self._limit_s
        for item, following in zip(items, [*items[1:], None], strict=True):
            if time.monotonic() >= end:
                send(("late",))
                return
            self._raised.clear()
            self._probes.begin()
            started = time.perf_counter()
            outcome = self.run(item, following)
            seconds = time.perf_counter() - started
            passed = outcome == "passed"
            records = self._probes.records() if passed else {}
            send(("test", item.nodeid, outcome, seconds, records, tuple(self._raised) if passed else ()))


Runs = Callable[[pytest.Item, pytest.Item | None], str]
"""Runs a test and returns its outcome."""


def _last_line(text: str) -> str:
    lines = [line.strip().removeprefix("E").strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or "Exception" in line]
    return (errors or lines or ["it cannot be imported"])[-1]
