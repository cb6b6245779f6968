"""Hints: which values a parameter takes, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ANY", "Hint"]


@dataclass(frozen=True, slots=True)
class Hint:
    """Which values a parameter takes or a call returns.

    Attributes:
        kind: one of
            "any"       nothing is known;
            "none"      only `None`;
            "class"     an object of the class `name` (`builtins.int`, `package.module.Class`) or of a subclass;
            "union"     one of `args`;
            "literal"   one of the literals `texts`, each as Python source text;
            "list", "set", "frozenset", "iterable", "iterator", "sequence"  of elements `args[0]`;
            "dict", "mapping"  from keys `args[0]` to values `args[1]`;
            "tuple"     of exactly `args`, or of any length when `args` is `(element, Hint("ellipsis"))`;
            "callable"  taking `args[:-1]` (any arguments when the first is `Hint("ellipsis")`), returning `args[-1]`;
            "type"      the class `args[0]` itself or a subclass;
            "protocol"  an object with the attributes that the class `name` demands;
            "ellipsis"  only inside "tuple" and "callable".
        name: class name for "class" and "protocol", else "".
        args: parts of a compound hint.
        texts: literals for "literal".
    """

    kind: str
    name: str = ""
    args: tuple[Hint, ...] = ()
    texts: tuple[str, ...] = ()


ANY = Hint("any")
