"""Mutation: the code under test with one change in it, as text, as syntax tree, and as a difference to read."""

from __future__ import annotations

import ast
import difflib
import warnings
from typing import Any

from fitgym.mutants.mutant import Mutant
from fitgym.mutants.text import Text, span_of
from fitgym.subject.code.syntax import deep_trees

__all__ = ["difference", "mutated", "mutated_text"]


def mutated_text(source: str, mutant: Mutant) -> str:
    """The text of the whole module with the mutant in it; it differs from the original in one place only."""
    return Text(source).changed(mutant.span, mutant.text)


def mutated(tree: ast.Module, mutant: Mutant) -> tuple[ast.AST, ...]:
    """The syntax tree with the mutant in it, given as the way from the module down to what is changed.

    What is on the way is new, everything else is shared with `tree`, in which nothing is changed; so the functions around
    the mutant are those nodes of the way that are functions, outermost first. New nodes are located where the original
    stood. The tree is the one that the parser makes of `mutated_text`, but for the positions.

    Args:
        tree: as it was parsed from the source.
        mutant: of the same source.

    Raises:
        ValueError: the mutant is of another source.
    """
    new = _parsed(mutant)
    with deep_trees():
        way = _way(tree, mutant, isinstance(new, ast.stmt))
        if way is None:
            raise ValueError(f"there is nothing to change at line {mutant.line} for '{mutant.id}'")
        original = way[-1]
        for part in ast.walk(new):
            if isinstance(part, (ast.expr, ast.stmt)):
                ast.copy_location(part, original)
        fresh: list[ast.AST] = [new]
        for parent, child in zip(way[-2::-1], way[:0:-1], strict=True):
            fresh.append(_exchanged(parent, child, fresh[-1]))
    return tuple(reversed(fresh))


def difference(source: str, mutant: Mutant, filename: str = "") -> str:
    """The change as a unified diff with three lines around it."""
    before, after = source.splitlines(keepends=True), mutated_text(source, mutant).splitlines(keepends=True)
    found = difflib.unified_diff(before, after, filename, f"{filename} ({mutant.id})".strip())
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in found)


def _parsed(mutant: Mutant) -> ast.stmt | ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if mutant.operator == "deletion" or (mutant.replacement.endswith("=") and mutant.operator == "arithmetic"):
            # Outside of a function some statements do not parse.
            return ast.parse(mutant.text.strip()).body[0]
        return ast.parse(f"({mutant.text.strip()}\n)", mode="eval").body


def _way(node: ast.AST, mutant: Mutant, is_statement: bool) -> list[ast.AST] | None:
    """The nodes from this one down to the one that the mutant changes, None if it is not below."""
    if isinstance(node, (ast.stmt, ast.expr)):
        span = span_of(node)
        if span == mutant.span and isinstance(node, ast.stmt) is is_statement:
            return [node]
        decorators = getattr(node, "decorator_list", [])  # they stand before the first line of what they decorate
        start = span_of(decorators[0])[:2] if decorators else span[:2]
        if not (start <= mutant.span[:2] and mutant.span[2:] <= span[2:]):
            return None
    for child in ast.iter_child_nodes(node):
        below = _way(child, mutant, is_statement)
        if below is not None:
            return [node, *below]
    return None


def _exchanged(parent: ast.AST, child: ast.AST, new: ast.AST) -> ast.AST:
    """A copy of `parent` with `new` in the place of `child`."""
    fields: dict[str, Any] = {}
    for name in parent._fields:
        value = getattr(parent, name, None)
        if value is child:
            value = new
        elif isinstance(value, list):
            value = [new if part is child else part for part in value]
        if hasattr(parent, name):
            fields[name] = value
    return ast.copy_location(type(parent)(**fields), parent)
