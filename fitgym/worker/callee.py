"""Callees: the operations of the subject as the worker calls them."""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Sequence
from typing import Any

from fitgym.messages.protocol import WireCall
from fitgym.subject.subject import Operation
from fitgym.subject.types.hints import Hint
from fitgym.worker.arity import Arity
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

__all__ = ["Callee"]


class Callee:
    """One operation, looked up.

    Args:
        operation: its module is imported here if it has not been.

    Attributes:
        seen: types that it was already seen to return.
        wrappers: code of the decorators around its own body.
        hints: what the declared parameters ask for, by name.
        shows: its value is behaviour. A hash is not: it may come from an address, None's does before Python 3.12.
        returned, raised: its calls in a trace of which nothing else is known.
    """

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.seen: set[type] = set()
        self.hints: dict[str, Hint] = {p.name: p.hint for p in operation.parameters if p.declared}
        self.shows = operation.operator != "__hash__"
        self.returned: WireCall = (operation.id, True, (), ())
        self.raised: WireCall = (operation.id, False, (), ())
        positional = [p.name for p in operation.parameters if p.kind in ("positional_only", "positional_or_keyword")]
        self._names = positional
        self._rest = [p.name for p in operation.parameters if p.kind == "var_positional"] or [""]
        self._found = True
        try:
            self._target = (
                _unbound(operation) if operation.needs_receiver else resolve(operation.module, operation.name)
            )
        except Exception:  # whatever importing it does; running it is a set-up failure
            self._found, self._target = False, None
        self.wrappers = wrappers(self._target)
        self._arity: Arity | None = None
        if self._target is not None and operation.kind not in ("property", "setter"):
            with contextlib.suppress(Exception):  # there is none, or it cannot be asked for
                self._arity = Arity(inspect.signature(self._target))

    def step(self, receiver: int, arguments: Arguments) -> Step:
        """The bare call, before its result is driven.

        Raises:
            SetupError: there is nothing to call.
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
        """The parameters that the first `count` positional arguments are bound to."""
        return (self._names + self._rest * (count - len(self._names)))[:count]

    def binds(self, count: int, keywords: Sequence[str]) -> bool:
        """So many positional arguments and these keywords fit the signature; True where that cannot be known."""
        return self._arity is None or self._arity.fits(count + self.operation.needs_receiver, keywords)


def _unbound(operation: Operation) -> Any:
    """The function in the class that a method call will most likely reach, None if there is none."""
    name = operation.name if operation.kind != "setter" else operation.name.removesuffix(".setter")
    try:
        found = resolve(operation.module, name)
    except Exception:
        return None
    return found if isinstance(found, types.FunctionType) else None
