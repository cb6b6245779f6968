"""Outcomes: the atomic conditions that decide a compound condition."""

from __future__ import annotations

import ast

from fitgym.mutants.mutant import Span
from fitgym.mutants.text import span_of
from fitgym.subject.code.syntax import constant_truth

__all__ = ["either", "outcomes"]


def outcomes(node: ast.expr, truth: bool) -> list[tuple[Span, bool]]:
    """Return atomic outcomes of which one occurs exactly if a compound condition is `truth`; none if unknown."""
    match node:
        case _ if constant_truth(node) is not None:
            return []
        case ast.BoolOp():
            # `and` is true if its last operand is true, and false if any operand is false; `or` the other way round.
            parts = node.values if isinstance(node.op, ast.Or) is truth else node.values[-1:]
        case ast.UnaryOp(op=ast.Not()):
            return outcomes(node.operand, not truth)
        case ast.IfExp():
            parts = [node.body, node.orelse]
        case ast.Compare() if len(node.ops) > 1:
            return []
        case _:
            return [(span_of(node), truth)]
    found = [outcomes(part, truth) for part in parts]
    return [outcome for each in found for outcome in each] if all(found) else []


def either(node: ast.expr) -> list[tuple[Span, bool]]:
    """Return atomic outcomes of which one occurs exactly if a compound condition has an outcome; none if unknown."""
    positive, negative = outcomes(node, True), outcomes(node, False)
    return [*positive, *negative] if positive and negative else []
