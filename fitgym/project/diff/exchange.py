"""Exchange: translate test cases of one version of a module to another version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from fitgym.messages.observation import Observed
from fitgym.subject.subject import Operation, Subject
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name
from fitgym.testcase.statement import Statement

__all__ = ["Exchange", "binds"]

_Key = tuple[str, str, str, str, str]


class Exchange:
    """Finds the operations of one version in the other one by name.

    Args:
        source: the version that the test cases come from.
        target: the version that they are translated to.
    """

    def __init__(self, source: Subject, target: Subject) -> None:
        self._source = source
        self._target = target
        self._modules = {source.reference.module: target.reference.module}

    def statements(self, statements: Sequence[Statement]) -> list[Statement] | None:
        """Return the same calls with the operations of the target; None if it lacks one of them."""
        found = []
        for statement in statements:
            operation = self._operation(self._source.operations[statement.operation])
            if operation is None:
                return None
            args = tuple(self._expression(argument) for argument in statement.args)
            kwargs = tuple((name, self._expression(argument)) for name, argument in statement.kwargs)
            found.append(Statement(operation.id, statement.receiver, args, kwargs, statement.iterate))
        return found

    def observed(self, seen: Observed) -> Observed:
        """Return an observation of the source with the names and folders of the target."""
        facts = tuple(fact._replace(expression=self._expression(fact.expression)) for fact in seen.observations)
        raises = tuple(name for one in seen.raises if isinstance(name := self._expression(one), Name))
        return replace(seen, observations=facts, raises=raises, message=self._local(seen.message))

    def _operation(self, operation: Operation) -> Operation | None:
        """Return the operation of the target for the same call; a method may be inherited there."""
        module = self._modules.get(operation.module, operation.module)
        found = self._known.get(_key(operation, module, operation.name))
        owner, _, last = operation.name.rpartition(".")
        if found is None and owner and (cls := self._target.classes.get(f"{module}.{owner}")) is not None:
            for base in cls.bases[1:]:
                known = self._target.classes.get(base)
                if known is not None and found is None:
                    found = self._known.get(_key(operation, known.module, f"{known.qualname}.{last}"))
        return found

    @cached_property
    def _known(self) -> Mapping[_Key, Operation]:
        return {_key(one, one.module, one.name): one for one in self._target.operations}

    def _expression(self, expression: Expression) -> Expression:
        match expression:
            case Name(module, qualname):
                return Name(self._modules.get(module, module), qualname)
            case Collection(kind, items):
                return Collection(kind, tuple(self._expression(item) for item in items))
            case Lambda(arity, body):
                return Lambda(arity, self._expression(body))
            case Literal(text):
                return Literal(self._local(text))
        return expression

    def _local(self, text: str) -> str:
        """Replace the folder of the source by that of the target, so that paths in messages agree."""
        return text.replace(self._source.reference.root, self._target.reference.root)


def binds(operation: Operation, statement: Statement) -> bool:
    """Return whether the signature of an operation accepts the arguments of a statement.

    Otherwise (an unknown keyword, or too many positional arguments) the call raises a `TypeError` before any code runs.
    """
    kinds = [parameter.kind for parameter in operation.parameters]
    places = [p for p in operation.parameters if p.kind in ("positional_only", "positional_or_keyword")]
    if len(statement.args) > len(places) and "var_positional" not in kinds:
        return False
    named = {name for name, _ in statement.kwargs}
    known = {p.name for p in operation.parameters if p.kind in ("positional_or_keyword", "keyword_only")}
    if not named <= known and "var_keyword" not in kinds:
        return False
    given = {parameter.name for parameter in places[: len(statement.args)]} | named
    required = {p.name for p in operation.parameters if p.required and not p.kind.startswith("var_")}
    return required <= given and not {parameter.name for parameter in places[: len(statement.args)]} & named


def _key(operation: Operation, module: str, name: str) -> _Key:
    return operation.kind, module, name, operation.operator, operation.drive
