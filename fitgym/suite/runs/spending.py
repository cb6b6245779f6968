"""A pytest plugin that measures time, memory and lines of the test bodies, without the overhead of pytest.

Loaded by `pytest -p fitgym.suite.runs.spending --spending FILE [--trace-memory] [--count-lines]`. When all tests have
run, FILE receives one JSON object:

- `tests` and `failed`, numbers of tests;
- `seconds` and `processor`, wall time and processor time summed over the tests;
- `peak`, with `--trace-memory` the largest increase of Python's memory during a test, in bytes;
- `lines`, with `--count-lines` the number of executed lines, repetitions included, without those of the tests and
  pytest;
- `resident`, the largest resident memory of the process, in bytes.
"""

from __future__ import annotations

import functools
import json
import resource
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

__all__ = ["Spending"]

TraceFunction = Callable[[FrameType, str, Any], Any]

_TOOLS = ("_pytest", "pytest", "unittest")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--spending", default="", help="file that gets the sums")
    parser.addoption("--trace-memory", action="store_true", help="trace memory, which makes everything slower")
    parser.addoption("--count-lines", action="store_true", help="count lines, which makes everything slower")


def pytest_configure(config: pytest.Config) -> None:
    if path := config.getoption("--spending"):
        trace, count = config.getoption("--trace-memory"), config.getoption("--count-lines")
        config.pluginmanager.register(Spending(Path(path), trace=trace, count=count), "fitgym-spending")


class Spending:
    """Sums up time, memory and lines of tests.

    Args:
        path: the file to write.
        trace: trace memory.
        count: count lines.
    """

    def __init__(self, path: Path, *, trace: bool, count: bool) -> None:
        self._path = path
        self._trace = trace
        self._count = count
        self._suite = ""
        self._below = [False]  # for each running frame of the suite or a tool: whether lines in its callees count
        self._sums: dict[str, float] = dict.fromkeys(("tests", "failed", "seconds", "processor", "peak", "lines"), 0)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Wrap the body of a test (a function or a method of unittest) so that it is measured."""
        if isinstance(item, pytest.Function):
            self._suite = str(item.path)
            item.obj = self._measured(item.obj)

    def _measured(self, test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def measured(*arguments: Any, **more: Any) -> Any:
            sums = self._sums
            sums["tests"] += 1
            before = 0
            if self._trace:
                tracemalloc.start()
                before = tracemalloc.get_traced_memory()[0]
            if self._count:
                sys.settrace(self._called)
            started, processor = time.perf_counter(), time.process_time()
            try:
                return test(*arguments, **more)
            except BaseException:
                sums["failed"] += 1
                raise
            finally:
                sums["processor"] += time.process_time() - processor
                sums["seconds"] += time.perf_counter() - started
                if self._count:
                    sys.settrace(None)
                if self._trace:
                    sums["peak"] = max(sums["peak"], tracemalloc.get_traced_memory()[1] - before)
                    tracemalloc.stop()

        return measured

    def _called(self, frame: FrameType, event: str, argument: Any) -> TraceFunction | None:
        """Count the lines of frames called from the suite, unless a frame of pytest or unittest is in between."""
        of_suite = frame.f_code.co_filename == self._suite
        if of_suite or str(frame.f_globals.get("__name__")).partition(".")[0] in _TOOLS:
            self._below.append(of_suite)
            return self._returned
        return self._ran if self._below[-1] else None

    def _returned(self, frame: FrameType, event: str, argument: Any) -> TraceFunction:
        if event == "return":
            self._below.pop()
        return self._returned

    def _ran(self, frame: FrameType, event: str, argument: Any) -> TraceFunction:
        self._sums["lines"] += event == "line"
        return self._ran

    def pytest_sessionfinish(self) -> None:
        """Write the sums."""
        unit = 1 if sys.platform == "darwin" else 1024
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        self._path.write_text(json.dumps({**self._sums, "resident": resident}), "utf-8")
