"""The plan of the probes: gives each predicate, loop, case and basic block of a module a numbered site.

The numbers follow the order of evaluation. For example, the condition of a ternary comes before its results, and the
clauses of a comprehension before its element. So a site depends only on sites with smaller numbers, except along the
back edges of loops. `fitgym.instrument.rewriting.expression_sites` plans the sites of expressions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fitgym.instrument.rewriting.expression_sites import ExpressionSites, FunctionNode
from fitgym.mutants.mutant import Mutant
from fitgym.subject.code.syntax import constant_truth, deep_trees, docstring_end, irrefutable
from fitgym.subject.subject import Function, Site

__all__ = ["Plan", "plan"]

# A new block starts after these statements, because the code after them may run more or less often than before.
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
    """The places of the probes of one module.

    Attributes:
        sites: sites by id.
        functions: functions by id; 0 is the module body. The body of a class belongs to the function around it.
        at: the site of a predicate (any expression), of a loop (`For`, `AsyncFor`) and of a `match_case`.
        blocks: the block that starts at a statement; for an `ExceptHandler`, a `match_case` and a `comprehension` the
            block of its header (the evaluation of the exception class, the attempt to match, one iteration).
        entries: the block at the start of a `Module`, `ClassDef`, `FunctionDef`, `AsyncFunctionDef` or `Lambda`.
        infection: the site of a `BinOp`, `AugAssign`, `Name` or `Attribute` that mutants change; empty without the
            feature "infection".
    """

    sites: tuple[Site, ...]
    functions: tuple[Function, ...]
    at: dict[ast.AST, int]
    blocks: dict[ast.AST, int]
    entries: dict[ast.AST, int]
    infection: dict[ast.AST, int]

    def sites_in(self, tree: ast.AST) -> Iterator[int]:
        """Yield the sites of a part of the module, without infection sites, even in code that the compiler drops."""
        for node in ast.walk(tree):
            for known in (self.at, self.blocks, self.entries):
                if node in known:
                    yield known[node]

    def infected_in(self, tree: ast.AST) -> Iterator[int]:
        """Yield the infection sites of a part of the module."""
        return (self.infection[node] for node in ast.walk(tree) if node in self.infection)


def plan(tree: ast.Module, features: frozenset[str] = frozenset(), mutants: Iterable[Mutant] | None = None) -> Plan:
    """Return the sites of `tree`, numbered from 0 in order of evaluation. Depends only on the arguments.

    Code that the compiler drops (after `return`, under `if False`) gets no sites.

    Args:
        tree: a module.
        features: with "infection" arithmetic has sites too; their numbers come after all others.
        mutants: with "infection" only the arithmetic and the values changed by these mutants have sites. None for all
            arithmetic and no values.
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


class _Planner(ExpressionSites):
    """The walk over a module: statements and scopes here, expressions in the base class."""

    def __init__(self, mutants: Iterable[Mutant] | None) -> None:
        super().__init__(mutants)
        # Each `if` that can complete only through the false outcome of one condition, with that condition.
        self._guards: dict[ast.stmt, ast.expr] = {}
        # One flag per loop around the current statement: True if a reachable `break` leaves it.
        self._broken: list[bool] = []
        self._block = -1

    # Lines

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

    # Statements

    def _run(
        self, body: list[ast.stmt], block: int = -1, *, alone: bool = False, catches: bool = False, burns: bool = False
    ) -> bool:
        """Plan a sequence of statements. Returns True if the end of the last one can be reached.

        Args:
            body: the statements.
            block: the open block, -1 to start one at the first statement.
            alone: make every statement its own block, because each one can be the last to run.
            catches: the first block is the start of an `except` body.
            burns: the first block is the start of a loop body.
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
        """Return the lines that count for a statement: its first line, and the lines of its decorators."""
        if isinstance(statement, (ast.Global, ast.Nonlocal)):
            return []
        if isinstance(statement, ast.AnnAssign) and statement.value is None and self._in_function:
            return [] if isinstance(statement.target, ast.Name) else [statement.lineno]
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return [*(decorator.lineno for decorator in statement.decorator_list), statement.lineno]
        return [statement.lineno]

    def _statement(self, node: ast.stmt) -> bool:
        """Plan one statement. Returns True if its end can be reached."""
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
                # A context manager may suppress any exception of the body: the code after it can always be reached.
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
                pass  # its parts are evaluated lazily, in their own scope
            case _:
                self._values(ast.iter_child_nodes(node))
        return True

    def _class(self, node: ast.ClassDef) -> None:
        self._values(node.decorator_list)
        if not getattr(node, "type_params", None):  # otherwise the bases belong to an annotation scope
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
