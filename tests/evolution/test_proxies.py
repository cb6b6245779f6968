"""Performance proxies: numbers by hand on a small program, and their score and heuristic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fitgym.evolution.proxies import PROXIES, Proxies, performance_heuristic, performance_score
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable

PROGRAM = """\
class Box:
    def __init__(self, size: int) -> None:
        self.size = size

    @property
    def double(self) -> int:
        return 2 * self.size


def once(n: int) -> int:
    return n + 1


def boxes(n: int) -> int:
    total = 0
    for i in range(n):
        box = Box(i)
        pair = [i, once(i)]
        total += box.size
    return total
"""


@pytest.fixture(scope="module")
def measure(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("program") / "boxes.py"
    path.write_text(PROGRAM, "utf-8")
    with Executor(locate(str(path))) as executor:
        table = StatementTable()
        operations = {operation.name: operation.id for operation in executor.subject.operations}
        proxies = Proxies(executor.subject, table)

        def run(*calls: tuple[Any, ...]) -> dict[str, float]:
            statements = [
                Statement(operations[name], receiver, tuple(map(Literal, arguments)))
                for name, receiver, *arguments in calls
            ]
            testcase = table.testcase(statements)
            values = proxies.of([testcase], executor.run([testcase], table))
            return dict(zip(PROXIES, values[0].tolist(), strict=True))

        yield run


def test_a_call_that_does_little(measure: Any) -> None:
    assert measure(("once", -1, "1")) == {
        "executed_loops": 0,
        "covered_calls": 1,
        "test_calls": 1,
        "instantiations": 0,
        "covered_statements": 1,
        "test_statements": 0,
        "test_length": 1,
    }


def test_loops_calls_and_objects_count_by_how_often_they_happen(measure: Any) -> None:
    found = measure(("boxes", -1, "3"))
    assert found["covered_calls"] == 1 + 3 + 3  # boxes, Box, once
    assert found["instantiations"] == 3 * 2  # a Box and a list in each round
    assert found["executed_loops"] == 3 and measure(("boxes", -1, "1"))["executed_loops"] == 0
    assert found["covered_statements"] > measure(("boxes", -1, "2"))["covered_statements"]
    assert measure(("boxes", -1, "1"))["instantiations"] == 0  # what ran once is left out


def test_what_is_no_call_is_counted_apart(measure: Any) -> None:
    found = measure(("Box", -1, "1"), ("Box.double", 0))
    assert (found["test_calls"], found["test_statements"], found["test_length"]) == (1, 1, 2)


def test_the_score_by_hand() -> None:
    values = np.array([[0.0] * 7, [1.0] * 7, [0, 1, 3, 0, 0, 0, 0]])
    assert performance_score(values) == pytest.approx([0.0, 3.5, 0.5 + 0.75])


def test_the_heuristic_by_hand() -> None:
    values = np.array([[1.0, 5.0, 2.0], [3.0, 5.0, 4.0], [2.0, 5.0, 2.0]])
    assert performance_heuristic(values) == pytest.approx([1 + 0.5 + 1, 0 + 0.5 + 0, 0.5 + 0.5 + 1])
    assert performance_heuristic(np.zeros((0, 7))).tolist() == []


@given(arrays(np.float64, (6, 7), elements=st.integers(0, 10_000).map(float)))
def test_who_costs_less_in_everything_has_the_better_score_and_heuristic(values: Any) -> None:
    scores, heuristic = performance_score(values), performance_heuristic(values)
    assert ((scores >= 0) & (scores < 7)).all() and ((heuristic >= 0) & (heuristic <= 7)).all()
    for one, other in zip(range(6), range(1, 6), strict=False):
        if (values[one] < values[other]).all():
            assert scores[one] < scores[other] and heuristic[one] > heuristic[other]
