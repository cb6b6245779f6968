"""Hooks: members that a class uses or declares, and leaves to its subclasses to define.

An object of an abstract class needs a subclass, and a template method (Gamma, Helm, Johnson and Vlissides 1994) does
nothing before a subclass defines the steps that it calls. A test of such a class makes the subclass itself.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic

from fitgym.subject.introspection.callables import signature_of
from fitgym.subject.introspection.names import Nodes
from fitgym.subject.introspection.special import is_special
from fitgym.subject.subject import Parameter
from fitgym.subject.types.evidence import Evidence
from fitgym.subject.types.hints import ANY, NONE, Hint, is_protocol

__all__ = ["Hook", "hooks", "with_hooks"]

_TRUTH, _INT, _STR, _FLOAT, _BYTES = (
    Hint("class", f"builtins.{name}") for name in ("bool", "int", "str", "float", "bytes")
)
_RESULTS = MappingProxyType(
    {
        **dict.fromkeys(
            ("__bool__", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"), _TRUTH
        ),
        **dict.fromkeys(("__str__", "__repr__", "__format__", "__fspath__"), _STR),
        **dict.fromkeys(("__hash__", "__int__", "__index__"), _INT),
        **dict.fromkeys(("__setitem__", "__delitem__", "__setattr__", "__delattr__", "__exit__"), NONE),
        "__len__": Hint("literal", texts=("0", "1", "2", "3")),
        "__bytes__": _BYTES,
        "__float__": _FLOAT,
        "__iter__": Hint("iterator", args=(ANY,)),
        "__reversed__": Hint("iterator", args=(ANY,)),
    }
)
"""The types of the results that Python demands of special methods."""

_MOST = 12  # of one class
_OF_OBJECTS = frozenset(dir(object)) | {"__dict__", "__weakref__", "__slots__"}
_UNKNOWN = frozenset({"__getattr__", "__getattribute__"})
_MADE_BY = frozenset({"__init__", "__new__"})
_PLAIN = (int, str, bool, bytes, type(None))


@dataclass(frozen=True, slots=True)
class Hook:
    """One member that a class leaves to its subclasses.

    Attributes:
        name: of the member.
        header: see `Parameter.hook`.
        required: the class has no objects without it.
        function: the function that declares it, None if the class only uses it.
        called: the value is the result of a call.
    """

    name: str
    header: str
    required: bool
    function: Any = None
    called: bool = True

    @property
    def hint(self) -> Hint:
        """The type of the value if Python prescribes it, else `ANY`."""
        return _RESULTS.get(self.name, ANY)


def hooks(cls: type, nodes: Nodes, used: Mapping[str, Evidence], known: frozenset[str] | None) -> list[Hook]:
    """Return the members that a class leaves to its subclasses, at most 12.

    They are its abstract methods and properties, the methods that only raise `NotImplementedError`, and the attributes
    that methods read from their receiver although nothing sets them. A class with a usable subclass in its package has
    none, because tests use that subclass. Neither has a class that reacts to being subclassed, for example by entering
    the subclass in a list: one test would change what the next one finds.

    Args:
        cls: a class of the package.
        nodes: of the source under test.
        used: evidence about the attributes that methods of the class read from their receiver.
        known: the attributes of its objects, None if they are unknown.
    """
    if not _is_open(cls) or _MADE_BY & _abstract(cls):
        return []
    abstract = [name for base in reversed(cls.__mro__) for name in vars(base) if name in _abstract(cls)]
    found = {name: _defined(name, inspect.getattr_static(cls, name), required=True) for name in abstract}
    own = [
        nodes.classes[base.__qualname__]
        for base in cls.__mro__
        if base.__module__ == cls.__module__ and base.__qualname__ in nodes.classes
    ]
    for name in _unimplemented(own[0]) if own and own[0].name == cls.__name__ else ():
        if name in used and name not in found:
            found[name] = _defined(name, inspect.getattr_static(cls, name), required=False)
    if known is not None and _is_complete(cls, own):
        there = known | _OF_OBJECTS | _set_in(own)
        for name, item in used.items():
            if name not in there and not is_special(name):
                found.setdefault(name, _assumed(name, item))
    possible = [hook for name, hook in found.items() if not name.startswith("__") or is_special(name)]
    needed = sum(hook.required for hook in possible)
    return possible[:_MOST] if needed == len(_abstract(cls)) <= _MOST else []


def with_hooks(parameters: tuple[Parameter, ...], hooks: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Return the parameters of a constructor, followed by the members of a subclass that have other names."""
    taken = {parameter.name for parameter in parameters}
    return (*parameters, *(hook for hook in hooks if hook.name not in taken))


def _abstract(cls: type) -> frozenset[str]:
    return getattr(cls, "__abstractmethods__", frozenset())


def _is_open(cls: type) -> bool:
    """The class can be subclassed without side effects, and no subclass in its package can be used instead."""
    reacting = next(base for base in cls.__mro__ if "__init_subclass__" in vars(base))
    if type(cls) is not type and type(cls).__module__ != "abc":
        return False
    if reacting not in (object, Generic) or is_protocol(cls) or getattr(cls, "__final__", False):
        return False
    pending: list[type] = type.__subclasses__(cls)
    package = cls.__module__.partition(".")[0]
    while pending:
        heir = pending.pop()
        if heir.__module__.partition(".")[0] == package and not inspect.isabstract(heir):
            return False
        pending += type.__subclasses__(heir)
    return True


def _unimplemented(node: ast.ClassDef) -> Iterator[str]:
    """Yield the names of methods of the class itself that only raise `NotImplementedError`."""
    for member in node.body:
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and _raises_only(member):
            yield member.name


def _raises_only(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = [one for one in node.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    error = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(error, ast.Name) and error.id == "NotImplementedError"


def _is_complete(cls: type, nodes: Sequence[ast.ClassDef]) -> bool:
    """No attribute is set whose name the source does not show: by `setattr`, or by a base of another package."""
    package = cls.__module__.partition(".")[0]
    return not any(
        _UNKNOWN & set(vars(base))
        or (base.__module__ not in ("abc", "typing") and base.__module__.partition(".")[0] != package)
        for base in cls.__mro__[:-1]
    ) and not any(_sets_any(child) for node in nodes for child in ast.walk(node))


def _sets_any(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="setattr" | "vars")) | ast.Attribute(attr="__dict__" | "__setattr__"):
            return True
    return False


def _set_in(nodes: Sequence[ast.ClassDef]) -> set[str]:
    """Return the names of all attributes that code of the classes assigns, to whatever object."""
    found = (child for node in nodes for child in ast.walk(node) if isinstance(child, ast.Attribute))
    return {child.attr for child in found if isinstance(child.ctx, ast.Store)}


def _defined(name: str, raw: Any, required: bool) -> Hook:
    """Return the hook for a member that the class declares."""
    if isinstance(raw, classmethod | staticmethod):
        decorator = type(raw).__name__
        return Hook(name, f"@{decorator}\n{_header(name, raw.__func__)}", required, raw.__func__)
    if isinstance(raw, types.FunctionType):
        return Hook(name, _header(name, raw), required, raw)
    getter = getattr(raw, "fget", None) or getattr(raw, "func", None)
    return Hook(name, f"@property\ndef {name}(self):", required, getter, called=False)


def _assumed(name: str, item: Evidence) -> Hook:
    """Return the hook for a member that the class uses without declaring it."""
    counts = {count for one in item.group() for count in one.arities}
    if not counts:
        return Hook(name, f"{name} =", required=False, called=False)
    given = (
        "".join(f", {letter}" for letter in "xyzuvw"[: max(counts)]) if min(counts) == max(counts) >= 0 else ", *args"
    )
    return Hook(name, f"def {name}(self{given}):", required=False)


def _header(name: str, function: Any) -> str:
    """Return the line that defines a function with the same parameters."""
    word = "async def" if inspect.iscoroutinefunction(function) else "def"
    signature = signature_of(function)
    if signature is None:
        return f"{word} {name}(self, *args, **kwargs):"
    entries = [
        entry.replace(annotation=entry.empty, default=_plain(entry.default)) for entry in signature.parameters.values()
    ]
    return f"{word} {name}{signature.replace(parameters=entries, return_annotation=signature.empty)}:"


def _plain(default: Any) -> Any:
    """Return a default that can be written as a literal."""
    return default if default is inspect.Parameter.empty or type(default) in _PLAIN else None
