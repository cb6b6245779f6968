"""Captured: what a test case printed, logged and warned of, and the facts that a test can assert about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal as OneOf
from typing import NamedTuple

from fitgym.determinism.fleeting import is_fleeting_text
from fitgym.messages.expressions import expression_of
from fitgym.messages.reflection import name_of
from fitgym.testcase.expression import Collection, Expression, Literal

__all__ = ["Captured", "CapturedKind", "facts"]

CapturedKind = OneOf["stdout", "stderr", "logged", "warned"]

MAX_PRINTED = 300  # characters of the source of an expected text; a longer one is not checked
_WARNED = "Warning: "  # what `warnings` prints; pytest collects warnings instead


class Captured(NamedTuple):
    """The output of one test case.

    Attributes:
        stdout, stderr: the text that it wrote to `sys.stdout` and `sys.stderr`.
        logged: the messages of the log records that reached the root logger.
        warned: the class and the text of the warnings that its last statement gave.
    """

    stdout: str
    stderr: str
    logged: list[str]
    warned: list[tuple[type[Warning], str]]


def facts(captured: Captured, home: str) -> Iterator[tuple[CapturedKind, Expression]]:
    """Yield the parts of the output that a test can expect again, each with its expected value.

    Empty parts are left out, like parts that may differ in the next run, and texts that are too long to be read. Of
    several warnings the first is expected.

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
    for category, text in captured.warned:
        name = name_of(category, home)
        if name is not None and not issubclass(category, ResourceWarning):  # these depend on the garbage collector
            literal = Literal(f"{text!r}")
            is_stable = len(literal.text) <= MAX_PRINTED and not is_fleeting_text(text)
            yield "warned", Collection("tuple", (name, literal if is_stable else Literal("''")))
            return
