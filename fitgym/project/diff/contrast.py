"""Contrasts: outcomes of the same calls that differ between two versions, in plain words."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from fitgym.messages.observation import FEW_FACTS, Observation, Observed
from fitgym.suite.text.expressions import expression_source
from fitgym.suite.text.scope import Scope
from fitgym.testcase.expression import Collection, Expression, Literal, Ref

__all__ = ["STOPPED", "VALUES", "Contrast", "contrast"]

VALUES = ("value", "value")
"""The kinds of two outcomes that are both values."""

MAX_SHOWN = 3
"""Maximal number of attributes in the description of an object."""

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
"""Descriptions of the reasons for stopping a test case."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """The first difference between two versions in a test case.

    Attributes:
        position: index of the statement whose outcome differs.
        path: path from its result to the value that differs, as in `Observation`.
        before: outcome in the old version, such as `3` or `ValueError: "too small"`.
        now: outcome in the new version.
        kinds: the kinds of both outcomes: the class of an exception, "value", or the reason for stopping the test case.
        facts: facts of the old version that no longer hold, for assertions.
    """

    position: int
    path: str
    before: str
    now: str
    kinds: tuple[str, str]
    facts: tuple[Observation, ...] = ()


def contrast(old: Observed, new: Observed, length: int, ignored: Sequence[int] = ()) -> Contrast | None:
    """Return the first difference between two versions, None if there is none or the old version was not observed.

    An additional attribute in the new version, and an exception that is a subclass of the old one, are no differences:
    users of the old version do not notice them.

    Args:
        old: observation of the old version, with the names of the new one.
        new: observation of the new version.
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
    """Return whether both end at the same statement, and handlers of the old exception catch the new one."""
    if old.position != new.position or not old.raises or not new.raises:
        return old.position == new.position and old.raises == new.raises
    return old.raises[0] in new.raises and (old.message == new.message or not old.message or not new.message)


def _of_values(old: Observed, new: Observed, position: int) -> Contrast | None:
    """Return the difference in the result of one statement."""
    then, now = _facts(old, position), _facts(new, position)
    lost = [fact for fact in then if not any(_agree(fact, other) for other in now)]
    if len(now) >= FEW_FACTS:  # missing facts may only have been cut off
        lost = [fact for fact in lost if any(other.path == fact.path for other in now)]
    if not lost:
        return None
    path = lost[0].path
    if not any(fact.path == path for fact in now):  # the value is of another kind: show it as a whole
        path = ""
    before, after = _shown(old, position, path), _shown(new, position, path)
    if before == after:
        before, after = (f"{text}, {_identity(facts)}" for text, facts in ((before, then), (after, now)))
    return Contrast(position, path, before, after, VALUES, tuple(lost[:MAX_SHOWN]))


def _facts(seen: Observed, position: int) -> list[Observation]:
    """Return the facts about a result, without equality to earlier results, which follows from the other facts."""
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
    """Return whether `pytest.approx` considers numbers equal, also in containers of the same shape."""
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
    """Return the outcome of a statement: `ValueError: "too small"`, or its result."""
    if seen.position == position:
        name = seen.raises[0].qualname if seen.raises else "an exception"
        return f"{name}: {seen.message}" if seen.message else name
    return _shown(seen, position, "")


def _identity(facts: Sequence[Observation]) -> str:
    """Return a description of identity, for values with equal text."""
    is_same = any(fact.kind == "is" and isinstance(fact.expression, Ref) for fact in facts)
    return "the object of an earlier result" if is_same else "a new object"


def _kind(seen: Observed, position: int) -> str:
    return (seen.raises[0].qualname if seen.raises else "exception") if seen.position == position else "value"


def _shown(seen: Observed, position: int, path: str) -> str:
    """Return a value in plain words: as Python source, or by its attributes."""
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
