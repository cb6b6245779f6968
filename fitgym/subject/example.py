"""An example: statements that somebody wrote to show or to check what the code under test does."""

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
    """Statements in the order in which they would run; they are read, never executed.

    Attributes:
        body: the statements, the imports and assignments that they need in front.
        functions: functions beside them that they may call, by name; methods of their own class as `self.name`.
        inside: names that nothing binds are those of the module under test, as in its own docstrings.
    """

    body: tuple[ast.stmt, ...]
    functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(
        default_factory=lambda: MappingProxyType({})
    )
    inside: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        return Example, (self.body, dict(self.functions), self.inside)
