"""Makes test cases of an executor from the names of operations."""

from __future__ import annotations

from fitgym.execution.executor import Executor
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["Calls"]


class Calls:
    """Builds test cases of one executor from the names of operations."""

    def __init__(self, executor: Executor) -> None:
        self.ids = {o.name: o.id for o in executor.subject.operations}
        self.table = StatementTable()

    def __call__(self, *steps: tuple[object, ...]) -> TestCase:
        """Return one statement for each `(name, *arguments)`; methods act on the first statement's result."""
        statements = []
        for name, *arguments in steps:
            receiver = 0 if "." in str(name) else -1
            statements.append(
                Statement(self.ids[str(name)], receiver, tuple(Literal(repr(argument)) for argument in arguments))
            )
        return self.table.testcase(statements)
