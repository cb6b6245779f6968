"""Observers: properties, `str` and `len` of objects whose stored attributes do not show what a test should check.

An object is described without running its code. If its class is then the only known fact, its observers are called:
each at the end of a copy of the test case, in the worker and under its limits like any other statement. A property that
is named like an argument of the constructor, or that was assigned, is read even if more is known: the value of
`account.limit = 3` may be stored in a private attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fitgym.messages.observation import Observation, ObservationKind, Observed
from fitgym.subject.subject import Class, Operation, Subject
from fitgym.suite.assertions import candidates
from fitgym.testcase.expression import Collection, Lambda, Literal, Name, refs
from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["Observe", "enriched", "named_class", "unknown"]

MOST = 4  # observers of one object besides the one of its text
_TEXTS = ("__str__", "__repr__")  # `str` calls the first one that the class defines

Observe = Callable[[Sequence[TestCase]], list[Observed]]
"""Runs test cases and returns their observations."""


def enriched(
    testcases: Sequence[TestCase],
    observed: Sequence[Observed],
    wanted: Sequence[Sequence[int]],
    subject: Subject,
    table: StatementTable,
    observe: Observe,
) -> list[Observed]:
    """Return the observations, with added facts from observers of some results.

    Args:
        testcases: the observed test cases.
        observed: the observation of each.
        wanted: for each test case the positions of the results to observe, see `unknown`.
        subject: the code under test, which defines the observers. `__str__` is called if the class defines it, else
            `__repr__`, which `str` then uses. Properties and `__len__` come after it: a text seldom says everything.
        table: of the test cases.
        observe: runs test cases that are longer by one statement.
    """
    asked: list[tuple[int, int, Operation]] = []
    for index, (seen, positions) in enumerate(zip(observed, wanted, strict=True)):
        if not seen.failure and seen.position < 0:
            statements = table.statements(testcases[index])
            asked += [
                (index, position, one)
                for position in positions
                for one in dict.fromkeys(
                    (*_stored(position, statements, subject), *_observers(position, seen, subject))
                )
            ]
    longer = [
        (*testcases[index], table.intern(Statement(operation.id, position))) for index, position, operation in asked
    ]
    result = list(observed)
    for (index, position, operation), seen in zip(asked, observe(longer) if longer else (), strict=True):
        if seen.position >= 0 or seen.failure:
            continue
        facts = [
            restated
            for fact in seen.observations
            if fact.position == len(testcases[index]) and (restated := _restated(fact, position, operation)) is not None
        ]
        result[index] = replace(result[index], observations=(*result[index].observations, *facts))
    return result


def unknown(statements: Sequence[Statement], seen: Observed, subject: Subject) -> list[int]:
    """Return positions of objects that may need observers: the last result and the objects it came from.

    If there is a strong fact about the last result, only a new object may need them.
    """
    if not statements or seen.failure or seen.position >= 0:
        return []
    strong, _ = candidates(statements, seen.observations, subject)
    last = len(statements) - 1
    if any(fact.position == last for fact in strong):
        return [last] if subject.operations[statements[last].operation].kind == "constructor" else []
    return [last, *(position for position in dict.fromkeys(statements[last].refs) if position != last)]


def named_class(name: Name, subject: Subject) -> Class | None:
    """Return the class of the subject that a test imports by this name, None if there is none."""
    return next((c for c in subject.classes.values() if (c.module, c.qualname) == (name.module, name.qualname)), None)


def _observers(position: int, seen: Observed, subject: Subject) -> list[Operation]:
    """Return the observers of an object if its class is the only known fact, else none."""
    facts = [fact for fact in seen.observations if fact.position == position]
    if len(facts) != 1 or facts[0].kind != "isinstance" or not isinstance(name := facts[0].expression, Name):
        return []
    found = named_class(name, subject)
    if found is None:
        return []
    owned = [one for one in subject.operations if one.owner in found.bases]
    texts = [one for operator in _TEXTS for one in owned if one.operator == operator]
    plain = [one for one in owned if one.kind == "property" or one.operator == "__len__"]
    return [*texts[:1], *[one for one in plain if not one.drive][:MOST]]


def _stored(position: int, statements: Sequence[Statement], subject: Subject) -> list[Operation]:
    """Return the properties of an object that the last statement assigned, or gave to its constructor."""
    last = statements[-1]
    acted = subject.operations[last.operation]
    if acted.kind == "setter" and position == last.receiver:
        names = [acted.name.rpartition(".")[2]]
    elif acted.kind == "constructor" and position == len(statements) - 1:
        names = [one.name for one in acted.parameters[: len(last.args)]] + [name for name, _ in last.kwargs]
    else:
        return []
    owner = subject.classes.get(acted.owner)
    if owner is None:
        return []
    properties = [one for one in subject.operations if one.kind == "property" and one.owner in owner.bases]
    found = {one.name.rpartition(".")[2]: one for one in properties}
    return [found[name] for name in names if name in found]


def _restated(fact: Observation, position: int, operation: Operation) -> Observation | None:
    """Turn a fact about the result of an observer into a fact about the object, None if it cannot be written."""
    named = refs(fact.expression)
    is_told = operation.kind == "property" and (fact.kind == "is" or isinstance(fact.expression, Collection))
    if isinstance(fact.expression, Lambda) or position in named or (named and not is_told):
        return None
    if operation.kind == "property":
        name = operation.name.rpartition(".")[2]
        return fact._replace(position=position, path=f".{name}{fact.path}") if fact.kind != "isinstance" else None
    kind: ObservationKind = "text" if operation.operator in _TEXTS else "length"
    is_plain = not fact.path and fact.kind == "equal" and isinstance(fact.expression, Literal)
    return fact._replace(position=position, kind=kind) if is_plain else None
