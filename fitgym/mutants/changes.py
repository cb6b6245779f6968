"""Changes: one walk over a module finds all candidate mutants; `generation.mutants` selects among them.

This module walks over scopes and statements; `expression_changes` changes expressions.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fitgym.mutants.equivalence import breaks, is_for_tools, is_nothing, telling
from fitgym.mutants.expression_changes import ExpressionChanges
from fitgym.mutants.operators import SIGNS, is_no_number
from fitgym.mutants.scopes import Locals
from fitgym.mutants.text import span_of
from fitgym.subject.code.syntax import constant_truth, docstring_end

__all__ = ["Changes"]

_PREDICATES = frozenset(
    {
        *("all", "any", "bool", "callable", "hasattr", "isinstance", "issubclass"),
        *(
            "endswith",
            "isalnum",
            "isalpha",
            "isdecimal",
            "isdigit",
            "isdisjoint",
            "isidentifier",
            "islower",
            "isnumeric",
        ),
        *("isspace", "issubset", "issuperset", "istitle", "isupper", "startswith"),
        *("exists", "is_absolute", "is_dir", "is_file", "isfinite", "isinf", "isnan"),
    }
)
"""Functions and methods that return True or False."""


class Changes(ExpressionChanges):
    """One walk over a module that finds all candidate mutants.

    Args:
        text: the source of the module.
        patterns: the regular expressions that it uses.
        tables: its constant tables.
    """

    # Scopes

    def module(self, tree: ast.Module) -> None:
        """Walk over the whole module."""
        self._body(tree.body)

    def _scope(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._header(node)
        with self._inside(node.name, node.lineno, Locals.of(node)):
            self._body(node.body[docstring_end(node.body) :], last=True)

    def _header(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults]:
            self._value(part)

    def _class(self, node: ast.ClassDef) -> None:
        for part in [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]:
            self._value(part)
        outer = (self._prefix, self._locals, self._at_end)
        self._prefix = f"{self._prefix}{node.name}."
        self._locals = Locals.none()
        self._body(node.body[docstring_end(node.body) :])
        self._prefix, self._locals, self._at_end = outer

    # Statements

    def _body(self, body: Sequence[ast.stmt], *, last: bool = False, loop: bool = False) -> bool:
        """Walk over statements in sequence. Returns whether control can reach the end of the last one.

        Args:
            body: the statements.
            last: nothing follows them in the function.
            loop: nothing follows them in one iteration of a loop.
        """
        for statement in body:
            is_last = statement is body[-1]
            self._at_end = last and is_last
            if not self._statement(statement, at_round=loop and is_last):
                return False
        return True

    def _block(self, body: Sequence[ast.stmt], *, last: bool = False, loop: bool = False) -> bool:
        """Walk over a body that may be skipped: its assignments may not happen, so they are forgotten."""
        outer = self._locals
        completes = self._body(body, last=last, loop=loop)
        self._locals = outer
        return completes

    def _statement(self, node: ast.stmt, at_round: bool) -> bool:
        """Walk over one statement. Returns whether control can reach its end."""
        last = self._at_end
        self._delete(node, at_round)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._scope(node)
            case ast.ClassDef():
                self._class(node)
            case ast.If():
                return self._if(node, last, at_round)
            case ast.While():
                return self._while(node)
            case ast.For() | ast.AsyncFor():
                self._value(node.iter)
                self._target(node.target)
                outer, self._locals = self._locals, self._locals.assigned(node.target, node.iter, element=True)
                self._block(node.body, loop=True)
                self._locals = outer
                return self._block(node.orelse, last=last) or breaks(node.body)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    self._value(item.context_expr)
                    if item.optional_vars is not None:
                        self._target(item.optional_vars)
                        self._locals = self._locals.assigned(item.optional_vars)
                self._block(node.body)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Match():
                self._value(node.subject)
                for case in node.cases:
                    if case.guard is not None:
                        self._test(case.guard)
                    self._block(case.body, last=last)
            case ast.Assert():
                self._test(node.test)
                return constant_truth(node.test) is not False
            case ast.Return():
                self._truth_returned(node.value)
                self._value(node.value)
                return False
            case ast.Raise():
                outer_silent, self._silent = self._silent, True
                self._value(node.exc)
                self._value(node.cause)
                self._silent = outer_silent
                return False
            case ast.Break() | ast.Continue():
                return False
            case ast.Assign():
                self._value(node.value)
                for target in node.targets:
                    self._target(target)
                    self._locals = self._locals.assigned(target, node.value)
            case ast.AnnAssign():
                if node.value is not None:
                    self._value(node.value)
                    self._target(node.target)
                    self._locals = self._locals.assigned(node.target, node.value)
            case ast.AugAssign():
                self._augmented(node)
            case ast.Expr():
                if not isinstance(node.value, ast.Constant):
                    self._value(node.value)
            case ast.Delete():
                for target in node.targets:
                    self._target(target)
            case _:
                pass
        return True

    def _if(self, node: ast.If, last: bool, at_round: bool) -> bool:
        if is_for_tools(node.test):
            return self._block(node.orelse, last=last, loop=at_round) or not node.orelse
        self._test(node.test)
        decided = constant_truth(node.test)
        before = self._locals
        ends = []
        for truth, body in ((True, node.body), (False, node.orelse)):
            self._locals = before
            if decided is (not truth):
                continue
            if self._body(body, last=last, loop=at_round):
                ends.append(self._locals)
        self._locals = Locals.common(ends) if ends else before
        return bool(ends)

    def _while(self, node: ast.While) -> bool:
        self._test(node.test)
        decided = constant_truth(node.test)
        if decided is not False:
            self._block(node.body, loop=True)
        completes = decided is not True and self._block(node.orelse)
        return completes or breaks(node.body)

    def _try(self, node: ast.Try | ast.TryStar) -> bool:
        before = self._locals
        completes = self._body(node.body)
        if completes:
            completes = self._body(node.orelse)
        after, self._locals = self._locals, before
        handled = False
        for handler in node.handlers:
            if handler.type is not None:
                self._alternatives(handler.type)
                self._value(handler.type)
            handled = self._block(handler.body) or handled
        ended = self._body(node.finalbody) if node.finalbody else True
        if not node.handlers and not node.finalbody:
            self._locals = after
        return (completes or handled) and ended

    def _augmented(self, node: ast.AugAssign) -> None:
        self._target(node.target)
        sign = SIGNS.get(type(node.op))
        sliced = isinstance(node.target, ast.Subscript) and isinstance(node.target.slice, ast.Slice)
        if sign is not None and not is_no_number(node.value) and not sliced:
            where = self._text.operator(node.target, f"{sign}=")
            span = span_of(node)
            for rank, other in enumerate(telling(sign, node.value)):
                text = self._text.edited(span, (where, f"{other}="))
                self._add("arithmetic", span, where, f"{sign}=", f"{other}=", text, "arithmetic", [(span, True)], rank)
        self._value(node.value, numeric=sign is not None and not is_no_number(node.value))

    def _truth_returned(self, node: ast.expr | None) -> None:
        """Add the mutants that always return True or False, if the result is a truth value that nothing else changes.

        The operators of comparisons and connectives change theirs.
        """
        match node:
            case ast.Name(id=name):
                is_truth = self._locals.kind(name) == "bool"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                is_truth = name in _PREDICATES or self._locals.returns == "bool"
            case ast.Attribute() | ast.Subscript():
                is_truth = self._locals.returns == "bool"
            case _:
                return
        self._instead("relational", node, ("False", "True") if is_truth else ())

    def _delete(self, node: ast.stmt, at_round: bool) -> None:
        """Add the mutant that deletes the statement."""
        match node:
            case ast.Assign() | ast.AugAssign() | ast.Raise() | ast.Delete() | ast.Break() | ast.Assert():
                pass
            case ast.AnnAssign() if node.value is not None:
                pass
            case ast.Expr() if not isinstance(node.value, (ast.Constant, ast.Name)):
                pass
            case ast.Return() if not (self._at_end and is_nothing(node.value)):
                pass
            case ast.Continue() if not at_round:
                pass
            case _:
                return
        span = span_of(node)
        text = self._text.at(span)
        if "yield" in text and any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node)):
            return
        # An inner function may declare a variable nonlocal; the compiler needs its binding here.
        if shared := self._locals.nonlocal_below:
            stored = (
                part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
            )
            if not shared.isdisjoint(stored):
                return
        self._add("deletion", span, span, text, "pass", "pass", "line", [])
