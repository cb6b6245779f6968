"""Traces: the records of one execution of one test case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from fitgym.immutable import immutable

__all__ = ["Call", "Failure", "Infected", "Raised", "Reached", "Stop", "Trace"]

Failure = Literal["", "fuel", "timeout", "memory", "crash", "exit", "blocked", "recursion_of_worker", "setup"]
"""Why an execution cannot be trusted:

- "": it can be trusted;
- "fuel": it made too many calls and loop iterations (deterministic);
- "timeout": it exceeded the time limit;
- "memory": it exceeded the memory limit;
- "crash", "exit": the process ended;
- "blocked": the sandbox refused an action;
- "setup": an error of the test's own code.

A test case with a failure is never archived or exported.
"""


Reached = tuple[bytes, bytes, bytes]
"""The reached sites, as three byte strings.

They hold the ids of the sites, ascending (uint32); their numbers of visits, capped at the largest number (uint32); and
the distances of their slots, concatenated (float64).
"""

Infected = tuple[bytes, bytes]
"""Sites with infected mutants, ascending (uint32), and the infected mutants of each as bits (uint32).

- comparison, membership, truth: bit 0 is set if an operand was not a number, string or bytes with an order, or if an
  exception was raised before there was an outcome.
- arithmetic: bit i is set if the i-th operator of the family gives another result (see `arithmetic`).
- value: bits 0, 1 and 2 are set if the negation, plus 1 and minus 1 differ. The other bits stand for the variables of
  `Site.alternatives` that had another value.
"""


@immutable
class Call(NamedTuple):
    """One executed statement.

    Attributes:
        operation: id of the operation that was called.
        returned: it returned, and its result was driven to the end, without an exception.
        output: partitions of the result as `(partition, value)`; the value of a number, 0.0 otherwise. Recorded only if
            "output" is needed, the call returned and its operation `shows` results.
        inputs: `(parameter name, partition, value)` of the arguments. Recorded only if "input" is needed.
    """

    operation: int
    returned: bool
    output: tuple[tuple[str, float], ...] = ()
    inputs: tuple[tuple[str, str, float], ...] = ()


@immutable
class Raised(NamedTuple):
    """The exception that ended a test case.

    Attributes:
        type: `module.qualname` of its class; the bare name for builtins.
        function: id of the innermost function of the subject on the traceback, -1 if there is none.
        operation: id of the operation whose statement raised.
        position: index of the statement that raised.
        kind: "declared" (in the docstring), "explicit" (a `raise` statement or a failed `assert` of the subject
            raised it), "implicit" (anything else).
        counted: it counts as discovered. False for a failure to bind the arguments of the call itself, for errors of
            the test's own code, for exceptions that never entered the subject, and if `ill_typed`.
        ill_typed: an argument of the test case does not conform to its annotation, so the fault is the test's.
        mro: names of the exception's classes, from its own up to `BaseException`.
    """

    type: str
    function: int
    operation: int
    position: int
    kind: Literal["declared", "explicit", "implicit"]
    counted: bool
    mro: tuple[str, ...] = ()
    ill_typed: bool = False


@immutable
class Stop(NamedTuple):
    """A line at which exceptions left a block before its end.

    Attributes:
        site: id of the block.
        line: the line that raised; later lines of the block did not run then.
        count: how often this happened.
    """

    site: int
    line: int
    count: int = 1  # type: ignore[assignment]  # it hides `tuple.count`, which is not used


@immutable
@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Trace:
    """The records of one execution of one test case. Equal executions share one object.

    A test case reaches a small part of its subject, so a trace stores only that part, as the bytes sent by the worker.
    `fitgym.fitness._recorded` converts traces to matrices with one row per trace.

    Attributes:
        reached: records of the reached sites; a distance is 0 exactly when the outcome occurred.
        direct: the same for code that a statement of the test case called directly (with no other function of the
            subject in between); None unless "direct" was needed.
        calls: one entry per statement that ran, including the raising one, in order.
        raised: the exception that ended the test case, or None.
        stops: lines at which exceptions left blocks early, including caught exceptions.
        failure: see `Failure`.
        fuel: burnt fuel, a deterministic measure of run time.
        infected: infected mutants; None unless "infection" was needed.
        effects: numbers of the mutants on which the test case was run, ascending, with the impact of each (see
            `fitgym.worker.impact`), infinite if the mutant was killed. Empty unless "effects" were needed.
        plain: the trace without effects, None if it has none.
    """

    reached: Reached = (b"", b"", b"")
    direct: Reached | None = None
    calls: tuple[Call, ...] = ()
    raised: Raised | None = None
    stops: tuple[Stop, ...] = ()
    failure: Failure = ""
    fuel: int = 0
    infected: Infected | None = None
    effects: tuple[tuple[int, float], ...] = ()
    plain: Trace | None = None
