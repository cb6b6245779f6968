"""Features: what can be seen of a running search, as named numbers in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fitgym.engine import Engine
from fitgym.errors import UnknownName

__all__ = ["FEATURE_SETS", "FeatureSet", "Moment"]


@dataclass(frozen=True, slots=True)
class Moment:
    """What an environment knows beside the engine when it observes.

    Attributes:
        remaining: share of the budget that is left, in [0, 1]; 1.0 where the budget is not countable.
        value: of the goal now.
        scale: the value at which its feature is one half (`Goal.scale`).
        gains: of the goal over the last steps, newest first.
        stagnation: steps since the goal's value last rose.
        action: index of the last action, -1 before the first.
        n_actions: size of the catalogue.
    """

    remaining: float = 1.0
    value: float = 0.0
    scale: float = 1.0
    gains: tuple[float, ...] = ()
    stagnation: int = 0
    action: int = -1
    n_actions: int = 1


def _squash(x: float, half: float) -> float:
    """x / (x + half): 0 at 0, one half at `half`, below 1 for ever."""
    return x / (x + half)


def _names_paper(functions: Sequence[str]) -> list[str]:
    return [*(f"active_{name}" for name in functions), "fitness", "suite_size", "coverage"]


def _paper(engine: Engine, functions: Sequence[str], moment: Moment) -> list[float]:
    best = engine.best
    active = engine.active
    return [
        *(1.0 if name in active else 0.0 for name in functions),
        sum([engine.fitness_of(name, best) for name in active]) / len(active),
        _squash(len(best), 20.0),
        sum([_coverage(engine, name) for name in active]) / len(active),
    ]


def _coverage(engine: Engine, name: str) -> float:
    """The share of a function's targets that is covered, 0.0 where it has none or is not measured."""
    if not engine.measures(name):
        return 0.0
    covered = engine.covered(name)
    return np.count_nonzero(covered) / covered.size if covered.size else 0.0


def _names_full(functions: Sequence[str]) -> list[str]:
    return [
        *_names_paper(functions),
        *(f"fitness_{name}" for name in functions),
        *(f"coverage_{name}" for name in functions),
        "goal",
        *(f"gain_{k}" for k in (1, 2, 3)),
        "stagnation",
        "remaining_budget",
        "last_action",
    ]


def _full(engine: Engine, functions: Sequence[str], moment: Moment) -> list[float]:
    best = engine.best
    # A function that is not active now is not measured for the sake of a feature: its probes may be off.
    fitness = [engine.fitness_of(name, best) if name in engine.active else 1.0 for name in functions]
    gains = [*moment.gains, 0.0, 0.0, 0.0][:3]
    return [
        *_paper(engine, functions, moment),
        *fitness,
        *(_coverage(engine, name) for name in functions),
        _squash(moment.value, moment.scale),
        *(_squash(max(0.0, gain), 1.0) for gain in gains),
        _squash(float(moment.stagnation), 10.0),
        moment.remaining,
        (moment.action + 1) / moment.n_actions,
    ]


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """A versioned list of features: what a policy was trained on must not change under its name.

    Attributes:
        name: for example "paper-v1".
        names: the feature names, given the fitness functions of the goal.
        values: the numbers, in the same order.
    """

    name: str
    names: Callable[[Sequence[str]], list[str]]
    values: Callable[[Engine, Sequence[str], Moment], list[float]]

    def observe(self, engine: Engine, functions: Sequence[str], moment: Moment) -> NDArray[np.float32]:
        """A fresh vector of shape `(len(names),)`, every entry in [0, 1]."""
        return np.clip(np.array(self.values(engine, functions, moment), dtype=np.float32), 0.0, 1.0)

    @staticmethod
    def load(name: str) -> FeatureSet:
        """The feature set of that name.

        Raises:
            UnknownName: there is none.
        """
        for features in FEATURE_SETS:
            if features.name == name:
                return features
        raise UnknownName("feature set", name, [features.name for features in FEATURE_SETS])


FEATURE_SETS = (
    # Almulla and Gay 2022, section on DSG-Sarsa: the current set of fitness functions, its fitness value, the size of
    # the suite and the coverage of the sub-goals of the active functions.
    FeatureSet("paper-v1", _names_paper, _paper),
    FeatureSet("full-v1", _names_full, _full),
)
