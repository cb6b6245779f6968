"""Where the probes go: every predicate, loop, case and straight run of code of a module, numbered in order.

Three contexts decide what happens to an expression. As a *test* (`if`, `while`, `assert`, a filter, a guard) its parts
decide and only their truth is used. As a *value* nothing decides but the operands of `and` and `or`, and whatever is
computed must be handed on unchanged. Under a `not` outside a test only the truth is used, but the last part decides
nothing. Numbers follow the order of evaluation (a ternary's condition before its results, the clauses of a
comprehension before its element), so that a site only ever depends on sites with smaller numbers, loops left aside.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from fitgym.subject.mutant import Mutant
from fitgym.subject.operators import COMPARISONS, SIGNS, is_no_number
from fitgym.subject.subject import Function, Site, SiteKind
from fitgym.subject.syntax import constant_truth, deep_trees, docstring_end, irrefutable

__all__ = ["Plan", "plan"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

# After these a new block begins, because what follows may run more or less often than what stands before.
_DIVIDING = (
    ast.Assert,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Where the probes of one module go.

    Attributes:
        sites: by id.
        functions: by id; 0 is the module body. The body of a class belongs to the function around it.
        at: the site of a predicate (any expression), of a loop (`For`, `AsyncFor`) and of a `match_case`.
        blocks: the block that starts at a statement; for an `ExceptHandler`, a `match_case` and a `comprehension` the
            block of its header (the evaluation of the exception class, the attempt to match, one iteration).
        entries: the block at the start of a `Module`, `ClassDef`, `FunctionDef`, `AsyncFunctionDef` or `Lambda`.
        infection: the site of a `BinOp`, `AugAssign`, `Name` or `Attribute` that mutants change; empty if it was not asked
            for.
    """

    sites: tuple[Site, ...]
    functions: tuple[Function, ...]
    at: dict[ast.AST, int]
    blocks: dict[ast.AST, int]
    entries: dict[ast.AST, int]
    infection: dict[ast.AST, int]

    def sites_in(self, tree: ast.AST) -> Iterator[int]:
        """The sites of a part of the module, without those of infection; whether or not the compiler drops some of it."""
        for node in ast.walk(tree):
            for known in (self.at, self.blocks, self.entries):
                if node in known:
                    yield known[node]

    def infected_in(self, tree: ast.AST) -> Iterator[int]:
        """The sites of infection of a part of the module."""
        return (self.infection[node] for node in ast.walk(tree) if node in self.infection)


def plan(tree: ast.Module, features: frozenset[str] = frozenset(), mutants: Iterable[Mutant] | None = None) -> Plan:
    """The sites of `tree`, numbered from 0 in order of evaluation; depends on nothing but the arguments.

    Code that the compiler drops (after `return`, under `if False`) gets no sites.

    Args:
        tree: a module.
        features: with "infection" there are sites for arithmetic as well; their numbers follow all others.
        mutants: with "infection" there are sites for the arithmetic and the values that these change, and for no others;
            None for all arithmetic and no values.
    """
    planner = _Planner(mutants)
    end = max((statement.end_lineno or 1 for statement in tree.body), default=1)
    with deep_trees():
        planner.scope(tree, "<module>", tree.body[0].lineno if tree.body else 1, end, tree.body)
    sites = [
        replace(site, lines=tuple(lines)) if (lines := planner.lines.get(site.id)) else site for site in planner.sites
    ]
    infection: dict[ast.AST, int] = {}
    if "infection" in features:
        for node, site in planner.infection:
            infection[node] = len(sites)
            sites.append(replace(site, id=len(sites)))
    return Plan(tuple(sites), tuple(planner.functions), planner.at, planner.blocks, planner.entries, infection)


class _Planner:
    """One walk over a module."""

    def __init__(self, mutants: Iterable[Mutant] | None) -> None:
        # For each expression that has a site of infection the alternatives to its value.
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
        # For an `if` that is left over the false outcome of one condition only, at its end, that condition.
        self._guards: dict[ast.stmt, ast.expr] = {}
        self._slots = 0
        self._function = -1
        self._prefix = ""
        self._in_function = False
        # One flag for each loop around the current statement: a `break` that can run leaves it.
        self._broken: list[bool] = []
        # The statement at hand can be left for ever at a `yield` or `await`.
        self._pauses = False
        self._block = -1

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

    def _add_lines(self, block: int, lines: Iterable[int]) -> None:
        known = self.lines[block]
        for line in lines:
            if not known or known[-1] != line:
                known.append(line)

    # Scopes

    def scope(self, node: ast.Module | FunctionNode, name: str, line: int, end: int, body: list[ast.stmt]) -> None:
        """Plan one function body or the module body."""
        outer = (self._function, self._prefix, self._in_function, self._broken, self._pauses, self._block)
        is_module = isinstance(node, ast.Module)
        self._in_function = not is_module
        self._prefix = "" if is_module else f"{name}.<locals>."
        self._broken = []
        entry = self._entry(node, name, line, end)
        self._run(body[docstring_end(body) :], entry)
        self._function, self._prefix, self._in_function, self._broken, self._pauses, self._block = outer

    def _entry(self, node: ast.AST, name: str, line: int, end: int) -> int:
        """Register a function with its entry block and make it the current one."""
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

    # Statements

    def _run(
        self, body: list[ast.stmt], block: int = -1, *, alone: bool = False, catches: bool = False, burns: bool = False
    ) -> bool:
        """Plan statements that follow each other; true if the end of the last one can be reached.

        Args:
            body: the statements.
            block: the block that is open already, -1 to start one at the first statement.
            alone: every statement is a block of its own, because each one can be the last.
            catches: the first block is the start of an `except` body.
            burns: the first block is the start of the body of a loop.
        """
        guard: ast.expr | None = None
        for statement in body:
            if block < 0:
                block = self._site("block", statement.lineno, catches=catches, burns=burns)
                self.blocks[statement] = block
                if guard is not None:
                    self._lead(guard, false=block)
            catches = burns = False
            self._add_lines(block, self._lines_of(statement))
            self._block = block
            self._pauses = False
            if not self._statement(statement):
                return False
            guard = self._guards.get(statement)
            if alone or self._pauses or isinstance(statement, _DIVIDING):
                block = -1
        return True

    def _lines_of(self, statement: ast.stmt) -> list[int]:
        """The lines of a statement that count: of its header if it is compound, the first of several."""
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            return []
        if isinstance(statement, ast.AnnAssign) and statement.value is None and self._in_function:
            return [] if isinstance(statement.target, ast.Name) else [statement.lineno]
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return [*(decorator.lineno for decorator in statement.decorator_list), statement.lineno]
        return [statement.lineno]

    def _statement(self, node: ast.stmt) -> bool:
        """Plan one statement; true if its end can be reached."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._values([*node.decorator_list, *node.args.defaults, *node.args.kw_defaults])
                name = f"{self._prefix}{node.name}"
                self.scope(node, name, node.lineno, node.end_lineno or node.lineno, node.body)
            case ast.ClassDef():
                self._class(node)
            case ast.If():
                return self._if(node)
            case ast.While():
                return self._while(node)
            case ast.For() | ast.AsyncFor():
                return self._for(node)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._values([item.context_expr, item.optional_vars])
                # A context manager may swallow any exception of the body: what follows can always be reached.
                self._run(node.body, alone=True)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Match():
                return self._match(node)
            case ast.Assert():
                return self._assert(node)
            case ast.Break():
                self._broken[-1] = True
                return False
            case ast.Return() | ast.Raise() | ast.Continue():
                self._values(ast.iter_child_nodes(node))
                return False
            case ast.Assign():
                self._values([node.value, *node.targets])
            case ast.AnnAssign():
                self._values([node.value, node.target])
            case ast.AugAssign():
                self._values([node.target, node.value])
                self._arithmetic(node, node.target, node.op, node.value, "=")
            case _ if type(node).__name__ == "TypeAlias":
                pass  # its parts are evaluated lazily, in a scope of their own
            case _:
                self._values(ast.iter_child_nodes(node))
        return True

    def _class(self, node: ast.ClassDef) -> None:
        self._values(node.decorator_list)
        if not getattr(node, "type_params", None):  # otherwise the bases stand in an annotation scope
            self._values([*node.bases, *(keyword.value for keyword in node.keywords)])
        outer = (self._prefix, self._in_function, self._pauses, self._block)
        self._prefix = f"{self._prefix}{node.name}."
        self._in_function = False
        entry = self._site("block", node.lineno)
        self.entries[node] = entry
        self._run(node.body[docstring_end(node.body) :], entry)
        self._prefix, self._in_function, self._pauses, self._block = outer

    def _if(self, node: ast.If) -> bool:
        self._test(node.test)
        decided = constant_truth(node.test)
        completes = False
        if decided is not False:
            completes = self._run(node.body)
        left = not completes
        if decided is not True:
            completes = self._run(node.orelse) or completes
        if decided is None:
            self._lead(node.test, true=self.blocks[node.body[0]])
            if node.orelse:
                self._lead(node.test, false=self.blocks[node.orelse[0]])
            if left and not node.orelse:
                self._guards[node] = node.test
            elif left and node.orelse[0] in self._guards and len(node.orelse) == 1:
                self._guards[node] = self._guards[node.orelse[0]]
        return completes

    def _while(self, node: ast.While) -> bool:
        self._test(node.test, in_loop=True)
        decided = constant_truth(node.test)
        self._broken.append(False)
        if decided is not False:
            self._run(node.body, burns=True)
        broken = self._broken.pop()
        completes = False
        if decided is not True:
            completes = self._run(node.orelse)
        return completes or broken

    def _for(self, node: ast.For | ast.AsyncFor) -> bool:
        self._value(node.iter)
        operator = "async for" if isinstance(node, ast.AsyncFor) else ""
        self.at[node] = self._site("loop", node.lineno, operator, in_loop=True)
        self._value(node.target)
        self._broken.append(False)
        self._run(node.body, burns=True)
        broken = self._broken.pop()
        return self._run(node.orelse) or broken

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        completes = self._run(node.body, alone=True)
        handled = False
        for handler in node.handlers:
            block = -1
            if handler.type is None:
                block = self._site("block", handler.body[0].lineno, catches=True)
                self.blocks[handler.body[0]] = block
                self._add_lines(block, [handler.lineno])
            else:
                header = self._site("block", handler.lineno)
                self.blocks[handler] = header
                self._add_lines(header, [handler.lineno])
                self._value(handler.type)
            handled = self._run(handler.body, block, catches=True) or handled
        if completes:
            completes = self._run(node.orelse)
        completes = completes or handled
        if node.finalbody:
            completes = self._run(node.finalbody) and completes
        return completes

    def _match(self, node: ast.Match) -> bool:
        block = self._block
        self._value(node.subject)
        exhaustive = False
        bodies: list[bool] = []
        for index, case in enumerate(node.cases):
            line = case.pattern.lineno
            always = irrefutable(case.pattern)
            body = -1
            if index == 0:
                self._add_lines(block, [line])
            elif always and case.guard is None:
                body = self._site("block", line)
                self.blocks[case.body[0]] = body
                self._add_lines(body, [line])
            else:
                header = self._site("block", line)
                self.blocks[case] = header
                self._add_lines(header, [line])
            if not always:
                self.at[case] = self._site("case", line)
            if case.guard is not None:
                self._test(case.guard)
            elif always:
                exhaustive = True
            bodies.append(self._run(case.body, body))
        return any(bodies) or not exhaustive

    def _assert(self, node: ast.Assert) -> bool:
        self._test(node.test)
        decided = constant_truth(node.test)
        if decided is not True:
            self._values([node.msg])
        return decided is not False

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
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, (ast.expr, ast.keyword)):
                        self._value(child)

    def _test(self, node: ast.expr, *, passes: bool = False, in_loop: bool = False) -> None:
        """Plan an expression whose truth decides where control goes; with `passes` its value is used as well."""
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
        """A block begins as soon as a planned test is true, or is false, and in no other way."""
        found = self._conditions(test, true, false)
        if found is not None:
            for site, outcome, block in found:
                leads = [*(self.sites[site].leads or (-1, -1))]
                leads[not outcome] = block
                self.sites[site] = replace(self.sites[site], leads=tuple(leads))

    def _conditions(self, test: ast.expr, true: int, false: int) -> list[tuple[int, bool, int]] | None:
        """Which condition, by its site, leads with which outcome to which of the blocks; None if there are others."""
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
        """Plan the operand of a `not` whose result is a value."""
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
        """Plan a binary operator whose operands may be numbers."""
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
        """Plan the use of a variable or attribute that mutants change."""
        # In an expanded chain an operand stands twice; its value is the same both times.
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
    """The type of a literal, "" of any other expression."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return type(node).__name__.lower() if all(map(_literal, node.elts)) else ""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return type(node.value).__name__ if isinstance(node, ast.Constant) else ""
