"""Contrasts: where the same calls come to another end in two versions, in plain words."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from fitgym.messages.observation import MAX_FACTS, Observation, Observed
from fitgym.suite.text.scope import Scope
from fitgym.suite.text.source import expression_source
from fitgym.testcase.expression import Collection, Expression, Literal, Ref

__all__ = ["STOPPED", "VALUES", "Contrast", "contrast"]

VALUES = ("value", "value")
"""The sorts of two outcomes that are values."""

MAX_SHOWN = 3
"""Attributes that a text names of an object."""

_NOTHING = "nothing that a test can see"
STOPPED: Mapping[str, str] = MappingProxyType(
    {
        "fuel": "does not end",
        "timeout": "does not end in time",
        "memory": "needs too much memory",
        "crash": "ends the interpreter",
        "exit": "ends the interpreter",
        "recursion_of_worker": "recurses too deeply",
        "blocked": "does what the sandbox forbids",
    }
)
"""Why a test case was stopped, in words."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The first place where two versions differ in a test case.

    Attributes:
        position: index of the statement whose outcome differs.
        path: what leads from its result to the value that differs, as in `Observation`.
        before: what the old version did, such as `3` or `ValueError: "too small"`.
        now: what the new version does.
        kinds: the sorts of both outcomes: the class of an exception, "value", or why the test case was stopped.
        facts: what held in the old version and does not hold any more, for assertions.
    """

    position: int
    path: str
    before: str
    now: str
    kinds: tuple[str, str]
    facts: tuple[Observation, ...] = ()


def contrast(old: Observed, new: Observed, length: int, ignored: Sequence[int] = ()) -> Contrast | None:
    """Where the new version does not do what the old one did, None if it does or if the old one could not be observed.

    An attribute that only the new version has, and an exception that is a subclass of the old one, are no difference:
    whoever uses the old version does not notice them.

    Args:
        old: what the old version showed, with the names of the new one.
        new: what the new version showed.
        length: number of statements.
        ignored: positions of results that differ between any two processes, such as hashes.
    """
    if old.failure or new.failure == "setup":
        return None
    if new.failure:
        position = old.position if old.position >= 0 else length - 1
        return Contrast(
            position, "", _outcome(old, position), STOPPED[new.failure], (_kind(old, position), new.failure)
        )
    ends = [one.position for one in (old, new) if one.position >= 0]
    end = min(ends, default=length)
    for position in range(end):
        if position not in ignored and (found := _of_values(old, new, position)) is not None:
            return found
    if not ends or _same_exception(old, new):
        return None
    kinds = _kind(old, end), _kind(new, end)
    return Contrast(end, "", _outcome(old, end), _outcome(new, end), kinds, tuple(_facts(old, end)[:MAX_SHOWN]))


def _same_exception(old: Observed, new: Observed) -> bool:
    """Both end at the same statement, the new version with a class that handlers of the old one catch."""
    if old.position != new.position or not old.raises or not new.raises:
        return old.position == new.position and old.raises == new.raises
    return old.raises[0] in new.raises and (old.message == new.message or not old.message or not new.message)


def _of_values(old: Observed, new: Observed, position: int) -> Contrast | None:
    """What differs in the result of one statement."""
    then, now = _facts(old, position), _facts(new, position)
    lost = [fact for fact in then if not any(_agree(fact, other) for other in now)]
    if len(now) >= MAX_FACTS:  # what is missing may only have been cut off
        lost = [fact for fact in lost if any(other.path == fact.path for other in now)]
    if not lost:
        return None
    path = lost[0].path
    if not any(fact.path == path for fact in now):  # a value of another kind
        path = ""
    before, after = _shown(old, position, path), _shown(new, position, path)
    if before == after:
        before, after = (f"{text}, {_identity(facts)}" for text, facts in ((before, then), (after, now)))
    return Contrast(position, path, before, after, VALUES, tuple(lost[:MAX_SHOWN]))


def _facts(seen: Observed, position: int) -> list[Observation]:
    """The facts about a result. That it equals an earlier result follows from the other facts about both."""
    return [
        fact
        for fact in seen.observations
        if fact.position == position and not (fact.kind == "equal" and isinstance(fact.expression, Ref))
    ]


def _agree(fact: Observation, other: Observation) -> bool:
    if (fact.path, fact.kind) != (other.path, other.kind):
        return False
    return _close(fact.expression, other.expression) if fact.kind == "approx" else fact == other


def _close(one: Expression, other: Expression) -> bool:
    """Numbers that `pytest.approx` takes for equal, also in containers of the same shape."""
    match one, other:
        case Literal(a), Literal(b):
            try:
                x, y = ast.literal_eval(a), ast.literal_eval(b)
            except ValueError:  # float("inf")
                return a == b
            if isinstance(x, float) and isinstance(y, float):
                return math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-12)
            return a == b
        case Collection(kind, items), Collection(other_kind, others):
            same = kind == other_kind and len(items) == len(others)
            return same and all(_close(a, b) for a, b in zip(items, others, strict=True))
    return one == other


def _outcome(seen: Observed, position: int) -> str:
    """How a statement ended: `ValueError: "too small"`, or its result."""
    if seen.position == position:
        name = seen.raises[0].qualname if seen.raises else "an exception"
        return f"{name}: {seen.message}" if seen.message else name
    return _shown(seen, position, "")


def _identity(facts: Sequence[Observation]) -> str:
    """What may differ of values that read the same."""
    is_same = any(fact.kind == "is" and isinstance(fact.expression, Ref) for fact in facts)
    return "the object of an earlier result" if is_same else "a new object"


def _kind(seen: Observed, position: int) -> str:
    return (seen.raises[0].qualname if seen.raises else "exception") if seen.position == position else "value"


def _shown(seen: Observed, position: int, path: str) -> str:
    """A value in plain words: as Python writes it, or by its attributes."""
    facts = _facts(seen, position)
    exact = [fact for fact in facts if fact.path == path]
    if exact:
        same = exact[0].expression
        return _shown(seen, same.position, "") if isinstance(same, Ref) else _words(exact[0])
    inner = [f"{fact.path[len(path) :].lstrip('.')} = {_words(fact)}" for fact in facts if fact.path.startswith(path)]
    more = ", ..." if len(inner) > MAX_SHOWN else ""
    return f"an object with {', '.join(inner[:MAX_SHOWN])}{more}" if inner else _NOTHING


def _words(fact: Observation) -> str:
    text = _text(fact.expression)
    match fact.kind:
        case "isinstance":
            return f"an object of {text}"
        case "length":
            return f"a value of length {text}"
        case "list":
            return f"values {text}"
        case "text":
            return str(ast.literal_eval(text))
    return text


def _text(expression: Expression) -> str:
    names = dict.fromkeys(range(1000), "an earlier result")
    return expression_source(expression, names, Scope())
