"""Assertions of exported tests, chosen from the observations of their executions."""

from __future__ import annotations

from collections.abc import Collection as Container
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fitgym.messages.observation import CAPTURED, FEW_FACTS, Observation, Observed, agreement
from fitgym.subject.subject import Operation, Subject
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.kills import KillsOfTest, fewest
from fitgym.suite.messages import MESSAGE, pattern
from fitgym.suite.names import Description, description, test_names
from fitgym.suite.rebinding import rebound
from fitgym.testcase.constants import kind_of_text
from fitgym.testcase.expression import Collection, Expression, Literal, Name
from fitgym.testcase.statement import Statement

__all__ = [
    "MAX_ASSERTIONS",
    "assertions",
    "candidates",
    "described",
    "finished_test",
    "finished_tests",
    "renamed",
    "weakened",
    "with_class_facts",
]

_ORDERS = frozenset({"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"})

MAX_ASSERTIONS = 5
_EMPTY = [Literal(text) for text in ("None", "False", "0", "0.0", "''", '""', "b''", 'b""')]
DRAINED = 100  # elements taken from an iterator at most; a longer one counts as endless


def finished_tests(
    tests: Sequence[Sequence[Statement]],
    observed: Sequence[Sequence[Observed]],
    subject: Subject,
    before: Sequence[Observed | None] | None = None,
    kills: Sequence[KillsOfTest | None] | None = None,
) -> list[FinishedTest | None]:
    """Return every test with its assertions and a unique name.

    Args:
        tests: the statements of each test.
        observed: for each test the observations of its executions: at least one, better two in fresh processes.
        subject: the code under test.
        before: for each test an observation without its last statement, if known. It shows which facts the last
            statement changed.
        kills: for each test the mutants that its candidate assertions kill, if known.

    Returns:
        One entry per test: None for a test that failed, or whose executions ended in different ways.
    """
    earlier = before if before is not None else [None] * len(tests)
    matrix = kills if kills is not None else [None] * len(tests)
    made = [
        finished_test(test, seen, subject, then, kill)
        for test, seen, then, kill in zip(tests, observed, earlier, matrix, strict=True)
    ]
    kept = [test for test in made if test is not None]
    named = iter(renamed(kept, subject))
    return [None if test is None else next(named) for test in made]


def renamed(tests: Sequence[FinishedTest], subject: Subject) -> list[FinishedTest]:
    """Return the tests with new, unique names that describe their current content."""
    names = test_names([described(test, subject) for test in tests])
    return [replace(test, name=name) for test, name in zip(tests, names, strict=True)]


def described(test: FinishedTest, subject: Subject) -> Description:
    """Return the parts of a test's name."""
    return description(subject, test.statements, test.assertions, test.raises, test.steady)


def finished_test(
    statements: Sequence[Statement],
    observed: Sequence[Observed],
    subject: Subject,
    before: Observed | None = None,
    kills: KillsOfTest | None = None,
) -> FinishedTest | None:
    """Return a test with its assertions and its shortest name; None if it failed or ended in different ways.

    Statements after the one that raised never ran and are left out.
    """
    seen = agreement(observed)
    if seen is None or seen.failure:
        return None
    raises, match = None, ""
    if seen.position >= 0:
        if not seen.raises:
            return None
        raises, match = seen.raises[0], pattern(seen.message)
        if seen.position + 1 < len(statements):
            statements, before = statements[: seen.position + 1], None
    known = before.observations if before is not None and not before.failure else ()
    chosen = assertions(statements, seen.observations, subject, before=known, raised=raises is not None, kills=kills)
    finite = {position for position in range(len(statements)) if _ended(position, seen)}
    steady = frozenset(fact for fact in chosen if fact in known)
    surroundings = any(subject.operations[statement.operation].sets_environment for statement in statements)
    test = FinishedTest(
        "", tuple(statements), chosen, raises, match, frozenset(finite), steady, surroundings=surroundings
    )
    test = rebound(test, seen.observations, subject)
    return replace(test, name=described(test, subject).name())


def assertions(
    statements: Sequence[Statement],
    observations: Sequence[Observation],
    subject: Subject,
    *,
    before: Sequence[Observation] = (),
    raised: bool = False,
    kills: KillsOfTest | None = None,
    limit: int = MAX_ASSERTIONS,
) -> tuple[Observation, ...]:
    """Return the facts that a test checks, at most `limit`, in the order of the statements.

    If `kills` is given, the fewest candidates are chosen that together kill as many mutants as all candidates. If these
    are more than `limit`, the deadliest are. If none of them is about the last statement, one is added that is; an
    assigned attribute is always checked. If no candidate kills a mutant, the first is chosen. If not all mutants were
    tried, candidates with content are added.

    Without `kills`, the order of preference is:

    1. the result of the last statement;
    2. the state of its receiver and arguments, an assigned attribute first; if `before` is given, only facts that were not
       in it, or the first fact if there are none;
    3. the results of earlier operations under test that no other statement uses, latest first;
    4. what the test printed and logged.

    A constructed object is checked by its attributes. Two facts are chosen only if nothing better is known: the class
    of an object, and the None of an operation that always returns None. A test that `raised` checks the exception, and
    otherwise only facts that changed nevertheless. A result that is checked by its text alone is also checked by its
    class.
    """
    if not statements:
        return ()
    strong, weak = candidates(statements, observations, subject, before=before, raised=raised, every=kills is not None)
    chosen = fewest(strong, kills.by_fact, limit) if kills is not None else []
    about = {len(statements) - 1, *statements[-1].refs}
    stored = None if raised else _assigned(subject.operations[statements[-1].operation])
    if chosen and not any(_is_within(fact, stored) for fact in chosen):
        chosen += [fact for fact in strong if _is_within(fact, stored)][:1]
    if chosen and about.isdisjoint(fact.position for fact in chosen):  # a test should check its last statement
        chosen += [fact for fact in strong if fact.position in about][:1]
    if chosen and kills is not None and not kills.complete:
        given = _given(statements[-1], subject)
        new = [fact for fact in _first(strong, len(strong)) if fact not in before and fact not in chosen]
        content = [fact for fact in new if not _emptiness(fact, given)]
        chosen += content[: max(0, limit - len(chosen))]
    telling = kills is None and any(fact not in before for fact in strong)
    chosen = chosen or _first(strong, limit if telling else 1) or ([] if raised else weak[:1])
    if not chosen and not raised:
        chosen = [Observation(len(statements) - 1, "", "is not", Literal("None"))]
    chosen += _class_of_text(chosen, statements, observations, subject)
    order = {fact: index for index, fact in enumerate(observations)}
    return tuple(sorted(chosen, key=lambda fact: (fact.position, fact.kind == "isinstance", order.get(fact, 0))))


def _first(facts: Sequence[Observation], limit: int) -> list[Observation]:
    """Return the first facts, at most two about elements of containers: of many options, most are defaults."""
    elements = [fact for fact in facts if fact.path.startswith("[")]
    return [fact for fact in facts if fact not in elements[2:]][:limit]


def _class_of_text(
    chosen: Sequence[Observation],
    statements: Sequence[Statement],
    observations: Sequence[Observation],
    subject: Subject,
) -> list[Observation]:
    """Return the class of the last result if it is checked by its text alone: a `str` could have the same text.

    The classes of a new object, and of objects that later statements use, are certain.
    """
    last = len(statements) - 1
    kinds = [(fact.kind, fact.path) for fact in chosen if fact.position == last]
    if kinds != [("text", "")] or subject.operations[statements[last].operation].kind == "constructor":
        return []
    return [fact for fact in observations if (fact.position, fact.kind, fact.path) == (last, "isinstance", "")]


def candidates(
    statements: Sequence[Statement],
    observations: Sequence[Observation],
    subject: Subject,
    *,
    before: Sequence[Observation] = (),
    raised: bool = False,
    every: bool = False,
) -> tuple[list[Observation], list[Observation]]:
    """Return the facts that a test may check, the best first, and a second list of weak facts as a fallback.

    All facts are about the result of the last statement, the objects that it used and changed, the attribute that it
    assigned, results that no other statement uses, or the output of the whole test. If there are none, the unchanged
    state of the objects that it used may be checked. Of each result, content comes first, then what merely repeats an
    argument, then what is empty, then lengths.

    Args:
        statements: the test.
        observations: all facts about its results.
        subject: the code under test.
        before: the facts that held without the last statement, if known.
        raised: the test ended with an exception.
        every: return all facts about each result, not only the best few.
    """
    known = frozenset(before)
    last = subject.operations[statements[-1].operation]
    given = _given(statements[-1], subject)
    assigned = None if raised else _assigned(last)
    strong: list[Observation] = []
    unchanged: list[Observation] = []
    weak: list[Observation] = []
    classes: list[Observation] = []
    for position, share in _ranked(statements, subject, raised):
        operation = subject.operations[statements[position].operation]
        facts = [fact for fact in observations if fact.position == position]
        few, more = facts[:FEW_FACTS], facts[FEW_FACTS:]  # most attributes of a large object are defaults
        facts = few + [fact for fact in more if position in statements[-1].refs and fact not in known]
        if operation.operator in _ORDERS:
            facts = [_by_truth(fact) for fact in facts]
        if operation.operator == "__hash__":  # hashes of text differ between interpreters
            facts = [Observation(position, "", "isinstance", Name("builtins", "int"))] if facts else []
        telling = [fact for fact in facts if not _is_weak(fact, operation, subject)]
        telling.sort(key=lambda fact: _emptiness(fact, given))
        if position == statements[-1].receiver:
            telling.sort(key=lambda fact: not _is_within(fact, assigned))
        if position in statements[-1].refs and (known or raised):
            changed = [fact for fact in telling if (fact not in known and known) or _is_within(fact, assigned)]
            unchanged += [fact for fact in telling if fact in known and fact not in changed]
            telling = changed
        strong += telling if every else telling[:share]
        rest = [fact for fact in facts if fact not in telling and fact not in unchanged]
        classes += [fact for fact in rest if fact.kind == "isinstance" and position == len(statements) - 1]
        weak += [fact for fact in rest if fact not in classes]
    strong += [fact for fact in observations if fact.kind in CAPTURED]
    if not (strong or classes or raised):  # nothing has changed, but a mutant may change something
        strong, unchanged = unchanged, []
    return strong, [*classes, *unchanged, *weak]


def _assigned(operation: Operation) -> str | None:
    """Return the path of the attribute that the operation assigns, None if it is no setter."""
    return f".{operation.name.rpartition('.')[2]}" if operation.kind == "setter" else None


def _is_within(fact: Observation, path: str | None) -> bool:
    """Return whether a fact is about this attribute, or about a part of it."""
    return path is not None and (fact.path == path or fact.path.startswith((f"{path}.", f"{path}[")))


def _given(statement: Statement, subject: Subject) -> tuple[Expression, ...]:
    """Return the arguments of a call; nothing for a constructor, whose object is there to store them."""
    if subject.operations[statement.operation].kind == "constructor":
        return ()
    return (*statement.args, *(value for _, value in statement.kwargs))


def _emptiness(fact: Observation, given: Sequence[Expression]) -> int:
    """Return how little a fact says: 0 for content, 1 for an argument that is found again, 2 for nothing, 3 for a length."""
    expected = fact.expression
    if fact.kind == "length":
        return 3
    is_empty = expected in _EMPTY or (isinstance(expected, Collection) and not expected.items)
    return 0 if not fact.path else 2 if is_empty else int(expected in given)


def _by_truth(fact: Observation) -> Observation:
    """Turn `(a < b) is True` into the truth test `a < b`, which also accepts true values other than True."""
    truths = (Literal("True"), Literal("False"))
    return fact._replace(kind="truth") if fact.kind == "is" and fact.expression in truths and not fact.path else fact


def weakened(test: FinishedTest, failed: Container[int]) -> FinishedTest | None:
    """Return the test without the assertions at these indexes (`MESSAGE` stands for the exception's message).

    If none would be left, the first weaker form of an assertion is used (see `weaker`); the result is None if there is
    no weaker form.
    """
    left = tuple(fact for index, fact in enumerate(test.assertions) if index not in failed)
    match = "" if MESSAGE in failed else test.match
    if not left and test.raises is None and test.assertions:
        less = [weak for fact in test.assertions if (weak := weaker(fact)) is not None]
        if not less:
            return None
        left = tuple(less[:1])
    return replace(test, assertions=left, match=match)


def with_class_facts(seen: Sequence[Observed]) -> list[Observed]:
    """Return the observations of one test, with added facts about the class of values that differ between them.

    The length of such a value is not added: equal lengths may be a coincidence.
    """
    if len({(one.position, one.failure) for one in seen}) > 1:
        return list(seen)
    shared = set.intersection(*(set(one.observations) for one in seen))
    classes = [less for fact in seen[0].observations if fact not in shared and (less := weaker(fact)) is not None]
    common = [less for less in classes if all(less in map(weaker, one.observations) for one in seen)]
    return [replace(one, observations=(*one.observations, *common)) for one in seen]


def weaker(fact: Observation) -> Observation | None:
    """Return the fact that a value has its class, for values that differ in each run; None if there is no such fact.

    There is none for a value that is sometimes None: "is not None" would fail in some runs.
    """
    if fact.path or fact.kind not in ("equal", "is", "approx", "nan"):
        return None
    expression = fact.expression
    kind = kind_of_text(expression.text) if isinstance(expression, Literal) else ""
    if isinstance(expression, Collection):
        kind = expression.kind
    if kind in ("", "none", "ellipsis", "iter"):
        return None
    return fact._replace(kind="isinstance", expression=Name("builtins", kind))


def _ranked(statements: Sequence[Statement], subject: Subject, raised: bool) -> Iterator[tuple[int, int]]:
    """Yield positions whose results are worth checking, the best first, each with the number of its facts to check."""
    last = len(statements) - 1
    yield last, MAX_ASSERTIONS
    for position in dict.fromkeys(statements[last].refs):
        yield position, 3
    needed = {position for statement in statements for position in statement.refs}
    for position in range(last - 1, -1, -1):
        operation = subject.operations[statements[position].operation]
        if position not in needed and operation.is_entry_point and operation.kind != "constructor" and not raised:
            yield position, 2


def _is_weak(fact: Observation, operation: Operation, subject: Subject) -> bool:
    """Return whether a fact says little: the class of an object, or the None of an operation without a result."""
    if fact.kind in ("isinstance", "is not"):
        return True
    is_none = fact.expression == Literal("None") and fact.kind == "is" and not fact.path
    if not is_none or operation.function in subject.valued:
        return is_none and operation.kind == "setter"
    return operation.returns.kind in ("none", "any") or operation.kind == "setter"


def _ended(position: int, seen: Observed) -> bool:
    """Return whether an iterator of the statement was exhausted before its elements were cut off."""
    if position == seen.position:
        return True
    for fact in seen.observations:
        if fact.position == position and not fact.path:
            if isinstance(fact.expression, Collection) and fact.kind in ("equal", "approx"):
                return len(fact.expression.items) < DRAINED
            if isinstance(fact.expression, Literal) and fact.kind == "length":
                return int(fact.expression.text) < DRAINED
    return False
