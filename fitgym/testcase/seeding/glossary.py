"""Glossary: maps names in other code to operations of the subject."""

from __future__ import annotations

from fitgym.subject.subject import Operation, Subject
from fitgym.subject.types.hints import Hint
from fitgym.testcase.expression import Name

__all__ = ["Glossary"]

_COMMON = frozenset(name for kind in (str, list, dict, set, bytes) for name in dir(kind))
"""Methods of built-in types: their use on an unknown object does not identify its class."""

_BUILTINS = frozenset(
    [
        *("abs", "all", "any", "bool", "bytes", "callable", "chr", "complex", "dict"),
        *("divmod", "enumerate", "float", "format", "frozenset", "hash", "hex", "int", "isinstance"),
        *("iter", "len", "list", "map", "max", "min", "next", "object", "oct"),
        *("ord", "pow", "print", "range", "repr", "reversed", "round", "set", "slice"),
        *("sorted", "str", "sum", "tuple", "type", "zip", "Exception", "ValueError", "TypeError"),
        *(
            "KeyError",
            "IndexError",
            "OSError",
            "AttributeError",
            "RuntimeError",
            "StopIteration",
            "NotImplementedError",
            "ZeroDivisionError",
        ),
    ]
)
_MODULES = frozenset(["operator", "math", "string"])
"""Modules of functions without side effects."""


class Glossary:
    """The operations of a subject, by the names that other code uses for them.

    Private operations are left out: a search tries them late (`Operation.entry_kind`). So are those that only observe.

    Args:
        subject: whose operations.
    """

    def __init__(self, subject: Subject) -> None:
        self.module = subject.reference.module
        self.package = self.module.partition(".")[0]
        self._classes = subject.classes
        self._exact: dict[tuple[str, str], Operation] = {}
        self._loose: dict[str, Operation] = {}
        self._members: dict[str, list[Operation]] = {}
        for operation in subject.operations:
            if operation.entry_kind == "private" or operation.unsearched:
                continue
            if operation.needs_receiver:
                name = operation.operator or operation.name.rpartition(".")[2]
                self._members.setdefault(name, []).append(operation)
                continue
            self._exact.setdefault((operation.module, operation.name), operation)
            if operation.module.partition(".")[0] == self.package:
                self._loose.setdefault(operation.name, operation)
        self._named = {(one.module, one.qualname): one for one in subject.classes.values()}

    def operation(self, path: str) -> Operation | None:
        """Return the function, constructor, class method or static method with a dotted path, None if there is none.

        A package may re-export names of its modules, so for a path inside the package only the end must match.
        """
        parts = path.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            found = self._exact.get((".".join(parts[:cut]), ".".join(parts[cut:])))
            if found is not None:
                return found
        if parts[0] == self.package:
            for cut in range(1, len(parts)):
                found = self._loose.get(".".join(parts[cut:]))
                if found is not None:
                    return found
        return None

    def member(self, kinds: tuple[str, ...], name: str, owner: str) -> Operation | None:
        """Return the operation of the member `name` on an object of the class `owner`, None if it is unknown.

        For an unknown class (`owner` is ""), the result is an operation with the name, preferably one under test.

        Args:
            kinds: allowed kinds of the operation.
            name: of the attribute, or the special method for an operator.
            owner: name of the class, a key of `Subject.classes`, or "".
        """
        found = [one for one in self._members.get(name, ()) if one.kind in kinds]
        if owner:
            known = self._classes.get(owner)
            bases = known.bases if known is not None else (owner,)
            mine = [one for one in found if one.owner in bases]
            return min(mine, key=lambda one: bases.index(one.owner)) if mine else None
        if name in _COMMON:
            return None
        found = [one for one in found if not one.operator]
        return next((one for one in found if one.under_test), found[0] if found else None)

    def returned(self, operation: Operation) -> str:
        """Return the class of an operation's result, "" if it is unknown."""
        if operation.kind == "constructor":
            return operation.owner
        hints = operation.returns.args if operation.returns.kind == "union" else (operation.returns,)
        return next((name for hint in hints if (name := self._class(hint))), "")

    def _class(self, hint: Hint) -> str:
        return hint.name if hint.kind == "class" and not hint.name.startswith("builtins.") else ""

    def name(self, path: str) -> Name | None:
        """Return a class, a member of an enum or a function as an argument; None if it cannot be named safely."""
        module, _, last = path.rpartition(".")
        if module == "builtins":
            return Name("builtins", last) if last in _BUILTINS else None
        if module in _MODULES:
            return Name(module, last)
        operation = self.operation(path)
        if operation is not None:
            return Name(operation.module, operation.name)
        parts = path.split(".")
        for cut in range(1, len(parts)):
            rest = ".".join(parts[cut:])
            for home in (".".join(parts[:cut]), self.module if parts[0] == self.package else ""):
                if (home, rest) in self._named:
                    return Name(home, rest)
                outer, _, member = rest.rpartition(".")
                known = self._named.get((home, outer))
                if known is not None and member in known.members:
                    return Name(home, rest)
        return None

    @staticmethod
    def is_builtin(name: str) -> bool:
        """Return whether a built-in class or function may be an argument."""
        return name in _BUILTINS
