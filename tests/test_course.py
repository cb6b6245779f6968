"""Predictions, exercises and quizzes answer any input with a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fitgym.course import Question, exercise, predict, quiz
from fitgym.course.feedback import RESULT


def below_ten(answer: Any) -> str | None:
    return None if answer < 10 else f"{answer} is not below 10."


def test_a_prediction_that_is_not_made_draws_nothing_and_asks_for_one() -> None:
    prediction = predict("How many?", None)
    prediction.draw(None)
    assert prediction.guess is None
    assert "Write your prediction in place of `None`." in repr(prediction)
    assert "You made no prediction. Write one above and run the lesson again." in repr(prediction.compare(3))


@pytest.mark.parametrize(
    ("guess", "actual", "expected"),
    [
        (0.6, 0.42, "→ You predicted 0.6 s, it is 0.42 s: your prediction is too high."),
        (1, 2, "→ You predicted 1 s, it is 2 s: your prediction is too low."),
        (40, np.float64(42.0), "✓ You predicted 40 s, it is 42 s: close."),
        (np.int64(1500), 1500.4, "✓ You predicted 1500 s, it is 1500 s: close."),
        (0, 0, "✓ You predicted 0 s, it is 0 s: close."),
    ],
)
def test_a_number_is_compared_with_the_result(guess: Any, actual: Any, expected: str) -> None:
    assert repr(predict("How long?", guess, unit="s").compare(actual)) == expected


def test_a_choice_is_compared_with_the_result() -> None:
    prediction = predict("Which?", "ucb", choices=("ucb", "uniform"))
    assert repr(prediction.compare("ucb")) == "✓ You predicted ucb, it is ucb: right."
    assert repr(prediction.compare("uniform")).startswith("→ You predicted ucb, it is uniform.")


@pytest.mark.parametrize(
    ("guess", "choices", "expected"),
    [
        ("much", (), "`'much'` is no number: write one such as `0.5`."),
        (True, (), "`True` is no number"),
        ("UCB", ("ucb", "uniform"), '`\'UCB\'` is none of the choices: write `"ucb"` or `"uniform"`.'),
        ([1], ("ucb", "uniform"), "`[1]` is none of the choices"),
    ],
)
def test_a_guess_that_cannot_be_used_is_answered_with_a_sentence(guess: Any, choices: Any, expected: str) -> None:
    prediction = predict("What?", guess, choices=choices)
    assert prediction.guess is None
    assert expected in repr(prediction) and expected in repr(prediction.compare(1))


def test_a_prediction_is_drawn_as_a_labelled_line_on_its_axis() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    ax.bar(["ucb", "uniform"], [1, 2])
    predict("How much?", 0.5).draw(ax)
    predict("Which?", "uniform", choices=("ucb", "uniform")).draw(ax, axis="x")
    level, place = ax.lines
    assert level.get_ydata() == [0.5, 0.5] and place.get_xdata() == [1.0, 1.0]
    assert {line.get_label() for line in ax.lines} == {"your prediction"}


def test_an_answer_is_right_wrong_or_not_tried() -> None:
    assert exercise("small", 9, below_ten).passed is True
    assert exercise("small", 10, below_ten).passed is False
    assert exercise("small", ..., below_ten).passed is None
    assert exercise("small", None, below_ten).passed is None


def test_a_function_without_a_body_is_not_tried() -> None:
    def stub(x: int) -> int: ...  # type: ignore[empty-body]

    def described(x: int) -> int:  # type: ignore[empty-body]
        """Double x."""

    def passing(x: int) -> None:
        pass

    def one(x: int) -> int:
        return 1

    found = [exercise("double", answer, lambda answer: "").passed for answer in (stub, described, passing, one)]
    assert found == [None, None, None, True]


def test_a_wrong_answer_gets_a_sentence_and_a_hint_but_a_right_one_does_not() -> None:
    wrong, right = (exercise("small", answer, below_ten, hint="Count.") for answer in (12, 3))
    assert repr(wrong) == "→ small: not yet\n  12 is not below 10.\n  Hint: Count."
    assert repr(right) == "✓ small: right"


def test_what_a_readers_function_raises_becomes_a_sentence_with_its_line() -> None:
    def halve(x: int) -> float:
        return x / 0

    feedback = exercise("halve", halve, lambda answer: None if answer(4) == 2 else "4 becomes 2.")
    assert feedback.passed is False
    assert feedback.sentence == "Your function raised `ZeroDivisionError: division by zero`, in `return x / 0`."


@pytest.mark.parametrize("answer", ["nine", [1, 2], object])
def test_an_answer_of_the_wrong_kind_gets_a_sentence(answer: Any) -> None:
    feedback = exercise("small", answer, below_ten)
    assert feedback.passed is False
    assert "cannot be checked: `TypeError" in feedback.sentence


def test_an_answer_that_leaves_the_interpreter_or_recurses_gets_a_sentence() -> None:
    def leave() -> None:
        raise SystemExit(1)

    def forever() -> Any:
        return forever()

    assert "SystemExit" in exercise("leave", leave, lambda answer: answer()).sentence
    assert "RecursionError" in exercise("forever", forever, lambda answer: answer()).sentence


def test_a_check_that_returns_no_sentence_is_a_mistake_of_the_lesson() -> None:
    with pytest.raises(TypeError, match="the check of 'small' returned True, expected None or a sentence"):
        exercise("small", 1, lambda answer: True)  # type: ignore[arg-type,return-value]


def test_a_notebook_keeps_the_result_for_a_grader() -> None:
    bundle = exercise("small", 10, below_ten)._repr_mimebundle_()
    assert bundle[RESULT] == {"name": "small", "passed": False, "sentence": "10 is not below 10."}
    assert "<strong>→ small: not yet</strong>" in bundle["text/html"]


def test_what_a_reader_wrote_is_no_markup() -> None:
    shown = predict("Is `a < b`?", "<b>x</b>")._repr_html_()
    assert "<code>a &lt; b</code>" in shown and "<b>x</b>" not in shown


def test_a_quiz_numbers_its_questions_and_folds_the_answers() -> None:
    asked = quiz(
        Question("What is 1 + 1?", ("1", "2"), 1, "One more than one."),
        Question("Which is even?", ("3", "4"), "4", "It is 2 times 2."),
    )
    shown = asked._repr_html_()
    assert shown.count("<details><summary>Answer</summary>") == 2
    assert "<strong>B: 2.</strong> One more than one." in shown
    assert repr(asked).splitlines()[:3] == ["1. What is 1 + 1?", "   A: 1", "   B: 2"]
    assert repr(asked).splitlines()[-1] == "2. B: 4. It is 2 times 2."


@pytest.mark.parametrize("right", [2, -1, "3"])
def test_a_right_answer_that_is_no_option_is_refused(right: Any) -> None:
    with pytest.raises(ValueError, match="is no option"):
        Question("What is 1 + 1?", ("1", "2"), right, "")


@pytest.mark.parametrize("answer", [10, ...])
def test_nbgrader_gets_an_error_for_an_answer_that_is_not_right(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert exercise("small", 9, below_ten).passed
    with pytest.raises(AssertionError, match="small: not"):
        exercise("small", answer, below_ten)


def test_an_exercise_that_was_not_tried_says_where_to_write() -> None:
    def halve(x: int) -> float: ...  # type: ignore[empty-body]

    assert "Write your answer in `small = ...` above, in place of `...`." in repr(exercise("small", ..., below_ten))
    assert "Write the body of `halve` above, in place of `...`." in repr(exercise("halve", halve, below_ten))
