"""Catalogue: the operations and classes that introspection finds, and the argument types that still need helpers."""

from __future__ import annotations

import enum
import inspect
import types
from collections import deque

from fitgym.subject.introspection.recipes import INSTANCES
from fitgym.subject.introspection.special import is_special
from fitgym.subject.subject import Class, Drive, Operation, OperationKind, Parameter
from fitgym.subject.types.hints import Hint, home, is_protocol, name_of
from fitgym.subject.types.protocols import demanded, satisfies

__all__ = ["Catalogue"]


class Catalogue:
    """The operations and classes found so far.

    Args:
        module: the subject, imported.

    Attributes:
        operations: in the order of their ids.
        classes: every class found, by its name in hints.
        bound: qualified names of classes in the module itself, by the same name.
        protocols: names of the protocols among the classes.
        doubles: of these protocols, see `Class.double`.
        wanted: types of parameters, each with its number of steps from the code under test.
        done: members already handled, as (name of the class, name); a class itself is ("constructor", name).
    """

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self.operations: list[Operation] = []
        self.classes: dict[str, type] = {}
        self.bound: dict[str, str] = {}
        self.protocols: set[str] = set()
        self.doubles: dict[str, Hint] = {}
        self.wanted: deque[tuple[Hint, int]] = deque()
        self.done: set[tuple[str, str]] = set()

    def forget_operations(self) -> None:
        """Remove all operations and keep the known classes."""
        self.operations.clear()
        self.done.clear()

    def add(
        self,
        kind: OperationKind,
        module: str,
        name: str,
        owner: str,
        parameters: tuple[Parameter, ...],
        returns: Hint,
        *,
        under_test: bool,
        drive: Drive = "",
        unsearched: bool = False,
    ) -> None:
        """Add an operation whose code is not in the source; the arguments are those of `Operation`."""
        self.operations.append(
            Operation(
                len(self.operations),
                kind,
                module,
                name,
                owner,
                parameters,
                returns,
                under_test=under_test,
                drive=drive,
                operator=name.rpartition(".")[2] if kind == "operator" else "",
                unsearched=unsearched,
            )
        )

    def register(self, cls: type) -> str:
        """Add a class; return its name in hints."""
        key = name_of(cls)
        self.classes.setdefault(key, cls)
        return key

    def home(self, cls: type) -> tuple[str, str]:
        """Return the module that a test imports a class from, and the qualified name of the class there."""
        return (self._module.__name__, cls.__qualname__) if cls.__module__ == self._module.__name__ else home(cls)

    def entries(self) -> dict[str, Class]:
        """Return `Subject.classes`, sorted by name."""
        instances = self._instances()
        entries: dict[str, Class] = {}
        for key in sorted(self.classes):
            cls = self.classes[key]
            module, qualname = (self._module.__name__, self.bound[key]) if key in self.bound else self.home(cls)
            bases = [name_of(base) for base in cls.__mro__]
            structural = [
                name
                for name in sorted(self.protocols)
                if name not in bases and name in self.classes and satisfies(cls, self.classes[name])
            ]
            entries[key] = Class(
                name=key,
                module=module,
                qualname=qualname,
                bases=(*bases[:-1], *structural, *bases[-1:]),
                members=tuple(cls.__members__) if issubclass(cls, enum.Enum) else (),
                demands=demanded(cls) if is_protocol(cls) else (),
                double=self.doubles.get(key),
                abstract=inspect.isabstract(cls) or is_protocol(cls),
                instances=(*INSTANCES.get(key, ()), *instances.get(key, ())),
                by_address=inspect.getattr_static(cls, "__hash__") is vars(object)["__hash__"],
            )
        return entries

    def _instances(self) -> dict[str, list[str]]:
        """Return the objects that exist at module level, by class."""
        found: dict[str, list[str]] = {}
        for name, value in list(vars(self._module).items()):
            cls = type(value)
            if is_special(name) or cls.__module__ == "builtins" or issubclass(cls, type | types.ModuleType | enum.Enum):
                continue
            if cls.__module__ in ("__future__", "typing", "types"):
                continue
            found.setdefault(name_of(cls), []).append(f"{self._module.__name__}:{name}")
        return found
