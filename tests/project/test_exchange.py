"""Exchange: test cases of one version as test cases of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from fitgym.messages.observation import Observation, Observed
from fitgym.project.diff.exchange import Exchange, binds
from fitgym.subject.subject import Class, Operation, Parameter, Reference, Subject
from fitgym.subject.types.hints import ANY
from fitgym.testcase.expression import Collection, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement


def subject(operations: Sequence[Operation], *, module: str = "m", root: str = "/new", classes: Any = None) -> Subject:
    """A subject with these operations and nothing else."""
    reference = Reference(module, module, f"{root}/{module}.py")
    return Subject(reference, "", (), (), (), (), tuple(operations), classes or {})


def operation(identifier: int, name: str, kind: Any = "function", module: str = "m", **options: Any) -> Operation:
    """One operation."""
    return Operation(identifier, kind, module, name, **options)


def parameter(name: str, kind: Any = "positional_or_keyword", required: bool = True) -> Parameter:
    """One parameter."""
    return Parameter(name, kind, ANY, required)


def test_operations_are_found_by_name_whatever_their_number() -> None:
    old = subject([operation(0, "f"), operation(1, "g")])
    new = subject([operation(0, "other"), operation(1, "g"), operation(2, "f")])
    statements = [Statement(0, args=(Literal("1"),)), Statement(1, args=(Ref(0),), kwargs=(("x", Literal("2")),))]
    assert Exchange(old, new).statements(statements) == [
        Statement(2, args=(Literal("1"),)),
        Statement(1, args=(Ref(0),), kwargs=(("x", Literal("2")),)),
    ]


@pytest.mark.parametrize(
    "other",
    [
        operation(0, "g"),
        operation(0, "f", kind="constructor"),
        operation(0, "f", module="n"),
        operation(0, "f", drive="await"),
        operation(0, "f", operator="__len__"),
    ],
)
def test_an_operation_that_is_called_in_another_way_is_another_one(other: Operation) -> None:
    assert Exchange(subject([operation(0, "f")]), subject([other])).statements([Statement(0)]) is None


def test_a_method_is_found_in_a_base_class() -> None:
    old = subject([operation(0, "A.run", kind="method", owner="m.A")])
    classes = {
        "m.A": Class("m.A", "m", "A", ("m.A", "m.B", "object")),
        "m.B": Class("m.B", "m", "B", ("m.B", "object")),
    }
    new = subject([operation(0, "B.run", kind="method", owner="m.B")], classes=classes)
    assert Exchange(old, new).statements([Statement(0, 0)]) == [Statement(0, 0)]


def test_a_renamed_module_renames_operations_and_names() -> None:
    old, new = (
        subject([operation(0, "f", module="a")], module="a"),
        subject([operation(3, "f", module="b")], module="b"),
    )
    exchange = Exchange(old, new)
    given = (Collection("list", (Name("a", "Kind.x"), Name("other", "y"))), Lambda(1, Name("a", "z")), Literal("'a'"))
    expected = (
        Collection("list", (Name("b", "Kind.x"), Name("other", "y"))),
        Lambda(1, Name("b", "z")),
        Literal("'a'"),
    )
    assert exchange.statements([Statement(0, args=given)]) == [Statement(3, args=expected)]
    seen = exchange.observed(Observed((Observation(0, "", "is", Name("a", "Kind.x")),), (Name("a", "Error"),), 1))
    assert seen.observations[0].expression == Name("b", "Kind.x") and seen.raises == (Name("b", "Error"),)


def test_paths_of_one_version_read_as_those_of_the_other() -> None:
    exchange = Exchange(subject([], root="/old"), subject([], root="/new"))
    seen = Observed((Observation(0, "", "equal", Literal("'/old/m.py'")),), message="no file /old/x")
    found = exchange.observed(seen)
    assert (found.observations[0].expression, found.message) == (Literal("'/new/m.py'"), "no file /new/x")


ONE, TWO = Literal("1"), Literal("2")


@pytest.mark.parametrize(
    ("parameters", "args", "kwargs", "expected"),
    [
        ([], (), (), True),
        ([], (ONE,), (), False),
        ([parameter("a")], (ONE,), (), True),
        ([parameter("a")], (), (("a", ONE),), True),
        ([parameter("a")], (), (), False),
        ([parameter("a")], (), (("b", ONE),), False),
        ([parameter("a")], (ONE,), (("a", TWO),), False),
        ([parameter("a", required=False)], (), (), True),
        ([parameter("a", "positional_only")], (), (("a", ONE),), False),
        ([parameter("a", "keyword_only")], (ONE,), (), False),
        ([parameter("a", "keyword_only")], (), (("a", ONE),), True),
        ([parameter("a", "var_positional", False)], (ONE, TWO), (), True),
        ([parameter("a", "var_keyword", False)], (), (("x", ONE),), True),
    ],
)
def test_a_call_binds_as_python_binds_it(parameters: Any, args: Any, kwargs: Any, expected: bool) -> None:
    one = operation(0, "f", parameters=tuple(parameters))
    assert binds(one, Statement(0, args=args, kwargs=kwargs)) is expected
