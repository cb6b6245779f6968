"""Cases: several tests that differ only in their data become one test with a table of the data."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace

from fitgym.messages.observation import Observation
from fitgym.subject.subject import Subject
from fitgym.suite.assertions import described
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import Cases, FinishedTest
from fitgym.suite.names import Description
from fitgym.suite.runs.rerun import Rerun
from fitgym.suite.text.expressions import expression_source
from fitgym.suite.text.layout import columns
from fitgym.suite.text.scope import Scope
from fitgym.testcase.expression import Collection, Expression, Literal, Name, Ref
from fitgym.testcase.knowledge import parameter_of

__all__ = ["FEWEST_CASES", "joined_if_passing", "tabulated"]

FEWEST_CASES = 3  # a table of two cases is longer than two tests
MOST_PARAMETERS = 4
ROW = 78  # columns of one case: it has a line of its own
LIMIT_S = 60.0  # for the run that checks the joined tests

_COMPARED = frozenset({"equal", "is", "approx", "length", "text", "list"})
"""Kinds of facts that compare a value with data."""

_EXPECTED = "expected"
_ANY = Literal("...")
"""Replaces data where tests are compared."""


def tabulated(tests: Sequence[FinishedTest], subject: Subject, taken: Container[str] = ()) -> list[FinishedTest]:
    """Return the tests, with similar ones joined to one test with cases.

    Tests are similar if they have the same statements, exception and assertions apart from data: literals, containers
    of literals and importable objects. At least `FEWEST_CASES` tests are joined, with at most `MOST_PARAMETERS` values
    that differ, each case short enough for one line. Values that are equal in each test count once: an argument that a
    test finds again is one parameter. A joined test takes the place of its first case.

    Args:
        tests: in the order of the file, with unique names.
        subject: the code under test.
        taken: further names that a new name must not repeat.
    """
    groups: dict[FinishedTest, list[FinishedTest]] = {}
    for test in tests:
        pattern = replace(_with_data(test, itertools.repeat(_ANY)), name="", steady=frozenset())
        groups.setdefault(pattern, []).append(test)
    names = {test.name for test in tests}
    joined: dict[str, FinishedTest] = {}  # by the name of each case
    for group in groups.values():
        while (one := _joined(group, subject)) is not None:
            group = [test for test in group if test.name not in one.cases.names]
            names -= set(one.cases.names)
            name, number = one.name, 1
            while name in names or name in taken:
                number += 1
                name = f"{one.name}_{number}"
            names.add(name)
            joined |= dict.fromkeys(one.cases.names, replace(one, name=name))
    alone = _renumbered([test for test in tests if test.name not in joined], joined, names, taken)
    return list(dict.fromkeys(joined.get(test.name) or alone[test.name] for test in tests))


def joined_if_passing(
    tests: tuple[FinishedTest, ...],
    subject: Subject,
    render: Callable[[Sequence[FinishedTest]], str],
    *,
    taken: Container[str] = (),
    deadline: Deadline = Deadline(),  # noqa: B008  (it is immutable)
) -> tuple[FinishedTest, ...]:
    """Return the tests as `tabulated` does if all cases pass in a fresh interpreter, else as they are.

    Args:
        tests: they passed.
        subject: the code under test.
        render: returns the text of the file.
        taken: further names that a new name must not repeat.
        deadline: without time for the run, nothing is joined.
    """
    joined = tabulated(tests, subject, taken)
    if len(joined) == len(tests) or deadline.rest <= 0:
        return tests
    run = Rerun(render(joined), subject.reference, limit_s=min(LIMIT_S, deadline.rest))
    try:
        run.wait()
    finally:
        run.close()
    passed = [verdict for verdict in run.verdicts.values() if verdict.passed]
    return tuple(joined) if run.finished and len(passed) == len(tests) else tests


def _renumbered(
    tests: Sequence[FinishedTest], gone: Container[str], names: Container[str], taken: Container[str]
) -> dict[str, FinishedTest]:
    """Return tests by their names; those with a number lose it if the test that had the name without it is gone."""
    found: dict[str, FinishedTest] = {}
    new: set[str] = set()
    for test in tests:
        name = re.sub(r"_\d+$", "", test.name)
        if name in gone and name not in names and name not in taken and name not in new:
            new.add(name)
            found[test.name] = replace(test, name=name, cases=Cases(names=(test.name,)))
        else:
            found[test.name] = test
    return found


def _most_alike(tests: Sequence[FinishedTest], columns: Sequence[tuple[Expression, ...]]) -> list[FinishedTest]:
    """Return the tests that have the most frequent value of any column."""
    _, value, values = max(
        ((values.count(value), value, values) for values in columns for value in values), key=lambda found: found[0]
    )
    return [test for test, one in zip(tests, values, strict=True) if one == value]


def _joined(tests: Sequence[FinishedTest], subject: Subject) -> FinishedTest | None:
    """Return similar tests as one with cases, None if they stay as they are."""
    if len(tests) < FEWEST_CASES:
        return None
    suggestions = [name for name, _ in _data(tests[0], subject)]
    rows = [[value for _, value in _data(test, subject)] for test in tests]
    columns = list(zip(*rows, strict=True))
    places: dict[tuple[Expression, ...], int] = {}  # of the first of equal columns
    for place, values in enumerate(columns):
        if len(set(values)) > 1:
            places.setdefault(values, place)
    varying = list(places.values())
    if not varying:
        return None
    if len(varying) > MOST_PARAMETERS:
        return _joined(_most_alike(tests, list(places)), subject)
    short = [number for number, row in enumerate(rows) if _width([row[place] for place in varying]) <= ROW]
    if len(short) < len(tests):
        return _joined([tests[number] for number in short], subject)
    size = len(tests[0].statements)
    parameters = {values: Ref(size + number) for number, values in enumerate(places)}
    test = _with_data(tests[0], [parameters.get(values, values[0]) for values in columns])
    names = [suggestions[place] for place in varying]
    if sum(name.startswith(_EXPECTED) for name in names) == 1:
        names = [_EXPECTED if name.startswith(_EXPECTED) else name for name in names]
    cases = Cases(
        tuple(names),
        tuple(tuple(row[place] for place in varying) for row in rows),
        tuple(test.name for test in tests),
    )
    is_checked = any(fact.expression in parameters.values() for fact in test.assertions)
    return replace(test, name=_name(tests, subject, is_checked), steady=frozenset(), cases=cases)


def _data(test: FinishedTest, subject: Subject) -> Iterator[tuple[str, Expression]]:
    """Yield the data of a test, each with a name: of the parameter that gets it, "expected" or "expected_size"."""
    for statement in test.statements:
        operation = subject.operations[statement.operation]
        places: list[tuple[int | str, Expression]] = [*enumerate(statement.args), *statement.kwargs]
        for place, argument in places:
            if _is_data(argument):
                parameter = parameter_of(operation, place)
                yield "value" if parameter is None else parameter.name, argument
    for fact in test.assertions:
        if _has_data(fact):
            yield _result_name(fact), fact.expression


def _with_data(test: FinishedTest, data: Iterable[Expression]) -> FinishedTest:
    """Return the test with other data, in the order of `_data`."""
    values = iter(data)

    def changed(expression: Expression) -> Expression:
        return next(values) if _is_data(expression) else expression

    statements = [
        statement._replace(
            args=tuple([changed(argument) for argument in statement.args]),
            kwargs=tuple([(name, changed(argument)) for name, argument in statement.kwargs]),
        )
        for statement in test.statements
    ]
    facts = [fact._replace(expression=next(values)) if _has_data(fact) else fact for fact in test.assertions]
    return replace(test, statements=tuple(statements), assertions=tuple(facts))


def _has_data(fact: Observation) -> bool:
    return fact.kind in _COMPARED and _is_data(fact.expression)


def _result_name(fact: Observation) -> str:
    """Return the name of an expected value, with the attribute that it is compared with, if there is one."""
    found = re.search(r"\.(\w+)$", fact.path)
    return f"{_EXPECTED}_{found[1]}" if found else _EXPECTED


def _is_data(expression: Expression) -> bool:
    """Return whether an expression refers to nothing in its test and can be made when the file is imported."""
    if isinstance(expression, Collection):
        return expression.kind != "iter" and all(map(_is_data, expression.items))
    return isinstance(expression, Literal | Name)


def _width(row: Sequence[Expression]) -> int:
    scope = Scope()
    return columns(", ".join(expression_source(value, {}, scope) for value in row)) + len("(),")


def _name(tests: Sequence[FinishedTest], subject: Subject, is_checked: bool) -> str:
    """Return a name for all tests: the operation, its keyword arguments, and the outcome if it does not differ."""
    every = [described(test, subject) for test in tests]
    outcome = every[0].outcome
    if is_checked or any(one.outcome != outcome for one in every):
        outcome = ""
    keywords = tuple(name.strip("_") for name, _ in tests[0].statements[-1].kwargs)
    return Description(every[0].subject, keywords, outcome).name(keywords)
