"""A pytest plugin: how much time and memory the bodies of the tests take, without what pytest takes itself.

Loaded by `pytest -p fitgym.suite.spending --spending FILE [--trace-memory]`. The file gets one JSON object when all tests
have run: `tests`, `failed`, `seconds` and `processor` (the sums over the tests, wall clock and processor), `peak` (with
`--trace-memory` the most bytes that Python held during a test beyond what it held before) and `resident` (the most bytes
that the process ever occupied).
"""

from __future__ import annotations

import json
import resource
import sys
import time
import tracemalloc
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Spending"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--spending", default="", help="file that gets the sums")
    parser.addoption("--trace-memory", action="store_true", help="trace memory, which makes everything slower")


def pytest_configure(config: pytest.Config) -> None:
    if path := config.getoption("--spending"):
        config.pluginmanager.register(Spending(Path(path), trace=config.getoption("--trace-memory")), "fitgym-spending")


class Spending:
    """Sums up what tests take.

    Args:
        path: the file to write.
        trace: trace memory.
    """

    def __init__(self, path: Path, *, trace: bool) -> None:
        self._path = path
        self._trace = trace
        self._sums: dict[str, float] = {"tests": 0, "failed": 0, "seconds": 0.0, "processor": 0.0, "peak": 0}

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
        """Run a test and add what it took."""
        sums = self._sums
        sums["tests"] += 1
        before = 0
        if self._trace:
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
        started, processor = time.perf_counter(), time.process_time()
        try:
            return (yield)
        except BaseException:
            sums["failed"] += 1
            raise
        finally:
            sums["processor"] += time.process_time() - processor
            sums["seconds"] += time.perf_counter() - started
            if self._trace:
                sums["peak"] = max(sums["peak"], tracemalloc.get_traced_memory()[1] - before)
                tracemalloc.stop()

    def pytest_sessionfinish(self) -> None:
        """Write the sums."""
        unit = 1 if sys.platform == "darwin" else 1024
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        self._path.write_text(json.dumps({**self._sums, "resident": resident}), "utf-8")
