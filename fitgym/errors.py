"""Exceptions that fitgym raises on purpose.

    FitgymError
    ├── InputError            the request cannot be met; the command line exits with 2
    │   ├── UnknownName       an extension, catalogue or format does not exist
    │   ├── SubjectError      the module or class under test cannot be used
    │   └── BudgetError       a budget cannot be parsed
    ├── ExecutionError        the worker process keeps dying
    ├── OutOfBudget           the budget was used up before the work was done
    └── ResetNeeded           an environment was stepped after the end of its episode

A failure *inside* the code under test is data (a field of its trace), never one of these errors.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "BudgetError",
    "ExecutionError",
    "FitgymError",
    "InputError",
    "OutOfBudget",
    "ResetNeeded",
    "SubjectError",
    "UnknownName",
    "printable",
]


def printable(text: str) -> str:
    """Return the text on one line, with control characters escaped as in Python."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


class FitgymError(Exception):
    """Base class of all errors that fitgym raises on purpose."""


class InputError(FitgymError):
    """The request cannot be met; the message names the value, what was expected and what to do.

    The message is one line: line ends and control characters of a quoted value are escaped as in Python.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


class UnknownName(InputError):
    """A name that is not registered; the message suggests the closest known name and lists all of them.

    Args:
        noun: the kind of thing that was looked up, for example "fitness function".
        name: the unknown name.
        known: all accepted names.
    """

    def __init__(self, noun: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        super().__init__(f"no {noun} named '{name}'{hint} (there are: {', '.join(names)})")
        self.noun = noun
        self.name = name
        self.known = names

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, str, list[str]]]:
        """Pickle by the constructor arguments: the message alone is not enough to rebuild the error."""
        return (UnknownName, (self.noun, self.name, self.known))


class SubjectError(InputError):
    """The subject does not exist, cannot be read, cannot be imported or has nothing to test."""


class BudgetError(InputError):
    """A budget that is not a positive number followed by `s`, `x` or `g`."""


class ExecutionError(FitgymError):
    """The worker process died repeatedly, and no test case caused it."""


class OutOfBudget(FitgymError):
    """Time or executions were used up before the work was done; finished work is kept.

    Attributes:
        done: set by an executor that ran test cases: the result of each, None for each test case that did not run.
    """

    done: Sequence[Any] = ()


class ResetNeeded(FitgymError):
    """`step` was called on an environment whose episode has ended: call `reset` first."""
