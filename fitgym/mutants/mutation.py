"""Mutation: the code under test with one change, as text, as syntax tree, and as a diff."""

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
    """Return the text of the whole module with the mutant; it differs from the original in one place only."""
    return Text(source).changed(mutant.span, mutant.text)


def mutated(tree: ast.Module, mutant: Mutant) -> tuple[ast.AST, ...]:
    """Return the syntax tree with the mutant, as the path from the module down to the changed node.

    The nodes on the path are new. All other nodes are shared with `tree`, which is not changed. So the functions around
    the mutant are the functions on the path, outermost first. New nodes have the location of the original. The tree
    equals the parse of `mutated_text` except for positions.

    Args:
        tree: as it was parsed from the source.
        mutant: of the same source.

    Raises:
        ValueError: the mutant belongs to another source.
    """
    new = _parsed(mutant)
    with deep_trees():
        way = _way(tree, mutant, isinstance(new, ast.stmt))
        if way is None:
            raise ValueError(
                f"nothing at line {mutant.line} matches mutant '{mutant.id}': expected a mutant of this source"
            )
        original = way[-1]
        for part in ast.walk(new):
            if isinstance(part, (ast.expr, ast.stmt)):
                ast.copy_location(part, original)
        fresh: list[ast.AST] = [new]
        for parent, child in zip(way[-2::-1], way[:0:-1], strict=True):
            fresh.append(_exchanged(parent, child, fresh[-1]))
    return tuple(reversed(fresh))


def difference(source: str, mutant: Mutant, filename: str = "") -> str:
    """Return the change as a unified diff with three lines of context."""
    before, after = source.splitlines(keepends=True), mutated_text(source, mutant).splitlines(keepends=True)
    found = difflib.unified_diff(before, after, filename, f"{filename} ({mutant.id})".strip())
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in found)


def _parsed(mutant: Mutant) -> ast.stmt | ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if mutant.operator == "deletion" or (mutant.replacement.endswith("=") and mutant.operator == "arithmetic"):
            # Some statements do not parse outside of a function.
            return ast.parse(mutant.text.strip()).body[0]
        return ast.parse(f"({mutant.text.strip()}\n)", mode="eval").body


def _way(node: ast.AST, mutant: Mutant, is_statement: bool) -> list[ast.AST] | None:
    """Return the nodes from this one down to the changed one, None if the changed one is not below."""
    if isinstance(node, (ast.stmt, ast.expr)):
        span = span_of(node)
        if span == mutant.span and isinstance(node, ast.stmt) is is_statement:
            return [node]
        decorators = getattr(node, "decorator_list", [])  # they precede the first line of the definition
        start = span_of(decorators[0])[:2] if decorators else span[:2]
        if not (start <= mutant.span[:2] and mutant.span[2:] <= span[2:]):
            return None
    for child in ast.iter_child_nodes(node):
        below = _way(child, mutant, is_statement)
        if below is not None:
            return [node, *below]
    return None


def _exchanged(parent: ast.AST, child: ast.AST, new: ast.AST) -> ast.AST:
    """Return a copy of `parent` with `new` in place of `child`."""
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
