"""A watched test run: pytest under coverage.py, which records the lines of each test separately.

This file runs in its own interpreter, started by `fitgym.project.report.covered`. It uses the project's own pytest
configuration, with three exceptions: pytest-cov is disabled, pytest-xdist starts no workers, and no failure ends the
run.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from coverage import Coverage

__all__ = ["Watcher", "main", "test_id"]

WORST = ("passed", "skipped", "failed")
"""Outcomes from best to worst; a test function with several cases has the worst of their outcomes."""


def test_id(nodeid: str) -> str:
    """Return the id of the test function of a pytest item: its node id without parameters."""
    file, separator, name = nodeid.partition("::")
    return file + separator + name.partition("[")[0]


test_id.__test__ = False  # type: ignore[attr-defined]  # or pytest would collect it in test modules that import it


class Watcher:
    """A pytest plugin that tells coverage.py the running test, and records its outcome.

    Args:
        coverage: the running measurement.
        ignored: test files to skip.

    Attributes:
        tests: for each test function its `file` (absolute), `line`, number of `cases`, `outcome` and `message`.
        broken: the error of each file that could not be collected.
    """

    def __init__(self, coverage: Coverage, ignored: Collection[str] = ()) -> None:
        self.tests: dict[str, dict[str, Any]] = {}
        self.broken: dict[str, str] = {}
        self._coverage = coverage
        self._ignored = frozenset(ignored)

    @pytest.hookimpl(wrapper=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Generator[None, object, object]:
        """Disable pytest-cov, which would replace this measurement.

        pytest-cov reads its options in this hook, so they are set before its implementation runs.
        """
        if hasattr(early_config.known_args_namespace, "no_cov"):
            early_config.known_args_namespace.no_cov = True
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Configure pytest to run all tests, in this process."""
        config.option.maxfail = 0
        config.option.continue_on_collection_errors = True
        if hasattr(config.option, "dist"):
            config.option.dist = "no"

    @pytest.hookimpl(wrapper=True)
    def pytest_ignore_collect(self, collection_path: Path) -> Generator[None, bool | None, bool | None]:
        """Skip ignored files, whatever other hooks return (a hook that returns False overrides `--ignore`)."""
        answer = yield
        return True if os.path.realpath(collection_path) in self._ignored else answer

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure a test with its fixtures under its own name."""
        name = test_id(item.nodeid)
        seen = self.tests.setdefault(name, {"cases": 0, "outcome": "passed", "message": ""})
        seen |= {"file": os.path.realpath(item.path), "line": (item.location[1] or 0) + 1, "cases": seen["cases"] + 1}
        before = sys.gettrace()
        self._coverage.switch_context(name)
        try:
            return (yield)
        finally:
            if (
                sys.gettrace() is not before
            ):  # a test that sets a trace function would end the measurement of all later tests
                sys.settrace(before)
            self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Store the worst outcome of a test function."""
        seen = self.tests.get(test_id(report.nodeid))
        if seen is not None and WORST.index(report.outcome) > WORST.index(seen["outcome"]):
            seen |= {"outcome": report.outcome, "message": _message(report)}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Store the error of a file that cannot be imported."""
        if report.failed:
            self.broken[report.nodeid] = _message(report)


def _message(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test failed or was skipped, in one line."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else report.longreprtext
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return (lines[0] if crash is not None else lines[-1].removeprefix("E ").strip()) if lines else ""


def main(request: str) -> None:
    """Run pytest as requested, and write the results.

    Args:
        request: a JSON object: `path` (folders for `sys.path`), `files` (to measure), `ignored` (test files), `data`
            (file of coverage.py), `result` (JSON file with `code`, `tests` and `broken`), `arguments` (of pytest).
    """
    import coverage

    asked = json.loads(request)
    sys.path[:0] = asked["path"]
    measured = coverage.Coverage(
        data_file=asked["data"], config_file=False, branch=True, include=asked["files"], messages=False
    )
    watcher = Watcher(measured, asked["ignored"])
    measured.start()
    try:
        code = int(pytest.main(asked["arguments"], plugins=[watcher]))
    finally:
        measured.stop()
        measured.save()
    result = {"code": code, "tests": watcher.tests, "broken": watcher.broken}
    Path(asked["result"]).write_text(json.dumps(result), encoding="utf-8")
