"""Environment: how a test sets what functions read without being passed it."""

from __future__ import annotations

from typing import Protocol

from fitgym.suite.text.layout import Piece, assigned, flat
from fitgym.suite.text.scope import Scope

__all__ = ["ASSIGNED", "Environment"]


class Environment(Protocol):
    """Writes the statements that set something for the rest of a test."""

    def variable(self, name: Piece, value: Piece, scope: Scope, width: int) -> list[str]:
        """Return the lines that set an environment variable, of at most `width` columns."""

    def replaced(self, place: str, value: Piece, scope: Scope, width: int) -> list[str]:
        """Return the lines that replace the object with a dotted name, such as `sys.argv`."""


class _Assigned(Environment):
    """Assignments, for code that is not a test."""

    def variable(self, name: Piece, value: Piece, scope: Scope, width: int) -> list[str]:
        return assigned(f"{scope.module('os')}.environ[{flat(name)}]", value, width)

    def replaced(self, place: str, value: Piece, scope: Scope, width: int) -> list[str]:
        module, _, name = place.rpartition(".")
        return assigned(f"{scope.module(module)}.{name}", value, width)


ASSIGNED: Environment = _Assigned()
