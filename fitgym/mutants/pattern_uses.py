"""Pattern uses: where a function matches a regular expression, and the same place with one that has a mistake."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fitgym.subject.code.pattern_changes import other_patterns
from fitgym.subject.code.patterns import PatternCalls, looks_like_pattern

__all__ = ["PatternUses"]

_METHODS = frozenset({"match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"})


class PatternUses:
    """The regular expressions of a module whose text is known.

    Args:
        tree: the module.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._calls = PatternCalls(tree)
        self._replaced: set[ast.AST] = set()

    def of_call(self, call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
        """Yield parts of a call, each with another text for it.

        The pattern of `re.match("a+", text)` is replaced, and the object of `NAME.match(text)` if the module binds NAME
        to a compiled pattern. So a pattern that is compiled at import is changed where a function uses it.
        """
        pattern = self._calls.pattern(call)
        if pattern is not None:
            self._replaced.update(ast.walk(call.args[0]))
            for other in other_patterns(pattern):
                yield call.args[0], repr(other)
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            definition = self._calls.compiled(call.func.value)
            pattern = None if definition is None else self._calls.pattern(definition)
            if definition is not None and pattern is not None:
                for other in other_patterns(pattern):
                    yield call.func.value, f"{ast.unparse(definition.func)}({other!r})"

    def of_text(self, node: ast.Constant) -> tuple[str, ...]:
        """Return other texts for a literal that looks like a pattern, or a part of one, which is compiled elsewhere.

        There are none for a part of a pattern that `of_call` has replaced before.
        """
        is_part = isinstance(node.value, str) and node not in self._replaced and looks_like_pattern(node.value)
        return other_patterns(node.value) if is_part else ()
