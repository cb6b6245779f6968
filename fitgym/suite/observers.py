"""Observers: what `str`, properties and `len` say of an object that stores nothing a test could check.

Describing an object runs none of its code. Where that leaves no more to say than its class, its own observers are
called, each at the end of a copy of the test case, in the worker and under its limits like any other statement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fitgym.messages.observation import Observation, ObservationKind, Observed
from fitgym.subject.subject import Operation, Subject
from fitgym.suite.assertions import candidates
from fitgym.testcase.expression import Collection, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["Observe", "enriched", "unknown"]

MOST = 4  # observers of one object besides that of its text
_TEXTS = ("__str__", "__repr__")  # what `str` calls: the first one that there is

Observe = Callable[[Sequence[TestCase]], list[Observed]]
"""Runs test cases and says what a test could see."""


def enriched(
    testcases: Sequence[TestCase],
    observed: Sequence[Observed],
    wanted: Sequence[Sequence[int]],
    subject: Subject,
    table: StatementTable,
    observe: Observe,
) -> list[Observed]:
    """The observations, with what observers say of some of the results.

    Args:
        testcases: what was observed.
        observed: what each showed.
        wanted: for each the positions of the results to be asked, see `unknown`.
        subject: whose observers are called: `__str__` if a class has one of its own, else `__repr__`, which `str` shows
            then; if there is neither, or it has nothing to say that is the same each time, properties and `__len__`.
        table: of the test cases.
        observe: runs them longer by one statement.
    """
    asked: list[tuple[int, int, Operation]] = []
    for index, (seen, positions) in enumerate(zip(observed, wanted, strict=True)):
        if not seen.failure and seen.position < 0:
            asked += [(index, position, one) for position in positions for one in _observers(position, seen, subject)]
    longer = [
        (*testcases[index], table.intern(Statement(operation.id, position))) for index, position, operation in asked
    ]
    result = list(observed)
    told_by_text: set[tuple[int, int]] = set()
    for (index, position, operation), seen in zip(asked, observe(longer) if longer else (), strict=True):
        if seen.position >= 0 or seen.failure or (index, position) in told_by_text:
            continue
        facts = [
            told
            for fact in seen.observations
            if fact.position == len(testcases[index]) and (told := _told(fact, position, operation)) is not None
        ]
        result[index] = replace(result[index], observations=(*result[index].observations, *facts))
        if facts and operation.operator in _TEXTS:
            told_by_text.add((index, position))
    return result


def unknown(statements: Sequence[Statement], seen: Observed, subject: Subject) -> list[int]:
    """Positions of the objects that a test should say more about: the last result and what it was got from, if there is
    nothing else to check."""
    if not statements or seen.failure or seen.position >= 0:
        return []
    strong, _ = candidates(statements, seen.observations, subject)
    last = len(statements) - 1
    if any(fact.position == last for fact in strong):
        return []
    return [last, *(position for position in dict.fromkeys(statements[last].refs) if position != last)]


def _observers(position: int, seen: Observed, subject: Subject) -> list[Operation]:
    """The operations that tell about an object of which only its class is known, none for others."""
    facts = [fact for fact in seen.observations if fact.position == position]
    if len(facts) != 1 or facts[0].kind != "isinstance" or not isinstance(name := facts[0].expression, Name):
        return []
    found = next((c for c in subject.classes.values() if (c.module, c.qualname) == (name.module, name.qualname)), None)
    if found is None:
        return []
    owned = [one for one in subject.operations if one.owner in found.bases]
    texts = [one for operator in _TEXTS for one in owned if one.operator == operator]
    plain = [one for one in owned if one.kind == "property" or one.operator == "__len__"]
    return [*texts[:1], *[one for one in plain if not one.drive][:MOST]]


def _told(fact: Observation, position: int, operation: Operation) -> Observation | None:
    """What the fact about the result of an observer says of the object, None if it cannot be said."""
    if _refers(fact):
        return None
    if operation.kind == "property":
        name = operation.name.rpartition(".")[2]
        return replace(fact, position=position, path=f".{name}{fact.path}") if fact.kind != "isinstance" else None
    kind: ObservationKind = "text" if operation.operator in _TEXTS else "length"
    is_plain = not fact.path and fact.kind == "equal" and isinstance(fact.expression, Literal)
    return replace(fact, position=position, kind=kind) if is_plain else None


def _refers(fact: Observation) -> bool:
    expression = fact.expression
    return isinstance(expression, Ref | Lambda) or (
        isinstance(expression, Collection) and not all(isinstance(item, Literal) for item in expression.items)
    )
