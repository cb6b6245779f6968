"""The sites of expressions: plans which conditions, comparisons, operators and variables get a probe.

The plan of an expression depends on its context:

- In a *test* (`if`, `while`, `assert`, a filter, a guard) the parts decide, and only their truth is used.
- In a *value* only the operands of `and` and `or` decide, and the result must be returned unchanged.
- Under a `not` outside a test only the truth is used, but the last part decides nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from fitgym.mutants.mutant import Mutant
from fitgym.mutants.operators import COMPARISONS, SIGNS, is_no_number
from fitgym.subject.code.syntax import constant_truth
from fitgym.subject.code.tables import is_table
from fitgym.subject.subject import Function, Site, SiteKind

__all__ = ["Comprehension", "ExpressionSites", "FunctionNode"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class ExpressionSites:
    """The sites found so far, and the walk over expressions that adds more. A subclass walks over statements.

    Args:
        mutants: see `fitgym.instrument.rewriting.plan.plan`.

    Attributes:
        sites: sites by id, without infection sites.
        functions: functions by id.
        lines: lines of each block, by the id of its site.
        at, blocks, entries: see `fitgym.instrument.rewriting.plan.Plan`.
        infection: nodes with their infection sites, in order of evaluation. The sites have no id yet.
    """

    def __init__(self, mutants: Iterable[Mutant] | None) -> None:
        # The alternatives to the value of each expression with an infection site, by span.
        self._changed: dict[tuple[int, ...], list[str]] | None = None if mutants is None else {}
        for mutant in mutants or ():
            if self._changed is not None and mutant.place in ("arithmetic", "value"):
                alternatives = self._changed.setdefault(mutant.at[0][0], [])
                if mutant.operator == "variable":
                    alternatives.append(mutant.replacement)
        self.sites: list[Site] = []
        self.functions: list[Function] = []
        self.lines: dict[int, list[int]] = {}
        self.at: dict[ast.AST, int] = {}
        self.blocks: dict[ast.AST, int] = {}
        self.entries: dict[ast.AST, int] = {}
        self.infection: list[tuple[ast.AST, Site]] = []
        self._slots = 0
        self._function = -1
        self._prefix = ""
        self._in_function = False
        # If the current statement has a `yield` or `await`, the function may end there.
        self._pauses = False

    # Sites

    def _site(self, kind: SiteKind, line: int, operator: str = "", **more: Any) -> int:
        identifier = len(self.sites)
        slot = -1 if kind == "block" else self._slots
        site = Site(identifier, kind, self._function, line, operator, slot, **more)
        self.sites.append(site)
        self._slots += site.width
        if kind == "block":
            self.lines[identifier] = []
        return identifier

    # Scopes

    def _entry(self, node: ast.AST, name: str, line: int, end: int) -> int:
        """Add a function with its entry block and make it the current one."""
        self._function = len(self.functions)
        entry = self._site("block", line, burns=True)
        self.entries[node] = entry
        self.functions.append(Function(self._function, name, line, end, entry))
        return entry

    def _lambda(self, node: ast.Lambda) -> None:
        self._values([*node.args.defaults, *node.args.kw_defaults])
        outer = (self._function, self._prefix, self._in_function, self._pauses)
        name = f"{self._prefix}<lambda>"
        self._prefix = f"{name}.<locals>."
        self._in_function = True
        self._entry(node, name, node.lineno, node.end_lineno or node.lineno)
        self._value(node.body)
        self._function, self._prefix, self._in_function, self._pauses = outer

    # Expressions

    def _values(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if isinstance(node, (ast.expr, ast.keyword, ast.withitem)):
                self._value(node)

    def _value(self, node: ast.AST) -> None:
        """Plan an expression whose value is used."""
        match node:
            case ast.Compare(ops=[_]):
                self._values([node.left, *node.comparators])
                self._compare(node, decides=False, passes=True)
            case ast.BoolOp():
                for operand in node.values[:-1]:
                    self._test(operand, passes=True)
                self._value(node.values[-1])
            case ast.UnaryOp(op=ast.Not()):
                self._negated(node.operand)
            case ast.IfExp():
                self._if_expression(node, self._value)
            case ast.Lambda():
                self._lambda(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case ast.Constant():
                pass
            case ast.Name():
                self._read(node)
            case ast.Attribute():
                self._value(node.value)
                self._read(node)
            case ast.BinOp():
                self._values([node.left, node.right])
                self._arithmetic(node, node.left, node.op, node.right)
            case ast.Yield() | ast.YieldFrom() | ast.Await():
                self._values(ast.iter_child_nodes(node))
                self._pauses = True
            case _ if not is_table(node):
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, (ast.expr, ast.keyword)):
                        self._value(child)

    def _test(self, node: ast.expr, *, passes: bool = False, in_loop: bool = False) -> None:
        """Plan an expression whose truth decides the control flow. With `passes` its value is used too."""
        match node:
            case _ if constant_truth(node) is not None:
                pass
            case ast.BoolOp():
                for operand in node.values:
                    self._test(operand, passes=passes, in_loop=in_loop)
            case ast.UnaryOp(op=ast.Not()):
                self._test(node.operand, in_loop=in_loop)
            case ast.IfExp():
                self._if_expression(node, lambda part: self._test(part, passes=passes, in_loop=in_loop))
            case ast.Compare(ops=[_]):
                self._values([node.left, *node.comparators])
                self._compare(node, decides=True, passes=passes, in_loop=in_loop)
            case _:
                self._value(node)
                self.at[node] = self._site("truth", node.lineno, passes=passes, in_loop=in_loop, span=_span(node))

    def _lead(self, test: ast.expr, *, true: int = -1, false: int = -1) -> None:
        """Mark the blocks that start exactly when a planned test is true, or is false, as led by its conditions."""
        found = self._conditions(test, true, false)
        if found is not None:
            for site, outcome, block in found:
                leads = [*(self.sites[site].leads or (-1, -1))]
                leads[not outcome] = block
                self.sites[site] = replace(self.sites[site], leads=tuple(leads))

    def _conditions(self, test: ast.expr, true: int, false: int) -> list[tuple[int, bool, int]] | None:
        """Return (site, outcome, block) for each condition that leads to a block; None if a condition has no site."""
        match test:
            case ast.UnaryOp(op=ast.Not()):
                return self._conditions(test.operand, false, true)
            case ast.BoolOp():
                is_and = isinstance(test.op, ast.And)
                parts = [
                    self._conditions(part, -1 if is_and else true, false if is_and else -1) for part in test.values[:-1]
                ]
                parts.append(self._conditions(test.values[-1], true, false))
                return None if None in parts else [found for part in parts for found in part or ()]
            case _ if test in self.at:
                return [(self.at[test], truth, block) for truth, block in ((True, true), (False, false)) if block >= 0]
        return None

    def _negated(self, node: ast.expr) -> None:
        """Plan the operand of a `not` whose result is used as a value."""
        match node:
            case ast.BoolOp():
                for operand in node.values[:-1]:
                    self._test(operand)
                self._negated(node.values[-1])
            case ast.UnaryOp(op=ast.Not()):
                self._negated(node.operand)
            case _:
                self._value(node)

    def _compare(self, node: ast.Compare, *, decides: bool, passes: bool, in_loop: bool = False) -> None:
        operator = COMPARISONS[type(node.ops[0])]
        kind: SiteKind = "membership" if operator in ("in", "not in", "is", "is not") else "comparison"
        self.at[node] = self._site(
            kind,
            node.lineno,
            operator,
            decides=decides,
            passes=passes,
            in_loop=in_loop,
            span=_span(node),
            literals=(_literal(node.left), _literal(node.comparators[0])),
        )

    def _arithmetic(
        self, node: ast.BinOp | ast.AugAssign, left: ast.expr, operator: ast.operator, right: ast.expr, ending: str = ""
    ) -> None:
        """Plan a binary operator unless its operands cannot be numbers."""
        sign = SIGNS.get(type(operator))
        if sign is None or is_no_number(left) or is_no_number(right):
            return
        if isinstance(left, ast.Subscript) and ending and isinstance(left.slice, ast.Slice):
            return
        if self._changed is not None and _span(node) not in self._changed:
            return
        site = Site(-1, "arithmetic", self._function, node.lineno, sign + ending, decides=False, span=_span(node))
        self.infection.append((node, site))

    def _read(self, node: ast.Name | ast.Attribute) -> None:
        """Plan the read of a variable or attribute that mutants change."""
        # An operand occurs twice in an expanded chain, with the same value, so only the first gets a site.
        alternatives = (
            self._changed.pop(_span(node), None) if self._changed and isinstance(node.ctx, ast.Load) else None
        )
        if alternatives is not None:
            site = Site(
                -1,
                "value",
                self._function,
                node.lineno,
                decides=False,
                span=_span(node),
                alternatives=tuple(alternatives),
            )
            self.infection.append((node, site))

    def _if_expression(self, node: ast.IfExp, part: Callable[[ast.expr], None]) -> None:
        self._test(node.test)
        decided = constant_truth(node.test)
        if decided is not False:
            part(node.body)
        if decided is not True:
            part(node.orelse)

    def _comprehension(self, node: Comprehension) -> None:
        for clause in node.generators:
            self._value(clause.iter)
            self.blocks[clause] = self._site("block", clause.target.lineno, burns=True)
            self._value(clause.target)
            for condition in clause.ifs:
                self._test(condition)
            self._pauses = self._pauses or bool(clause.is_async)
        if isinstance(node, ast.DictComp):
            self._values([node.key, node.value])
        else:
            self._value(node.elt)


def _span(node: ast.expr | ast.stmt) -> tuple[int, ...]:
    return (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def _literal(node: ast.expr) -> str:
    """Return the type name of a literal, "" for any other expression."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return type(node).__name__.lower() if all(map(_literal, node.elts)) else ""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return type(node.value).__name__ if isinstance(node, ast.Constant) else ""
