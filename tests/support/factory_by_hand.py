"""Shared by the tests of the factory: a validity check of test cases, and hand-written outcomes and traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from subject_by_hand import build

from fitgym.instrument.trace import Call, Raised, Trace
from fitgym.subject.subject import Operation, Subject
from fitgym.subject.types.hints import Hint
from fitgym.testcase.knowledge import parameter_of
from fitgym.testcase.statement import Statement

__all__ = ["Lesson", "problems", "raised", "trace", "unbound"]

SUBJECT = build()


def problems(statements: Sequence[Statement], subject: Subject = SUBJECT, longest: int = 40) -> list[str]:
    """Return the errors of a test case; empty for a valid one."""
    found = [] if 0 < len(statements) <= longest else [f"length {len(statements)}"]
    if not any(subject.operations[one.operation].under_test for one in statements):
        found.append("nothing under test")
    for position, statement in enumerate(statements):
        operation = subject.operations[statement.operation]
        if any(not 0 <= reference < position for reference in statement.refs):
            found.append(f"{position} refers forward")
        if (statement.receiver >= 0) != operation.needs_receiver:
            found.append(f"{position} has no receiver or one too many")
        found += [f"{position} {problem}" for problem in unbound(operation, statement)]
    return found


def unbound(operation: Operation, statement: Statement) -> list[str]:
    """Return why the arguments cannot be bound to the parameters, by the rules of the language reference."""
    found = []
    positional = [p for p in operation.parameters if p.kind in ("positional_only", "positional_or_keyword")]
    kinds = {parameter.kind for parameter in operation.parameters}
    if len(statement.args) > len(positional) and "var_positional" not in kinds:
        found.append("too many positional arguments")
    given_ = {parameter.name for parameter in positional[: len(statement.args)]}
    for name, _ in statement.kwargs:
        parameter = parameter_of(operation, name)
        if parameter is None:
            found.append(f"unknown keyword {name}")
        if name in given_:
            found.append(f"{name} twice")
        given_.add(name)
    named = ("positional_only", "positional_or_keyword", "keyword_only")
    required = [parameter.name for parameter in operation.parameters if parameter.required and parameter.kind in named]
    return found + [f"{name} missing" for name in required if name not in given_]


@dataclass
class Lesson:
    constants: tuple[str, ...] = ()
    returns: dict[int, Hint] = field(default_factory=dict)
    iterators: tuple[int, ...] = ()
    parameters: dict[tuple[int, str], Hint] = field(default_factory=dict)


def trace(*calls: tuple[int, bool], raised: Raised | None = None) -> Trace:
    return Trace(calls=tuple(Call(id_, returned) for id_, returned in calls), raised=raised)


def raised(type_: str, operation: int, counted: bool = True) -> Raised:
    return Raised(type_, 0, operation, 0, "implicit", counted)
