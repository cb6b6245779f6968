"""Captured: what a test case printed and logged, and the facts that a test can assert about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as OneOf
from typing import NamedTuple

from fitgym.determinism.fleeting import is_fleeting_text
from fitgym.messages.expressions import expression_of
from fitgym.testcase.expression import Expression, Literal

__all__ = ["Captured", "CapturedKind", "facts"]

CapturedKind = OneOf["stdout", "stderr", "logged"]

MAX_PRINTED = 300  # characters of the source of an expected text; a longer one is not checked
_WARNED = "Warning: "  # what `warnings` prints; pytest collects warnings instead


class Captured(NamedTuple):
    """The output of one test case.

    Attributes:
        stdout, stderr: the text that it wrote to `sys.stdout` and `sys.stderr`.
        logged: the messages of the log records that reached the root logger.
    """

    stdout: str
    stderr: str
    logged: list[str]


def facts(captured: Captured, home: str) -> Iterator[tuple[CapturedKind, Expression]]:
    """Yield the parts of the output that a test can expect again, each with its expected value.

    Empty parts are left out, like parts that may differ in the next run, and texts that are too long to be read.

    Args:
        captured: the output.
        home: name of the module under test.
    """
    texts: tuple[tuple[CapturedKind, str], ...] = (("stdout", captured.stdout), ("stderr", captured.stderr))
    for kind, text in texts:
        literal = Literal(f"{text!r}")
        if text and len(literal.text) <= MAX_PRINTED and _WARNED not in text and not is_fleeting_text(text):
            yield kind, literal
    expected = expression_of(captured.logged, home, 1) if captured.logged else None
    if expected is not None:
        yield "logged", expected
