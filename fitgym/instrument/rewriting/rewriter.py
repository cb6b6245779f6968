"""The rewriter: inserts a call of a placeholder into the syntax tree at each planned site.

    a < b           becomes   P(a, b)              x (a condition)      becomes   P(x)
    for x in xs:    becomes   for x in P(xs):      a basic block        begins with   P()
    lambda: x       becomes   lambda: P() or x     case p:              becomes   case p if P(1):, then case _ if P(0):
    a + b           becomes   P(a, b)              a += b               becomes   a = P(a, b)
    x (a variable)  becomes   P(x, y, z)

P is a placeholder (`fitgym.instrument.rewriting.placeholders`). The probe of a block returns None. y and z are the
alternatives to x in mutants. The line numbers of the source are kept.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeVar

from fitgym.instrument.rewriting.expression_sites import FunctionNode
from fitgym.instrument.rewriting.placeholders import ATTRIBUTE, INTO_ATTRIBUTE, INTO_ITEM, ITEM, LEADING, placeholder
from fitgym.instrument.rewriting.plan import Plan
from fitgym.subject.code.syntax import docstring_end
from fitgym.subject.code.tables import is_table

__all__ = ["GUARD_DECIDED", "MATCHED", "MISSED", "Rewriter"]

MISSED, MATCHED, GUARD_DECIDED = 0, 1, 2
"""First argument of the probe of a `case`: the pattern did not match, it matched, or its guard was evaluated.

With GUARD_DECIDED the second argument is the outcome of the guard. After a false guard the next call has MISSED,
although the pattern matched.
"""

_START = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)

_LONG_CHAIN = 100  # of `elif` arms

Node = TypeVar("Node", bound=ast.AST)


class Rewriter:
    """Builds a tree with probes. Subtrees without probes are shared with the original, which is not changed.

    Args:
        where: the plan of the original tree.
        leading: the probe of a condition also counts the blocks in `Site.leads`. These blocks get no probe.
    """

    def __init__(self, where: Plan, leading: bool) -> None:
        self._at = where.at
        self._blocks = where.blocks
        self._entries = where.entries
        self._infection = where.infection
        self._sites = where.sites
        self._leading = leading
        self._led = {block for site in where.sites for block in site.leads} if leading else set()
        self._class = ""  # class name for mangling private names

    def module(self, node: ast.Module) -> ast.Module:
        """Return the module with probes. Its own probe follows the docstring and the `from __future__` imports."""
        start = docstring_end(node.body)
        while start < len(node.body) and _is_future(node.body[start]):
            start += 1
        body = self._statements(node.body[start:])
        like = node.body[0] if node.body else None
        return _changed(node, body=[*node.body[:start], _probe_statement(self._entries[node], like or _START), *body])

    def alone(self, function: FunctionNode | ast.Lambda, classes: Sequence[str]) -> ast.Module:
        """Return a module with one function, inside classes of these names."""
        self._class = classes[-1] if classes else ""
        new = self._node(function)
        statement: ast.stmt
        if isinstance(new, ast.Lambda):
            statement = ast.copy_location(ast.Expr(new), new)
        else:
            statement = _changed(new, decorator_list=[])
        for name in reversed(classes):
            (around,) = ast.parse(f"class {name}: pass").body
            statement = _changed(ast.copy_location(around, statement), body=[statement])
        return ast.Module([statement], [])

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for statement in body:
            block = self._blocks.get(statement)
            if block is not None and block not in self._led:
                statements.append(_probe_statement(block, statement))
            statements.append(self._node(statement))
        return statements

    def _scope_body(self, node: ast.AST, body: list[ast.stmt]) -> list[ast.stmt]:
        entry = self._entries.get(node)
        if entry is None:
            return body
        start = docstring_end(body)
        like = body[start] if start < len(body) else body[0]
        return [*body[:start], _probe_statement(entry, like), *self._statements(body[start:])]

    def _fields(self, node: Node, **ready: Any) -> Node:
        """Return the node with its children rewritten, or the node itself if no child changes."""
        changes = {name: value for name, value in ready.items() if value is not getattr(node, name)}
        for name in node._fields:
            if name in ready:
                continue
            value = getattr(node, name, None)
            if isinstance(value, list):
                if not value or not isinstance(value[0] or value[-1], ast.AST):
                    continue
                if isinstance(value[0], ast.stmt):
                    children = self._statements(value)
                else:
                    children = [child and self._node(child) for child in value]
                if len(children) != len(value) or any(a is not b for a, b in zip(children, value, strict=True)):
                    changes[name] = children
            elif isinstance(value, ast.AST):
                child = self._node(value)
                if child is not value:
                    changes[name] = child
        return _changed(node, **changes) if changes else node

    def _node(self, node: Any) -> Any:
        """Return the node with probes. It has the same type, or is a call if it was an expression."""
        match node:
            case ast.Name() | ast.Attribute():
                return self._read(node)
            case ast.Constant() | ast.expr_context() | ast.operator():
                return node
            case _ if node not in self._at and is_table(node):
                return node
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return self._fields(node, body=self._scope_body(node, node.body))
            case ast.ClassDef():
                outer, self._class = self._class, node.name
                body = self._scope_body(node, node.body)
                self._class = outer
                return self._fields(node, body=body)
            case ast.Lambda():
                new = self._fields(node)
                entry = self._entries.get(node)
                return new if entry is None else _changed(new, body=_before(entry, node.body, new.body))
            case ast.For() | ast.AsyncFor() if node in self._at:
                return self._fields(node, iter=_probe(self._at[node], node.iter, self._node(node.iter)))
            case ast.ExceptHandler() if node in self._blocks and node.type is not None:
                return self._fields(node, type=_before(self._blocks[node], node.type, self._node(node.type)))
            case ast.Match():
                return self._fields(node, cases=self._cases(node))
            case ast.If() if len(arms := _arms(node)) > _LONG_CHAIN:
                return self._flat(node, arms)
            case ast.comprehension() if node in self._blocks:
                fresh = ast.copy_location(ast.UnaryOp(ast.Not(), _probe(self._blocks[node], node.target)), node.target)
                return self._fields(node, ifs=[fresh, *(self._node(condition) for condition in node.ifs)])
            case ast.Compare(ops=[_]) if node in self._at:
                left, right = self._node(node.left), self._node(node.comparators[0])
                return self._condition(node, node, left, _constant_container(right, node.ops[0]))
            case ast.BinOp() if node in self._infection:
                result = _probe(self._infection[node], node, self._node(node.left), self._node(node.right))
                return self._condition(node, node, result) if node in self._at else result
            case ast.AugAssign() if node in self._infection:
                return self._augmented(node)
            case _:
                new = self._fields(node)
                if node in self._at and isinstance(new, ast.expr):
                    return self._condition(node, new, new)
                return new

    def _read(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """Return a read of a variable or attribute, with its alternatives in mutants if it has an infection site."""
        new: ast.expr = node if isinstance(node, ast.Name) else self._fields(node)
        if node in self._infection:
            number = self._infection[node]
            names = self._sites[number].alternatives
            new = _probe(number, node, new, *(ast.copy_location(ast.Name(name, ast.Load()), node) for name in names))
        return self._condition(node, node, new) if node in self._at else new

    def _condition(self, node: ast.expr, like: ast.expr, *args: ast.expr) -> ast.Call:
        """Return a call of the probe of a condition."""
        site = self._at[node]
        call = _probe(site, like, *args)
        if self._leading and self._sites[site].leads:
            call.func = placeholder(f"{site}{LEADING}", like)
        return call

    def _augmented(self, node: ast.AugAssign) -> ast.stmt:
        """Return an augmented assignment with a probe. The parts of its target are evaluated once."""
        site, target, value = self._infection[node], node.target, self._node(node.value)
        if isinstance(target, ast.Name):
            old = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            return ast.copy_location(ast.Assign([target], _probe(site, node, old, value)), node)
        # The old value is read before the right side is evaluated. The place is passed on to the probe that stores.
        if isinstance(target, ast.Subscript):
            parts, helper, ending = [self._node(target.value), self._node(target.slice)], ITEM, INTO_ITEM
        else:
            name = ast.copy_location(ast.Constant(_mangled(target.attr, self._class)), target)
            parts, helper, ending = [self._node(target.value), name], ATTRIBUTE, INTO_ATTRIBUTE
        place = ast.copy_location(ast.Call(placeholder(helper, target), parts, []), target)
        store = ast.Call(placeholder(f"{site}{ending}", node), [place, value], [])
        return ast.copy_location(ast.Expr(ast.copy_location(store, node)), node)

    def _flat(self, node: ast.If, arms: list[ast.If]) -> ast.Match:
        """Return a long `elif` chain as one `match`, whose tree is no deeper than that of a single `if`.

        The compiler of Python 3.12 rejects syntax trees with a depth of about 1,500.
        """
        cases: list[ast.match_case] = []
        for arm in arms:
            block = self._blocks.get(arm)
            if arm is not node and block is not None and block not in self._led:
                cases += _never([_probe(block, arm.test)])
            wildcard = ast.copy_location(ast.MatchAs(), arm.test)
            cases.append(ast.match_case(wildcard, self._node(arm.test), self._statements(arm.body)))
        if arms[-1].orelse:
            wildcard = ast.copy_location(ast.MatchAs(), arms[-1].orelse[0])
            cases.append(ast.match_case(wildcard, None, self._statements(arms[-1].orelse)))
        nothing = ast.copy_location(ast.Constant(None), node.test)
        return ast.copy_location(ast.Match(nothing, cases), node)

    def _cases(self, node: ast.Match) -> list[ast.match_case]:
        """Return the cases with probes. Added cases that never match report that the case before did not match."""
        cases: list[ast.match_case] = []
        before: int | None = None
        for case in node.cases:
            like = case.pattern
            calls: list[ast.expr] = []
            if before is not None:
                calls.append(_probe(before, like, _number(MISSED, like)))
            if case in self._blocks:
                calls.append(_probe(self._blocks[case], like))
            cases += _never(calls)
            before = self._at.get(case)
            guard = case.guard and self._node(case.guard)
            if before is not None:
                matched: ast.expr = _probe(before, like, _number(MATCHED, like))
                if guard is not None:
                    decided = _probe(before, guard, _number(GUARD_DECIDED, like), guard)
                    matched = ast.copy_location(ast.BoolOp(ast.And(), [matched, decided]), guard)
                guard = matched
            cases.append(_changed(case, guard=guard, body=self._statements(case.body)))
        if before is not None:
            like = node.cases[-1].pattern
            cases += _never([_probe(before, like, _number(MISSED, like))])
        return cases


def _arms(node: ast.If) -> list[ast.If]:
    """Return an `if` and the `elif` arms after it, in order."""
    arms = [node]
    while len(arms[-1].orelse) == 1 and isinstance(following := arms[-1].orelse[0], ast.If):
        arms.append(following)
    return arms


def _never(calls: list[ast.expr]) -> list[ast.match_case]:
    """Return a case whose guard makes the calls and is never true; nothing if there are no calls."""
    if not calls:
        return []
    like = calls[0]
    guard = calls[0] if len(calls) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), calls), like)
    wildcard = ast.copy_location(ast.MatchAs(), like)
    return [ast.match_case(wildcard, guard, [ast.copy_location(ast.Pass(), like)])]


def _changed(node: Node, **changes: Any) -> Node:
    """Return a copy of `node` with some fields replaced."""
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    return ast.copy_location(type(node)(**{**fields, **changes}), node)


def _constant_container(node: ast.expr, operator: ast.cmpop) -> ast.expr:
    """Return the right side of a membership test as the compiler optimises it: literal lists and sets are constants."""
    if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(node, (ast.List, ast.Set)):
        values = [item.value for item in node.elts if isinstance(item, ast.Constant)]
        if len(values) == len(node.elts):
            constant: Any = tuple(values) if isinstance(node, ast.List) else frozenset(values)
            return ast.copy_location(ast.Constant(constant), node)
    return node


def _mangled(name: str, owner: str) -> str:
    """Return the name of an attribute after name mangling in the class `owner`."""
    stripped = owner.lstrip("_")
    return f"_{stripped}{name}" if stripped and name.startswith("__") and not name.endswith("__") else name


def _probe(site: int, like: ast.expr | ast.pattern | ast.stmt, *args: ast.expr) -> ast.Call:
    """Return a call of the site's placeholder, located at `like`."""
    return ast.copy_location(ast.Call(placeholder(str(site), like), list(args), []), like)


def _before(block: int, like: ast.expr, expression: ast.expr) -> ast.expr:
    """Return the expression, evaluated after the probe of a block (which returns None)."""
    return ast.copy_location(ast.BoolOp(ast.Or(), [_probe(block, like), expression]), like)


def _probe_statement(site: int, like: ast.stmt) -> ast.Expr:
    return ast.copy_location(ast.Expr(_probe(site, like)), like)


def _number(value: int, like: ast.AST) -> ast.Constant:
    return ast.copy_location(ast.Constant(value), like)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__" and statement.level == 0
