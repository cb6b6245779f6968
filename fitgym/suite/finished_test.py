"""Finished tests: what is written to a test file."""

from __future__ import annotations

from dataclasses import dataclass

from fitgym.messages.observation import Observation
from fitgym.testcase.expression import Expression, Name
from fitgym.testcase.statement import Statement

__all__ = ["Cases", "FinishedTest"]


@dataclass(frozen=True, slots=True)
class Cases:
    """The data of a test that runs several times.

    In the statements and assertions of the test, `Ref(n + i)` stands for parameter `i`, where `n` is the number of its
    statements.

    Attributes:
        parameters: suggested names; they may be equal, and names that the file already uses are changed.
        rows: the value of each parameter, one row for each time.
        names: of the tests that the rows come from; without rows, the former name of the test.
    """

    parameters: tuple[str, ...] = ()
    rows: tuple[tuple[Expression, ...], ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FinishedTest:
    """A test as it is exported.

    Attributes:
        name: of the test function, `test_...`.
        statements: in order; if `raises` is set, the last one raises.
        assertions: what is checked after the last statement, sorted by position.
        raises: the class that `pytest.raises` expects from the last statement, None if it returns.
        match: regular expression searched for in the exception's message, "" if any message is accepted.
        finite: positions of the statements whose iterators were seen to end.
        steady: assertions that already held before the last statement.
        writes: the test leaves files in the current folder, so it runs in a folder of its own.
        surroundings: the test sets environment variables, the command line or the clock.
        packages: installed packages that it is skipped without.
        cases: data of a test that runs several times; without rows it runs once.
    """

    name: str
    statements: tuple[Statement, ...]
    assertions: tuple[Observation, ...] = ()
    raises: Name | None = None
    match: str = ""
    finite: frozenset[int] = frozenset()
    steady: frozenset[Observation] = frozenset()
    writes: bool = False
    surroundings: bool = False
    packages: tuple[str, ...] = ()
    cases: Cases = Cases()

    @property
    def warning(self) -> Observation | None:
        """The assertion that the last statement gives a warning, None if there is none."""
        return next((fact for fact in self.assertions if fact.kind == "warned"), None)
