"""State: all data of a running search in one object, which can be copied and pickled."""

from __future__ import annotations

import time
from collections.abc import Hashable
from itertools import chain

import numpy as np

from fitgym.engine.choices import SECONDARY, Variants
from fitgym.engine.cost import Cost
from fitgym.engine.existing import Existing
from fitgym.engine.stopwatch import Stopwatch
from fitgym.engine.survivors import Survivors
from fitgym.errors import SubjectError
from fitgym.evolution.archive import Archive
from fitgym.evolution.budget import Budget
from fitgym.evolution.groups import Group
from fitgym.evolution.individual import Individual
from fitgym.evolution.measurements import Measurements
from fitgym.evolution.proxies import Proxies
from fitgym.evolution.reach import Reach
from fitgym.evolution.setters import Setters
from fitgym.execution.executor import Executor
from fitgym.fitness.base import Mask
from fitgym.immutable import Lookup
from fitgym.instrument.trace import Trace
from fitgym.run.setting import EngineOptions
from fitgym.search.base import Search
from fitgym.subject.subject import Subject
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import Rates
from fitgym.testcase.seeding.seeds import seeds
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["State"]

_TRIES = 20  # random test cases that are made to check whether any is possible


class State:
    """The data of a search before its first generation.

    Only the classes of this folder read it. All other code uses `fitgym.engine.queries.Queries`.

    Args:
        executor, variants, seed, budget, rates, existing: see `fitgym.engine.engine.Engine`.
        options: of the search.

    Attributes:
        executor: runs the test cases; it also holds the deadline.
        subject: the code under test.
        variants: arguments of the fitness functions, by function name.
        existing: what existing tests reach and kill; None if there are none.
        table: the statements of all test cases.
        factory: makes and changes test cases.
        measurements: traces of the executed test cases, and the fitness functions by name.
        archive: the best test case of each covered target.
        proxies: computes performance proxies.
        reach: which operations can still reach uncovered code.
        setters: which operations change what uncovered conditions depend on.
        grown_at: number of executions when the archive last covered something new.
        private: whether private operations are ever called.
        seeds: test cases from the examples of the package that were not executed yet.
        sown: the seeds that were executed, kept until a fitness function about mutants is active.
        reserved: `Subject.reserve` while these operations are not called yet; empty from then on.
        rng: generator of random numbers.
        population: default size of a population.
        searches: every algorithm that was used, by name with options; each keeps its own population.
        search_name: key of the algorithm in use.
        secondary: breaks ties of fitness.
        tracked: fitness functions whose targets are archived even when they are inactive.
        usable: further fitness functions that may become active; their probes are recorded from the start.
        reported: the fitness functions that were chosen, active or tracked at some time; coverage is reported of these.
        confirmed: archived test cases that behaved identically in a fresh process.
        named: the fitness functions that the caller chose.
        active: the fitness functions that guide the search; fewer than `named` with smart selection.
        smart: use smart selection.
        selected: targets that smart selection keeps, by active function; None keeps all.
        focus: the part of the subject that guidance and generation are restricted to; None for all of it.
        weights: weights of active functions in the combined fitness; 1 for a function without an entry.
        budget: see `Engine`.
        began: start of the search, on the clock `time.monotonic`.
        generation: number of generations so far.
        executions: number of executed test cases so far.
        idle: number of generations in a row that executed nothing, because all proposed test cases are known.
        chunk: number of test cases that run between two looks at the clock, if there is a deadline.
        spares_mutants: executed test cases run on no mutants, as while a suite is finished.
        survivors: decides which test cases run on mutants that survive many of them.
        imported: the trace of the empty test case, which only imports the subject, by recorded probes.
        ill_typed: class and function of exceptions that ill-typed arguments caused, in order.
        saved: saved populations by key.
        births: the generation in which the test cases of each individual of a population came together.
        stopwatch: seconds by stage.
        costs: cost of each set of active functions.
    """

    def __init__(
        self,
        executor: Executor,
        options: EngineOptions,
        *,
        variants: Variants,
        seed: int,
        budget: Budget | None,
        rates: Rates,
        existing: Existing | None = None,
    ) -> None:
        self.executor = executor
        self.subject = executor.subject if options.mined == "use" else executor.subject.without_examples
        self.variants = variants
        self.existing = None if existing is None else existing.of(self.subject)
        self.table = StatementTable()
        self.factory = TestFactory(self.subject, self.table, rates)
        _check_callable(self.subject, rates)
        self.measurements = Measurements({}, self.table, raw=options.combination == "raw")
        self.archive = Archive(self.measurements)
        self.proxies = Proxies(self.subject, self.table)
        self.reach = Reach(self.subject)
        self.setters = Setters(self.subject)
        self.grown_at = 0
        self.private = options.private
        self.reserved = self.subject.reserve
        self.seeds: tuple[TestCase, ...] = ()
        self.sown: tuple[TestCase, ...] = ()
        if options.mined == "use":
            found = seeds(self.subject, rates.max_length)
            self.seeds = tuple(dict.fromkeys(map(self.table.testcase, found.testcases)))
            self.factory.knowledge.take(found.given)
        self.rng = np.random.default_rng(seed)
        self.population = options.population
        self.searches: dict[str, Search] = {}
        self.search_name = ""
        self.secondary = SECONDARY.load(options.secondary)(self.subject, self.table)
        self.tracked: tuple[str, ...] = ()
        self.usable: tuple[str, ...] = ()
        self.reported: dict[str, None] = {}
        self.confirmed: Lookup[TestCase, None] = Lookup()
        self.named: tuple[str, ...] = ()
        self.active: tuple[str, ...] = ()
        self.smart = options.smart
        self.selected: dict[str, Mask | None] = {}
        self.focus: Group | None = None
        self.weights: dict[str, float] = {}
        self.budget = budget
        self.generation = 0
        self.executions = 0
        self.idle = 0
        self.chunk = 16
        self.spares_mutants = False
        self.survivors = Survivors()
        self.imported: dict[frozenset[str], Trace] = {}
        self.ill_typed: dict[tuple[str, str], None] = {}
        self.saved: dict[Hashable, list[Individual]] = {}
        self.births: dict[tuple[TestCase, ...], int] = {}
        self.stopwatch = Stopwatch()
        self.costs: dict[tuple[str, ...], Cost] = {}
        self.began = time.monotonic()

    @property
    def search(self) -> Search:
        """The algorithm in use."""
        return self.searches[self.search_name]

    def individuals(self) -> list[Individual]:
        """Return the individuals of all populations, saved ones included, each once."""
        populations = [*(search.individuals for search in self.searches.values()), *self.saved.values()]
        return list(dict.fromkeys(chain.from_iterable(populations)))

    def update_births(self) -> None:
        """Note the generation for individuals that were not there at the last call."""
        births, present = self.births, [individual.testcases for individual in self.individuals()]
        self.births = {testcases: births.get(testcases, self.generation) for testcases in present}

    @property
    def archived(self) -> tuple[str, ...]:
        """The fitness functions whose targets are archived: tracked and active ones."""
        return tuple(dict.fromkeys((*self.tracked, *self.active)))


def _check_callable(subject: Subject, rates: Rates) -> None:
    """Check that at least one operation under test can be called; abstract classes have no objects.

    Raises:
        SubjectError: no operation can be called.
    """
    if not all(operation.needs_receiver for operation in subject.under_test):
        return
    factory, rng = TestFactory(subject, StatementTable(), rates), np.random.default_rng(0)
    if not any(factory.random_test(rng) for _ in range(_TRIES)):
        raise SubjectError(
            f"'{subject.reference.text}' offers nothing to test: no object of its classes can be made, because they are "
            "abstract or leave no way to call them; test a module with a subclass"
        )
