"""Stubs: typeshed's types for code of the standard library without annotations.

Reading the stub of one module costs about 25 ms (parsing, once per module) after 35 ms for the first import of
`typeshed_client`, measured on CPython 3.11. Nothing is read for modules outside the standard library.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fitgym.subject.subject import ParameterKind
from fitgym.subject.types.declarations import from_node
from fitgym.subject.types.hints import ANY, Hint, choices, union

__all__ = ["Signature", "StubParameter", "Stubs"]


@dataclass(frozen=True, slots=True)
class StubParameter:
    """One parameter of a stub.

    `kind` is as in `Parameter.kind`. `required` means that it is required in every overload and no overload lacks it.
    """

    name: str
    kind: ParameterKind
    hint: Hint
    required: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a function in a stub, with all overloads merged.

    Attributes:
        parameters: in the order of the overload with the most parameters, without the receiver.
        returns: union over the overloads.
    """

    parameters: tuple[StubParameter, ...] = ()
    returns: Hint = ANY

    def hint(self, name: str) -> Hint:
        """Return the hint of the parameter `name`, `ANY` if the stub has none."""
        return next((parameter.hint for parameter in self.parameters if parameter.name == name), ANY)


@dataclass
class Stubs:
    """The stubs read so far, each module once.

    Attributes:
        modules: names of a stub by module; None if typeshed has no stub.
    """

    modules: dict[str, Mapping[str, Any] | None] = field(default_factory=dict)

    def signature(self, module: str, qualname: str) -> Signature | None:
        """Return the signature of a function, method or class (its constructor); None if typeshed lacks it."""
        names = self._names(module)
        if names is None:
            return None
        *outer, _ = qualname.split(".")
        info = self._find(module, qualname)
        if info is None:
            return None
        where, name_info = info
        node = name_info.ast
        if isinstance(node, ast.ClassDef):
            for method in ("__init__", "__new__"):
                found = self._inherited(where, name_info, method)
                if found is not None:
                    return self._read(found[0], _definitions(found[1].ast), bound=True, constructs=True)
            return Signature()
        definitions = _definitions(node)
        if not definitions:
            return None
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in definitions[0].decorator_list)
        return self._read(where, definitions, bound=bool(outer) and not static)

    def hint(self, module: str, name: str) -> Hint | None:
        """Return the declared type of a module variable or attribute `name`, None if there is none."""
        info = self._find(module, name)
        if info is not None and isinstance(info[1].ast, ast.AnnAssign):
            return from_node(info[1].ast.annotation, _Scope(self, info[0]))
        return None

    def _names(self, module: str) -> Mapping[str, Any] | None:
        if module not in self.modules:
            self.modules[module] = None
            if module.partition(".")[0] in sys.stdlib_module_names | {"_typeshed"}:
                try:
                    import typeshed_client

                    # Without a search path, typeshed_client starts another interpreter to find one; the worker may not
                    # do that.
                    context = typeshed_client.get_search_context(search_path=[])
                    self.modules[module] = typeshed_client.get_stub_names(module, search_context=context)
                except Exception:  # no stub, or a stub that this version cannot read
                    self.modules[module] = None
        return self.modules[module]

    def _find(self, module: str, qualname: str, depth: int = 5) -> tuple[str, Any] | None:
        """Return the stub entry of a name and the module that defines it; imports between stubs are followed."""
        names = self._names(module)
        first, _, rest = qualname.partition(".")
        info = names.get(first) if names is not None else None
        if info is None:
            return None
        if type(info.ast).__name__ == "ImportedName":
            if depth == 0 or info.ast.name is None:
                return None
            source = ".".join(info.ast.module_name)
            return self._find(source, info.ast.name + ("." + rest if rest else ""), depth - 1)
        where = module
        for part in rest.split(".") if rest else []:
            found = self._inherited(where, info, part)
            if found is None:
                return None
            where, info = found
        return where, info

    def _inherited(self, module: str, info: Any, name: str, depth: int = 8) -> tuple[str, Any] | None:
        """Return a member of a class of the stub or of its bases."""
        if not info.child_nodes and not isinstance(info.ast, ast.ClassDef):
            return None
        if info.child_nodes and name in info.child_nodes:
            return module, info.child_nodes[name]
        if depth == 0:
            return None
        for base in info.ast.bases:
            node = base.value if isinstance(base, ast.Subscript) else base
            found = self._find(module, ast.unparse(node))
            if found is None and isinstance(node, ast.Name):
                found = self._find("builtins", node.id)
            if found is not None and isinstance(found[1].ast, ast.ClassDef) and found[1] is not info:
                member = self._inherited(*found, name, depth - 1)
                if member is not None:
                    return member
        return None

    def _read(
        self,
        module: str,
        definitions: list[ast.FunctionDef | ast.AsyncFunctionDef],
        bound: bool,
        constructs: bool = False,
    ) -> Signature:
        scope = _Scope(self, module)
        hints: dict[str, list[Hint]] = {}
        kinds: dict[str, ParameterKind] = {}
        required: dict[str, bool] = {}
        longest: list[str] = []
        returns: list[Hint] = []
        for definition in definitions:
            names: list[str] = []
            for index, (argument, kind, needed) in enumerate(_arguments(definition.args)):
                if bound and index == 0:
                    continue
                name = argument.arg.lstrip("_") if argument.arg.startswith("__") else argument.arg
                names.append(name)
                hint = from_node(argument.annotation, scope) if argument.annotation is not None else ANY
                hints.setdefault(name, []).append(hint)
                kinds.setdefault(name, "positional_only" if argument.arg.startswith("__") else kind)
                required[name] = required.get(name, True) and needed
            if len(names) > len(longest):
                required.update({name: False for name in names if longest and name not in longest})
                longest = names
            else:
                required.update({name: False for name in longest if name not in names})
            if definition.returns is not None and not constructs:
                returns.append(from_node(definition.returns, scope))
        parameters = [StubParameter(n, kinds[n], _known(hints[n]), required[n]) for n in longest]
        return Signature(tuple(parameters), _known(returns))


def _known(hints: list[Hint]) -> Hint:
    """Return the union of the known types; an overload or part without a type is ignored."""
    return union(part for hint in hints for part in choices(hint) if part.kind != "any")


def _definitions(node: Any) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    nodes = getattr(node, "definitions", [node])
    return [item for item in nodes if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]


def _arguments(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ParameterKind, bool]]:
    """Yield each parameter with its kind and whether it is required."""
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    for index, argument in enumerate(positional):
        kind: ParameterKind = "positional_only" if index < len(arguments.posonlyargs) else "positional_or_keyword"
        yield argument, kind, index < first_default
    if arguments.vararg is not None:
        yield arguments.vararg, "var_positional", False
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield argument, "keyword_only", default is None
    if arguments.kwarg is not None:
        yield arguments.kwarg, "var_keyword", False


_INT, _STR, _BYTES = (Hint("class", f"builtins.{name}") for name in ("int", "str", "bytes"))
_TYPESHED = {
    # Names of `_typeshed`, which exists only for type checkers.
    "StrPath": union([_STR, Hint("class", "pathlib.Path")]),
    "StrOrBytesPath": union([_STR, Hint("class", "pathlib.Path")]),
    "FileDescriptorOrPath": _STR,
    "GenericPath": _STR,
    "BytesPath": _BYTES,
    "ReadableBuffer": _BYTES,
    "WriteableBuffer": Hint("class", "builtins.bytearray"),
    "SizedBuffer": _BYTES,
    "FileDescriptor": _INT,
    "FileDescriptorLike": _INT,
    "SupportsRichComparison": union([_INT, _STR]),
    "SupportsRichComparisonT": union([_INT, _STR]),
    "SupportsDunderLT": union([_INT, _STR]),
    "SupportsAllComparisons": union([_INT, _STR]),
    "SupportsTrunc": Hint("class", "builtins.float"),
    "ConvertibleToInt": union([_INT, _STR, Hint("class", "builtins.float")]),
    "ConvertibleToFloat": union([Hint("class", "builtins.float"), _STR, _INT]),
    "SupportsWrite": Hint("class", "io.StringIO"),
    "SupportsRead": Hint("class", "io.StringIO"),
    "SupportsReadline": Hint("class", "io.StringIO"),
    "SupportsNoArgReadline": Hint("class", "io.StringIO"),
    "SupportsFlush": Hint("class", "io.StringIO"),
    "SupportsItems": Hint("dict", args=(ANY, ANY)),
    "SupportsKeysAndGetItem": Hint("dict", args=(ANY, ANY)),
    "SupportsGetItem": Hint("dict", args=(ANY, ANY)),
    "SupportsLenAndGetItem": Hint("list", args=(ANY,)),
    "SupportsIter": Hint("iterable", args=(ANY,)),
    "SupportsNext": Hint("iterator", args=(ANY,)),
    "SupportsAdd": _INT,
    "ExcInfo": ANY,
    "OpenTextMode": Hint("literal", texts=("'r'", "'w'")),
}


class _Scope(Mapping[str, Any]):
    """The names of one stub module; an alias or a type variable is read on first access."""

    def __init__(self, stubs: Stubs, module: str, depth: int = 6) -> None:
        self.stubs = stubs
        self.module = module
        self.depth = depth

    def __getitem__(self, name: str) -> Any:
        names = self.stubs.modules.get(self.module) or self.stubs._names(self.module) or {}
        info = names.get(name)
        if info is None or self.depth == 0:
            raise KeyError(name)
        node = info.ast
        if type(node).__name__ == "ImportedName":
            return self._imported(".".join(node.module_name), node.name)
        if isinstance(node, ast.ClassDef):
            found = getattr(importlib.import_module(self.module), name, None)
            return _TYPESHED.get(name, ANY) if found is None else found
        inner = _Scope(self.stubs, self.module, self.depth - 1)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            return _alias(node.value, inner)
        if type(node).__name__ == "TypeAlias":
            return from_node(node.value, inner)
        return ANY

    def __iter__(self) -> Iterator[str]:
        return iter(self.stubs._names(self.module) or {})

    def __len__(self) -> int:
        return len(self.stubs._names(self.module) or {})

    def _imported(self, module: str, name: str | None) -> Any:
        if name is None:
            return importlib.import_module(module)
        if module == "_typeshed":
            return _TYPESHED.get(name, ANY)
        if module.partition(".")[0] not in sys.stdlib_module_names | {"typing_extensions"}:
            return ANY
        try:
            return getattr(importlib.import_module(module.replace("typing_extensions", "typing")), name)
        except (ImportError, AttributeError):
            # Only the stub has the name: an alias or a type variable.
            inner = _Scope(self.stubs, module, self.depth - 1)
            return inner.get(name, ANY)


def _alias(value: ast.expr, scope: _Scope) -> Hint:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("TypeVar", "NewType"):
        bound = next((word.value for word in value.keywords if word.arg == "bound"), None)
        if value.func.id == "NewType":
            return from_node(value.args[1], scope)
        if bound is not None:
            return from_node(bound, scope)
        return union(from_node(constraint, scope) for constraint in value.args[1:])
    if isinstance(value, ast.Call):
        return ANY
    return from_node(value, scope)
