"""Reader: follows the parameters of a function through its body and records their uses.

The reader follows assignments, loops, unpacking, attributes of `self`, and calls of functions and methods of the same
module (`fitgym.subject.types.calls`). Nothing is executed. The reader does not distinguish paths: every path counts.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Mapping

from fitgym.subject.code.definitions import AnyFunction, Definitions, called_name, parameter_names, receiver_of
from fitgym.subject.code.listings import listed
from fitgym.subject.types.calls import Receivers, class_hints, read_call
from fitgym.subject.types.evidence import Evidence
from fitgym.subject.types.hints import Hint
from fitgym.subject.types.library import FORMATS, TYPES
from fitgym.subject.types.operands import combine, compare_constant, is_integer, membership, uses_of

__all__ = ["Reading"]

_CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?([a-zA-Z%])")


class Reading:
    """The evidence about one module.

    A function is read when its evidence is requested, or when a function that is read calls it.

    Args:
        definitions: of the module.
        known: names of classes in the source that `isinstance` may refer to, with their hints.
        receivers: the parameters of functions of other modules.

    Attributes:
        used: the values whose attributes or methods were used, in the order of reading.
        passed_up: the arguments that a class passes to a method of a base: the class, the method, the evidence about its
            parameter and about the argument.
    """

    def __init__(
        self, definitions: Definitions, known: Mapping[str, Hint], receivers: Receivers = lambda _: ()
    ) -> None:
        self.definitions = definitions
        self.known = known
        self.receivers = receivers
        self.used: list[Evidence] = []
        self.passed_up: list[tuple[ast.ClassDef, AnyFunction, Evidence, Evidence]] = []
        self._functions: dict[AnyFunction, dict[str, Evidence]] = {}
        self._fields: dict[ast.ClassDef, dict[str, Evidence]] = {}

    def evidence(self, node: AnyFunction) -> dict[str, Evidence]:
        """Return the evidence about each parameter, including the receiver."""
        found = self._functions.get(node)
        if found is None:
            found = {name: Evidence() for name in parameter_names(node)}
            self._functions[node] = found
            owner = self.definitions.owners.get(node)
            reader = _Reader(self, dict(found), owner, receiver_of(node, owner))
            reader.parameters = set(found)
            with contextlib.suppress(RecursionError):  # a sum of a thousand strings: keep what was read so far
                reader.value(node.body) if isinstance(node, ast.Lambda) else reader.block(node.body)
        return found

    def fields(self, owner: ast.ClassDef) -> dict[str, Evidence]:
        """Return the evidence about the attributes of the objects of a class, from the methods read so far."""
        return self._fields.setdefault(owner, {})


class _Reader:
    """Walks the body of one function.

    Attributes:
        names: the evidence about each local name.
        owner, receiver: the class of a method and the name of its first parameter.
        nested: depth of nested blocks that may be skipped.
        parameters: names that refer to arguments.
    """

    def __init__(self, reading: Reading, names: dict[str, Evidence], owner: ast.ClassDef | None, receiver: str) -> None:
        self.reading = reading
        self.definitions = reading.definitions
        self.names = names
        self.owner = owner
        self.receiver = receiver
        self.nested = 0
        self.parameters: set[str] = set()

    # Statements

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def inner_block(self, body: list[ast.stmt]) -> None:
        self.nested += 1
        self.block(body)
        self.nested -= 1

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self.value(value)
                for target in targets:
                    self.assign(target, found)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.assign(target, self.value(value))
            case ast.AugAssign(target=target, op=operator, value=value):
                self.combine(self.value(target, load=True), operator, target, self.value(value), value)
                if isinstance(target, ast.Subscript):
                    self.value(target.value).use("stored")
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.bind(target, self.each(iterable))
                self.inner_block(body)
                self.inner_block(orelse)
            case ast.AsyncFor(target=target, iter=iterable, body=body, orelse=orelse):
                self.value(iterable)
                self.bind(target, Evidence())
                self.inner_block(body)
                self.inner_block(orelse)
            case ast.If(test=test, body=body, orelse=orelse):
                self.test(test)
                before = dict(self.names)
                self.inner_block(body)
                after, self.names = self.names, before
                self.inner_block(orelse)
                self.join(after)
            case ast.While(test=test, body=body, orelse=orelse):
                self.test(test)
                self.inner_block(body)
                self.inner_block(orelse)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    entered = self.value(item.context_expr)
                    entered.use("entered")
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, Evidence())
                self.block(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                self.inner_block(body)
                for handler in handlers:
                    if handler.name:
                        self.names[handler.name] = Evidence()
                    self.inner_block(handler.body)
                self.inner_block(orelse)
                self.inner_block(final)
            case ast.Raise(exc=raised) if raised is not None:
                self.value(raised).use("raised") if isinstance(raised, ast.Name) else self.value(raised)
            case ast.Assert(test=test):
                self.test(test)
            case ast.Return(value=value) if value is not None:
                self.value(value).use("escaped")
            case ast.Expr(value=value):
                self.value(value)
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Subscript):
                        self.value(target.value).use("stored")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for default in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
                    self.value(default)
                self.closure(node, node.body)
                self.names[node.name] = Evidence()
            case ast.ClassDef(body=body):
                for statement in body:
                    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                        self.closure(statement, statement.body)
            case ast.Match(subject=subject, cases=cases):
                found = self.value(subject)
                for case in cases:
                    self.pattern(case.pattern, found)
                    if case.guard is not None:
                        self.test(case.guard)
                    self.inner_block(case.body)

    def join(self, others: dict[str, Evidence]) -> None:
        """Let each name that has another value on another path refer to both values."""
        for name, other in others.items():
            here = self.names.setdefault(name, other)
            if here is not other:
                self.names[name] = Evidence()
                here.link(self.names[name])
                other.link(self.names[name])

    def closure(self, node: AnyFunction, body: list[ast.stmt]) -> None:
        inner = _Reader(self.reading, dict(self.names), self.owner, self.receiver)
        for name in parameter_names(node):
            inner.names[name] = Evidence()
        inner.nested = 1
        inner.parameters = self.parameters
        inner.block(body)

    def assign(self, target: ast.expr, found: Evidence) -> None:
        match target:
            case ast.Name(id=name):
                before = self.names.get(name)
                if before is not None and self.nested and name in self.parameters:
                    # Replaced on some paths only (`if isinstance(x, str): x = [x]`): the name still refers to the
                    # argument.
                    if not before.contains(found):
                        found.link(before)
                else:
                    self.names[name] = found
            case ast.Tuple() | ast.List() | ast.Starred():
                self.bind(target, found)
            case ast.Attribute(value=base, attr=attribute):
                if self.is_receiver(base):
                    found.link(self.field(attribute))
                else:
                    self.value(base).attributes.setdefault(attribute, False)
            case ast.Subscript(value=base, slice=index):
                owner = self.value(base)
                owner.use("stored")
                self.index(owner, index)
                found.use("escaped")

    def bind(self, target: ast.expr, found: Evidence) -> None:
        """Bind a loop variable or an unpacked target."""
        match target:
            case ast.Name(id=name):
                self.names[name] = found
            case ast.Starred(value=inner):
                self.bind(inner, Evidence())
            case ast.Tuple(elts=items) | ast.List(elts=items):
                found.use("unpacked")
                starred = any(isinstance(item, ast.Starred) for item in items)
                for index, item in enumerate(items):
                    self.bind(item, found.element if starred else found.part(index))
            case _:
                self.assign(target, found)

    def pattern(self, node: ast.pattern, found: Evidence) -> None:
        match node:
            case ast.MatchValue(value=value):
                compare_constant(found, value)
            case ast.MatchSingleton(value=None):
                found.use("none")
            case ast.MatchSingleton():
                found.classes.setdefault(TYPES["bool"])
            case ast.MatchSequence(patterns=items):
                found.use("iterated", "length", "indexed")
                for item in items:
                    self.pattern(item, found.element)
            case ast.MatchMapping(keys=keys, patterns=items):
                for key, item in zip(keys, items, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        self.pattern(item, found.keys.setdefault(key.value, Evidence()))
                found.use("dict")
            case ast.MatchClass(cls=cls):
                for hint in class_hints(self.reading.known, cls):
                    found.classes.setdefault(hint)
            case ast.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    self.pattern(inner, found)
                if name:
                    self.names[name] = found
            case ast.MatchOr(patterns=items):
                for item in items:
                    self.pattern(item, found)

    # Expressions

    def test(self, node: ast.expr) -> None:
        """Read a condition: its truth is used."""
        match node:
            case ast.BoolOp(values=values):
                for value in values:
                    self.test(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.test(operand)
            case _:
                self.value(node).use("truth")

    def value(self, node: ast.expr, load: bool = False) -> Evidence:
        """Read an expression and everything in it; return the evidence about its value."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name) or self.listing(name)
            case ast.Attribute(value=base, attr=attribute):
                if self.is_receiver(base):
                    return self.field(attribute)
                path = f"{base.id}.{attribute}" if isinstance(base, ast.Name) and base.id not in self.names else ""
                if path in self.definitions.listings:
                    return self.listing(path)
                owner = self.value(base)
                owner.attributes.setdefault(attribute, False)
                self.reading.used.append(owner)
                return owner.members.setdefault(attribute, Evidence())
            case ast.Subscript(value=base, slice=index):
                return self.index(self.value(base), index)
            case ast.Call():
                return read_call(self, node)
            case ast.BinOp(left=left, op=operator, right=right):
                first, second = self.value(left), self.value(right)
                self.combine(first, operator, left, second, right)
                return Evidence()
            case ast.UnaryOp(op=unary, operand=operand):
                if isinstance(unary, ast.Not):
                    self.test(operand)
                else:
                    self.value(operand).use("integer" if isinstance(unary, ast.Invert) else "number")
                return Evidence()
            case ast.BoolOp(values=values):
                found = [self.value(value) for value in values]
                whole = Evidence()
                for part in found:
                    part.link(whole)
                    part.use("truth")
                return found[0] if len(values) == 2 and not isinstance(values[0], ast.Compare | ast.Call) else whole
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.test(test)
                whole = Evidence()
                for part in (self.value(body), self.value(orelse)):
                    part.link(whole)
                return whole
            case ast.Compare():
                self.compare(node)
                return Evidence()
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.comprehension(node)
            case ast.Lambda(body=body):
                inner = _Reader(self.reading, dict(self.names), self.owner, self.receiver)
                for name in parameter_names(node):
                    inner.names[name] = Evidence()
                inner.value(body)
                return Evidence()
            case ast.NamedExpr(target=target, value=inner_value):
                found_value = self.value(inner_value)
                self.names[target.id] = found_value
                return found_value
            case ast.Starred(value=inner_value):
                starred = self.value(inner_value)
                starred.use("iterated")
                return starred
            case ast.YieldFrom(value=inner_value):
                self.value(inner_value).use("iterated")
                return Evidence()
            case ast.FormattedValue(value=inner_value, format_spec=spec):
                shown = self.value(inner_value)
                if isinstance(spec, ast.JoinedStr) and spec.values and isinstance(spec.values[-1], ast.Constant):
                    shown.use(*FORMATS.get(str(spec.values[-1].value)[-1:], ()))
                return Evidence()
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                for item in items:
                    if isinstance(item, ast.Starred):
                        self.value(item)
                    else:
                        self.value(item).use("escaped")
                return Evidence(listed(node))
            case ast.Dict(keys=keys, values=values):
                for key, item in zip(keys, values, strict=True):
                    if key is None:
                        self.value(item).use("mapped")
                    else:
                        self.value(key)
                        self.value(item).use("escaped")
                return Evidence(listed(node))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return Evidence()

    def is_receiver(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.receiver and self.owner is not None

    def field(self, attribute: str) -> Evidence:
        assert self.owner is not None
        fields = self.reading.fields(self.owner)
        if attribute not in fields:
            names = (f"{owner.name}.{attribute}" for owner in self.definitions.ancestors(self.owner))
            fields[attribute] = self.listing(next((name for name in names if name in self.definitions.listings), ""))
        return fields[attribute]

    def listing(self, name: str) -> Evidence:
        """Return evidence with the constants in the display that a name of the module or of a class stands for."""
        return Evidence(self.definitions.listings.get(name, ()))

    def each(self, node: ast.expr) -> Evidence:
        """Return the evidence about an item of the iterated expression."""
        if isinstance(node, ast.Call):
            name = called_name(node.func)
            arguments = node.args
            if name == "enumerate" and arguments:
                pair = Evidence()
                pair.parts = [Evidence(), self.each(arguments[0])]
                return pair
            if name in ("zip", "zip_longest", "izip"):
                row = Evidence()
                row.parts = [self.each(argument) for argument in arguments if not isinstance(argument, ast.Starred)]
                for argument in arguments:
                    if isinstance(argument, ast.Starred):
                        self.value(argument)
                return row
            if isinstance(node.func, ast.Attribute) and not arguments and name in ("items", "iteritems"):
                owner = self.value(node.func.value)
                owner.attributes.setdefault("items", True)
                pair = Evidence()
                pair.parts = [owner.key, owner.value]
                return pair
            if isinstance(node.func, ast.Attribute) and not arguments and name in ("keys", "values"):
                owner = self.value(node.func.value)
                owner.attributes.setdefault(name, True)
                return owner.key if name == "keys" else owner.value
            if name == "range" or name == "xrange":
                for argument in arguments:
                    self.value(argument).use("integer")
                return Evidence()
            if name in ("map", "starmap") and len(arguments) > 1:
                self.value(node)
                return Evidence()
        found = self.value(node)
        found.use("iterated")
        return found.element

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Evidence:
        before = dict(self.names)
        for part in node.generators:
            self.bind(part.target, self.each(part.iter))
            for condition in part.ifs:
                self.test(condition)
        result = Evidence()
        if isinstance(node, ast.DictComp):
            self.value(node.key)
            self.value(node.value)
        else:
            self.value(node.elt).link(result.element)
        self.names = before
        return result

    def index(self, owner: Evidence, index: ast.expr) -> Evidence:
        """Read `owner[index]`; return the evidence about the item."""
        match index:
            case ast.Slice(lower=lower, upper=upper, step=step):
                owner.use("sliced")
                for bound in (lower, upper, step):
                    if bound is not None:
                        self.value(bound).use("integer")
                return owner
            case ast.Constant(value=str(key)):
                return owner.keys.setdefault(key, Evidence())
            case ast.Constant(value=int()) | ast.UnaryOp(operand=ast.Constant(value=int())):
                owner.use("indexed")
                return owner.element
            case ast.BinOp() | ast.Call(func=ast.Name(id="len")):
                self.value(index)
                owner.use("subscripted" if isinstance(index, ast.BinOp) and not is_integer(index) else "indexed")
                return owner.element
        found = self.value(index)
        found.link(owner.key)
        owner.look_up(found)
        owner.use("subscripted")
        owner.value.link(owner.element)
        owner.element.link(owner.value)
        return owner.element

    def compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        found = [self.value(operand) for operand in operands]
        for i, operator in enumerate(node.ops):
            left, right = operands[i], operands[i + 1]
            for this, _, other_node in ((found[i], found[i + 1], right), (found[i + 1], found[i], left)):
                match operator:
                    case ast.Is() | ast.IsNot():
                        if isinstance(other_node, ast.Constant) and other_node.value is None:
                            this.use("none")
                        elif isinstance(other_node, ast.Constant) and isinstance(other_node.value, bool):
                            this.seen.setdefault(TYPES["bool"])
                    case ast.Eq() | ast.NotEq():
                        compare_constant(this, other_node)
                        this.use("compared")
                    case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE():
                        uses = uses_of(other_node)
                        this.use(*(uses or ("ordered",)))
            if isinstance(operator, ast.In | ast.NotIn):
                membership(found[i], left, found[i + 1], right)

    def combine(
        self, left: Evidence, operator: ast.operator, left_node: ast.expr, right: Evidence, right_node: ast.expr
    ) -> None:
        """Read an arithmetic operator, or the `%` of a format."""
        template = left_node.value if isinstance(left_node, ast.Constant) else None
        if isinstance(operator, ast.Mod) and isinstance(template, str):
            self.format(template, right, right_node)
        else:
            combine(left, operator, left_node, right, right_node)

    def format(self, template: str, found: Evidence, node: ast.expr) -> None:
        """Read `template % value`: conversions distinguish numbers from other values."""
        if "%(" in template:
            found.use("mapped")
            return
        letters = [letter for letter in _CONVERSION.findall(template) if letter != "%"]
        if isinstance(node, ast.Tuple):
            for letter, item in zip(letters, node.elts, strict=False):
                self.value(item).use(*FORMATS.get(letter, ()))
        elif letters:
            found.use(*FORMATS.get(letters[0], ()))
