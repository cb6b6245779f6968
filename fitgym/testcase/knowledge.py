"""Knowledge: what running the test cases has taught about the operations of the subject.

Two things are counted. For every parameter without annotation: which kinds of value were followed by a return, which by
a `TypeError`, an `AttributeError` or a call that could not be made. For every operation: how often it returned, and how
often it failed without telling anything about the subject. Both become weights with a floor, so that nothing dies out.
Arguments of calls that returned are kept and given again: an object is built to be used, and a date or a version that
was accepted once need not be found by chance a second time.
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

_LARGE = 10**5  # numbers beyond it are suspected when a limit was hit
_KEPT = 24  # statements that worked per operation, and arguments that were accepted per parameter name
_TOUCHED = 20_000  # statements whose touched counts are remembered


class Learned(Protocol):
    """What the executor has learnt since it was last asked (`fitgym.execution.history.Learned`).

    Attributes:
        constants: operands seen at comparisons, as source text.
        returns: operation id to the type it was seen to return.
        iterators: ids of operations that returned an iterator though their signature does not say so.
        parameters: (operation id, parameter name) to what was demanded of an argument without annotation.
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
    """Which key of `mixture.ANY_KINDS` an argument belongs to, or "ellipsis"; a reference counts as "result"."""
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
    """The argument is or holds a whole number of more than five digits."""
    if isinstance(expression, Literal):
        return kind_of_text(expression.text) == "int" and abs(int(expression.text)) >= _LARGE
    return isinstance(expression, Collection) and any(map(is_large, expression.items))


def parameter_of(operation: Operation, place: int | str) -> Parameter | None:
    """The parameter that the positional argument `place` (from 0) or the keyword argument `place` is bound to."""
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
    """The name of the first parameter that is given the result of the statement at `position`; "" if there is none."""
    for statement in statements[position + 1 :]:
        places: list[tuple[int | str, Expression]] = [*enumerate(statement.args), *statement.kwargs]
        for place, argument in places:
            if argument == Ref(position):
                parameter = parameter_of(operations[statement.operation], place)
                return parameter.name if parameter is not None else ""
    return ""


class _Touched(NamedTuple):
    """The counts that noting one statement changes."""

    runs: list[float]
    arguments: tuple[tuple[Mixture, int], ...]  # of its arguments for parameters without annotation, by kind
    worked: Recent[int, Statement] | None  # where it is kept when it has returned, if it can be repeated
    extra: list[float] | None  # if it gives names beyond the parameters


class Knowledge:
    """What is known about the operations of a subject beyond their signatures.

    Args:
        subject: whose operations.
        rates: what bad experience leaves.

    Attributes:
        results: what the operations give back.
        costly: ids of operations of which a call with a large number has hit a limit: of memory, of time, of the process.
        version: rises whenever anything is noted or learnt; what is made from counts is made again then.
    """

    def __init__(self, subject: Subject, rates: Rates = DEFAULT) -> None:
        self.operations = subject.operations
        self.results = Results(subject)
        self.version = 0
        self._rates = rates
        self._demands: dict[tuple[int, str], Hint] = {}
        # By operation id: returned, failed without telling anything, all.
        self._runs = [[0.0, 0.0, 0.0] for _ in subject.operations]
        self._touched: dict[int, _Touched] = {}  # by statement id
        self._worked: dict[int, Recent[int, Statement]] = {}
        # By operation id: calls with extra keywords that were made, that were not.
        self._extra: dict[int, list[float]] = {}
        self.costly: dict[int, None] = {}
        self._accepted: dict[tuple[str, Hint], Recent[Expression, Expression]] = {}  # by name and hint of the parameter
        self._mixtures = {
            (operation.id, parameter.name): Mixture(parameter.name, rates)
            for operation in subject.operations
            for parameter in operation.parameters
            if parameter.hint.kind == "any"
        }

    def weigh_again(self) -> None:
        """Make all weights again, because the rates were exchanged."""
        self.version += 1
        for mixture in self._mixtures.values():
            mixture.weigh_again()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what can be worked out again, which is most of it: a copy begins without."""
        return {**vars(self), "_touched": {}}

    def demanded(self, operation: int, parameter: str) -> Hint | None:
        """What was seen to be demanded of a parameter without annotation, if anything."""
        return self._demands.get((operation, parameter))

    def worked(self, operation: int) -> Recent[int, Statement]:
        """Calls of the operation that returned and whose arguments needed no other statement."""
        known = self._worked.get(operation)
        if known is None:
            known = self._worked[operation] = Recent(_KEPT)
        return known

    def accepted(self, parameter: Parameter) -> Recent[Expression, Expression]:
        """Arguments that operations have accepted for parameters of the same name and hint."""
        key = (parameter.name, parameter.hint)
        known = self._accepted.get(key)
        if known is None:
            known = self._accepted[key] = Recent(_KEPT)
        return known

    def take(self, given: Iterable[tuple[int, str, Expression]]) -> None:
        """Take over arguments that somebody gave: operation id, name of the parameter, and what it was given."""
        for operation, name, value in given:
            parameter = parameter_of(self.operations[operation], name)
            if parameter is not None:
                self.accepted(parameter).add(value, value)

    def mixture(self, operation: int, parameter: str) -> Mixture:
        """Which kinds of value a parameter without annotation is given."""
        return self._mixtures[operation, parameter]

    def extra_keywords(self, operation: int) -> float:
        """How likely the operation takes names beyond its parameters, in (0, 1]; 1 before it was tried.

        Many signatures say `**kwargs` of something that takes none, all exceptions for example.
        """
        worked, failed = self._extra.get(operation, (0.0, 0.0))
        return (worked + 1.0) / (worked + failed + 1.0)

    def reliability(self, operation: int) -> float:
        """How often an operation gave back a result, as a factor in [floor, 1]; 1 before it was tried."""
        returned, _, runs = self._runs[operation]
        return max(self._rates.floor, (returned + 1.0) / (runs + 1.0))

    def usefulness(self, operation: int) -> float:
        """How often a call told something about the subject, as a factor in [floor, 1]; 1 before it was tried."""
        _, silent, runs = self._runs[operation]
        return max(self._rates.floor, 1.0 - silent / (runs + 1.0))

    def learn(self, learned: Learned) -> None:
        """Take over observed types, iterators and demands."""
        self.version += 1
        for operation in learned.iterators:
            self.results.drain(operation)
        for operation, hint in learned.returns.items():
            self.results.observe(operation, hint)
        for key, hint in learned.parameters.items():
            if key in self._mixtures and hint.kind != "any":
                self._demands[key] = hint

    def note(self, testcase: TestCase, table: StatementTable, trace: Trace) -> None:
        """Count what one execution says about operations and about the kinds of un-annotated arguments.

        Args:
            testcase: what was executed.
            table: its statements.
            trace: its execution; one with a failure counts only up to its last completed call.
        """
        self.version += 1
        calls = trace.calls
        returned = len(calls) - (len(calls) > 0 and not calls[-1].returned)  # nothing runs after one that did not
        # By number: the statements lie all over the memory, and looking at all of them would cost more than counting.
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
        """A limit was hit: operations that were given large numbers may be the reason."""
        for statement in statements:
            if any(map(is_large, (*statement.args, *(value for _, value in statement.kwargs)))):
                self.costly[statement.operation] = None

    def _touches(self, identifier: int, statement: Statement) -> _Touched:
        """Work out which counts the statement changes, and remember it."""
        operation = self.operations[statement.operation]
        arguments: list[tuple[Mixture, int]] = []
        for parameter, argument in _bound(operation, statement):
            mixture = self._mixtures.get((operation.id, parameter.name))
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
        if len(self._touched) >= _TOUCHED:  # it can be worked out again
            self._touched.clear()
        self._touched[identifier] = known
        return known

    def _keep(self, identifier: int, statement: Statement, worked: Recent[int, Statement]) -> None:
        """Remember a statement that returned, and what it was given."""
        worked.add(identifier, statement)
        operation = self.operations[statement.operation]
        if operation.leads_in:
            for parameter, argument in _bound(operation, statement):
                if not isinstance(argument, Name | Lambda):
                    self.accepted(parameter).add(argument, argument)


def _halve(counts: list[float]) -> None:
    counts[:] = [count / 2.0 for count in counts]


def _count_extra(counts: list[float], *, made: bool) -> None:
    counts[0 if made else 1] += 1.0
    if counts[0] + counts[1] > SAMPLE:
        _halve(counts)


def _bound(operation: Operation, statement: Statement) -> Iterator[tuple[Parameter, Expression]]:
    """The arguments of a statement with the parameters that they are bound to."""
    places: list[tuple[int | str, Expression]] = [*enumerate(statement.args), *statement.kwargs]
    for place, argument in places:
        parameter = parameter_of(operation, place)
        if parameter is not None:
            yield parameter, argument
