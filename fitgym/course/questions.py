"""Quizzes: questions with options; the answer and the reason are shown on request."""

from __future__ import annotations

from dataclasses import dataclass

from fitgym.course.box import inline

__all__ = ["Question", "Quiz", "quiz"]

LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Question:
    """A question with options, one of which is right.

    Args:
        text: the question.
        options: from two to eight.
        right: the number of the right option, from 0, or the option itself.
        why: a sentence that explains the answer.

    Raises:
        ValueError: there are too few or too many options, or `right` is none of them.
    """

    text: str
    options: tuple[str, ...]
    right: int | str
    why: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", tuple(self.options))
        if not 2 <= len(self.options) <= len(LETTERS):
            raise ValueError(
                f"the question '{self.text}' has {len(self.options)} options, expected 2 to {len(LETTERS)}"
            )
        if self.right not in (self.options if isinstance(self.right, str) else range(len(self.options))):
            raise ValueError(f"the right answer {self.right!r} of '{self.text}' is no option: {self.options}")

    @property
    def answer(self) -> str:
        """The right option with its letter, such as "B: 0.5"."""
        at = self.options.index(self.right) if isinstance(self.right, str) else self.right
        return f"{LETTERS[at]}: {self.options[at]}"


@dataclass(frozen=True)
class Quiz:
    """Questions, which a notebook shows as a numbered list with answers that fold out.

    Args:
        questions: one or more.
    """

    questions: tuple[Question, ...]

    def __repr__(self) -> str:
        lines = []
        for number, question in enumerate(self.questions, 1):
            lines.append(f"{number}. {question.text}")
            lines += [f"   {letter}: {option}" for letter, option in zip(LETTERS, question.options, strict=False)]
        lines.append("Answers:")
        lines += [f"{number}. {question.answer}. {question.why}" for number, question in enumerate(self.questions, 1)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f'<ol class="lesson-quiz">{"".join(map(_item, self.questions))}</ol>'


def quiz(*questions: Question) -> Quiz:
    """Ask questions about a lesson.

    Args:
        questions: three to five are a good number.
    """
    return Quiz(questions)


def _item(question: Question) -> str:
    options = "".join(f"<li>{inline(option)}</li>" for option in question.options)
    answer = f"<details><summary>Answer</summary><strong>{inline(question.answer)}.</strong> {inline(question.why)}</details>"
    return f'<li><div>{inline(question.text)}</div><ol type="A">{options}</ol>{answer}</li>'
