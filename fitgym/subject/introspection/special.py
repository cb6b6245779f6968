"""Special methods: which of them a test writes as an operator, and which it does not call."""

from __future__ import annotations

__all__ = ["CHANGING", "NOT_CALLED", "OPERATORS", "is_mangled", "is_private", "is_special"]

_ARITHMETIC = (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "divmod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
)

_IN_PLACE = tuple(f"__i{name}__" for name in _ARITHMETIC if name != "divmod")

CHANGING = frozenset({"__setitem__", *_IN_PLACE})
"""Special methods that change their receiver: `x[key] = value`, `x += y`."""

OPERATORS: tuple[str, ...] = (
    *("__len__", "__bool__", "__str__", "__repr__", "__bytes__", "__hash__", "__format__", "__int__", "__float__"),
    *("__complex__", "__index__", "__neg__", "__pos__", "__abs__", "__invert__", "__round__", "__trunc__", "__floor__"),
    *("__ceil__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__getitem__"),
    *("__setitem__", "__delitem__", "__iter__", "__next__", "__reversed__", "__call__", "__enter__", "__aenter__"),
    *("__aiter__", "__anext__", "__await__"),
    *(f"__{name}__" for name in _ARITHMETIC),
    *(f"__r{name}__" for name in _ARITHMETIC),
    *_IN_PLACE,
)
"""Special methods that a test writes as an operator, a built-in function or a statement.

Other special methods (`__missing__`, `__copy__`, ...) are operations of kind "method", called by name.
"""

NOT_CALLED = frozenset(
    [
        "__init__",
        "__new__",
        "__post_init__",
        "__attrs_post_init__",
        "__del__",
        "__exit__",
        "__aexit__",
        "__init_subclass__",
        "__set_name__",
        "__class_getitem__",
        "__getattribute__",
        "__subclasshook__",
        "__prepare__",
        "__instancecheck__",
        "__subclasscheck__",
        "__get__",
        "__set__",
        "__delete__",
        "__reduce__",
        "__reduce_ex__",
        "__setstate__",
        "__getnewargs__",
        "__getnewargs_ex__",
        "__class__",
        "__annotate__",
    ]
)
"""Methods that the language calls by itself, or that are part of construction."""


def is_special(name: str) -> bool:
    """Return whether a name has the form `__name__`."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def is_private(name: str) -> bool:
    """Return whether a name has the form `_name` or `__name`."""
    return name.startswith("_") and not is_special(name)


def is_mangled(name: str, owner: type) -> bool:
    """The member was written as `__name` in the class `owner`, so it is private to that class."""
    return name.startswith(f"_{owner.__name__.lstrip('_')}__")
