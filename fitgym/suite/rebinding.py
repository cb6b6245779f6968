"""Rebinding: after `x += y`, a test goes on with the result, which usually is `x` itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fitgym.messages.observation import Observation
from fitgym.subject.subject import Subject
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.text.operators import IN_PLACE
from fitgym.testcase.expression import Ref, map_refs

__all__ = ["rebound"]


def rebound(test: FinishedTest, observations: Sequence[Observation], subject: Subject) -> FinishedTest:
    """Return the test with the result of each augmented assignment in place of the object that it changed.

    Only if they were seen to be the same object, and if something is left to assert: that they are the same is not.
    """
    roots: dict[int, int] = {}
    made = test
    for fact in observations:
        position = fact.position
        if fact.kind != "is" or fact.path or position >= len(test.statements) or not isinstance(fact.expression, Ref):
            continue
        statement = made.statements[position]
        root = roots.get(statement.receiver, statement.receiver)
        if subject.operations[statement.operation].operator in IN_PLACE and fact.expression.position == root:
            roots[position] = root
            made = _moved(made, statement.receiver, position)
    return made if made.assertions or not test.assertions else test


def _moved(test: FinishedTest, old: int, new: int) -> FinishedTest:
    """Return the test with the result at `new` in place of the one at `old`, after the statement at `new`."""
    places = {position: position for position in range(len(test.statements) + len(test.cases.parameters))} | {old: new}

    def moved(fact: Observation) -> Observation:
        expression = map_refs(fact.expression, places)
        return fact._replace(position=places.get(fact.position, fact.position), expression=expression)

    facts = {fact: moved(fact) for fact in test.assertions}
    left = {fact: now for fact, now in facts.items() if now.kind != "is" or now.expression != Ref(now.position)}
    return replace(
        test,
        statements=(*test.statements[: new + 1], *(one.moved(places) for one in test.statements[new + 1 :])),
        assertions=tuple(left.values()),
        steady=frozenset(left[fact] for fact in test.steady if fact in left),
    )
