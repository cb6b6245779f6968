"""Accounts: the comparison of two versions as readable text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fitgym.project.diff.comparison import Compared, Comparison
from fitgym.project.diff.difference import Difference

__all__ = ["account"]

WIDTH = 200
"""Maximal number of characters of an outcome."""


def account(comparison: Comparison) -> str:
    """Return the differences by function, followed by a summary and the functions that could not be compared."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    revision = comparison.request.revision.text
    found = comparison.versions
    if not (found.edited or found.added or found.removed):
        yield f"no code changed since {revision} in {_count(found.unchanged, 'module')}"
        return
    for name in found.removed:
        yield f"{name}: the module was removed"
        yield ""
    for module in comparison.modules:
        functions = dict.fromkeys(one.function for one in module.differences)
        for function in functions:
            yield f"{module.name}: {function}"
            for one in module.differences:
                if one.function == function:
                    yield from _difference(one)
            yield ""
    yield from _summary(comparison)


def _difference(one: Difference) -> Iterator[str]:
    yield from (f"    {line}" for line in one.code)
    yield f"        before: {_cut(one.before)}"
    yield f"        now:    {_cut(one.now)}"


def _summary(comparison: Comparison) -> Iterator[str]:
    differences = comparison.differences
    modules = comparison.modules
    agreeing = sum(one.agreeing for one in modules)
    reached = sum(len(one.reached) for one in modules)
    changed = sum(len(one.edited.edits.changed) for one in modules)
    tests = f"{_count(agreeing, 'test')} {'agrees' if agreeing == 1 else 'agree'}"
    total = _count(len(differences) + len(comparison.versions.removed), "difference")
    if total.startswith("0"):
        total = "no difference found"
    yield f"{total}; {tests} on {reached} of {_count(changed, 'changed function')}"
    for title, names in _remarks(comparison):
        yield f"{title}: {_some(names)}"
    if comparison.interrupted:
        compared = {one.name for one in modules}
        left = [one.module.name for one in comparison.versions.edited if one.module.name not in compared]
        yield f"not compared because of the interruption: {_some(left)}"
    for one in modules:
        if one.path is not None:
            yield f"tests: {one.path}"


def _remarks(comparison: Comparison) -> Iterator[tuple[str, list[str]]]:
    """Yield what was not compared, and why."""

    def named(module: Compared, names: Sequence[str]) -> list[str]:
        return [f"{module.name}.{name}" for name in names]

    modules = comparison.modules
    new = [*comparison.versions.added, *(name for one in modules for name in named(one, one.edited.edits.added))]
    if new:
        yield "new, without an earlier version to compare with", new
    missed = [name for one in modules if not one.problem for name in named(one, one.missed)]
    if missed:
        yield "not compared, no generated call of a public function ran them", missed
    for one in modules:
        if one.problem:
            yield f"not compared, {one.problem}", [one.name]
        if one.edited.edits.names:
            yield "changed, but not used by any function of the module", named(one, one.edited.edits.names)
        if one.edited.old_name != one.name:
            yield f"renamed from {one.edited.old_name}", [one.name]


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."
