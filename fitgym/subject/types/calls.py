"""Calls: evidence from a call in the source about its arguments, the called object and the result."""

from __future__ import annotations

import ast
import builtins
from builtins import id
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from fitgym.subject.code.definitions import AnyFunction, Definitions, bound, called_name, is_static, positional
from fitgym.subject.subject import Parameter
from fitgym.subject.types.evidence import Evidence, Uses
from fitgym.subject.types.hints import ANY, Hint
from fitgym.subject.types.library import CALLS, COPYING, HAVING, METHOD_CALLS, MODULE_CALLS, MODULES, PASSED_ON, TYPES

__all__ = ["Caller", "Module", "Receivers", "class_hints", "read_call"]

Receivers = Callable[[str], Sequence[Parameter]]
"""Returns the parameters of a function or class of another module, given the name that the source has for it."""


class Module(Protocol):
    """The module that contains a call.

    Attributes:
        known: classes by their name in the source, with their hints.
        used: the values whose attributes or methods were used, in the order of reading.
        passed_up: the arguments that a class passes to a method of a base, see `Reading`.
        receivers: the functions and classes of other modules.
    """

    known: Mapping[str, Hint]
    used: list[Evidence]
    passed_up: list[tuple[ast.ClassDef, AnyFunction, Evidence, Evidence]]
    receivers: Receivers

    def evidence(self, node: AnyFunction) -> dict[str, Evidence]:
        """Return the evidence about each parameter of a function of the module."""


class Caller(Protocol):
    """The function that contains a call. The reader implements this protocol, so `calls` need not import the reader.

    Attributes:
        names: the evidence about each local name.
        owner: the class of a method, None outside classes.
        definitions: of the module.
    """

    names: dict[str, Evidence]
    owner: ast.ClassDef | None
    definitions: Definitions

    @property
    def reading(self) -> Module:
        """The module."""

    def value(self, node: ast.expr) -> Evidence:
        """Return the evidence about the value of an expression."""

    def is_receiver(self, node: ast.expr) -> bool:
        """Return whether the expression is the receiver of the method (`self`)."""

    def field(self, attribute: str) -> Evidence:
        """Return the evidence about an attribute of the receiver."""


def read_call(caller: Caller, node: ast.Call) -> Evidence:
    """Record the evidence of a call about its arguments and the called object; return the evidence about its result."""
    function = node.func
    name = called_name(function)
    if isinstance(function, ast.Name) and function.id not in caller.names and _special(caller, name, node):
        return Evidence()
    arguments = [caller.value(argument) for argument in node.args]
    words = [caller.value(word.value) for word in node.keywords]
    for word, found in zip(node.keywords, words, strict=True):
        if word.arg is None:
            found.use("mapped")
        elif word.arg == "file" and name == "print":
            found.use("written")
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    if isinstance(function, ast.Name) and function.id in caller.names:
        called = caller.names[function.id]
        called.arities.append(-1 if starred or node.keywords else len(arguments))
        return called.result
    if _own(caller, node, function, arguments, words):
        if isinstance(function, ast.Attribute) and caller.is_receiver(function.value):
            return caller.field(function.attr).result
        result = Evidence()
        if isinstance(function, ast.Name) and function.id in caller.definitions.classes:
            result.made.append(caller.definitions.classes[function.id])
        return result
    _passed_on(caller, node, arguments, words)
    if (copied := _copied(caller, function, arguments)) is not None and not starred:
        if name == "dict":
            copied.use("dict")
        return copied
    if isinstance(function, ast.Attribute):
        return _method(caller, node, function, arguments)
    if not isinstance(function, ast.Name):
        caller.value(function).arities.append(len(arguments))
        return Evidence()
    _positions(CALLS.get(name, ()), arguments)
    result = Evidence()
    if name in PASSED_ON and arguments:
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
        arguments[0].seen.setdefault(TYPES["int"])
        arguments[0].seen.setdefault(TYPES["str"])
        arguments[0].seen.setdefault(TYPES["float"])
    elif name not in CALLS and not hasattr(builtins, name):
        for argument in (*arguments, *words):
            argument.use("escaped")
    return result


def class_hints(known: Mapping[str, Hint], node: ast.expr) -> Iterator[Hint]:
    """Yield the classes in the second argument of `isinstance`; names without a known class are left out."""
    if isinstance(node, ast.Tuple):
        for item in node.elts:
            yield from class_hints(known, item)
    elif isinstance(node, ast.BinOp):
        yield from class_hints(known, node.left)
        yield from class_hints(known, node.right)
    elif isinstance(node, ast.Call) and called_name(node.func) == "type" and node.args:
        if isinstance(node.args[0], ast.Constant) and node.args[0].value is None:
            yield Hint("none")
    else:
        name = ast.unparse(node)
        hint = known.get(name) or TYPES.get(name.rpartition(".")[2])
        if hint is not None and hint.kind != "any":
            yield hint


def _special(caller: Caller, name: str, node: ast.Call) -> bool:
    """Record `isinstance` and similar calls; return True if the call is one of them."""
    if name in ("isinstance", "issubclass") and len(node.args) == 2:
        found = caller.value(node.args[0])
        for hint in class_hints(caller.reading.known, node.args[1]):
            found.classes.setdefault(Hint("type", args=(hint,)) if name == "issubclass" else hint)
        return True
    if name == "callable" and len(node.args) == 1:
        found = caller.value(node.args[0])
        found.classes.setdefault(TYPES["Callable"])
        return True
    if name == "hasattr" and len(node.args) == 2:
        found = caller.value(node.args[0])
        attribute = node.args[1]
        if isinstance(attribute, ast.Constant):
            for hint in HAVING.get(str(attribute.value), ()):
                found.classes.setdefault(hint)
        return True
    return False


def _own(caller: Caller, node: ast.Call, function: ast.expr, arguments: list[Evidence], words: list[Evidence]) -> bool:
    """Link the arguments of a call inside the module to the parameters. Returns whether it is such a call."""
    called: AnyFunction | None = None
    skip = 0
    if isinstance(function, ast.Name):
        called = caller.definitions.functions.get(function.id)
        owner = caller.definitions.classes.get(function.id)
        if called is None and owner is not None:
            called, skip = caller.definitions.method(owner, "__init__"), 1
    elif isinstance(function, ast.Attribute) and caller.owner is not None and caller.is_receiver(function.value):
        called = caller.definitions.method(caller.owner, function.attr)
        skip = 0 if called is None or is_static(called) else 1
    elif isinstance(function, ast.Attribute) and caller.owner is not None:
        called, skip = _inherited(caller, function)
    if called is None:
        return False
    evidence = caller.reading.evidence(called)
    names = positional(called)[skip:]
    for name, argument in _received(node, names, arguments, words):
        if name in evidence:
            argument.link(evidence[name])
            if caller.owner is not None and caller.definitions.owners.get(called) not in (None, caller.owner):
                caller.reading.passed_up.append((caller.owner, called, evidence[name], argument))
    return True


def _received(
    node: ast.Call, names: list[str], arguments: list[Evidence], words: list[Evidence]
) -> Iterator[tuple[str, Evidence]]:
    """Yield the evidence about each argument with the parameter that receives it."""
    by_node = dict(zip(map(id, [*node.args, *(w.value for w in node.keywords)]), [*arguments, *words], strict=True))
    for name, argument in bound(node, names):
        if id(argument) in by_node:
            yield name, by_node[id(argument)]


def _passed_on(caller: Caller, node: ast.Call, arguments: list[Evidence], words: list[Evidence]) -> None:
    """Record the types of the parameters of a function of another module for the arguments that it gets."""
    root = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in caller.names:
        return
    parameters = caller.reading.receivers(ast.unparse(node.func))
    hints = {one.name: one.hint for one in parameters}
    names = [one.name for one in parameters if one.kind != "keyword_only"]
    for name, argument in _received(node, names, arguments, words):
        if (hint := hints.get(name, ANY)).kind not in ("any", "none"):
            argument.seen.setdefault(hint)


def _inherited(caller: Caller, function: ast.Attribute) -> tuple[AnyFunction | None, int]:
    """Return the method that `super().name` or `Base.name` refers to, and the number of receiver parameters to skip."""
    assert caller.owner is not None
    base = function.value
    if isinstance(base, ast.Call) and called_name(base.func) == "super":
        for parent in caller.owner.bases:
            known = caller.definitions.classes.get(parent.id) if isinstance(parent, ast.Name) else None
            found = caller.definitions.method(known, function.attr) if known is not None else None
            if found is not None:
                return found, 1
    elif isinstance(base, ast.Name) and base.id in caller.definitions.classes and base.id not in caller.names:
        return caller.definitions.method(caller.definitions.classes[base.id], function.attr), 0
    return None, 0


def _copied(caller: Caller, function: ast.expr, arguments: list[Evidence]) -> Evidence | None:
    """Return the evidence about the argument that a call returns or copies, None if it does neither."""
    root = function.value if isinstance(function, ast.Attribute) else function
    if not isinstance(root, ast.Name) or root.id in caller.names:
        return None
    position = COPYING.get(ast.unparse(function), len(arguments))
    return arguments[position] if position < len(arguments) else None


def _method(caller: Caller, node: ast.Call, function: ast.Attribute, arguments: list[Evidence]) -> Evidence:
    """Record the call of a method of an object, or of a function of a module."""
    name = function.attr
    dotted = ast.unparse(function) if isinstance(function.value, ast.Name | ast.Attribute) else ""
    is_module = isinstance(function.value, ast.Name) and function.value.id not in caller.names
    if dotted in MODULE_CALLS:
        _positions(MODULE_CALLS[dotted], arguments)
        return Evidence()
    if is_module and name in CALLS and isinstance(function.value, ast.Name) and function.value.id in MODULES:
        _positions(CALLS[name], arguments)
        result = Evidence()
        if name in ("reduce", "takewhile", "dropwhile", "starmap", "filterfalse") and arguments:
            arguments[0].arities.append(2 if name == "reduce" else 1)
        if name == "from_iterable" and arguments:
            arguments[0].element.use("iterated")
            result.element = arguments[0].element.element
        elif name in PASSED_ON and arguments:
            result.element = arguments[-1 if name in ("takewhile", "dropwhile") else 0].element
        return result
    if caller.is_receiver(function.value):
        field = caller.field(name)
        field.arities.append(len(arguments) if not node.keywords else -1)
        return field.result
    owner = caller.value(function.value)
    owner.attributes[name] = True
    owner.asked.append((name, node, arguments))
    caller.reading.used.append(owner)
    _positions(METHOD_CALLS.get(name, ()), arguments)
    if name == "join" and arguments:
        arguments[0].element.use("text")
    if isinstance(function.value, ast.Constant) and isinstance(function.value.value, str) and name != "format":
        for argument in arguments if name != "join" else ():
            argument.use("text")
    if name in ("get", "setdefault", "pop") and arguments:
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            found = owner.keys.setdefault(first.value, Evidence())
            if name != "pop" or len(arguments) > 1:
                found.use("optional")
            return found
        owner.look_up(arguments[0])
        return owner.value
    if name == "copy":
        return owner
    for argument in arguments:
        if name not in METHOD_CALLS:
            argument.use("escaped")
    member = owner.members.setdefault(name, Evidence())
    member.arities.append(-1 if node.keywords else len(arguments))
    result = member.result
    if name == "items":
        result.element.parts = [owner.key, owner.value]
    elif name == "keys":
        result.element = owner.key
    elif name == "values":
        result.element = owner.value
    elif name == "pop":
        return owner.element
    return result


def _positions(uses: tuple[Uses, ...], arguments: list[Evidence]) -> None:
    for index, argument in enumerate(arguments):
        use = uses[min(index, len(uses) - 1)] if uses else ""
        if use:
            argument.use(use)
