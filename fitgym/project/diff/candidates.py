"""Candidates: test cases that reach changed functions of one version of a module."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fitgym.engine import Engine
from fitgym.evolution.budget import Budget
from fitgym.evolution.groups import Group
from fitgym.execution.executor import Executor
from fitgym.instrument.trace import Trace
from fitgym.subject.callgraph import reachable
from fitgym.subject.subject import Subject
from fitgym.testcase.rates import DEFAULT
from fitgym.testcase.statement import Statement, TestCase

__all__ = ["FITNESS", "MOST", "Candidate", "candidates", "focus", "reached"]

FITNESS = ("branch", "weak_mutation", "exception", "output")
"""Goals of the search: mutants are a model of changes in the code."""

MOST = 400
"""Maximal number of test cases of one version that are compared."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A test case of one version.

    Attributes:
        statements: of the test case, with the operations of the version.
        reached: the changed functions that it ran.
    """

    statements: tuple[Statement, ...]
    reached: tuple[str, ...]


def candidates(
    executor: Executor, changed: Collection[str], *, budget: Budget | None, deadline: float | None, seed: int
) -> list[Candidate]:
    """Search for test cases of public operations that reach changed functions.

    Args:
        executor: of the version.
        changed: qualified names of its changed functions and classes.
        budget: in executions or generations, None if the deadline decides.
        deadline: of the search, on the clock `time.monotonic`.
        seed: of all random decisions.

    Returns:
        Test cases of the archive first, then others; a random selection of these if there are more than `MOST`.

    Raises:
        SubjectError: the version cannot be imported or has nothing to test.
    """
    engine = Engine(
        executor,
        fitness=FITNESS,
        search="mosa",
        private="never",
        budget=budget,
        deadline=deadline,
        seed=seed,
        # Calls that violate annotations are irrelevant to a refactoring: callers do not rely on their outcome.
        rates=replace(DEFAULT, ill_typed=0.0),
    )
    subject = engine.subject
    names = sorted(changed)
    engine.focus(focus(subject, names))
    found: dict[tuple[Statement, ...], Candidate] = {}

    def collect(testcases: Sequence[TestCase]) -> list[Candidate]:
        new = []
        for testcase in testcases:
            if not engine.has_trace(testcase) or engine.trace(testcase).failure:
                continue
            statements = tuple(engine.table.statements(testcase))
            if statements not in found:
                functions = reached(engine.trace(testcase), subject, names)
                found[statements] = Candidate(statements, functions)
            new.append(found[statements])
        return [one for one in new if one.reached and not _calls_private(one.statements, subject)]

    others: dict[Candidate, None] = {}
    while not engine.over:
        engine.step()
        if not any(one.testcases for one in engine.population):  # the time was too short for a single test case
            break
        others.update(dict.fromkeys(collect([t for one in engine.population for t in one.testcases])))
    best = dict.fromkeys(collect(engine.archived_testcases()))
    rest = [one for one in others if one not in best]
    if len(rest) > (room := max(0, MOST - len(best))):
        chosen = np.random.default_rng(seed).choice(len(rest), room, replace=False)
        rest = [rest[index] for index in sorted(chosen.tolist())]
    engine.deadline = None
    return [*list(best)[:MOST], *rest]


def focus(subject: Subject, changed: Sequence[str]) -> Group | None:
    """Return the part of a subject that leads to changed functions, None if the source does not show it."""
    targets = {function.id for function in subject.functions if _within(function.name, changed)}
    graph = reachable(subject.source, subject.functions) if subject.source else ()
    leading = {number for number, some in enumerate(graph) if number and targets & some}
    operations = frozenset(
        one.id
        for one in subject.operations
        if one.is_entry_point and (one.function in leading or _within(one.name, changed))
    )
    if not operations:
        return None
    functions = frozenset(leading | targets)
    where = np.array([subject.sites[branch.site].function for branch in subject.branches], dtype=np.intp)
    return Group("changed", operations, functions, np.isin(where, sorted(functions)))


def reached(trace: Trace, subject: Subject, changed: Sequence[str]) -> tuple[str, ...]:
    """Return the changed functions and classes that a test case called or whose code it ran."""
    functions = {subject.sites[site].function for site in array("I", trace.reached[0])}
    names = {subject.functions[number].name for number in functions}
    names |= {subject.operations[call.operation].name for call in trace.calls}
    return tuple(one for one in changed if any(_within(name, (one,)) for name in names))


def _within(name: str, changed: Sequence[str]) -> bool:
    """Return whether a function is one of the changed ones, or inside one."""
    return any(name == one or name.startswith(f"{one}.") for one in changed)


def _calls_private(statements: Sequence[Statement], subject: Subject) -> bool:
    return any(subject.operations[one.operation].entry_kind == "private" for one in statements)
