"""The display: keeps what an environment shows of its episode, for the render modes that need more than a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError, UnknownName
from fitgym.rendering.episode import Episode, Step

if TYPE_CHECKING:
    from fitgym.rendering.terminal import Terminal

__all__ = ["MODES", "Display", "display"]

MODES = ("ansi", "human", "rgb_array", "episode")


class Display:
    """An episode, and what it is shown on.

    A copy, also one that was pickled, has the episode but shows nothing before its own next one begins: two searches
    on one terminal would be none that can be read.

    Args:
        mode: "human" shows every step on the terminal, "rgb_array" draws a picture on request, "episode" only keeps the
            episode.

    Attributes:
        episode: so far, None before the first.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.episode: Episode | None = None
        self._terminal: Terminal | None = None

    def begin(self, episode: Episode) -> None:
        """Go over to another episode."""
        self.episode = episode
        if self.mode == "human":
            from fitgym.rendering.terminal import Terminal

            self._terminal = self._terminal or Terminal()
            self._terminal.show(episode)

    def follow(self, step: Step, runs: Mapping[int, int] | None = None, ended: str = "") -> None:
        """Go on with the episode by a step, see `Episode.then`; nothing where none has begun."""
        if self.episode is None:
            return
        self.episode = self.episode.then(step, runs, ended)
        if self._terminal is not None:
            self._terminal.show(self.episode)

    def view(self) -> NDArray[np.uint8] | Episode | None:
        """What `render` returns once an episode has begun: a picture for "rgb_array", the value for "episode"."""
        if self.mode == "episode":
            return self.episode
        if self.mode != "rgb_array" or self.episode is None:
            return None
        from fitgym.rendering.picture import picture

        return picture(self.episode)

    def close(self) -> None:
        """Give the terminal back; harmless when called twice."""
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_terminal": None}


def display(mode: str | None) -> Display | None:
    """The display of a render mode; None for those that need none.

    Raises:
        UnknownName: there is no such mode.
        InputError: it needs a library that is not installed.
    """
    if mode is None or mode == "ansi":
        return None
    if mode not in MODES:
        raise UnknownName("render mode", mode, MODES)
    if mode == "rgb_array":
        try:
            import fitgym.rendering.picture  # noqa: F401
        except ModuleNotFoundError as problem:
            raise InputError(f"render mode '{mode}' needs {problem.name}: pip install 'fitgym[render]'") from None
    return Display(mode)
