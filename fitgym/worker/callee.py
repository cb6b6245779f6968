"""Callees: the callables of the subject's operations, resolved in the worker."""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from fitgym.messages.protocol import WireCall
from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import Hint
from fitgym.worker.arity import Arity
from fitgym.worker.extension import extending
from fitgym.worker.frames import wrappers
from fitgym.worker.steps import (
    Arguments,
    SetupError,
    Step,
    calling,
    operating,
    reading,
    resolve,
    sending,
    setting,
)

__all__ = ["Callee", "Partitions"]

Partitions = tuple[tuple[str, float], ...]

_MOST_RECORDS = 1000


class Callee:
    """One operation, resolved to its callable.

    Args:
        operation: the operation. Its module is imported here if necessary.
        given: callables of the worker that operations stand for, by module and name.

    Attributes:
        seen: return types that were already reported.
        wrappers: code of the decorators around its body.
        hints: declared parameter types by name.
        shows: partitions of its results are recorded, see `Operation.shows`.
        returned, raised: records of its call in a trace without values of arguments and results.
    """

    def __init__(
        self, operation: Operation, given: Mapping[tuple[str, str], Callable[..., Any]] = MappingProxyType({})
    ) -> None:
        self.operation = operation
        self.seen: set[type] = set()
        self.hints: dict[str, Hint] = {p.name: p.hint for p in operation.parameters if p.declared}
        self.shows = operation.shows
        self.returned: WireCall = (operation.id, True, (), ())
        self.raised: WireCall = (operation.id, False, (), ())
        self._returned: dict[Partitions, WireCall] = {(): self.returned}
        positional = [p.name for p in operation.parameters if p.kind in ("positional_only", "positional_or_keyword")]
        self._names = positional
        self._rest = [p.name for p in operation.parameters if p.kind == "var_positional"] or [""]
        self._hooks = operation.hooks
        self._found = True
        try:
            self._target = given.get((operation.module, operation.name)) or (
                _unbound(operation) if operation.needs_receiver else resolve(operation.module, operation.name)
            )
        except Exception:  # whatever the import raises; running the statement is a set-up failure
            self._found, self._target = False, None
        if self._hooks and isinstance(self._target, type):
            self._target = extending(self._target, self._hooks)
        self.wrappers = wrappers(self._target)
        self._arity: Arity | None = None
        if self._target is not None and operation.kind not in ("property", "setter"):
            with contextlib.suppress(Exception):  # there is no signature, or reading it raises
                self._arity = Arity(inspect.signature(self._target))

    def returning(self, shown: Partitions) -> WireCall:
        """Return the record of a call whose result has these partitions.

        Equal records are one object, which a message contains once.
        """
        known = self._returned.get(shown)
        if known is None:
            known = (self.operation.id, True, shown, ())
            if len(self._returned) < _MOST_RECORDS:
                self._returned[shown] = known
        return known

    def step(self, receiver: int, arguments: Arguments) -> Step:
        """Return the call as a step; its result is not driven yet.

        Raises:
            SetupError: the operation was not found or has no receiver.
        """
        operation = self.operation
        if not self._found:
            raise SetupError(f"'{operation.module}.{operation.name}' cannot be found")
        if not operation.needs_receiver:
            return calling(self._target, arguments)
        if receiver < 0:
            raise SetupError(f"'{operation.name}' needs a receiver")
        name = operation.operator or operation.name.rpartition(".")[2]
        if operation.kind == "property":
            return reading(receiver, name)
        if operation.kind == "setter":
            return setting(receiver, name, arguments)
        if operation.kind == "operator":
            return operating(receiver, name, arguments)
        return sending(receiver, name, arguments)

    def names(self, count: int) -> list[str]:
        """Return the names of the parameters to which the first `count` positional arguments are bound."""
        return (self._names + self._rest * (count - len(self._names)))[:count]

    def binds(self, count: int, keywords: Sequence[str]) -> bool:
        """Return True if the arguments fit the signature, or if the signature is unknown."""
        passed = [name for name in keywords if name not in self._hooks]
        return self._arity is None or self._arity.fits(count + self.operation.needs_receiver, passed)


def _unbound(operation: Operation) -> Any:
    """Return the function in the class that a method call most likely reaches, None if there is none."""
    name = operation.name if operation.kind != "setter" else operation.name.removesuffix(".setter")
    try:
        found = resolve(operation.module, name)
    except Exception:
        return None
    return found if isinstance(found, types.FunctionType) else None
