"""Call graph: which functions of the source can run when another one is called, read off the syntax tree.

Edges follow names. A function reaches every function of the same source whose name it mentions, on any object, and the
special methods of the operators and statements that it uses. The graph is an over-approximation. It misses only calls
from other modules and names that are built at run time.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from fitgym.subject.code.syntax import deep_trees, parsed
from fitgym.subject.subject import Function

__all__ = ["reachable"]

_BINARY: Mapping[type[ast.operator], str] = MappingProxyType(
    {
        **{ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv"},
        **{ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift"},
        **{ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"},
    }
)
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__hash__")
_ALWAYS = frozenset(
    # Called by the language or a builtin without a sign in the syntax: truth, hashing, printing, construction,
    # attributes.
    [
        *("__bool__", "__len__", "__hash__", "__eq__", "__str__", "__repr__", "__format__", "__new__", "__init__"),
        *("__post_init__", "__attrs_post_init__", "__init_subclass__", "__set_name__", "__getattr__"),
        *("__getattribute__", "__setattr__", "__delattr__", "__get__", "__set__", "__delete__", "__missing__"),
        *("__index__", "__int__", "__float__", "__iter__", "__next__", "__instancecheck__", "__subclasscheck__"),
        *("__call__", "__lt__", "__gt__", "__contains__", "__getitem__", "__del__", "__reversed__", "__copy__"),
        *("__deepcopy__", "__reduce__", "__fspath__", "__bytes__", "__abs__", "__round__", "__neg__"),
    ]
)
_REMEMBERED = 16  # modules
_DYNAMIC = frozenset(("getattr", "globals", "locals", "vars", "eval", "exec", "__dict__", "methodcaller", "attrgetter"))


@lru_cache(maxsize=_REMEMBERED)
def reachable(source: str, functions: tuple[Function, ...]) -> tuple[frozenset[int], ...]:
    """Return, for every function, the ids of the functions that a call of it can reach, itself included.

    Special methods without an operator (`__eq__` for `in`, `__bool__` for `if`) are reached by every function, because
    any function may hold an object of their class. The same applies to functions that the module body names without a
    call, because it may register them somewhere. A function that looks names up at run time (`getattr` with a computed
    name, `globals`) reaches everything.

    The last 16 results are cached, because every episode on a subject calls this function again.

    Args:
        source: text of the module.
        functions: its code objects, by id; 0 is the module body.
    """
    reader = _Reader(functions)
    with deep_trees():
        reader.visit(parsed(source))
    everything = frozenset(range(len(functions)))
    by_name: dict[str, set[int]] = {}
    for function in functions:
        by_name.setdefault(_last(function.name), set()).add(function.id)
        owner = function.name.rpartition(".")[0]
        if _last(function.name) in ("__init__", "__new__", "__post_init__"):
            by_name.setdefault(_last(owner), set()).add(function.id)
    always = {i for name in (*_ALWAYS, *reader.mentions[0]) for i in by_name.get(name, ())}
    steps = []
    for function in functions:
        names = reader.mentions[function.id]
        step = everything if names & _DYNAMIC else frozenset(i for name in names for i in by_name.get(name, ()))
        steps.append(step | always | frozenset(reader.inside[function.id]))
    return tuple(_closure(function.id, steps) for function in functions)


def _closure(start: int, steps: Sequence[frozenset[int]]) -> frozenset[int]:
    found = {start}
    queue = [start]
    while queue:
        for following in steps[queue.pop()]:
            if following not in found:
                found.add(following)
                queue.append(following)
    return frozenset(found)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


class _Reader(ast.NodeVisitor):
    """Collects the names that each function mentions."""

    def __init__(self, functions: Sequence[Function]) -> None:
        self.mentions: list[set[str]] = [set() for _ in functions]
        self.inside: list[set[int]] = [set() for _ in functions]
        self.ids = {(_last(function.name), function.line): function.id for function in functions}
        self.current = 0

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.current
        found = self.ids.get((node.name, node.lineno), outer)
        if outer:
            self.inside[outer].add(found)
        self.current = found
        for part in (*node.decorator_list, node.args, *node.body):  # a wrapper runs with the function it wraps
            self.visit(part)
        self.current = outer

    visit_FunctionDef = _function
    visit_AsyncFunctionDef = _function

    def visit_Lambda(self, node: ast.Lambda) -> None:
        found = self.ids.get(("<lambda>", node.lineno))
        if found is not None:
            self.inside[self.current].add(found)
        self.generic_visit(node)  # its names also count for the enclosing function: a close approximation

    def visit_Name(self, node: ast.Name) -> None:
        self.mentions[self.current].add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.mentions[self.current].add(node.attr)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr") and len(node.args) > 1:
            name = node.args[1]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                self.mentions[self.current].add(name.value)
                for argument in node.args:
                    self.visit(argument)
                return
        # The module body calls this function now; only the arguments may be registered for later.
        if self.current == 0 and isinstance(node.func, ast.Name):
            for part in (*node.args, *node.keywords):
                self.visit(part)
            return
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        name = _BINARY[type(node.op)]
        self.mentions[self.current].update((f"__{name}__", f"__r{name}__"))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        name = _BINARY[type(node.op)]
        self.mentions[self.current].update((f"__i{name}__", f"__{name}__", f"__r{name}__"))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.mentions[self.current].update(("__pos__", "__invert__"))
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self.mentions[self.current].update(_COMPARISONS)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.mentions[self.current].update(("__getitem__", "__setitem__", "__delitem__", "__class_getitem__"))
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        self.mentions[self.current].update(("__enter__", "__exit__"))
        self.generic_visit(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self.mentions[self.current].update(("__aenter__", "__aexit__"))
        self.generic_visit(node)
