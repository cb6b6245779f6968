"""Actions that focus the search on a part of the subject; the fitness functions and the algorithm stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fitgym.engine import Engine
from fitgym.envs.action.base import Action, Listed
from fitgym.evolution.groups import Group

__all__ = ["WHOLE", "FocusOn", "parts"]

WHOLE = "whole"
"""The name of the action that removes the focus."""


@dataclass(frozen=True, kw_only=True)
class FocusOn(Action):
    """Restricts guidance and test generation to one part.

    Attributes:
        group: the part; None for the whole subject. The environment sets it when the action is applied.
    """

    group: Group | None = None

    def apply(self, engine: Engine) -> None:
        engine.focus(self.group)


def parts(names: Sequence[str], title: str) -> Listed:
    """Return the `Discrete` space over parts, named by slots or by rules that point to a part."""
    return Listed([FocusOn(name=name, recorded=name, index=index) for index, name in enumerate(names)], title)
