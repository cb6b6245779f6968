"""Discovery: an exception of the subject that a search has found."""

from __future__ import annotations

from dataclasses import dataclass

from fitgym.subject.subject import Subject
from fitgym.testcase.statement import TestCase

__all__ = ["Discovery", "function_name"]


@dataclass(frozen=True, slots=True)
class Discovery:
    """An exception that the search has discovered.

    Attributes:
        type: name of its class, with its module unless the class is a builtin.
        function: qualified name of the innermost function of the subject on its traceback.
        kind: "declared", "explicit" or "implicit".
        testcase: the shortest known test case that raises it.
    """

    type: str
    function: str
    kind: str
    testcase: TestCase


def function_name(subject: Subject, function: int) -> str:
    """Return the name of the subject's function with this number; "" for -1, which is no function of the subject."""
    return subject.functions[function].name if function >= 0 else ""
