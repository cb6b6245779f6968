"""The footprint of a search: the lines that its kept test cases run, and the test cases that found something new."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fitgym.engine.discovery import function_name
from fitgym.engine.queries import Queries
from fitgym.fitness.line import Line
from fitgym.immutable import immutable
from fitgym.instrument.trace import Trace
from fitgym.rendering.episode import Episode, Find, Listing, Step
from fitgym.subject.subject import Subject
from fitgym.suite.runs.measure import class_lines
from fitgym.suite.text.source import render
from fitgym.testcase.statement import TestCase

__all__ = ["Footprint"]

_FINDS = 8  # a step shows this many test cases with new lines, and all with new exceptions


@immutable
class Footprint:
    """Counts the test cases that run each line, and finds the test cases with new lines or exceptions.

    Args:
        subject: the subject of the search; if it names a class, only the lines of that class count.

    Attributes:
        listing: the source of the subject; only the class if the subject names one.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._line = Line(subject)
        self._numbers = [int(str(target.key[0])) for target in self._line.targets]
        lines = subject.source.splitlines()
        first, end = 1, len(lines)
        if subject.reference.class_name:
            first, end = class_lines(subject.source, subject.reference.class_name)
        functions = tuple((f.line, f.end_line, f.name) for f in subject.functions[1:])
        self.listing = Listing(tuple(lines[first - 1 : end]), first, frozenset(self._numbers), functions)

    def look(self, engine: Queries, step: Step, before: Episode | None) -> tuple[Step, Mapping[int, int]]:
        """Return the additions of a search step to an episode.

        Args:
            engine: the engine, after the step.
            step: the step as the environment describes it.
            before: the episode before the step; None for a step without an episode.

        Returns:
            The step with its finds; and, by line, the number of test cases in the best suite and the archive that run
            it. Lines that no test case runs are left out.
        """
        kept = dict.fromkeys((*engine.archived_testcases(), *engine.best.testcases))
        testcases = [testcase for testcase in kept if engine.has_trace(testcase)]
        entries = self._line.entries([engine.trace(testcase) for testcase in testcases])
        rows, columns = entries.covered(len(self._numbers))
        counts = np.bincount(columns, minlength=len(self._numbers)).tolist()
        runs = {number: count for number, count in zip(self._numbers, counts, strict=True) if count}
        known, raised = (before.since, before.exceptions) if before is not None else ({}, frozenset())
        new: dict[TestCase, set[int]] = {}
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if self._numbers[column] not in known:
                new.setdefault(testcases[row], set()).add(self._numbers[column])
        return replace(step, finds=self._finds(engine, testcases, new, raised)), runs

    def _finds(
        self, engine: Queries, testcases: Sequence[TestCase], new: Mapping[TestCase, set[int]], known: Container[str]
    ) -> tuple[Find, ...]:
        """Return the test cases with the most new lines, then all others with a new exception.

        Args:
            engine: the engine of the search.
            testcases: the test cases that the search keeps.
            new: by test case, the new lines that it runs.
            known: exceptions that are not new.
        """
        found: dict[TestCase, set[int]] = {}
        left = dict(new)
        # Greedy set cover: each find adds the most lines that the previous ones do not run.
        while left and len(found) < _FINDS:
            best = max(left, key=lambda testcase: len(left[testcase]))  # the first if several are equal
            found[best] = lines = left[best]
            left = {testcase: rest for testcase, others in left.items() if (rest := others - lines)}
        raised: dict[str, TestCase] = {}
        for testcase in testcases:
            name = self._exception(engine.trace(testcase))
            if name and name not in known:
                raised.setdefault(name, testcase)
        news = {testcase: name for name, testcase in raised.items()}
        return tuple(
            self._find(engine, testcase, found.get(testcase, set()), news.get(testcase, ""))
            for testcase in dict.fromkeys((*found, *news))
        )

    def _exception(self, trace: Trace) -> str:
        """Return the exception that ends a test case, with its function; "" if there is none that counts."""
        raised = trace.raised
        if raised is None or not raised.counted or trace.failure:
            return ""
        return f"{raised.type.rpartition('.')[2]} in {function_name(self._subject, raised.function) or 'the call'}"

    def _find(self, engine: Queries, testcase: TestCase, lines: set[int], raised: str) -> Find:
        trace = engine.trace(testcase)
        statements = engine.table.statements(testcase)
        if trace.raised is not None:
            statements = statements[: trace.raised.position + 1]
        code = "\n".join(render(statements, self._subject).lines)
        return Find(code, tuple(sorted(lines)), raised, self._line_of(trace) if raised else 0)

    def _line_of(self, trace: Trace) -> int:
        """Return the number of the line that raised; 0 if it is unknown.

        Blocks that the exception leaves record their lines. The largest of them in the innermost function is the
        raising line.
        """
        assert trace.raised is not None
        sites = self._subject.sites
        lines = [stop.line for stop in trace.stops if sites[stop.site].function == trace.raised.function]
        return max(lines, default=0)
