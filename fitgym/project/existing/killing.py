"""Killing: find the mutants of a project's modules that its existing tests kill."""

from __future__ import annotations

import gc
import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fitgym.fitness.strong_mutation import StrongMutation
from fitgym.project.existing.fork import Send, forked
from fitgym.project.existing.probes import Probes, trace_of
from fitgym.sandbox.sandbox import restrict
from fitgym.worker.activation import Mutation
from fitgym.worker.live_functions import live_functions

if TYPE_CHECKING:
    import pytest

    from fitgym.project.existing.recording import RanTest, Runs

__all__ = ["Killing"]

MOST_S = 10.0
"""Maximal duration of the tests that are run on one mutant, in seconds."""

SLOWER = 4
"""The time limit of a mutant's tests: `SLOWER` times their duration without the mutant, plus `MORE_S`."""

MORE_S = 2.0

PATIENCE = 3
"""Factor of the time limit in the retry of tests that were late."""

FUEL, MORE_FUEL = 10, 20_000
"""Factor and addition that give a test's fuel limit, from its fuel without the mutant."""


MEMORY_MB = 4096
"""Memory limit of a mutant, in addition to the memory in use."""


class _Trial(NamedTuple):
    """A mutant, and the tests that infect it.

    Attributes:
        module: its module.
        number: of the mutant, index in `Subject.mutants`.
        id: of the mutant.
        tests: positions of the tests among the items, in the order in which they run.
        seconds: duration of the tests without the mutant.
        fuel: maximal fuel of the module that one of the tests burns.
    """

    module: str
    number: int
    id: str
    tests: tuple[int, ...]
    seconds: float
    fuel: int


@dataclass(slots=True)
class Killing:
    """Runs tests on mutants, starting with the mutants that have the quickest tests.

    A mutant is killed if a test that passes without it fails, or if the tests do not end. A failure counts only if the
    same tests also pass alone without the mutant, because some tests depend on others.

    Mutants run in the sandbox, which allows writing in one folder only. Tests that need more do not count.

    Code that runs during the import of a module has run before a mutant can replace it, so mutants of such code are
    skipped.

    Args:
        probes: in the modules of the project.
        tell: receives ("mutants", module, total, infected), ("killed", module, id, test), where the test is the first
            that fails, ("unrun", number) and ("dependent", test) for tests that fail without the tests before them.
        limit_s: seconds for all mutants.
        folder: the only folder that mutants may write in.
        last: whether a test runs after all others. If such a test kills a mutant, no other test before it does, and
            from then on it runs in its usual place.
    """

    probes: Probes
    tell: Send
    limit_s: float
    folder: str
    last: Callable[[pytest.Item], bool] = lambda _: False

    def run(self, items: Sequence[pytest.Item], run: Runs, ran: Sequence[RanTest]) -> None:
        """Run the mutants; called in the process that has collected the tests and run none of them."""
        end = time.monotonic() + self.limit_s
        position = {item.nodeid: at for at, item in enumerate(items)}
        usable = [one for one in ran if one.outcome == "passed" and one.name in position]
        trials, mutations = self._plan(usable, position)
        # The collector of a fork ignores frozen objects, so their memory pages are not copied.
        gc.collect()
        gc.freeze()
        alone = _Alone(lambda tests: self._failing(items, run, tests, None, 0, MOST_S * SLOWER)[0])
        last = {at for at, item in enumerate(items) if self.last(item)}
        for at, trial in enumerate(trials):
            if time.monotonic() >= end:
                self.tell(("unrun", len(trials) - at))
                break
            tests = tuple(sorted(trial.tests, key=lambda test: (test in last, test)))
            killer = self._killer(items, run, trial._replace(tests=tests), mutations[trial.module], alone)
            if killer >= 0:
                last.discard(killer)
                self.tell(("killed", trial.module, trial.id, items[killer].nodeid))
        for test in sorted(alone.unreliable):
            self.tell(("dependent", items[test].nodeid))

    def _plan(self, ran: Sequence[RanTest], position: dict[str, int]) -> tuple[list[_Trial], dict[str, Mutation]]:
        trials: list[_Trial] = []
        mutations = {}
        for name in sorted({name for one in ran for name in one.records}):
            probed = self.probes.modules.get(name)
            if probed is None or not probed.imported:
                try:
                    importlib.import_module(name)
                    probed = self.probes.modules[name]
                except BaseException:  # the module can only be imported inside a test
                    continue
            subject = probed.subject()
            fitness = StrongMutation(subject)
            tests = [one for one in ran if name in one.records]
            infected = fitness.infected([trace_of(one.records[name]) for one in tests])
            infected &= ~fitness.infected([trace_of(probed.base())])
            functions = live_functions(probed.reference.path, probed.recorder)
            mutations[name] = Mutation(subject, probed.instrumented, probed.recorder, functions)
            self.tell(("mutants", name, len(subject.mutants), int(infected.any(axis=0).sum())))
            for column in np.flatnonzero(infected.any(axis=0)).tolist():
                chosen = [tests[row] for row in np.flatnonzero(infected[:, column]).tolist()]
                quick = sorted(chosen, key=lambda one: one.seconds)
                total = np.cumsum([one.seconds for one in quick])
                quick = quick[: max(1, int((total <= MOST_S).sum()))]
                number = int(fitness.numbers[column])
                trials.append(
                    _Trial(
                        name,
                        number,
                        subject.mutants[number].id,
                        tuple(sorted(position[one.name] for one in quick)),
                        sum(one.seconds for one in quick),
                        max(one.records[name][3] for one in quick),
                    )
                )
        trials.sort(key=lambda trial: (trial.seconds, trial.module, trial.number))
        return trials, mutations

    def _killer(self, items: Sequence[pytest.Item], run: Runs, trial: _Trial, mutation: Mutation, alone: _Alone) -> int:
        """Return the first test that kills the mutant, -1 if it survives."""
        tests = alone.reliable(trial.tests)
        while tests:
            fuel = FUEL * trial.fuel + MORE_FUEL
            limit = MORE_S + SLOWER * trial.seconds
            failing, ran, late = self._failing(items, run, tests, (mutation, trial), fuel, limit)
            if late:  # fuel stops endless loops, so the machine may just have been busy
                failing, ran, _ = self._failing(items, run, tests, (mutation, trial), fuel, PATIENCE * limit)
            if failing < 0:
                return -1
            if alone.passes(tests[:ran]):
                return failing
            tests = alone.reliable(tests)
        return -1

    def _failing(
        self,
        items: Sequence[pytest.Item],
        run: Runs,
        tests: Sequence[int],
        mutant: tuple[Mutation, _Trial] | None,
        fuel: int,
        limit_s: float,
    ) -> tuple[int, int, bool]:
        """Run tests in a fork until one fails.

        Returns:
            The first test that fails, -1 if none does; the number of tests that ran; and whether time ran out.
        """

        def work(send: Send) -> None:
            restrict(self.folder, memory_mb=MEMORY_MB, mode="polite")
            if mutant is not None:
                made = mutant[0].make(mutant[1].number)
                if made is None:
                    return
                made.do()
            for test, following in zip(tests, [*tests[1:], None], strict=True):
                for name, probed in self.probes.modules.items():
                    probed.begin(*((fuel,) if mutant is not None and name == mutant[1].module else ()))
                # Describing a failure takes three times as long as the failure itself.
                vars(items[test])["repr_failure"] = vars(items[test])["_repr_failure_py"] = _failed
                outcome = run(items[test], None if following is None else items[following])
                send(outcome)
                if outcome == "failed":
                    return

        found = forked(work, limit_s)
        if "failed" in found.messages:
            return tests[len(found.messages) - 1], len(found.messages), False
        if found.end == "done":
            return -1, len(tests), False
        at = min(len(found.messages), len(tests) - 1)
        return tests[at], at + 1, found.end == "late"


def _failed(*_: object, **__: object) -> str:
    """Return a dummy description of a failure, which is not used."""
    return "failed"


class _Alone:
    """Caches whether tests pass alone, without other tests and mutants.

    Args:
        failing: runs tests in a fork and returns the first one that fails, -1 if none does.

    Attributes:
        unreliable: tests that failed.
    """

    def __init__(self, failing: Callable[[tuple[int, ...]], int]) -> None:
        self._failing = failing
        self._known: dict[tuple[int, ...], bool] = {}
        self.unreliable: set[int] = set()

    def reliable(self, tests: Sequence[int]) -> tuple[int, ...]:
        """Return the tests without those that have failed without a mutant."""
        return tuple(test for test in tests if test not in self.unreliable)

    def passes(self, tests: tuple[int, ...]) -> bool:
        """Return whether these tests pass alone; if not, the failing test is marked as unreliable."""
        if tests not in self._known:
            failing = self._failing(tests)
            self._known[tests] = failing < 0
            if failing >= 0:
                self.unreliable.add(failing)
        return self._known[tests]
