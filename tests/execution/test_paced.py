"""Hanging test cases: stopped soon and not run again; completed test cases count when the budget ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fitgym.errors import OutOfBudget
from fitgym.execution.executor import Executor
from fitgym.execution.pace import LEAST_FUEL
from fitgym.messages.limits import Limits
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable, TestCase

SOURCE = '''
def count(n: int) -> int:
    """Needs n units of fuel, and never ends below 0."""
    while n != 0:
        n -= 1
    return n


def heavy(n: int) -> int:
    for _ in range(150_000):
        n += 1
    return n


def adds(n: int) -> int:
    """Stays in C."""
    return sum(range(10**12)) if n else n


def waits(n: int) -> int:
    import threading
    if n:
        threading.Event().wait()
    return n
'''


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[Executor]:
    path = tmp_path / "hanging.py"
    path.write_text(SOURCE)
    with Executor(locate(str(path)), Limits(seconds=4.0)) as executor:
        yield executor


class Calls:
    def __init__(self, executor: Executor) -> None:
        self.table = StatementTable()
        self._ids = {operation.name: operation.id for operation in executor.subject.operations}

    def __call__(self, *calls: tuple[str, int]) -> TestCase:
        return self.table.testcase([Statement(self._ids[name], -1, (Literal(str(n)),)) for name, n in calls])


def test_what_begins_like_a_hung_test_case_is_not_run(executor: Executor) -> None:
    calls = Calls(executor)
    (first,) = executor.run([calls(("count", 1), ("count", -1))], calls.table)
    assert first.failure == "fuel"
    executions = executor.executions
    (again,) = executor.run([calls(("count", 1), ("count", -1), ("count", 2))], calls.table)
    assert again is first and executor.executions == executions
    (other,) = executor.run([calls(("count", 2), ("count", -1))], calls.table)
    assert other.failure == "fuel" and executor.executions == executions + 1


def test_hung_test_cases_burn_less_than_the_limit_once_an_operation_is_known(executor: Executor) -> None:
    calls = Calls(executor)
    executor.run([calls(("count", n)) for n in range(20)], calls.table)
    traces = executor.run([calls(("count", -n)) for n in range(2, 5)], calls.table)
    assert [trace.failure for trace in traces] == ["fuel"] * 3
    assert all(trace.fuel < 2 * LEAST_FUEL for trace in traces)


def test_a_test_case_that_needs_more_than_is_usual_gets_it(executor: Executor) -> None:
    calls = Calls(executor)
    executor.run([calls(("count", n)) for n in range(20)], calls.table)
    (trace,) = executor.run([calls(("count", 40_000))], calls.table)
    assert not trace.failure and trace.fuel > 40_000
    (again,) = executor.verify([calls(("count", 40_000))], calls.table)
    assert again.fuel == trace.fuel  # the limit has grown, and stays


def test_an_operation_that_never_ends_with_the_limit_gets_more(executor: Executor) -> None:
    calls = Calls(executor)
    traces = executor.run([calls(("heavy", n)) for n in range(3)], calls.table)
    assert [trace.failure for trace in traces] == [""] * 3  # those after the first were run again
    (later,) = executor.run([calls(("heavy", 7))], calls.table)
    assert not later.failure and later.fuel > 150_000
    (seen,) = executor.observe([calls(("heavy", 7))], calls.table)
    assert not seen.failure


def test_limits_are_the_same_whatever_the_batches(tmp_path: Path) -> None:
    path = tmp_path / "hanging.py"
    path.write_text(SOURCE)
    seen = []
    for batch in (3, 100):
        with Executor(locate(str(path)), Limits(seconds=10.0, batch=batch)) as executor:
            calls = Calls(executor)
            numbers = [n * 37 % 101 - 50 for n in range(120)]
            traces = executor.run([calls(("count", 1), ("count", n * abs(n) * 8)) for n in numbers], calls.table)
            seen.append([(trace.failure, trace.fuel) for trace in traces])
    assert seen[0] == seen[1]


@pytest.mark.parametrize("function", ["adds", "waits"])
def test_a_quick_search_does_not_wait_long_for_what_never_ends(executor: Executor, function: str) -> None:
    executor.begin(quick=True)
    calls = Calls(executor)
    executor.run([calls((function, 0), ("count", n)) for n in range(40)], calls.table)
    executor.run([calls((function, 1))], calls.table)  # the first one gets a second attempt
    started = time.process_time(), time.monotonic()
    traces = executor.run([calls((function, n)) for n in (2, 3)], calls.table)
    assert [trace.failure for trace in traces] == ["timeout", "timeout"]
    assert time.monotonic() - started[1] < 3.0


def test_what_has_run_before_the_deadline_is_kept(executor: Executor) -> None:
    calls = Calls(executor)
    testcases = [calls(("count", n)) for n in range(40)] + [calls(("adds", 1))]
    executor.run(testcases[:1], calls.table)
    executor.deadline = time.monotonic() + 1.0
    with pytest.raises(OutOfBudget) as late:
        executor.run(testcases, calls.table)
    executor.deadline = None
    done = [trace is not None for trace in late.value.done]
    assert done[:32] == [True] * 32 and not done[-1]
    assert executor.executions >= 33
