"""Symbols: the operators of Python's syntax trees, and the special method of each."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["BINARY", "COMPARED", "UNARY"]

COMPARED: Mapping[type[ast.cmpop], str] = MappingProxyType(
    {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
)
BINARY: Mapping[type[ast.operator], str] = MappingProxyType(
    {
        ast.Add: "add",
        ast.Sub: "sub",
        ast.Mult: "mul",
        ast.MatMult: "matmul",
        ast.Div: "truediv",
        ast.FloorDiv: "floordiv",
        ast.Mod: "mod",
        ast.Pow: "pow",
        ast.LShift: "lshift",
        ast.RShift: "rshift",
        ast.BitAnd: "and",
        ast.BitOr: "or",
        ast.BitXor: "xor",
    }
)
UNARY: Mapping[type[ast.unaryop], str] = MappingProxyType({ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"})
"""Names of special methods without their underscores."""
