"""Layout: statements of a test as text, with lines broken where the common Python formatters break them.

Only what an exported test consists of is known: calls, containers, attributes, subscripts, comparisons, assignments,
`assert`, `with` and lambdas. A line that fits into 88 columns stays whole. Else the last bracket is opened: the
arguments of a call go to a line of their own, or to one line each with a comma behind; the items of a container to one
line each. What has no bracket to open at its end is put into parentheses.
"""

from __future__ import annotations

import ast
import math
import unicodedata
from collections.abc import Sequence

__all__ = ["WIDTH", "laid_out", "quoted", "width"]

WIDTH = 88
STEP = 4

OPERATORS: dict[type[ast.AST], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.And: "and",
    ast.Or: "or",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Not: "not ",
}

LOOSE = (ast.Lambda, ast.Compare, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Await, ast.IfExp, ast.NamedExpr, ast.Starred)
"""Expressions that need parentheses inside an operation or in front of a dot."""


def laid_out(text: str, indent: int = 0) -> str:
    """The statements of `text`, each laid out at the given indentation.

    Raises:
        SyntaxError: the text is no Python.
    """
    return "\n".join(_statement(node, indent) for node in ast.parse(text).body)


def quoted(value: str | bytes) -> str:
    """A text as a literal: in double quotes unless that takes more backslashes; what has no width is escaped."""
    prefix = "b" if isinstance(value, bytes) else ""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    quote = "'" if text.count('"') > text.count("'") else '"'
    body = []
    for character in text:
        if character == quote or character == "\\":
            body.append(f"\\{character}")
        elif isinstance(value, bytes) or character.isascii():
            plain = repr(character)[1:-1] if character not in "'\"" else character
            body.append(f"\\x{ord(character):02x}" if ord(character) > 126 else plain)
        elif _has_width(character):
            body.append(character)
        else:
            body.append(_escape(character))
    return f"{prefix}{quote}{''.join(body)}{quote}"


def width(text: str) -> int:
    """Columns that a line of text takes; wide characters take two."""
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _statement(node: ast.stmt, indent: int) -> str:
    pad = " " * indent
    match node:
        case ast.Assign(targets=[target], value=value):
            return pad + _assigned(f"{_flat(target)} = ", target, value, indent)
        case ast.Assert(test=test):
            return pad + "assert " + _parenthesised(test, indent + len("assert "), indent)
        case ast.Expr(value=value):
            return pad + _broken(value, indent, indent, 0)
        case ast.Delete(targets=[target]):
            return pad + "del " + _broken(target, indent + len("del "), indent, 0)
        case ast.With(items=[ast.withitem(context_expr=context, optional_vars=name)], body=body):
            bound = f" as {_flat(name)}" if name is not None else ""
            head = "with " + _broken(context, indent + len("with "), indent, len(bound) + 1) + bound + ":"
            return "\n".join([pad + head, *(_statement(inner, indent + STEP) for inner in body)])
        case _:
            return "\n".join(pad + line for line in ast.unparse(node).splitlines())


def _assigned(left: str, target: ast.expr, value: ast.expr, indent: int) -> str:
    """An assignment; a target that does not fit before its value is opened first."""
    first = indent + width(left)
    if isinstance(target, ast.Subscript) and first + width(_head(value)) > WIDTH:
        opened = _opened(target, indent, indent, len(" = "))
        return f"{opened} = {_parenthesised(value, indent + len('] = '), indent)}"
    return left + _parenthesised(value, first, indent)


def _parenthesised(node: ast.expr, column: int, indent: int) -> str:
    """The value of a statement that may be put into parentheses, starting at `column`."""
    flat = _flat(node)
    if column + width(flat) <= WIDTH:
        return flat
    if isinstance(node, ast.Compare | ast.BinOp):
        left, operator, right = _operation(node)
        if _opens(right):
            head = f"{_flat(left)} {operator} "
            if column + width(head + _head(right)) <= WIDTH:
                return head + _broken(right, column + width(head), indent, 0)
            if _opens(left):
                opened = _opened(left, column, indent, width(f" {operator} {_flat(right)}"))
                return f"{opened} {operator} " + _broken(right, indent + len(f"] {operator} "), indent, 0)
        inner = indent + STEP
        pad = " " * inner
        if inner + width(flat) <= WIDTH:
            return f"(\n{pad}{flat}\n{' ' * indent})"
        first = _broken(left, inner, inner, 0)
        second = _broken(right, inner + len(operator) + 1, inner, 0)
        return f"(\n{pad}{first}\n{pad}{operator} {second}\n{' ' * indent})"
    if _opens(node):
        return _broken(node, column, indent, 0)
    if indent + STEP + width(flat) <= WIDTH:
        return f"(\n{' ' * (indent + STEP)}{flat}\n{' ' * indent})"
    return flat


def _broken(node: ast.expr, column: int, indent: int, suffix: int) -> str:
    """An expression from `column` on, with `suffix` columns to follow; opened if it does not fit."""
    flat = _flat(node)
    if column + width(flat) + suffix <= WIDTH or not _opens(node):
        if isinstance(node, ast.Compare | ast.BinOp) and column + width(flat) + suffix > WIDTH:
            left, operator, right = _operation(node)
            return f"{_flat(left)} {operator} " + _broken(right, column + width(f"{_flat(left)} {operator} "), indent, suffix)
        return flat
    return _opened(node, column, indent, suffix)


def _opened(node: ast.expr, column: int, indent: int, suffix: int) -> str:
    """An expression with its last bracket opened."""
    inner = indent + STEP
    pad, end = " " * inner, " " * indent
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            head = f"{_flat(func)}("
            parts: list[ast.expr | ast.keyword] = [*args, *keywords]
            line = ", ".join(map(_flat, parts))
            if inner + width(line) <= WIDTH:
                return f"{head}\n{pad}{line}\n{end})"
            if len(args) == 1 and not keywords:
                return f"{head}\n{pad}{_item(args[0], inner, 0)}\n{end})"
            return f"{head}\n{_lines(parts, inner)}\n{end})"
        case ast.List(elts=items):
            return f"[\n{_lines(items, inner)}\n{end}]"
        case ast.Tuple(elts=items):
            return f"(\n{_lines(items, inner)}\n{end})"
        case ast.Set(elts=items):
            return f"{{\n{_lines(items, inner)}\n{end}}}"
        case ast.Dict(keys=keys, values=values):
            rows = []
            for key, value in zip(keys, values, strict=True):
                name = f"{_flat(key)}: " if key is not None else "**"
                rows.append(f"{pad}{name}{_broken(value, inner + width(name), inner, 1)},")
            return "\n".join(["{", *rows, end + "}"])
        case ast.Subscript(value=value, slice=index):
            return f"{_flat(value)}[\n{pad}{_item(index, inner, 0)}\n{end}]"
        case ast.Attribute(value=value, attr=name):
            return f"{_opened(value, column, indent, suffix + width(name) + 1)}.{name}"
        case ast.Lambda(body=body):
            head = _flat(node)[: -len(_flat(body))]
            if _opens(body):
                return head + _opened(body, column + width(head), indent, suffix)
            return f"{head}(\n{pad}{_flat(body)}\n{end})"
        case _:
            return _flat(node)


def _lines(items: Sequence[ast.expr | ast.keyword], indent: int) -> str:
    """One item to a line, a comma behind each."""
    return "\n".join(f"{' ' * indent}{_item(item, indent, 1)}," for item in items)


def _item(node: ast.expr | ast.keyword, indent: int, suffix: int) -> str:
    """One item on its own line."""
    if isinstance(node, ast.keyword):
        name = f"{node.arg}=" if node.arg else "**"
        return name + _broken(node.value, indent + width(name), indent, suffix)
    return _broken(node, indent, indent, suffix)


def _opens(node: ast.expr) -> bool:
    """The expression ends in a bracket with something in it, which can be opened."""
    match node:
        case ast.Call(args=args, keywords=keywords):
            return bool(args or keywords)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return bool(items)
        case ast.Dict(values=values):
            return bool(values)
        case ast.Attribute(value=value):
            return _opens(value)
        case ast.Subscript() | ast.Lambda():
            return True
        case _:
            return False


def _head(node: ast.expr) -> str:
    """What stays on the first line when the expression is opened."""
    match node:
        case ast.Call(func=func) if _opens(node):
            return f"{_flat(func)}("
        case ast.Subscript(value=value):
            return f"{_flat(value)}["
        case _:
            return "(" if isinstance(node, ast.Constant) else "[" if _opens(node) else _flat(node)


def _operation(node: ast.Compare | ast.BinOp) -> tuple[ast.expr, str, ast.expr]:
    """Left side, operator and right side."""
    if isinstance(node, ast.BinOp):
        return node.left, OPERATORS[type(node.op)], node.right
    return node.left, OPERATORS[type(node.ops[0])], node.comparators[0]


def _flat(node: ast.expr | ast.keyword) -> str:
    """An expression on one line."""
    match node:
        case ast.keyword(arg=name, value=value):
            return f"{name}={_flat(value)}" if name else f"**{_flat(value)}"
        case ast.Constant(value=str() | bytes() as value):
            return quoted(value)
        case ast.Constant(value=float() as value) if math.isinf(value):
            return "1e999"
        case ast.Constant(value=value):
            return "..." if value is ... else repr(value)
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            whole = isinstance(value, ast.Constant) and isinstance(value.value, int)
            return f"{_tight(value)}.{name}" if not whole else f"({_flat(value)}).{name}"
        case ast.Subscript(value=value, slice=index):
            bare = isinstance(index, ast.Tuple) and index.elts and not any(isinstance(e, ast.Starred) for e in index.elts)
            return f"{_tight(value)}[{_flat(index)[1:-1] if bare and len(index.elts) > 1 else _flat(index)}]"  # type: ignore[attr-defined]
        case ast.Call(func=func, args=args, keywords=keywords):
            return f"{_tight(func)}({', '.join(map(_flat, [*args, *keywords]))})"
        case ast.List(elts=items):
            return f"[{', '.join(map(_flat, items))}]"
        case ast.Tuple(elts=items):
            return f"({', '.join(map(_flat, items))}{',' if len(items) == 1 else ''})"
        case ast.Set(elts=items):
            return f"{{{', '.join(map(_flat, items))}}}"
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return f"{{{', '.join(f'{_flat(k)}: {_flat(v)}' if k is not None else f'**{_flat(v)}' for k, v in pairs)}}}"
        case ast.Starred(value=value):
            return f"*{_flat(value)}"
        case ast.UnaryOp(op=op, operand=operand):
            return f"{OPERATORS[type(op)]}{_tight(operand)}"
        case ast.BinOp() | ast.Compare(ops=[_]):
            left, operator, right = _operation(node)
            return f"{_operand(left)} {operator} {_operand(right)}"
        case _:
            return ast.unparse(node)


def _operand(node: ast.expr) -> str:
    """A side of a comparison or an operation; a number keeps its sign without parentheses."""
    is_number = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    return f"({_flat(node)})" if isinstance(node, LOOSE) and not is_number else _flat(node)


def _tight(node: ast.expr) -> str:
    """An expression in front of a dot or a bracket, or behind a sign."""
    return f"({_flat(node)})" if isinstance(node, LOOSE) else _flat(node)


def _has_width(character: str) -> bool:
    """The character can be seen and takes one or two columns by itself."""
    return character.isprintable() and unicodedata.category(character)[0] not in "MC"


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
