"""Operands: evidence about the operands of an operator, from the syntax of the other operand."""

from __future__ import annotations

import ast

from fitgym.subject.code.definitions import called_name
from fitgym.subject.types.evidence import Evidence, Uses, type_of
from fitgym.subject.types.hints import ANY, Hint, of_value
from fitgym.subject.types.library import TYPES

__all__ = ["combine", "compare_constant", "constant_type", "is_integer", "membership", "uses_of"]


def membership(item: Evidence, item_node: ast.expr, container: Evidence, container_node: ast.expr) -> None:
    """Record `item in container`."""
    if isinstance(container_node, ast.Tuple | ast.List | ast.Set):
        for constant in container_node.elts:
            compare_constant(item, constant)
    elif uses_of(container_node) == ("text",) or ast.unparse(container_node).startswith("string."):
        item.use("text")  # in a string, or in string.digits and similar constants
    container.look_up(item)
    container.use("contained")
    container.element.use(*uses_of(item_node))
    item.link(container.element)


def compare_constant(found: Evidence, node: ast.expr) -> None:
    """Record `found == node`, where the node may be a constant."""
    if isinstance(node, ast.Constant):
        if node.value is None:
            found.use("none")
        elif isinstance(node.value, str | bytes | int | float) and not isinstance(node.value, bool):
            found.literals.setdefault(repr(node.value))
        elif isinstance(node.value, bool):
            found.seen.setdefault(TYPES["bool"])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        found.literals.setdefault(ast.unparse(node))


def combine(left: Evidence, operator: ast.operator, left_node: ast.expr, right: Evidence, right_node: ast.expr) -> None:
    """Record an arithmetic operator."""
    match operator:
        case ast.Mod() if isinstance(right_node, ast.Tuple | ast.Dict):
            left.use("text")
        case ast.Add():
            for this, other_node in ((left, right_node), (right, left_node)):
                this.use(*(uses_of(other_node) or ("addable",)))
        case ast.Mult():
            for this, other_node in ((left, right_node), (right, left_node)):
                uses = uses_of(other_node)
                this.use(*(("integer",) if set(uses) & {"text", "list", "tuple", "bytes"} else ("number",)))
        case ast.BitAnd() | ast.BitOr() | ast.BitXor():
            for this, other_node in ((left, right_node), (right, left_node)):
                uses = uses_of(other_node)
                this.use(*(("integer",) if not uses or uses == ("number",) else uses))
        case ast.LShift() | ast.RShift():
            left.use("integer")
            right.use("integer")
        case _:
            left.use("number")
            right.use("number")


def uses_of(node: ast.expr) -> tuple[Uses, ...]:
    """Return the uses of a value that is combined with this expression, if the expression shows its own type."""
    match node:
        case ast.Constant(value=value):
            return type_of(value)
        case ast.JoinedStr():
            return ("text",)
        case ast.UnaryOp(operand=operand):
            return uses_of(operand)
        case ast.List() | ast.ListComp():
            return ("list",)
        case ast.Tuple():
            return ("tuple",)
        case ast.Set() | ast.SetComp():
            return ("set",)
        case ast.Dict() | ast.DictComp():
            return ("dict",)
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Pow()):
            return ("number",)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mod(), right=right):
            return uses_of(left) or uses_of(right)
        case ast.Call():
            name = called_name(node.func)
            known: dict[str, Uses] = {"len": "number", "int": "number", "float": "number", "ord": "number"}
            known |= {"str": "text", "repr": "text", "join": "text", "list": "list", "sorted": "list", "tuple": "tuple"}
            known |= {"set": "set", "abs": "number", "round": "number", "lower": "text", "upper": "text"}
            return (known[name],) if name in known else ()
    return ()


def is_integer(node: ast.expr) -> bool:
    """The expression is built from integers: `len(x) - 1`, `n // 2`."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int)
        case ast.Call(func=ast.Name(id=name)):
            return name in ("len", "int")
        case ast.BinOp(left=left, right=right):
            return is_integer(left) or is_integer(right)
    return False


def constant_type(node: ast.expr) -> Hint:
    """Return the type of a constant or a display of constants, `ANY` for every other expression."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return TYPES["str"] if isinstance(node, ast.JoinedStr) else ANY
    return ANY if value is None else of_value(value)
