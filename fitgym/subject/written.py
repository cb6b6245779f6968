"""Written tests: the test functions of a file as examples, preceded by the statements that they need."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from fitgym.subject.example import Example

__all__ = ["written"]

_MOST_CASES = 8  # of one parametrized test
_SET_UP = ("setUp", "setup_method", "setup", "setup_class", "setUpClass")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def written(text: str, package: str = "", conftests: Sequence[tuple[str, str]] = ()) -> list[Example]:
    """Return the tests of a file as examples, in order; none if the file is not valid Python.

    The imports of the file, the constants that the test uses, and its setup precede the test. Fixtures of pytest become
    assignments of their value; if they are defined in another file, its imports precede all others. Each case of a
    parametrized test is a separate example.

    Args:
        text: of the file.
        package: the package of the file, for relative imports.
        conftests: package and text of the files that define shared fixtures, nearest first; those that are not valid
            Python are ignored.
    """
    tree = _parsed(text)
    if tree is None:
        return []
    parsed = [(_parsed(other), name) for name, other in conftests]
    return list(_File(tree, package, [_File(one, name) for one, name in parsed if one is not None]).examples())


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _File:
    """One file of tests or fixtures.

    Args:
        tree: the file.
        package: its package.
        shared: other files that define fixtures, nearest first.
    """

    def __init__(self, tree: ast.Module, package: str, shared: Sequence[_File] = ()) -> None:
        self._tree = tree
        self._shared = shared
        self._imports = [
            _absolute(node, package) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        self._constants = [node for node in tree.body if isinstance(node, ast.Assign)]
        self._functions = {node.name: node for node in tree.body if isinstance(node, _Function)}

    def examples(self) -> Iterator[Example]:
        for node in self._tree.body:
            if isinstance(node, _Function) and node.name.startswith("test"):
                yield from self._of(node, {})
            elif isinstance(node, ast.ClassDef):
                members = {one.name: one for one in node.body if isinstance(one, _Function)}
                shared = [one for one in node.body if isinstance(one, ast.Assign)]
                before = [statement for name in _SET_UP if name in members for statement in members[name].body]
                for member in members.values():
                    if member.name.startswith("test"):
                        yield from self._of(member, members, [*_on_self(shared), *before], node.decorator_list)

    def _of(
        self,
        test: _Function,
        members: Mapping[str, _Function],
        before: Sequence[ast.stmt] = (),
        decorators: Sequence[ast.expr] = (),
    ) -> Iterator[Example]:
        """Yield the examples of one test: several if it is parametrized."""
        cases: list[list[ast.stmt]] = [[]]
        for decorator in [*decorators, *test.decorator_list]:
            found = _cases(decorator)
            if found:
                cases = [[*case, one] for case in cases for one in found][:_MOST_CASES]
        used: dict[_File, None] = {self: None}
        fixtures = self._fixtures(test, members, 0, used)
        body = [*before, *fixtures, *test.body]
        files = list(used)[::-1]  # names of the test's own file win
        functions = {
            name: node for file in files for name, node in file._functions.items() if not name.startswith("test")
        }
        functions |= {f"self.{name}": node for name, node in members.items() if not name.startswith("test")}
        for case in cases:
            whole = [*case, *body]
            needed = [one for file in files for one in (*file._imports, *file._needed(whole))]
            yield Example((*needed, *whole), functions)

    def _fixtures(
        self, test: _Function, members: Mapping[str, _Function], depth: int, used: dict[_File, None]
    ) -> list[ast.stmt]:
        """Return the statements of the fixtures that a test requests by parameter name, and add their files to `used`."""
        found: list[ast.stmt] = []
        for argument in test.args.args:
            name = argument.arg
            place = next((file for file in (self, *self._shared) if name in file._functions), self)
            fixture = members.get(name) or place._functions.get(name)
            if fixture is None or depth > 3 or not any("fixture" in ast.dump(one) for one in fixture.decorator_list):
                continue
            used.setdefault(place)
            found += self._fixtures(fixture, members, depth + 1, used)
            for statement in fixture.body:
                value = statement.value if isinstance(statement, ast.Return | ast.Expr) else None
                if isinstance(value, ast.Yield):
                    value = value.value
                elif isinstance(statement, ast.Expr):
                    value = None
                if value is None:
                    found.append(statement)
                    continue
                found.append(ast.Assign([ast.Name(argument.arg, ast.Store())], value))
                break
        return found

    def _needed(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the constants of the file that the statements use, directly or through other constants, in order."""
        wanted = {name.id for node in body for name in ast.walk(node) if isinstance(name, ast.Name)}
        needed: list[ast.stmt] = []
        for node in reversed(self._constants):
            if wanted & {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}:
                wanted |= {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
                needed.append(node)
        return needed[::-1]


def _absolute(node: ast.Import | ast.ImportFrom, package: str) -> ast.stmt:
    if isinstance(node, ast.Import) or not node.level:
        return node
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ast.ImportFrom(".".join([*base, *filter(None, [node.module])]), node.names, 0)


def _on_self(assignments: Sequence[ast.Assign]) -> list[ast.stmt]:
    """Return the assignments of a class body as assignments to `self`."""
    return [
        ast.Assign([ast.Attribute(ast.Name("self", ast.Load()), target.id, ast.Store())], node.value)
        for node in assignments
        for target in node.targets
        if isinstance(target, ast.Name)
    ]


def _cases(decorator: ast.expr) -> list[ast.stmt]:
    """Return an assignment for each case of `pytest.mark.parametrize`; none for other decorators."""
    match decorator:
        case ast.Call(
            func=ast.Attribute(attr="parametrize"), args=[names, ast.List(elts=rows) | ast.Tuple(elts=rows), *_]
        ):
            pass
        case _:
            return []
    match names:
        case ast.Constant(value=str(text)):
            words = [word.strip() for word in text.split(",") if word.strip()]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            words = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        case _:
            return []
    found: list[ast.stmt] = []
    for row in rows:
        value = row
        if isinstance(row, ast.Call) and isinstance(row.func, ast.Attribute) and row.func.attr == "param":
            value = row.args[0] if len(words) == 1 and row.args else ast.Tuple(row.args, ast.Load())
        target: ast.expr = (
            ast.Name(words[0], ast.Store())
            if len(words) == 1
            else ast.Tuple([ast.Name(word, ast.Store()) for word in words], ast.Store())
        )
        found.append(ast.Assign([target], value))
    step = max(1, len(found) // _MOST_CASES)  # an even sample, because adjacent cases are similar
    return found[::step][:_MOST_CASES]
