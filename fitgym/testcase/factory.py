"""The factory of test cases: new ones by chance, changed ones, crossed ones, and what was learnt about them."""

from __future__ import annotations

import ast

from numpy.random import Generator

from fitgym.instrument.trace import Trace
from fitgym.subject.affixes import affixes
from fitgym.subject.subject import Subject
from fitgym.testcase.calls import Calls
from fitgym.testcase.knowledge import Knowledge, Learned
from fitgym.testcase.literals import Literals
from fitgym.testcase.selection import Selection
from fitgym.testcase.statement import Statement, StatementTable, TestCase
from fitgym.testcase.variation import Variation

__all__ = ["TestFactory"]

_ENDS = 20_000  # test cases whose end is remembered


class TestFactory:
    """Makes, changes and crosses the test cases of one subject.

    Deterministic: the same calls in the same order with generators in the same state give the same test cases. It can
    be pickled.

    Args:
        subject: what is tested.
        table: interns the statements; share it with whoever reads the test cases.
        max_length: most statements of a test case (EvoSuite 1.0.7: 40).
        initial_length: bounds of the length of a random test case, both included. EvoSuite 1.0.7 draws from 1 to 39;
            shorter ones cover as much per execution, because a test case ends at its first exception, and read better.
        max_attempts: most insertions tried for a random test case (EvoSuite 1.0.7: 1000).
        tested_rate, object_rate: see `Selection`.
        delete_rate, change_rate, insert_rate, insert_again: see `Variation`.
        optional_rate, repeat_builders, repeat_calls: see `Calls`.
        ill_typed, null_probability, object_reuse, primitive_reuse, accepted_rate, max_depth: see `Values`.
        static_pool, dynamic_pool, dynamic_size, max_int, max_delta, random_perturbation, string_length, pattern_rate,
        assembled_rate: see `Literals`.
    """

    __test__ = False  # its name makes pytest look for tests in it

    def __init__(
        self,
        subject: Subject,
        table: StatementTable,
        *,
        max_length: int = 40,
        initial_length: tuple[int, int] = (1, 10),
        max_attempts: int = 1000,
        tested_rate: float = 0.5,
        object_rate: float = 0.4,
        delete_rate: float = 1 / 3,
        change_rate: float = 1 / 3,
        insert_rate: float = 1 / 3,
        insert_again: float = 0.5,
        optional_rate: float = 0.5,
        repeat_builders: float = 0.8,
        repeat_calls: float = 0.1,
        ill_typed: float = 0.05,
        null_probability: float = 0.1,
        object_reuse: float = 0.9,
        primitive_reuse: float = 0.5,
        accepted_rate: float = 0.1,
        max_depth: int = 4,
        static_pool: float = 0.5,
        dynamic_pool: float = 0.5,
        dynamic_size: int = 500,
        max_int: int = 2048,
        max_delta: int = 20,
        random_perturbation: float = 0.2,
        string_length: int = 20,
        pattern_rate: float = 0.25,
        assembled_rate: float = 0.1,
    ) -> None:
        self.subject = subject
        self.table = table
        self.max_length = max_length
        self.initial_length = initial_length
        self.max_attempts = max_attempts
        self._ends: dict[TestCase, int] = {}  # position of the statement that raised
        self.knowledge = Knowledge(subject)
        self.literals = Literals(
            subject.constants,
            subject.patterns,
            static_pool=static_pool,
            dynamic_pool=dynamic_pool,
            dynamic_size=dynamic_size,
            max_int=max_int,
            max_delta=max_delta,
            random_perturbation=random_perturbation,
            string_length=string_length,
            pattern_rate=pattern_rate,
            affixes=affixes(ast.parse(subject.source)),
            assembled_rate=assembled_rate,
        )
        self.calls = Calls(
            subject,
            self.knowledge,
            self.literals,
            optional_rate=optional_rate,
            max_length=max_length,
            repeat_builders=repeat_builders,
            repeat_calls=repeat_calls,
            ill_typed=ill_typed,
            null_probability=null_probability,
            object_reuse=object_reuse,
            primitive_reuse=primitive_reuse,
            accepted_rate=accepted_rate,
            max_depth=max_depth,
        )
        self.selection = Selection(self.calls, tested_rate=tested_rate, object_rate=object_rate)
        self.variation = Variation(
            self.calls,
            self.selection,
            delete_rate=delete_rate,
            change_rate=change_rate,
            insert_rate=insert_rate,
            insert_again=insert_again,
            max_length=max_length,
        )

    def random_test(self, rng: Generator) -> TestCase:
        """A new test case; empty only if no operation under test can be called at all."""
        least, most = self.initial_length
        length = least + int(rng.random() * (most - least + 1))
        new = self.selection.insert([], rng)
        for _ in range(self.max_attempts):
            if len(new) >= length and self.variation.has_test(new):
                break
            new = self.selection.insert(new, rng)
        return self.table.testcase(self.variation.trimmed(new))

    def mutate(self, testcase: TestCase, rng: Generator) -> TestCase:
        """A changed copy; the same test case only if no change could be made.

        What stands after a statement that raised is left out, as in EvoSuite.
        """
        raises = testcase in self._ends
        testcase = self.cut(testcase)
        statements = self.table.statements(testcase)
        known = dict(zip(map(id, statements), testcase, strict=True))
        return self._interned(self.variation.mutated(statements, rng, raises=raises), known)

    def cross(self, first: TestCase, second: TestCase, rng: Generator) -> tuple[TestCase, TestCase]:
        """Two offspring that exchanged their ends; copies of the parents if one of them is empty.

        What stands after a statement that raised is left out first, and no head contains such a statement.
        """
        if not first or not second:
            return first, second
        first, second = self.cut(first), self.cut(second)
        mother, father = self.table.statements(first), self.table.statements(second)
        one, other = self.variation.crossed(mother, father, rng)
        known = dict(zip(map(id, mother + father), first + second, strict=True))
        return self._interned(one, known), self._interned(other, known)

    def cut(self, testcase: TestCase) -> TestCase:
        """The test case up to the statement that raised, this one included, if it was noted that one did."""
        end = self._ends.get(testcase)
        return testcase if end is None else testcase[: end + 1]

    def trimmed(self, testcase: TestCase) -> TestCase:
        """The test case without helper statements that nothing under test needs."""
        return self.table.testcase(self.variation.trimmed(self.table.statements(testcase)))

    def learn(self, learned: Learned) -> None:
        """Use what the executor has learnt: operands at comparisons, types returned, types demanded."""
        self.literals.learn(learned.constants)
        self.knowledge.learn(learned)

    def note(self, testcase: TestCase, trace: Trace) -> None:
        """Count which arguments and operations worked and which failed; call it once for each execution."""
        table = self.table
        self.knowledge.note(((identifier, table[identifier]) for identifier in testcase), trace)
        self.selection.tick()
        if trace.raised is not None and trace.raised.position >= 0:
            if len(self._ends) >= _ENDS:
                for old in list(self._ends)[: _ENDS // 2]:
                    del self._ends[old]
            self._ends[testcase] = trace.raised.position

    def exclude(self, operations: frozenset[int]) -> None:
        """Do not insert operations any more whose targets are all covered; replaces the former set."""
        self.selection.exclude(operations)

    def _interned(self, statements: list[Statement], known: dict[int, int]) -> TestCase:
        """The statements as a test case; `known` has ids of statements by identity, which saves hashing them."""
        intern = self.table.intern
        return tuple(
            [known[id(statement)] if id(statement) in known else intern(statement) for statement in statements]
        )
