"""The engine: in each `step` (one generation) it asks the search, executes, measures, archives and tells.

The fitness functions that guide the search can be exchanged between two generations. If they are declared as `usable`,
the exchange executes nothing: what they need is recorded from the start.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Literal

import numpy as np

from fitgym.engine.choices import FITNESS, Variants, check_variants, parse_search
from fitgym.engine.cost import Cost
from fitgym.engine.existing import Existing
from fitgym.engine.guidance import Guidance
from fitgym.engine.state import State
from fitgym.engine.workbench import Workbench
from fitgym.errors import InputError, OutOfBudget
from fitgym.evolution.archive import Archive
from fitgym.evolution.budget import Budget
from fitgym.evolution.groups import Group
from fitgym.evolution.individual import Individual
from fitgym.evolution.measurements import Measurements
from fitgym.execution.executor import Executor
from fitgym.immutable import Lookup
from fitgym.run.setting import EngineOptions
from fitgym.search.base import Search
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.rates import DEFAULT, Rates

__all__ = ["Engine"]

_FIRST_SHARE = 0.3  # share of the time that the first population may take
_FIRST_BATCH = 8  # test cases of the first population that run between two checks for calls that hang
_SWEEP = 20  # generations between two clean-ups of traces and statements that no kept test case uses


class Engine(Workbench):
    """A running search on one subject.

    Args:
        executor: runs the test cases.
        fitness: the fitness functions that are active first.
        usable: further fitness functions that may become active. What they need is recorded from the start, so that
            activating them executes nothing and their values are known before. Functions that need "infection" must be
            among `fitness`, `tracked`, `usable` or `late`, because the probes are inserted at the start.
        late: fitness functions that are too expensive to record before they are active, whatever `tracked` and `usable`
            say. When one becomes active, the population and the archive run again.
        tracked: fitness functions whose targets are archived even when they are inactive, such as the goal's own.
        variants: arguments of fitness functions by name, such as `{"diversity": {"last_two": True}}`.
        search: name of the algorithm, with options after a colon as in `whole_suite:use_archive=false,population=20`.
        smart: use smart selection (`fitgym.engine.smart_selection`): only representative functions and targets guide the
            search. Other targets are not archived; `coverage_of` still reports what a suite covers.
        secondary: the secondary objective; see `prefer`.
        seed: determines everything random in the run.
        population: number of individuals, unless `search` sets it.
        combination: "scaled" or "raw"; see `fitgym.run.setting.EngineOptions`.
        private: "late" or "never"; see there.
        mined: "use" or "ignore"; see there.
        budget: in generations or executions of test cases. An execution budget is never exceeded: the generation that
            exhausts it is abandoned.
        deadline: on the clock `time.monotonic`, for budgets in seconds; a run with a deadline cannot be repeated.
        rates: probabilities and limits of random test generation.
        existing: what existing tests reach and kill. The search does not pursue these targets, and the finished suite
            need not cover them. Coverage and the values of goals count what both suites cover together.

    Raises:
        InputError: `existing` was measured on another version of the source.
        UnknownName: a fitness function or algorithm does not exist.
        SubjectError: the subject cannot be imported or offers nothing to test.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        fitness: Sequence[str] = ("branch",),
        tracked: Sequence[str] = (),
        usable: Sequence[str] = (),
        late: Sequence[str] = (),
        variants: Variants | None = None,
        search: str = "whole_suite",
        smart: bool = False,
        secondary: str = "length",
        seed: int = 0,
        population: int = 50,
        combination: Literal["scaled", "raw"] = "scaled",
        private: Literal["late", "never"] = "late",
        mined: Literal["use", "ignore"] = "use",
        budget: Budget | None = None,
        deadline: float | None = None,
        rates: Rates = DEFAULT,
        existing: Existing | None = None,
    ) -> None:
        named = (*fitness, *tracked, *usable, *late)
        executor.require(frozenset().union(*(FITNESS.load(name).needs for name in named)))
        parse_search(search)
        state = State(
            executor,
            EngineOptions(
                search=search,
                smart=smart,
                secondary=secondary,
                population=population,
                combination=combination,
                private=private,
                mined=mined,
            ),
            variants=check_variants(variants or {}),
            seed=seed,
            budget=budget,
            rates=rates,
            existing=existing,
        )
        super().__init__(state)
        tracked = [name for name in tracked if name not in late]
        self._guidance = Guidance(state)
        self._guidance.register(tracked)
        self._guidance.track(tracked)
        self._guidance.record(name for name in usable if name not in late)
        self._guidance.create(search)
        state.search_name = search
        self._guidance.order_archive()
        executor.begin(quick=deadline is not None)
        self.deadline = deadline
        self.activate(fitness)

    # ------------------------------------------------------------------ commands

    def set_rates(self, rates: Rates) -> None:
        """Set the probabilities and limits of random test generation, from the next generation."""
        self._state.factory.set_rates(rates)

    def activate(
        self,
        names: Sequence[str],
        population: Sequence[Individual] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        """Activate exactly the named fitness functions, from the next generation on.

        The engine keeps the population and re-evaluates it. Test cases run again only if a function is not `usable` and
        needs probes that were off when they ran. The archive takes over what kept test cases cover of the new functions.

        Args:
            names: of the fitness functions.
            population: replaces the population, for example by a saved one.
            weights: positive weights of functions in the combined fitness; 1 for a function without an entry.

        Raises:
            InputError: no name is given.
            UnknownName: no fitness function has such a name.
        """
        state = self._state
        chosen = tuple(dict.fromkeys(names))
        if not chosen:
            raise InputError("no fitness function is active: name at least one, for example 'branch'")
        self._guidance.register((*chosen, *state.tracked))
        if chosen == state.named and population is None and state.weights == dict(weights or {}):
            return
        before = state.named, state.weights, state.search.population
        archived = set(state.archived)
        state.weights = dict(weights or {})
        if population is not None:
            state.search.population = list(population)
        self._guidance.choose(chosen)
        new = [name for name in state.active if name not in archived]
        if not self._reevaluate(new):
            named, state.weights, state.search.population = before
            self._guidance.choose(named)

    def save_population(self, key: Hashable) -> None:
        """Save the population under a key; the engine keeps the traces of its test cases."""
        self._state.saved[key] = list(self._state.search.population)

    def saved_population(self, key: Hashable) -> Sequence[Individual] | None:
        """Return the population that was saved under a key, for `activate`; None if there is none."""
        return self._state.saved.get(key)

    def use(self, search: str) -> None:
        """Switch the search algorithm from the next generation.

        All algorithms share the archive and the factory. Each has its own population: an algorithm that was used before
        resumes with its population, a new one starts with a random population.

        Args:
            search: name of the algorithm, with options after a colon.

        Raises:
            UnknownName, InputError: see `parse_search`.
        """
        before = self._state.search_name
        if search == before:
            return
        archived = set(self._state.archived)
        self._guidance.create(search)
        self._guidance.take(search)
        if not self._reevaluate([name for name in self._state.archived if name not in archived]):
            self._guidance.take(before)

    def focus(self, group: Group | None) -> None:
        """Restrict the search to a part of the subject, from the next generation on.

        Only targets inside it guide the search, and inserted calls are of its operations; others are called to build
        what it needs. The archive keeps what is covered anywhere, so a change of focus loses nothing.

        Args:
            group: one of `fitgym.evolution.groups.groups`; None for the whole subject.
        """
        if group is self._state.focus:
            return
        self._guidance.focus(group)
        if self.search.population:
            with self._state.stopwatch.time("search"):
                self.search.refresh(self)

    def reseed(self, seed: int) -> None:
        """Continue with another random generator.

        A copy that looks ahead then does not share the random numbers of the search.
        """
        state = self._state
        state.rng = np.random.default_rng(seed)
        for search in state.searches.values():
            search.reseed(state.rng)

    def prefer(self, name: str) -> None:
        """Switch the secondary objective from the next generation.

        Args:
            name: of the secondary objective. It breaks ties of fitness and decides which test case the archive keeps,
                unless the algorithm has its own objective for the archive (`Search.archives_by`).

        Raises:
            UnknownName: no secondary objective has this name.
        """
        self._guidance.prefer(name)
        if self.search.population:
            with self._state.stopwatch.time("search"):
                self.search.refresh(self)

    def step(self) -> None:
        """Run one generation. At the end of the budget it may be abandoned, which loses only its offspring."""
        if self.over and self.search.population:
            return
        state = self._state
        executions = state.executions
        with self._charged() as cost:
            self._step()
            state.generation += 1
            state.update_births()
            cost.generations += 1
            state.idle = 0 if state.executions > executions else state.idle + 1
            if state.generation % _SWEEP == 0:
                self._sweep()

    # ------------------------------------------------------------------ parts, for tests and for driving the engine

    @property
    def executor(self) -> Executor:
        """Runs the test cases."""
        return self._state.executor

    @property
    def factory(self) -> TestFactory:
        """Makes and changes test cases."""
        return self._state.factory

    @property
    def measurements(self) -> Measurements:
        """Traces of the executed test cases and their distances to targets."""
        return self._state.measurements

    @property
    def archive(self) -> Archive:
        """The best test case of each covered target."""
        return self._state.archive

    @property
    def search(self) -> Search:
        """The search algorithm in use."""
        return self._state.search

    @property
    def rng(self) -> np.random.Generator:
        """The generator of random numbers of the search."""
        return self._state.rng

    # ------------------------------------------------------------------ inside

    def _step(self) -> None:
        state = self._state
        search = state.search
        search.progress = self.progress
        if not any(individual.testcases for individual in search.population):
            search.population = []  # the first population had no time to run, so make another one
        if state.seeds:
            self._sow()
        with state.stopwatch.time("search"):
            candidates = search.ask()
        version = state.archive.version
        try:
            if self.deadline is None or search.population:
                self._evaluate(candidates)
            else:
                self._evaluate_first(candidates, self.deadline)
        except OutOfBudget:
            # An abandoned generation loses only its offspring, but without a population there would be no result.
            if not search.population:  # the executed part of the first population becomes the population
                known = [Individual(tuple(t for t in c.testcases if self.has_trace(t))) for c in candidates]
                search.population = [individual for individual in known if individual.testcases] or known[:1]
                if any(individual.testcases for individual in search.population):
                    search.refresh(self)
            return
        with state.stopwatch.time("search"):
            search.tell(self)
            if state.archive.version != version:
                # Covered targets leave the fitness only at the end of an iteration (seeding the next one).
                state.grown_at = state.executions
                self._guidance.close_covered()
                search.refresh(self)
            else:
                self._guidance.open_reserve()

    def _sow(self) -> None:
        """Execute the seeds, and add those that cover something to the factory."""
        state = self._state
        seeds, state.seeds = state.seeds, ()
        if state.budget is not None and state.budget.unit == "x":
            seeds = seeds[: int(state.budget.amount) // 4]
        try:
            self.execute(seeds)
        except OutOfBudget:
            return
        if not any(map(self._is_about_mutants, state.active)):
            state.sown = seeds
        kept = set(state.archive.testcases())
        state.factory.set_seeds([testcase for testcase in seeds if testcase in kept])
        self._guidance.close_covered()

    def _reevaluate(self, new: Sequence[str] = ()) -> bool:
        """Re-evaluate the population. Returns False if the budget does not allow it.

        Args:
            new: fitness functions for whose targets the archive takes over what kept test cases cover.
        """
        with self._charged():
            self._guidance.close_covered()
            if self.search.population:
                individuals = self.search.individuals
                others = self.archived_testcases()
                try:
                    self._evaluate(individuals)
                    if any(map(self._is_about_mutants, new)):
                        # The archive has the shortest tests of each target, which are seldom the examples of people.
                        others = tuple(dict.fromkeys((*others, *self._state.sown)))
                        self.execute(others)  # finds the mutants that are already killed
                        self._state.sown = ()
                except OutOfBudget:
                    return False
                if new:
                    testcases = chain.from_iterable(individual.testcases for individual in individuals)
                    self._execution.offer(new, (*others, *testcases))
                    self._guidance.close_covered()
                with self._state.stopwatch.time("search"):
                    self.search.refresh(self)
        return True

    def _is_about_mutants(self, name: str) -> bool:
        return self._state.measurements.fitness[name].numbers is not None

    def _evaluate(self, individuals: Sequence[Individual]) -> None:
        self.execute(chain.from_iterable(individual.testcases for individual in individuals))

    def _evaluate_first(self, individuals: Sequence[Individual], deadline: float) -> None:
        """Evaluate the first population, which was created before any call was known to hang.

        Raises:
            OutOfBudget: its share of the time is over, or test cases that would probably hang were left out.
        """
        now = time.monotonic()
        self.deadline = now + _FIRST_SHARE * max(0.0, deadline - now)
        hangs, table, chance = self.factory.hangs, self._state.table, self.search.chance
        pending = list(dict.fromkeys(chain.from_iterable(individual.testcases for individual in individuals)))
        left_out = 0
        try:
            while pending:
                some, pending = pending[:_FIRST_BATCH], pending[_FIRST_BATCH:]
                likely = [testcase for testcase in some if hangs.first(testcase, table, chance) < 0]
                left_out += len(some) - len(likely)
                self.execute(likely)
        finally:
            self.deadline = deadline
        if left_out:
            raise OutOfBudget

    @contextmanager
    def _charged(self) -> Iterator[Cost]:
        """Charge the block to the functions that are active when it starts."""
        state = self._state
        cost = state.costs.setdefault(state.active, Cost())
        started, executions = time.perf_counter(), state.executions
        try:
            yield cost
        finally:
            cost.seconds += time.perf_counter() - started
            cost.executions += state.executions - executions

    def _sweep(self) -> None:
        """Drop the traces and statements that neither a population nor the archive uses."""
        state = self._state
        individuals = state.individuals()
        archived = (*state.archive.testcases(), *state.sown)
        state.measurements.retain(individuals, archived)
        state.confirmed = Lookup((t, None) for t in archived if t in state.confirmed)
        state.table.retain([*(t for individual in individuals for t in individual.testcases), *archived])
