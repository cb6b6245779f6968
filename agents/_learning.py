"""Learning: a hook that ends an episode at a limit of steps or on request of a callback."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fitgym.agents.transition import Transition
from fitgym.run.episode import Hook

if TYPE_CHECKING:
    from fitgym.agents.base import Agent, Callback

__all__ = ["Learning"]


class Learning(Hook):
    """Ends learning after `steps` steps, or when the callback returns False."""

    def __init__(self, agent: Agent, steps: int | None, callback: Callback | None) -> None:
        self._agent = agent
        self._left = math.inf if steps is None else steps
        self._callback = callback

    def proceed(self) -> bool:
        return self._left > 0

    def step(self, transition: Transition) -> None:
        self._left -= 1
        if self._callback is not None and self._callback(self._agent, transition) is False:
            self._left = 0
