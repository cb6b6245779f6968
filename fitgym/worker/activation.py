"""Mutants in a running process: activates the code of a mutant and restores the original.

There are two ways to activate a mutant:

- A `Flip` is used if the mutant replaces the operator at a site. The probe of the site evaluates the other operator. No
  code is compiled, and it takes effect wherever the code runs, however the function was created.
- An `Exchange` is used otherwise. One function is compiled again with one part replaced. The new code has probes, so
  fuel stops infinite loops and the recorded data can be compared. The code is assigned to existing functions: the
  outermost function around the mutated part, and the closures that it created while the subject was imported.

Methods, properties, generators and decorated functions need no special treatment, because the function object stays the
same for every holder. Undoing assigns the original code object again.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import Instrumented
from fitgym.instrument.trace import Reached
from fitgym.messages.protocol import WireExpression
from fitgym.mutants.mutant import Mutant
from fitgym.mutants.operators import are_alike
from fitgym.subject.code.syntax import deep_trees, docstring_end
from fitgym.subject.subject import Subject
from fitgym.worker.check import Checks, WireFact
from fitgym.worker.impact import Impact
from fitgym.worker.live_functions import LiveFunctions

__all__ = [
    "Exchange",
    "Flip",
    "Mutation",
    "Trials",
    "WireEffect",
    "WireExpectation",
]

WireEffect = tuple[str, tuple[int, ...], float]
"""An effect as built-in values: kill ("clock" if the time limit ended it, not the fuel), failing facts, impact."""

WireExpectation = tuple[tuple[WireFact, ...], WireExpression | None, int, Reached, int]
"""An expectation as built-in values: facts, class, position, reached sites, and the fuel limit of a mutant."""


class Exchange(NamedTuple):
    """The code of one mutant and the functions that receive it.

    Attributes:
        functions: the functions whose code is replaced.
        originals: their original code, in the same order.
        codes: their new code, in the same order.
        unrecorded: sites of the original that the mutant does not have.
    """

    functions: tuple[FunctionType, ...]
    originals: tuple[CodeType, ...]
    codes: tuple[CodeType, ...]
    unrecorded: frozenset[int]

    def do(self) -> None:
        """Activate the mutant."""
        for function, code in zip(self.functions, self.codes, strict=True):
            function.__code__ = code

    def undo(self) -> None:
        """Restore the original."""
        for function, code in zip(self.functions, self.originals, strict=True):
            function.__code__ = code


class Flip(NamedTuple):
    """The operator of one mutant and the site where it applies.

    Attributes:
        recorder: the recorder that holds the site.
        site: id of the site.
        original: original operator of the site.
        operator: operator of the mutant.
    """

    recorder: Recorder
    site: int
    original: str
    operator: str

    @property
    def unrecorded(self) -> frozenset[int]:
        """The flipped site: distances under another operator say nothing about the original one."""
        return frozenset({self.site})

    def do(self) -> None:
        """Activate the mutant."""
        self.recorder.flip(self.site, self.operator)

    def undo(self) -> None:
        """Restore the original."""
        self.recorder.flip(self.site, self.original)


class Mutation:
    """The mutants of a subject. Each is compiled on first use.

    Args:
        subject: the subject to mutate.
        instrumented: its source with probes, as it was imported.
        recorder: the recorder of the probes.
        functions: the functions to patch, see `live_functions`.

    Attributes:
        instrumented: modified while a mutant is compiled, restored afterwards.
    """

    def __init__(
        self, subject: Subject, instrumented: Instrumented, recorder: Recorder, functions: LiveFunctions
    ) -> None:
        self.instrumented = instrumented
        self._recorder = recorder
        self._functions = functions
        self._mutants = subject.mutants
        with deep_trees():
            self._where = _places(self.instrumented.tree)
        self._impact = Impact(subject.sites)
        self._at = {(site.span, site.operator): site.id for site in instrumented.plan.sites if site.operator}
        self._made: dict[int, Exchange | Flip | None] = {}

    def make(self, number: int) -> Exchange | Flip | None:
        """Return the mutant with this number, None if it cannot be compiled or no function to patch exists."""
        if number not in self._made:
            self._made[number] = self.flip(number) or self.exchange(number)
        return self._made[number]

    def flip(self, number: int) -> Flip | None:
        """Return the mutant as an operator flip at a site, None if it is of another form."""
        mutant = self._mutants[number]
        if len(mutant.at) != 1 or not are_alike(mutant.original, mutant.replacement):
            return None
        site = self._at.get((mutant.at[0][0], mutant.original), -1)
        return Flip(self._recorder, site, mutant.original, mutant.replacement) if site >= 0 else None

    def exchange(self, number: int) -> Exchange | None:
        """Return the mutant as exchanged code, None if it cannot be compiled or no function to patch exists."""
        try:
            return self._compile(self._mutants[number])
        except (SyntaxError, ValueError):
            return None

    def impact(self, number: int, before: Reached, after: Reached) -> float:
        """Return how much the recorded data differs with this mutant, see `Impact`."""
        made = self.make(number)
        return 0.0 if made is None else self._impact.of(before, after, made.unrecorded)

    def _compile(self, mutant: Mutant) -> Exchange | None:
        new = _parsed(mutant.text)
        places = self._where.get((isinstance(new, ast.stmt), *mutant.span))
        if places is None:
            return None
        scopes, classes = self._around(places[0])
        if not scopes:
            return None
        plan = self.instrumented.plan
        gone, there = set[int](), set[int]()
        with contextlib.ExitStack() as changes:
            for place in places:
                put = _grafted(_parsed(mutant.text), place.node)
                changes.enter_context(_put(place, put))
                changes.enter_context(_counted(plan.blocks, put, place.node))
                gone.update(plan.sites_in(place.node))
                there.update(plan.sites_in(put))
            code = self._code(scopes[0], classes)
            # The compiler drops free variables that the mutated code no longer uses. Then the closure of the existing
            # function does not fit the new code, so the names are mentioned in code that never runs.
            if lost := self._lost(scopes, code):
                for function, names in lost.items():
                    changes.enter_context(_mentioned(function, names))
                code = self._code(scopes[0], classes)
        return self._exchange(scopes, code, (gone - there).union(plan.infected_in(scopes[0])))

    def _around(self, place: _Place | None) -> tuple[list[ast.AST], list[str]]:
        """Return the functions around a place, outermost first, and the classes around all of these functions."""
        scopes: list[ast.AST] = []
        classes: list[str] = []
        while place is not None:
            if isinstance(place.owner, _FUNCTIONS) and place.field == "body":
                scopes.append(place.owner)
                classes.clear()
            elif isinstance(place.owner, ast.ClassDef) and place.field == "body":
                classes.append(place.owner.name)
            place = place.around
        return scopes[::-1], classes[::-1]

    def _code(self, function: Any, classes: Sequence[str]) -> CodeType:
        return self.instrumented.code_of(function, classes, self._recorder.probe)

    def _lost(self, scopes: Sequence[ast.AST], code: CodeType) -> dict[ast.AST, list[str]]:
        """Return the free variables of functions that the mutant lost. The closures would not fit its code."""
        lost = {}
        for scope in scopes:
            for function in self._functions.get(self.instrumented.plan.entries.get(scope, -1), ()):
                new = self._inside(code).get(self.instrumented.plan.entries[scope])
                missing = set(function.__code__.co_freevars) - set(new.co_freevars if new is not None else ())
                if missing:
                    lost[scope] = sorted(missing)
        return lost

    def _exchange(self, scopes: Sequence[ast.AST], code: CodeType, gone: set[int]) -> Exchange | None:
        inside = self._inside(code)
        functions: list[FunctionType] = []
        codes: list[CodeType] = []
        for scope in scopes:
            entry = self.instrumented.plan.entries.get(scope, -1)
            for function in self._functions.get(entry, ()):
                new = inside.get(entry)
                if new is None or new.co_freevars != function.__code__.co_freevars:
                    return None
                functions.append(function)
                codes.append(new)
        if not functions:
            return None
        originals = tuple([function.__code__ for function in functions])
        return Exchange(tuple(functions), originals, tuple(codes), frozenset(gone))

    def _inside(self, code: CodeType) -> dict[int, CodeType]:
        """Return all code objects nested in `code`, by the first site of each."""
        found: dict[int, CodeType] = {}
        for inner in _codes(code):
            site = self._recorder.first_site(inner)
            if site >= 0:
                found.setdefault(site, inner)
        return found


class Trials:
    """The expectations of the test cases of one batch, and the mutants that need no more runs.

    Args:
        mutation: the mutants.
        expected: expectations by test case.
        exhaustive: run killed mutants on later test cases too.
    """

    def __init__(self, mutation: Mutation, expected: dict[tuple[int, ...], WireExpectation], exhaustive: bool) -> None:
        self.mutation = mutation
        self._expected = expected
        self._exhaustive = exhaustive
        self._checks: dict[tuple[int, ...], Checks] = {}
        self._over: set[int] = set()

    def of(self, testcase: tuple[int, ...]) -> tuple[Checks, Reached, int]:
        """Return the checks of a test case, the sites it reaches, and the fuel limit of a mutant."""
        facts, raises, position, reached, fuel = self._expected[testcase]
        checks = self._checks.get(testcase)
        if checks is None:
            checks = self._checks[testcase] = Checks(facts, raises, position)
        return checks, reached, fuel

    def is_over(self, mutant: int) -> bool:
        """Return True if the mutant is killed and not run again."""
        return mutant in self._over

    def end(self, mutant: int) -> None:
        """Mark the mutant as killed."""
        if not self._exhaustive:
            self._over.add(mutant)


_LEAVES = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class _Place(NamedTuple):
    """The place of a node: its parent, the field, the index in a list field (else -1), and the place of the parent."""

    node: ast.AST
    owner: ast.AST
    field: str
    at: int
    around: _Place | None


def _places(tree: ast.Module) -> dict[tuple[bool | int, ...], list[_Place]]:
    """Return the places of all statements and expressions, by whether it is a statement, and its span.

    An expanded chain of comparisons holds an operand in two places. If different nodes have the same span, the
    outermost is returned.
    """
    found: dict[tuple[bool | int, ...], list[_Place]] = {}
    waiting: list[tuple[ast.AST, _Place | None]] = [(tree, None)]
    while waiting:
        node, around = waiting.pop()
        for field, value in ast.iter_fields(node):
            several = isinstance(value, list)
            for index, child in enumerate(value if several else [value]):
                if not isinstance(child, ast.AST) or isinstance(child, _LEAVES):
                    continue
                place = _Place(child, node, field, index if several else -1, around)
                if isinstance(child, (ast.stmt, ast.expr)):
                    same = found.setdefault((isinstance(child, ast.stmt), *_span(child)), [])
                    if not same or ast.dump(same[0].node) == ast.dump(child):
                        same.append(place)
                waiting.append((child, place))
    return found


def _span(node: Any) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _parsed(text: str) -> ast.AST:
    """Return the syntax tree of one expression or one statement."""
    try:
        return ast.parse(f"({text}\n)", mode="eval").body
    except SyntaxError:
        (statement,) = ast.parse(text).body
        return statement


def _grafted(new: ast.AST, old: ast.AST) -> Any:
    """Return the new tree with every part that also occurs in the old tree replaced by the old node, with its probes.

    The other parts get the source location of the old tree.
    """
    parts: dict[str, list[ast.AST]] = {}
    for node in ast.walk(old):
        if isinstance(node, (ast.expr, ast.stmt)):
            parts.setdefault(ast.dump(node), []).append(node)
    return _with_parts(new, parts, old)


def _with_parts(node: Any, parts: dict[str, list[ast.AST]], like: ast.AST) -> Any:
    for field, value in ast.iter_fields(node):
        several = isinstance(value, list)
        for index, child in enumerate(value if several else [value]):
            if not isinstance(child, ast.AST):
                continue
            same = parts.get(ast.dump(child)) if isinstance(child, (ast.expr, ast.stmt)) else None
            part = same.pop(0) if same else _with_parts(child, parts, like)
            if several:
                value[index] = part
            else:
                setattr(node, field, part)
    return ast.copy_location(node, like)


@contextlib.contextmanager
def _put(place: _Place, new: ast.AST) -> Iterator[None]:
    """Put another node in this place inside the block."""
    if place.at < 0:
        setattr(place.owner, place.field, new)
        try:
            yield
        finally:
            setattr(place.owner, place.field, place.node)
    else:
        items = getattr(place.owner, place.field)
        items[place.at] = new
        try:
            yield
        finally:
            items[place.at] = place.node


@contextlib.contextmanager
def _counted(blocks: dict[ast.AST, int], new: ast.AST, old: ast.AST) -> Iterator[None]:
    """Let the probed block start with the new statement inside the `with` block."""
    block = blocks.get(old, -1)
    if block >= 0:
        blocks[new] = block
    try:
        yield
    finally:
        if block >= 0:
            del blocks[new]


@contextlib.contextmanager
def _mentioned(function: Any, names: Sequence[str]) -> Iterator[None]:
    """Mention names in code of the function that never runs, so that the compiler keeps them as free variables."""
    mention = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
    if isinstance(function, ast.Lambda):
        whole = _located(ast.IfExp(ast.Constant(1), function.body, mention), function.body)
        with _put(_Place(function.body, function, "body", -1, None), whole):
            yield
        return
    start = docstring_end(function.body)
    never = ast.If(ast.Constant(0), [ast.Expr(mention)], [])
    function.body.insert(start, _located(never, function.body[-1]))
    try:
        yield
    finally:
        del function.body[start]


def _located(new: Any, like: ast.AST) -> Any:
    return ast.fix_missing_locations(ast.copy_location(new, like))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
