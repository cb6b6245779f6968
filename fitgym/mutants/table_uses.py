"""Table uses: where a function reads a constant table, and the same table without one of its entries."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

__all__ = ["MOST", "TableUses"]

MOST = 24
"""The largest number of entries of one table that are left out, one for each mutant."""

_MADE_BY = frozenset({"frozenset", "set", "tuple", "list", "dict", "OrderedDict", "MappingProxyType"})
_OWNERS = frozenset({"self", "cls"})

_Display = ast.Dict | ast.List | ast.Set | ast.Tuple


class TableUses:
    """The constant tables of a module: names of the module or of a class that are bound once, to a display.

    Such tables hold what a program knows: plural forms, units, reserved words. They are bound at import, which mutants
    leave alone, so an entry is left out where a function uses the table.

    Args:
        tree: the module.
    """

    def __init__(self, tree: ast.Module) -> None:
        bound = Counter(chain.from_iterable(map(_bound, ast.walk(tree))))
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        self._of_module = dict(_tables(tree.body, bound))
        self._of_classes = {name: table for node in classes for name, table in _tables(node.body, bound)}
        self._owners = _OWNERS | {node.name for node in classes}
        self._read: set[tuple[str, str]] = set()

    def without_entries(self, node: ast.Name | ast.Attribute, function: str) -> Iterator[str]:
        """Yield expressions for the table that the name or attribute stands for, each without another entry.

        Of more than `MOST` entries, an even selection is left out. A table of a single entry yields nothing, and so does
        a second use in the same function, where the same tests notice it.
        """
        table = self._table(node)
        if table is None or (function, text := ast.unparse(node)) in self._read:
            return
        self._read.add((function, text))
        keys = table.keys if isinstance(table, ast.Dict) else table.elts
        for place in _selected(len(keys)):
            key = keys[place]
            if isinstance(table, ast.List | ast.Tuple):
                yield f"({text}[:{place}] + {text}[{place + 1}:])"
            elif isinstance(key, ast.Constant) and isinstance(table, ast.Set):
                yield f"({text} - {{{key.value!r}}})"
            elif isinstance(key, ast.Constant):
                yield f"{{key: value for key, value in {text}.items() if key != {key.value!r}}}"

    def _table(self, node: ast.Name | ast.Attribute) -> _Display | None:
        if isinstance(node, ast.Name):
            return self._of_module.get(node.id)
        is_owned = isinstance(node.value, ast.Name) and node.value.id in self._owners
        return self._of_classes.get(node.attr) if is_owned else None


def _tables(body: Sequence[ast.stmt], bound: Counter[str]) -> Iterator[tuple[str, _Display]]:
    """Yield the tables that the statements bind. `bound` has the number of bindings of each name in the module."""
    for statement in body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if bound[name] == 1:
                table = _display(value)
                if table is not None:
                    yield name, table


def _display(value: ast.expr) -> _Display | None:
    """Return the display of a table, the value of `frozenset({1, 2})` as a set. None if entries are unpacked into it."""
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner], keywords=[]) if name in _MADE_BY:
            table = _display(inner)
            if name in ("frozenset", "set") and isinstance(table, ast.List | ast.Tuple):
                return ast.Set(table.elts)
            return table
        case ast.Dict(keys=keys) if None not in keys:
            return value
        case ast.List(elts=items) | ast.Set(elts=items) | ast.Tuple(elts=items):
            return None if any(isinstance(item, ast.Starred) for item in items) else value
    return None


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name


def _selected(count: int) -> Iterator[int]:
    """Yield at most `MOST` places of `count`, evenly spread; none if there is only one."""
    if count > 1:
        kept = min(count, MOST)
        yield from (index * count // kept for index in range(kept))
