"""The display: keeps an environment's episode for the render modes that need more than a line of text."""

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
    """An episode and its output.

    A copy, including a pickled one, keeps the episode but shows nothing before its next episode begins. Otherwise two
    searches would draw on one terminal.

    Args:
        mode: "human" shows every step on the terminal, "rgb_array" draws a picture on request, "episode" only keeps the
            episode.

    Attributes:
        episode: the episode so far; None before the first.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.episode: Episode | None = None
        self._terminal: Terminal | None = None

    def begin(self, episode: Episode) -> None:
        """Start a new episode."""
        self.episode = episode
        if self.mode == "human":
            from fitgym.rendering.terminal import Terminal

            self._terminal = self._terminal or Terminal()
            self._terminal.show(episode)

    def follow(self, step: Step, runs: Mapping[int, int] | None = None, ended: str = "") -> None:
        """Add a step to the episode, see `Episode.then`; do nothing if no episode has begun."""
        if self.episode is None:
            return
        self.episode = self.episode.then(step, runs, ended)
        if self._terminal is not None:
            self._terminal.show(self.episode)

    def view(self) -> NDArray[np.uint8] | Episode | None:
        """Return the result of `render` after `reset`: a picture for "rgb_array", the value for "episode"."""
        if self.mode == "episode":
            return self.episode
        if self.mode != "rgb_array" or self.episode is None:
            return None
        from fitgym.rendering.picture import picture

        return picture(self.episode)

    def close(self) -> None:
        """Release the terminal; a second call does nothing."""
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_terminal": None}


def display(mode: str | None) -> Display | None:
    """Return the display of a render mode; None for modes that need none.

    Raises:
        UnknownName: there is no such mode.
        InputError: the mode needs a library that is not installed.
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
