"""Examples: existing hand-written uses of the code under test, as statements.

The sources are doctests of the module, tests of its package and the README, in this order. Nothing is executed.
"""

from __future__ import annotations

import ast

from fitgym.subject.example import Example
from fitgym.subject.neighbours import readme, test_files
from fitgym.subject.sessions import blocks, session
from fitgym.subject.written import written

__all__ = ["examples"]

_MOST = 400
"""Maximum number of examples of one module. The first ones are the nearest to the module."""

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def examples(module: str, path: str, source: str) -> tuple[Example, ...]:
    """Return the examples of a module, nearest first.

    They depend only on the files of the package, and there are at most 400. Files are read as text. At most 250,000
    characters of test files are parsed, so that the call takes less than half a second for a package of any size.

    Args:
        module: dotted name of the module.
        path: of its file.
        source: its text.
    """
    tree = ast.parse(source)
    found: list[Example] = []
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED):
            body = session(ast.get_docstring(node, clean=False))
            if body:
                found.append(Example(tuple(body), inside=True))
            if not isinstance(node, ast.Module) and len(node.name) > 3 and not node.name.startswith("_"):
                names.add(node.name)
    for file in test_files(module, path, names):
        found += written(file.text, file.package, file.conftests)
        if len(found) > _MOST:
            break
    text = readme(module, path)
    body = session(text)
    found += [Example(tuple(statements)) for statements in ([body] if body else []) + blocks(text)]
    return tuple(found[:_MOST])
