"""Differences: minimal test cases whose outcomes differ between two versions of a module."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from fitgym.errors import OutOfBudget
from fitgym.execution.executor import Executor
from fitgym.instrument.trace import Trace
from fitgym.messages.observation import Observed, agreement
from fitgym.project.diff.candidates import Candidate, reached
from fitgym.project.diff.contrast import STOPPED, VALUES, Contrast, contrast
from fitgym.project.diff.exchange import Exchange, binds
from fitgym.subject.subject import Reference
from fitgym.suite.assertions import finished_test, renamed
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.reduction.dependencies import needed, without
from fitgym.suite.runs.rerun import Rerun
from fitgym.suite.text.export import suite_text
from fitgym.suite.text.scope import Scope
from fitgym.suite.text.source import render
from fitgym.testcase.statement import Statement, StatementTable

__all__ = ["MOST_SHOWN", "Difference", "Pair"]

MOST_SHOWN = 3
"""Maximal number of differences shown for one function."""

CHUNK = 50  # test cases per batch of the comparison
ROUNDS = 12  # maximal number of rounds of shortening one test case
CONFIRMATIONS = 2  # runs in fresh interpreters for each version


@dataclass(frozen=True, slots=True)
class Difference:
    """A test case whose outcomes differ between the versions.

    Attributes:
        module: dotted name in the new version.
        function: the changed function that it calls; several joined by commas if it runs more than one.
        code: the calls, one line each; the outcome of the last one differs.
        before: outcome in the old version.
        now: outcome in the new version.
        test: as exported: it asserts the outcome of the old version. None if no test can show the difference.
    """

    module: str
    function: str
    code: tuple[str, ...]
    before: str
    now: str
    test: FinishedTest | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case with the operations of both versions."""

    old: tuple[Statement, ...]
    new: tuple[Statement, ...]

    def part(self, positions: Sequence[int]) -> _Case:
        """Return the statements at some positions, which must not refer to others."""
        places = {position: index for index, position in enumerate(positions)}
        return _Case(*(tuple(some[p].moved(places) for p in positions) for some in (self.old, self.new)))


_Cases = Mapping[_Case, tuple[str, ...]]
"""Test cases, with the changed functions that they run."""

_Doubt = tuple[_Case, tuple[Observed, Observed]]
"""A test case that differed once, with the observations of both versions."""


class Pair:
    """Two versions of one module, and the results of their comparison so far.

    Args:
        old: executor of the old version.
        new: executor of the new version.
        changed: qualified names of the functions and classes that differ.

    Attributes:
        agreeing: number of test cases with equal outcomes in both versions.
        reached: the changed functions that a compared test case ran.
    """

    def __init__(self, old: Executor, new: Executor, changed: Iterable[str]) -> None:
        self._old, self._new = old, new
        self._changed = sorted(changed)
        self._tables = StatementTable(), StatementTable()
        self._to_old = Exchange(new.subject, old.subject)
        self._to_new = Exchange(old.subject, new.subject)
        self.agreeing = 0
        self.reached: set[str] = set()

    def differences(
        self,
        of_old: Sequence[Candidate],
        of_new: Sequence[Candidate],
        *,
        deadline: float | None = None,
        latest: float | None = None,
    ) -> list[Difference]:
        """Compare test cases, and shorten those that differ.

        A difference counts if it shows twice in fresh processes, and once more as a test in fresh interpreters.

        Args:
            of_old: test cases of the old version.
            of_new: test cases of the new version.
            deadline: of comparing, on the clock `time.monotonic`; remaining test cases are not compared.
            latest: of shortening.
        """
        cases = _alternating(self._from_new(of_new), self._from_old(of_old))
        ordered = list(cases)
        doubtful: list[_Doubt] = []
        self._limit(deadline)
        with suppress(OutOfBudget):  # keep the results so far
            for start in range(0, len(cases), CHUNK):
                chunk = ordered[start : start + CHUNK]
                seen = self._seen(chunk)
                doubtful += self._doubtful(chunk, seen)
                self.agreeing += len(chunk) - sum(
                    self._is_open(case, *one) for case, one in zip(chunk, seen, strict=True)
                )
                self.reached.update(name for case in chunk for name in cases[case])
        self._limit(latest)
        doubtful.sort(key=lambda one: _size(one[0]))
        suspects: list[tuple[_Case, Contrast]] = []
        with suppress(OutOfBudget):
            for start in range(0, len(doubtful), CHUNK):
                suspects += self._steady(doubtful[start : start + CHUNK])
        chosen = self._chosen(suspects)
        self._limit(None)
        return self._confirmed(chosen)

    def _limit(self, deadline: float | None) -> None:
        self._old.deadline = self._new.deadline = deadline

    # ------------------------------------------------------------------ test cases of both versions

    def _from_new(self, candidates: Sequence[Candidate]) -> _Cases:
        """Return the test cases that callers of the old version could also write."""
        found: dict[_Case, tuple[str, ...]] = {}
        for one in candidates:
            old = self._to_old.statements(one.statements)
            if old is not None and self._is_old_usage(one.statements, old):
                found[_Case(tuple(old), one.statements)] = one.reached
        return found

    def _is_old_usage(self, new: Sequence[Statement], old: Sequence[Statement]) -> bool:
        """Return whether no call uses a parameter that the old version lacks."""
        operations, others = self._old.subject.operations, self._new.subject.operations
        return all(
            binds(operations[before.operation], before) or not binds(others[after.operation], after)
            for before, after in zip(old, new, strict=True)
        )

    def _from_old(self, candidates: Sequence[Candidate]) -> _Cases:
        """Return the test cases for which the new version has all operations."""
        found: dict[_Case, tuple[str, ...]] = {}
        for one in candidates:
            new = self._to_new.statements(one.statements)
            if new is not None:
                found[_Case(one.statements, tuple(new))] = one.reached
        return found

    # ------------------------------------------------------------------ comparing

    def _doubtful(self, cases: Sequence[_Case], seen: Sequence[tuple[Observed, Observed]]) -> list[_Doubt]:
        """Return the test cases that differ, with their observations."""
        return [(case, one) for case, one in zip(cases, seen, strict=True) if self._contrast(case, *one) is not None]

    def _is_open(self, case: _Case, old: Observed, new: Observed) -> bool:
        """Return whether a test case differs or could not be observed in one version."""
        return bool(old.failure or new.failure) or self._contrast(case, old, new) is not None

    def _steady(self, doubtful: Sequence[_Doubt]) -> list[tuple[_Case, Contrast]]:
        """Return the test cases that differ in the same way in a second run of both versions."""
        found = []
        again = self._seen([case for case, _ in doubtful]) if doubtful else []
        for (case, first), second in zip(doubtful, again, strict=True):
            old = agreement([first[0], second[0]])
            if old is None or agreement([first[1], second[1]]) is None:
                continue
            contrasts = [self._contrast(case, *seen) for seen in (first, second, (old, first[1]))]
            if contrasts[0] is not None and contrasts[0] == contrasts[1] == contrasts[2]:
                found.append((case, contrasts[0]))
        return found

    def _seen(self, cases: Sequence[_Case]) -> list[tuple[Observed, Observed]]:
        """Return the observations of each test case in both versions, with the names of the new one."""
        old = self._old.observe([self._tables[0].testcase(case.old) for case in cases], self._tables[0])
        new = self._new.observe([self._tables[1].testcase(case.new) for case in cases], self._tables[1])
        return [(self._to_new.observed(before), after) for before, after in zip(old, new, strict=True)]

    def _contrast(self, case: _Case, old: Observed, new: Observed) -> Contrast | None:
        operations = self._new.subject.operations
        hashes = [p for p, one in enumerate(case.new) if operations[one.operation].operator == "__hash__"]
        return contrast(old, new, len(case.new), hashes)

    # ------------------------------------------------------------------ choosing and shortening

    def _chosen(self, suspects: Sequence[tuple[_Case, Contrast]]) -> list[tuple[_Case, Contrast, str]]:
        """Return the shortest test case for each kind of difference, at most `MOST_SHOWN` for each function."""
        ordered = sorted(suspects, key=lambda one: _size(one[0]))
        first: dict[tuple[str, tuple[str, str]], tuple[_Case, Contrast]] = {}
        for case, seen in ordered:
            first.setdefault((self._called(case, seen), seen.kinds), (case, seen))
        others = [one for one in ordered if one not in first.values()]
        found: dict[str, list[tuple[_Case, Contrast, str]]] = {}
        tried: dict[tuple[str, tuple[str, str]], int] = {}
        for case, seen in [*first.values(), *others]:
            sort = self._called(case, seen), seen.kinds
            # A second exception instead of a value adds little; two different values may have two causes.
            if tried.get(sort, 0) >= (MOST_SHOWN if seen.kinds == VALUES else 1):
                continue
            shorter, now = self._shortened(case, seen)
            traces = self._traces(shorter)
            if any(trace.raised is not None and trace.raised.ill_typed for trace in traces):
                continue  # callers do not rely on the outcome of a call that violates annotations
            tried[sort] = tried.get(sort, 0) + 1
            function = self._function(shorter, now, traces)
            known = found.setdefault(function, [])
            shown_changes = {(one.before, one.now) for _, one, _ in known}
            if len(known) < MOST_SHOWN and (now.before, now.now) not in shown_changes:
                known.append((shorter, now, function))
        return [one for some in found.values() for one in some]

    def _called(self, case: _Case, seen: Contrast) -> str:
        return self._new.subject.operations[case.new[seen.position].operation].name

    def _shortened(self, case: _Case, seen: Contrast) -> tuple[_Case, Contrast]:
        """Return the test case without statements that the difference does not need."""
        sort = self._called(case, seen), seen.kinds
        for _ in range(ROUNDS):
            size = len(case.new)
            shorter = [needed(case.new, seen.position), list(range(seen.position + 1))]
            shorter += [without(case.new, position) for position in range(size)]
            parts = [case.part(positions) for positions in shorter if 0 < len(positions) < size]
            found = [
                (part, contrast)
                for part, contrast in self._again(list(dict.fromkeys(parts)))
                if (self._called(part, contrast), contrast.kinds) == sort
            ]
            if not found:
                break
            case, seen = min(found, key=lambda one: len(one[0].new))
        return case, seen

    def _again(self, cases: Sequence[_Case]) -> list[tuple[_Case, Contrast]]:
        """Return the shorter test cases that still differ; none when time is up."""
        try:
            return self._steady(self._doubtful(cases, self._seen(cases))) if cases else []
        except OutOfBudget:
            return []

    def _traces(self, case: _Case) -> list[Trace]:
        """Return the traces of the test case in the old and in the new version; none when time is up."""
        found = []
        with suppress(OutOfBudget):
            for executor, statements in ((self._old, case.old), (self._new, case.new)):
                table = StatementTable()
                found += executor.run([table.testcase(statements)], table)
        return found

    def _function(self, case: _Case, seen: Contrast, traces: Sequence[Trace]) -> str:
        """Return the changed functions of a difference: the one that is called, else all that run."""
        name = self._called(case, seen)
        if name in self._changed:
            return name
        subjects = self._old.subject, self._new.subject
        runs = [reached(trace, one, self._changed) for trace, one in zip(traces, subjects, strict=False)]
        found = dict.fromkeys(itertools.chain.from_iterable(runs))
        functions = [one for one in found if not any(other.startswith(f"{one}.") for other in found)]
        return ", ".join(functions) or name

    # ------------------------------------------------------------------ tests

    def _confirmed(self, chosen: Sequence[tuple[_Case, Contrast, str]]) -> list[Difference]:
        """Return the differences that tests confirm: they pass on the old version and fail on the new one."""
        cases = [case for case, _, _ in chosen]
        tests: list[FinishedTest | None] = []
        for (_, found, _), (old, _) in zip(chosen, self._seen(cases) if cases else [], strict=True):
            index = len(tests)
            tests.append(finished_test(cases[index].new, [old], self._new.subject))
            if (test := tests[index]) is not None and found.facts and test.raises is None:
                tests[index] = replace(test, assertions=found.facts)
        named = iter(renamed([test for test in tests if test is not None], self._new.subject))
        tests = [None if test is None else next(named) for test in tests]
        together: list[FinishedTest] = []
        alone: list[FinishedTest] = []
        for (_, found, _), test in zip(chosen, tests, strict=True):
            if test is not None:  # a stopped test ends the interpreter, so it gets its own file
                (alone if found.kinds[1] in STOPPED else together).append(test)
        shown = self._shown_by(together, CONFIRMATIONS).union(*(self._shown_by([test], 1) for test in alone))
        module = self._new.reference.module
        return [
            Difference(module, function, self._code(case, seen), seen.before, seen.now, test)
            for (case, seen, function), test in zip(chosen, tests, strict=True)
            if test is not None and test.name in shown
        ]

    def _shown_by(self, tests: Sequence[FinishedTest], times: int) -> set[str]:
        """Return the names of tests that always pass on the old version and always fail on the new one."""
        if not tests:
            return set()
        shown = {test.name for test in tests}
        old, new = self._old.reference, self._new.reference
        text = suite_text(tests, replace(self._new.subject, reference=old))
        versions: list[tuple[Reference, bool]] = [(new, False)]
        if old.module == new.module:  # test files import the new name, so a renamed old version cannot be run
            versions.append((old, True))
        for number in range(1, times + 1):
            reruns = [(Rerun(text, version, hash_seed=number), passes) for version, passes in versions]
            try:
                for rerun, passes in reruns:
                    verdicts = rerun.wait().verdicts
                    if not rerun.unusable:
                        shown &= {name for name, verdict in verdicts.items() if verdict.passed is passes}
                    elif passes:
                        shown.clear()
            finally:
                for rerun, _ in reruns:
                    rerun.close()
        return shown

    def _code(self, case: _Case, seen: Contrast) -> tuple[str, ...]:
        """Return readable source of the calls up to the one that differs, with the path to the value."""
        position = seen.position
        used = {ref for one in case.new[position + 1 :] for ref in one.refs}
        is_last = position == len(case.new) - 1 and position not in used
        written = render(case.new, self._new.subject, Scope(), named=() if is_last else (position,))
        if not is_last:
            return (*written.lines, f"{written.names[position]}{seen.path}")
        *lines, last = written.lines
        complete = written.blocks[-1]
        return (*lines, last + seen.path) if len(complete) == 1 else tuple(written.lines)


def _size(case: _Case) -> tuple[int, int]:
    """Return the sort key for readability: number of statements, then length of their text."""
    return len(case.new), len(str(case.new))


def _alternating(first: _Cases, second: _Cases) -> _Cases:
    """Return the entries of both in alternation, so that an interrupted comparison has covered some of each."""
    found: dict[_Case, tuple[str, ...]] = {}
    for pair in itertools.zip_longest(first.items(), second.items()):
        found.update(entry for entry in pair if entry is not None)
    return found
