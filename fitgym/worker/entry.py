"""Entries: statements that have been compiled."""

from __future__ import annotations

from fitgym.instrument.abstraction import Places, abstract
from fitgym.messages.protocol import WireCall, WireExpression, WireStatement
from fitgym.subject.types.conformance import conforms
from fitgym.subject.types.hints import Hint
from fitgym.worker.callee import Callee
from fitgym.worker.steps import Results, Step, is_constant, literal, maker

__all__ = ["Entry"]

Partitions = tuple[tuple[str, float], ...]


class Entry:
    """One compiled statement.

    What few statements are asked for is found out when it is asked first. Arguments that only consist of literals are
    the same each time; all others are made again for every answer, so that no answer depends on an earlier one.

    Args:
        callee: what it calls.
        step: does it.
        statement: what it was compiled from.

    Attributes:
        seen: types of results that teach nothing any more.
        returned: its call in a trace of which nothing else is known, if it returns.
    """

    __slots__ = ("_asked", "_binds", "_conforms", "_partitions", "callee", "returned", "seen", "statement", "step")

    def __init__(self, callee: Callee, step: Step, statement: WireStatement) -> None:
        self.callee = callee
        self.step = step
        self.statement = statement
        # Drained, a result is of another type than the one that the operation is known to return.
        self.seen: set[type] = set() if statement[4] else callee.seen
        self.returned: WireCall = callee.returned
        self._binds: bool | None = None
        self._conforms: bool | None = None if callee.hints else True
        self._asked: list[tuple[Step, Hint]] | None = None
        self._partitions: list[tuple[str, Step | None, Partitions]] | None = None

    @property
    def binds(self) -> bool:
        """The arguments fit the signature of what is called; True where that cannot be known."""
        if self._binds is None:
            _, _, args, kwargs, _ = self.statement
            self._binds = self.callee.binds(len(args), [name for name, _ in kwargs])
        return self._binds

    def conforms(self, results: Results) -> bool:
        """Every argument is what its annotation asks for; True where that cannot be known."""
        if self._conforms is not None:
            return self._conforms
        if self._asked is None:
            self._asked = self._judge_constants()
            if self._conforms is not False and not self._asked:
                self._conforms = True
            return self.conforms(results)
        return _conform(self._asked, results)

    def _judge_constants(self) -> list[tuple[Step, Hint]]:
        """Judge the arguments that are always the same; what is asked of the others."""
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
        """Partitions of all arguments with the parameters they are bound to.

        Args:
            results: of the statements before.
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
        """The arguments with the parameters that they are bound to."""
        _, _, args, kwargs, _ = self.statement
        return [*zip(self.callee.names(len(args)), args, strict=True), *kwargs]


def _conform(asked: list[tuple[Step, Hint]], results: Results) -> bool:
    try:
        values = [make(results) for make, _ in asked]
    except BaseException:  # an argument that cannot even be made
        return True
    return all(conforms(value, hint) for value, (_, hint) in zip(values, asked, strict=True))
