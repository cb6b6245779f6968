"""Every error that fitgym raises on purpose.

    FitgymError
    ├── InputError            what the user asked for cannot be done; the command line exits with 2
    │   ├── UnknownName       an extension, catalogue or format that does not exist
    │   ├── SubjectError      the module or class under test cannot be used
    │   └── BudgetError       a budget that cannot be read
    ├── ExecutionError        the worker process cannot be kept alive
    ├── OutOfBudget           the budget was used up before the work was done
    └── ResetNeeded           an environment was stepped after its episode had ended

A failure *inside* the code under test is data (a field of its trace), never one of these.
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
]


class FitgymError(Exception):
    """The root of the tree: catch this to catch everything that fitgym raises on purpose."""


class InputError(FitgymError):
    """The request cannot be met; the message names the value, what was expected and what to do."""


class UnknownName(InputError):
    """A name that is not registered; the message offers the nearest known one and lists them all.

    Args:
        noun: what was looked for, for example "fitness function".
        name: the name that was given.
        known: every name that would have been accepted.
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
        """Pickle by the arguments, because the message alone does not rebuild them."""
        return (UnknownName, (self.noun, self.name, self.known))


class SubjectError(InputError):
    """The subject does not exist, cannot be read, cannot be imported or offers nothing to test."""


class BudgetError(InputError):
    """A budget that is not a positive number followed by `s`, `x` or `g`."""


class ExecutionError(FitgymError):
    """The worker process died again and again without a test case to blame."""


class OutOfBudget(FitgymError):
    """Time or executions were used up before the work was done; what was done before is kept.

    Attributes:
        done: of an executor that ran test cases, the result of each, None where it did not run.
    """

    done: Sequence[Any] = ()


class ResetNeeded(FitgymError):
    """`step` was called on an environment whose episode has ended: call `reset` first."""
