"""Monkeypatch: bound methods that replace a function of another module and have its name.

A class may store a C function as an attribute, such as `clock = time.time`. Its instances return the function itself,
because a C function does not bind. A bound method does not bind again either; a Python function would.
"""

from __future__ import annotations

import types
from typing import Any

__all__ = ["replacement"]


def replacement(method: Any, module: str) -> types.MethodType:
    """Return the bound method, renamed as if its function were defined in `module`."""
    known = method.__func__
    function = types.FunctionType(known.__code__, known.__globals__, known.__name__, known.__defaults__)
    function.__module__, function.__qualname__, function.__doc__ = module, known.__name__, known.__doc__
    return types.MethodType(function, method.__self__)
