"""Guidance: the fitness functions, targets and algorithm that guide a search, and the cost that its archive uses."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import numpy as np

from fitgym.engine.choices import FITNESS, SECONDARY, parse_search
from fitgym.engine.smart_selection import smart_selection
from fitgym.engine.state import State
from fitgym.evolution.groups import Group
from fitgym.evolution.measurements import Measurements
from fitgym.fitness.base import Floats, Mask
from fitgym.secondary.base import SecondaryObjective
from fitgym.testcase.statement import StatementTable, TestCase

__all__ = ["PATIENCE", "Guidance"]

PATIENCE = 300
"""Executions without a newly covered target after which operations of the reserve are called too."""

_IDLE = 20  # generations in a row without a new test case after which the reserve is called too
_RAISING = 1e4  # cost in the archive of a test case that raises
_RESERVE = 1e6  # cost in the archive of a test case that calls an operation of the reserve


class Guidance:
    """Sets what guides one search.

    Args:
        state: of the search.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._functions: dict[
            str, list[frozenset[int]]
        ] = {}  # the functions that contain each target, by fitness function
        self._asides: dict[tuple[str, frozenset[int]], Mask] = {}  # cache of `_outside`

    def track(self, names: Iterable[str]) -> None:
        """Archive the targets of further fitness functions, active or not."""
        state = self._state
        state.tracked = tuple(dict.fromkeys((*state.tracked, *names)))
        state.reported.update(dict.fromkeys(state.tracked))

    def record(self, names: Iterable[str]) -> None:
        """Record from now on what further fitness functions need, so that activating them executes nothing.

        Functions whose targets are mutants are tracked: otherwise killed mutants would run with every test case.

        Raises:
            UnknownName: no fitness function has such a name.
        """
        state = self._state
        state.usable = tuple(dict.fromkeys((*state.usable, *names)))
        self.register(state.usable)
        self.track(name for name in state.usable if state.measurements.fitness[name].numbers is not None)

    def register(self, names: Iterable[str]) -> None:
        """Make fitness functions available for measuring.

        Raises:
            UnknownName: no fitness function has such a name.
        """
        state = self._state
        for name in names:
            if name not in state.measurements.fitness:
                function = FITNESS.load(name)(state.subject, **state.variants.get(name, {}))
                state.measurements.register(name, function)
                if state.existing is not None:
                    state.archive.grant(name, state.existing.covered(function))

    def choose(self, names: tuple[str, ...]) -> None:
        """Activate the named functions, or with smart selection their representatives."""
        state = self._state
        state.named, state.active, state.selected = names, names, {}
        if state.smart:
            state.selected = smart_selection(names, state.measurements.fitness, state.subject, state.search.tracks)
            state.active = tuple(state.selected)
        state.reported.update(dict.fromkeys((*names, *state.active)))
        limits = {name: mask for name, mask in state.selected.items() if mask is not None and name not in state.tracked}
        state.archive.limit(limits)

    def create(self, search: str) -> None:
        """Create an algorithm unless it exists; the archive keeps the targets that it tracks from now on."""
        state = self._state
        if search not in state.searches:
            algorithm, options = parse_search(search)
            options.setdefault("population", state.population)
            self.track(algorithm.tracks)
            self.register(algorithm.tracks)
            state.searches[search] = algorithm(state.factory, state.archive, state.rng, **options)

    def take(self, search: str) -> None:
        """Switch to an algorithm that exists. The others keep their populations."""
        self._state.search_name = search
        self.choose(self._state.named)  # an algorithm may need targets that another one does not need
        self.order_archive()

    def prefer(self, name: str) -> None:
        """Switch the secondary objective.

        Raises:
            UnknownName: no secondary objective has this name.
        """
        state = self._state
        state.secondary = SECONDARY.load(name)(state.subject, state.table)
        self.order_archive()

    def order_archive(self) -> None:
        """Let the archive prefer test cases by the algorithm's own secondary objective, or else by the search's."""
        state = self._state
        own = state.search.archives_by
        objective = state.secondary if own is None else SECONDARY.load(own)(state.subject, state.table)
        value = functools.partial(_values, objective, state.measurements, state.table, state.subject.reserve)
        state.archive.value_by(functools.partial(value, returns_first=own is None))

    def close_covered(self) -> None:
        """Remove covered targets from the fitness, and calls that reach no uncovered code from the factory."""
        state = self._state
        uses_archive = state.search.uses_archive
        for name in state.measurements.fitness:
            left_out = self._left_out(name) | state.archive.granted(name)
            covered = state.archive.covered(name) | left_out if uses_archive else left_out
            state.measurements.close(name, covered, self._outside(name))
        self._exclude()

    def open_reserve(self) -> bool:
        """Call the operations of `Subject.reserve` from now on if nothing new was covered for some time.

        Tests of public operations with real objects are worth more to their owner, because they survive refactoring.
        But they cannot reach some code, such as a class that only another kind of program uses.

        Returns:
            Whether this is a change.
        """
        state = self._state
        patient = state.executions - state.grown_at < PATIENCE and state.idle < _IDLE
        if state.private == "never" or not state.reserved or patient:
            return False
        state.reserved = frozenset()
        self._exclude()
        return True

    def focus(self, group: Group | None) -> None:
        """Restrict guidance and generation to a part of the subject; None for all of it."""
        self._state.focus = group
        self.close_covered()

    def _exclude(self) -> None:
        """Tell the factory which operations not to call."""
        state = self._state
        # Other functions than branch coverage need covered code too: it can still raise a new exception or be called in
        # a new way.
        active = [state.measurements.fitness[name] for name in state.active]
        exhausted: frozenset[int] = frozenset()
        if (
            state.search.uses_archive
            and "branch" in state.active
            and not any(fitness.dynamic or fitness.reads_tests for fitness in active)
        ):
            exhausted = state.reach.exhausted(state.archive.covered("branch"))
        if "branch" in state.active:
            state.factory.set_setters(state.setters.feeding(state.archive.covered("branch")))
        excluded = exhausted | state.reserved
        if state.focus is None:
            state.factory.exclude(excluded)
            return
        inside = (state.focus.operations - excluded) or state.focus.operations
        leading = frozenset(one.id for one in state.subject.operations if one.is_entry_point)
        doubles = state.subject.doubles & state.reserved
        state.factory.exclude((leading - inside) | doubles, leading - state.focus.operations)

    def _left_out(self, name: str) -> Mask:
        """Return the targets of a fitness function that smart selection leaves out."""
        state = self._state
        selected = state.selected.get(name) if name in state.active else None
        n_targets = len(state.measurements.fitness[name].targets)
        return np.zeros(n_targets, dtype=bool) if selected is None else ~selected

    def _outside(self, name: str) -> Mask | None:
        """Return the targets of a fitness function outside the focus; None without a focus or without places."""
        state = self._state
        places = state.measurements.fitness[name].sites
        if state.focus is None or places is None:
            return None
        if len(self._functions.get(name, ())) != len(places):
            sites = state.subject.sites
            self._functions[name] = [frozenset(sites[site].function for site in some) for some in places]
            self._asides.clear()
        key = (name, state.focus.functions)
        if key not in self._asides:
            self._asides[key] = np.array([key[1].isdisjoint(some) for some in self._functions[name]], dtype=bool)
        return self._asides[key]


def _values(
    objective: SecondaryObjective,
    measurements: Measurements,
    table: StatementTable,
    reserve: frozenset[int],
    testcases: Sequence[TestCase],
    *,
    returns_first: bool,
) -> Floats:
    """Return the objective's values; with `returns_first` test cases that raise come later, those of the reserve last.

    A test case that returns can check a value, one that raises only the exception. So EvoSuite prefers it, too. An
    algorithm with its own objective for the archive keeps to that alone, as published.
    """
    traces = list(map(measurements.trace, testcases))
    values = objective.of(testcases, traces)
    if returns_first:
        values = values + _RAISING * np.array([trace.raised is not None for trace in traces])
    if reserve:
        values = values + _RESERVE * np.array(
            [any(one.operation in reserve for one in table.statements(testcase)) for testcase in testcases]
        )
    return values
