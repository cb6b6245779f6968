"""An example: hand-written statements that demonstrate or check the code under test."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from fitgym.immutable import immutable

__all__ = ["Example"]


@immutable
@dataclass(frozen=True)
class Example:
    """Statements in execution order; they are read, never executed.

    Attributes:
        body: the statements, preceded by the imports and assignments that they need.
        functions: functions of the same file that they may call, by name; methods of their own class as `self.name`.
        inside: unbound names refer to the module under test, as in its own docstrings.
    """

    body: tuple[ast.stmt, ...]
    functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(
        default_factory=lambda: MappingProxyType({})
    )
    inside: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        return Example, (self.body, dict(self.functions), self.inside)
