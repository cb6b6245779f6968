"""Chained comparisons: expands `a < b < c`, so that each comparison has its own site."""

from __future__ import annotations

import ast

from fitgym.instrument.rewriting.expression_sites import Comprehension, FunctionNode
from fitgym.subject.code.tables import is_table

__all__ = ["expand_chains"]


def expand_chains(tree: ast.Module) -> None:
    """Expand `a < b < c` to `a < b and b < c` in place, if a second read of `b` has no effect.

    Constants and local variables of a function or comprehension can be read twice. Other chains are not changed.
    """
    _Chains().visit(tree)


class _Chains(ast.NodeTransformer):
    """The visitor of `expand_chains`. It tracks the local variables of the current function."""

    def __init__(self) -> None:
        self._locals: frozenset[str] = frozenset()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: FunctionNode) -> ast.AST:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        self._defaults(node.args)
        with_locals = _local_names(node)
        outer, self._locals = self._locals, with_locals
        node.body = [self.visit(statement) for statement in node.body]
        self._locals = outer
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        self._defaults(node.args)
        outer, self._locals = self._locals, frozenset(_parameters(node.args))
        node.body = self.visit(node.body)
        self._locals = outer
        return node

    def _defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(default) for default in args.defaults]
        args.kw_defaults = [default and self.visit(default) for default in args.kw_defaults]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        outer, self._locals = self._locals, frozenset()
        self.generic_visit(node)
        self._locals = outer
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        return self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self._comprehension(node)

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._display(node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return self._display(node)

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return self._display(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        return self._display(node)

    def _display(self, node: ast.expr) -> ast.AST:
        return node if is_table(node) else self.generic_visit(node)

    def _comprehension(self, node: Comprehension) -> ast.AST:
        targets = {
            name.id for clause in node.generators for name in ast.walk(clause.target) if isinstance(name, ast.Name)
        }
        outer, self._locals = self._locals, self._locals | targets
        self.generic_visit(node)
        self._locals = outer
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) < 2 or not all(self._reads_alike(operand) for operand in node.comparators[:-1]):
            return node
        left = node.left
        parts: list[ast.expr] = []
        for operator, right in zip(node.ops, node.comparators, strict=True):
            part = ast.Compare(left, [operator], [right])
            part.lineno, part.col_offset = left.lineno, left.col_offset
            part.end_lineno, part.end_col_offset = right.end_lineno, right.end_col_offset
            parts.append(part)
            if isinstance(right, ast.Name):
                left = ast.copy_location(ast.Name(right.id, ast.Load()), right)
            elif isinstance(right, ast.Constant):
                left = ast.copy_location(ast.Constant(right.value, right.kind), right)
        return ast.copy_location(ast.BoolOp(ast.And(), parts), node)

    def _reads_alike(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in self._locals)


def _parameters(args: ast.arguments) -> list[str]:
    parameters = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    parameters += [extra for extra in (args.vararg, args.kwarg) if extra is not None]
    return [parameter.arg for parameter in parameters]


def _local_names(node: FunctionNode) -> frozenset[str]:
    """Return the parameters and assigned names of a function, without names shared with other scopes."""
    names = set(_parameters(node.args))
    shared: set[str] = set()
    open_nodes: list[ast.AST] = list(node.body)
    while open_nodes:
        inner = open_nodes.pop()
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            names.add(inner.id)
        elif isinstance(inner, (ast.Global, ast.Nonlocal)):
            shared.update(inner.names)
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            # An inner function may rebind a variable of this one between two reads.
            shared.update(name for part in ast.walk(inner) if isinstance(part, ast.Nonlocal) for name in part.names)
            continue
        open_nodes.extend(ast.iter_child_nodes(inner))
    return frozenset(names - shared)
