"""A mutant: one small change of the code under test that a good suite should detect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fitgym.immutable import immutable

__all__ = ["PRECEDENCE", "Mutant", "Operator", "Place", "Span"]

Operator = Literal[
    "relational",  # another comparison, or a constant truth value as result; None confused with other false values
    "arithmetic",  # another arithmetic or bitwise operator
    "logical",  # `and` and `or` exchanged, a `not` removed
    "constant",  # another literal, regular expression or f-string
    "deletion",  # a statement removed
    "unary",  # a sign, one more or one less, a `not` before a condition
    "variable",  # another variable of the same function
    "operand",  # only one operand of an operation; a condition, alternative (`x in (1, 2)`) or entry of a table less
    "call",  # a call removed, two arguments swapped or one removed; a similar function; an `await` removed
]
"""The mutation operators, that is, the kinds of change."""

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
"""The operators, those whose mutants are most informative about a suite first."""

Place = Literal["comparison", "membership", "truth", "arithmetic", "value", "line"]
"""Where reaching and infection of a mutant are observed.

At the site of a comparison, of a membership or identity test, of another condition or of an arithmetic operator, or at
the probe of a variable. For "line" the mutant counts as infected whenever its line is reached.
"""

Span = tuple[int, int, int, int]
"""A part of the source: first line, offset in it, last line, offset behind the end; offsets in bytes of UTF-8."""


@immutable
@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one expression or statement of a function.

    Attributes:
        id: unique in its module, and stable under changes of the source outside of its function. It contains the
            function, the line (counted from the `def`, which is 0), the offset in it, the operator and the replacement.
        operator: the kind of change.
        function: qualified name of the innermost function (or `lambda`) around it.
        line: first line of the replaced text, from 1.
        original: the replaced text, for readers: an operator, a literal, a name, a statement.
        replacement: the new text, for readers.
        span: the whole expression or statement that is changed.
        text: its new source text.
        place: where the effect of the change is observed.
        at: the parts of the source with the sites of that place. For "truth" each comes with an outcome: the mutant is
            infected if one of these outcomes occurs. A site may be missing (in a chained comparison with computed
            operands). The mutant then counts as infected whenever its line is reached.
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
