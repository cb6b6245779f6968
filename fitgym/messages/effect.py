"""Effects: the observable differences that a mutant causes in a test case, as immutable data."""

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
"""How a test detects a mutant:

- "": it does not;
- "value": an observed fact does not hold;
- "raises": an exception is raised where there was none, or at another statement;
- "returns": no exception is raised where there was one;
- "exception": the exception has another class;
- "timeout": the mutant burns too much fuel;
- "clock": it takes too much time;
- "memory": it takes too much memory;
- "crash", "exit": the process ends.
"""

PATIENCE: Final = 10
"""Multiple of the original's fuel that a mutant may burn ..."""

MORE: Final = 1000
"""... plus this many units."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The facts that a test case shows in every run on the original, in a form that an exported test can assert.

    Attributes:
        facts: facts about its results at the end.
        raises: nearest importable class of the exception that ends it; None if it returns.
        position: index of the statement that raises, -1 for none.
        reached: the sites it reaches, see `Trace.reached`.
        fuel: the fuel it burns.
    """

    facts: tuple[Observation, ...]
    raises: Name | None = None
    position: int = -1
    reached: Reached = (b"", b"", b"")
    fuel: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one mutant on one test case.

    Attributes:
        killed: how the test case detects the mutant, "" if it does not.
        facts: indexes of the expected facts that do not hold; all others hold.
        impact: how much the recorded data differs, see `fitgym.worker.impact`; 0.0 for a killed mutant.
    """

    killed: Kill = ""
    facts: tuple[int, ...] = ()
    impact: float = 0.0


def expectation(seen: Sequence[Observed], trace: Trace) -> Expectation | None:
    """Return the facts common to several executions; None if they ended differently or their end cannot be asserted.

    Args:
        seen: observations of the executions.
        trace: trace of one execution.
    """
    shared = agreement(seen)
    if shared is None or shared.failure or trace.failure or (shared.position >= 0 and not shared.raises):
        return None
    raises = shared.raises[0] if shared.raises else None
    return Expectation(shared.observations, raises, shared.position, trace.reached, trace.fuel)


def encode_expectation(expected: Expectation, most: int, least: int = 0) -> Any:
    """Encode an expectation as built-in values, see `fitgym.worker.activation.WireExpectation`.

    Args:
        expected: the expectation.
        most: upper bound of the mutant's fuel limit, even if the original burns more.
        least: lower bound of the mutant's fuel limit; it overrides `most`.
    """
    return (
        tuple([(f.position, f.path, f.kind, encode_expression(f.expression)) for f in expected.facts]),
        None if expected.raises is None else encode_expression(expected.raises),
        expected.position,
        expected.reached,
        max(least, min(most, PATIENCE * expected.fuel + MORE)),
    )


def encode_expectations(expected: Mapping[TestCase, Expectation], most: int, least: int = 0) -> dict[TestCase, Any]:
    """Encode the expectations of test cases, see `encode_expectation`."""
    return {testcase: encode_expectation(one, most, least) for testcase, one in expected.items()}


def decode_effect(wire: Any) -> Effect:
    """Decode the effect that a worker sent.

    Raises:
        ProtocolError: the values do not describe an effect.
    """
    killed, facts, impact = wire
    if killed not in get_args(Kill) or not all(type(fact) is int for fact in facts) or type(impact) is not float:
        raise ProtocolError("not an effect")
    return Effect(killed, tuple(facts), impact)


def hashes(statements: Sequence[Statement], operations: Sequence[Operation]) -> list[int]:
    """Return the positions of statements that return hashes.

    Hashes differ between interpreters, so no test can assert them.
    """
    return [position for position, one in enumerate(statements) if operations[one.operation].operator == "__hash__"]


def without(observed: Observed, positions: Collection[int]) -> Observed:
    """Return an observation without the facts about the statements at `positions`."""
    if not positions:
        return observed
    return replace(
        observed, observations=tuple(fact for fact in observed.observations if fact.position not in positions)
    )
