"""Mutation: what the mutants of the subject do to tests that are being finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fitgym.engine.workbench import Workbench
from fitgym.messages.effect import Effect, Expectation
from fitgym.messages.observation import Observation, Observed, agreement
from fitgym.mutants.generation import mutants
from fitgym.suite.allotment import Allotment
from fitgym.suite.assertions import candidates
from fitgym.suite.kills import Kills, kills_of, trials
from fitgym.suite.observers import enriched, unknown
from fitgym.testcase.statement import TestCase

__all__ = ["Mutation"]

_CERTAIN = ("value", "raises", "returns", "exception", "timeout")
"""Kills that do not depend on how fast the machine is, see `fitgym.messages.effect.Kill`."""


_BY_LIMIT = ("clock", "memory", "crash", "exit")
_CHUNK = 100  # trials between two looks at what is left


class Mutation:
    """Runs test cases on the mutants of a search's subject.

    Args:
        engine: the search; its test cases have been executed.
        allotment: what this may cost; None for any amount.
    """

    def __init__(self, engine: Workbench, allotment: Allotment | None = None) -> None:
        self._engine = engine
        self.allotment = Allotment(engine) if allotment is None else allotment
        self._slow: set[int] = set()  # mutants that the clock or the memory has stopped
        self._mutants = mutants(engine.subject.source, engine.subject.reference.class_name).made
        before = engine.killed_before
        self._killed_before = {number for number, mutant in enumerate(self._mutants) if mutant.id in before}

    def killed(self, asked: Sequence[tuple[TestCase, Sequence[int] | None]]) -> list[frozenset[int]]:
        """Which of these mutants (of all of the functions it enters, where there is None) each test case kills, if it
        asserts all that it can. Mutants that existing tests kill are left out.

        Raises:
            OutOfBudget: there is no time to find out.
        """
        engine = self._engine
        testcases = list(dict.fromkeys(testcase for testcase, _ in asked))
        with self.allotment.spend():
            engine.execute(testcases)
            traces = [engine.trace(testcase) for testcase in testcases]
            known = engine.expect(testcases)
        expected = {
            testcase: replace(one, facts=tuple(self._candidates(testcase, one.facts, raised=one.raises is not None)))
            for testcase, one in self._enriched(
                {testcase: one for testcase, one in zip(testcases, known, strict=True) if one is not None}
            ).items()
        }
        recorded = dict(zip(testcases, traces, strict=True))
        whole = {testcase: recorded[testcase] for testcase, numbers in asked if numbers is None}
        tried = [*trials(whole, self._mutants, engine.subject)]
        tried += [(testcase, number) for testcase, numbers in asked if numbers is not None for number in numbers]
        left_out = self._killed_before
        tried = [trial for trial in dict.fromkeys(tried) if trial[0] in expected and trial[1] not in left_out]
        found: dict[TestCase, set[int]] = {testcase: set() for testcase in testcases}
        for (testcase, number), effect in zip(tried, self._run(tried, expected), strict=True):
            if effect is not None and effect.killed in _CERTAIN:
                found[testcase].add(number)
        return [frozenset(found[testcase]) for testcase, _ in asked]

    def matrix(
        self,
        testcases: Sequence[TestCase],
        observed: Sequence[Sequence[Observed]],
        before: Sequence[Observed | None],
    ) -> list[Kills]:
        """Which mutants the candidate assertions of each test case kill.

        Args:
            testcases: the tests.
            observed: what the executions of each showed.
            before: what each showed before its last statement, if that is known.

        Raises:
            OutOfBudget: there is no time to find out.
        """
        seen = [agreement(some) for some in observed]
        facts: list[list[Observation]] = []
        for testcase, one, earlier in zip(testcases, seen, before, strict=True):
            unknown_trace = not self._engine.has_trace(testcase)  # left as it was when time ran out
            if one is None or one.failure or unknown_trace or (one.position >= 0 and not one.raises):
                facts.append([])
                continue
            so_far = earlier.observations if earlier is not None and not earlier.failure else ()
            facts.append(self._candidates(testcase, one.observations, so_far, raised=one.position >= 0))
        traces = {t: self._engine.trace(t) for t, some in zip(testcases, facts, strict=True) if some}
        return kills_of(testcases, seen, facts, traces, self._mutants, self._engine.subject, self._run)

    def _enriched(self, expected: Mapping[TestCase, Expectation]) -> dict[TestCase, Expectation]:
        """The expectations, with what observers say of objects that show nothing by themselves."""
        engine = self._engine
        testcases = list(expected)
        seen = [Observed(one.facts, position=one.position) for one in expected.values()]
        wanted = [
            unknown(engine.table.statements(testcase), one, engine.subject)
            for testcase, one in zip(testcases, seen, strict=True)
        ]

        def observe(longer: Sequence[TestCase]) -> list[Observed]:
            return engine.observe(longer)

        told = enriched(testcases, seen, wanted, engine.subject, engine.table, observe)
        return {
            testcase: replace(expected[testcase], facts=one.observations)
            for testcase, one in zip(testcases, told, strict=True)
        }

    def _candidates(
        self, testcase: TestCase, facts: Sequence[Observation], before: Sequence[Observation] = (), *, raised: bool
    ) -> list[Observation]:
        statements = self._engine.table.statements(testcase)
        strong, _ = candidates(statements, facts, self._engine.subject, before=before, raised=raised)
        return strong

    def _run(
        self, tried: Sequence[tuple[TestCase, int]], expected: Mapping[TestCase, Expectation]
    ) -> list[Effect | None]:
        """The effects of trials; none of mutants that the clock or the memory has stopped before."""
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
