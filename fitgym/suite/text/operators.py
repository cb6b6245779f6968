"""Special methods, and the Python that calls them."""

from __future__ import annotations

__all__ = ["BINARY", "CALLED", "FROM_MODULES", "IN_PLACE", "OF_ATTRIBUTES", "REFLECTED", "UNARY"]

BINARY = {
    "__add__": "+",
    "__sub__": "-",
    "__mul__": "*",
    "__matmul__": "@",
    "__truediv__": "/",
    "__floordiv__": "//",
    "__mod__": "%",
    "__pow__": "**",
    "__lshift__": "<<",
    "__rshift__": ">>",
    "__and__": "&",
    "__or__": "|",
    "__xor__": "^",
    "__lt__": "<",
    "__le__": "<=",
    "__eq__": "==",
    "__ne__": "!=",
    "__gt__": ">",
    "__ge__": ">=",
}
"""Binary operators, by the special method of the left operand."""

REFLECTED = {
    f"__r{name[2:]}": symbol for name, symbol in BINARY.items() if symbol not in ("<", "<=", "==", "!=", ">", ">=")
}
"""Binary operators, by the special method of the right operand."""

UNARY = {"__neg__": "-", "__pos__": "+", "__invert__": "~"}
"""Unary operators."""

CALLED = {
    "__abs__": "abs",
    "__bool__": "bool",
    "__bytes__": "bytes",
    "__complex__": "complex",
    "__delattr__": "delattr",
    "__dir__": "dir",
    "__divmod__": "divmod",
    "__float__": "float",
    "__format__": "format",
    "__getattr__": "getattr",
    "__getattribute__": "getattr",
    "__hash__": "hash",
    "__int__": "int",
    "__iter__": "iter",
    "__len__": "len",
    "__next__": "next",
    "__repr__": "repr",
    "__reversed__": "reversed",
    "__round__": "round",
    "__setattr__": "setattr",
    "__str__": "str",
}
"""Builtin functions that call a special method of their first argument."""

OF_ATTRIBUTES = {"__getattr__": 1, "__getattribute__": 1, "__setattr__": 2, "__delattr__": 1}
"""Special methods whose first argument names an attribute, with their number of arguments."""

FROM_MODULES = {
    "__ceil__": ("math", "ceil"),
    "__floor__": ("math", "floor"),
    "__trunc__": ("math", "trunc"),
    "__index__": ("operator", "index"),
    "__length_hint__": ("operator", "length_hint"),
    **{f"__i{name[2:]}": ("operator", f"i{name[2:-2]}") for name in BINARY if f"__r{name[2:]}" in REFLECTED},
}
"""Functions of the standard library that call a special method: module and name."""

IN_PLACE = {name: f"{BINARY[f'__{name[3:]}']}=" for name in FROM_MODULES if f"__{name[3:]}" in BINARY}
"""The augmented assignments, by the special methods that they call."""
