"""Drive: how a test consumes the result of a call so that the body of the function runs."""

from __future__ import annotations

import contextlib
import inspect
import types
from typing import Any

from fitgym.subject.introspection.callables import asked, unwrapped
from fitgym.subject.subject import Drive
from fitgym.subject.types.hints import ANY, Hint

__all__ = ["driven"]

_OPERATORS: dict[str, Drive] = {
    "__iter__": "iterate",
    "__reversed__": "iterate",
    "__enter__": "",
    "__aenter__": "aenter",
}
_OPERATORS |= {"__aiter__": "aiterate", "__anext__": "await", "__await__": "await"}


def driven(target: Any, returns: Hint, operator: str) -> tuple[Drive, Hint]:
    """Return how a test consumes the result, and the type that this gives.

    Args:
        target: the callable.
        returns: the type that the call itself returns.
        operator: the name of the special method, "" for other operations.
    """
    if operator in _OPERATORS:
        drive = _OPERATORS[operator]
        if drive in ("iterate", "aiterate"):
            return drive, _drained(returns)
        return drive, returns
    inner = unwrapped(target) if isinstance(target, types.FunctionType) else target
    code = asked(target, "__code__")
    if isinstance(code, types.CodeType) and code.co_filename == contextlib.__file__ and inner is not target:
        is_async = inspect.isasyncgenfunction(inner)
        element = returns.args[0] if returns.kind in ("iterator", "iterable") and returns.args else ANY
        return ("aenter" if is_async else "enter"), element
    flags = target if isinstance(target, types.FunctionType) else inner
    if inspect.iscoroutinefunction(flags):
        return "await", returns
    if inspect.isasyncgenfunction(flags):
        return "aiterate", _drained(returns)
    if inspect.isgeneratorfunction(flags) or returns.kind == "iterator":
        return "iterate", _drained(returns)
    return "", returns


def _drained(returns: Hint) -> Hint:
    """Return the type of the list of all items of an iterator."""
    element = returns.args[0] if returns.kind in ("iterator", "iterable") and returns.args else ANY
    return Hint("list", args=(element,))
