"""Parameters: the types of parameters and results, combined from all available sources.

Annotations come first, then stub files and docstrings. If nothing is declared, the type is inferred from the default,
the examples in docstrings and the uses in the body.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fitgym.subject.introspection import docstrings
from fitgym.subject.introspection.argument_parsers import accepted, parsed
from fitgym.subject.introspection.attributes import far_attributes, namesakes, near_attributes, plain_name
from fitgym.subject.introspection.callables import (
    asked,
    function_with,
    is_uninformative,
    kind_of,
    signature_of,
    unwrapped,
)
from fitgym.subject.introspection.codes import Found
from fitgym.subject.introspection.doubles import typed
from fitgym.subject.introspection.elsewhere import Elsewhere
from fitgym.subject.introspection.forwarding import Forwarded, forwarded
from fitgym.subject.introspection.free_keywords import FreeKeywords
from fitgym.subject.introspection.hooks import hooks
from fitgym.subject.introspection.names import Known, Namespace, Nodes, plain
from fitgym.subject.introspection.recipes import command_line
from fitgym.subject.introspection.stubs import Signature, Stubs
from fitgym.subject.subject import Parameter
from fitgym.subject.types.declarations import from_annotation, from_default
from fitgym.subject.types.evidence import Evidence
from fitgym.subject.types.hints import (
    ANY,
    ELLIPSIS,
    NAMESPACES,
    NONE,
    Hint,
    choices,
    name_of,
    of_value,
    union,
)
from fitgym.subject.types.inspected import Inspected, inspected
from fitgym.subject.types.protocols import annotated
from fitgym.subject.types.refined import refined
from fitgym.subject.types.unused import unused
from fitgym.subject.types.usage import Usage

__all__ = ["Parameters"]

_MOST_RECEIVERS = 200  # functions of other modules whose parameters are looked up


class Parameters:
    """The parameters of the operations of a module and of its helpers.

    Args:
        module: imported.
        tree: its source.
        nodes: the functions and classes in it.

    Attributes:
        module: its name.
        command_lines: the command lines that its parsers accept.
    """

    def __init__(self, module: types.ModuleType, tree: ast.Module, nodes: Nodes) -> None:
        self.module = module.__name__
        self._nodes = nodes
        self._namespace = Namespace(module, tree)
        self._stubs = Stubs()
        near = near_attributes(module, nodes)
        far = far_attributes(module, nodes, near)
        self._elsewhere = Elsewhere({**near, **far})
        self._named = namesakes((*near, *far))
        self._free = FreeKeywords()
        self._receivers: dict[str, Sequence[Parameter]] = {}
        self.command_lines = accepted(tree)
        self._usage = Usage(ast.Module([], []))  # answers while the next one is built, which asks for receivers
        self._usage = Usage(tree, Known(module), near, far, self._receiver)

    def of(
        self, raw: Found, qualname: str, owner: type | None = None, bound: bool = False
    ) -> tuple[tuple[Parameter, ...], Hint]:
        """Return the parameters without the receiver, and the type of the result.

        Args:
            raw: in the source under test.
            qualname: its qualified name in the module.
            owner: the class that it belongs to.
            bound: its first parameter is the receiver.
        """
        target = raw.target
        signature = signature_of(target)
        if (
            signature is not None
            and is_uninformative(signature)
            and raw.code is not None
            and not isinstance(target, type)
        ):
            # A wrapper that passes everything on: the wrapped function has the useful signature.
            inside = function_with(target, raw.code)
            better = signature_of(inside) if inside is not None else None
            signature = better or signature
        stub = self._stubs.signature(self.module, qualname)
        if signature is None:
            if stub is None:
                return (
                    Parameter("args", "var_positional", ANY, False),
                    Parameter("kwargs", "var_keyword", ANY, False),
                ), ANY
            return _spelt_out(stub), stub.returns
        entries = list(signature.parameters.values())
        if bound and entries and entries[0].kind in (entries[0].POSITIONAL_ONLY, entries[0].POSITIONAL_OR_KEYWORD):
            entries = entries[1:]
        doc = docstrings.of(target)
        used, doubles = self._used(raw, owner)
        sources = _Sources(
            space=self._namespace.within(unwrapped(target) if callable(target) else target, owner),
            owner=owner,
            stub=stub,
            prose=docstrings.types(doc),
            shown=_examples(doc, qualname, entries),
            used=used,
            named=self._named,
            optional=self._usage.optional_keys(raw.node) if raw.node is not None else frozenset(),
        )
        looked_at = inspected(raw.node) if raw.node is not None else {}
        never_read = unused(raw.node) if raw.node is not None else frozenset()
        passed_on = self._forwarded(target, owner, entries)
        command_lines = parsed(raw.node) if raw.node is not None and self.command_lines else {}
        parameters: list[Parameter] = []
        for entry in entries:
            if entry.kind is entry.VAR_POSITIONAL and any(one.by_position for one in passed_on):
                continue  # its items would be values of these parameters too
            hint, declared = sources.hint(entry)
            if hint == ANY and entry.name in never_read:
                hint = NONE  # any value does, and None says so to readers
            elif entry.name in command_lines:
                hint, declared = self._command_line(command_lines[entry.name], hint), True
            if entry.kind is entry.VAR_KEYWORD:
                listed = sources.keywords(entry.name, signature)
                taken = {parameter.name for parameter in listed}
                parameters += [*listed, *self._received(one for one in passed_on if one.entry.name not in taken)]
            required = entry.default is entry.empty and not entry.kind.name.startswith("VAR_")
            how = looked_at.get(entry.name, Inspected())
            hint = how.widened(hint) if declared else hint
            double = doubles.get(entry.name) if self._is_elsewhere(hint) else None
            if double is not None:
                double = typed(double, hint, self.attribute)
                self._free.see(hint, double)
            parameters.append(
                Parameter(
                    entry.name, kind_of(entry), hint, required, declared, how.is_beyond(hint, sources.space), double
                )
            )
        returns = ANY
        if signature.return_annotation is not signature.empty:
            returns = from_annotation(signature.return_annotation, sources.space, owner)
        if returns.kind == "any" and stub is not None:
            returns = stub.returns
        if returns.kind == "any":
            returns = docstrings.returned_class(target, sources.space, owner)
        return tuple(parameters), returns

    def hooks(self, cls: type) -> Iterator[Parameter]:
        """Yield the members that a class leaves to its subclasses, as arguments of its constructor; see `hooks`."""
        nodes = self._nodes if cls.__module__ == self.module else Nodes(ast.Module([], []))
        node = nodes.classes.get(plain(cls.__qualname__))
        used = {} if node is None else self._usage.fields(node)
        for hook in hooks(cls, nodes, used, self._usage.attributes.get(name_of(cls))):
            noted = ANY if hook.function is None else self.returned(hook.function, cls)
            if noted == ANY and (text := docstrings.result(docstrings.of(hook.function), is_property=not hook.called)):
                noted = from_annotation(text, self._namespace.within(hook.function, cls), cls)
            declared = hook.hint if noted == ANY else noted
            seen = Evidence()
            for item in used[hook.name].group() if hook.name in used else ():
                seen.link(item.result if hook.called else item)
            hint = self._usage.hint(seen) if declared == ANY else declared
            yield Parameter(hook.name, "keyword_only", hint, hook.required, declared != ANY, hook=hook.header)

    def _used(self, raw: Found, owner: type | None) -> tuple[Mapping[str, Hint], Mapping[str, Hint]]:
        """Return the types that the uses of the parameters suggest, and the plain objects that can replace arguments.

        A constructor that a class inherits from another module sets attributes that methods of the class use.
        """
        ours = owner is not None and owner.__module__ == self.module
        node = self._nodes.classes.get(plain(owner.__qualname__)) if owner is not None and ours else None
        if raw.node is not None:
            return self._usage.demands(raw.node, node), self._usage.doubles(raw.node)
        if node is None or not isinstance(raw.target, type):
            return {}, {}
        used = dict(self._elsewhere.demands(raw.target))
        doubles: dict[str, Hint] = {}
        fields = self._usage.fields(node)
        for name, attributes in self._elsewhere.stored(raw.target).items():
            for item in (fields[attribute] for attribute in attributes if attribute in fields):
                known = [self._usage.hint(item), used.get(name, ANY)]
                used[name] = union(hint for hint in known if hint.kind != "any")
                if (double := item.double()) is not None:
                    doubles[name] = double
        return used, doubles

    def foreign(
        self, target: Any, module: str, qualname: str, owner: type | None, bound: bool = False
    ) -> tuple[Parameter, ...] | None:
        """Return the parameters of a callable outside the source under test, None if they are unknown."""
        signature = signature_of(target)
        stub = self._stubs.signature(module, qualname)
        if signature is None or (is_uninformative(signature) and stub is not None):
            if stub is None:
                return None
            return tuple(p for p in _spelt_out(stub) if not p.kind.startswith("var_"))
        entries = list(signature.parameters.values())[1 if bound else 0 :]
        sources = self._sources_of(target, owner, stub)
        found: list[Parameter] = []
        for entry in entries:
            if entry.kind not in (entry.VAR_POSITIONAL, entry.VAR_KEYWORD):
                hint, declared = sources.hint(entry)
                found.append(Parameter(entry.name, kind_of(entry), hint, entry.default is entry.empty, declared))
        found += self._received(self._forwarded(target, owner, entries))
        for entry in entries:
            if entry.kind is entry.VAR_KEYWORD and isinstance(target, type):
                found += self._free.of(target, entry.name, {one.name for one in found})
        return tuple(found)

    def _command_line(self, skipped: int, known: Hint) -> Hint:
        """Return the hint for a command line of which a parser gets all but the first words."""
        lines = command_line((*(_STR,) * skipped, *line) for line in self.command_lines)
        return union([*choices(lines), *([NONE] if NONE in choices(known) else [])])

    def _receiver(self, name: str) -> Sequence[Parameter]:
        """Return the parameters of a function or class of another module, see `Receivers`."""
        if name not in self._receivers:
            self._receivers[name] = ()
            if len(self._receivers) <= _MOST_RECEIVERS:
                with contextlib.suppress(Exception):  # an object that fails when it is inspected
                    self._receivers[name] = self._accepted(name)
        return self._receivers[name]

    def _accepted(self, name: str) -> Sequence[Parameter]:
        owner: Any = None
        found: Any = self._namespace.module
        for part in name.split("."):
            if not isinstance(found, type | types.ModuleType) or part not in vars(found):
                return ()
            owner, found = found, vars(found)[part]
        target = found.__func__ if isinstance(found, staticmethod | classmethod) else found
        owner = target if isinstance(target, type) else owner if isinstance(owner, type) else None
        module, qualname = asked(target, "__module__"), asked(target, "__qualname__")
        if module is None and owner is not None:  # a method in C
            module = owner.__module__
        if not isinstance(module, str) or not isinstance(qualname, str) or module in (self.module, "builtins"):
            return ()
        return self.foreign(target, module, qualname, owner, bound=isinstance(found, classmethod)) or ()

    def _sources_of(self, target: Any, owner: type | None, stub: Signature | None = None) -> _Sources:
        """Return the information about a callable that may be outside the source under test."""
        code = asked(target, "__code__")
        ours = isinstance(code, types.CodeType) and asked(target, "__module__") == self.module
        node = self._nodes.find(code) if ours else None
        return _Sources(
            space=self._namespace.within(target, owner),
            owner=owner,
            stub=stub,
            prose=docstrings.types(docstrings.of(target)),
            shown={},
            used=self._usage.demands(node) if node is not None else self._elsewhere.demands(target),
            named=self._named,
        )

    def _is_elsewhere(self, hint: Hint) -> bool:
        """The hint has a class of another module, outside the standard library."""
        known = [choice.name for choice in choices(hint) if choice.kind in ("class", "protocol")]
        return any(
            not name.startswith(f"{self.module}.")
            and name.partition(".")[0] not in sys.stdlib_module_names
            and not _is_enum(name)
            for name in known
        )

    def _forwarded(self, target: Any, owner: type | None, entries: list[inspect.Parameter]) -> list[Forwarded]:
        """Return the parameters of other functions that receive the keyword arguments of a callable."""
        if not any(entry.kind is entry.VAR_KEYWORD for entry in entries):
            return []
        known = {entry.name for entry in entries}
        return [one for one in forwarded(target, owner) if one.entry.name not in known]

    def _received(self, passed_on: Iterable[Forwarded]) -> Iterator[Parameter]:
        """Yield forwarded arguments as keyword parameters, with the hints that their receivers give them."""
        for one in passed_on:
            hint, declared = self._sources_of(one.receiver, one.owner).hint(one.entry)
            yield Parameter(one.entry.name, "keyword_only", hint, one.entry.default is one.entry.empty, declared)

    def returned(self, function: Any, owner: type | None) -> Hint:
        """Return the declared result type of a function outside the source under test, `ANY` without a declaration."""
        signature = signature_of(function)
        if signature is None:
            return ANY
        space = self._namespace.within(function, owner)
        if signature.return_annotation is signature.empty:
            return docstrings.returned_class(function, space, owner)
        return from_annotation(signature.return_annotation, space, owner)

    def attribute(self, cls: type, name: str) -> Hint | None:
        """Return the type of an attribute of objects of a class.

        The result is None if the type is undeclared, or if no plain value can replace the attribute. A method is a
        callable with its parameters and its result.
        """
        found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        space = self._namespace.within(cls, cls)
        if isinstance(found, property):
            return self.returned(found.fget, cls)
        if not isinstance(found, types.FunctionType):
            noted = next((annotated(base)[name] for base in cls.__mro__ if name in annotated(base)), None)
            return None if noted is None else from_annotation(noted, space, cls)
        signature = signature_of(found)
        if signature is None or inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
            return None
        entries = list(signature.parameters.values())[1:]
        if any(entry.kind in (entry.VAR_POSITIONAL, entry.VAR_KEYWORD, entry.KEYWORD_ONLY) for entry in entries):
            given: tuple[Hint, ...] = (ELLIPSIS,)
        else:
            given = tuple(_declared(entry, space, cls, None) for entry in entries)
        return Hint("callable", args=(*given, self.returned(found, cls)))


@dataclass(frozen=True)
class _Sources:
    """The information about the parameters of one operation.

    Attributes:
        space, owner: resolve names in annotations.
        stub: the same operation in a stub file.
        prose: types in the docstring, as text.
        shown: types of arguments in the examples of the docstring.
        used: types inferred from the uses in the body, see `Usage.demands`.
        named: classes by the parameter name that stands for them, see `namesakes`.
        optional: keys of `**name` that may be missing, see `Usage.optional_keys`.
    """

    space: Namespace
    owner: type | None
    stub: Signature | None
    prose: Mapping[str, str]
    shown: Mapping[str, Sequence[Hint]]
    used: Mapping[str, Hint]
    named: Mapping[str, Hint]
    optional: frozenset[str] = frozenset()

    def hint(self, entry: inspect.Parameter) -> tuple[Hint, bool]:
        """Return the type of a parameter, and whether it was declared rather than inferred."""
        hint = _declared(entry, self.space, self.owner, self.stub)
        if hint.kind == "any" and entry.name in self.prose:
            text = self.prose[entry.name]
            hint = from_annotation(text, self.space, self.owner)
            if hint.kind == "any" and text[:1].isupper() and text not in _LOOSE:  # a class that is not imported here
                hint = self.named.get(plain_name(text), ANY)
        if hint.kind == "any":  # `Any` says no more than no annotation
            return self._guess(entry), False
        declared = hint.kind != "any"
        hint = refined(hint, self.used.get(entry.name, ANY))
        if entry.default is None and hint.kind not in ("any", "none"):
            hint = union([hint, NONE])  # implicit Optional, which type checkers used to assume
        return hint, declared

    def _guess(self, entry: inspect.Parameter) -> Hint:
        default = ANY if entry.default is entry.empty else from_default(entry.default)
        guesses = [default, self.used.get(entry.name, ANY), *self.shown.get(entry.name, [])]
        known = [guess for guess in guesses if guess.kind != "any"]
        namesake = self.named.get(plain_name(entry.name))
        if namesake is not None and (not known or known[0].name in NAMESPACES):
            known = [namesake, *known, ANY]
        if entry.default is None and known:
            known.append(NONE)
        return union(known)

    def keywords(self, name: str, signature: inspect.Signature) -> list[Parameter]:
        """Return the entries of `**name`: keys that the body reads, and keyword parameters that the stub lists."""
        stub = () if self.stub is None else _spelt_out(self.stub)
        spelt = [p for p in stub if p.kind == "keyword_only" and p.name not in signature.parameters]
        others = {parameter.name for parameter in spelt} | set(signature.parameters)
        taken = {
            text[len(name) + 1 : -1]: hint
            for text, hint in self.used.items()
            if text.startswith(f"{name}[") and text.isascii()
        }
        return [
            Parameter(key, "keyword_only", hint, required=key not in self.optional)
            for key, hint in taken.items()
            if key.isidentifier() and key not in others
        ] + spelt


_STR = Hint("class", "builtins.str")
_LOOSE = frozenset({"Array", "Date", "File", "Function", "Object", "Path"})
"""Words for types in prose that seldom mean a class of the package with this name."""


def _declared(entry: inspect.Parameter, space: Namespace, owner: type | None, stub: Signature | None) -> Hint:
    """Return the type from the annotation of a parameter, otherwise from a stub file."""
    hint = ANY
    if entry.annotation is not entry.empty:
        hint = from_annotation(entry.annotation, space, owner)
    return stub.hint(entry.name) if hint.kind == "any" and stub is not None else hint


def _is_enum(name: str) -> bool:
    """The name in hints is that of an enum, whose members a test writes by name."""
    module, _, qualname = name.rpartition(".")
    home = sys.modules.get(module)
    return isinstance(home, types.ModuleType) and isinstance(vars(home).get(qualname), enum.EnumType)


def _spelt_out(stub: Signature) -> tuple[Parameter, ...]:
    """Return the parameters of a stub file."""
    return tuple(Parameter(p.name, p.kind, p.hint, p.required, True) for p in stub.parameters)


def _examples(doc: str | None, qualname: str, entries: list[inspect.Parameter]) -> dict[str, list[Hint]]:
    """Return the types of the arguments in the doctests of an operation, by parameter."""
    found: dict[str, list[Hint]] = {}
    positional = [e for e in entries if e.kind in (e.POSITIONAL_ONLY, e.POSITIONAL_OR_KEYWORD)]
    variable = next((e for e in entries if e.kind is e.VAR_POSITIONAL), None)
    for call in docstrings.calls(doc, qualname.rpartition(".")[2]):
        for index, argument in enumerate(call.args):
            entry = positional[index] if index < len(positional) else variable
            if entry is not None and (hint := _of_node(argument)).kind != "any":
                found.setdefault(entry.name, []).append(hint)
        for word in call.keywords:
            if word.arg is not None and (hint := _of_node(word.value)).kind != "any":
                found.setdefault(word.arg, []).append(hint)
    return found


def _of_node(node: ast.expr) -> Hint:
    """Return the type of an argument in an example: literals, lambdas and functions of `builtins`."""
    if isinstance(node, ast.Lambda):
        count = len(node.args.args)
        return Hint("callable", args=(*(ANY for _ in range(count)), ANY))
    if isinstance(node, ast.Name):
        found = vars(__builtins__ if isinstance(__builtins__, types.ModuleType) else sys.modules["builtins"]).get(
            node.id
        )
        if isinstance(found, types.BuiltinFunctionType):
            return Hint("callable", args=(Hint("ellipsis"), ANY))
        return ANY
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        if isinstance(node, ast.List | ast.ListComp):
            return Hint("list", args=(ANY,))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return {
                "range": Hint("sequence", args=(Hint("class", "builtins.int"),)),
                "iter": Hint("iterator", args=(ANY,)),
            }.get(node.func.id, ANY)
        return ANY
    if isinstance(value, tuple):
        return Hint("tuple", args=(union(of_value(item) for item in value[:5]), Hint("ellipsis"))) if value else ANY
    return of_value(value)
