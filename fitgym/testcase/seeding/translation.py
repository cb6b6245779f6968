"""Translation: the statements of an example as statements of test cases.

The translation follows the example in execution order, but nothing runs. Names refer to literals, to results of earlier
statements, or to objects of a module. Code that operations of the subject cannot express is left out, with all code
that depends on it. Loops over literals are unrolled, and calls of the example's own functions are inlined.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import NamedTuple

from fitgym.subject.example import Example
from fitgym.subject.subject import Operation
from fitgym.testcase.distinct import distinct
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Ref
from fitgym.testcase.knowledge import parameter_of
from fitgym.testcase.seeding.conversions import converted
from fitgym.testcase.seeding.folding import NotConstant, folded, written_as
from fitgym.testcase.seeding.glossary import Glossary
from fitgym.testcase.seeding.symbols import BINARY, COMPARED, UNARY
from fitgym.testcase.seeding.transcript import Transcript

__all__ = ["Given", "Translation"]

_MOST_STEPS = 3000
_MOST_ROUNDS = 6  # iterations of an unrolled loop
_DEEPEST = 4  # nested calls of functions of the example

_RAISES = frozenset(["raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assert_raises", "warns"])
_DRAINING = frozenset(["list", "tuple", "sorted", "set", "iter", "frozenset"])
_CALLED = frozenset(
    ["len", "bool", "str", "repr", "bytes", "hash", "int", "float", "complex", "abs", "round", "iter"]
) | {
    "next",
    "reversed",
}


class Given(NamedTuple):
    """An argument of a call that could not be translated as a whole.

    Attributes:
        operation: id of the operation.
        parameter: name of its parameter.
        value: the argument, without references.
    """

    operation: int
    parameter: str
    value: Expression


@dataclass(frozen=True, slots=True)
class _Path:
    """An object of a module, by its dotted path."""

    text: str


@dataclass(frozen=True, slots=True)
class _Local:
    """A function of the example itself."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


_Value = Expression | _Path | _Local | None


class Translation:
    """One example, translated.

    Args:
        glossary: of the subject.
        example: the example to translate.

    Attributes:
        sequences: the statements without those that raise on purpose, then for each of these the statements up to and
            including it.
        given: arguments of calls that could not be translated.
    """

    def __init__(self, glossary: Glossary, example: Example) -> None:
        self._glossary = glossary
        self._inside = example.inside
        self._steps = 0
        self._depth = 0
        self._written = Transcript(glossary)
        self._returned: _Value = None
        self._names: dict[str, _Value] = {name: _Local(node) for name, node in example.functions.items()}
        self.given: list[Given] = []
        self._body(example.body)
        self.sequences = [self._written.statements, *self._written.raising]

    # Statements

    def _body(self, body: Sequence[ast.stmt]) -> bool:
        """Follow statements. Returns whether one of them returned."""
        for statement in body:
            self._steps += 1
            if self._steps > _MOST_STEPS:
                return True
            if isinstance(statement, ast.Return):
                self._returned = self._value(statement.value) if statement.value is not None else Literal("None")
                return True
            if self._statement(statement):
                return True
        return False

    def _statement(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    path = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._names[alias.asname or path] = _Path(path)
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    if alias.name == "*":
                        self._inside = self._inside or module.partition(".")[0] == self._glossary.package
                    else:
                        self._names[alias.asname or alias.name] = _Path(f"{module}.{alias.name}")
            case ast.Assign(targets=targets, value=value):
                found = self._value(value)
                for target in targets:
                    self._bind(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self._value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                read = ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target
                self._bind(target, self._binary(op, self._value(read), self._value(value), inplace=True))
            case ast.Expr(value=value) | ast.Assert(test=value):
                self._value(value)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                return self._with(items, body)
            case ast.For(target=target, iter=iterated, body=body):
                over = self._value(iterated)
                if isinstance(over, Collection) and over.kind != "dict":
                    for item in over.items[:_MOST_ROUNDS]:
                        self._bind(target, item)
                        if self._body(body):
                            return True
                else:
                    self._bind(target, None)
            # Handlers would run only after an exception, which the translation does not model.
            case ast.Try(body=body):
                return self._body(body)
            # Nothing is executed, so the outcome is unknown; the first branch is followed.
            case ast.If(test=test, body=body):
                self._value(test)
                return self._body(body)
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Subscript):
                        self._operator("__delitem__", self._value(target.value), [target.slice])
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._names[statement.name] = _Local(statement)
            case ast.ClassDef():
                self._names[statement.name] = None
        return False

    def _with(self, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> bool:
        raising = False
        for item in items:
            if isinstance(item.context_expr, ast.Call) and _last(item.context_expr.func) in _RAISES:
                raising = True
                continue
            found = self._value(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, found)
        before = len(self._written)
        ended = self._body(body)
        if raising:
            self._set_aside(before)
        return ended

    def _set_aside(self, before: int) -> None:
        """Move the statements after the first `before` into a sequence of their own, because they raise."""
        if self._written.set_aside(before):
            for name, value in self._names.items():
                if isinstance(value, Literal | Collection | Ref) and _beyond(value, before):
                    self._names[name] = None

    def _bind(self, target: ast.expr, value: _Value) -> None:
        match target:
            case ast.Name(id=name):
                self._names[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                items: Sequence[_Value] = [None] * len(parts)
                if isinstance(value, Collection) and value.kind in ("list", "tuple") and len(value.items) == len(parts):
                    items = value.items
                for part, item in zip(parts, items, strict=True):
                    self._bind(part, item)
            case ast.Attribute(value=base, attr=name) if self._is_own(base):
                self._names[f"self.{name}"] = value
            case ast.Attribute(value=base, attr=name):
                receiver = self._value(base)
                if isinstance(receiver, Ref) and (argument := self._expression(value)) is not None:
                    setter = self._glossary.member(("setter",), name, self._written.owner(receiver))
                    if setter is not None:
                        self._written.append(setter, receiver.position, (argument,), ())
            case ast.Subscript(value=base, slice=key):
                receiver = self._value(base)
                argument, index = self._expression(value), self._argument(key)
                if isinstance(receiver, Ref) and argument is not None and index is not None:
                    self._written.apply("__setitem__", receiver, (index, argument))

    # Expressions

    def _value(self, node: ast.expr) -> _Value:
        """Return the value of an expression and append the statements it needs; None if it cannot be expressed."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return None
        if isinstance(node, ast.Constant):
            return _written(node)
        match node:
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute(value=base, attr=name) if self._is_own(base):
                return self._names.get(f"self.{name}")
            case ast.Attribute(value=base, attr=name):
                found = self._value(base)
                if isinstance(found, _Path):
                    return _Path(f"{found.text}.{name}")
                return self._written.member(("property",), name, found, (), ()) if isinstance(found, Ref) else None
            case ast.Call():
                constant = _written(node)
                return self._call(node) if constant is None else constant
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                items = self._items(parts)
                if items is None:
                    return None
                kind = type(node).__name__.lower()
                if kind == "set":
                    return Collection("set", tuple(distinct(items)))
                return Collection("list" if kind == "list" else "tuple", tuple(items))
            case ast.Dict(keys=keys, values=values):
                return self._dict(keys, values)
            case ast.Lambda():
                return _Local(node)
            case ast.BinOp(left=left, op=op, right=right):
                constant = _written(node)
                return self._binary(op, self._value(left), self._value(right)) if constant is None else constant
            case ast.UnaryOp(op=op, operand=operand):
                constant = _written(node)
                if constant is not None:
                    return constant
                found = self._value(operand)
                return self._written.apply(f"__{UNARY[type(op)]}__", found, ()) if type(op) in UNARY else None
            case ast.JoinedStr():
                return _written(node)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                self._compare(left, ops, comparators)
            case ast.BoolOp(values=values):
                for value in values:
                    self._value(value)
            case ast.IfExp(body=body):
                return self._value(body)
            case ast.Await(value=value):
                return self._value(value)
            case ast.Subscript(value=base, slice=key):
                return self._item(base, key)
            case ast.ListComp(elt=element, generators=[one]) | ast.GeneratorExp(elt=element, generators=[one]):
                return self._comprehension(element, one)
        return None

    def _is_own(self, node: ast.expr) -> bool:
        """The node is `self` or `cls` of the test class that contains the example."""
        return isinstance(node, ast.Name) and node.id in ("self", "cls") and node.id not in self._names

    def _named(self, name: str) -> _Value:
        if name in self._names:
            return self._names[name]
        if self._inside:
            path = f"{self._glossary.module}.{name}"
            if self._glossary.name(path) is not None:
                return _Path(path)
        return _Path(f"builtins.{name}") if self._glossary.is_builtin(name) else None

    def _expression(self, value: _Value) -> Expression | None:
        """Return a value as an argument."""
        if isinstance(value, _Path):
            return self._glossary.name(value.text)
        if isinstance(value, _Local):
            arguments = value.node.args
            arity = len(arguments.args) if arguments.vararg is None else -1
            body = value.node.body
            if isinstance(body, ast.expr) and (constant := _written(body)) is not None:
                return Lambda(arity, constant)
            return Lambda(arity, Ref(-1)) if arity > 0 else None
        return value

    def _argument(self, node: ast.expr) -> Expression | None:
        return self._expression(self._value(node))

    def _items(self, parts: Sequence[ast.expr]) -> list[Expression] | None:
        """Return the elements of a display or the arguments of a call; None if one is unknown."""
        found: list[Expression] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                several = self._value(part.value)
                if not isinstance(several, Collection) or several.kind == "dict":
                    return None
                found += several.items
                continue
            item = self._argument(part)
            if item is None:
                return None
            found.append(item)
        return found if len(found) <= 100 else None

    def _dict(self, keys: Sequence[ast.expr | None], values: Sequence[ast.expr]) -> Expression | None:
        pairs: dict[Expression, Expression] = {}
        for key, value in zip(keys, values, strict=True):
            first = self._argument(key) if key is not None else None
            second = self._argument(value)
            if first is None or second is None:
                return None
            pairs[first] = second
        kept = distinct(list(pairs))
        return Collection("dict", tuple([part for key in kept for part in (key, pairs[key])]))

    def _comprehension(self, element: ast.expr, one: ast.comprehension) -> Expression | None:
        over = self._value(one.iter)
        if not isinstance(over, Collection) or over.kind == "dict" or one.ifs:
            return None
        found: list[Expression] = []
        for item in over.items[:_MOST_ROUNDS]:
            self._bind(one.target, item)
            value = self._argument(element)
            if value is None:
                return None
            found.append(value)
        return Collection("list", tuple(found))

    def _compare(self, left: ast.expr, ops: Sequence[ast.cmpop], comparators: Sequence[ast.expr]) -> None:
        first = self._value(left)
        for op, node in zip(ops, comparators, strict=True):
            second = self._value(node)
            argument = self._expression(first)
            if isinstance(op, ast.In | ast.NotIn) and argument is not None:
                self._written.apply("__contains__", second, (argument,))
            elif type(op) in COMPARED and (argument := self._expression(second)) is not None:
                self._written.apply(f"__{COMPARED[type(op)]}__", first, (argument,))
            first = second

    def _binary(self, op: ast.operator, left: _Value, right: _Value, inplace: bool = False) -> _Value:
        first, second = self._expression(left), self._expression(right)
        if first is None or second is None:
            return None
        name = BINARY[type(op)]
        for special, receiver, argument in (
            *(((f"__i{name}__", first, second),) if inplace else ()),
            (f"__{name}__", first, second),
            (f"__r{name}__", second, first),
        ):
            found = self._written.apply(special, receiver, (argument,))
            if found is not None:
                return found
        return None

    def _item(self, base: ast.expr, key: ast.expr) -> _Value:
        found = self._value(base)
        if isinstance(found, Collection) and found.kind in ("list", "tuple"):
            try:
                item = found.items[folded(key)]
            except (NotConstant, TypeError, IndexError):
                return None
            return None if isinstance(item, tuple) and not isinstance(item, Expression) else item
        return self._operator("__getitem__", found, [key])

    def _operator(self, special: str, receiver: _Value, arguments: Sequence[ast.expr]) -> _Value:
        items = self._items(arguments)
        return self._written.apply(special, receiver, items) if items is not None else None

    # Calls

    def _call(self, node: ast.Call) -> _Value:
        if _last(node.func) in _RAISES and len(node.args) > 1:
            before = len(self._written)
            self._call(ast.Call(node.args[1], node.args[2:], node.keywords))
            self._set_aside(before)
            return None
        receiver = -1
        operation: Operation | None = None
        if isinstance(node.func, ast.Attribute) and not self._is_own(node.func.value):
            base = self._value(node.func.value)
            if isinstance(base, Ref):
                operation = self._glossary.member(("method",), node.func.attr, self._written.owner(base))
                receiver = base.position
            called: _Value = _Path(f"{base.text}.{node.func.attr}") if isinstance(base, _Path) else None
        else:
            called = self._value(node.func)
        if isinstance(called, _Local):
            return self._inlined(called, node)
        if isinstance(called, _Path):
            operation = self._glossary.operation(called.text)
        elif isinstance(called, Ref):
            operation = self._glossary.member(("operator",), "__call__", self._written.owner(called))
            receiver = called.position
        args = self._items(node.args)
        kwargs = self._keywords(node.keywords)
        if operation is None:
            builtin = called.text.removeprefix("builtins.") if isinstance(called, _Path) else ""
            if builtin == "dict" and not node.args and kwargs is not None:
                return Collection("dict", tuple([part for n, v in kwargs.items() for part in (Literal(repr(n)), v)]))
            return self._built_in(builtin, args or ()) if not node.keywords else None
        if args is None or kwargs is None:
            self._note_given(operation, node)
            return None
        return self._written.append(operation, receiver, tuple(args), tuple(kwargs.items()))

    def _keywords(self, keywords: Sequence[ast.keyword]) -> dict[str, Expression] | None:
        found: dict[str, Expression] = {}
        for word in keywords:
            value = self._argument(word.value)
            if word.arg is not None:
                if value is None:
                    return None
                found[word.arg] = value
            elif isinstance(value, Collection) and value.kind == "dict":
                for key, item in zip(value.items[::2], value.items[1::2], strict=True):
                    name = ast.literal_eval(key.text) if isinstance(key, Literal) else None
                    if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
                        return None
                    found[name] = item
            else:
                return None
        return found

    def _note_given(self, operation: Operation, node: ast.Call) -> None:
        """Keep the constant arguments of a call."""
        places: list[tuple[int | str, ast.expr]] = [*enumerate(node.args)]
        places += [(word.arg, word.value) for word in node.keywords if word.arg is not None]
        for place, argument in places:
            if isinstance(argument, ast.Starred):
                return
            parameter = parameter_of(operation, place)
            value = self._names.get(argument.id) if isinstance(argument, ast.Name) else _written(argument)
            if parameter is not None and isinstance(value, Literal | Collection) and not _beyond(value, 0):
                self.given.append(Given(operation.id, parameter.name, value))

    def _built_in(self, name: str, args: Sequence[Expression]) -> _Value:
        """Translate a built-in function: an operator of an object, or a container made from another one."""
        if not args:
            return None
        first = args[0]
        if isinstance(first, Ref):
            if name in _CALLED and (found := self._written.apply(f"__{name}__", first, args[1:])) is not None:
                return found
            return first if name in _DRAINING else None  # approximation: `Statement.iterate` decides
        return converted(name, args)

    def _inlined(self, called: _Local, node: ast.Call) -> _Value:
        """Follow a function of the example with the arguments of a call."""
        if self._depth >= _DEEPEST or isinstance(called.node, ast.Lambda):
            self._items(node.args)
            return None
        outside, arguments = dict(self._names), called.node.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        defaults = dict(zip(reversed(names), reversed(arguments.defaults), strict=False))
        values: dict[str, _Value] = {name: self._value(default) for name, default in defaults.items()}
        if names[:1] in (["self"], ["cls"]):
            names = names[1:]
        values |= dict(zip(names, [self._value(one) for one in node.args], strict=False))
        values |= {word.arg: self._value(word.value) for word in node.keywords if word.arg is not None}
        self._names |= {**dict.fromkeys(names, None), **values}
        self._depth += 1
        self._returned = None
        self._body(called.node.body)
        self._depth -= 1
        self._names, returned = outside, self._returned
        self._returned = None
        # The statement may have been set aside since, because it raises.
        return None if isinstance(returned, Ref) and returned.position >= len(self._written) else returned


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _written(node: ast.expr) -> Expression | None:
    """Return a constant expression, None for any other."""
    try:
        return written_as(folded(node))
    except NotConstant:
        return None


def _beyond(value: Expression, position: int) -> bool:
    """The value refers to a statement from that position on."""
    if isinstance(value, Ref):
        return value.position >= position
    return isinstance(value, Collection) and any(_beyond(item, position) for item in value.items)
