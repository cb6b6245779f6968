"""Names of tests: what a test does, in as few words as tell it from the others."""

from __future__ import annotations

import ast
import keyword
import math
import re
from collections import Counter
from collections.abc import Sequence

from fitgym.execution.observation import Observation
from fitgym.subject.subject import Operation, Subject
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.scope import snake_case
from fitgym.testcase.statement import Statement

__all__ = ["candidate_names", "distinct_names"]

MAX_LENGTH = 60


def candidate_names(
    subject: Subject,
    statements: Sequence[Statement],
    assertions: Sequence[Observation] = (),
    raises: Name | None = None,
) -> list[str]:
    """Names that fit a test, the plainest first and each later one saying more.

    `test_<operation>`, then with what came of it (`_returns_none`), then with the telling argument
    (`_with_empty_string`), then with both. A test that expects an exception always says so (`_raises_value_error`).
    """
    last = statements[-1]
    base = f"test_{_operation_words(subject.operations[last.operation])}"
    argument = _argument_words(subject.operations[last.operation], last)
    if raises is not None:
        outcome = f"raises_{_words(raises.qualname)}"
        names = [f"{base}_{outcome}"]
        if argument:
            names.append(f"{base}_{argument}_{outcome}")
        return [_shortened(name) for name in names]
    names = [base]
    outcome = _outcome_words([a for a in assertions if a.position == len(statements) - 1])
    before = _before_words(subject, statements)
    if outcome:
        names.append(f"{base}_{outcome}")
    if argument:
        names.append(f"{base}_{argument}")
        if outcome:
            names.append(f"{base}_{argument}_{outcome}")
    if before:
        names.append(f"{base}_{before}")
    return [_shortened(name) for name in names]


def distinct_names(candidates: Sequence[Sequence[str]]) -> list[str]:
    """One name for each test: of its candidates the first that no other test has, numbered where none is left.

    Every test starts with its plainest name. Tests that share a name all move on to the next candidate, as long as
    they have one; the first of those that still share a name keeps it, the others are numbered from 2.
    """
    level = [0] * len(candidates)
    while True:
        count = Counter(names[at] for names, at in zip(candidates, level, strict=True))
        clashing = [
            index
            for index, (names, at) in enumerate(zip(candidates, level, strict=True))
            if count[names[at]] > 1 and at + 1 < len(names)
        ]
        if not clashing:
            break
        for index in clashing:
            level[index] += 1
    wanted = [names[at] for names, at in zip(candidates, level, strict=True)]
    taken = set(wanted)
    seen: set[str] = set()
    result = []
    for name in wanted:
        if name in seen:
            number = 2
            while (numbered := f"{name}_{number}") in taken:
                number += 1
            name = numbered
            taken.add(name)
        seen.add(name)
        result.append(name)
    return result


def _words(name: str) -> str:
    """A dotted name in the form of a Python function's: `HTTPError.parseURL` becomes `http_error_parse_url`."""
    return "_".join(word for word in map(snake_case, name.split(".")) if word)


def _operation_words(operation: Operation) -> str:
    """The operation without its module; special methods without underscores, setters with a verb."""
    words = [_words(part) for part in operation.name.split(".")]
    if operation.kind == "setter":
        words.insert(-1, "set")
    if operation.kind == "operator":
        words[-1] = _words(operation.operator)
    if operation.kind == "constructor":
        words.append("init")
    return "_".join(word for word in words if word) or "operation"


def _outcome_words(assertions: Sequence[Observation]) -> str:
    """What the last statement returns, if that can be said in two words."""
    whole = next((fact for fact in assertions if not fact.path), None)
    if whole is None:
        return ""
    if whole.kind == "nan":
        return "returns_nan"
    if whole.kind == "is" and isinstance(whole.expression, Ref):
        return "returns_same_object"
    if whole.kind == "isinstance" and isinstance(whole.expression, Name):
        return f"returns_{_words(whole.expression.qualname)}"
    words = _value_words(whole.expression) if whole.kind in ("equal", "is", "approx") else ""
    return f"returns_{words}" if words else ""


def _argument_words(operation: Operation, statement: Statement) -> str:
    """The most telling argument of a statement: keywords by their names, else the first value that has a word."""
    if statement.kwargs:
        name, value = statement.kwargs[0]
        words = _words(name)
        if isinstance(value, Literal) and value.text in ("None", "True", "False"):
            words += f"_{value.text.lower()}"
        return f"with_{words}" if words else ""
    for argument in statement.args:
        if words := _value_words(argument):
            return f"with_{words}"
    return "" if statement.args or not any(p.required for p in operation.parameters) else "without_arguments"


def _before_words(subject: Subject, statements: Sequence[Statement]) -> str:
    """The last operation on the same receiver before the last statement."""
    receiver = statements[-1].receiver
    for statement in reversed(statements[:-1]):
        if receiver >= 0 and statement.receiver == receiver:
            name = subject.operations[statement.operation].name.rpartition(".")[2]
            return f"after_{words}" if (words := _words(name)) else ""
    return ""


def _value_words(expression: Expression) -> str:
    """A value in one or two words, "" if there are none for it."""
    if isinstance(expression, Collection):
        kind = {"iter": "iterator"}.get(expression.kind, expression.kind)
        return kind if expression.items else f"empty_{kind}"
    if isinstance(expression, Name):
        return _words(expression.qualname)
    if isinstance(expression, Lambda):
        return "function"
    return _literal_words(expression.text) if isinstance(expression, Literal) else ""


def _literal_words(text: str) -> str:
    if text.startswith("float("):
        return {"n": "nan", "i": "infinity", "-": "minus_infinity"}[text[7]]
    value = ast.literal_eval(text)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | bytes):
        kind = "string" if isinstance(value, str) else "bytes"
        if not value:
            return f"empty_{kind}"
        if isinstance(value, str) and value.isascii() and value.isidentifier() and len(value) <= 16:
            return _words(value) or kind
        return "blank_string" if isinstance(value, str) and value.isspace() else kind
    if isinstance(value, int):
        return _number_words(value) if abs(value) < 10_000 else "large_int" if value > 0 else "large_negative_int"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 10_000:
            return _number_words(int(value)) if value or math.copysign(1, value) > 0 else "minus_zero"
        return "float" if value > 0 else "negative_float"
    return "complex" if isinstance(value, complex) else "ellipsis"


def _number_words(number: int) -> str:
    if number == 0:
        return "zero"
    return str(number) if number > 0 else f"minus_{-number}"


def _shortened(name: str) -> str:
    """The name cut at a word so that it has at most 60 characters, and made fit for Python."""
    name = re.sub(r"__+", "_", name).strip("_")
    if len(name) > MAX_LENGTH:
        words = name[: MAX_LENGTH + 1].split("_")
        name = "_".join(words[:-1]) if len(words) > 2 else name[:MAX_LENGTH]
    return f"{name}_" if keyword.iskeyword(name) else name
