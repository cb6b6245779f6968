"""Exercises: a reader's answer is checked, and the reply is a sentence, whatever the answer does."""

from __future__ import annotations

import dis
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Final

from fitgym.course.box import Box

__all__ = ["RESULT", "Feedback", "exercise"]

RESULT: Final = "application/vnd.fitgym.exercise+json"
"""The kind of output in which a notebook keeps the result of an exercise for a grader."""


@dataclass(frozen=True)
class Feedback:
    """The reply to an answer.

    Attributes:
        name: of the exercise.
        passed: None if the reader has not tried yet.
        sentence: what is wrong, or how to try; empty if the answer is right.
        hint: is shown on request while the answer is not right.
    """

    name: str
    passed: bool | None
    sentence: str = ""
    hint: str = ""

    def _box(self) -> Box:
        if self.passed is None:
            return Box("neutral", f"{self.name}: not tried yet", (self.sentence,), self.hint)
        if self.passed:
            return Box("right", f"{self.name}: right")
        return Box("wrong", f"{self.name}: not yet", (self.sentence,), self.hint)

    def __repr__(self) -> str:
        return repr(self._box())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        result = {"name": self.name, "passed": self.passed, "sentence": self.sentence}
        return {"text/plain": repr(self), "text/html": self._box()._repr_html_(), RESULT: result}


def exercise(name: str, answer: object, check: Callable[[Any], str | None], *, hint: str = "") -> Feedback:
    """Check the answer of a reader.

    Args:
        name: of the exercise, which is also the name of the variable that holds the answer.
        answer: a value or a function; `...`, None and a function without a body mean that the reader has not tried yet.
        check: returns None or "" if the answer is right, otherwise a sentence that says what is wrong. What it raises
            is put down to the answer.
        hint: for a reader whose answer is not right yet.

    Raises:
        TypeError: the check returned neither None nor text, which is a mistake in the lesson.
        AssertionError: the answer is not right and nbgrader runs the notebook; it gives points where nothing is raised.
    """
    feedback = _feedback(name, answer, check, hint)
    if not feedback.passed and os.environ.get("NBGRADER_EXECUTION") in ("autograde", "validate"):
        raise AssertionError(repr(feedback))
    return feedback


def _feedback(name: str, answer: object, check: Callable[[Any], str | None], hint: str) -> Feedback:
    if answer is None or answer is ... or _is_empty(answer):
        place = f"the body of `{name}`" if isinstance(answer, FunctionType) else f"your answer in `{name} = ...`"
        return Feedback(name, None, f"Write {place} above, in place of `...`. Then run both cells.", hint)
    try:
        wrong = check(answer)
    except (Exception, SystemExit) as error:
        return Feedback(name, False, _message(answer, error), hint)
    if wrong is not None and not isinstance(wrong, str):
        raise TypeError(
            f"the check of '{name}' returned {wrong!r}, expected None or a sentence that says what is wrong"
        )
    return Feedback(name, not wrong, wrong or "", hint)


def _is_empty(answer: object) -> bool:
    """Whether the answer is a function whose body does nothing: `...`, `pass` or a docstring."""
    if not isinstance(answer, FunctionType):
        return False
    for step in dis.get_instructions(answer):
        if step.opname not in ("RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"):
            return False
        if "CONST" in step.opname and step.argval is not None:
            return False
    return True


def _message(answer: object, error: BaseException) -> str:
    """An exception as a sentence, with the reader's own line if it was raised there."""
    raised = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if isinstance(answer, FunctionType):
        own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == answer.__code__.co_filename]
        where = f", in `{own[-1].line}`" if own and own[-1].line else ""
        return f"Your function raised `{raised}`{where}."
    text = repr(answer)
    return f"`{text if len(text) < 60 else text[:57] + '...'}` cannot be checked: `{raised}`. Is it the right kind of value?"
