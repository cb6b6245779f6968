"""Idle tests: a maintainer would delete them, because they check nothing or record an accident."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.engine.workbench import Workbench
from fitgym.messages.observation import Observed, agreement
from fitgym.subject.types.hints import NAMESPACES
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.inspections import shows_effect
from fitgym.suite.kills import KillsOfTest
from fitgym.testcase.expression import Name
from fitgym.testcase.statement import TestCase

__all__ = ["ACCIDENT", "IDLE", "REPEATED", "idle"]

ACCIDENT = "it ends in an error that no code raises on purpose"
"""Why a test is left out that expects the failure of an operation of Python, such as the attribute of a None."""

IDLE = "it checks nothing that its last statement does"
"""Why a test is left out whose assertions held before its last statement, or only state the class of an object."""

REPEATED = "it checks only the class of a result, and another test checks more of it"
"""Why a test is left out if another one calls the same operation."""

_ACCIDENTS = tuple(
    Name("builtins", f"{name}Error") for name in ("Attribute", "Name", "Overflow", "Recursion", "Type", "UnboundLocal")
)
_OF_STAND_INS = (Name("builtins", "AttributeError"), Name("builtins", "TypeError"))


def idle(
    engine: Workbench,
    testcases: Sequence[TestCase],
    tests: Sequence[FinishedTest | None],
    observed: Sequence[Sequence[Observed]],
    before: Sequence[Observed | None],
    kills: Sequence[KillsOfTest | None],
) -> dict[int, str]:
    """Return the positions of idle tests, each with the reason.

    A test is idle if it ends in an accident, or if its last statement shows no effect. The class of a result is an
    effect, except for that of a constructor, but it is checked at most once for each operation, and not if another test
    checks more of a result. An idle test stays if no other test takes one of its branches, or if it returns and kills a
    mutant that no other test kills; tests that return come first, those that kill the most before others. An accident
    that misses an attribute, or that refuses a type, never stays if the test has a stand-in: what a stand-in lacks is no
    behaviour of the code. If all tests are idle, all stay: a poor suite is better than none.

    Args:
        engine: has executed the test cases.
        testcases: the test cases of the tests.
        tests: the finished tests, None for those that cannot be exported.
        observed: the observations of each test.
        before: the observation of each test without its last statement, None if it is unknown.
        kills: the mutants that each test kills, None if they are unknown.
    """
    reasons: dict[int, str] = {}
    checked = {_last(test) for test in tests if test is not None and test.raises is None and not _is_vague(test)}
    for at, (testcase, test) in enumerate(zip(testcases, tests, strict=True)):
        if test is None or not engine.has_trace(testcase):
            continue
        if test.raises is not None:
            if _is_accident(engine, testcase, test):
                reasons[at] = ACCIDENT
        elif kills[at] is not None and _is_idle(engine, test, agreement(observed[at]), before[at]):
            reasons[at] = IDLE
        elif _is_vague(test) and not any((kills[at] or KillsOfTest()).by_fact.values()):
            if _last(test) in checked:
                reasons[at] = REPEATED
            checked.add(_last(test))
    others = [at for at, test in enumerate(tests) if test is not None and at not in reasons]
    if not others:
        return {}
    killed = [(one or KillsOfTest()).all for one in kills]
    dead = set().union(*(killed[at] for at in others))
    taken = np.logical_or.reduce(_decisions(engine, [testcases[at] for at in others]), axis=0)
    for at in sorted(reasons, key=lambda at: (reasons[at] == ACCIDENT, -len(killed[at]), at)):
        if reasons[at] == ACCIDENT and _blames_stand_in(engine, tests[at]):
            continue
        (mine,) = _decisions(engine, [testcases[at]])
        if (mine & ~taken).any() or (reasons[at] != ACCIDENT and killed[at] - dead):
            taken |= mine
            dead |= killed[at]
            del reasons[at]
    return reasons


def _last(test: FinishedTest) -> int:
    """Return the operation that a test calls last."""
    return test.statements[-1].operation


def _is_vague(test: FinishedTest) -> bool:
    """Return whether a test that returns checks no more than the class of its last result."""
    return all((fact.position, fact.kind) == (len(test.statements) - 1, "isinstance") for fact in test.assertions)


def _is_accident(engine: Workbench, testcase: TestCase, test: FinishedTest) -> bool:
    """Return whether a test ends in an error of Python itself; that an operator refuses an operand is no accident."""
    raised = engine.trace(testcase).raised
    operation = engine.subject.operations[test.statements[-1].operation]
    deliberate = raised is None or raised.kind != "implicit" or bool(test.match) or operation.kind == "operator"
    return test.raises in _ACCIDENTS and not deliberate


def _blames_stand_in(engine: Workbench, test: FinishedTest | None) -> bool:
    """Return whether a test that ends in an accident has a stand-in that may lack the attribute, or hold the wrong type."""
    if test is None or test.raises not in _OF_STAND_INS:
        return False
    made = [engine.subject.operations[statement.operation] for statement in test.statements]
    return any(f"{operation.module}.{operation.name}" in NAMESPACES for operation in made)


def _is_idle(engine: Workbench, test: FinishedTest, seen: Observed | None, before: Observed | None) -> bool:
    """Return whether a test that returns checks nothing that its last statement does, as far as that is known."""
    if seen is None or before is None:
        return False
    last = len(test.statements) - 1
    made = engine.subject.operations[test.statements[last].operation].kind == "constructor"
    has_class = any((fact.position, fact.kind) == (last, "isinstance") for fact in test.assertions)
    return not (has_class and not made) and not shows_effect(test.statements, seen, before, engine.subject)


def _decisions(engine: Workbench, testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
    """Return which test case takes which branch of a decision, `(len(testcases), n_branches)`."""
    decided = np.array([not branch.root for branch in engine.subject.branches], dtype=bool)
    taken: NDArray[np.bool_] = engine.covers("branch", testcases) & decided
    return taken
