"""Monkeypatch: bound methods that replace a function of another module and have its name.

A class that keeps a function in C, such as `clock = time.time`, gets the function itself back from its instances. A bound
method is not bound once more either; a function in Python would be.
"""

from __future__ import annotations

import types
from typing import Any

__all__ = ["replacement"]


def replacement(method: Any, module: str) -> types.MethodType:
    """The bound method, as if its function were defined in `module`."""
    known = method.__func__
    function = types.FunctionType(known.__code__, known.__globals__, known.__name__, known.__defaults__)
    function.__module__, function.__qualname__, function.__doc__ = module, known.__name__, known.__doc__
    return types.MethodType(function, method.__self__)
