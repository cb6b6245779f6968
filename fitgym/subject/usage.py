"""Usage: what the source does with the parameters of a function, read off its syntax tree.

The reader follows a parameter through assignments, loops, unpacking, calls of functions and methods of the same module
and attributes of `self`; nothing is executed. Paths are not told apart: what happens on any of them counts.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
from builtins import id
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from fitgym.subject.evidence import Evidence, Uses, type_of
from fitgym.subject.hints import ANY, Hint, of_value, union

__all__ = ["Usage"]

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_TYPES: Mapping[str, Hint] = MappingProxyType(
    {
        **{name: Hint("class", f"builtins.{name}") for name in ("int", "float", "str", "bytes", "bool", "complex")},
        **{name: Hint("class", f"builtins.{name}") for name in ("bytearray", "range", "slice", "object")},
        **{name: Hint(name, args=(ANY,)) for name in ("list", "set", "frozenset")},
        "dict": Hint("dict", args=(ANY, ANY)),
        "tuple": Hint("tuple", args=(ANY, Hint("ellipsis"))),
        "type": Hint("type", args=(ANY,)),
        "NoneType": Hint("none"),
        "basestring": Hint("class", "builtins.str"),
        "unicode": Hint("class", "builtins.str"),
        "string_types": Hint("class", "builtins.str"),
        "text_type": Hint("class", "builtins.str"),
        "integer_types": Hint("class", "builtins.int"),
        "Iterable": Hint("iterable", args=(ANY,)),
        "Sequence": Hint("sequence", args=(ANY,)),
        "Mapping": Hint("mapping", args=(ANY, ANY)),
        "MutableMapping": Hint("dict", args=(ANY, ANY)),
        "Callable": Hint("callable", args=(Hint("ellipsis"), ANY)),
        "Number": union([Hint("class", "builtins.int"), Hint("class", "builtins.float")]),
        "Iterator": Hint("iterator", args=(ANY,)),
        "Set": Hint("set", args=(ANY,)),
        "Hashable": ANY,
    }
)

# What a call demands of its arguments by position; "" demands nothing, the last entry holds for all further ones.
_CALLS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        "len": ("length",),
        "range": ("integer", "integer"),
        "abs": ("number",),
        "round": ("number", "integer"),
        "divmod": ("number", "number"),
        "pow": ("number", "number", "number"),
        "chr": ("integer",),
        "ord": ("text",),
        "bin": ("integer",),
        "hex": ("integer",),
        "oct": ("integer",),
        "open": ("text", "text"),
        "sum": ("iterated", ""),
        "sorted": ("iterated",),
        "list": ("iterated",),
        "tuple": ("iterated",),
        "set": ("iterated",),
        "frozenset": ("iterated",),
        "enumerate": ("iterated",),
        "iter": ("iterated",),
        "reversed": ("indexed",),
        "any": ("iterated",),
        "all": ("iterated",),
        "next": ("advanced", ""),
        "map": ("", "iterated", "iterated"),
        "filter": ("", "iterated"),
        "zip": ("iterated", "iterated"),
        "getattr": ("", "text"),
        "setattr": ("", "text", ""),
        "hasattr": ("", "text"),
        "eval": ("text",),
        "exec": ("text",),
        "__import__": ("text",),
        "reduce": ("", "iterated"),
        "islice": ("iterated", "integer", "integer"),
        "chain": ("iterated", "iterated"),
        "from_iterable": ("iterated",),
        "takewhile": ("", "iterated"),
        "dropwhile": ("", "iterated"),
        "filterfalse": ("", "iterated"),
        "groupby": ("iterated", ""),
        "tee": ("iterated", "integer"),
        "cycle": ("iterated",),
        "starmap": ("", "iterated"),
        "zip_longest": ("iterated", "iterated"),
        "deque": ("iterated", "integer"),
        "Counter": ("iterated",),
        "heapify": ("list",),
        "heappush": ("list", ""),
        "heappop": ("list",),
        "nlargest": ("integer", "iterated"),
        "nsmallest": ("integer", "iterated"),
    }
)
_MODULE_CALLS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        "re.compile": ("text",),
        **{f"re.{name}": ("text", "text") for name in ("match", "search", "fullmatch", "split", "findall", "finditer")},
        "re.sub": ("text", "", "text"),
        "re.subn": ("text", "", "text"),
        "re.escape": ("text",),
        **{
            f"math.{name}": ("real", "real")
            for name in ("sqrt", "log", "sin", "cos", "tan", "exp", "pow", "atan2", "fabs")
        },
        **{f"math.{name}": ("number",) for name in ("floor", "ceil", "isnan", "isinf", "trunc", "log10", "log2")},
        "math.factorial": ("integer",),
        "math.gcd": ("integer", "integer"),
        **{
            f"os.path.{name}": ("text", "text") for name in ("join", "exists", "isfile", "isdir", "basename", "dirname")
        },
        **{
            f"os.path.{name}": ("text",)
            for name in ("abspath", "splitext", "split", "normpath", "realpath", "expanduser")
        },
        "json.loads": ("text",),
        "ast.parse": ("text",),
        "importlib.import_module": ("text", "text"),
        "time.sleep": ("real",),
        "random.choice": ("indexed",),
        "random.shuffle": ("list",),
    }
)
# Methods of something whose type is not known, and what they demand of their arguments.
_METHOD_CALLS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        "join": ("iterated",),
        "startswith": ("text",),
        "endswith": ("text",),
        "splitlines": (),
        "extend": ("iterated",),
        "update": ("iterated",),
        "union": ("iterated",),
        "intersection": ("iterated",),
        "issubset": ("iterated",),
        "encode": ("text",),
        "decode": ("text",),
        "zfill": ("integer",),
        "ljust": ("integer", "text"),
        "rjust": ("integer", "text"),
        "center": ("integer", "text"),
        "lstrip": ("text",),
        "rstrip": ("text",),
        "partition": ("text",),
        "rpartition": ("text",),
        "strftime": ("text",),
    }
)
_ELEMENT_PASSED_ON = frozenset(
    {
        *("list", "tuple", "set", "frozenset", "iter", "sorted", "reversed", "islice", "deque"),
        *("takewhile", "dropwhile", "filter", "filterfalse", "cycle"),
    }
)
_DEEPEST = 4


class Usage:
    """What the functions of one module do with their parameters.

    Args:
        tree: the module.
        known: names of classes that may be meant by `isinstance` and by attributes, as they are called in the source,
            with the hint they stand for.
        attributes: for each such class (by the name in its hint) the attributes of its objects.
        far: the same for classes that the module has no name for.
    """

    def __init__(
        self,
        tree: ast.AST,
        known: Mapping[str, Hint] = MappingProxyType({}),
        attributes: Mapping[str, frozenset[str]] = MappingProxyType({}),
        far: Mapping[str, frozenset[str]] = MappingProxyType({}),
    ) -> None:
        self.known = known
        self.attributes = attributes
        self.far = far
        self.used: list[Evidence] = []
        self._is_connected = False
        self.functions: dict[str, AnyFunction] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.owners: dict[AnyFunction, ast.ClassDef] = {}
        self._read: dict[AnyFunction, dict[str, Evidence]] = {}
        self._fields: dict[ast.ClassDef, dict[str, Evidence]] = {}
        self._index(tree)
        self._call_sites(tree)

    def demands(self, node: AnyFunction) -> dict[str, Hint]:
        """What each parameter of a function must be, by name; parameters that nothing is known about are left out.

        For a `**name` parameter the constant keys that the body asks for are given as `name[key]`.
        """
        owner = self.owners.get(node)
        self._connect()
        if owner is not None:
            self._read_class(owner)
        evidence = self.evidence(node)
        for name, seen in self.sites.get(node, {}).items():
            for hint in seen if name in evidence else ():
                evidence[name].seen.setdefault(hint)
        hints = {name: item.hint(self.attributes, far=self.far) for name, item in evidence.items()}
        if node.args.kwarg is not None:
            name = node.args.kwarg.arg
            for key, item in evidence[name].keys.items():
                hints[f"{name}[{key}]"] = item.hint(self.attributes, far=self.far)
            hints.pop(name)
        if node.args.vararg is not None:
            name = node.args.vararg.arg  # like an annotation, the hint is for one argument
            hints[name] = evidence[name].element.hint(self.attributes, far=self.far)
        return {name: hint for name, hint in hints.items() if hint.kind != "any" or "[" in name}

    def evidence(self, node: AnyFunction) -> dict[str, Evidence]:
        """The evidence about each parameter, the receiver included."""
        found = self._read.get(node)
        if found is None:
            found = {name: Evidence() for name in _parameter_names(node)}
            self._read[node] = found
            reader = _Reader(self, dict(found), self.owners.get(node), _receiver(node, self.owners.get(node)))
            reader.parameters = set(found)
            with contextlib.suppress(RecursionError):  # a sum of a thousand strings: what was read so far must do
                reader.value(node.body) if isinstance(node, ast.Lambda) else reader.block(node.body)
        return found

    def fields(self, owner: ast.ClassDef) -> dict[str, Evidence]:
        """Evidence about the attributes of the objects of a class, as its methods and those of its bases show it."""
        return self._fields.setdefault(owner, {})

    def method(self, owner: ast.ClassDef, name: str, depth: int = 5) -> AnyFunction | None:
        """The method that `self.name` means, looked for in the class and its bases inside the module."""
        for statement in owner.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == name:
                return statement
        for base in owner.bases:
            inherited = self.classes.get(base.id) if isinstance(base, ast.Name) else None
            if inherited is not None and depth:
                found = self.method(inherited, name, depth - 1)
                if found is not None:
                    return found
        return None

    def _connect(self) -> None:
        """Follow values into the objects of the module's own classes that they are kept in, and into their methods.

        What `f(tree)` does with `tree.items` is done with the argument `items` of `Tree(items)`.
        """
        if self._is_connected:
            return
        self._is_connected = True
        for node in (*self.functions.values(), *self.owners):
            self.evidence(node)
        for value in self.used:
            for owner in self._classes_of(value):
                for name, member in value.members.items():
                    if self.method(owner, name) is None:
                        self.fields(owner).setdefault(name, Evidence()).link(member)
                for name, call, arguments in value.asked:
                    called = self.method(owner, name)
                    if called is not None:
                        places = dict(zip(map(id, call.args), arguments, strict=True))
                        evidence = self.evidence(called)
                        for parameter, argument in _bind(call, _positional(called)[0 if _is_static(called) else 1 :]):
                            if parameter in evidence and id(argument) in places:
                                places[id(argument)].link(evidence[parameter])

    def _classes_of(self, value: Evidence) -> list[ast.ClassDef]:
        """The classes of the module that a value may be an object of, if they are one or two."""
        group = value.group()
        made = [owner for item in group for owner in item.made]
        if made:
            return made[:2]
        wanted = {name for item in group for name in item.attributes if not name.startswith("__")}
        fitting = [
            owner
            for name, owner in self.classes.items()
            if name in self.known and wanted <= self.attributes.get(self.known[name].name, frozenset())
        ]
        return fitting if wanted and len(fitting) <= 2 else []

    def _read_class(self, owner: ast.ClassDef) -> None:
        if owner not in self._fields:
            self._fields[owner] = {}
            for statement in owner.body:
                if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    self.evidence(statement)

    def _index(self, node: ast.AST, owner: ast.ClassDef | None = None, top: bool = True) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self.classes.setdefault(child.name, child)
                self._index(child, child, top=False)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if owner is not None:
                    self.owners[child] = owner
                elif top:
                    self.functions[child.name] = child
                self._index(child, None, top=False)
            else:
                self._index(child, owner, top)

    def _call_sites(self, tree: ast.AST) -> None:
        """Types of constant arguments in calls of the module's own functions, a weak sign of what they take."""
        self.sites: dict[AnyFunction, dict[str, list[Hint]]] = {}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            called = self.functions.get(node.func.id)
            if called is None:
                continue
            for name, argument in _bind(node, _positional(called)):
                hint = _constant_type(argument)
                if hint.kind != "any":
                    self.sites.setdefault(called, {}).setdefault(name, []).append(hint)


class _Reader:
    """Walks the body of one function; `names` says what each local name stands for."""

    def __init__(
        self, usage: Usage, names: dict[str, Evidence], owner: ast.ClassDef | None, receiver: str, depth: int = 0
    ) -> None:
        self.usage = usage
        self.names = names
        self.owner = owner
        self.receiver = receiver
        self.depth = depth
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
            case ast.If(test=test, body=body, orelse=orelse) | ast.While(test=test, body=body, orelse=orelse):
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

    def closure(self, node: AnyFunction, body: list[ast.stmt]) -> None:
        inner = _Reader(self.usage, dict(self.names), self.owner, self.receiver, self.depth)
        for name in _parameter_names(node):
            inner.names[name] = Evidence()
        inner.nested = 1
        inner.parameters = self.parameters
        inner.block(body)

    def assign(self, target: ast.expr, found: Evidence) -> None:
        match target:
            case ast.Name(id=name):
                before = self.names.get(name)
                if before is not None and self.nested and name in self.parameters:
                    # Replaced on some paths only (`if isinstance(x, str): x = [x]`): it keeps standing for the argument.
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
        """A loop variable or an unpacked target."""
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
                self.compare_constant(found, value)
            case ast.MatchSingleton(value=None):
                found.use("none")
            case ast.MatchSingleton():
                found.classes.setdefault(_TYPES["bool"])
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
                for hint in self.class_hints(cls):
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
        """A condition: its truth is asked for."""
        match node:
            case ast.BoolOp(values=values):
                for value in values:
                    self.test(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.test(operand)
            case _:
                self.value(node).use("truth")

    def value(self, node: ast.expr, load: bool = False) -> Evidence:
        """What is known of the value of an expression; everything in it is looked at on the way."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name) or Evidence()
            case ast.Attribute(value=base, attr=attribute):
                if self.is_receiver(base):
                    return self.field(attribute)
                owner = self.value(base)
                owner.attributes.setdefault(attribute, False)
                self.usage.used.append(owner)
                return owner.members.setdefault(attribute, Evidence())
            case ast.Subscript(value=base, slice=index):
                return self.index(self.value(base), index)
            case ast.Call():
                return self.call(node)
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
                inner = _Reader(self.usage, dict(self.names), self.owner, self.receiver, self.depth)
                for name in _parameter_names(node):
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
                    shown.use(*_FORMATS.get(str(spec.values[-1].value)[-1:], ()))
                return Evidence()
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                for item in items:
                    if isinstance(item, ast.Starred):
                        self.value(item)
                    else:
                        self.value(item).use("escaped")
                return Evidence()
            case ast.Dict(keys=keys, values=values):
                for key, item in zip(keys, values, strict=True):
                    if key is None:
                        self.value(item).use("mapped")
                    else:
                        self.value(key)
                        self.value(item).use("escaped")
                return Evidence()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return Evidence()

    def is_receiver(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.receiver and self.owner is not None

    def field(self, attribute: str) -> Evidence:
        assert self.owner is not None
        return self.usage.fields(self.owner).setdefault(attribute, Evidence())

    def each(self, node: ast.expr) -> Evidence:
        """An item of what an expression iterates over."""
        if isinstance(node, ast.Call):
            name = _called_name(node.func)
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
        """`owner[index]`: the item."""
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
                owner.use("subscripted" if isinstance(index, ast.BinOp) and not _is_integer(index) else "indexed")
                return owner.element
        self.value(index).link(owner.key)
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
                            this.seen.setdefault(_TYPES["bool"])
                    case ast.Eq() | ast.NotEq():
                        self.compare_constant(this, other_node)
                        this.use("compared")
                    case ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE():
                        uses = _uses_of(other_node)
                        this.use(*(uses or ("ordered",)))
            if isinstance(operator, ast.In | ast.NotIn):
                self.membership(found[i], left, found[i + 1], right)

    def membership(self, item: Evidence, item_node: ast.expr, container: Evidence, container_node: ast.expr) -> None:
        if isinstance(container_node, ast.Tuple | ast.List | ast.Set):
            for constant in container_node.elts:
                self.compare_constant(item, constant)
        elif _uses_of(container_node) == ("text",) or ast.unparse(container_node).startswith("string."):
            item.use("text")  # in a string, or in string.digits and its like
        container.use("contained")
        container.element.use(*_uses_of(item_node))
        item.link(container.element)

    def compare_constant(self, found: Evidence, node: ast.expr) -> None:
        if isinstance(node, ast.Constant):
            if node.value is None:
                found.use("none")
            elif isinstance(node.value, str | bytes | int | float) and not isinstance(node.value, bool):
                found.literals.setdefault(repr(node.value))
            elif isinstance(node.value, bool):
                found.seen.setdefault(_TYPES["bool"])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            found.literals.setdefault(ast.unparse(node))

    def combine(
        self, left: Evidence, operator: ast.operator, left_node: ast.expr, right: Evidence, right_node: ast.expr
    ) -> None:
        """An arithmetic operator."""
        match operator:
            case ast.Mod() if isinstance(left_node, ast.Constant) and isinstance(left_node.value, str):
                self.format(left_node.value, right, right_node)
            case ast.Mod() if isinstance(right_node, ast.Tuple | ast.Dict):
                left.use("text")
            case ast.Add():
                for this, other_node in ((left, right_node), (right, left_node)):
                    this.use(*(_uses_of(other_node) or ("addable",)))
            case ast.Mult():
                for this, other_node in ((left, right_node), (right, left_node)):
                    uses = _uses_of(other_node)
                    this.use(*(("integer",) if set(uses) & {"text", "list", "tuple", "bytes"} else ("number",)))
            case ast.BitAnd() | ast.BitOr() | ast.BitXor():
                for this, other_node in ((left, right_node), (right, left_node)):
                    uses = _uses_of(other_node)
                    this.use(*(("integer",) if not uses or uses == ("number",) else uses))
            case ast.LShift() | ast.RShift():
                left.use("integer")
                right.use("integer")
            case _:
                left.use("number")
                right.use("number")

    def format(self, template: str, found: Evidence, node: ast.expr) -> None:
        """`template % value`: conversions tell numbers from anything else."""
        if "%(" in template:
            found.use("mapped")
            return
        letters = [letter for letter in _CONVERSION.findall(template) if letter != "%"]
        if isinstance(node, ast.Tuple):
            for letter, item in zip(letters, node.elts, strict=False):
                self.value(item).use(*_FORMATS.get(letter, ()))
        elif letters:
            found.use(*_FORMATS.get(letters[0], ()))

    def call(self, node: ast.Call) -> Evidence:
        function = node.func
        name = _called_name(function)
        if isinstance(function, ast.Name) and function.id not in self.names and self.special(name, node):
            return Evidence()
        arguments = [self.value(argument) for argument in node.args]
        words = [self.value(word.value) for word in node.keywords]
        for word, found in zip(node.keywords, words, strict=True):
            if word.arg is None:
                found.use("mapped")
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if isinstance(function, ast.Name) and function.id in self.names:
            called = self.names[function.id]
            called.arities.append(-1 if starred or node.keywords else len(arguments))
            return called.result
        if self.own(node, function, arguments, words):
            result = Evidence()
            if isinstance(function, ast.Name) and function.id in self.usage.classes:
                result.made.append(self.usage.classes[function.id])
            return result
        if isinstance(function, ast.Attribute):
            return self.method(node, function, arguments)
        if not isinstance(function, ast.Name):
            self.value(function).arities.append(len(arguments))
            return Evidence()
        self.positions(_CALLS.get(name, ()), arguments)
        result = Evidence()
        if name in _ELEMENT_PASSED_ON and arguments:
            result.element = arguments[
                1 if name in ("takewhile", "dropwhile", "filter", "filterfalse") and len(arguments) > 1 else 0
            ].element
            if name == "sorted":
                arguments[0].element.use("ordered")
        elif name in ("next", "min", "max") and arguments:
            if name == "next":
                return arguments[0].element
            for argument in arguments:
                if len(arguments) == 1:
                    argument.use("iterated")
                    argument.element.use("ordered")
                else:
                    argument.use("ordered")
        elif name == "sum" and len(arguments) == 1:
            arguments[0].element.use("number")
        elif name in ("map", "filter", "filterfalse", "reduce", "takewhile", "dropwhile", "starmap") and arguments:
            if name != "filter" or not isinstance(node.args[0], ast.Constant):
                arguments[0].arities.append({"reduce": 2, "map": len(arguments) - 1, "starmap": -1}.get(name, 1))
        elif name in ("int", "float") and arguments:
            arguments[0].seen.setdefault(_TYPES["int"])
            arguments[0].seen.setdefault(_TYPES["str"])
            arguments[0].seen.setdefault(_TYPES["float"])
        elif name == "dict" and arguments:
            arguments[0].use("dict")
        elif name not in _CALLS and not hasattr(builtins, name):
            for argument in (*arguments, *words):
                argument.use("escaped")
        return result

    def special(self, name: str, node: ast.Call) -> bool:
        """`isinstance` and its like; True if the call is dealt with."""
        if name in ("isinstance", "issubclass") and len(node.args) == 2:
            found = self.value(node.args[0])
            for hint in self.class_hints(node.args[1]):
                found.classes.setdefault(Hint("type", args=(hint,)) if name == "issubclass" else hint)
            return True
        if name == "callable" and len(node.args) == 1:
            found = self.value(node.args[0])
            found.classes.setdefault(_TYPES["Callable"])
            return True
        if name == "hasattr" and len(node.args) == 2:
            found = self.value(node.args[0])
            attribute = node.args[1]
            if isinstance(attribute, ast.Constant):
                for hint in _HAVING.get(str(attribute.value), ()):
                    found.classes.setdefault(hint)
            return True
        return False

    def class_hints(self, node: ast.expr) -> Iterator[Hint]:
        if isinstance(node, ast.Tuple):
            for item in node.elts:
                yield from self.class_hints(item)
        elif isinstance(node, ast.BinOp):
            yield from self.class_hints(node.left)
            yield from self.class_hints(node.right)
        elif isinstance(node, ast.Call) and _called_name(node.func) == "type" and node.args:
            if isinstance(node.args[0], ast.Constant) and node.args[0].value is None:
                yield Hint("none")
        else:
            name = ast.unparse(node)
            known = self.usage.known.get(name) or _TYPES.get(name.rpartition(".")[2])
            if known is not None and known.kind != "any":
                yield known

    def own(self, node: ast.Call, function: ast.expr, arguments: list[Evidence], words: list[Evidence]) -> bool:
        """A call of a function, method or class of the same module: its demands are those of the arguments."""
        called: AnyFunction | None = None
        skip = 0
        if isinstance(function, ast.Name):
            called = self.usage.functions.get(function.id)
            owner = self.usage.classes.get(function.id)
            if called is None and owner is not None:
                called, skip = self.usage.method(owner, "__init__"), 1
        elif isinstance(function, ast.Attribute) and self.owner is not None and self.is_receiver(function.value):
            called = self.usage.method(self.owner, function.attr)
            skip = 0 if called is None or _is_static(called) else 1
        elif isinstance(function, ast.Attribute) and self.owner is not None:
            called, skip = self.inherited(function)
        if called is None or self.depth >= _DEEPEST:
            return False
        evidence = self.usage.evidence(called)
        names = _positional(called)[skip:]
        by_node = dict(zip(map(id, [*node.args, *(w.value for w in node.keywords)]), [*arguments, *words], strict=True))
        for name, argument in _bind(node, names):
            if name in evidence and id(argument) in by_node:
                by_node[id(argument)].link(evidence[name])
        return True

    def inherited(self, function: ast.Attribute) -> tuple[AnyFunction | None, int]:
        """The method that `super().name` or `Base.name` means, and how many of its parameters stand for the receiver."""
        assert self.owner is not None
        base = function.value
        if isinstance(base, ast.Call) and _called_name(base.func) == "super":
            for parent in self.owner.bases:
                known = self.usage.classes.get(parent.id) if isinstance(parent, ast.Name) else None
                found = self.usage.method(known, function.attr) if known is not None else None
                if found is not None:
                    return found, 1
        elif isinstance(base, ast.Name) and base.id in self.usage.classes and base.id not in self.names:
            return self.usage.method(self.usage.classes[base.id], function.attr), 0
        return None, 0

    def method(self, node: ast.Call, function: ast.Attribute, arguments: list[Evidence]) -> Evidence:
        """A call of a method of something."""
        name = function.attr
        dotted = ast.unparse(function) if isinstance(function.value, ast.Name | ast.Attribute) else ""
        is_module = isinstance(function.value, ast.Name) and function.value.id not in self.names
        if dotted in _MODULE_CALLS:
            self.positions(_MODULE_CALLS[dotted], arguments)
            return Evidence()
        if is_module and name in _CALLS and isinstance(function.value, ast.Name) and function.value.id in _LIBRARY:
            self.positions(_CALLS[name], arguments)
            result = Evidence()
            if name in ("reduce", "takewhile", "dropwhile", "starmap", "filterfalse") and arguments:
                arguments[0].arities.append(2 if name == "reduce" else 1)
            if name == "from_iterable" and arguments:
                arguments[0].element.use("iterated")
                result.element = arguments[0].element.element
            elif name in _ELEMENT_PASSED_ON and arguments:
                result.element = arguments[-1 if name in ("takewhile", "dropwhile") else 0].element
            return result
        if self.is_receiver(function.value):
            field = self.field(name)
            field.arities.append(len(arguments) if not node.keywords else -1)
            return field.result
        owner = self.value(function.value)
        owner.attributes[name] = True
        owner.asked.append((name, node, arguments))
        self.usage.used.append(owner)
        self.positions(_METHOD_CALLS.get(name, ()), arguments)
        if name == "join" and arguments:
            arguments[0].element.use("text")
        if isinstance(function.value, ast.Constant) and isinstance(function.value.value, str) and name != "format":
            for argument in arguments if name != "join" else ():
                argument.use("text")
        if name in ("get", "setdefault", "pop") and arguments:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                return owner.keys.setdefault(first.value, Evidence())
            return owner.value
        if name == "copy":
            return owner
        for argument in arguments:
            if name not in _METHOD_CALLS:
                argument.use("escaped")
        result = Evidence()
        if name == "items":
            result.element.parts = [owner.key, owner.value]
        elif name == "keys":
            result.element = owner.key
        elif name == "values":
            result.element = owner.value
        elif name == "pop":
            return owner.element
        return result

    def positions(self, uses: tuple[Uses, ...], arguments: list[Evidence]) -> None:
        for index, argument in enumerate(arguments):
            use = uses[min(index, len(uses) - 1)] if uses else ""
            if use:
                argument.use(use)


_CONVERSION = re.compile(r"%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?([a-zA-Z%])")
_FORMATS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        **dict.fromkeys("dixXobc", ("integer",)),
        **dict.fromkeys("fFeEgG", ("number",)),
    }
)
_HAVING: Mapping[str, tuple[Hint, ...]] = MappingProxyType(
    {
        "__iter__": (_TYPES["Iterable"],),
        "__len__": (_TYPES["list"],),
        "__call__": (_TYPES["Callable"],),
        "__getitem__": (_TYPES["Sequence"],),
        "__next__": (_TYPES["Iterator"],),
        "keys": (_TYPES["dict"],),
        "items": (_TYPES["dict"],),
        "read": (Hint("class", "io.StringIO"),),
        "readline": (Hint("class", "io.StringIO"),),
        "write": (Hint("class", "io.StringIO"),),
        "lower": (_TYPES["str"],),
        "split": (_TYPES["str"],),
        "encode": (_TYPES["str"],),
        "decode": (_TYPES["bytes"],),
        "append": (_TYPES["list"],),
    }
)
_LIBRARY = frozenset({"itertools", "functools", "builtins", "collections", "heapq", "chain"})


def _uses_of(node: ast.expr) -> tuple[Uses, ...]:
    """How a value combined with this expression is used, as far as the expression shows its own type."""
    match node:
        case ast.Constant(value=value):
            return type_of(value)
        case ast.JoinedStr():
            return ("text",)
        case ast.UnaryOp(operand=operand):
            return _uses_of(operand)
        case ast.List() | ast.ListComp():
            return ("list",)
        case ast.Tuple():
            return ("tuple",)
        case ast.Set() | ast.SetComp():
            return ("set",)
        case ast.Dict() | ast.DictComp():
            return ("dict",)
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Pow()):
            return ("number",)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod(), right=right):
            return _uses_of(left) or _uses_of(right)
        case ast.Call():
            name = _called_name(node.func)
            known: dict[str, Uses] = {"len": "number", "int": "number", "float": "number", "ord": "number"}
            known |= {"str": "text", "repr": "text", "join": "text", "list": "list", "sorted": "list", "tuple": "tuple"}
            known |= {"set": "set", "abs": "number", "round": "number", "lower": "text", "upper": "text"}
            return (known[name],) if name in known else ()
    return ()


def _is_integer(node: ast.expr) -> bool:
    """The expression is made of integers: `len(x) - 1`, `n // 2`."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int)
        case ast.Call(func=ast.Name(id=name)):
            return name in ("len", "int")
        case ast.BinOp(left=left, right=right):
            return _is_integer(left) or _is_integer(right)
    return False


def _called_name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _parameter_names(node: AnyFunction) -> list[str]:
    arguments = node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return names + [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None]


def _positional(node: AnyFunction) -> list[str]:
    return [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]


def _is_static(node: AnyFunction) -> bool:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return any(isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in decorators)


def _receiver(node: AnyFunction, owner: ast.ClassDef | None) -> str:
    """The name of the receiver, "" for functions and static methods."""
    names = _positional(node)
    return names[0] if owner is not None and names and not _is_static(node) else ""


def _bind(call: ast.Call, names: list[str]) -> Iterator[tuple[str, ast.expr]]:
    """Which argument of a call goes to which of the parameters, up to the first starred one."""
    for name, argument in zip(names, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        yield name, argument
    for word in call.keywords:
        if word.arg is not None:
            yield word.arg, word.value


def _constant_type(node: ast.expr) -> Hint:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _TYPES["str"] if isinstance(node, ast.JoinedStr) else ANY
    return ANY if value is None else of_value(value)
