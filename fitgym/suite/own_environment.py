"""Own environments: a test must not read the command line, the standard input or the time of whoever runs it."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.engine.workbench import Workbench
from fitgym.subject.subject import SET_CLOCK, SET_COMMAND_LINE, SET_INPUT
from fitgym.testcase.expression import Collection, Expression, Literal
from fitgym.testcase.statement import Statement, TestCase

__all__ = ["with_own_environment", "without_unread_clocks"]

_MOMENTS = (Literal("'2019-07-07 21:32'"), Literal("'2031-11-13 06:05'"), Literal("'1995-05-26 15:45'"))
_OWN: tuple[tuple[tuple[str, str], tuple[Expression, ...], tuple[Expression, ...]], ...] = (
    (SET_COMMAND_LINE, (Collection("list", ()),), (Collection("list", (Literal("'tests'"),)),)),
    (SET_INPUT, (Literal("''"),), (Literal("'y\\n'"),)),
    (SET_CLOCK, (Literal("'2024-01-15 10:00'"), Literal("'2023-11-07 22:13'")), _MOMENTS),
)
"""What a test sets: the operation, values that it sets, and other ones, to find out whether it matters.

The last moment has the year, the month, the day of the week and the hour of the clock in the search.
"""


def with_own_environment(engine: Workbench, testcases: Sequence[TestCase]) -> list[TestCase]:
    """Return the test cases. One that reads something without setting it now starts by setting it.

    This is about the command line, the standard input and the time. A test case reads one of them if it behaves
    differently with another value. In the search the first two are empty, and the clock shows another time than the one
    that is set here. So a test case is left as it is if it would cover less.

    Raises:
        OutOfBudget: the deadline passed.
    """
    found = list(testcases)
    for operation, values, others in _OWN:
        setter = next((one.id for one in engine.subject.operations if (one.module, one.name) == operation), -1)
        if setter >= 0:
            for value in values:
                found = _with_own(engine, found, setter, value, others)
    return found


def without_unread_clocks(engine: Workbench, testcases: Sequence[TestCase]) -> list[TestCase]:
    """Return the test cases. One that stops the clock now stops it only for what it asks, `time` or `datetime`.

    A test case asks for neither of them if it behaves in the same way when that one shows another moment.

    Raises:
        OutOfBudget: the deadline passed.
    """
    found = {testcase: testcase for testcase in testcases}
    for kind in ("time", "datetime"):
        places = {testcase: place for testcase, now in found.items() if (place := _stopped(engine, now, kind)) >= 0}
        if not places:
            continue
        seen = [
            engine.observe([_again(engine, found[testcase], at, kind, value) for testcase, at in places.items()])
            for value in (None, *_MOMENTS)
        ]
        for (testcase, at), (first, *moved) in zip(places.items(), zip(*seen, strict=True), strict=True):
            if all(one == first for one in moved):
                found[testcase] = _without(engine, found[testcase], at, kind)
    engine.execute(found.values())
    return list(dict.fromkeys(found.values()))


def _stopped(engine: Workbench, testcase: TestCase, kind: str) -> int:
    """Return the position of the only statement that stops the clock, -1 if it is not the only one or leaves `kind`."""
    statements = engine.table.statements(testcase)
    stops = [place for place, one in enumerate(statements) if engine.subject.operations[one.operation].stops_clock]
    return stops[0] if len(stops) == 1 and kind in dict(statements[stops[0]].kwargs) else -1


def _again(engine: Workbench, testcase: TestCase, at: int, kind: str, value: Expression | None) -> TestCase:
    """Return the test case with the clock stopped again for `kind`: at another moment, or at the same one for None."""
    statements = engine.table.statements(testcase)
    again = statements[at].with_arguments(
        statements[at].args if value is None else (value,), ((kind, Literal("True")),)
    )
    later = {position: position + (position > at) for position in range(len(statements))}
    return engine.table.testcase([*statements[: at + 1], again, *(one.moved(later) for one in statements[at + 1 :])])


def _without(engine: Workbench, testcase: TestCase, at: int, kind: str) -> TestCase:
    """Return the test case without stopping the clock for `kind`."""
    statements = list(engine.table.statements(testcase))
    left = tuple(pair for pair in statements[at].kwargs if pair[0] != kind)
    if left:
        statements[at] = statements[at].with_arguments(statements[at].args, left)
        return engine.table.testcase(statements)
    later = {position: position - (position > at) for position in range(len(statements))}
    return engine.table.testcase([*statements[:at], *(one.moved(later) for one in statements[at + 1 :])])


def _with_own(
    engine: Workbench, testcases: Sequence[TestCase], setter: int, value: Expression, others: Sequence[Expression]
) -> list[TestCase]:
    unset = [one for one in testcases if all(it.operation != setter for it in engine.table.statements(one))]
    if engine.subject.operations[setter].stops_clock:
        asking = _asking(engine)
        unset = [one for one in unset if engine.has_trace(one) and asking & {*_reached(engine, one)}]
    own = {testcase: _after(engine, setter, value, testcase) for testcase in unset}
    seen = engine.observe(list(own.values()))
    changed = [engine.observe([_after(engine, setter, other, testcase) for testcase in unset]) for other in others]
    reading = [
        testcase
        for testcase, first, *moved in zip(unset, seen, *changed, strict=True)
        if any(one != first for one in moved)
    ]
    engine.execute([own[testcase] for testcase in reading])
    better = {testcase: own[testcase] for testcase in reading if not _loses(engine, testcase, own[testcase])}
    return list(dict.fromkeys(better.get(testcase, testcase) for testcase in testcases))


def _asking(engine: Workbench) -> set[int]:
    """Return the entry sites of the functions that read the clock."""
    lines = [line for clock in engine.subject.clocks for line in clock.lines]
    functions = engine.subject.functions[1:]
    return {one.entry for one in functions if any(one.line <= line <= one.end_line for line in lines)}


def _reached(engine: Workbench, testcase: TestCase) -> memoryview:
    """Return the ids of the sites that an executed test case reached."""
    return memoryview(engine.trace(testcase).reached[0]).cast("I")


def _after(engine: Workbench, setter: int, value: Expression, testcase: TestCase) -> TestCase:
    """Return the test case after a statement that sets the value."""
    statements = engine.table.statements(testcase)
    later = {position: position + 1 for position in range(len(statements))}
    return engine.table.testcase(
        [_setting(engine, setter, value), *(statement.moved(later) for statement in statements)]
    )


def _setting(engine: Workbench, setter: int, value: Expression) -> Statement:
    """Return the statement that sets the value; the clock is stopped for all that the code asks."""
    others = [one.name for one in engine.subject.operations[setter].parameters if one.kind == "keyword_only"]
    return Statement(setter, args=(value,), kwargs=tuple((name, Literal("True")) for name in others))


def _loses(engine: Workbench, before: TestCase, after: TestCase) -> bool:
    """Return whether a test case covers a target that the other one does not cover."""
    if not engine.has_trace(before) or not engine.has_trace(after):
        return not engine.has_trace(after)
    names = [name for name in engine.tracked if name != "strong_mutation"]
    return any((engine.covers(name, [before]) & ~engine.covers(name, [after])).any() for name in names)
