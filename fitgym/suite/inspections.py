"""Inspections: calls at the end of a test case that show what the statement before them changed.

`stack.push(3)` returns nothing, and the list that it extends may be private. `len(stack)` or `stack.peek()` shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fitgym.messages.observation import CAPTURED, Observed
from fitgym.subject.subject import Class, Operation, Subject
from fitgym.suite.assertions import candidates
from fitgym.suite.observers import Observe, named_class
from fitgym.testcase.expression import Expression, Literal, Name, Ref
from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["shows_effect", "with_inspections"]

MOST = 8  # calls tried for each test case
_LOOKUPS = ("__contains__", "__getitem__")
_GETTERS = ("get", "is", "has", "to", "as", "count", "find", "peek", "current", "contains")


def with_inspections(
    testcases: Sequence[TestCase], subject: Subject, table: StatementTable, observe: Observe
) -> list[TestCase]:
    """Return the test cases. One whose last statement shows no effect now ends with a call that does, if there is one.

    A statement shows no effect if its result is None or an object that was there before, if it changed no attribute
    that can be read, and if it printed nothing. Then properties and methods of its receiver, of its arguments, or of
    the new object are called: those without required parameters, and those that take what the statement was given, such
    as `get(key)` after `put(key, value)`. The first one is kept whose result is always the same and was another one
    before the statement.

    Args:
        testcases: those that raise stay as they are.
        subject: the code under test.
        table: of the test cases; longer test cases are added to it.
        observe: runs test cases. May raise `OutOfBudget`.

    References:
        Fraser and Zeller 2012, Mutation-Driven Generation of Unit Tests and Oracles: inspector methods in assertions.
        Differs: a call is added only if nothing else shows the effect, and only if its result has changed.
    """
    seen = dict(zip(testcases, observe(testcases), strict=True))
    returning = [one for one in testcases if one and not seen[one].failure and seen[one].position < 0]
    before = dict(zip(returning, observe([one[:-1] for one in returning]), strict=True))
    asked = [
        (testcase, call)
        for testcase in returning
        if not shows_effect(table.statements(testcase), seen[testcase], before[testcase], subject)
        for call in _calls(table.statements(testcase), seen[testcase], subject)
    ]
    longer = [(*testcase, table.intern(call)) for testcase, call in asked]
    after, again = observe(longer), observe(longer)
    shorter = [(*testcase[:-1], table.intern(call)) for testcase, call in asked if _applies_before(testcase, call)]
    earlier = dict(zip(shorter, observe(shorter), strict=True))
    found: dict[TestCase, TestCase] = {}
    for (testcase, _), test, one, other in zip(asked, longer, after, again, strict=True):
        known = earlier.get((*testcase[:-1], test[-1]), Observed())
        new = _results(one, len(test) - 1) - _results(known, len(test) - 2)
        if one == other and any(map(_is_telling, new)):
            found.setdefault(testcase, test)
    return [found.get(testcase, testcase) for testcase in testcases]


def shows_effect(statements: Sequence[Statement], seen: Observed, before: Observed, subject: Subject) -> bool:
    """Return whether a test of these statements could check an effect of the last one."""
    strong, _ = candidates(statements, seen.observations, subject, before=before.observations)
    printed = {(fact.kind, fact.expression) for fact in before.observations if fact.kind in CAPTURED}
    return any(
        (fact.kind, fact.expression) not in printed
        if fact.kind in CAPTURED
        else fact not in before.observations and not isinstance(fact.expression, Ref)
        for fact in strong
    )


def _calls(statements: Sequence[Statement], seen: Observed, subject: Subject) -> list[Statement]:
    """Return calls that may show what the last statement did, the most promising first."""
    last = statements[-1]
    acted = subject.operations[last.operation]
    objects = [len(statements) - 1] if acted.kind == "constructor" else dict.fromkeys(last.refs)
    given = _given(last, acted)
    found: list[tuple[int, int, Statement]] = []
    for position in objects:
        described = _class_of(position, statements, seen, subject)
        for operation in () if described is None else _inspectors(described, subject):
            arguments = _arguments(operation, given, last.args[:1])
            if arguments is not None and operation.id != acted.id:
                call = Statement(operation.id, position, arguments)
                found.append((_rank(operation, arguments), len(found), call))
    return [call for _, _, call in sorted(found, key=lambda one: one[:2])[:MOST]]


def _applies_before(testcase: TestCase, call: Statement) -> bool:
    """Return whether the call is possible without the last statement of the test case."""
    return all(position < len(testcase) - 1 for position in call.refs)


def _class_of(position: int, statements: Sequence[Statement], seen: Observed, subject: Subject) -> Class | None:
    """Return the class of a result, None if it is unknown or not one of the subject's."""
    operation = subject.operations[statements[position].operation]
    if operation.kind == "constructor":
        return subject.classes.get(operation.owner)
    names = [
        fact.expression
        for fact in seen.observations
        if (fact.position, fact.path, fact.kind) == (position, "", "isinstance") and isinstance(fact.expression, Name)
    ]
    return next((found for name in names if (found := named_class(name, subject)) is not None), None)


def _inspectors(described: Class, subject: Subject) -> Iterator[Operation]:
    """Yield the operations that may show the state of objects of the class."""
    for operation in subject.operations:
        if operation.owner in described.bases and operation.entry_kind != "private" and not operation.drive:
            looks = operation.operator in (*_LOOKUPS, "__len__", "__bool__", "__str__", "__repr__")
            if looks or operation.kind in ("property", "method"):
                yield operation


def _given(statement: Statement, operation: Operation) -> dict[str, Expression]:
    """Return the arguments of a statement by the names of their parameters."""
    names = [one.name for one in operation.parameters if one.kind in ("positional_only", "positional_or_keyword")]
    return {**dict(zip(names, statement.args, strict=False)), **dict(statement.kwargs)}


def _arguments(
    operation: Operation, given: dict[str, Expression], first: tuple[Expression, ...]
) -> tuple[Expression, ...] | None:
    """Return positional arguments for an inspector, None if a required parameter was not given to the statement."""
    if operation.operator in _LOOKUPS:
        return first or None
    found = []
    for parameter in operation.parameters:
        if parameter.required and not parameter.kind.startswith("var_"):
            if parameter.kind == "keyword_only" or parameter.name not in given:
                return None
            found.append(given[parameter.name])
    return tuple(found)


def _rank(operation: Operation, arguments: Sequence[Expression]) -> int:
    """Return the place of an inspector among others; those that only look come before those that may change."""
    name = operation.name.rpartition(".")[2]
    if operation.kind == "property" or operation.operator in _LOOKUPS:
        return 0
    if operation.kind == "operator":
        return 1 if operation.operator == "__len__" else 4
    if name.partition("_")[0] in _GETTERS or arguments:
        return 2
    return 3


def _results(seen: Observed, position: int) -> set[tuple[str, str, Expression]]:
    """Return what is known about a result, none if the test case ended with an exception."""
    if seen.failure or seen.position >= 0:
        return set()
    return {(fact.path, fact.kind, fact.expression) for fact in seen.observations if fact.position == position}


def _is_telling(result: tuple[str, str, Expression]) -> bool:
    """Return whether a fact about a result says more than its class or that it is None or an earlier object."""
    _, kind, expression = result
    return kind not in ("isinstance", "is not") and not isinstance(expression, Ref) and expression != Literal("None")
