"""Actions that switch the search algorithm; the fitness functions stay the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fitgym.engine import Engine
from fitgym.envs.action.base import Action, Listed

__all__ = ["Use", "algorithms"]


@dataclass(frozen=True, kw_only=True)
class Use(Action):
    """Switches to a search algorithm, named with its options: mosa:crossover=0.5."""

    def apply(self, engine: Engine) -> None:
        engine.use(self.name)


def algorithms(searches: Sequence[str]) -> Listed:
    """Return the `Discrete` space over several search algorithms."""
    actions = [Use(name=name, recorded=name, index=index) for index, name in enumerate(searches)]
    return Listed(actions, f"algorithms {', '.join(searches)}")
