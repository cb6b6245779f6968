"""Edits: functions of a module that differ between two versions of its source.

The syntax trees are compared, so docstrings, comments, formatting and the order of definitions are ignored.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fitgym.subject.code.syntax import deep_trees, docstring_end

__all__ = ["Edits", "edits", "imported_from", "is_public", "users"]


@dataclass(frozen=True, slots=True)
class Edits:
    """The differences between two versions of a module, by qualified name, sorted.

    Attributes:
        changed: functions, methods and classes of both versions whose code differs, or that use a changed name of the
            module or of their class: a constant, an import, a base class.
        added: functions and methods that only the new version has.
        removed: functions and methods that only the old version has. A name that the new version binds in another way,
            for example by an import, is `changed`.
        names: other changed names that no function uses, such as a constant `RATE` that only other modules import.
    """

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether there is any difference."""
        return bool(self.changed or self.added or self.removed or self.names)


@dataclass(slots=True)
class _Module:
    """The parts of one version.

    Attributes:
        functions: the code of each function by qualified name; several if it is defined more than once.
        names: the code that binds every other name, by qualified name; the head of a class is under its name.
        uses: names that a function or another name mentions.
        inherits: classes with a base class.
    """

    functions: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    uses: dict[str, set[str]] = field(default_factory=dict)
    inherits: set[str] = field(default_factory=set)


def edits(before: str, after: str) -> Edits:
    """Return the differences between two versions of a module.

    Args:
        before: source of the old version.
        after: source of the new version.

    Raises:
        SyntaxError: one of them cannot be parsed.
    """
    old, new = _module(before), _module(after)
    names = _different(old.names, new.names)
    functions = _different(old.functions, new.functions)
    both = {name for name in functions if name in old.functions and name in new.functions}
    defined = functions | {name for name in names if _is_class(name, old) or _is_class(name, new)}
    added = {name for name in defined if name not in old.functions and name not in old.names}
    removed = {name for name in defined if not _is_there(name, new)}
    affected = _affected(names, old) | _affected(names, new)
    changed = (both | defined | affected) - added - removed
    unused = {name for name in names - defined if not _affected({name}, old) and not _affected({name}, new)}
    return Edits(*(tuple(sorted(part)) for part in (changed, added, removed, unused - {"__all__"})))


def users(source: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return functions, methods and classes of a module that use one of the names, directly or through others."""
    return tuple(sorted(_affected(set(names), _module(source))))


def imported_from(source: str, module: str, is_package: bool, others: Iterable[str]) -> frozenset[str]:
    """Return the names that a module binds by importing other modules or their members.

    Args:
        source: of the module.
        module: its dotted name.
        is_package: the module is the `__init__` of a package.
        others: dotted names of the imported modules to look for.
    """
    wanted = frozenset(others)
    found = set()
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Import):
            found |= {a.asname or a.name.partition(".")[0] for a in node.names if a.name in wanted}
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".") if node.level else []
            base = parts[: len(parts) - node.level + is_package] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {a.asname or a.name for a in node.names if origin in wanted or f"{origin}.{a.name}" in wanted}
    return frozenset(found)


def is_public(name: str) -> bool:
    """Return whether no part of a qualified name begins with an underscore, except for special methods."""
    return all(not part.startswith("_") or (part.startswith("__") and part.endswith("__")) for part in name.split("."))


def _different(old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> set[str]:
    return {name for name in {*old, *new} if old.get(name) != new.get(name)}


def _is_there(name: str, module: _Module) -> bool:
    """Return whether the module binds the name in some way, or may inherit it as a method."""
    owner = name.rpartition(".")[0]
    return name in module.functions or name in module.names or owner in module.inherits


def _affected(names: set[str], module: _Module) -> set[str]:
    """Return functions and classes that use changed names, directly or through other names.

    Methods of a changed class are included.
    """
    found: set[str] = set()
    queue = sorted(names)
    while queue:
        name = queue.pop()
        owner, _, last = name.rpartition(".")
        # An attribute of a class is used as `self.rate` or `Price.rate`: the whole class is affected.
        reached = [owner] if owner else [one for one, uses in module.uses.items() if last in uses]
        reached += [one for one in module.functions if one.startswith(f"{name}.")]
        for one in reached:
            if one not in found and one not in names:
                found.add(one)
                if one in module.names:
                    queue.append(one)
    found |= {name for name in names if name in module.uses and _is_class(name, module)}
    return {name for name in found if name in module.functions or _is_class(name, module)}


def _is_class(name: str, module: _Module) -> bool:
    return any(text.startswith("class") for text in module.names.get(name, ()))


def _module(source: str) -> _Module:
    found = _Module()
    with deep_trees():
        for name, kind, text, uses in _parts(_parsed(source).body, "", ""):
            (found.functions if kind == "function" else found.names).setdefault(name, []).append(text)
            found.uses.setdefault(name, set()).update(uses)
            if kind == "subclass":
                found.inherits.add(name)
    for name, texts in found.names.items():  # the order of imports is irrelevant
        if all(text.startswith("import") for text in texts):
            texts.sort()
        if name in found.functions:  # defined and bound: `f = decorate(f)`
            found.functions[name] += texts
    found.names = {name: texts for name, texts in found.names.items() if name not in found.functions}
    return found


_Part = tuple[str, str, str, set[str]]


def _parts(body: Iterable[ast.stmt], prefix: str, context: str) -> Iterator[_Part]:
    """Yield qualified name, kind, code and mentioned names of each part of a body.

    `context` is the code of the enclosing blocks.
    """
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield f"{prefix}{node.name}", "function", context + ast.dump(_bare(node)), _mentioned(node)
            case ast.ClassDef():
                heads = [*node.decorator_list, *node.bases, *node.keywords]
                text = "class" + context + " ".join(ast.dump(head) for head in heads)
                uses = set().union(*map(_mentioned, heads))
                yield f"{prefix}{node.name}", "subclass" if node.bases else "class", text, uses
                yield from _parts(node.body[docstring_end(node.body) :], f"{prefix}{node.name}.", context)
            case ast.Import() | ast.ImportFrom():
                origin = f"{node.level}{node.module}" if isinstance(node, ast.ImportFrom) else ""
                for alias in node.names:
                    bound = alias.asname or (alias.name if origin else alias.name.partition(".")[0])
                    yield f"{prefix}{bound}", "name", f"import {context}{origin} {alias.name}", set()
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.Try() | ast.TryStar() | ast.Match():
                yield from _of_block(node, prefix, context)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case _:
                mentioned = _mentioned(node)
                for name in sorted(_bound(node) or mentioned):
                    yield f"{prefix}{name}", "name", context + ast.dump(node), mentioned - {name}


def _of_block(node: ast.stmt, prefix: str, context: str) -> Iterator[_Part]:
    """Yield the parts inside an `if`, `try` or another block, except under `TYPE_CHECKING`."""
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        yield from _parts(node.orelse, prefix, context)
        return
    head = type(node).__name__
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            head += f" {name} {ast.dump(value)}"
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            inner = [one for one in value if isinstance(one, ast.stmt)]
            yield from _parts(inner, prefix, f"{context}{head} {name} ")
            for one in value:
                if isinstance(one, ast.ExceptHandler | ast.match_case):
                    case = (
                        ast.dump(one.pattern) if isinstance(one, ast.match_case) else ast.dump(one.type or ast.Pass())
                    )
                    yield from _parts(one.body, prefix, f"{context}{head} {name} {case} ")


def _bare(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
    """Return the function without docstrings, including those of inner functions and classes."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner.body = inner.body[docstring_end(inner.body) :] or [ast.Pass()]
    return node


def _mentioned(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that an assignment binds or changes in place: `a`, `a[0]` and `a.b` all change `a`."""
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign | ast.Delete):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    elif hasattr(node, "name") and isinstance(node.name, ast.Name):  # `type Alias = ...` of Python 3.12
        targets = [node.name]
    found = set()
    for target in targets:
        for one in ast.walk(target):
            if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
                found.add(one.id)
        while isinstance(target, ast.Attribute | ast.Subscript):
            target = target.value
        if isinstance(target, ast.Name):
            found.add(target.id)
    return found


def _parsed(source: str) -> ast.Module:
    """Parse the whole source; `fitgym.subject.code.syntax.parse` would abridge long tables, which matter here."""
    with warnings.catch_warnings(), deep_trees():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except ValueError as problem:  # null bytes, before Python 3.12
            raise SyntaxError(str(problem)) from None
