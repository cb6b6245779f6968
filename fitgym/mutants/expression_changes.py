"""Changes of expressions: the replacements of operators, literals, variables and conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from fitgym.mutants import replacements
from fitgym.mutants.call_changes import of_call, of_collection, of_operation
from fitgym.mutants.change import Change
from fitgym.mutants.equivalence import always_agree, is_nothing, is_number, is_unordered, is_zero, level, telling
from fitgym.mutants.format_strings import of_format_string
from fitgym.mutants.mutant import PRECEDENCE, Mutant, Operator, Place, Span
from fitgym.mutants.operators import COMPARISONS, SIGNS, is_no_number
from fitgym.mutants.outcomes import either, outcomes
from fitgym.mutants.pattern_uses import PatternUses
from fitgym.mutants.scopes import Locals
from fitgym.mutants.table_uses import TableUses
from fitgym.mutants.text import Text, span_of
from fitgym.subject.code.syntax import constant_truth

__all__ = ["ExpressionChanges"]

# Replacements of a number.
_FORMS = ("-{}", "{} + 1", "{} - 1")
_SIGNED, _COUNTED = _FORMS[:1], _FORMS[1:]
_VARIABLES = 2  # replacements for each use of a variable
_MESSAGE_METHODS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warn", "warning"})
_STACKLEVEL = "stacklevel"  # which line a warning names
_NUMERIC_ARGUMENTS = frozenset({"range", "abs", "round", "divmod"})
_TAKING_ALTERNATIVES = frozenset({"isinstance", "issubclass", "startswith", "endswith"})
# Expressions without side effects, which rarely raise.
_QUIET = (
    ast.Name,
    ast.Constant,
    ast.Compare,
    ast.BoolOp,
    ast.UnaryOp,
    ast.IfExp,
    ast.expr_context,
    ast.cmpop,
    ast.boolop,
    ast.unaryop,
)
_LOOSE = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)  # operands of a connective that need parentheses
_NEWLINE = "\n"
# Saved and restored around the body of a function.
_OF_A_FUNCTION = ("_function", "_first_line", "_prefix", "_locals", "_at_end", "_in_comprehension", "_guard")


class ExpressionChanges:
    """The changes found so far, and the walk over expressions that adds to them. A subclass walks over statements.

    Args:
        text: the source of the module.
        patterns: the regular expressions that it uses.
        tables: its constant tables.

    Attributes:
        found: in the order of the walk.
        at_import: the number of changes left out because they would change code that runs at import.
    """

    def __init__(self, text: Text, patterns: PatternUses, tables: TableUses) -> None:
        self.found: list[Change] = []
        self.at_import = 0
        self._text = text
        self._patterns = patterns
        self._tables = tables
        self._function = ""
        self._first_line = 1
        self._prefix = ""
        self._locals = Locals.none()
        self._guard: list[tuple[Span, bool]] = []  # the current expression is reached through one of these outcomes
        self._silent = False  # strings are messages for people
        self._at_end = False  # the current statement is the last one of the function
        self._in_comprehension = False

    # Scopes

    def _lambda(self, node: ast.Lambda) -> None:
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            self._value(default)
        if not self._function:  # the function object may be stored anywhere, so its name is unknown
            self._value(node.body)
            return
        with self._inside("<lambda>", node.lineno, Locals.none()):
            self._value(node.body)

    @contextmanager
    def _inside(self, name: str, line: int, names: Locals) -> Iterator[None]:
        """Walk over the body of a function."""
        outer = {attribute: getattr(self, attribute) for attribute in _OF_A_FUNCTION}
        self._guard = []
        self._function = f"{self._prefix}{name}"
        self._prefix = f"{self._function}.<locals>."
        self._first_line = line
        self._locals = names
        self._in_comprehension = False
        yield
        vars(self).update(outer)

    # Expressions

    def _target(self, node: ast.expr) -> None:
        """Walk over an assignment target: its parts are values."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.Tuple, ast.List, ast.Starred)) and isinstance(child.ctx, ast.Store):
                self._target(child)
            elif isinstance(child, ast.expr) and not isinstance(getattr(child, "ctx", None), (ast.Store, ast.Del)):
                self._value(child)
            elif isinstance(child, ast.expr):
                self._target(child)

    def _value(
        self,
        node: ast.AST | None,
        *,
        numeric: bool = False,
        inner: bool = False,
        forms: tuple[str, ...] = _FORMS,
    ) -> None:
        """Walk over an expression whose value is used.

        Args:
            node: the expression; None for none.
            numeric: the context expects a number.
            inner: a replacement needs parentheses.
            forms: the replacements if the expression is a variable that holds a number.
        """
        match node:
            case None:
                pass
            case ast.JoinedStr():
                self._instead("constant", node, () if self._silent else of_format_string(node))
            case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
                self._constant(node, inner)
            case ast.Name() | ast.Attribute():
                self._base(node)
                self._read(node, forms if numeric else (), forms, inner)
            case ast.Compare():
                self._comparison(node, inner)
            case ast.BoolOp():
                self._logical(node, inner, decides=False)
                self._operands(node, decides=False)
            case ast.UnaryOp(op=ast.Not()):
                self._without_not(node, [])
                self._missing(node, node.operand, "{} is None", [], inner)
                self._negated(node.operand)
            case ast.IfExp():
                self._choice(node)
            case ast.Lambda():
                self._lambda(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node)
            case ast.BinOp():
                self._binary(node, inner)
            case ast.UnaryOp():
                self._value(node.operand, numeric=True, inner=True)
            case ast.Call():
                self._call(node)
            case ast.Subscript():
                self._base(node.value)
                self._value(node.slice)
            case ast.Slice():
                for part in (node.lower, node.upper, node.step):
                    self._value(part, numeric=True)
            case ast.NamedExpr():
                self._value(node.value)
            case ast.Await():
                text = self._text.at(span_of(node.value))
                self._add("call", span_of(node), span_of(node), f"await {text}", text, f"({text})", "line", [])
                self._value(node.value, inner=True)
            case ast.Starred():
                self._value(node.value, inner=True)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, (ast.expr, ast.keyword)):
                        self._value(child)

    def _base(self, node: ast.expr) -> None:
        """Walk over a variable, an attribute, or the object of an attribute or item access."""
        if isinstance(node, ast.Attribute):
            self._base(node.value)
        if isinstance(node, (ast.Name, ast.Attribute)):
            self._table(node)
        else:
            self._value(node, inner=True)

    def _operands(self, node: ast.BoolOp, *, decides: bool) -> None:
        """Walk over the operands of a connective; `decides` tells whether the last one decides a branch."""
        outer = self._guard
        for operand in node.values:
            if decides or operand is not node.values[-1]:
                self._test(operand, inner=True, decides=decides)
            else:
                self._value(operand, inner=True)
            self._guard = outcomes(operand, isinstance(node.op, ast.And))
        self._guard = outer

    def _choice(self, node: ast.IfExp, *, decides: bool = False) -> None:
        self._test(node.test)
        decided = constant_truth(node.test)
        outer = self._guard
        for truth, part in ((True, node.body), (False, node.orelse)):
            if decided is (not truth):
                continue
            self._guard = outer if decided is truth else outcomes(node.test, truth)
            if decides:
                self._test(part)
            else:
                self._value(part)
        self._guard = outer

    def _negated(self, node: ast.expr) -> None:
        """Walk over the operand of a `not` whose result is a value."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            self._value(node, forms=_COUNTED)
        else:
            self._value(node, inner=True)

    def _test(self, node: ast.expr, *, inner: bool = False, decides: bool = True) -> None:
        """Walk over an expression whose truth is used.

        Args:
            node: the expression.
            inner: a replacement needs parentheses.
            decides: only its truth is used; otherwise its value may be that of the expression around it.
        """
        match node:
            case _ if constant_truth(node) is not None:
                pass
            case ast.BoolOp():
                self._logical(node, inner, decides=decides)
                self._operands(node, decides=decides)
            case ast.UnaryOp(op=ast.Not()):
                self._without_not(node, either(node.operand))
                self._missing(node, node.operand, "{} is None", outcomes(node.operand, False), inner)
                if isinstance(node.operand, (ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp)):
                    self._test(node.operand, inner=True)
                else:
                    self._value(node.operand, forms=_COUNTED)
            case ast.IfExp():
                self._choice(node, decides=True)
            case ast.Compare():
                self._comparison(node, inner)
            case _:
                span = span_of(node)
                text = self._text.at(span)
                closed = f"({text})" if isinstance(node, (ast.NamedExpr, ast.Yield, ast.YieldFrom)) else text
                self._add("unary", span, span, "", "not", f"not {closed}", "truth", either(node))
                if decides:
                    self._missing(node, node, "{} is not None", outcomes(node, False), inner)
                self._value(node, forms=_COUNTED)

    def _missing(self, node: ast.expr, value: ast.expr, form: str, at: list[tuple[Span, bool]], inner: bool) -> None:
        """Confuse None with other false values: `x` by `x is not None` in conditions, and the other way round.

        Args:
            node: the expression to replace.
            value: the part of it that may be None.
            form: the replacement, for the text of the value.
            at: the outcomes that it has for false values other than None.
            inner: a replacement needs parentheses.
        """
        match value:
            case ast.Name(id=name):
                if self._locals.kind(name) in ("bool", "Match"):
                    return
            case ast.Attribute() | ast.Subscript() | ast.Call(func=ast.Attribute(attr="get")):
                pass
            case _:
                return
        self._replace("relational", node, form.format(self._text.at(span_of(value))), at, inner, rank=1)

    def _replace(
        self, operator: Operator, node: ast.expr, text: str, at: list[tuple[Span, bool]], inner: bool, rank: int
    ) -> None:
        """Replace a whole condition, by a text with the same number of lines."""
        span = span_of(node)
        lines = span[2] - span[0] - text.count(_NEWLINE)
        closed = f"({text}{_NEWLINE * lines})" if inner or lines or _NEWLINE in text else text
        place: Place = "truth" if at else "line"
        self._add(operator, span, span, self._text.at(span), text, closed, place, at, rank)

    def _comparison(self, node: ast.Compare, inner: bool) -> None:
        whole = span_of(node)
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, node.comparators, strict=False):
            sign = COMPARISONS[type(operator)]
            where = self._text.operator(left, sign)
            at = (*whole[:2], *span_of(node)[2:]) if len(node.ops) == 1 else (*span_of(left)[:2], *span_of(right)[2:])
            place: Place = "membership" if sign in ("in", "not in", "is", "is not") else "comparison"
            ordered = not (is_unordered(left) or is_unordered(right))
            rank = 0
            for other in replacements.relational(sign, ordered=ordered):
                if other in ("True", "False"):
                    if len(node.ops) > 1:
                        continue
                    word = "or" if other == "True" else "and"
                    text = f"{self._text.at(whole)} {word} {other}"
                    text = f"({text})" if inner else text
                elif always_agree(left, sign, other, right):
                    continue
                else:
                    text = self._text.edited(whole, (where, other))
                self._add("relational", whole, where, sign, other, text, place, [(at, True)], rank)
                rank += 1
            if sign in ("is", "is not") and len(node.ops) == 1 and is_nothing(right):
                form, truth = ("not {}", False) if sign == "is" else ("bool({})", True)
                self._missing(node, left, form, outcomes(node, truth), inner)
        for position, operand in enumerate(operands):
            # One more on this side and one less on the other are the same mutant, so one of them is enough.
            beside = [*operands[max(position - 1, 0) : position], *operands[position + 1 : position + 2]]
            signs = node.ops[max(position - 1, 0) : position + 1]
            by_order = any(isinstance(sign, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) for sign in signs)
            forms: tuple[str, ...] = _FORMS
            if position and isinstance(signs[0], (ast.In, ast.NotIn)):
                self._alternatives(operand)
            if all(isinstance(sign, (ast.Is, ast.IsNot)) for sign in signs):
                if isinstance(operand, ast.Constant):
                    continue
                forms = ()
            elif any(map(is_number, beside)):
                forms = _SIGNED if by_order or not any(map(is_zero, beside)) else ()
            self._value(operand, numeric=by_order and not any(map(is_no_number, beside)), forms=forms)

    def _logical(self, node: ast.BoolOp, inner: bool, *, decides: bool) -> None:
        """Exchange `and` and `or`. The effect is observed at the operands if their evaluation has no other effect."""
        span = span_of(node)
        sign, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        edits = [(self._text.operator(operand, sign), other) for operand in node.values[:-1]]
        text = self._text.edited(span, *edits)
        # If later operands have side effects, their evaluation alone can reveal the mutant.
        quiet = all(isinstance(part, _QUIET) for operand in node.values[1:] for part in ast.walk(operand))
        each = [outcomes(operand, sign == "or") for operand in node.values] if decides and quiet else [[]]
        at = [place for found in each for place in found] if all(each) else []
        self._add(
            "logical", span, edits[0][0], sign, other, f"({text})" if inner else text, "truth" if at else "line", at
        )
        self._without_operand(node, sign, inner, decides)

    def _without_operand(self, node: ast.BoolOp, sign: str, inner: bool, decides: bool) -> None:
        """Leave out each operand of a connective, as if that condition had been forgotten."""
        texts = [self._text.at(span_of(operand)) for operand in node.values]
        parts = [
            f"({text})" if isinstance(operand, _LOOSE) else text
            for text, operand in zip(texts, node.values, strict=True)
        ]
        for place, operand in enumerate(node.values):
            text = f" {sign} ".join([*parts[:place], *parts[place + 1 :]])
            is_observed = decides or operand is not node.values[-1]
            self._replace("operand", node, text, outcomes(operand, sign == "or") if is_observed else [], inner, place)
        if sign == "or" and not decides and len(parts) == 2:  # a default value
            default = parts[1].replace("{", "{{").replace("}", "}}")
            form = f"{{0}} if {{0}} is not None else {default}"
            self._missing(node, node.values[0], form, outcomes(node.values[0], False), True)

    def _without_not(self, node: ast.UnaryOp, at: list[tuple[Span, bool]]) -> None:
        line, column, end_line, end_column = span = span_of(node)
        text = self._text.at((line, column + len("not"), end_line, end_column)).strip()
        if text[:1] in "\\#":  # it continues on another line, perhaps after a comment
            return
        self._add("logical", span, span, "not", "", self._text.spaced(span, text), "truth" if at else "line", at)

    def _constant(self, node: ast.Constant | ast.UnaryOp, inner: bool) -> None:
        value = node.value if isinstance(node, ast.Constant) else -node.operand.value  # type: ignore[attr-defined]
        if self._silent and isinstance(value, (str, bytes)):
            return
        if isinstance(value, float) and value == 0.0 and isinstance(node, ast.UnaryOp):
            return
        span = span_of(node)
        patterns = self._patterns.of_text(node) if isinstance(node, ast.Constant) else ()
        for rank, other in enumerate((*patterns, *replacements.literals(value))):
            text = repr(other)
            spaced = self._text.spaced(span, f"({text})" if inner and text.startswith("-") else text)
            self._add("constant", span, span, self._text.at(span), text, spaced, "line", [], rank)

    def _binary(self, node: ast.BinOp, inner: bool) -> None:
        sign = SIGNS.get(type(node.op))
        number = not (is_no_number(node.left) or is_no_number(node.right))
        if sign is not None and number:
            span = span_of(node)
            where = self._text.operator(node.left, sign)
            for rank, other in enumerate(telling(sign, node.right)):
                left, right = (self._closed(part, sign, other) for part in (node.left, node.right))
                whole = self._text.edited(
                    span, (span_of(node.left), left), (where, other), (span_of(node.right), right)
                )
                text = f"({whole})" if inner and level(sign) != level(other) else whole
                self._add("arithmetic", span, where, sign, other, text, "arithmetic", [(span, True)], rank)
        self._instead("operand", node, of_operation(node, self._text))
        numeric = sign is not None and number
        for part, beside in ((node.left, node.right), (node.right, node.left)):
            # One more would equal one more of the adjacent literal.
            again = sign in ("+", "-") and is_number(beside)
            self._value(part, numeric=numeric, inner=True, forms=_SIGNED if again else _FORMS)

    def _closed(self, operand: ast.expr, sign: str, other: str) -> str:
        text = self._text.at(span_of(operand))
        is_inner = isinstance(operand, (ast.BinOp, ast.UnaryOp, ast.Await))
        return f"({text})" if is_inner and level(sign) != level(other) else text

    def _call(self, node: ast.Call) -> None:
        self._base(node.func)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        outer, self._silent = self._silent, self._silent or name in _MESSAGE_METHODS
        self._instead("call", node, of_call(node, self._text, silent=self._silent))
        for rank, (part, text) in enumerate(self._patterns.of_call(node)):
            span = span_of(part)
            spaced = self._text.spaced(span, text)
            self._add("constant", span, span, self._text.at(span), text, spaced, "line", [], rank)
        for argument in node.args:
            if name in _TAKING_ALTERNATIVES:
                self._alternatives(argument)
            self._value(argument, numeric=isinstance(node.func, ast.Name) and name in _NUMERIC_ARGUMENTS)
        for keyword in node.keywords:
            if keyword.arg != _STACKLEVEL:
                self._value(keyword.value)
        self._silent = outer

    def _alternatives(self, node: ast.expr) -> None:
        """Leave out each element of a collection whose elements are alternatives: `x in (1, 2)`, `except (A, B)`."""
        if isinstance(node, (ast.List, ast.Set, ast.Tuple)):
            self._instead("operand", node, of_collection(node, self._text))

    def _table(self, node: ast.Name | ast.Attribute) -> None:
        """Leave out each entry of a constant table, where the function reads it first."""
        if getattr(node, "id", "") not in self._locals.names:
            self._instead("operand", node, self._tables.without_entries(node, self._function))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        outer, self._in_comprehension = (self._in_comprehension, self._guard), True
        for clause in node.generators:
            self._value(clause.iter)
            self._target(clause.target)
            for condition in clause.ifs:
                self._test(condition)
                self._guard = outcomes(condition, True)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self._value(part)
        self._in_comprehension, self._guard = outer

    def _read(
        self, node: ast.Name | ast.Attribute, forms: tuple[str, ...], of_number: tuple[str, ...], inner: bool
    ) -> None:
        """Change the use of a variable or attribute.

        Args:
            node: the variable or attribute.
            forms: its replacements.
            of_number: its replacements if it certainly holds a number.
            inner: a replacement needs parentheses.
        """
        span = span_of(node)
        text = self._text.at(span)
        name = node.id if isinstance(node, ast.Name) else ""
        # It must be a plain expression on one line.
        if text != (name or ast.unparse(node)) or self._locals.is_receiver(name):
            return
        if self._locals.kind(name) in ("int", "float"):
            forms = of_number
        for rank, form in enumerate(forms):
            other = form.format(text)
            self._add("unary", span, span, text, other, f"({other})" if inner else other, "value", [(span, True)], rank)
        if name and not self._in_comprehension:
            for rank, other in enumerate(self._locals.alternatives(name)[:_VARIABLES]):
                self._add("variable", span, span, text, other, other, "value", [(span, True)], rank)

    # Results

    def _instead(self, operator: Operator, node: ast.expr, texts: Iterable[str]) -> None:
        """Add mutants that replace a whole expression and are infected when its line is reached."""
        span = span_of(node)
        for rank, text in enumerate(texts):
            self._add(operator, span, span, self._text.at(span), text, text, "line", [], rank)

    def _add(
        self,
        operator: Operator,
        span: Span,
        where: Span,
        original: str,
        replacement: str,
        text: str,
        place: Place,
        at: list[tuple[Span, bool]],
        rank: int = 0,
    ) -> None:
        if not self._function:
            self.at_import += 1
            return
        if place == "line" and self._guard:
            place, at = "truth", self._guard
        line, column = where[:2]
        identifier = f"{self._function}:{line - self._first_line}:{column}:{operator}:{replacement}"
        mutant = Mutant(identifier, operator, self._function, line, original, replacement, span, text, place, tuple(at))
        order = (line, column, PRECEDENCE.index(operator), len(self.found))
        self.found.append(Change(mutant, order, rank))
