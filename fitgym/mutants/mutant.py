"""A mutant: one small change of the code under test that a good suite should notice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fitgym.immutable import immutable

__all__ = ["PRECEDENCE", "Mutant", "Operator", "Place", "Span"]

Operator = Literal[
    "relational",  # another comparison, or one that always comes out the same
    "arithmetic",  # another operator of arithmetic or of bits
    "logical",  # `and` for `or` and the other way round, a `not` left out
    "constant",  # another literal
    "deletion",  # a statement left out
    "unary",  # a sign, one more or one less, a `not` in front of a condition
    "variable",  # another variable of the same function
    "operand",  # one operand of an operation alone
    "call",  # a call left out, with two arguments exchanged, or without one of them; an `await` left out
]
"""What kind of change it is."""

PRECEDENCE: tuple[Operator, ...] = (
    "relational",
    "arithmetic",
    "logical",
    "deletion",
    "call",
    "constant",
    "operand",
    "unary",
    "variable",
)
"""The operators, those first whose mutants say most about a suite."""

Place = Literal["comparison", "membership", "truth", "arithmetic", "value", "line"]
"""Where it is seen whether a mutant is reached and infected: at the site of a comparison, of a membership or identity test,
of another condition, of an operator of arithmetic, at the probe of a variable; or it is infected whenever its line is."""

Span = tuple[int, int, int, int]
"""A part of the source: first line, offset in it, last line, offset behind the end; offsets in bytes of UTF-8."""


@immutable
@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one expression or statement of a function.

    Attributes:
        id: unique in its module, and the same after changes of the source outside of its function: the function, the line
            (counted from the `def`, which is 0), the offset in it, the operator and the replacement.
        operator: what kind of change it is.
        function: qualified name of the innermost function (or `lambda`) around it.
        line: first line of what is exchanged, from 1.
        original: what is exchanged, for readers: an operator, a literal, a name, a statement.
        replacement: what stands there instead, likewise.
        span: the whole expression or statement that is changed.
        text: its new source text.
        place: where it is seen what the change does.
        at: the parts of the source with the sites of that place. For "truth" each comes with an outcome: the mutant is
            infected if one of these outcomes occurs. A site may be missing (of a chained comparison whose operands are
            computed): then it is infected whenever its line is reached.
    """

    id: str
    operator: Operator
    function: str
    line: int
    original: str
    replacement: str
    span: Span
    text: str
    place: Place
    at: tuple[tuple[Span, bool], ...] = ()
