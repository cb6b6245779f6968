"""Room: without room for an object, a call is not built, rather than with another argument."""

from __future__ import annotations

import random
import textwrap

import pytest

from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.subject.subject import Subject
from fitgym.testcase.expression import Ref
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import Rates
from fitgym.testcase.statement import Statement, StatementTable

PRICES = """
    class Price:
        def __init__(self, pence: int) -> None:
            self.pence = pence

    def voucher(total: Price, code: str) -> Price:
        return total

    def both(first: Price, second: Price) -> int:
        return 3

    class Node:
        def __init__(self, parent: "Node") -> None:
            self.parent = parent
"""


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    folder = tmp_path_factory.mktemp("prices")
    (folder / "prices.py").write_text(textwrap.dedent(PRICES))
    with Executor(locate("prices", str(folder))) as executor:
        return executor.subject


def made(subject: Subject, length: int) -> list[Statement]:
    """The calls of 200 test cases, each mutated five times."""
    table, rng = StatementTable(), random.Random(3)
    factory = TestFactory(subject, table, Rates(max_length=length))
    found: list[Statement] = []
    for _ in range(200):
        testcase = factory.random_test(rng)
        for _ in range(5):
            found += table.statements(testcase)
            testcase = factory.mutate(testcase, rng)
    return found


@pytest.mark.parametrize("length", [2, 3, 8])
def test_an_argument_of_a_declared_class_is_an_object(subject: Subject, length: int) -> None:
    of = {operation.name: operation.id for operation in subject.operations}
    calls = [one for one in made(subject, length) if one.operation in (of["voucher"], of["both"])]
    assert calls
    for call in calls:
        objects = call.args[:1] if call.operation == of["voucher"] else call.args
        assert all(isinstance(value, Ref) for value in objects), call


def test_a_class_that_needs_an_object_of_its_own_kind_begins_with_anything(subject: Subject) -> None:
    (node,) = (operation.id for operation in subject.operations if operation.name == "Node")
    parents = {type(one.args[0]) for one in made(subject, 8) if one.operation == node}
    assert len(parents) > 1 and Ref in parents
