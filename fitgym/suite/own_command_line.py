"""Own command lines: a test that reads the command line must not read that of whoever runs it."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.engine.workbench import Workbench
from fitgym.subject.subject import SET_COMMAND_LINE
from fitgym.testcase.expression import Collection, Literal
from fitgym.testcase.statement import Statement, TestCase

__all__ = ["with_own_command_line"]

_ANOTHER = (Literal("'tests'"),)


def with_own_command_line(engine: Workbench, testcases: Sequence[TestCase]) -> list[TestCase]:
    """Return the test cases. One that reads the command line without setting it now starts by setting an empty one.

    The command line of the search is empty, too. A test case reads the command line if it behaves differently with another
    one.
    """
    operations = engine.subject.operations
    setter = next((one.id for one in operations if (one.module, one.name) == SET_COMMAND_LINE), -1)
    if setter < 0:
        return list(testcases)
    setting = {
        testcase for testcase in testcases if any(one.operation == setter for one in engine.table.statements(testcase))
    }
    unset = [testcase for testcase in testcases if testcase not in setting]

    def after(words: tuple[Literal, ...], testcase: TestCase) -> TestCase:
        statements = engine.table.statements(testcase)
        later = {position: position + 1 for position in range(len(statements))}
        first = Statement(setter, args=(Collection("list", words),))
        return engine.table.testcase([first, *(statement.moved(later) for statement in statements)])

    own = {testcase: after((), testcase) for testcase in unset}
    seen = engine.observe(list(own.values()))
    other = engine.observe([after(_ANOTHER, testcase) for testcase in unset])
    reading = {testcase for testcase, one, two in zip(unset, seen, other, strict=True) if one != two}
    engine.execute([own[testcase] for testcase in unset if testcase in reading])
    return list(dict.fromkeys(own[testcase] if testcase in reading else testcase for testcase in testcases))
