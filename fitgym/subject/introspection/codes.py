"""Codes: map a callable of the subject to its code object and syntax node in the source."""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fitgym.subject.introspection.callables import wrapped, wraps
from fitgym.subject.introspection.names import Nodes, plain
from fitgym.subject.subject import Function

__all__ = ["Codes", "Found"]


@dataclass(frozen=True)
class Found:
    """A callable: the object that has the signature, its code in the subject and the syntax node of that code."""

    target: Any
    code: types.CodeType | None = None
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None = None


class Codes:
    """The code objects of one source.

    Args:
        files: file names that it may have been compiled under.
        nodes: its functions in the syntax tree.
        functions: its functions as numbered by the instrumentation.
    """

    def __init__(self, files: frozenset[str | None], nodes: Nodes, functions: Sequence[Function]) -> None:
        self.files = files
        self._nodes = nodes
        self._functions: dict[str, list[Function]] = {}
        for function in functions:
            self._functions.setdefault(plain(function.name), []).append(function)

    def find(self, target: Any) -> Found:
        """Return the code that a call of `target` runs, without decorators."""
        code = self._code(target)
        return Found(target, code, self._nodes.find(code) if code is not None else None)

    def function(self, code: types.CodeType | None) -> int:
        """Return the index of a code object in `Subject.functions`, -1 for none."""
        if code is None:
            return -1
        known = self._functions.get(plain(code.co_qualname), [])
        near = min(known, key=lambda function: abs(function.line - code.co_firstlineno), default=None)
        return near.id if near is not None else -1

    def _code(self, target: Any, depth: int = 4) -> types.CodeType | None:
        """Return the code in the subject's source that a call of `target` runs, without decorators."""
        if target is None or depth == 0:
            return None
        if isinstance(target, types.MethodType):
            return self._code(target.__func__, depth)
        own = target.__code__ if isinstance(target, types.FunctionType) else None
        for inner in wrapped(target):
            found = self._code(inner, depth - 1)
            if found is not None and (own is None or own.co_filename not in self.files or wraps(target, found)):
                return found
        if own is not None:
            return own if own.co_filename in self.files else None
        method = inspect.getattr_static(type(target), "__call__", None)
        if isinstance(method, types.FunctionType) and method.__code__.co_filename in self.files:
            return method.__code__
        return None
