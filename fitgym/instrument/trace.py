"""A trace: what one execution of one test case recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from fitgym.immutable import immutable

__all__ = ["Call", "Failure", "Infected", "Raised", "Reached", "Stop", "Trace"]

Failure = Literal["", "fuel", "timeout", "memory", "crash", "exit", "blocked", "recursion_of_worker", "setup"]
"""Why an execution cannot be trusted: "" it can; "fuel" a loop went on for too long (deterministic); "timeout" the clock
ran out; "memory" the limit was hit; "crash" and "exit" the process ended; "blocked" the sandbox refused an action;
"setup" an error of the test's own code. A test case with a failure is never archived nor exported."""


Reached = tuple[bytes, bytes, bytes]
"""The sites that were reached, ascending (uint32); how often each was, the largest number standing for all above
(uint32); and the distances of their slots, one after the other (float64)."""

Infected = tuple[bytes, bytes]
"""The sites that say something about mutants, ascending (uint32),
and what they say, as bits (uint32).

    comparison, membership, truth   bit 0: an operand was of another sort than numbers, strings or bytes with an order, or
                                    an exception came instead of an outcome
    arithmetic                      bit i: the i-th operator of the family gives another result (see `arithmetic`)
    value                           bits 0, 1, 2: another sign, one more, one less makes a difference; then the other
                                    variables (`Site.alternatives`) that had another value
"""


@immutable
class Call(NamedTuple):
    """One executed statement.

    Attributes:
        operation: id of the operation that was called.
        returned: it returned (and its result was driven to the end) without an exception.
        output: abstract values of what came back as `(partition, value)`, the value only for numbers and 0.0 otherwise;
            recorded only when "output" is needed and the call returned.
        inputs: `(parameter name, partition, value)` of the arguments, recorded only when "input" is needed.
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
        kind: "declared" (documented as raised), "explicit" (a `raise` statement or a failed `assert` of the subject
            raised it), "implicit" (anything else).
        counted: it counts as discovered; False for a failure to bind the arguments of the call itself, for errors of
            the test's own code, for exceptions that never entered the subject, and where `ill_typed`.
        ill_typed: an argument of the test case is not what its annotation asks for, so the fault is the test's.
        mro: names of the exception's classes from itself up to `BaseException`.
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
    """An exception left a block before its end.

    Attributes:
        site: id of the block.
        line: the line that raised; later lines of the block did not run that time.
        count: how often this happened.
    """

    site: int
    line: int
    count: int = 1  # type: ignore[assignment]  # the method of tuples is not missed


@immutable
@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Trace:
    """What one execution of one test case recorded. Equal executions share one object.

    A test case reaches a small part of its subject, so only that part is here, as the bytes that came from the worker.
    `fitgym.fitness._recorded` lays it out in matrices, one row for each trace.

    Attributes:
        reached: what was recorded at the sites that were reached; a distance is 0 exactly when the outcome occurred.
        direct: the same for code that a statement of the test case called itself (no other function of the subject in
            between); None unless "direct" was needed.
        calls: one entry for each statement that ran, the raising one included, in order.
        raised: the exception that ended the test case, or None.
        stops: where exceptions left blocks early (caught ones included).
        failure: see `Failure`.
        fuel: how much fuel was burnt, a deterministic measure of run time.
        infected: what the sites say about mutants; None unless "infection" was needed.
        effects: numbers of the mutants that the test case was run on, ascending, with the impact of each (see
            `fitgym.worker.activation.impact`), infinite if the mutant was killed; empty unless "effects" were needed.
        plain: the trace without effects, None for one that has none.
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
