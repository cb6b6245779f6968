"""Mutation: run test cases on the mutants of the subject while a suite is finished."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

import numpy as np

from fitgym.engine.workbench import Workbench
from fitgym.errors import OutOfBudget
from fitgym.instrument.trace import Trace
from fitgym.messages.effect import Effect, Expectation
from fitgym.messages.observation import Observation, Observed, agreement
from fitgym.mutants.generation import mutants
from fitgym.suite.allotment import Allotment
from fitgym.suite.assertions import candidates
from fitgym.suite.kills import MOST_TRIALS, OUTCOMES, KillsOfTest, kills_of, trials
from fitgym.suite.observers import enriched, unknown
from fitgym.testcase.statement import TestCase

__all__ = ["ENOUGH", "Mutation"]

ENOUGH = 3
"""Test cases that kill a mutant: with so many, it is not run with further ones while a suite is minimised.

A mutant that many test cases kill says little about any of them, and most trials are of such mutants.
"""

_CERTAIN = ("value", *OUTCOMES)
"""Kills that do not depend on the speed of the machine, see `fitgym.messages.effect.Kill`."""


_BY_LIMIT = ("clock", "memory", "crash", "exit")
_FEW = 12  # mutants that each test case runs on before any runs on all
_CHUNK = 100  # trials between two checks of the allotment
_TOGETHER = 16  # test cases that run on mutants together; then it is checked which mutants have died often enough


class Mutation:
    """Runs test cases on the mutants of a search's subject.

    Args:
        engine: the search; it has executed the test cases.
        allotment: the limit of work; None for no limit.
    """

    def __init__(self, engine: Workbench, allotment: Allotment | None = None) -> None:
        self._engine = engine
        self.allotment = Allotment(engine) if allotment is None else allotment
        self._slow: set[int] = set()  # mutants stopped by the clock or the memory limit
        self._surviving: Set[int] = frozenset()  # mutants that the search tried and that none of the candidates killed
        self._mutants = mutants(engine.subject.source, engine.subject.reference.class_name).made
        before = engine.killed_before
        self._killed_before = {number for number, mutant in enumerate(self._mutants) if mutant.id in before}

    def killed(
        self,
        asked: Sequence[tuple[TestCase, Sequence[int] | None]],
        *,
        among: Set[int] | None = None,
        enough: int = ENOUGH,
        partial: bool = False,
    ) -> list[frozenset[int]]:
        """Return the mutants that each test case kills if it asserts all its candidate facts.

        Each test case comes with the numbers of the mutants to try; None means all mutants that it infects, but once
        `enough` test cases have killed a mutant, it is not tried any more. Mutants that existing tests kill are left
        out. Test cases with given mutants are small changes of others, so one look at their results is enough.

        Args:
            asked: the test cases with their mutants.
            among: the only mutants to try; None for all.
            enough: see above.
            partial: return the kills found so far if time runs out after the test cases have run.

        Raises:
            OutOfBudget: the allotment or the time ran out.
        """
        engine = self._engine
        testcases = list(dict.fromkeys(testcase for testcase, _ in asked))
        once = all(numbers is not None for _, numbers in asked)
        with self.allotment.spend():
            engine.execute(testcases)
            traces = [engine.trace(testcase) for testcase in testcases]
            known = engine.expect(testcases, once=once)
        expected = {
            testcase: replace(one, facts=tuple(self._candidates(testcase, one.facts, raised=one.raises is not None)))
            for testcase, one in self._enriched(
                {testcase: one for testcase, one in zip(testcases, known, strict=True) if one is not None}
            ).items()
        }
        recorded = dict(zip(testcases, traces, strict=True))
        found: dict[TestCase, set[int]] = {testcase: set() for testcase in testcases}

        def run(tried: Iterable[tuple[TestCase, int]]) -> list[int]:
            """Run trials and return the mutants that were killed, each as often as it was."""
            unique = [one for one in dict.fromkeys(tried) if one[0] in expected and one[1] not in self._killed_before]
            killed = []
            for start in range(0, len(unique), _CHUNK):
                some = unique[start : start + _CHUNK]
                for (testcase, number), effect in zip(some, self._run(some, expected), strict=True):
                    if effect is not None and effect.killed in _CERTAIN:
                        found[testcase].add(number)
                        killed.append(number)
            return killed

        infected = self._infected(testcases)
        run(
            (testcase, number)
            for testcase, numbers in asked
            for number in numbers or ()
            if infected is None or number in infected[testcase]
        )
        whole = [testcase for testcase, numbers in asked if numbers is None]
        if among is not None:
            infected = {one: (among if infected is None else infected[one] & among) for one in whole}
        pairs = trials({t: recorded[t] for t in whole}, self._mutants, engine.subject, infected=infected)
        sure, pairs = self._sorted(pairs, {t: recorded[t] for t in whole})
        try:
            times = Counter(run(sure))
            for start in range(0, len(whole), _TOGETHER):
                some = frozenset(whole[start : start + _TOGETHER])
                times.update(run(pair for pair in pairs if pair[0] in some and times[pair[1]] < enough))
        except OutOfBudget:
            if not partial:
                raise
        return [frozenset(found[testcase]) for testcase, _ in asked]

    def _sorted(
        self, pairs: Sequence[tuple[TestCase, int]], traces: Mapping[TestCase, Trace]
    ) -> tuple[list[tuple[TestCase, int]], list[tuple[TestCase, int]]]:
        """Return the pairs of test case and mutant that were kills in the search, and the others that may be kills.

        The search compares all that a test case leaves behind, so a mutant that a test case survived there is hardly ever
        killed by its assertions, nor one that none of the test cases killed. These are left out.
        """
        killed = {test: {number: impact == math.inf for number, impact in traces[test].effects} for test in traces}
        dead = {number for some in killed.values() for number, kill in some.items() if kill}
        tried = {number for some in killed.values() for number in some}
        self._surviving |= tried - dead
        sure = [(test, number) for test, number in pairs if killed[test].get(number)]
        others = [
            (test, number) for test, number in pairs if number not in killed[test] and number not in self._surviving
        ]
        return sure, others

    def likely(self, testcases: Sequence[TestCase], most: int) -> list[list[int] | None]:
        """Return at most `most` mutants that each test case infects and few of the others do; None if that is unknown.

        Mutants that existing tests kill are left out.

        Raises:
            OutOfBudget: the allotment or the time ran out.
        """
        with self.allotment.spend():
            self._engine.execute(testcases)
        infected = self._infected(testcases)
        if infected is None:
            return [None] * len(testcases)
        rarest = _rarest({testcase: infected[testcase] - self._killed_before for testcase in testcases}, most)
        return [rarest[testcase] for testcase in testcases]

    def matrix(
        self,
        testcases: Sequence[TestCase],
        observed: Sequence[Sequence[Observed]],
        before: Sequence[Observed | None],
    ) -> list[KillsOfTest | None]:
        """Return the mutants that each test case kills with its candidate assertions, None if time ran out before.

        First each test case runs on the few mutants that it infects and few others do, so that something is known about
        each of them when time runs out.

        Args:
            testcases: the tests.
            observed: the observations of each test.
            before: the observation of each test without its last statement, if known.
        """
        found: list[KillsOfTest | None] = [None] * len(testcases)
        with contextlib.suppress(OutOfBudget):
            infected = self._infected([testcase for testcase in testcases if self._engine.has_trace(testcase)])
            few = others = None
            if infected is not None:
                left = {testcase: some - self._surviving for testcase, some in infected.items()}
                few = {testcase: frozenset(some) for testcase, some in _rarest(left, _FEW).items()}
                others = {testcase: some - few[testcase] for testcase, some in left.items()}
            for some_mutants, most in ((few, _FEW), (others, MOST_TRIALS / max(1, len(testcases)))):
                for start in range(0, len(testcases), _TOGETHER):
                    some = slice(start, start + _TOGETHER)
                    new = self._matrix(testcases[some], observed[some], before[some], some_mutants, most)
                    found[some] = [
                        one._replace(complete=False) if known is None else known.joined(one)
                        for known, one in zip(found[some], new, strict=True)
                    ]
        return found

    def _matrix(
        self,
        testcases: Sequence[TestCase],
        observed: Sequence[Sequence[Observed]],
        before: Sequence[Observed | None],
        infected: Mapping[TestCase, Set[int]] | None,
        most: float,
    ) -> list[KillsOfTest]:
        """Return the mutants that each test case kills; for each, about `most` of those that it infects are tried."""
        seen = [agreement(some) for some in observed]
        facts: list[list[Observation]] = []
        for at, (testcase, one, earlier) in enumerate(zip(testcases, seen, before, strict=True)):
            unknown_trace = not self._engine.has_trace(testcase)  # minimising ran out of time before it was executed
            if one is None or one.failure or unknown_trace or (one.position >= 0 and not one.raises):
                seen[at] = None
                facts.append([])
                continue
            so_far = earlier.observations if earlier is not None and not earlier.failure else ()
            facts.append(self._candidates(testcase, one.observations, so_far, raised=one.position >= 0))
        traces = {t: self._engine.trace(t) for t, one in zip(testcases, seen, strict=True) if one is not None}
        most_trials = math.ceil(most * len(testcases))
        return kills_of(
            testcases, seen, facts, traces, self._mutants, self._engine.subject, self._run, infected, most_trials
        )

    def _infected(self, testcases: Sequence[TestCase]) -> Mapping[TestCase, Set[int]] | None:
        """Return the mutants that each test case infects, None if infection is not recorded."""
        engine, name = self._engine, "weak_mutation"
        if not engine.records(name):
            return None
        fitness = engine.function(name)
        number = {mutant.id: number for number, mutant in enumerate(self._mutants)}
        columns = [number.pop(str(target.key[0])) for target in fitness.targets]
        unknown = set(number.values())  # mutants without a place where infection can be seen
        rows = fitness.infected([engine.trace(testcase) for testcase in testcases], engine.trace_of_import())
        return {
            testcase: {columns[at] for at in np.flatnonzero(row).tolist()} | unknown
            for testcase, row in zip(testcases, rows, strict=True)
        }

    def _enriched(self, expected: Mapping[TestCase, Expectation]) -> dict[TestCase, Expectation]:
        """Return the expectations, with added facts from observers of objects that store nothing to check."""
        engine = self._engine
        testcases = list(expected)
        seen = [Observed(one.facts, position=one.position) for one in expected.values()]
        wanted = [
            unknown(engine.table.statements(testcase), one, engine.subject)
            for testcase, one in zip(testcases, seen, strict=True)
        ]

        def observe(longer: Sequence[TestCase]) -> list[Observed]:
            return engine.observe(longer)

        extended = enriched(testcases, seen, wanted, engine.subject, engine.table, observe)
        return {
            testcase: replace(expected[testcase], facts=one.observations)
            for testcase, one in zip(testcases, extended, strict=True)
        }

    def _candidates(
        self, testcase: TestCase, facts: Sequence[Observation], before: Sequence[Observation] = (), *, raised: bool
    ) -> list[Observation]:
        statements = self._engine.table.statements(testcase)
        strong, _ = candidates(statements, facts, self._engine.subject, before=before, raised=raised, every=True)
        return strong

    def _run(
        self, tried: Sequence[tuple[TestCase, int]], expected: Mapping[TestCase, Expectation]
    ) -> list[Effect | None]:
        """Return the effects of trials; None for mutants that the clock or the memory limit has stopped before."""
        effects: list[Effect | None] = []
        for start in range(0, len(tried), _CHUNK):
            some = tried[start : start + _CHUNK]
            new = [trial for trial in some if trial[1] not in self._slow]
            with self.allotment.spend():
                found = dict(zip(new, self._engine.kill(new, expected, exhaustive=True, certain=True), strict=True))
            self._slow.update(
                number for (_, number), effect in found.items() if effect is not None and effect.killed in _BY_LIMIT
            )
            effects += [found.get(trial) for trial in some]
        return effects


def _rarest(infected: Mapping[TestCase, Set[int]], most: int) -> dict[TestCase, list[int]]:
    """Return for each test case up to `most` of its mutants, first those that few test cases infect."""
    times = Counter(number for some in infected.values() for number in some)
    return {t: sorted(some, key=lambda number: (times[number], number))[:most] for t, some in infected.items()}
