"""Constants: the literals of the source, which are used as arguments."""

from __future__ import annotations

import ast

from fitgym.subject.code.syntax import deep_trees

__all__ = ["LONGEST", "LONGEST_NUMBER", "constants"]

LONGEST = 200
"""Maximum length of strings. Longer ones are messages and templates, which no comparison needs."""

LONGEST_NUMBER = 4096
"""Maximum size of integers, in bits. Larger ones are left out: Python converts at most 4,300 digits to text."""


def constants(tree: ast.Module) -> tuple[str, ...]:
    """Return the numbers, strings and bytes of the source, each as Python source text, in order of first occurrence.

    Docstrings and annotations are left out. So are `True`, `False` and `None`, which are always available. The text
    parts of f-strings count. A minus sign belongs to its number. Adjacent strings are one string, as for the compiler.
    """
    reader = _Reader()
    with deep_trees():
        reader.visit(tree)
    return tuple(reader.found)


class _Reader(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: dict[str, None] = {}

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str | bytes):
            if len(value) <= LONGEST:
                self.found.setdefault(repr(value))
        elif isinstance(value, int | float | complex) and not isinstance(value, bool):
            if isinstance(value, int) and value.bit_length() > LONGEST_NUMBER:
                return
            text = repr(value)
            if "inf" not in text and "nan" not in text:  # 1e999 has no literal
                self.found.setdefault(text)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        operand = node.operand
        if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant):
            value = operand.value
            if isinstance(value, int | float) and not isinstance(value, bool):
                if not isinstance(value, int) or value.bit_length() <= LONGEST_NUMBER:
                    self.found.setdefault(repr(-value))
                return
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # docstrings, and strings used as comments
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        pass

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
        self.visit(node.args)
        for statement in node.body:
            self.visit(statement)

    visit_FunctionDef = _function
    visit_AsyncFunctionDef = _function
