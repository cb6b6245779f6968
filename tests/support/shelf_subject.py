"""The subject of `tests/golden/shelf.py`, described by hand, so that the tests of finishing need no worker."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fitgym.messages.observation import NOT_RUN, Observed, observe
from fitgym.subject.subject import Class, Operation, OperationKind, Parameter, Reference, Subject
from fitgym.subject.types.hints import ANY, Hint
from fitgym.suite.assertions import finished_tests
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.text.source import render
from fitgym.testcase.expression import Collection, Literal, Ref
from fitgym.testcase.statement import Statement

GOLDEN = Path(__file__).parents[1] / "golden"
MODULE = "shelf"


def parameter(name: str, *, required: bool = True) -> Parameter:
    return Parameter(name, "positional_or_keyword", ANY, required)


def operation(
    number: int, kind: OperationKind, name: str, *parameters: Parameter, returns: Hint = ANY, **more: str
) -> Operation:
    owner = f"{MODULE}.{name.partition('.')[0]}" if kind not in ("function",) else ""
    return Operation(number, kind, MODULE, name, owner, parameters, returns, **more)  # type: ignore[arg-type]


NONE = Hint("none")
OPTIONAL_INT = Hint("union", args=(Hint("class", "builtins.int"), NONE))

OPERATIONS = (
    operation(0, "constructor", "Book", parameter("title"), returns=Hint("class", "shelf.Book")),
    operation(1, "constructor", "Shelf", parameter("width"), returns=Hint("class", "shelf.Shelf")),
    operation(2, "method", "Shelf.add", parameter("book"), returns=NONE),
    operation(3, "method", "Shelf.find", parameter("title"), returns=OPTIONAL_INT),
    operation(4, "property", "Shelf.room"),
    operation(5, "operator", "Shelf.__len__", operator="__len__"),
    operation(6, "operator", "Shelf.__getitem__", parameter("index"), operator="__getitem__"),
    operation(7, "method", "Shelf.titles", drive="iterate"),
    operation(8, "function", "thickness", parameter("pages")),
    operation(9, "function", "summary", parameter("titles"), parameter("longest", required=False)),
    operation(10, "function", "fetch", parameter("title"), drive="await", returns=Hint("class", "shelf.Book")),
    operation(11, "setter", "Shelf.width", parameter("width"), returns=NONE),
)
BOOK, SHELF, ADD, FIND, ROOM, LEN, ITEM, TITLES, THICKNESS, SUMMARY, FETCH, SET_WIDTH = range(12)


def subject_of(
    operations: tuple[Operation, ...], module: str, folder: Path, class_name: str = "", classes: tuple[str, ...] = ()
) -> Subject:
    """Return a subject with operations but without information about its code."""
    reference = Reference(module, module, str(folder / f"{module}.py"), class_name, (str(folder),))
    known = {f"{module}.{name}": Class(f"{module}.{name}", module, name) for name in classes}
    return Subject(reference, "", (), (), (), (), operations, known)


SUBJECT = subject_of(OPERATIONS, MODULE, GOLDEN, classes=("Book", "Shelf", "Genre"))


def observed(statements: Sequence[Statement], subject: Subject = SUBJECT) -> Observed:
    """Return what a worker would observe: statements are written as Python and executed one by one."""
    rendered = render(statements, subject, named=range(len(statements)))
    space: dict[str, Any] = {}
    folder = subject.reference.search_path[0]
    sys.path.insert(0, folder)
    try:
        for line in rendered.scope.imports():
            exec(line, space)
        results: list[object] = [NOT_RUN] * len(statements)
        for position, block in enumerate(rendered.blocks):
            try:
                exec("\n".join(block), space)
            except Exception as error:
                return observe(results, error, home=subject.reference.module)
            results[position] = space[rendered.names[position]]
        return observe(results, home=subject.reference.module)
    finally:
        sys.path.remove(folder)


def text(value: object) -> Literal:
    """Return a literal for a value."""
    return Literal(repr(value))


SUITE: tuple[tuple[Statement, ...], ...] = (
    (Statement(BOOK, args=(text("Dune"),)),),
    (Statement(SHELF, args=(text(30.0),)), Statement(BOOK, args=(text("Dune"),)), Statement(ADD, 0, (Ref(1),))),
    (
        Statement(SHELF, args=(text(30.0),)),
        Statement(BOOK, args=(text("Dune"),)),
        Statement(ADD, 0, (Ref(1),)),
        Statement(ADD, 0, (Ref(1),)),
    ),
    (Statement(SHELF, args=(text(2.5),)), Statement(FIND, 0, (text(""),))),
    (
        Statement(SHELF, args=(text(2.5), Collection("list", (text("it's"), text('the "best"'))))),
        Statement(FIND, 0, (text('the "best"'),)),
    ),
    (Statement(SHELF, args=(text(2.5),)), Statement(ROOM, 0)),
    (Statement(SHELF, args=(text(2.5),)), Statement(LEN, 0)),
    (Statement(SHELF, args=(text(2.5),)), Statement(ITEM, 0, (text(-1),))),
    (Statement(SHELF, args=(text(2.5), Collection("tuple", (text("Ö"),)))), Statement(TITLES, 0)),
    (Statement(SHELF, args=(text(2.5),)), Statement(SET_WIDTH, 0, (Literal('float("inf")'),))),
    (Statement(THICKNESS, args=(text(250),)),),
    (Statement(THICKNESS, args=(text(-3),)),),
    (Statement(THICKNESS, args=(text("a"),)),),
    (
        Statement(
            SUMMARY,
            args=(Collection("list", tuple(text(word * 3) for word in ("abracadabra", "hocus pocus", "presto", "à"))),),
        ),
    ),
    (Statement(SUMMARY, args=(Collection("list", ()),), kwargs=(("longest", text(0)),)),),
    (Statement(FETCH, args=(text("Emma"),)),),
)


def finished(suite: Sequence[Sequence[Statement]] = SUITE, subject: Subject = SUBJECT) -> list[FinishedTest]:
    """Return the tests with assertions and names."""
    seen = [[observed(test, subject)] for test in suite]
    before = [observed(test[:-1], subject) for test in suite]
    return [test for test in finished_tests(suite, seen, subject, before) if test is not None]
