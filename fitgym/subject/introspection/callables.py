"""Callables: their signatures, and the function that a decorated callable finally calls.

Every attribute access on an object of the subject is guarded, because its `__getattr__` may raise anything.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import types
import typing
from collections.abc import Iterator
from typing import Any

from fitgym.subject.subject import ParameterKind

__all__ = ["asked", "function_with", "is_uninformative", "kind_of", "signature_of", "unwrapped", "wrapped", "wraps"]


def signature_of(target: Any) -> inspect.Signature | None:
    """Return the signature of a callable, None if there is none.

    For a class whose signature is only `*args, **kwargs`, the signature of its first overload is returned. Parameters
    that only make a builtin a local name, such as `len=len`, are left out: nobody passes them.
    """
    try:
        signature = inspect.signature(target)
    except Exception:  # no signature, or a failing `__signature__` of the subject
        return None
    if is_uninformative(signature) and isinstance(target, type):
        for name in ("__init__", "__new__"):
            overloads = (
                typing.get_overloads(getattr(target, name))
                if isinstance(vars(target).get(name), types.FunctionType | staticmethod)
                else []
            )
            if overloads:
                entries = list(inspect.signature(overloads[0]).parameters.values())
                return signature.replace(parameters=entries[1:])
    return _without_shortcuts(_as_accepted(target, signature))


def _without_shortcuts(signature: inspect.Signature) -> inspect.Signature:
    """Leave out parameters whose default is the builtin of the same name, unless more positional arguments may follow."""
    entries = list(signature.parameters.values())
    kept = [entry for entry in entries if not _is_shortcut(entry)]
    if len(kept) == len(entries) or any(entry.kind is entry.VAR_POSITIONAL for entry in entries):
        return signature
    return signature.replace(parameters=kept)


def _is_shortcut(entry: inspect.Parameter) -> bool:
    known = vars(builtins).get(entry.name.strip("_"), entry.empty)
    return known is not entry.empty and entry.default is known


def _as_accepted(target: Any, signature: inspect.Signature) -> inspect.Signature:
    """Turn positional parameters into keyword parameters where the code of `target` does not accept them by position.

    This happens if a `__signature__` describes a function that accepts the parameters only through `**kwargs`.
    """
    code = getattr(target, "__code__", None)
    if not isinstance(target, types.FunctionType) or not isinstance(code, types.CodeType):
        return signature
    if "__signature__" not in vars(target) or not code.co_flags & inspect.CO_VARKEYWORDS:
        return signature
    if code.co_flags & inspect.CO_VARARGS:
        return signature
    entries = list(signature.parameters.values())
    return signature.replace(
        parameters=[
            entry.replace(kind=entry.KEYWORD_ONLY)
            if place >= code.co_argcount and entry.kind in (entry.POSITIONAL_ONLY, entry.POSITIONAL_OR_KEYWORD)
            else entry
            for place, entry in enumerate(entries)
        ]
    )


def asked(target: Any, name: str) -> Any:
    """Return an attribute, None if it does not exist or a `__getattr__` of the subject fails."""
    try:
        return getattr(target, name, None)
    except Exception:
        return None


def unwrapped(target: Any) -> Any:
    """Return the last callable in a `__wrapped__` chain."""
    try:
        return inspect.unwrap(target)
    except Exception:  # a failing `__getattr__`, or an endless chain of wrappers
        return target


def is_uninformative(signature: inspect.Signature) -> bool:
    """The signature has no parameters except `*args` and `**kwargs`."""
    return all(entry.kind in (entry.VAR_POSITIONAL, entry.VAR_KEYWORD) for entry in signature.parameters.values())


def kind_of(entry: inspect.Parameter) -> ParameterKind:
    """Return the kind of a parameter in the notation of `Parameter.kind`."""
    kind: ParameterKind = entry.kind.name.lower()  # type: ignore[assignment]
    return kind


def wrapped(target: Any) -> Iterator[Any]:
    """Yield the objects inside a callable that it may finally call, the most explicit first."""
    for name in ("__wrapped__", "func", "__func__", "fget"):
        found = inspect.getattr_static(target, name, None)
        if isinstance(found, types.MemberDescriptorType | types.GetSetDescriptorType):
            found = asked(target, name)
        if isinstance(
            found, types.FunctionType | types.MethodType | functools.partial | staticmethod | classmethod
        ) or (name == "__wrapped__" and found is not None and callable(found) and not isinstance(found, type)):
            yield found
    if isinstance(target, types.FunctionType):
        for cell in target.__closure__ or ():
            with contextlib.suppress(ValueError):  # an empty cell
                if isinstance(cell.cell_contents, types.FunctionType):
                    yield cell.cell_contents
    elif not isinstance(target, type) and isinstance(asked(target, "__dict__"), dict):
        for value in list(vars(target).values()):
            if isinstance(value, types.FunctionType):
                yield value


def wraps(target: types.FunctionType, inner: types.CodeType) -> bool:
    """The function is a wrapper around another function of the subject."""
    if hasattr(target, "__wrapped__"):
        return True
    signature = target.__code__
    only_variable = signature.co_argcount == 0 and bool(signature.co_flags & inspect.CO_VARARGS)
    return (
        only_variable and target.__code__.co_qualname != inner.co_qualname and "<locals>" in target.__code__.co_qualname
    )


def function_with(target: Any, code: types.CodeType, depth: int = 4) -> types.FunctionType | None:
    """Return the function inside a callable that runs `code`, None if it is not reachable."""
    if isinstance(target, types.FunctionType) and target.__code__ is code:
        return target
    if depth:
        for inner in wrapped(target):
            found = function_with(inner, code, depth - 1)
            if found is not None:
                return found
    return None
