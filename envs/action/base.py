"""The base classes of actions: an action is a change to the engine, with a name and a JSON form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.engine import Engine
from fitgym.errors import InputError, UnknownName

__all__ = ["Action", "ActionSpace", "Floats", "Listed", "Numbers", "index_of"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Action(ABC):
    """A change to the engine, defined by the subclass.

    Attributes:
        name: the name in records and tables.
        index: the index of the action in its list, for the feature `last_action`.
        recorded: the JSON form: a name, or the numbers of a continuous action.
    """

    name: str
    index: int = 0
    recorded: str | tuple[float, ...] = ""

    @abstractmethod
    def apply(self, engine: Engine) -> None:
        """Change the engine; the change takes effect from the next generation."""

    @property
    def label(self) -> str:
        """The name for displays; "as before" for an action that changes nothing."""
        return self.name or "as before"

    def describe(self, parts: Sequence[str]) -> tuple[float, ...]:
        """Describe the action by a number in [0, 1] for each part.

        For an action from a list, the number is 1 at its own name and 0 elsewhere.

        Args:
            parts: names of the numbers, see `fitgym.envs.features.base.View`.
        """
        return tuple(float(part == self.name) for part in parts)

    def to_json(self) -> Any:
        """Return the JSON form, which `ActionSpace.raw` turns back into the same element of the space."""
        return self.recorded if isinstance(self.recorded, str) else list(self.recorded)


class ActionSpace(ABC):
    """A Gymnasium space that maps its elements to actions.

    Attributes:
        space: the Gymnasium space of the actions.
        names: names of the actions, or of the components of one action.
        title: a description of the choices, such as "paper of exceptions"; saved policies are valid only for the same
            title.
        size: number of actions, or of components, for the feature `last_action`.
        functions: the fitness functions that an action may activate.
    """

    space: spaces.Space[Any]
    names: list[str]
    title: str = ""
    functions: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return len(self.names)

    @abstractmethod
    def read(self, raw: Any) -> Action:
        """Return the action that an element of the space represents.

        Raises:
            ValueError: `raw` is not in the space.
        """

    @abstractmethod
    def raw(self, recorded: Any) -> Any:
        """Return the element of the space for a recorded action; the inverse of `read(...).to_json()`.

        Raises:
            InputError: the space has no such action.
        """

    def mask(self) -> NDArray[np.bool_]:
        """The mask of allowed actions, in the shape that sb3-contrib expects for the space; all are allowed."""
        return np.ones(len(self.names), dtype=bool)


class Listed(ActionSpace):
    """`Discrete(n)`: the index of an action in a list.

    Args:
        actions: the actions in order; their names must differ.
        title: see `ActionSpace`.
        functions: the fitness functions that the actions may activate.
    """

    def __init__(self, actions: Sequence[Action], title: str, functions: Sequence[str] = ()) -> None:
        self.actions = list(actions)
        self.names = [action.name for action in actions]
        self.title = title
        self.functions = tuple(functions)
        self.space = spaces.Discrete(len(self.actions))

    def read(self, raw: Any) -> Action:
        index = int(raw)
        if not 0 <= index < len(self.actions):
            raise ValueError(f"action {index} is not in the catalogue of {len(self.actions)} actions")
        return self.actions[index]

    def raw(self, recorded: Any) -> np.int64:
        return index_of(recorded, self.names)


class Numbers(ActionSpace):
    """`Box(-1, 1, (n,))`: one number per name. The symmetric interval suits agents with normal distributions."""

    def __init__(self, names: Sequence[str], title: str, functions: Sequence[str] = ()) -> None:
        self.names = list(names)
        self.title = title
        self.functions = tuple(functions)
        self.space = spaces.Box(-1.0, 1.0, (len(self.names),), np.float32)

    def raw(self, recorded: Any) -> Floats:
        try:
            return self.numbers(recorded)
        except (TypeError, ValueError):
            raise InputError(
                f"action {recorded!r} cannot be repeated: expected {len(self.names)} numbers between -1 and 1"
            ) from None

    def numbers(self, raw: Any) -> Floats:
        """Check and convert the numbers of an element.

        Raises:
            ValueError: there are too few or too many numbers, or one is out of range.
        """
        x = np.asarray(raw, np.float32)
        if x.shape != (len(self.names),) or not (np.abs(x) <= 1.0).all():
            raise ValueError(f"action {raw} is not {len(self.names)} numbers between -1 and 1")
        return x


def index_of(recorded: Any, names: Sequence[str]) -> np.int64:
    """Return the index of a recorded name.

    Raises:
        UnknownName: no action has this name.
    """
    if recorded not in names:
        raise UnknownName("action", str(recorded), list(names))
    return np.int64(list(names).index(recorded))
