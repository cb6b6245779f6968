"""Effects: what a mutant changes in what a test can see, as immutable data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from fitgym.instrument.trace import Reached, Trace
from fitgym.messages.observation import Observation, Observed, agreement
from fitgym.messages.protocol import ProtocolError, encode_expression
from fitgym.subject.subject import Operation
from fitgym.testcase.expression import Name
from fitgym.testcase.statement import Statement, TestCase

__all__ = [
    "Effect",
    "Expectation",
    "Kill",
    "decode_effect",
    "encode_expectation",
    "encode_expectations",
    "expectation",
    "hashes",
    "without",
]

Kill = Literal["", "value", "raises", "returns", "exception", "timeout", "clock", "memory", "crash", "exit"]
"""How a test tells a mutant from the original: "" it does not; "value" an observed fact does not hold; "raises" an
exception comes where there was none, or at another statement; "returns" none comes where there was one; "exception" it
is of another class; "timeout" it burns too much fuel; "clock" it takes too much time; "memory" it takes too much of
that; "crash" and "exit" the process ends."""

PATIENCE: Final = 10
"""A mutant may burn this many times what the original burns ..."""

MORE: Final = 1000
"""... and this much more."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a test case shows each time it is run on the original, in a form that an exported test can assert.

    Attributes:
        facts: about its results when it is over.
        raises: the class of the exception that ends it, nearest importable one; None if it returns.
        position: index of the statement that raises, -1 for none.
        reached: what it reaches, see `Trace.reached`.
        fuel: how much it burns.
    """

    facts: tuple[Observation, ...]
    raises: Name | None = None
    position: int = -1
    reached: Reached = (b"", b"", b"")
    fuel: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """What one mutant did to one test case.

    Attributes:
        killed: how the test case tells the mutant from the original, "" if it does not.
        facts: indexes of the facts of its expectation that do not hold; all others do.
        impact: how much of what was recorded differs, see `fitgym.worker.activation.impact`; 0.0 for a killed mutant.
    """

    killed: Kill = ""
    facts: tuple[int, ...] = ()
    impact: float = 0.0


def expectation(seen: Sequence[Observed], trace: Trace) -> Expectation | None:
    """What several executions of a test case have in common; None if they ended differently, or not in a way to assert.

    Args:
        seen: what the executions showed.
        trace: what one of them recorded.
    """
    shared = agreement(seen)
    if shared is None or shared.failure or trace.failure or (shared.position >= 0 and not shared.raises):
        return None
    raises = shared.raises[0] if shared.raises else None
    return Expectation(shared.observations, raises, shared.position, trace.reached, trace.fuel)


def encode_expectation(expected: Expectation, most: int, least: int = 0) -> Any:
    """The expectation as built-in values, see `fitgym.worker.activation.WireExpectation`.

    Args:
        expected: what is expected.
        most: how much fuel a mutant may burn at most, even where the original burns more.
        least: how much it may burn even where that is more than all others say.
    """
    return (
        tuple([(f.position, f.path, f.kind, encode_expression(f.expression)) for f in expected.facts]),
        None if expected.raises is None else encode_expression(expected.raises),
        expected.position,
        expected.reached,
        max(least, min(most, PATIENCE * expected.fuel + MORE)),
    )


def encode_expectations(expected: Mapping[TestCase, Expectation], most: int, least: int = 0) -> dict[TestCase, Any]:
    """The expectations of test cases, see `encode_expectation`."""
    return {testcase: encode_expectation(one, most, least) for testcase, one in expected.items()}


def decode_effect(wire: Any) -> Effect:
    """The effect that a worker described.

    Raises:
        ProtocolError: it does not describe one.
    """
    killed, facts, impact = wire
    if killed not in get_args(Kill) or not all(type(fact) is int for fact in facts) or type(impact) is not float:
        raise ProtocolError("not an effect")
    return Effect(killed, tuple(facts), impact)


def hashes(statements: Sequence[Statement], operations: Sequence[Operation]) -> list[int]:
    """Positions of statements that return hashes: every interpreter chooses its own, so no test can expect one."""
    return [position for position, one in enumerate(statements) if operations[one.operation].operator == "__hash__"]


def without(observed: Observed, positions: Collection[int]) -> Observed:
    """What was observed, less the facts about the statements at `positions`."""
    if not positions:
        return observed
    return replace(
        observed, observations=tuple(fact for fact in observed.observations if fact.position not in positions)
    )
