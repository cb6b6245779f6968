"""The mutation score of a finished suite: the mutants that its tests kill with their assertions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from fitgym.engine.choices import FITNESS
from fitgym.engine.workbench import Workbench
from fitgym.errors import OutOfBudget
from fitgym.execution.executor import Trial
from fitgym.messages.effect import Effect, Expectation
from fitgym.messages.observation import Observation
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.runs.import_mutants import killed_when_imported
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import TestCase

__all__ = ["MutationScore", "mutation_score"]

_CHUNK = 500  # trials per request; later requests leave out the mutants that earlier ones killed


@dataclass(frozen=True, slots=True)
class MutationScore:
    """The mutants that a suite kills.

    Attributes:
        fitness: the fitness function whose targets the mutants are.
        total: number of mutants of the subject, including those that the search left aside.
        killed: ids of the killed mutants, each with the name of the quickest test that kills it, in the order of the
            list.
        survivors: ids of the other mutants, in the order of the list.
        lines: the line of each survivor.
        complete: whether all mutants were run; if time ran out, mutants that were not run count as survivors.
    """

    fitness: str
    total: int
    killed: tuple[tuple[str, str], ...]
    survivors: tuple[str, ...]
    lines: tuple[int, ...] = ()
    complete: bool = True

    def renamed(self, names: Mapping[str, str]) -> MutationScore:
        """Return the score with the new names of those tests that have one."""
        return replace(self, killed=tuple((mutant, names.get(test, test)) for mutant, test in self.killed))

    def as_dict(self) -> dict[str, Any]:
        """Return the score for the record: counts, the mutants that each test kills first, and the survivors."""
        by_test: dict[str, list[str]] = {}
        for mutant, test in self.killed:
            by_test.setdefault(test, []).append(mutant)
        return {
            "total": self.total,
            "killed": len(self.killed),
            "by_test": dict(sorted(by_test.items())),
            "survivors": list(self.survivors),
            "survivor_lines": list(self.lines),
        }


def mutation_score(
    engine: Workbench,
    tests: Sequence[FinishedTest],
    source: str,
    deadline: Deadline = Deadline(),  # noqa: B008  (it is immutable)
    *,
    twice: bool = True,
    name: str = "",
    likely: Mapping[TestCase, Set[int]] = MappingProxyType({}),
) -> MutationScore | None:
    """Run finished tests with their assertions on every mutant that they infect.

    A test kills a mutant if it fails with the mutant in place of the original: by an unexpected exception, a missing
    one, another class or message, or an assertion that does not hold. A timeout also kills, but is tried twice: a test
    that ends within twice the fuel of any test case is judged by how it ends.

    Code that runs during the import of the subject runs before a mutant can replace it. A mutant that the import
    infects is killed if a test fails when the test file imports the mutant in a fresh interpreter.

    Args:
        engine: a search that recorded a fitness function about mutants, or what it needs apart from running mutants. In
            the second case `name` says which function; otherwise the result is None.
        tests: as exported.
        source: text of the test file.
        deadline: when to stop; mutants that have not been run count as survivors.
        twice: try kills by timeout twice.
        name: a fitness function about mutants to score even if the search ended before it ran any mutant.
        likely: by test case, numbers of mutants that it probably kills. They are run first, for the case that time runs
            out.
    """
    measured = (one for one, fitness in engine.functions.items() if fitness.numbers is not None and engine.records(one))
    name = next(measured, name)
    if not name:
        return None
    fitness = engine.functions.get(name) or FITNESS.load(name)(engine.subject)
    if not fitness.needs - {"effects"} <= engine.probes:
        return None
    of_target = fitness.numbers
    assert of_target is not None
    names: dict[TestCase, str] = {}
    expected: dict[TestCase, Expectation] = {}
    for test in tests:
        testcase = engine.table.testcase(test.statements)
        trace = engine.trace(testcase)
        position = -1 if test.raises is None else len(test.statements) - 1
        names[testcase] = test.name
        message = (Observation(position, "", "message", Literal(repr(test.match))),) if test.match else ()
        expected[testcase] = Expectation((*test.assertions, *message), test.raises, position, trace.reached, trace.fuel)
    testcases = sorted(expected, key=lambda testcase: expected[testcase].fuel)
    checked = engine.check(testcases, expected, fitness.needs)  # assertions also run code of the subject
    for testcase, trace in zip(testcases, checked, strict=True):
        expected[testcase] = replace(expected[testcase], fuel=max(expected[testcase].fuel, trace.fuel))
    # A test can only kill mutants that it infects, by its statements or by its assertions.
    infected = fitness.infected([engine.trace(testcase) for testcase in testcases])
    infected |= fitness.infected(checked)
    at_import = fitness.infected([engine.trace_of_import(fitness.needs)])[0]
    trials = [
        (testcase, number)
        for testcase, row in zip(testcases, infected, strict=True)
        for number in of_target[row & ~at_import].tolist()
    ]
    trials.sort(key=lambda trial: trial[1] not in likely.get(trial[0], ()))
    engine.deadline = None if math.isinf(deadline.hard) else deadline.hard
    killers: dict[int, TestCase] = {}
    complete = True
    try:
        for start in range(0, len(trials), _CHUNK):
            some = [trial for trial in trials[start : start + _CHUNK] if trial[1] not in killers]
            _kill(engine, some, expected, killers, twice=twice)
    except OutOfBudget:
        complete = False
    finally:
        engine.deadline = None
    killed = {number: names[testcase] for number, testcase in killers.items()}
    if tests:
        numbers, order = of_target[at_import].tolist(), [test.name for test in tests]
        killed |= killed_when_imported(numbers, order, source, engine.subject, deadline)
    mutants = list(enumerate(engine.subject.mutants))
    return MutationScore(
        name,
        len(mutants),
        tuple((mutant.id, killed[number]) for number, mutant in mutants if number in killed),
        tuple(mutant.id for number, mutant in mutants if number not in killed),
        tuple(mutant.line for number, mutant in mutants if number not in killed),
        complete and deadline.rest > 0,
    )


def _kill(
    engine: Workbench,
    trials: list[Trial],
    expected: dict[TestCase, Expectation],
    killers: dict[int, TestCase],
    *,
    twice: bool,
) -> None:
    """Add the first test case that kills each mutant to `killers`, also if time runs out."""
    while trials:
        try:
            effects = engine.kill(trials, expected)
        except OutOfBudget as out:
            for (testcase, number), effect in zip(trials, out.done, strict=False):
                if effect is not None and effect.killed and not (twice and _is_late(effect)):
                    killers.setdefault(number, testcase)
            raise
        late = [trial for trial, effect in zip(trials, effects, strict=True) if twice and _is_late(effect)]
        slow = engine.kill(late, expected, patient=True)
        survived = {trial for trial, effect in zip(late, slow, strict=True) if effect is not None and not effect.killed}
        for (testcase, number), effect in zip(trials, effects, strict=True):
            if effect is not None and effect.killed and (testcase, number) not in survived:
                killers.setdefault(number, testcase)
        # A timeout skips the later test cases of a mutant. If the mutant survives the retry, run them now.
        open_ = {number for _, number in survived} - killers.keys()
        done = {trial for trial, effect in zip(trials, effects, strict=True) if effect is not None}
        trials = [trial for trial in trials if trial[1] in open_ and trial not in done]


def _is_late(effect: Effect | None) -> bool:
    return effect is not None and effect.killed == "timeout"
