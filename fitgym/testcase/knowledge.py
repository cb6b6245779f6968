"""Knowledge: statistics from executions about the operations of the subject.

Two statistics are kept. For every parameter without annotation: which kinds of value led to a return, and which to a
`TypeError`, an `AttributeError` or an invalid call. For every operation: how often it returned, and how often it failed
without information about the subject. Both become weights with a lower bound, so that no weight reaches 0. Arguments of
calls that returned are kept and reused, because an object is built to be used. For example, an accepted date or version
need not be found at random again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from fitgym.instrument.trace import Trace
from fitgym.subject.subject import Operation, Parameter, Subject
from fitgym.subject.types.hints import Hint
from fitgym.testcase.arguments.mixture import KIND_INDEX, SAMPLE, Mixture
from fitgym.testcase.arguments.recent import Recent
from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.hangs import LIMITS
from fitgym.testcase.rates import DEFAULT, Rates
from fitgym.testcase.results import Results
from fitgym.testcase.statement import Statement, StatementTable, TestCase

__all__ = ["Knowledge", "Learned", "first_use", "is_large", "kind_of", "parameter_of"]

_LARGE = 10**5  # larger numbers are suspected when a limit was hit
_KEPT = 24  # successful statements per operation, and accepted arguments per parameter name
_TOUCHED = 20_000  # statements whose touched counts are cached


class Learned(Protocol):
    """The executor's observations since the last request (`fitgym.execution.history.Learned`).

    Attributes:
        constants: operands observed at comparisons, as source text.
        returns: operation id to its observed result type.
        iterators: ids of operations that returned an iterator although their signature does not declare it.
        parameters: (operation id, parameter name) to the inferred type of an argument without annotation.
    """

    @property
    def constants(self) -> tuple[str, ...]: ...
    @property
    def returns(self) -> Mapping[int, Hint]: ...
    @property
    def iterators(self) -> tuple[int, ...]: ...
    @property
    def parameters(self) -> Mapping[tuple[int, str], Hint]: ...


def kind_of(expression: Expression) -> str:
    """Return the key of `mixture.ANY_KINDS` for an argument, or "ellipsis"; a reference counts as "result"."""
    if isinstance(expression, Literal):
        return kind_of_text(expression.text)
    if isinstance(expression, Collection):
        return "set" if expression.kind == "frozenset" else expression.kind
    if isinstance(expression, Lambda):
        return "callable"
    if isinstance(expression, Name):
        last = expression.qualname.rpartition(".")[2]
        return "class" if last[:1].isupper() or expression.qualname in ("int", "str", "float", "object") else "callable"
    return "result"


def is_large(expression: Expression) -> bool:
    """The argument is or contains an integer with more than five digits."""
    if isinstance(expression, Literal):
        return kind_of_text(expression.text) == "int" and abs(int(expression.text)) >= _LARGE
    return isinstance(expression, Collection) and any(map(is_large, expression.items))


def parameter_of(operation: Operation, place: int | str) -> Parameter | None:
    """Return the parameter that receives the positional argument `place` (from 0) or the keyword argument `place`."""
    if isinstance(place, int):
        for index, parameter in enumerate(operation.parameters):
            if parameter.kind == "var_positional":
                return parameter
            if parameter.kind in ("keyword_only", "var_keyword"):
                return None
            if index == place:
                return parameter
        return None
    rest = None
    for parameter in operation.parameters:
        if parameter.name == place and parameter.kind in ("positional_or_keyword", "keyword_only"):
            return parameter
        if parameter.kind == "var_keyword":
            rest = parameter
    return rest


def first_use(statements: Sequence[Statement], position: int, operations: Sequence[Operation]) -> str:
    """Return the name of the first parameter that receives the result at `position`, "" if there is none."""
    for statement in statements[position + 1 :]:
        places: list[tuple[int | str, Expression]] = [*enumerate(statement.args), *statement.kwargs]
        for place, argument in places:
            if argument == Ref(position):
                parameter = parameter_of(operations[statement.operation], place)
                return parameter.name if parameter is not None else ""
    return ""


class _Touched(NamedTuple):
    """The counts that an execution of one statement changes."""

    runs: list[float]
    arguments: tuple[tuple[Mixture, int], ...]  # its arguments for parameters without annotation, by kind
    worked: Recent[int, Statement] | None  # receives the statement after a return, if it can be repeated
    extra: list[float] | None  # if it passes keywords beyond the parameters


class _Slot(NamedTuple):
    """The statistics of one parameter."""

    mixture: Mixture | None  # None if the parameter has a hint
    accepted: Recent[Expression, Expression]


class _Slots(NamedTuple):
    """The statistics of the parameters of one operation, by the place of an argument; see `parameter_of`."""

    positional: tuple[_Slot, ...]
    rest: _Slot | None  # receives further positional arguments
    named: dict[str, _Slot]
    others: _Slot | None  # receives further keyword arguments

    def of(self, statement: Statement) -> Iterator[tuple[_Slot, Expression]]:
        """Yield the arguments of a statement with the statistics of the parameters that receive them."""
        positional, rest = self.positional, self.rest
        for place, argument in enumerate(statement.args):
            slot = positional[place] if place < len(positional) else rest
            if slot is not None:
                yield slot, argument
        for name, argument in statement.kwargs:
            slot = self.named.get(name, self.others)
            if slot is not None:
                yield slot, argument


class Knowledge:
    """Statistics about the operations of a subject, beyond their signatures.

    Args:
        subject: the subject.
        rates: its `floor` is the smallest weight that failures leave.

    Attributes:
        results: the result types of the operations.
        costly: ids of operations of which a call with a large number hit a limit of memory, of time or of the process.
        version: increases with every new observation; values derived from counts are then recomputed.
    """

    def __init__(self, subject: Subject, rates: Rates = DEFAULT) -> None:
        self.operations = subject.operations
        self.results = Results(subject)
        self.version = 0
        self._rates = rates
        self._demands: dict[tuple[int, str], Hint] = {}
        # By operation id: returned, failed without information, all.
        self._runs = [[0.0, 0.0, 0.0] for _ in subject.operations]
        self._touched: dict[int, _Touched] = {}  # by statement id
        self._worked: dict[int, Recent[int, Statement]] = {}
        # By operation id: calls with extra keywords that were valid, that were invalid.
        self._extra: dict[int, list[float]] = {}
        self.costly: dict[int, None] = {}
        self._accepted: dict[tuple[str, Hint], Recent[Expression, Expression]] = {}  # by name and hint of the parameter
        self._mixtures = {
            (operation.id, parameter.name): Mixture(parameter.name, rates)
            for operation in subject.operations
            for parameter in operation.parameters
            if parameter.hint.kind == "any"
        }
        self._slots: dict[int, _Slots] = {}  # by operation id

    def reweigh(self) -> None:
        """Recompute all weights, because the rates were replaced."""
        self.version += 1
        for mixture in self._mixtures.values():
            mixture.reweigh()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the cache of touched counts, the largest part of the state; a copy starts without it."""
        return {**vars(self), "_touched": {}}

    def demanded(self, operation: int, parameter: str) -> Hint | None:
        """Return the inferred type of a parameter without annotation, None if it is unknown."""
        return self._demands.get((operation, parameter))

    def worked(self, operation: int) -> Recent[int, Statement]:
        """Return calls of the operation that returned and whose arguments needed no other statement."""
        known = self._worked.get(operation)
        if known is None:
            known = self._worked[operation] = Recent(_KEPT)
        return known

    def accepted(self, parameter: Parameter) -> Recent[Expression, Expression]:
        """Return arguments that operations have accepted for parameters of the same name and hint."""
        key = (parameter.name, parameter.hint)
        known = self._accepted.get(key)
        if known is None:
            known = self._accepted[key] = Recent(_KEPT)
        return known

    def take(self, given: Iterable[tuple[int, str, Expression]]) -> None:
        """Add arguments from examples: operation id, name of the parameter, and the argument."""
        for operation, name, value in given:
            parameter = parameter_of(self.operations[operation], name)
            if parameter is not None:
                self.accepted(parameter).add(value, value)

    def mixture(self, operation: int, parameter: str) -> Mixture:
        """Return the distribution over kinds of value for a parameter without annotation."""
        return self._mixtures[operation, parameter]

    def extra_keywords(self, operation: int) -> float:
        """Return the probability that the operation accepts extra keywords, in (0, 1]; 1 before the first call.

        Many signatures declare `**kwargs` although the operation accepts none, for example all exceptions.
        """
        worked, failed = self._extra.get(operation, (0.0, 0.0))
        return (worked + 1.0) / (worked + failed + 1.0)

    def reliability(self, operation: int) -> float:
        """Return the share of calls that returned, as a factor in [floor, 1]; 1 before the first call."""
        returned, _, runs = self._runs[operation]
        return max(self._rates.floor, (returned + 1.0) / (runs + 1.0))

    def usefulness(self, operation: int) -> float:
        """Return the share of informative calls of an operation, as a factor in [floor, 1]; 1 before the first call."""
        _, silent, runs = self._runs[operation]
        return max(self._rates.floor, 1.0 - silent / (runs + 1.0))

    def learn(self, learned: Learned) -> None:
        """Add observed result types, iterators and inferred argument types."""
        self.version += 1
        for operation in learned.iterators:
            self.results.drain(operation)
        for operation, hint in learned.returns.items():
            self.results.observe(operation, hint)
        for key, hint in learned.parameters.items():
            if key in self._mixtures and hint.kind != "any":
                self._demands[key] = hint

    def note(self, testcase: TestCase, table: StatementTable, trace: Trace) -> None:
        """Count the outcome of one execution for its operations and the kinds of its un-annotated arguments.

        Args:
            testcase: the executed test case.
            table: its statements.
            trace: its execution. After a failure, only completed calls count, and the failed call if it hit a limit.
        """
        self.version += 1
        calls = trace.calls
        returned = len(calls) - (len(calls) > 0 and not calls[-1].returned)  # later calls did not run
        # Look-ups go by id: the statements are scattered in memory, and reading all of them would cost more than
        # counting.
        touched = self._touched
        for identifier in testcase[:returned]:
            known = touched.get(identifier) or self._touches(identifier, table[identifier])
            runs, arguments, worked, extra = known
            runs[0] += 1.0
            runs[2] += 1.0
            if runs[2] > SAMPLE:
                _halve(runs)
            for mixture, kind in arguments:
                mixture.count(kind, 0)
            if worked is not None and identifier not in worked:
                self._keep(identifier, table[identifier], worked)
            if extra is not None:
                _count_extra(extra, made=True)
        if trace.failure in LIMITS:
            self._suspect(table.statements(testcase))
        if returned < len(calls):
            self._note_failed(testcase[returned], table, trace)

    def _note_failed(self, identifier: int, table: StatementTable, trace: Trace) -> None:
        """Count a call that did not return."""
        raised = trace.raised
        runs, arguments, _, extra = self._touched.get(identifier) or self._touches(identifier, table[identifier])
        if extra is not None:
            _count_extra(extra, made=raised is None or raised.counted)
        if raised is not None:
            misfit = not raised.counted
            runs[1] += misfit
            # These exceptions show a wrong kind of argument; others may come from any value of the right kind.
            if misfit or raised.type in ("TypeError", "AttributeError"):
                for mixture, kind in arguments:
                    mixture.count(kind, 1)
        elif trace.failure in LIMITS:
            runs[1] += 1.0
        else:
            return
        runs[2] += 1.0
        if runs[2] > SAMPLE:
            _halve(runs)

    def _suspect(self, statements: Sequence[Statement]) -> None:
        """A limit was hit: mark operations with large arguments as a possible reason."""
        for statement in statements:
            if any(map(is_large, (*statement.args, *(value for _, value in statement.kwargs)))):
                self.costly[statement.operation] = None

    def _touches(self, identifier: int, statement: Statement) -> _Touched:
        """Determine which counts the statement changes, and cache the result."""
        operation = self.operations[statement.operation]
        arguments: list[tuple[Mixture, int]] = []
        for (mixture, _), argument in self._slots_of(operation).of(statement):
            if mixture is not None:
                kind = KIND_INDEX.get(kind_of(argument))
                if kind is not None:
                    arguments.append((mixture, kind))
        needs_others = len(statement.refs) > (statement.receiver >= 0)
        repeatable = bool(operation.parameters) and not needs_others
        extra = None
        if operation.parameters and operation.parameters[-1].kind == "var_keyword":
            names = {parameter.name for parameter in operation.parameters}
            if any(name not in names for name, _ in statement.kwargs):
                extra = self._extra.setdefault(operation.id, [0.0, 0.0])
        known = _Touched(
            self._runs[operation.id], tuple(arguments), self.worked(operation.id) if repeatable else None, extra
        )
        if len(self._touched) >= _TOUCHED:  # a cache: dropped entries are recomputed
            self._touched.clear()
        self._touched[identifier] = known
        return known

    def _keep(self, identifier: int, statement: Statement, worked: Recent[int, Statement]) -> None:
        """Keep a statement that returned, and its arguments."""
        worked.add(identifier, statement)
        operation = self.operations[statement.operation]
        if operation.is_entry_point:
            for (_, accepted), argument in self._slots_of(operation).of(statement):
                if not isinstance(argument, Name | Lambda):
                    accepted.add(argument, argument)

    def _slots_of(self, operation: Operation) -> _Slots:
        """Return the statistics of the parameters of an operation."""
        found = self._slots.get(operation.id)
        if found is None:
            slots = {
                one.name: _Slot(self._mixtures.get((operation.id, one.name)), self.accepted(one))
                for one in operation.parameters
            }
            kinds = {one.kind: slots[one.name] for one in operation.parameters}
            found = self._slots[operation.id] = _Slots(
                tuple(
                    slots[one.name]
                    for one in operation.parameters
                    if one.kind in ("positional_only", "positional_or_keyword")
                ),
                kinds.get("var_positional"),
                {
                    one.name: slots[one.name]
                    for one in operation.parameters
                    if one.kind in ("positional_or_keyword", "keyword_only")
                },
                kinds.get("var_keyword"),
            )
        return found


def _halve(counts: list[float]) -> None:
    counts[:] = [count / 2.0 for count in counts]


def _count_extra(counts: list[float], *, made: bool) -> None:
    counts[0 if made else 1] += 1.0
    if counts[0] + counts[1] > SAMPLE:
        _halve(counts)
