"""What the lessons are made of: predictions, exercises and quizzes that answer a reader in plain sentences.

    from fitgym.course import Question, exercise, predict, quiz

Everything shows itself in a notebook as HTML, and in a terminal as text.
"""

from fitgym.course.feedback import Feedback, exercise
from fitgym.course.prediction import Prediction, predict
from fitgym.course.questions import Question, Quiz, quiz

__all__ = ["Feedback", "Prediction", "Question", "Quiz", "exercise", "predict", "quiz"]
