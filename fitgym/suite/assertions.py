"""Assertions: what an exported test checks, chosen from what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fitgym.execution.observation import Observation, Observed, agreement
from fitgym.subject.subject import Operation, Subject
from fitgym.suite.names import candidate_names, distinct_names
from fitgym.testcase.expression import Literal, Name
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
        writes: it leaves something in the current folder, so it is given one of its own.
    """

    name: str
    statements: tuple[Statement, ...]
    assertions: tuple[Observation, ...] = ()
    raises: Name | None = None
    writes: bool = False


def finished_tests(
    tests: Sequence[Sequence[Statement]],
    observed: Sequence[Sequence[Observed]],
    subject: Subject,
    before: Sequence[Observed | None] | None = None,
) -> list[FinishedTest | None]:
    """Every test with its assertions and a name that no other has.

    Args:
        tests: the statements of each test.
        observed: for each test what its executions showed, at least one, better two in fresh processes.
        subject: the code under test.
        before: for each test what could be seen before its last statement (an observation of the test without it),
            if it is known: then what the statement changed is told from what was so before.

    Returns:
        One entry per test: None for a test that failed, or whose executions did not end in the same way.
    """
    earlier = before if before is not None else [None] * len(tests)
    made = [finished_test(test, seen, subject, then) for test, seen, then in zip(tests, observed, earlier, strict=True)]
    kept = [test for test in made if test is not None]
    candidates = [candidate_names(subject, test.statements, test.assertions, test.raises) for test in kept]
    names = iter(distinct_names(candidates))
    return [None if test is None else replace(test, name=next(names)) for test in made]


def finished_test(
    statements: Sequence[Statement], observed: Sequence[Observed], subject: Subject, before: Observed | None = None
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
        if seen.position + 1 < len(statements):
            statements, before = statements[: seen.position + 1], None
    known = before.observations if before is not None and not before.failure else ()
    chosen = assertions(statements, seen.observations, subject, before=known, raised=raises is not None)
    name = candidate_names(subject, statements, chosen, raises)[0]
    return FinishedTest(name, tuple(statements), chosen, raises)


def assertions(
    statements: Sequence[Statement],
    observations: Sequence[Observation],
    subject: Subject,
    *,
    before: Sequence[Observation] = (),
    raised: bool = False,
    limit: int = MAX_ASSERTIONS,
) -> tuple[Observation, ...]:
    """The facts a test checks, at most `limit`, in the order of the statements.

    First the result of the last statement; then the state of the objects it worked on (its receiver, its arguments), of
    which only what was not so before counts, if `before` tells; then the results of earlier operations under test,
    latest first. A constructed object counts by its attributes. That an object merely has a certain class, or that an
    operation returned None which never returns anything else, is checked only if nothing better is known and the last
    statement did not raise, which is a check of its own.
    """
    if not statements:
        return ()
    chosen: list[Observation] = []
    unchanged: list[Observation] = []
    weak: list[Observation] = []
    for position, share in _ranked(statements, subject, limit):
        facts = [fact for fact in observations if fact.position == position]
        telling = [fact for fact in facts if not _is_weak(fact, subject.operations[statements[position].operation])]
        if position in statements[-1].refs and before:
            unchanged += [fact for fact in telling if fact in before]
            telling = [fact for fact in telling if fact not in before]
        chosen += telling[:share]
        weak += [fact for fact in facts if fact not in telling and fact not in unchanged]
    chosen = chosen[:limit] or ([] if raised else [*unchanged, *weak][:1])
    order = {fact: index for index, fact in enumerate(observations)}
    return tuple(sorted(chosen, key=lambda fact: (fact.position, order[fact])))


def _ranked(statements: Sequence[Statement], subject: Subject, limit: int) -> Iterator[tuple[int, int]]:
    """Positions whose results are worth checking, the best first, each with how many facts it may give."""
    last = len(statements) - 1
    yield last, limit
    used = [position for position in dict.fromkeys(statements[last].refs) if position != last]
    for position in used:
        yield position, 3
    for position in range(last - 1, -1, -1):
        operation = subject.operations[statements[position].operation]
        if position not in used and operation.under_test and operation.kind != "constructor":
            yield position, 2


def _is_weak(fact: Observation, operation: Operation) -> bool:
    """The fact says next to nothing: the class of an object, or that there is no result where there never is one."""
    if fact.kind == "isinstance":
        return True
    is_none = fact.expression == Literal("None") and fact.kind == "is" and not fact.path
    return is_none and (operation.returns.kind in ("none", "any") or operation.kind == "setter")
