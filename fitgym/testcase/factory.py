"""The factory of test cases: random generation, mutation, crossover and feedback from executions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fitgym.chance import Chance
from fitgym.immutable import Lookup
from fitgym.instrument.trace import Trace
from fitgym.subject.code.affixes import affixes_of
from fitgym.subject.subject import Subject
from fitgym.testcase.arguments.literals import Literals
from fitgym.testcase.calls import Calls
from fitgym.testcase.draft import Draft
from fitgym.testcase.hangs import Hangs
from fitgym.testcase.knowledge import Knowledge, Learned
from fitgym.testcase.rates import DEFAULT, Rates
from fitgym.testcase.selection import Selection
from fitgym.testcase.statement import Statement, StatementTable, TestCase
from fitgym.testcase.variation import Variation

__all__ = ["TestFactory"]

_ENDS = 20_000  # test cases whose useful length is cached
_ATTEMPTS = 3  # proposals of a test case without a call that is likely to hang


class TestFactory:
    """Generates, mutates and crosses the test cases of one subject.

    Deterministic: the same calls in the same order, with random generators in the same state, give the same test cases.
    It can be pickled.

    Args:
        subject: the code under test.
        table: interns the statements; share it with all readers of the test cases.
        rates: probabilities and limits.
    """

    __test__ = False  # pytest would collect a class whose name begins with "Test"

    def __init__(self, subject: Subject, table: StatementTable, rates: Rates = DEFAULT) -> None:
        self.subject = subject
        self.table = table
        self.rates = rates = replace(rates)  # one copy, shared by all parts
        # The useful length of a test case in statements, and whether the last of them raises.
        self._ends: Lookup[TestCase, tuple[int, bool]] = Lookup()
        self.knowledge = Knowledge(subject, rates)
        self.hangs = Hangs()
        self.literals = Literals(subject.constants, subject.patterns, rates, affixes=affixes_of(subject.source))
        self.calls = Calls(subject, self.knowledge, self.literals, rates)
        self.selection = Selection(self.calls)
        self.variation = Variation(self.calls, self.selection)
        self._seeds: list[list[Statement]] = []  # the next one last

    def set_seeds(self, testcases: Iterable[TestCase]) -> None:
        """Return these test cases from `random_test`: each once, in this order, with probability 1/2 per call."""
        self._seeds = list(map(self.table.statements, testcases))[::-1]

    def random_test(self, rng: Chance) -> TestCase:
        """Return a new test case; it is empty only if no operation under test can be called.

        It ends before the first call that is likely to hang, see `Hangs`.
        """
        if self._seeds and rng.random() < 0.5:
            return self.table.testcase(self._seeds.pop())
        for _ in range(_ATTEMPTS):
            testcase = self._random_test(rng)
            doubted = self.hangs.first(testcase, self.table, rng)
            if doubted < 0:
                break
            if shorter := self.trimmed(testcase[:doubted]):
                return shorter
        return testcase

    def _random_test(self, rng: Chance) -> TestCase:
        least, most = self.rates.initial_length
        length = least + int(rng.random() * (most - least + 1))
        draft = Draft()
        for _ in range(self.rates.max_attempts):
            self.selection.extend(draft, rng)
            if len(draft) >= length and self.variation.has_test(draft):
                break
        return self.table.testcase(self.variation.trimmed(draft))

    def mutate(self, testcase: TestCase, rng: Chance) -> TestCase:
        """Return a changed copy, or the same test case if no change was possible.

        Statements after one that raised are dropped, as in EvoSuite, and so is a statement that never returned. A
        change that adds a call likely to hang is retried, see `Hangs`. A test case that calls nothing inside the focus
        is replaced by a random one.
        """
        if self.strays(testcase):
            return self.random_test(rng)
        end, raises = self._ends.get(testcase, (len(testcase), False))
        testcase = testcase[:end]
        statements = self.table.statements(testcase)
        for _ in range(_ATTEMPTS):
            mutant = self.variation.mutated(statements, rng, raises=raises)
            changed = self.table.descendant(mutant, statements, testcase)
            doubted = self.hangs.first(changed, self.table, rng, testcase)
            if doubted < 0:
                break
        else:
            # Every attempt was rejected: keep the part before the doubtful call.
            return self.trimmed(changed[:doubted]) or changed
        return changed

    def strays(self, testcase: TestCase) -> bool:
        """Return whether there is a focus and the test case calls nothing inside it."""
        return bool(self.selection.outside) and self.selection.strays(self.table.statements(testcase))

    def cross(self, first: TestCase, second: TestCase, rng: Chance) -> tuple[TestCase, TestCase]:
        """Return two offspring that exchanged their ends, or copies of the parents if one of them is empty.

        Both parents are first shortened by `cut`, and no head contains a statement that raised.
        """
        first, second = self.cut(first), self.cut(second)
        if not first or not second:
            return first, second
        table = self.table
        mother, father = table.statements(first), table.statements(second)
        one, other = self.variation.crossed(mother, father, rng)
        return table.descendant(one, mother, first), table.descendant(other, father, second)

    def cut(self, testcase: TestCase) -> TestCase:
        """Return the test case without statements that earlier executions showed to be useless.

        Statements after one that raised are dropped. After a failure, the statement that caused it is dropped as well.
        Its descendants would most likely fail there again. If the failure uses all fuel or time, it costs thousands of
        times as much as other executions.
        """
        return testcase[: self._ends.get(testcase, (len(testcase), False))[0]]

    def trimmed(self, testcase: TestCase) -> TestCase:
        """Return the test case without helper statements that no operation under test needs."""
        return self.table.testcase(self.variation.trimmed(self.table.statements(testcase)))

    def learn(self, learned: Learned) -> None:
        """Use the executor's observations: operands at comparisons, returned types, inferred argument types."""
        self.literals.learn(learned.constants)
        self.knowledge.learn(learned)

    def note(self, testcase: TestCase, trace: Trace) -> None:
        """Count successes and failures of arguments and operations; call it once for each execution."""
        self.knowledge.note(testcase, self.table, trace)
        self.hangs.note(testcase, self.table, trace)
        end = _end(trace)
        if end is not None:
            if len(self._ends) >= _ENDS:
                # Dicts keep insertion order, so these are the oldest entries.
                for old in list(self._ends)[: _ENDS // 2]:
                    del self._ends[old]
            self._ends[testcase] = end

    def set_rates(self, rates: Rates) -> None:
        """Replace the rates, from the next test case that is generated or changed."""
        self.rates.take(rates)
        self.knowledge.reweigh()
        self.literals.trim()

    def set_setters(self, setters: Mapping[int, tuple[tuple[int, ...], ...]]) -> None:
        """Insert these operations before the operations whose uncovered conditions they can change.

        Args:
            setters: groups of operation ids by operation id, see `fitgym.evolution.setters`.
        """
        self.selection.setters = setters

    def exclude(self, operations: frozenset[int], outside: frozenset[int] = frozenset()) -> None:
        """Stop inserting these operations; replaces the former sets. See `Selection.exclude`."""
        self.selection.exclude(operations, outside)
        self.calls.values.doubles = operations.isdisjoint(self.subject.doubles)


def _end(trace: Trace) -> tuple[int, bool] | None:
    """Return the useful length of a test case, and whether its last statement raises; None for the full length."""
    if trace.failure:
        stopped = bool(trace.calls) and not trace.calls[-1].returned
        return (len(trace.calls) - 1, False) if stopped else None
    if trace.raised is not None and trace.raised.position >= 0:
        return trace.raised.position + 1, True
    return None
