"""Kills: which mutants each test and each assertion kills, and the smallest set of assertions that kills all of them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import NamedTuple

from fitgym.instrument.trace import Trace
from fitgym.messages.effect import Effect, Expectation
from fitgym.messages.observation import Observation, Observed
from fitgym.mutants.mutant import Mutant
from fitgym.subject.subject import Subject
from fitgym.testcase.expression import Collection, Expression, Literal
from fitgym.testcase.statement import TestCase

__all__ = ["MOST_TRIALS", "OUTCOMES", "Kills", "KillsOfTest", "fewest", "kills_of", "trials"]

Kills = Mapping[Observation, Set[int]]
"""For each candidate assertion of a test, the mutants that it kills and that the test survives without it."""


class KillsOfTest(NamedTuple):
    """The mutants that a test kills.

    Attributes:
        by_fact: see `Kills`.
        by_outcome: those on which the test itself ends differently: it raises or no longer does, raises another class of
            exception, or takes much longer. They need no assertion.
        complete: the test ran on all the mutants that were to be tried, not only on the first few.
    """

    by_fact: Kills = MappingProxyType({})
    by_outcome: Set[int] = frozenset()
    complete: bool = True

    @property
    def all(self) -> Set[int]:
        """All mutants that the test kills with its candidate assertions."""
        return frozenset(self.by_outcome).union(*self.by_fact.values())

    def joined(self, other: KillsOfTest) -> KillsOfTest:
        """Return the mutants of both, for the same candidate assertions; `complete` if the other is."""
        by_fact = {fact: frozenset(some) | other.by_fact.get(fact, frozenset()) for fact, some in self.by_fact.items()}
        return KillsOfTest(by_fact, frozenset(self.by_outcome) | other.by_outcome, other.complete)


MOST_TRIALS = 20_000
"""Maximal number of pairs of test case and mutant that are run to choose assertions."""

OUTCOMES = ("raises", "returns", "exception", "timeout")
"""How a test case kills a mutant without an assertion, in every run, see `fitgym.messages.effect.Kill`."""

Kill = Callable[[Sequence[tuple[TestCase, int]], Mapping[TestCase, Expectation]], Sequence[Effect | None]]
"""Runs test cases on mutants, see `Executor.kill`."""


def kills_of(
    testcases: Sequence[TestCase],
    seen: Sequence[Observed | None],
    facts: Sequence[Sequence[Observation]],
    traces: Mapping[TestCase, Trace],
    mutants: Sequence[Mutant],
    subject: Subject,
    kill: Kill,
    infected: Mapping[TestCase, Set[int]] | None = None,
    most: int = MOST_TRIALS,
) -> list[KillsOfTest]:
    """Return the mutants that each test kills.

    An assertion kills a mutant if its fact does not hold when the test runs on the mutant.

    Args:
        testcases: the tests.
        seen: the facts that all executions of a test agree on, None for tests to skip.
        facts: the candidate assertions of each test.
        traces: the trace of each test; those of skipped tests may be missing.
        mutants: all mutants of the subject.
        subject: the code under test.
        kill: runs test cases on mutants; may raise `OutOfBudget`.
        infected: see `trials`.
        most: see `trials`.
    """
    expected = {
        testcase: Expectation(
            tuple(some),
            one.raises[0] if one.raises else None,
            one.position,
            traces[testcase].reached,
            traces[testcase].fuel,
        )
        for testcase, one, some in zip(testcases, seen, facts, strict=True)
        if one is not None
    }
    tried = trials({testcase: traces[testcase] for testcase in expected}, mutants, subject, most, infected)
    by_fact: dict[TestCase, dict[Observation, set[int]]] = {
        t: {fact: set() for fact in e.facts} for t, e in expected.items()
    }
    by_outcome: dict[TestCase, set[int]] = {testcase: set() for testcase in expected}
    for (testcase, mutant), effect in zip(tried, kill(tried, expected), strict=True):
        if effect is None:
            continue
        if effect.killed == "value":
            for index in effect.facts:
                by_fact[testcase][expected[testcase].facts[index]].add(mutant)
        elif effect.killed in OUTCOMES:
            by_outcome[testcase].add(mutant)
    return [
        KillsOfTest(by_fact[testcase], by_outcome[testcase]) if testcase in expected else KillsOfTest()
        for testcase in testcases
    ]


def trials(
    traces: Mapping[TestCase, Trace],
    mutants: Sequence[Mutant],
    subject: Subject,
    most: int = MOST_TRIALS,
    infected: Mapping[TestCase, Set[int]] | None = None,
) -> list[tuple[TestCase, int]]:
    """Return each test case paired with each mutant of the functions that it enters.

    Args:
        traces: the test cases with their traces.
        mutants: all mutants of the subject.
        subject: the code under test.
        most: if there are more pairs, evenly spaced mutants are left out, the same for every test case.
        infected: the mutants that each test case infects, if that is known; it can kill no others.
    """
    functions = [function.name for function in subject.functions]
    known = set(functions)
    pairs = []
    for testcase, trace in traces.items():
        sites = array("I", trace.reached[0])
        entered = {functions[subject.sites[site].function] for site in sites}
        pairs += [
            (testcase, number)
            for number, mutant in enumerate(mutants)
            if (mutant.function in entered or mutant.function not in known)
            and (infected is None or number in infected[testcase])
        ]
    step = -(-len(pairs) // most)
    return [pair for pair in pairs if pair[1] % step == 0] if step > 1 else pairs


def fewest(candidates: Sequence[Observation], matrix: Kills, most: float = math.inf) -> list[Observation]:
    """Return the fewest candidates that kill every mutant that any candidate kills, in their order.

    A greedy set cover: each step takes the candidate that kills the most mutants still alive, until `most` are taken.
    Ties go to an assertion that is not about a length, because content says more, then to the result whose first
    candidate comes first, then to the shortest, then to the first. In the end, candidates whose mutants the others kill
    are removed. The result is empty if no candidate kills anything.
    """
    rank = {position: order for order, position in enumerate(dict.fromkeys(fact.position for fact in candidates))}
    deadly = {fact: set(matrix.get(fact, ())) for fact in dict.fromkeys(candidates)}
    alive: set[int] = set().union(*deadly.values())
    taken: list[Observation] = []

    def worth(fact: Observation) -> tuple[int, bool, int, int]:
        return len(deadly[fact] & alive), fact.kind != "length", -rank[fact.position], -assertion_length(fact)

    while alive and len(taken) < most:
        best = max(deadly, key=worth)
        taken.append(best)
        alive -= deadly[best]
    for fact in sorted(taken, key=assertion_length, reverse=True):
        others = set().union(*(deadly[other] for other in taken if other != fact))
        if deadly[fact] <= others:
            taken.remove(fact)
    return [fact for fact in deadly if fact in taken]


def assertion_length(fact: Observation) -> int:
    """Return the approximate number of characters of the assertion; fewer is simpler."""
    around = {"equal": 0, "is": 0, "truth": 0, "approx": 15, "nan": 10, "text": 5, "list": 6, "length": 5}.get(
        fact.kind, 30
    )
    return around + len(fact.path) + _size(fact.expression)


def _size(expression: Expression) -> int:
    if isinstance(expression, Collection):
        return 2 + sum(_size(item) + 2 for item in expression.items)
    return len(expression.text) if isinstance(expression, Literal) else 12
