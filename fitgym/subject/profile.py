"""Profile: static measures of the source of a subject, from its syntax tree; nothing is executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from fitgym.subject.code.syntax import docstring_end, parse

if TYPE_CHECKING:
    from fitgym.subject.subject import Subject

__all__ = ["profile"]

Scope = ast.Module | ast.ClassDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_NESTS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.Match)
_ORDERING, _EQUALITY = ("<", "<=", ">", ">="), ("==", "!=")


def profile(subject: Subject) -> dict[str, float]:
    """Return static measures of the code under test: of the module, or of the class if one was named.

    The keys and their order are the same for every subject. Counts are at least 0. A share is in [0, 1], and 0 if there
    is nothing to count. Docstrings do not count as string constants.

    | key | meaning |
    |---|---|
    | lines | lines on which a statement starts |
    | imports | imported modules and names |
    | classes | class definitions |
    | subclasses | share of the classes with a base other than `object` |
    | functions | functions and methods |
    | longest_function | lines of the longest function |
    | operations | operations under test: calls, constructors, properties, operators |
    | receivers | share of the operations that need an object of a class |
    | parameters | parameters for each operation, on average |
    | typed_parameters | share of the parameters with a declared type |
    | optional_parameters | share of the parameters with a default |
    | typed_results | share of the operations with a known result type |
    | branches | branches, including entries of functions |
    | branches_per_function | branches for each function |
    | ordering | share of the conditions with `<`, `<=`, `>` or `>=` |
    | equality | share of the conditions with `==` or `!=` |
    | membership | share of the conditions with `in` or `not in` |
    | identity | share of the conditions with `is` or `is not` |
    | truth | share of the conditions that test the truth of any other value |
    | rounds | share of the conditions that are the head of a `for` loop |
    | nesting | deepest nesting of `if`, loops, `try`, `with` and `match`; an `elif` is as deep as its `if` |
    | loops | loops and comprehension clauses for each function |
    | returns | `return` statements for each function |
    | calls | calls for each line |
    | strings | distinct string constants |
    | numbers | distinct numeric constants |
    | patterns | regular expressions |
    | raises | `raise` and `assert` statements |
    | handlers | `except` clauses |
    | type_checks | calls of `isinstance` and `issubclass` |
    | attribute_writes | assignments to attributes |
    | yields | `yield` and `await` expressions |
    """
    scope = _scope(parse(subject.source), subject.reference.class_name)
    nodes = list(ast.walk(scope))
    functions = [node for node in nodes if isinstance(node, _FUNCTIONS)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    lines = {node.lineno for node in nodes if isinstance(node, ast.stmt)}
    literals = _literals(nodes)
    operations = subject.under_test
    parameters = [parameter for operation in operations for parameter in operation.parameters]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    n_functions, n_lines = max(1, len(functions)), max(1, len(lines))
    return {
        "lines": float(len(lines)),
        "imports": float(sum(len(node.names) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))),
        "classes": float(len(classes)),
        "subclasses": _share([any(ast.unparse(base) != "object" for base in node.bases) for node in classes]),
        "functions": float(len(functions)),
        "longest_function": float(max(((node.end_lineno or 0) - node.lineno + 1 for node in functions), default=0)),
        "operations": float(len(operations)),
        "receivers": _share([operation.needs_receiver for operation in operations]),
        "parameters": len(parameters) / max(1, len(operations)),
        "typed_parameters": _share([parameter.declared for parameter in parameters]),
        "optional_parameters": _share([not parameter.required for parameter in parameters]),
        "typed_results": _share([operation.returns.kind != "any" for operation in operations]),
        "branches": float(len(subject.branches)),
        "branches_per_function": len(subject.branches) / n_functions,
        **_conditions(subject),
        "nesting": float(_depth(scope)),
        "loops": sum(isinstance(node, _LOOPS) for node in nodes) / n_functions,
        "returns": sum(isinstance(node, ast.Return) for node in nodes) / n_functions,
        "calls": len(calls) / n_lines,
        "strings": float(len({value for value in literals if isinstance(value, str | bytes)})),
        "numbers": float(len({repr(value) for value in literals if _is_number(value)})),
        "patterns": float(len(subject.patterns)),
        "raises": float(sum(isinstance(node, ast.Raise | ast.Assert) for node in nodes)),
        "handlers": float(sum(isinstance(node, ast.ExceptHandler) for node in nodes)),
        "type_checks": float(
            sum(isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass") for node in calls)
        ),
        "attribute_writes": float(
            sum(isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) for node in nodes)
        ),
        "yields": float(sum(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in nodes)),
    }


def _scope(tree: ast.Module, qualname: str) -> Scope:
    """Return the class with this name, or the module."""
    scope: Scope = tree
    for part in qualname.split(".") if qualname else ():
        inside = (node for node in ast.walk(scope) if isinstance(node, ast.ClassDef) and node.name == part)
        scope = next((node for node in inside if node is not scope), scope)
    return scope


def _literals(nodes: list[ast.AST]) -> list[object]:
    """Return the values of all constants except docstrings."""
    documented = [node for node in nodes if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS))]
    docstrings = {node.body[0] for node in documented if docstring_end(node.body)}
    inside = {node.value for node in docstrings if isinstance(node, ast.Expr)}
    return [node.value for node in nodes if isinstance(node, ast.Constant) and node not in inside]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex) and not isinstance(value, bool)


def _conditions(subject: Subject) -> dict[str, float]:
    """Return the share of each kind of condition; the remaining share is cases of `match`."""
    decided = dict.fromkeys(branch.site for branch in subject.branches if not branch.root)
    sites = [subject.sites[site] for site in decided]
    return {
        "ordering": _share([site.operator in _ORDERING for site in sites]),
        "equality": _share([site.operator in _EQUALITY for site in sites]),
        "membership": _share([site.operator in ("in", "not in") for site in sites]),
        "identity": _share([site.operator in ("is", "is not") for site in sites]),
        "truth": _share([site.kind == "truth" for site in sites]),
        "rounds": _share([site.kind == "loop" for site in sites]),
    }


def _depth(scope: Scope) -> int:
    """Return the deepest nesting of statements; iterative, because a chain of `elif` is a deep tree."""
    deepest, pending = 0, [(child, 0) for child in ast.iter_child_nodes(scope)]
    while pending:
        node, outside = pending.pop()
        depth = outside + isinstance(node, _NESTS)
        deepest = max(deepest, depth)
        chained = _chained(node)
        pending += [(child, outside if child is chained else depth) for child in ast.iter_child_nodes(node)]
    return deepest


def _chained(node: ast.AST) -> ast.AST | None:
    """Return the `elif` of an `if`, None without one."""
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        return node.orelse[0]
    return None


def _share(held: list[bool]) -> float:
    return sum(held) / len(held) if held else 0.0
