"""Environment: how a test sets environment variables and the command line, which functions read without being passed."""

from __future__ import annotations

from typing import Protocol

from fitgym.suite.text.layout import Piece, assigned, flat
from fitgym.suite.text.scope import Scope

__all__ = ["ASSIGNED", "Environment"]


class Environment(Protocol):
    """Writes the statements that set something for the rest of a test."""

    def variable(self, name: Piece, value: Piece, scope: Scope, width: int) -> list[str]:
        """Return the lines that set an environment variable, of at most `width` columns."""

    def command_line(self, words: Piece, scope: Scope, width: int) -> list[str]:
        """Return the lines that set the command line, the name of the program included."""


class _Assigned(Environment):
    """Assignments, for code that is not a test."""

    def variable(self, name: Piece, value: Piece, scope: Scope, width: int) -> list[str]:
        return assigned(f"{scope.module('os')}.environ[{flat(name)}]", value, width)

    def command_line(self, words: Piece, scope: Scope, width: int) -> list[str]:
        return assigned(f"{scope.module('sys')}.argv", words, width)


ASSIGNED: Environment = _Assigned()
