"""The engine: asks the search, executes, measures, remembers and tells. One `step` is one generation.

All state of a run is in one object that can be copied and pickled: the tables of statements, traces and rows, the
archive, the population and the generator of random numbers. The fitness functions that guide the search can be
exchanged between two generations; what was executed is not executed again unless the new functions need more probes.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError, OutOfBudget
from fitgym.evolution.archive import Archive
from fitgym.evolution.budget import Budget
from fitgym.evolution.individual import Individual
from fitgym.evolution.measurements import Measurements
from fitgym.evolution.proxies import Proxies
from fitgym.evolution.reach import Reach
from fitgym.evolution.trials import tried
from fitgym.execution.executor import Executor
from fitgym.fitness.base import Fitness, Floats
from fitgym.instrument.trace import Trace
from fitgym.registry import Registry, keywords, parse_options
from fitgym.search.base import Search
from fitgym.secondary.base import SecondaryObjective
from fitgym.smart_selection import smart_selection
from fitgym.subject.subject import Subject
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import DEFAULT, Rates
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = [
    "FITNESS",
    "SEARCH",
    "SECONDARY",
    "Cost",
    "Discovery",
    "Engine",
    "Variants",
    "check_variants",
    "parse_search",
]

FITNESS = Registry("fitgym.fitness", Fitness, "fitness function")
SEARCH = Registry("fitgym.search", Search, "search algorithm")
SECONDARY = Registry("fitgym.secondary", SecondaryObjective, "secondary objective")

Variants = Mapping[str, Mapping[str, Any]]
"""Arguments for the classes of fitness functions, by the function's name."""

_SWEEP = 20  # generations between two clean-ups of what no living test case needs
_GLANCE = 0.1  # seconds that should pass between two looks at the clock, where there is a deadline


@dataclass(frozen=True, slots=True)
class Discovery:
    """An exception that the run has discovered.

    Attributes:
        type: name of its class, with its module unless it is a builtin.
        function: qualified name of the innermost function of the subject on its traceback.
        kind: "declared", "explicit" or "implicit".
        testcase: the shortest known test case that raises it.
    """

    type: str
    function: str
    kind: str
    testcase: TestCase


@dataclass(slots=True)
class Cost:
    """What the generations took that some fitness functions guided, their activation included.

    Attributes:
        seconds: of wall-clock time; no result depends on them.
        executions: of test cases.
        generations: how many.
    """

    seconds: float = 0.0
    executions: int = 0
    generations: int = 0


def parse_search(text: str) -> tuple[type[Search], dict[str, Any]]:
    """The algorithm that a text such as `whole_suite:use_archive=false` names, and its options.

    Raises:
        UnknownName: there is no such algorithm.
        InputError: it does not have such an option.
    """
    name, _, argument = text.partition(":")
    algorithm = SEARCH.load(name)
    known = keywords(algorithm)
    words = [option for option, default in known.items() if isinstance(default, str)]
    return algorithm, parse_options(argument, list(known), f"search algorithm '{name}'", words)


def check_variants(variants: Variants) -> Variants:
    """The same variants of fitness functions, as they are given to `Engine`.

    Raises:
        UnknownName: there is no such fitness function.
        InputError: it does not have such an argument.
    """
    for name, arguments in variants.items():
        known = keywords(FITNESS.load(name))
        for argument in arguments:
            if argument not in known:
                raise InputError(
                    f"fitness function '{name}' has no variant by '{argument}' (there is: {', '.join(known) or 'none'})"
                )
    return variants


def _cost(objective: SecondaryObjective, measurements: Measurements, testcases: Sequence[TestCase]) -> Floats:
    return objective.of(testcases, list(map(measurements.trace, testcases)))


class Engine:
    """A running search on one subject.

    Args:
        executor: runs the test cases.
        fitness: the fitness functions that are active first.
        usable: further fitness functions that may become active; those that need "infection" must be among these three.
        tracked: further fitness functions whose targets are archived whatever is active, such as the goal's own.
        variants: of fitness functions, by name: arguments of their classes, such as `{"diversity": {"last_two": True}}`.
        search: name of the algorithm, with options after a colon as in `whole_suite:use_archive=false,population=20`.
        smart: the active functions are only those of the named ones, with those of their targets, that stand for the
            others (`fitgym.smart_selection`). What was left out is not archived; `coverage_of` a suite tells what it covers.
        secondary: what breaks ties of fitness and decides which test case the archive keeps, see `prefer`.
        seed: of everything random in the run.
        population: number of individuals, unless `search` says so.
        budget: in generations or executions of test cases. Of executions there is never one more: the generation in which
            they run out is given up.
        deadline: of `time.monotonic`, for budgets in seconds; no run with one can be repeated.
        rates: what test cases are made of, and how often.

    Attributes:
        budget: as given; None from the moment on when the search is over and its suite is finished.
        timings: seconds spent on running test cases ("execute"), on what they say, suites and the archive included
            ("measure"), and on proposing and selecting ("search").
        costs: what each set of active fitness functions took so far.
        kept: populations that a caller may want to go back to (`activate`), by whatever name.

    Raises:
        UnknownName: a fitness function or algorithm that does not exist.
        SubjectError: the subject cannot be imported or offers nothing to test.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        fitness: Sequence[str] = ("branch",),
        tracked: Sequence[str] = (),
        usable: Sequence[str] = (),
        variants: Variants | None = None,
        search: str = "whole_suite",
        smart: bool = False,
        secondary: str = "length",
        seed: int = 0,
        population: int = 50,
        budget: Budget | None = None,
        deadline: float | None = None,
        rates: Rates = DEFAULT,
    ) -> None:
        self.budget = budget
        self.executor = executor
        executor.require(frozenset().union(*(FITNESS.load(name).needs for name in (*fitness, *tracked, *usable))))
        self.subject: Subject = executor.subject
        parse_search(search)
        self.tracked = tuple(dict.fromkeys(tracked))
        self.variants = check_variants(variants or {})
        self.search_name = search
        self.table = StatementTable()
        self.factory = TestFactory(self.subject, self.table, rates)
        self.measurements = Measurements({}, self.table)
        self.archive = Archive(self.measurements)
        self._proxies = Proxies(self.subject, self.table)
        self.reach = Reach(self.subject)
        self.rng = np.random.default_rng(seed)
        self.population = population
        self._resting: dict[str, Search] = {}
        self.search = self._algorithm(search)
        self._needed: dict[str, NDArray[np.bool_]] = {}  # of mutants, once the search is over
        self._named: tuple[str, ...] = ()
        self.active: tuple[str, ...] = ()
        self.smart = smart
        self._selected: dict[str, NDArray[np.bool_] | None] = {}
        self.weights: dict[str, float] = {}  # of active functions, 1 for those that have none
        self.generation = 0
        self.executions = 0
        self.timings: dict[str, float] = {"execute": 0.0, "measure": 0.0, "search": 0.0}
        self.costs: dict[tuple[str, ...], Cost] = {}
        self.kept: dict[Hashable, list[Individual]] = {}
        self._timed = 0.0  # seconds that are in `timings` already
        self._chunk = 16
        self._ill_typed: dict[tuple[str, str], None] = {}
        executor.begin()
        self.prefer(secondary)
        self.deadline = deadline
        self._began = time.monotonic()
        self.activate(fitness)

    # ------------------------------------------------------------------ stepping

    def activate(
        self,
        names: Sequence[str],
        population: Sequence[Individual] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        """Make the named fitness functions the active ones, from the next generation on.

        The population is kept and evaluated again; test cases are executed again only if a function needs probes that
        were off when they ran.

        Args:
            names: of the fitness functions.
            population: one of `kept`, to go on with that one instead.
            weights: of the functions in the combined fitness, above 0; 1 for those that are not named.

        Raises:
            InputError: no name is given.
            UnknownName: a name is not a fitness function.
        """
        chosen = tuple(dict.fromkeys(names))
        if not chosen:
            raise InputError("no fitness function is active: name at least one, for example 'branch'")
        for name in (*chosen, *self.tracked):
            self._register(name)
        if chosen == self._named and population is None and self.weights == dict(weights or {}):
            return
        before = self._named, self.weights, self.search.population
        self.weights = dict(weights or {})
        if population is not None:
            self.search.population = list(population)
        self._select(chosen)
        if not self._reviewed():
            named, self.weights, self.search.population = before
            self._select(named)

    def _select(self, names: tuple[str, ...]) -> None:
        """The functions and targets that guide the search: those that are named, or with `smart` those that stand for them."""
        self._named, self.active, self._selected = names, names, {}
        if self.smart:
            self._selected = smart_selection(names, self.measurements.fitness, self.subject, self.search.tracks)
            self.active = tuple(self._selected)
        limits = {name: mask for name, mask in self._selected.items() if mask is not None and name not in self.tracked}
        self.archive.limit(limits)

    def use(self, search: str) -> None:
        """Go on with another search algorithm, from the next generation on.

        All share the archive and the factory. Each has a population of its own: one that was used before goes on with
        what it had, one that was not begins with its first.

        Args:
            search: name of the algorithm, with options after a colon.

        Raises:
            UnknownName, InputError: see `parse_search`.
        """
        if search == self.search_name:
            return
        before = self.search_name
        if search not in self._resting:
            self._resting[search] = self._algorithm(search)
        self._take(search)
        if not self._reviewed():
            self._take(before)

    def _take(self, search: str) -> None:
        """Exchange the algorithm that works and one that rests."""
        self._resting[self.search_name] = self.search
        self.search_name, self.search = search, self._resting.pop(search)
        self._select(self._named)  # an algorithm may need targets that another does without
        self._keep_by()

    def _reviewed(self) -> bool:
        """Let the population stand by what counts now; False if there are no executions left for what that needs."""
        with self._charged():
            self._close_covered()
            if self.search.population:
                try:
                    self._evaluate(self.search.living)
                except OutOfBudget:
                    return False
                with self._spent_on("search"):
                    self.search.refresh(self)
        return True

    def _algorithm(self, search: str) -> Search:
        """A new algorithm; what it needs to be archived is archived from now on."""
        algorithm, options = parse_search(search)
        options.setdefault("population", self.population)
        self.tracked = tuple(dict.fromkeys((*self.tracked, *algorithm.tracks)))
        for name in algorithm.tracks:
            self._register(name)
        return algorithm(self.factory, self.archive, self.rng, **options)

    def _register(self, name: str) -> None:
        if name not in self.measurements.fitness:
            self.measurements.register(name, FITNESS.load(name)(self.subject, **self.variants.get(name, {})))

    @property
    def keep_covered(self) -> bool:
        """Covered targets stay in the fitness, because the search works without the archive."""
        return not self.search.uses_archive

    def prefer(self, name: str) -> None:
        """Make another secondary objective count, from the next generation on.

        Args:
            name: of the secondary objective. An algorithm may have one of its own for the archive (`Search.archives_by`).

        Raises:
            UnknownName: there is no such one.
        """
        self._secondary = SECONDARY.load(name)(self.subject, self.table)
        self._keep_by()
        if self.search.population:
            with self._spent_on("search"):
                self.search.refresh(self)

    def set_rates(self, rates: Rates) -> None:
        """Set the probabilities and limits of random test generation from the next generation."""
        factory, known = self.factory, self.factory.literals
        for part in (
            factory,
            known,
            factory.calls,
            factory.calls.values,
            factory.calls.values.forms,
            factory.variation,
        ):
            part.rates = rates
        known._assembled_rate = rates.assembled_rate if known.affixes.starts or known.affixes.separators else 0.0
        factory.selection._on_objects = rates.tested_rate
        factory.selection._anywhere = rates.tested_rate + rates.object_rate

    def _keep_by(self) -> None:
        """Have the archive choose by the algorithm's own secondary objective, or by the one that breaks ties."""
        own = self.search.archives_by
        keeps = self._secondary if own is None else SECONDARY.load(own)(self.subject, self.table)
        self.archive.value_by(functools.partial(_cost, keeps, self.measurements))

    def step(self) -> None:
        """One generation; at the end of the budget it may be given up half way, which loses nothing but its offspring."""
        if self.over and self.search.population:
            return
        with self._charged() as cost:
            self._step()
            self.generation += 1
            cost.generations += 1
            if self.generation % _SWEEP == 0:
                self._sweep()

    @property
    def deadline(self) -> float | None:
        """When to stop, of `time.monotonic`; a test case that runs then is given up."""
        return self.executor.deadline

    @deadline.setter
    def deadline(self, deadline: float | None) -> None:
        self.executor.deadline = deadline

    @property
    def spent(self) -> float:
        """The share of the budget that is used up, in [0, 1]; 0 without a budget."""
        if self.budget is None:
            return 0.0
        return self.budget.spent(generations=self.generation, executions=self.executions)

    @property
    def over(self) -> bool:
        """The budget is used up, or the deadline has passed."""
        return self.spent >= 1.0 or self.late

    @property
    def late(self) -> bool:
        """The deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def _progress(self) -> float:
        """How much of the search is over, in [0, 1]: the share of the budget, or else of the time until the deadline."""
        if self.deadline is None or self.budget is not None:
            return self.spent
        return min(1.0, (time.monotonic() - self._began) / max(1e-9, self.deadline - self._began))

    def _step(self) -> None:
        self.search.progress = self._progress
        with self._spent_on("search"):
            candidates = self.search.ask()
        version = self.archive.version
        try:
            self._evaluate(candidates)
        except OutOfBudget:
            if not self.search.population:  # what there was time for is the first population
                known = [Individual(tuple(t for t in c.testcases if t in self.measurements)) for c in candidates]
                self.search.population = [individual for individual in known if individual.testcases] or known[:1]
                self.search.refresh(self)
            return
        with self._spent_on("search"):
            self.search.tell(self)
            if self.archive.version != version:
                # Covered targets leave the fitness only at the end of an iteration (seeding the next one).
                self._close_covered()
                self.search.refresh(self)

    @property
    def needs(self) -> frozenset[str]:
        """What has to be recorded for the functions that are active or tracked."""
        names = (*self.active, *self.tracked)
        return frozenset().union(*(self.measurements.fitness[name].needs for name in names))

    def _needs_of(self, testcases: Sequence[TestCase]) -> frozenset[str]:
        """What has to be recorded for these test cases: what is needed now, and what they were recorded with before.

        Functions come and go in turn; a test case whose last trace lacks the probes of one would run again each time.
        """
        return self.needs.union(*(self.measurements.recorded(t) for t in testcases if t in self.measurements))

    def execute(self, testcases: Iterable[TestCase]) -> None:
        """Run the test cases that are not known yet, learn from them and offer them to the archive.

        Raises:
            OutOfBudget: time or executions ran out before all of them were run.
        """
        unknown = self.measurements.unknown(testcases, self.needs)
        affordable = len(unknown) if self._left is None else max(0, self._left)
        self._run_in_time(unknown[:affordable])
        if affordable < len(unknown):
            raise OutOfBudget

    @property
    def _left(self) -> int | None:
        """How many executions the budget leaves; None if it does not count them."""
        if self.budget is None or self.budget.unit != "x":
            return None
        return int(self.budget.amount) - self.executions

    def _run_in_time(self, unknown: Sequence[TestCase]) -> None:
        """Run test cases as long as the deadline has not passed.

        Raises:
            OutOfBudget: it has.
        """
        while unknown and self.deadline is not None:
            if self.late:
                raise OutOfBudget
            started = time.monotonic()
            self._run(unknown[: self._chunk])
            unknown = unknown[self._chunk :]
            quick = time.monotonic() - started < _GLANCE
            self._chunk = min(1024, 2 * self._chunk) if quick else max(1, self._chunk // 2)
        if unknown:
            self._run(unknown)

    def _run(self, unknown: Sequence[TestCase]) -> None:
        needs = self._needs_of(unknown)
        with self._spent_on("execute"):
            before = self.executor.executions
            traces = self.executor.run(unknown, self.table, needs | {"constants"})
            self.executions += self.executor.executions - before
            if "effects" in needs:
                traces = self._tried(unknown, traces)
        with self._spent_on("measure"):
            self._learn(unknown, traces, needs)

    def _tried(self, testcases: Sequence[TestCase], traces: list[Trace]) -> list[Trace]:
        """The traces with what mutants do to the test cases."""
        infected = np.zeros((len(traces), len(self.subject.mutants)), dtype=bool)
        for name, fitness in self.measurements.fitness.items():
            if fitness.numbers is not None:
                infected[:, fitness.numbers] |= fitness.infected(traces) & self._wanted(name)
        exhaustive = self.keep_covered or bool(self._needed)
        return tried(testcases, traces, infected, self.executor, self.table, exhaustive=exhaustive)

    def _wanted(self, name: str) -> NDArray[np.bool_]:
        """Which mutants are worth running for the sake of a fitness function."""
        if self._needed:
            return self.needed(name)
        covered = self.archive.covered(name)
        return np.ones_like(covered) if self.keep_covered else ~covered

    def kills(self, name: str, testcases: Sequence[TestCase]) -> NDArray[np.bool_]:
        """Which of the mutants that the archive kills each test case kills, shape `(len(testcases), n_targets)`.

        While a search goes on, a mutant is done with when one test case kills it; to find out what can be left out of a
        suite it must be known of all test cases.

        Args:
            name: of the fitness function whose targets are mutants.
            testcases: any number.

        Raises:
            OutOfBudget: the clock ran out.
        """
        self._needed = {name: self.archive.covered(name)}
        self._run(testcases)
        return self.measurements.covers(name, testcases)

    def need(self, name: str, mutants: NDArray[np.bool_]) -> None:
        """From now on run test cases on these mutants, targets of a fitness function, and on no others.

        What others said about test cases is forgotten.
        """
        self._needed = {name: mutants}
        self.measurements.retain([], [])

    def needed(self, name: str) -> NDArray[np.bool_]:
        """Which targets of a fitness function a suite has to keep covered: all, but of mutants those of `need`."""
        every = np.ones(len(self.measurements.fitness[name].targets), dtype=bool)
        return self._needed.get(name, every)

    def _learn(self, unknown: Sequence[TestCase], traces: Sequence[Trace], needs: frozenset[str]) -> None:
        new = self.measurements.add(unknown, traces, needs)
        self.reach.note(new)
        for raised in [trace.raised for trace in new if trace.raised is not None and trace.raised.ill_typed]:
            self._ill_typed.setdefault((raised.type, self._function_name(raised.function)))
        for testcase, trace in zip(unknown, traces, strict=True):
            self.factory.note(testcase, trace)
        self.factory.learn(self.executor.learned())
        self.archive.update(self._archived, unknown, self._confirm)

    def suite_fitness(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """The combined fitness of each suite: the weighted sum over the active functions, each in [0, 1], 0 is best.

        The targets that the archive has covered do not count, unless the search works without an archive.
        """
        total = np.zeros(len(individuals))
        with self._spent_on("measure"):
            for name in self.active:
                total += self.weights.get(name, 1.0) * self.measurements.suite_fitness(name, individuals)
        return total

    def objectives(self, testcases: Sequence[TestCase], *, released: bool = False) -> NDArray[np.float64]:
        """How far each test case is from each open target of the active functions, `(len(testcases), n_open)`.

        Args:
            testcases: that were executed.
            released: only the targets that nothing keeps from being reached, see `released`.
        """
        with self._spent_on("measure"):
            found = [
                self.measurements.objectives(name, testcases, self.released(name) if released else None)
                for name in self.active
            ]
            return np.hstack(found)

    def targets(self) -> list[tuple[str, int]]:
        """The open targets, in the order of the columns of `objectives`: name of the function, and which of its targets."""
        return [(name, column) for name in self.active for column in self.measurements.open(name).tolist()]

    def secondary(self, individuals: Sequence[Individual]) -> NDArray[np.float64]:
        """The secondary objective of executed individuals, `(len(individuals),)`; less is better."""
        return self._secondary.of_suites(individuals, self.measurements.trace)

    def proxies(self, testcases: Sequence[TestCase]) -> NDArray[np.float64]:
        """Performance proxies of executed test cases, `(len(testcases), 7)`, see `fitgym.evolution.proxies`."""
        return self._proxies.of(testcases, list(map(self.measurements.trace, testcases)))

    def released(self, name: str) -> NDArray[np.bool_]:
        """Which targets of a fitness function have a place that can be reached, `(n_targets,)`.

        A place can be reached if it is control dependent on no branch, on one that the archive covers, or on code outside
        of what is under test. Targets without a place always can.

        References:
            Panichella, Kifetew and Tonella 2018, Automated Test Case Generation as a Many-Objective Optimisation Problem
            with Dynamic Selection of the Targets, section 3.2, algorithm 2.
        """
        fitness = self.measurements.fitness[name]
        if fitness.sites is None:
            return np.ones(len(fitness.targets), dtype=bool)
        covered = self.archive.covered("branch").tolist()
        closed = {(b.site, b.outcome) for b, done in zip(self.subject.branches, covered, strict=True) if not done}
        after = [not pairs or not closed.issuperset(pairs) for pairs in self.subject.dependences]
        return np.array([any(after[site] for site in sites) for sites in fitness.sites], dtype=bool)

    # ------------------------------------------------------------------ looking

    @property
    def best(self) -> Individual:
        """The best individual of the population.

        Raises:
            IndexError: no generation has been made yet.
        """
        return self.search.best

    def covered(self, name: str) -> NDArray[np.bool_]:
        """Which targets of a fitness function the archive covers, shape `(n_targets,)`."""
        return self.archive.covered(name)

    def measures(self, name: str) -> bool:
        """Whether a fitness function was ever active or tracked, so that its targets are known."""
        return name in self.measurements.fitness

    def fitness_of(self, name: str, individual: Individual) -> float:
        """The suite fitness of one function, in [0, 1], 0 is best."""
        return float(self.measurements.suite_fitness(name, [individual])[0])

    def coverage(self) -> dict[str, tuple[int, int]]:
        """Targets covered so far and targets known, for each fitness function that was ever active or tracked."""
        return {
            name: (int(covered.sum()), int(covered.size))
            for name in self.measurements.fitness
            for covered in [self.archive.covered(name)]
        }

    def coverage_of(self, testcases: Sequence[TestCase]) -> dict[str, tuple[int, int]]:
        """Targets that executed test cases cover together and targets known, as in `coverage`."""
        found = {}
        for name, fitness in self.measurements.fitness.items():
            covered = self.measurements.covers(name, self._measurable(name, testcases)).any(axis=0)
            found[name] = (int(covered.sum()), len(fitness.targets))
        return found

    def _measurable(self, name: str, testcases: Iterable[TestCase]) -> list[TestCase]:
        """Those of executed test cases that were recorded with what a function needs; nobody knows what the others cover."""
        needs = self.measurements.fitness[name].needs
        return [testcase for testcase in testcases if needs <= self.measurements.recorded(testcase)]

    def discoveries(self) -> list[Discovery]:
        """The distinct exceptions discovered so far, in order of discovery."""
        return self.raised_by(list(self.archive.best("exception").values()))

    def raised_by(self, testcases: Sequence[TestCase]) -> list[Discovery]:
        """The distinct exceptions that executed test cases raise and that count, in order."""
        found: dict[tuple[str, str], Discovery] = {}
        for testcase in testcases:
            trace = self.measurements.trace(testcase)
            raised = trace.raised
            if raised is None or not raised.counted or trace.failure:
                continue
            function = self._function_name(raised.function)
            found.setdefault((raised.type, function), Discovery(raised.type, function, raised.kind, testcase))
        return list(found.values())

    def ill_typed(self) -> list[tuple[str, str]]:
        """Class and function of the exceptions that arguments outside their annotation provoked; they do not count."""
        return list(self._ill_typed)

    def best_suite(self, names: Sequence[str] | None = None) -> list[TestCase]:
        """The best individual, supplemented from the archive by test cases for what it does not cover.

        Args:
            names: the fitness functions whose targets count, by default all that are active or tracked.
        """
        chosen = dict.fromkeys(self.search.best.testcases if self.search.population else ())
        chosen = {t: None for t in chosen if t in self.measurements and not self.measurements.trace(t).failure}
        for name in self._archived if names is None else names:
            covered = set(self.measurements.covered(name, self._measurable(name, chosen))[1].tolist())
            for column, testcase in self.archive.best(name).items():
                if column not in covered:
                    chosen[testcase] = None
                    covered.update(self.measurements.covered(name, self._measurable(name, [testcase]))[1].tolist())
        return list(chosen)

    # ------------------------------------------------------------------ inside

    @contextmanager
    def _spent_on(self, stage: str) -> Iterator[None]:
        """Count the time until the end of the block for a stage, but for what is counted for another one within it."""
        started, outside, self._timed = time.perf_counter(), self._timed, 0.0
        try:
            yield
        finally:
            seconds = time.perf_counter() - started
            self.timings[stage] += seconds - self._timed
            self._timed = outside + seconds

    @contextmanager
    def _charged(self) -> Iterator[Cost]:
        """Put down what happens until the end of the block to the functions that are active at its beginning."""
        cost = self.costs.setdefault(self.active, Cost())
        started, executions = time.perf_counter(), self.executions
        try:
            yield cost
        finally:
            cost.seconds += time.perf_counter() - started
            cost.executions += self.executions - executions

    def _function_name(self, function: int) -> str:
        return self.subject.functions[function].name if function >= 0 else ""

    @property
    def _archived(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.tracked, *self.active)))

    def _evaluate(self, individuals: Sequence[Individual]) -> None:
        self.execute(chain.from_iterable(individual.testcases for individual in individuals))

    def _confirm(self, testcases: Sequence[TestCase]) -> list[bool]:
        """Run test cases again in a fresh process: do they cover what they covered?"""
        known = [trace.plain or trace for trace in map(self.measurements.trace, testcases)]
        try:
            with self._spent_on("execute"):
                again = self.executor.verify(testcases, self.table, self._needs_of(testcases), known)
        except OutOfBudget:
            return [False] * len(testcases)
        confirmed = np.ones(len(testcases), dtype=bool)
        # Equal executions share one trace.
        differ = [i for i, trace in enumerate(known) if again[i] is not trace]
        for name in self._archived if differ else ():
            fitness = self.measurements.fitness[name]
            missed = self.measurements.covers(name, [testcases[i] for i in differ])
            rows, columns = fitness.entries([again[i] for i in differ]).covered(missed.shape[1])
            missed[rows, columns] = False
            confirmed[differ] &= ~missed.any(axis=1)
        return [bool(ok) for ok in confirmed]

    def _close_covered(self) -> None:
        """Take covered targets out of the fitness."""
        for name in self.measurements.fitness:
            left_out = self._left_out(name)
            if self.keep_covered:
                self.measurements.close(name, left_out)
            else:
                self.measurements.close(name, self.archive.covered(name) | left_out)
        if self.keep_covered:
            return
        # Only where covering code is all that is wanted: a covered function can still raise something new or be called
        # in another way.
        active = [self.measurements.fitness[name] for name in self.active]
        if "branch" in self.active and not any(fitness.dynamic or fitness.reads_tests for fitness in active):
            self.factory.exclude(self.reach.exhausted(self.archive.covered("branch")))
        else:
            self.factory.exclude(frozenset())

    def _left_out(self, name: str) -> NDArray[np.bool_]:
        """The targets of a fitness function that smart selection leaves out."""
        kept = self._selected.get(name) if name in self.active else None
        return np.zeros(len(self.measurements.fitness[name].targets), dtype=bool) if kept is None else ~kept

    def _sweep(self) -> None:
        """Forget what neither a population nor the archive needs."""
        archived = self.archive.testcases()
        resting = (search.living for search in self._resting.values())
        individuals = list(dict.fromkeys(chain(self.search.living, *resting, *self.kept.values())))
        self.measurements.retain(individuals, archived)
        self.table.retain([*(t for individual in individuals for t in individual.testcases), *archived])
