"""Binding: turns the free variables of a closure into constants of its code.

Probes run very often and read lists, numbers and functions at each call. Constants are the fastest to read: a
comparison of two integers takes 108 ns, against 140 ns as a closure and 130 ns with default parameter values (CPython
3.11).
"""

from __future__ import annotations

import functools
import opcode
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, cast

__all__ = ["bound"]

_COPY = opcode.opmap["COPY_FREE_VARS"]
_LOAD = opcode.opmap["LOAD_DEREF"]
_LOAD_CONSTANT = opcode.opmap["LOAD_CONST"]
_NOTHING = opcode.opmap["NOP"]
_EXTENDED = opcode.opmap["EXTENDED_ARG"]


def bound(closure: Callable[..., Any]) -> FunctionType:
    """Return a function like the closure, with the current values of its free variables as constants.

    It has no free variables, so functions made this way can exchange their code.

    Args:
        closure: a function without defaults and inner functions that assigns none of its free variables.
    """
    function = cast(FunctionType, closure)
    code = function.__code__
    if function.__closure__:
        values = tuple([cell.cell_contents for cell in function.__closure__])
        code = _without_free_variables(code).replace(co_consts=code.co_consts + values)
    return FunctionType(code, function.__globals__, function.__name__)


@functools.cache
def _without_free_variables(code: CodeType) -> CodeType:
    """Return the code with one additional constant per free variable, read instead of the variable."""
    assert not code.co_cellvars, f"'{code.co_qualname}' has inner functions"
    n_locals, n_constants = code.co_nlocals, len(code.co_consts)
    instructions = bytearray(code.co_code)
    for at in range(0, len(instructions), 2):
        operation, argument = instructions[at : at + 2]
        if operation == _COPY:
            instructions[at : at + 2] = _NOTHING, 0
        elif operation == _LOAD:
            constant = argument - n_locals + n_constants
            assert constant < 256 and (not at or instructions[at - 2] != _EXTENDED), f"'{code.co_qualname}' is too long"
            instructions[at : at + 2] = _LOAD_CONSTANT, constant
    return code.replace(
        co_code=bytes(instructions),
        co_consts=code.co_consts + (None,) * len(code.co_freevars),
        co_freevars=(),
    )
