"""Knowledge: what running the test cases has taught about the operations of the subject.

Two things are counted. For every parameter without annotation: which kinds of value were followed by a return, which by
a `TypeError`, an `AttributeError` or a call that could not be made. For every operation: how often it returned, and how
often it failed without telling anything about the subject. Both become weights with a floor, so that nothing dies out.
Arguments of calls that returned are kept and given again: an object is built to be used, and a date or a version that
was accepted once need not be found by chance a second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Protocol

from fitgym.instrument.trace import Trace
from fitgym.subject.hints import ANY, Hint
from fitgym.subject.patterns import Chance
from fitgym.subject.subject import Operation, Parameter, Subject
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name
from fitgym.testcase.literals import kind_of_text
from fitgym.testcase.rates import DEFAULT, Rates
from fitgym.testcase.statement import Statement

__all__ = ["ANY_KINDS", "Knowledge", "Learned", "is_large", "kind_of", "parameter_of"]

ANY_KINDS = {
    "str": 0.20,
    "int": 0.20,
    "list": 0.11,
    "object": 0.10,
    "result": 0.08,
    "dict": 0.06,
    "tuple": 0.06,
    "none": 0.05,
    "bool": 0.05,
    "float": 0.05,
    "callable": 0.05,
    "bytes": 0.02,
    "set": 0.02,
    "iter": 0.02,
    "class": 0.02,
    "complex": 0.01,
}
"""The kinds of value tried where nothing is known, and how often before anything was learnt (weights, sum 1).

"object" builds one of the subject's own classes, "result" refers to an earlier statement.
"""

_NAMED = {
    "int": "n num number count size length len width height depth index idx i j k x y start stop step end limit max min "
    "digits precision level offset position pos times",
    "str": "s string text name key word label title prefix suffix sep separator path filename message msg pattern regex "
    "fmt format encoding char line url source src content data value",
    "list": "seq seqs sequence iterable iterables items values elements lst list array rows args it coll collection",
    "callable": "f fn func function callback predicate pred key keyfunc binop op on_error default_factory",
    "dict": "d dct dict mapping map kwargs options config headers params attrs env",
    "bool": "flag reverse strict verbose force recursive ignore_case inclusive",
    "float": "ratio rate factor scale threshold tolerance timeout seconds delay weight alpha beta",
    "bytes": "b buf buffer raw payload",
    "class": "cls klass type typ",
}
_SUGGESTED = {name: kind for kind, names in reversed(_NAMED.items()) for name in names.split()}
_SUGGESTION = 4.0  # how much more likely a kind is that the parameter's name suggests

_LIMITS = ("fuel", "timeout", "memory", "crash")
_LARGE = 10**5  # numbers beyond it are suspected when a limit was hit
_KEPT = 24  # statements that worked per operation, and arguments that were accepted per parameter name
_SAMPLE = 200  # counts are halved beyond this many, so that late experience can outweigh early


class Learned(Protocol):
    """What the executor has learnt since it was last asked (`fitgym.execution.executor.Learned`).

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
    """Which key of `ANY_KINDS` an argument belongs to; a reference counts as "result" whatever it refers to."""
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


class Knowledge:
    """What is known about the operations of a subject beyond their signatures.

    Args:
        subject: whose operations.
        rates: what bad experience leaves.
    """

    def __init__(self, subject: Subject, rates: Rates = DEFAULT) -> None:
        self.operations = subject.operations
        self.floor = rates.floor
        self.version = 0
        self.iterators: dict[int, None] = {}
        self._returns: dict[int, Hint] = {}
        self._demands: dict[tuple[int, str], Hint] = {}
        self._kinds: dict[tuple[int, str], dict[str, list[float]]] = {}
        self._mixtures: dict[tuple[int, str], tuple[list[float], list[str]]] = {}
        self._runs: dict[int, list[float]] = {}  # operation id: returned, failed without telling anything, all
        self._arguments: dict[int, tuple[tuple[tuple[int, str], str], ...]] = {}  # statement id: its doubtful arguments
        self._worked: dict[int, dict[int, Statement]] = {}  # operation id: statements that returned, by id
        self._extra: dict[
            int, list[float]
        ] = {}  # operation id: calls with extra keywords that were made, that were not
        self._costly: dict[int, None] = {}
        self._accepted: dict[tuple[str, Hint], dict[Expression, None]] = {}  # by name and hint of the parameter
        self._open = {
            (operation.id, parameter.name)
            for operation in subject.operations
            for parameter in operation.parameters
            if parameter.hint.kind == "any"
        }

    def returns(self, operation: int) -> Hint:
        """What the result of an operation is: as declared, else as observed, else `ANY`."""
        if operation in self.iterators:
            return self._returns.get(operation, Hint("list", args=(ANY,)))
        declared = self.operations[operation].returns
        return self._returns.get(operation, ANY) if declared.kind == "any" else declared

    def demanded(self, operation: int, parameter: str) -> Hint | None:
        """What was seen to be demanded of a parameter without annotation, if anything."""
        return self._demands.get((operation, parameter))

    def worked(self, operation: int, rng: Chance) -> Statement | None:
        """A call of the operation that returned and needed no other statement, or None if none is known."""
        known = self._worked.get(operation)
        return None if not known else list(known.values())[int(rng.random() * len(known))]

    def accepted(self, parameter: Parameter, rng: Chance) -> Expression | None:
        """An argument accepted for a parameter of the same name and hint by some operation; None if none is known."""
        known = self._accepted.get((parameter.name, parameter.hint))
        return None if not known else list(known)[int(rng.random() * len(known))]

    def extra_keywords(self, operation: int) -> float:
        """How likely the operation takes names beyond its parameters, in (0, 1]; 1 before it was tried.

        Many signatures say `**kwargs` of something that takes none, all exceptions for example.
        """
        worked, failed = self._extra.get(operation, (0.0, 0.0))
        return (worked + 1.0) / (worked + failed + 1.0)

    def is_costly(self, operation: int) -> bool:
        """A large number has made a call of the operation hit a limit: of memory, of time, of the process."""
        return operation in self._costly

    def learn(self, learned: Learned) -> None:
        """Take over observed types, iterators and demands; `version` changes if anything was new."""
        for operation in learned.iterators:
            if operation not in self.iterators and not self.operations[operation].drive:
                self.iterators[operation] = None
                self._returns.pop(operation, None)
                self.version += 1
        for operation, hint in learned.returns.items():
            if operation in self.iterators and hint.kind in ("iterator", "class", "any"):
                continue
            if hint.kind != "any" and self._returns.get(operation) != hint:
                self._returns[operation] = hint
                self.version += 1
        for key, hint in learned.parameters.items():
            if key in self._open and hint.kind != "any" and self._demands.get(key) != hint:
                self._demands[key] = hint
                self.version += 1

    def note(self, statements: Iterable[tuple[int, Statement]], trace: Trace) -> None:
        """Count what one execution says about operations and about the kinds of un-annotated arguments.

        Args:
            statements: the test case as (statement id, statement), in order.
            trace: its execution; one with a failure counts only up to its last completed call.
        """
        raised = trace.raised
        if trace.failure in _LIMITS:
            statements = list(statements)
            for _, statement in statements:
                if any(map(is_large, (*statement.args, *(value for _, value in statement.kwargs)))):
                    self._costly[statement.operation] = None
        for (identifier, statement), call in zip(statements, trace.calls, strict=False):
            if statement.kwargs:
                self._count_extra(statement, made=call.returned or raised is None or raised.counted)
            if call.returned:
                self._count(statement.operation, returned=True, telling=True)
                self._weigh(identifier, statement, 0)
                if identifier not in self._worked.get(statement.operation, ()):
                    self._keep(identifier, statement)
            elif raised is not None:
                misfit = not raised.counted
                self._count(statement.operation, returned=False, telling=not misfit)
                if misfit or raised.type in ("TypeError", "AttributeError"):
                    self._weigh(identifier, statement, 1)
            elif trace.failure in _LIMITS:
                self._count(statement.operation, returned=False, telling=False)

    def reliability(self, operation: int) -> float:
        """How often an operation gave back a result, as a factor in [floor, 1]; 1 before it was tried."""
        runs = self._runs.get(operation)
        return 1.0 if runs is None else max(self.floor, (runs[0] + 1.0) / (runs[2] + 1.0))

    def usefulness(self, operation: int) -> float:
        """How often a call told something about the subject, as a factor in [floor, 1]; 1 before it was tried."""
        runs = self._runs.get(operation)
        return 1.0 if runs is None else max(self.floor, 1.0 - runs[1] / (runs[2] + 1.0))

    def mixture(self, operation: int, parameter: str) -> tuple[list[float], list[str]]:
        """Cumulative weights, ending in 1, and the kinds they belong to, for one parameter without annotation."""
        key = (operation, parameter)
        found = self._mixtures.get(key)
        if found is None:
            counts = self._kinds.get(key, {})
            suggested = _SUGGESTED.get(parameter.rstrip("s0123456789_")) or _SUGGESTED.get(parameter)
            weights = []
            for kind, weight in ANY_KINDS.items():
                worked, failed = counts.get(kind, (0.0, 0.0))
                share = (worked + 1.0) / (worked + failed + 2.0)  # 1/2 before anything was tried
                factor = max(self.floor, 4.0 * share * share)
                weights.append(weight * factor * (_SUGGESTION if kind == suggested else 1.0))
            total = sum(weights)
            found = ([weight / total for weight in accumulate(weights)], list(ANY_KINDS))
            found[0][-1] = 1.0
            self._mixtures[key] = found
        return found

    def _count(self, operation: int, *, returned: bool, telling: bool) -> None:
        runs = self._runs.setdefault(operation, [0.0, 0.0, 0.0])
        runs[0] += returned
        runs[1] += not telling
        runs[2] += 1.0
        if runs[2] > _SAMPLE:
            self._runs[operation] = [count / 2.0 for count in runs]

    def _count_extra(self, statement: Statement, *, made: bool) -> None:
        operation = self.operations[statement.operation]
        if operation.parameters and operation.parameters[-1].kind == "var_keyword":
            names = {parameter.name for parameter in operation.parameters}
            if any(name not in names for name, _ in statement.kwargs):
                counts = self._extra.setdefault(operation.id, [0.0, 0.0])
                counts[0 if made else 1] += 1.0
                if counts[0] + counts[1] > _SAMPLE:
                    counts[:] = [count / 2.0 for count in counts]

    def _keep(self, identifier: int, statement: Statement) -> None:
        """Remember a statement that returned, if it can be repeated in another test case; the oldest is forgotten."""
        operation = self.operations[statement.operation]
        if not operation.parameters:
            return
        places: list[tuple[int | str, Expression]] = [*enumerate(statement.args), *statement.kwargs]
        if len(statement.refs) > (statement.receiver >= 0):
            return
        kept = self._worked.setdefault(statement.operation, {})
        kept[identifier] = statement
        if len(kept) > _KEPT:
            del kept[next(iter(kept))]
        for place, argument in places:
            parameter = parameter_of(operation, place)
            if parameter is not None and not isinstance(argument, Name | Lambda) and operation.under_test:
                accepted = self._accepted.setdefault((parameter.name, parameter.hint), {})
                accepted[argument] = None
                if len(accepted) > _KEPT:
                    del accepted[next(iter(accepted))]

    def _weigh(self, identifier: int, statement: Statement, outcome: int) -> None:
        arguments = self._arguments.get(identifier)
        if arguments is None:
            if len(self._arguments) >= 20_000:  # it can be worked out again
                self._arguments.clear()
            arguments = self._arguments[identifier] = tuple(self._doubtful(statement))
        for key, kind in arguments:
            counts = self._kinds.setdefault(key, {}).setdefault(kind, [0.0, 0.0])
            counts[outcome] += 1.0
            if counts[0] + counts[1] > _SAMPLE:
                counts[:] = [count / 2.0 for count in counts]
            self._mixtures.pop(key, None)

    def _doubtful(self, statement: Statement) -> Iterator[tuple[tuple[int, str], str]]:
        """The arguments bound to parameters without annotation, as (operation and parameter, kind of value)."""
        operation = self.operations[statement.operation]
        places: list[tuple[int | str, Expression]] = [*enumerate(statement.args), *statement.kwargs]
        for place, argument in places:
            parameter = parameter_of(operation, place)
            if parameter is not None and (operation.id, parameter.name) in self._open:
                yield (operation.id, parameter.name), kind_of(argument)
