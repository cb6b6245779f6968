"""Assertions: what an exported test checks, chosen from what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fitgym.execution.observation import Observation, Observed, agreement
from fitgym.subject.subject import Subject
from fitgym.suite.names import candidate_names, distinct_names
from fitgym.testcase.expression import Name, Ref
from fitgym.testcase.statement import Statement

__all__ = ["MAX_ASSERTIONS", "FinishedTest", "assertions", "finished_test", "finished_tests"]

MAX_ASSERTIONS = 5


@dataclass(frozen=True, slots=True)
class FinishedTest:
    """A test as it is exported.

    Attributes:
        name: of the test function, `test_...`.
        statements: in order; where `raises` is set the last one raises.
        assertions: what is checked after the last statement, by position.
        raises: the class that `pytest.raises` expects of the last statement, None if it returns.
    """

    name: str
    statements: tuple[Statement, ...]
    assertions: tuple[Observation, ...] = ()
    raises: Name | None = None


def finished_tests(
    tests: Sequence[Sequence[Statement]], observed: Sequence[Sequence[Observed]], subject: Subject
) -> list[FinishedTest | None]:
    """Every test with its assertions and a name that no other has.

    Args:
        tests: the statements of each test.
        observed: for each test what its executions showed, at least one, better two in fresh processes.
        subject: the code under test.

    Returns:
        One entry per test: None for a test that failed, or whose executions did not end in the same way.
    """
    made = [finished_test(test, seen, subject) for test, seen in zip(tests, observed, strict=True)]
    kept = [test for test in made if test is not None]
    candidates = [candidate_names(subject, test.statements, test.assertions, test.raises) for test in kept]
    names = iter(distinct_names(candidates))
    return [None if test is None else replace(test, name=next(names)) for test in made]


def finished_test(
    statements: Sequence[Statement], observed: Sequence[Observed], subject: Subject, *, limit: int = MAX_ASSERTIONS
) -> FinishedTest | None:
    """A test with its assertions and its plainest name; None if it failed or ended in different ways.

    Statements behind the one that raised never ran and are left out.
    """
    seen = agreement(observed)
    if seen is None or seen.failure:
        return None
    raises = None
    if seen.position >= 0:
        if not seen.raises:
            return None
        raises = seen.raises[0]
        statements = statements[: seen.position + 1]
    chosen = assertions(statements, seen.observations, subject, limit=limit)
    name = candidate_names(subject, statements, chosen, raises)[0]
    return FinishedTest(name, tuple(statements), chosen, raises)


def assertions(
    statements: Sequence[Statement],
    observations: Sequence[Observation],
    subject: Subject,
    *,
    limit: int = MAX_ASSERTIONS,
) -> tuple[Observation, ...]:
    """The facts a test checks, at most `limit`, in the order of the statements.

    First the result of the last statement; where that is None, or it raised, the state of the objects it worked on
    (its receiver, then its arguments). Then the results of earlier operations under test, latest first. A constructed
    object counts by its attributes. That an object merely has a certain class, or that a call returned None, is
    checked only if nothing better is known.
    """
    if not statements:
        return ()
    by_position: dict[int, list[Observation]] = {}
    for fact in observations:
        by_position.setdefault(fact.position, []).append(fact)
    chosen: list[Observation] = []
    weak: list[Observation] = []
    for position, share in _ranked(statements, subject, limit):
        facts = by_position.get(position, [])
        telling = [fact for fact in facts if not _is_weak(fact)]
        weak += [fact for fact in facts if _is_weak(fact)]
        chosen += [fact for fact in telling[:share] if fact not in chosen]
    chosen = chosen[:limit] or weak[:1]
    order = {fact: index for index, fact in enumerate(observations)}
    return tuple(sorted(chosen, key=lambda fact: (fact.position, order[fact])))


def _ranked(statements: Sequence[Statement], subject: Subject, limit: int) -> Iterator[tuple[int, int]]:
    """Positions whose results are worth checking, the best first, each with how many facts it may give."""
    last = len(statements) - 1
    given: set[int] = {last}
    yield last, limit
    for position in dict.fromkeys(statements[last].refs()):
        if position not in given:
            given.add(position)
            yield position, 3
    for position in range(last - 1, -1, -1):
        if position not in given and subject.operations[statements[position].operation].under_test:
            yield position, 2


def _is_weak(fact: Observation) -> bool:
    """The fact says next to nothing: the class of an object, or that there is no result."""
    if fact.kind == "isinstance":
        return True
    is_none = fact.kind == "is" and not isinstance(fact.expression, Ref | Name) and not fact.path
    return is_none and getattr(fact.expression, "text", "") == "None"
