"""Case tables: the cases of a test in a file, as `pytest.mark.parametrize` lists them."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

__all__ = ["case_ids", "without_cases"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


def case_ids(node: Function) -> tuple[str, ...]:
    """Return the id that pytest gives each case, "" for an id that depends on an object; empty without a table.

    The forms of the table and of the ids are those of tests that fitgym generates.
    """
    table = _table(node)
    if table is None:
        return ()
    names, rows = table
    return tuple(_id(names, row, number) for number, row in enumerate(rows.elts))


def without_cases(text: str, node: Function, cases: Collection[int]) -> str:
    """Return the text of a file without some cases of one of its tests, but not all of them.

    Args:
        text: of the file.
        node: the test in the file's syntax tree.
        cases: their indexes.
    """
    table = _table(node)
    assert table is not None and len(cases) < len(table[1].elts), "one case has to stay"
    starts = [_offset(text, row.lineno, row.col_offset) for row in table[1].elts]
    ends = [_offset(text, row.end_lineno or 0, row.end_col_offset or 0) for row in table[1].elts]
    kept = [number for number in range(len(starts)) if number not in cases]
    # Each kept case keeps what stands between it and the next one; after the last comes the end of the table.
    pieces = [text[starts[number] : starts[number + 1]] for number in kept[:-1]]
    return text[: starts[0]] + "".join(pieces) + text[starts[kept[-1]] : ends[kept[-1]]] + text[ends[-1] :]


def _table(node: Function) -> tuple[Sequence[str], ast.List] | None:
    """Return the names of the parameters and the cases."""
    for mark in node.decorator_list:
        match mark:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(name)), ast.List() as rows]
            ):
                return (name,), rows
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Tuple() as names, ast.List() as rows]):
                return [str(name.value) for name in names.elts if isinstance(name, ast.Constant)], rows
    return None


def _id(names: Sequence[str], row: ast.expr, number: int) -> str:
    values = row.elts if len(names) > 1 and isinstance(row, ast.Tuple) else [row]
    parts = list(_parts(names, values, number))
    return "-".join(parts) if len(parts) == len(names) else ""


def _parts(names: Sequence[str], values: Sequence[ast.expr], number: int) -> Iterator[str]:
    for name, node in zip(names, values, strict=False):
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return
        if isinstance(value, str):
            yield value.encode("unicode_escape").decode("ascii")
        elif value is None or isinstance(value, int | float | complex):
            yield str(value)
        elif not isinstance(value, bytes):
            yield f"{name}{number}"


def _offset(text: str, line: int, column: int) -> int:
    """Return the position in a text of a place in its syntax tree, whose columns count bytes."""
    before = text.split("\n")[: line - 1]
    rest = text.split("\n")[line - 1].encode()[:column].decode()
    return sum(len(one) + 1 for one in before) + len(rest)
