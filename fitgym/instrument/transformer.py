"""Puts probes into the code of a module: one pass over its syntax tree, then one swap of constants.

    a < b           becomes   P(a, b)              x (a condition)      becomes   P(x)
    for x in xs:    becomes   for x in P(xs):      a straight run       begins with   P()
    lambda: x       becomes   lambda: P() or x     case p:              becomes   case p if P(1):, then case _ if P(0):
    a + b           becomes   P(a, b)              a += b               becomes   a = P(a, b)
    x (a variable)  becomes   P(x, y, z)

where P stands for a constant. The compiler only knows constants of a few types, so it sees a unique string in the place of
each P; afterwards the strings are exchanged for the probes in `co_consts`. The module gains no name, nothing can be
shadowed, and the line numbers are those of the source. A probe of a block returns None. Arithmetic and variables have
probes only if "infection" is a feature; y and z are what mutants put in the place of x.

Where conditions lead, P(x < y) also counts the block that begins as soon as it comes out so (`Site.leads`), and that block
has no probe of its own.
"""

from __future__ import annotations
import __future__

import ast
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any, TypeVar

from fitgym.instrument.arithmetic import attribute, item, with_attribute, with_item
from fitgym.instrument.plan import Comprehension, FunctionNode, Plan, plan
from fitgym.subject.mutant import Mutant
from fitgym.subject.syntax import deep_trees, docstring_end

__all__ = ["GUARD_DECIDED", "MATCHED", "MISSED", "Instrumented", "Plan", "instrument", "plan"]

MISSED, MATCHED, GUARD_DECIDED = 0, 1, 2
"""What the first argument of the probe of a `case` says: the pattern did not match, it matched, its guard came out as the
second argument. After a guard that came out false the probe is called with MISSED although the pattern had matched."""

# No source can hold this string by accident: it begins with a NUL and goes on with nothing but the site's number, or one
# of the following.
_MARK = "\0fitgym:"
_ITEM, _ATTRIBUTE = "item", "attribute"
_LEADING = ">"  # behind the number of a condition whose probe counts the blocks that it leads to
_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
# The probe of an operator that also stores what comes out, as a number with one of these behind it.
_STORING: dict[str, Callable[[Any], object]] = {"[]": with_item, ".": with_attribute}

_START = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)

Factory = Callable[..., object]
Node = TypeVar("Node", bound=ast.AST)


@dataclass(frozen=True, slots=True, eq=False)
class Instrumented:
    """A module with places for probes.

    Attributes:
        plan: where they are.
        tree: the syntax tree of the source without probes, chained comparisons expanded; its nodes are the keys of the
            mappings in `plan`.
        filename: what tracebacks show.
        template: the compiled code with placeholders.
        leading: conditions count the blocks that they lead to.
    """

    plan: Plan
    tree: ast.Module
    filename: str
    template: CodeType
    leading: bool = False

    def code(self, factory: Factory) -> CodeType:
        """The code of the module with `factory(site id)` in the place of each probe, or `factory(site id, leading=True)`.

        The factory may be asked several times for one site and must then give the same object, which must be hashable.

        Args:
            factory: makes the probes.
        """
        return _swap(self.template, lambda mark: _meant(mark, factory))

    def code_of(self, function: FunctionNode | ast.Lambda, classes: Sequence[str], factory: Factory) -> CodeType:
        """The code of a module that holds one function of the tree and nothing else, with probes as in `code`.

        Parts of the function may have been exchanged since; what is new in it gets no probes. Probes for infection are left
        out: they read other variables, which need not be bound any more where a statement is missing. Its decorators are
        left out, because none of them is part of its code.

        Args:
            function: a function of the tree that stands in no other one.
            classes: names of the classes around it, outermost first.
            factory: as in `code`.

        Raises:
            SyntaxError: what was put in makes no valid function.
        """
        with warnings.catch_warnings(), deep_trees():
            warnings.simplefilter("ignore")
            plan = replace(self.plan, infection={})
            alone = _Rewriter(plan, leading=False).alone(function, classes)
            flags = self.template.co_flags & _FUTURES
            template = compile(alone, self.filename, "exec", flags, dont_inherit=True)
        return _swap(template, lambda mark: _meant(mark, factory))


def instrument(
    source: str,
    filename: str,
    features: frozenset[str] = frozenset(),
    *,
    leading: bool = False,
    mutants: Iterable[Mutant] | None = None,
) -> Instrumented:
    """Instrument the source of one module; nothing is executed.

    Args:
        source: its text.
        filename: what tracebacks show.
        features: with "infection" there are probes for arithmetic; other names are for others.
        leading: blocks that a condition leads to (`Site.leads`) have no probe; that of the condition counts them.
        mutants: with "infection" there are probes where these change arithmetic and values, and nowhere else.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    with warnings.catch_warnings():
        # The compiler remarks that a string is called, and once more what it said about the source itself.
        warnings.simplefilter("ignore")
        tree = ast.parse(source, filename)
        with deep_trees():
            _Chains().visit(tree)
            where = plan(tree, features, mutants)
            instrumented = _Rewriter(where, leading).module(tree)
        template = compile(instrumented, filename, "exec", dont_inherit=True)
    return Instrumented(where, tree, filename, template, leading)


def _swap(code: CodeType, meant: Callable[[str], object]) -> CodeType:
    constants: list[object] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_swap(constant, meant))
        elif isinstance(constant, str) and constant.startswith(_MARK):
            constants.append(meant(constant))
        else:
            constants.append(constant)
    return code.replace(co_consts=tuple(constants))


def _meant(mark: str, factory: Factory) -> object:
    """What a placeholder stands for; the string itself if it is none."""
    name = mark.removeprefix(_MARK)
    number = name.rstrip("[].>")
    if number.isdigit():
        if name[len(number) :] == _LEADING:
            return factory(int(number), leading=True)
        probe = factory(int(number))
        return probe if number == name else _STORING[name[len(number) :]](probe)
    return {_ITEM: item, _ATTRIBUTE: attribute}.get(name, mark)


class _Chains(ast.NodeTransformer):
    """Expands `a < b < c` to `a < b and b < c` where reading `b` twice cannot be told from reading it once.

    That is so for constants and for local variables of a function or comprehension. Other chains stay as they are.
    """

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
    """Parameters and assigned names of a function, without what it shares with other scopes."""
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
            # An inner function may rebind a name of this one between two reads.
            shared.update(name for part in ast.walk(inner) if isinstance(part, ast.Nonlocal) for name in part.names)
            continue
        open_nodes.extend(ast.iter_child_nodes(inner))
    return frozenset(names - shared)


class _Rewriter:
    """Builds the tree with probes; shares with the original what needs none and changes nothing in it."""

    def __init__(self, where: Plan, leading: bool) -> None:
        self._at = where.at
        self._blocks = where.blocks
        self._entries = where.entries
        self._infection = where.infection
        self._sites = where.sites
        self._leading = leading
        self._led = {block for site in where.sites for block in site.leads} if leading else set()
        self._class = ""  # the name that private names are extended by

    def module(self, node: ast.Module) -> ast.Module:
        """The whole module; its probe stands after the docstring and the `from __future__` imports."""
        start = docstring_end(node.body)
        while start < len(node.body) and _is_future(node.body[start]):
            start += 1
        body = self._statements(node.body[start:])
        like = node.body[0] if node.body else None
        return _changed(node, body=[*node.body[:start], _probe_statement(self._entries[node], like or _START), *body])

    def alone(self, function: FunctionNode | ast.Lambda, classes: Sequence[str]) -> ast.Module:
        """A module with one function, inside classes of these names."""
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
        """The node with its children rewritten; the node itself if none of them changes."""
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
        """The node with probes; of the same sort, or a call where it was an expression."""
        match node:
            case ast.Name() | ast.Attribute():
                return self._read(node)
            case ast.Constant() | ast.expr_context() | ast.operator():
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
        """A variable or attribute, and what mutants put in its place."""
        new: ast.expr = node if isinstance(node, ast.Name) else self._fields(node)
        if node in self._infection:
            number = self._infection[node]
            names = self._sites[number].alternatives
            new = _probe(number, node, new, *(ast.copy_location(ast.Name(name, ast.Load()), node) for name in names))
        return self._condition(node, node, new) if node in self._at else new

    def _condition(self, node: ast.expr, like: ast.expr, *args: ast.expr) -> ast.Call:
        """A call of the probe of a condition."""
        site = self._at[node]
        call = _probe(site, like, *args)
        if self._leading and self._sites[site].leads:
            call.func = _constant(f"{site}{_LEADING}", like)
        return call

    def _augmented(self, node: ast.AugAssign) -> ast.stmt:
        """An augmented assignment; the parts of its target are evaluated once."""
        site, target, value = self._infection[node], node.target, self._node(node.value)
        if isinstance(target, ast.Name):
            old = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            return ast.copy_location(ast.Assign([target], _probe(site, node, old, value)), node)
        # The old value is read before the right side is evaluated; the place goes on to where the new one is stored.
        if isinstance(target, ast.Subscript):
            parts, helper, ending = [self._node(target.value), self._node(target.slice)], _ITEM, "[]"
        else:
            name = ast.copy_location(ast.Constant(_mangled(target.attr, self._class)), target)
            parts, helper, ending = [self._node(target.value), name], _ATTRIBUTE, "."
        place = ast.copy_location(ast.Call(_constant(helper, target), parts, []), target)
        store = ast.Call(_constant(f"{site}{ending}", node), [place, value], [])
        return ast.copy_location(ast.Expr(ast.copy_location(store, node)), node)

    def _cases(self, node: ast.Match) -> list[ast.match_case]:
        """The cases, with cases in between that never match and tell that the one before did not either."""
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


def _never(calls: list[ast.expr]) -> list[ast.match_case]:
    """A case whose guard makes the calls, none of which gives a true value; nothing if there are none."""
    if not calls:
        return []
    like = calls[0]
    guard = calls[0] if len(calls) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), calls), like)
    wildcard = ast.copy_location(ast.MatchAs(), like)
    return [ast.match_case(wildcard, guard, [ast.copy_location(ast.Pass(), like)])]


def _changed(node: Node, **changes: Any) -> Node:
    """A copy of `node` with some fields replaced."""
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    return ast.copy_location(type(node)(**{**fields, **changes}), node)


def _constant(name: str, like: ast.AST) -> ast.Constant:
    """A placeholder, located at `like`."""
    return ast.copy_location(ast.Constant(f"{_MARK}{name}"), like)


def _constant_container(node: ast.expr, operator: ast.cmpop) -> ast.expr:
    """The right side of a membership test as the compiler sees it: lists and sets of literals are constants."""
    if isinstance(operator, (ast.In, ast.NotIn)) and isinstance(node, (ast.List, ast.Set)):
        values = [item.value for item in node.elts if isinstance(item, ast.Constant)]
        if len(values) == len(node.elts):
            constant: Any = tuple(values) if isinstance(node, ast.List) else frozenset(values)
            return ast.copy_location(ast.Constant(constant), node)
    return node


def _mangled(name: str, owner: str) -> str:
    """The name of an attribute as the compiler knows it inside the class `owner`."""
    stripped = owner.lstrip("_")
    return f"_{stripped}{name}" if stripped and name.startswith("__") and not name.endswith("__") else name


def _probe(site: int, like: ast.expr | ast.pattern | ast.stmt, *args: ast.expr) -> ast.Call:
    """A call of the site's placeholder, located at `like`."""
    return ast.copy_location(ast.Call(_constant(str(site), like), list(args), []), like)


def _before(block: int, like: ast.expr, expression: ast.expr) -> ast.expr:
    """The expression, evaluated after the probe of a block, which returns None."""
    return ast.copy_location(ast.BoolOp(ast.Or(), [_probe(block, like), expression]), like)


def _probe_statement(site: int, like: ast.stmt) -> ast.Expr:
    return ast.copy_location(ast.Expr(_probe(site, like)), like)


def _number(value: int, like: ast.AST) -> ast.Constant:
    return ast.copy_location(ast.Constant(value), like)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__" and statement.level == 0
