"""Usage: types of parameters, inferred from their uses in the syntax tree of a module.

`reader` follows parameters through each function. This module combines the evidence over the whole module.
"""

from __future__ import annotations

import ast
from builtins import id
from collections.abc import Mapping
from types import MappingProxyType

from fitgym.subject.code.definitions import AnyFunction, Definitions, bound, is_static, positional
from fitgym.subject.types.calls import Receivers
from fitgym.subject.types.evidence import Evidence
from fitgym.subject.types.hints import Hint
from fitgym.subject.types.operands import constant_type
from fitgym.subject.types.reader import Reading

__all__ = ["Usage"]


class Usage:
    """Uses of the parameters of the functions of one module.

    Args:
        tree: the module.
        known: names of classes in the source that `isinstance` and attributes may refer to, with their hints.
        attributes: for each known class (by the name in its hint), the attributes of its objects.
        far: the same for classes that the module has no name for.
        receivers: the parameters of functions and classes of other modules, by the names that the source has for them.
    """

    def __init__(
        self,
        tree: ast.AST,
        known: Mapping[str, Hint] = MappingProxyType({}),
        attributes: Mapping[str, frozenset[str]] = MappingProxyType({}),
        far: Mapping[str, frozenset[str]] = MappingProxyType({}),
        receivers: Receivers = lambda _: (),
    ) -> None:
        self.attributes = attributes
        self.far = far
        self.definitions = Definitions(tree)
        self._classes = [
            (owner, attributes.get(known[name].name, frozenset()))
            for name, owner in self.definitions.classes.items()
            if name in known
        ]
        self.reading = Reading(self.definitions, known, receivers)
        self._sites = self._call_sites(tree)
        self._connect()

    def demands(self, node: AnyFunction, owner: ast.ClassDef | None = None) -> dict[str, Hint]:
        """Return the inferred type of each parameter of a function, by name, without the parameters of unknown type.

        For a `**name` parameter, the constant keys that the body reads are returned as `name[key]`.

        Args:
            node: the function.
            owner: the class whose objects have it as a method, if it is inherited; its other methods may use attributes
                that this one sets.
        """
        evidence = self.reading.evidence(node)
        if owner is not None:
            evidence = {name: self._with_fields(node, item, owner) for name, item in evidence.items()}
        for name, seen in self._sites.get(node, {}).items():
            for hint in seen if name in evidence else ():
                evidence[name].seen.setdefault(hint)
        hints = {name: self.hint(item) for name, item in evidence.items()}
        if node.args.kwarg is not None:
            name = node.args.kwarg.arg
            for key, item in evidence[name].keys.items():
                hints[f"{name}[{key}]"] = self.hint(item)
            hints.pop(name)
        if node.args.vararg is not None:
            name = node.args.vararg.arg  # like an annotation, the hint is for one argument
            hints[name] = self.hint(evidence[name].element)
        return {name: hint for name, hint in hints.items() if hint.kind != "any" or "[" in name}

    def stored(self, node: AnyFunction) -> dict[str, list[str]]:
        """Return the attributes of the receiver to which a method assigns each of its parameters."""
        return {name: self._stored(node, item) for name, item in self.reading.evidence(node).items()}

    def fields(self, owner: ast.ClassDef) -> dict[str, Evidence]:
        """Return the evidence about the attributes of the objects of a class, also from its bases inside the module."""
        found: dict[str, Evidence] = {}
        for known in self.definitions.ancestors(owner):
            for name, item in self.reading.fields(known).items():
                found.setdefault(name, Evidence()).link(item)
        return found

    def hint(self, item: Evidence) -> Hint:
        """Return the type that the evidence suggests."""
        return item.hint(self.attributes, far=self.far)

    def optional_keys(self, node: AnyFunction) -> frozenset[str]:
        """Return the constant keys that the body reads from its `**name` parameter in ways that allow them to be missing."""
        if node.args.kwarg is None:
            return frozenset()
        keys = self.reading.evidence(node)[node.args.kwarg.arg].keys
        return frozenset(key for key, item in keys.items() if "optional" in item.uses)

    def doubles(self, node: AnyFunction) -> dict[str, Hint]:
        """Return plain objects that can replace the arguments of a function, by parameter; see `Evidence.double`."""
        found = {name: item.double() for name, item in self.reading.evidence(node).items()}
        return {name: hint for name, hint in found.items() if hint is not None}

    def _stored(self, node: AnyFunction, item: Evidence) -> list[str]:
        owner = self.definitions.owners.get(node)
        fields = {} if owner is None else self.reading.fields(owner)
        return [name for name, known in fields.items() if any(known is link for link in item.links)]

    def _with_fields(self, node: AnyFunction, item: Evidence, owner: ast.ClassDef) -> Evidence:
        """Return the evidence about an inherited method's parameter, together with that of a class that inherits it."""
        names = self._stored(node, item)
        if not names or owner is self.definitions.owners.get(node):
            return item
        both = Evidence()
        both.link(item)
        fields = self.fields(owner)
        for name in names:
            if name in fields:
                both.link(fields[name])
        return both

    def _connect(self) -> None:
        """Follow values into attributes and methods of objects of the module's own classes.

        Example: a use of `tree.items` in `f(tree)` is a use of the argument `items` of `Tree(items)`.
        """
        for node in (*self.definitions.functions.values(), *self.definitions.owners):
            self.reading.evidence(node)
        for value in self.reading.used:
            for owner in self._classes_of(value):
                for name, member in value.members.items():
                    if self.definitions.method(owner, name) is None:
                        self.reading.fields(owner).setdefault(name, Evidence()).link(member)
                for name, call, arguments in value.asked:
                    called = self.definitions.method(owner, name)
                    if called is not None:
                        places = dict(zip(map(id, call.args), arguments, strict=True))
                        evidence = self.reading.evidence(called)
                        for parameter, argument in bound(call, positional(called)[0 if is_static(called) else 1 :]):
                            if parameter in evidence and id(argument) in places:
                                places[id(argument)].link(evidence[parameter])
        for heir, method, received, given in self.reading.passed_up:
            given.link(self._with_fields(method, received, heir))

    def _classes_of(self, value: Evidence) -> list[ast.ClassDef]:
        """Return the classes of the module whose object the value may be, if there are one or two."""
        group = value.group()
        made = [owner for item in group for owner in item.made]
        if made:
            return made[:2]
        wanted = {name for item in group for name in item.attributes if not name.startswith("__")}
        fitting = [owner for owner, attributes in self._classes if wanted <= attributes] if wanted else []
        return fitting if len(fitting) <= 2 else []

    def _call_sites(self, tree: ast.AST) -> dict[AnyFunction, dict[str, list[Hint]]]:
        """Return types of constant arguments in calls of the module's own functions: weak evidence."""
        sites: dict[AnyFunction, dict[str, list[Hint]]] = {}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            called = self.definitions.functions.get(node.func.id)
            if called is None:
                continue
            for name, argument in bound(node, positional(called)):
                hint = constant_type(argument)
                if hint.kind != "any":
                    sites.setdefault(called, {}).setdefault(name, []).append(hint)
        return sites
