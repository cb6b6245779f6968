"""Examples: what people have already written about the code under test, as statements.

Doctests of the module, tests of its package and the read-me are read, in this order. Nothing is executed.
"""

from __future__ import annotations

import ast

from fitgym.subject.example import Example
from fitgym.subject.neighbours import readme, test_files
from fitgym.subject.sessions import blocks, session
from fitgym.subject.written import written

__all__ = ["examples"]

_MOST = 400
"""Examples of one module. What is found first is nearest to it."""

_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def examples(module: str, path: str, source: str) -> tuple[Example, ...]:
    """The examples of a module, those nearest to it first.

    They depend on the files of the package alone, and there are at most 400. Files are read as text; of test files no
    more than 250,000 characters are parsed, so that it takes below half a second for a package of any size.

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
    for package, text in test_files(module, path, names):
        found += written(text, package)
        if len(found) > _MOST:
            break
    text = readme(module, path)
    body = session(text)
    found += [Example(tuple(statements)) for statements in ([body] if body else []) + blocks(text)]
    return tuple(found[:_MOST])
