"""Focus on a part of the subject: the fitness functions and the algorithm stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fitgym.engine import Engine
from fitgym.envs.action.base import Action, Listed
from fitgym.evolution.groups import Group

__all__ = ["WHOLE", "FocusOn", "parts"]

WHOLE = "whole"
"""The action that focuses on nothing."""


@dataclass(frozen=True, kw_only=True)
class FocusOn(Action):
    """Restrict guidance and generation to a part.

    Attributes:
        group: the part; None for the whole subject. Which one it is is known once there is a subject.
    """

    group: Group | None = None

    def apply(self, engine: Engine) -> None:
        engine.focus(self.group)


def parts(names: Sequence[str], title: str) -> Listed:
    """The choice of a part by its slot, or by a rule that names one."""
    return Listed([FocusOn(name=name, recorded=name, index=index) for index, name in enumerate(names)], title)
