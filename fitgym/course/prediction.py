"""Predictions: what a reader expects before the run, drawn into the figure and compared with the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, Literal

from fitgym.course.box import Box, shown

__all__ = ["Prediction", "predict"]

COLOUR: Final = "#CC79A7"
"""Of the reader's line in a figure; no agent has it."""


@dataclass(frozen=True)
class Prediction:
    """What a reader expects.

    Attributes:
        question: what was asked.
        guess: a number or one of the choices; None if the reader gave none that can be used.
        unit: of the number.
        choices: what the reader may choose from; without them the answer is a number.
        problem: why the guess cannot be used, a sentence; empty if it can, and if there is none.
    """

    question: str
    guess: float | str | None
    unit: str = ""
    choices: tuple[str, ...] = ()
    problem: str = ""

    def draw(self, ax: Any, *, axis: Literal["x", "y"] = "y") -> None:
        """Draw the guess into axes of Matplotlib as a dashed line with the label "your prediction".

        Without a guess, nothing is drawn. A choice is drawn at the tick that has its name.

        Args:
            ax: the axes.
            axis: the one that the guess belongs to; "y" gives a horizontal line.
        """
        if self.guess is None:
            return
        at: float = self.guess if not isinstance(self.guess, str) else _tick(ax, axis, self.guess)
        line = ax.axhline if axis == "y" else ax.axvline
        line(at, color=COLOUR, linestyle="--", linewidth=2, label="your prediction")

    def compare(self, actual: float | str, *, tolerance: float = 0.1) -> Box:
        """Say how near the guess is to the result.

        Args:
            actual: the result, a number or one of the choices.
            tolerance: a number that differs by no more than this share of the result is right.
        """
        if self.guess is None:
            return Box("neutral", self.problem or "You made no prediction. Write one above and run the lesson again.")
        result = f"You predicted {shown(self.guess, self.unit)}, it is {shown(actual, self.unit)}"
        if isinstance(self.guess, str) or isinstance(actual, str):
            right = self.guess == actual
            return Box("right", f"{result}: right.") if right else Box("wrong", f"{result}. What made the difference?")
        away = self.guess - actual
        if abs(away) <= tolerance * abs(actual):
            return Box("right", f"{result}: close.")
        return Box("wrong", f"{result}: your prediction is too {'high' if away > 0 else 'low'}.")

    def _box(self) -> Box:
        if self.problem:
            return Box("wrong", self.question, (self.problem,))
        if self.guess is None:
            choices = f": one of {_listed(self.choices)}" if self.choices else ""
            return Box("neutral", self.question, (f"Write your prediction in place of `None`{choices}.",))
        return Box("neutral", self.question, (f"Your prediction: {shown(self.guess, self.unit)}",))

    def __repr__(self) -> str:
        return repr(self._box())

    def _repr_html_(self) -> str:
        return self._box()._repr_html_()


def predict(question: str, guess: object, *, unit: str = "", choices: Sequence[str] = ()) -> Prediction:
    """Ask for a prediction; the reader writes it in place of `None`.

    A guess that cannot be used is answered with a sentence, not with an exception.

    Args:
        question: what will come out?
        guess: a number or, if there are choices, one of them; None means that the reader has not answered yet.
        unit: of the number, such as "%".
        choices: the possible answers, if the answer is no number.
    """
    problem = ""
    if guess is None or guess is ...:
        guess = None
    elif choices and guess not in choices:
        problem = f"`{guess!r}` is none of the choices: write {_listed(choices)}."
    elif not choices and (not isinstance(guess, Real) or isinstance(guess, bool)):
        problem = f"`{guess!r}` is no number: write one such as `0.5`."
    elif not choices:
        guess = float(guess) if not isinstance(guess, int) else guess  # type: ignore[arg-type]
    return Prediction(question, None if problem else guess, unit, tuple(choices), problem)  # type: ignore[arg-type]


def _listed(choices: Sequence[str]) -> str:
    quoted = [f'`"{choice}"`' for choice in choices]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _tick(ax: Any, axis: str, name: str) -> float:
    """Where the tick with a name is; the place of the first one if no tick has it."""
    which = ax.yaxis if axis == "y" else ax.xaxis
    named = {label.get_text(): at for label, at in zip(which.get_ticklabels(), which.get_ticklocs(), strict=False)}
    return float(named.get(name, 0.0))
