"""Entries: compiled statements."""

from __future__ import annotations

from fitgym.instrument.abstraction import Places, abstract
from fitgym.messages.protocol import WireCall, WireExpression, WireStatement
from fitgym.subject.types.conformance import conforms
from fitgym.subject.types.hints import Hint
from fitgym.worker.callee import Callee, Partitions
from fitgym.worker.steps import Results, Step, is_constant, literal, maker

__all__ = ["Entry"]


class Entry:
    """One compiled statement.

    Data that few statements need is computed on first use. Arguments that consist only of literals are evaluated once.
    All others are evaluated for every call, so that no answer depends on an earlier one.

    Args:
        callee: the operation that the statement calls.
        step: the function that runs the statement.
        statement: the statement as it was sent.

    Attributes:
        seen: result types that give no further feedback.
        returned: record of its call if it returns, in a trace without values of arguments and results.
    """

    __slots__ = ("_asked", "_binds", "_conforms", "_partitions", "callee", "returned", "seen", "statement", "step")

    def __init__(self, callee: Callee, step: Step, statement: WireStatement) -> None:
        self.callee = callee
        self.step = step
        self.statement = statement
        # A driven result has another type than the operation is known to return, so it needs its own set.
        self.seen: set[type] = set() if statement[4] else callee.seen
        self.returned: WireCall = callee.returned
        self._binds: bool | None = None
        self._conforms: bool | None = None if callee.hints else True
        self._asked: list[tuple[Step, Hint]] | None = None
        self._partitions: list[tuple[str, Step | None, Partitions]] | None = None

    @property
    def binds(self) -> bool:
        """Whether the arguments fit the signature of the callee; True if the signature is unknown."""
        if self._binds is None:
            _, _, args, kwargs, _ = self.statement
            self._binds = self.callee.binds(len(args), [name for name, _ in kwargs])
        return self._binds

    def conforms(self, results: Results) -> bool:
        """Return True if every argument conforms to its annotation, or if that cannot be decided."""
        if self._conforms is not None:
            return self._conforms
        if self._asked is None:
            self._asked = self._judge_constants()
            if self._conforms is not False and not self._asked:
                self._conforms = True
            return self.conforms(results)
        return _conform(self._asked, results)

    def _judge_constants(self) -> list[tuple[Step, Hint]]:
        """Check the constant arguments. Return the other arguments with their hints."""
        hints = self.callee.hints
        asked: list[tuple[Step, Hint]] = []
        for name, expression in self._arguments():
            hint = hints.get(name)
            if hint is None:
                continue
            if type(expression) is str:
                conform = conforms(literal(expression), hint)
            elif is_constant(expression):
                conform = _conform([(maker(expression), hint)], [])
            else:
                asked.append((maker(expression), hint))
                continue
            if not conform:
                self._conforms = False
                break
        return asked

    def inputs(self, results: Results, places: Places) -> tuple[tuple[str, str, float], ...]:
        """Return the partitions of all arguments, with the names of their parameters.

        Args:
            results: results of the statements before.
            places: see `abstract`.
        """
        if self._partitions is None:
            self._partitions = [
                (name, None, abstract(maker(expression)([])))
                if is_constant(expression)
                else (name, maker(expression), ())
                for name, expression in self._arguments()
            ]
        return tuple(
            [
                (name, *place)
                for name, make, constant in self._partitions
                for place in (constant if make is None else abstract(make(results), places))
            ]
        )

    def _arguments(self) -> list[tuple[str, WireExpression]]:
        """Return the arguments with the names of their parameters."""
        _, _, args, kwargs, _ = self.statement
        return [*zip(self.callee.names(len(args)), args, strict=True), *kwargs]


def _conform(asked: list[tuple[Step, Hint]], results: Results) -> bool:
    try:
        values = [make(results) for make, _ in asked]
    except BaseException:  # the evaluation of an argument raises
        return True
    return all(conforms(value, hint) for value, (_, hint) in zip(values, asked, strict=True))
