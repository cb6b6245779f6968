"""A pytest plugin that runs the tests in a given order and writes the outcome of each.

Loaded by `pytest -p fitgym.suite.runs.verdicts --verdicts FILE --order N`. FILE gets one JSON object per line, written
immediately, so that the running test is known if the interpreter dies. After a failed assertion, the later assertions
of the test are tried as well, so that one run finds all that do not hold. A test that does not end in time is
interrupted, and the tests after it still run.
"""

from __future__ import annotations

import ast
import datetime
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import pytest

from fitgym.suite.messages import MESSAGE, NOT_ENDED
from fitgym.suite.runs.hidden_packages import hide, imported
from fitgym.suite.runs.other_machine import arrive

__all__ = ["Verdicts", "order_of"]

_AGAIN_S = 0.5  # until a test is interrupted once more, because it may handle every exception


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--verdicts", default="", help="file that gets one line per test")
    parser.addoption(
        "--elsewhere", action="store_true", help="as on another machine, see fitgym.suite.runs.other_machine"
    )
    parser.addoption("--hidden", default="", help="packages to import as if they were not installed, with commas")
    parser.addoption("--still", type=float, default=0.0, help="seconds after which a test is interrupted, 0 for never")
    parser.addoption("--order", type=int, default=0, help="0 as written, 1 reversed, n shuffled with seed n")


def pytest_configure(config: pytest.Config) -> None:
    verdicts = Verdicts(Path(config.getoption("--verdicts")), config.getoption("--still"))
    if config.getoption("--verdicts"):
        config.pluginmanager.register(verdicts, "fitgym-verdicts")
    sys.argv[1:] = ["tests"]  # what users write, in place of our own options
    if config.getoption("--elsewhere"):
        arrive(verdicts.looked)
    if hidden := config.getoption("--hidden"):
        hide(frozenset(hidden.split(",")), verdicts.asked)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items[:] = [items[index] for index in order_of(len(items), config.getoption("--order"))]


def order_of(size: int, order: int) -> list[int]:
    """Return permutation number `order` of `size` tests: 0 as written, 1 reversed, others shuffled."""
    indexes = list(range(size))
    if order == 1:
        indexes.reverse()
    elif order > 1:
        random.Random(order).shuffle(indexes)
    return indexes


class _Interrupted(BaseException):
    """The test did not end in time."""


class Verdicts:
    """Writes events, one JSON object per line: `{"test": name, "event": ...}`.

    Events: "start"; "end" with `passed`, `assertions` (indexes of those that do not hold), `error` and `seconds`;
        "wrote" after a test that left or changed something in the current folder, or looked at a file of the project
        in it; "asked" with the `package` if a test, or for "" the import of the file, asks for a hidden package;
        "imported" at the end with the imported `packages`; "unusable" if the file cannot be imported; "skipped" if it
        is skipped as a whole.
    """

    def __init__(self, path: Path, still_s: float = 0.0) -> None:
        self._path = path
        self._still_s = still_s
        self._folder = Path.cwd()
        self._threads = threading.enumerate()
        self._clocks: dict[tuple[Any, str], object] = {}
        self._seconds = 0.0  # of the last test
        self._looked = False  # the test looked at a file of the project
        self._running = ""
        self._known = frozenset(sys.modules)

    def looked(self) -> None:
        """Note that the running test looks at a file of the project in the current folder."""
        self._looked = True

    def asked(self, package: str) -> None:
        """Write that the running test asks for a hidden package."""
        self._write(event="asked", test=self._running, package=package)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write that the file cannot be imported, or is skipped."""
        if report.failed:
            self._write(event="unusable", test="", error=_last_line(report.longrepr))
        elif report.skipped:
            self._write(event="skipped", test="")

    def pytest_collection_finish(self) -> None:
        """Note the clocks: what the import of the file does to them is not the fault of a test."""
        self._clocks = {
            (module, name): value
            for module in (time, datetime)
            for name, value in vars(module).items()
            if callable(value)
        }

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Write which test begins."""
        self._running = nodeid.rpartition("::")[2]
        self._write(event="start", test=self._running)

    def pytest_sessionfinish(self) -> None:
        """Write which packages were imported."""
        self._write(event="imported", test="", packages=imported(self._known))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Run a test, and write whether it changed the folder."""
        before = _entries(self._folder)
        # Libraries that stop the time replace the other clocks in every module, so pytest's duration may be years.
        began = time.clock_gettime(time.CLOCK_MONOTONIC)
        self._looked = False
        known = signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, self._still_s, _AGAIN_S)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, known)
            self._seconds = time.clock_gettime(time.CLOCK_MONOTONIC) - began
            if self._looked or _entries(self._folder) != before:
                self._write(event="wrote", test=item.name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Write the outcome of a test."""
        report = yield
        error = call.excinfo
        if error is not None and isinstance(error.value, _Interrupted):
            self._write_end(item, error=NOT_ENDED)
        elif error is not None and not isinstance(error.value, pytest.skip.Exception):
            name = type(error.value).__name__
            assertions = failed_assertions(item, error.tb) if call.when == "call" else []
            self._write_end(item, assertions=assertions, error=name)
        elif call.when == "call":
            self._write_end(item)
        if call.when == "call" and self._leaves_thread():
            self._write_end(item, error="a thread does not end")
        if call.when == "teardown" and self._leaves_clock():
            self._write_end(item, error="a clock stays replaced")
        return report

    def _leaves_thread(self) -> bool:
        """Return whether a new thread would keep the interpreter from exiting; each thread is reported once."""
        left = False
        for thread in threading.enumerate():
            if thread not in self._threads and not thread.daemon:
                thread.join(0.5)
                if thread.is_alive():
                    self._threads.append(thread)
                    left = True
        return left

    def _leaves_clock(self) -> bool:
        """Return whether a function or class of `time` or `datetime` is another one than before; put it back.

        Test runners measure with them, so a run with such a test may end in an error of its own.
        """
        replaced = [place for place, clock in self._clocks.items() if vars(place[0]).get(place[1]) is not clock]
        for module, name in replaced:
            setattr(module, name, self._clocks[module, name])
        return bool(replaced)

    def _write_end(self, item: pytest.Item, assertions: Sequence[int] = (), error: str = "") -> None:
        entry = {"passed": not error, "assertions": assertions, "error": error, "seconds": round(self._seconds, 6)}
        self._write(event="end", test=item.name, **entry)

    def _write(self, **entry: Any) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise _Interrupted


def _entries(folder: Path) -> list[tuple[str, int, int]]:
    """Return the entries of a folder with size and modification time."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            state = entry.stat(follow_symlinks=False)
            found.append((entry.name, state.st_size, state.st_mtime_ns))
    return sorted(found)


def failed_assertions(item: pytest.Item, traceback: TracebackType | None) -> list[int]:
    """Return indexes of the checks of a test that do not hold, empty if something else in it failed.

    A check is an `assert` statement or a call of a method of the test case whose name begins with `assert`. The index
    of a missing expected message is `MESSAGE`.
    """
    code = getattr(getattr(item, "function", None), "__code__", None)
    while traceback is not None and traceback.tb_frame.f_code is not code:
        traceback = traceback.tb_next
    if traceback is None:
        return []
    function = _function(ast.parse(item.path.read_text(encoding="utf-8")), item.name)
    body = function.body if function is not None else []
    checks = [node for node in body if _is_check(node)]
    line = traceback.tb_lineno
    if any(_expects_message(node) and node.lineno <= line < _first_line(node) for node in body):
        return [MESSAGE]
    first = next((i for i, node in enumerate(checks) if node.lineno <= line <= (node.end_lineno or 0)), None)
    if first is None:
        return []
    later = [i for i in range(first + 1, len(checks)) if not _holds(checks[i], traceback.tb_frame)]
    return [first, *later]


def _function(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    """Return the test function of that name, in the module or in one of its classes."""
    classes = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    functions = (node for body in (tree.body, *classes) for node in body if isinstance(node, ast.FunctionDef))
    return next((node for node in functions if node.name == name), None)


def _is_check(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        return isinstance(called, ast.Attribute) and called.attr.startswith("assert") and _is_self(called.value)
    return isinstance(node, ast.Assert)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _expects_message(node: ast.stmt) -> bool:
    """Return whether this is `with pytest.raises(..., match=...)` or `with self.assertRaisesRegex(...)`."""
    if not isinstance(node, ast.With) or not isinstance(call := node.items[0].context_expr, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name == "assertRaisesRegex" or (name == "raises" and bool(call.keywords))


def _first_line(node: ast.stmt) -> int:
    """Return the first line of the body of a `with`."""
    return node.body[0].lineno if isinstance(node, ast.With) else node.lineno


def _holds(statement: ast.stmt, frame: FrameType) -> bool:
    """Return whether the check passes with the variables of the frame."""
    try:
        code = compile(ast.Module([statement], []), "<check>", "exec")
        exec(code, frame.f_globals, dict(frame.f_locals))
    except BaseException:  # operators of the subject may raise anything
        return False
    return True


def _last_line(text: object) -> str:
    lines = [line for line in str(text).splitlines() if line.strip()]
    return lines[-1].removeprefix("E").strip() if lines else ""
