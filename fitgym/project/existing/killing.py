"""Killing: which mutants of a project's modules its existing tests kill."""

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
"""Seconds of tests that one mutant is run on at most."""

SLOWER = 4
"""How many times as long as without the mutant the tests of a mutant may take, beyond `MORE_S`."""

MORE_S = 2.0

PATIENCE = 3
"""How many times as much time the tests of a mutant get that were late."""

FUEL, MORE_FUEL = 10, 20_000
"""How many times as much fuel as without the mutant a test may burn, and how much more."""


MEMORY_MB = 4096
"""What a mutant may take beyond what is in use."""


class _Trial(NamedTuple):
    """A mutant, and the tests that infect it.

    Attributes:
        module: its module.
        number: of the mutant, index in `Subject.mutants`.
        id: of the mutant.
        tests: positions of the tests among the items, ascending.
        seconds: how long the tests take without the mutant.
        fuel: how much of the module's fuel one of them burns at most.
    """

    module: str
    number: int
    id: str
    tests: tuple[int, ...]
    seconds: float
    fuel: int


@dataclass(slots=True)
class Killing:
    """Runs tests on mutants, the mutants with the quickest tests first.

    A mutant is killed if a test that passes without it fails, or if the tests do not end. A failure counts only if the
    same tests pass without the mutant when they run alone: some tests depend on others.

    Mutants run in the sandbox: they may write in one folder, and tests that need more do not count.

    What the import of a module executes is over before a mutant takes its place, so these mutants are left aside.

    Args:
        probes: in the modules of the project.
        tell: gets ("mutants", module, total, infected), ("killed", module, id) and ("unrun", number).
        limit_s: seconds for all mutants.
        folder: the only one that mutants may write in.
    """

    probes: Probes
    tell: Send
    limit_s: float
    folder: str

    def run(self, items: Sequence[pytest.Item], run: Runs, ran: Sequence[RanTest]) -> None:
        """Run the mutants; called in the process that has collected the tests and run none of them."""
        end = time.monotonic() + self.limit_s
        position = {item.nodeid: at for at, item in enumerate(items)}
        usable = [one for one in ran if one.outcome == "passed" and one.name in position]
        trials, mutations = self._plan(usable, position)
        # What is frozen is not copied when the collector of a fork looks at it.
        gc.collect()
        gc.freeze()
        alone = _Alone(lambda tests: self._failing(items, run, tests, None, 0, MOST_S * SLOWER)[0])
        for at, trial in enumerate(trials):
            if time.monotonic() >= end:
                self.tell(("unrun", len(trials) - at))
                return
            if self._is_killed(items, run, trial, mutations[trial.module], alone):
                self.tell(("killed", trial.module, trial.id))

    def _plan(self, ran: Sequence[RanTest], position: dict[str, int]) -> tuple[list[_Trial], dict[str, Mutation]]:
        trials: list[_Trial] = []
        mutations = {}
        for name in sorted({name for one in ran for name in one.records}):
            probed = self.probes.modules.get(name)
            if probed is None or not probed.imported:
                try:
                    importlib.import_module(name)
                    probed = self.probes.modules[name]
                except BaseException:  # it can be imported inside a test only
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

    def _is_killed(
        self, items: Sequence[pytest.Item], run: Runs, trial: _Trial, mutation: Mutation, alone: _Alone
    ) -> bool:
        tests = alone.reliable(trial.tests)
        while tests:
            fuel = FUEL * trial.fuel + MORE_FUEL
            limit = MORE_S + SLOWER * trial.seconds
            failing, ran, late = self._failing(items, run, tests, (mutation, trial), fuel, limit)
            if late:  # fuel ends what is endless, so the machine may have been busy
                failing, ran, _ = self._failing(items, run, tests, (mutation, trial), fuel, PATIENCE * limit)
            if failing < 0:
                return False
            if alone.passes(tests[:ran]):
                return True
            tests = alone.reliable(tests)
        return False

    def _failing(
        self,
        items: Sequence[pytest.Item],
        run: Runs,
        tests: Sequence[int],
        mutant: tuple[Mutation, _Trial] | None,
        fuel: int,
        limit_s: float,
    ) -> tuple[int, int, bool]:
        """The first of the tests that fails, -1 if none does; how many of them ran; and whether time ran out."""

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
                # Describing a failure takes three times as long as failing.
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
    """The description of a failure that nobody reads."""
    return "failed"


class _Alone:
    """What is known of tests that run without the others and without a mutant.

    Args:
        failing: runs tests in a fork: the first one that fails, -1 if none does.
    """

    def __init__(self, failing: Callable[[tuple[int, ...]], int]) -> None:
        self._failing = failing
        self._known: dict[tuple[int, ...], bool] = {}
        self._unreliable: set[int] = set()

    def reliable(self, tests: Sequence[int]) -> tuple[int, ...]:
        """The tests without those that have failed without a mutant."""
        return tuple(test for test in tests if test not in self._unreliable)

    def passes(self, tests: tuple[int, ...]) -> bool:
        """Whether these tests pass when they run alone. If not, the one that fails is not reliable from now on."""
        if tests not in self._known:
            failing = self._failing(tests)
            self._known[tests] = failing < 0
            if failing >= 0:
                self._unreliable.add(failing)
        return self._known[tests]
