"""What an action is: a change to the engine, with a name and a JSON form."""

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
    """One change to the engine. A subclass says which.

    Attributes:
        name: as records and tables show the action.
        index: of the action in its list, for the feature `last_action`.
        recorded: the JSON form: a name, or the numbers of a continuous action.
    """

    name: str
    index: int = 0
    recorded: str | tuple[float, ...] = ""

    @abstractmethod
    def apply(self, engine: Engine) -> None:
        """Change the engine; the next generations follow the change."""

    @property
    def label(self) -> str:
        """The name as displays show it; "as before" for an action that changes nothing."""
        return self.name or "as before"

    def describe(self, parts: Sequence[str]) -> tuple[float, ...]:
        """A number in [0, 1] for each part; for an action from a list 1 at its own name, 0 at the others.

        Args:
            parts: names of the numbers, see `fitgym.envs.features.base.View`.
        """
        return tuple(float(part == self.name) for part in parts)

    def to_json(self) -> Any:
        """The JSON form, from which `ActionSpace.raw` makes the same element of the space."""
        return self.recorded if isinstance(self.recorded, str) else list(self.recorded)


class ActionSpace(ABC):
    """A Gymnasium space with the meaning of its elements.

    Attributes:
        space: of the actions.
        names: of the actions, or of the components of one.
        title: what the agent chooses from, such as "paper of exceptions"; saved policies are bound to it.
        size: number of actions, or of components, for the feature `last_action`.
        functions: fitness functions that an action may activate.
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
        """The action that an element of the space stands for.

        Raises:
            ValueError: `raw` is not in the space.
        """

    @abstractmethod
    def raw(self, recorded: Any) -> Any:
        """The element of the space that a recorded action names; inverse of `read(...).to_json()`.

        Raises:
            InputError: the space has no such action.
        """

    def mask(self) -> NDArray[np.bool_]:
        """Which actions are allowed, all of them, in the shape that sb3-contrib expects for the space."""
        return np.ones(len(self.names), dtype=bool)


class Listed(ActionSpace):
    """`Discrete(n)`: the index of an action in a list.

    Args:
        actions: in order, each with its own name.
        title: see `ActionSpace`.
        functions: fitness functions that they may activate.
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
    """`Box(-1, 1, (n,))`: a number for each name. The interval suits algorithms with normal distributions."""

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
        """The numbers of an element.

        Raises:
            ValueError: they are too few, too many or out of range.
        """
        x = np.asarray(raw, np.float32)
        if x.shape != (len(self.names),) or not (np.abs(x) <= 1.0).all():
            raise ValueError(f"action {raw} is not {len(self.names)} numbers between -1 and 1")
        return x


def index_of(recorded: Any, names: Sequence[str]) -> np.int64:
    """The index of a recorded name.

    Raises:
        UnknownName: no action has it.
    """
    if recorded not in names:
        raise UnknownName("action", str(recorded), list(names))
    return np.int64(list(names).index(recorded))
