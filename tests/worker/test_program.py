"""Programs: every statement does the same as its line of Python, and exceptions are distinguished."""

from __future__ import annotations

import ast
import gc
import importlib
import math
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.loader import load
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.messages.journal import IDLE, Journal
from fitgym.messages.protocol import encode_statement
from fitgym.subject.dependence import branches, dependences
from fitgym.subject.introspection.inspection import complete
from fitgym.subject.source import locate, read
from fitgym.subject.types.hints import Hint
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement
from fitgym.worker.program import Outcome, Program
from fitgym.worker.steps import SetupError, literal

ZOO = '''
import asyncio
import contextlib
import functools


class Number:
    def __init__(self, value: int = 0):
        self.value = value

    @property
    def double(self) -> int:
        return 2 * self.value

    @double.setter
    def double(self, value: int) -> None:
        if value < 0:
            raise ValueError("negative")
        self.value = value // 2

    @staticmethod
    def zero() -> int:
        return 0

    @classmethod
    def parse(cls, text: str) -> "Number":
        """Read a number.

        Raises:
            ValueError: it is not one.
        """
        return cls(int(text))

    def plus(self, n: int, *more: int, times: int = 1) -> int:
        return (self.value + n + sum(more)) * times

    def nothing(self) -> None:
        return None

    def __len__(self): return self.value
    def __bool__(self): return self.value > 3
    def __str__(self): return "text"
    def __repr__(self): return "code"
    def __bytes__(self): return b"bytes"
    def __hash__(self): return 7
    def __format__(self, spec): return "<" + spec + ">"
    def __int__(self): return self.value
    def __float__(self): return 1.5
    def __complex__(self): return 1j
    def __index__(self): return self.value
    def __round__(self, digits=0): return digits
    def __trunc__(self): return 1
    def __floor__(self): return 2
    def __ceil__(self): return 3
    def __neg__(self): return -self.value
    def __pos__(self): return self.value
    def __abs__(self): return 9
    def __invert__(self): return 8
    def __eq__(self, other): return other == self.value
    def __ne__(self, other): return "ne"
    def __lt__(self, other): return "lt"
    def __le__(self, other): return "le"
    def __gt__(self, other): return "gt"
    def __ge__(self, other): return "ge"
    def __contains__(self, item): return item == self.value
    def __getitem__(self, key): return key
    def __setitem__(self, key, value): self.value = (key, value)
    def __delitem__(self, key): self.value = key
    def __iter__(self): return iter(range(200))
    def __reversed__(self): return iter([3, 2, 1])
    def __next__(self): return "next"
    def __call__(self, a, b=0): return (a, b)
    def __enter__(self): return "entered"
    def __exit__(self, *details): self.value = "left"
    async def __aenter__(self): return "aentered"
    async def __aexit__(self, *details): self.value = "aleft"
    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return "awaited"
    async def __aiter__(self):
        for item in (1, 2):
            yield item
    async def __anext__(self): return "anext"
    def __add__(self, other): return ("+", other)
    def __radd__(self, other): return ("r+", other)
    def __iadd__(self, other): return ("i+", other)
    def __sub__(self, other): return ("-", other)
    def __mul__(self, other): return ("*", other)
    def __matmul__(self, other): return ("@", other)
    def __truediv__(self, other): return ("/", other)
    def __floordiv__(self, other): return ("//", other)
    def __mod__(self, other): return ("%", other)
    def __rmod__(self, other): return ("r%", other)
    def __divmod__(self, other): return ("divmod", other)
    def __pow__(self, other, modulus=None): return ("**", other, modulus)
    def __lshift__(self, other): return ("<<", other)
    def __and__(self, other): return ("&", other)
    def __or__(self, other): return ("|", other)
    def __xor__(self, other): return ("^", other)


def same(value):
    return value

def echo(value):
    return value

def parrot(value):
    return value

def pick(function, *arguments):
    return function(*arguments)

def count(n: int):
    for i in range(n):
        yield i

async def later(n: int) -> int:
    await asyncio.sleep(0)
    return n + 1

async def counted(n: int):
    for i in range(n):
        await asyncio.sleep(0)
        yield i

@contextlib.contextmanager
def opened(n: int):
    yield n * 2

@contextlib.asynccontextmanager
async def aopened(n: int):
    yield n * 3

def lazily(n):
    return iter(range(n))

def none_or_number(n: int):
    return Number(n) if n > 0 else None

def explicit(n: int) -> int:
    if n > 0:
        raise KeyError(n)
    assert n < 0, "zero"
    return n

def implicit(n: int) -> float:
    return helper(1) / n

def helper(n: int) -> int:
    return [10, 20][n]

def again(n: int):
    try:
        return helper(n)
    except IndexError:
        raise

def strict(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper

@strict
def decorated(a: int, b: int) -> int:
    return inner(a, b)

def inner(a, b):
    return len(a, b)

def loop() -> None:
    while True:
        pass

def deep(n: int) -> int:
    return deep(n + 1)

def brood() -> None:
    class Chick(Exception):
        pass
    raise Chick("peep")

def hatch() -> object:
    return type("Hatchling", (Number,), {})()

def nest() -> object:
    class Egg(Number):
        pass
    return Egg()

def crowd(numbers: set, label: int = 0) -> None:
    raise ValueError(label)
'''


class Bench:
    """A program in this very process."""

    def __init__(self, folder: Path) -> None:
        (folder / "zoo.py").write_text(ZOO)
        reference = locate("zoo", str(folder))
        source = read(reference)
        instrumented = instrument(source, reference.path)
        plan = instrumented.plan
        self.recorder = Recorder(plan.sites, 5_000)
        module = load(reference, instrumented, self.recorder.probe)
        self.subject = complete(
            reference,
            source,
            module,
            plan.sites,
            plan.functions,
            branches(plan.sites, plan.functions),
            dependences(instrumented.tree, plan.at, plan.blocks, plan.entries, plan.sites, plan.functions),
        )
        self.journal = Journal(Journal.create())
        self.program = Program(self.subject, self.recorder, self.journal.cells)
        self.names: dict[tuple[str, str], int] = {}
        for operation in self.subject.operations:
            self.names.setdefault((operation.name, operation.kind), operation.id)

    def id(self, name: str) -> int:
        """The operation of this name; `name=` means the setter."""
        wanted = name.removesuffix("=")
        for (known, kind), identifier in self.names.items():
            if known.removesuffix(".setter") == wanted and (kind == "setter") == name.endswith("="):
                return identifier
        raise LookupError(name)

    def run(self, *statements: Statement, needs: frozenset[str] = frozenset()) -> Outcome:
        for identifier, statement in enumerate(statements):
            self.program.define(identifier, encode_statement(statement))
        self.recorder.begin(needs)
        return self.program.run(tuple(range(len(statements))), needs)

    def call(self, name: str, *args: object, receiver: int = -1, iterate: bool = False, **kwargs: object) -> Statement:
        return Statement(
            self.id(name),
            receiver,
            tuple(_expression(argument) for argument in args),
            tuple((key, _expression(argument)) for key, argument in kwargs.items()),
            iterate,
        )


def _expression(value: object) -> Expression:
    return value if isinstance(value, (Literal, Ref, Collection, Name, Lambda)) else Literal(repr(value))


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    path = list(sys.path)
    yield Bench(tmp_path_factory.mktemp("zoo"))
    sys.path[:] = path
    sys.modules.pop("zoo", None)


# ------------------------------------------------------------------------------------------------------ statements


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("Number.__len__", (), 5),
        ("Number.__bool__", (), True),
        ("Number.__str__", (), "text"),
        ("Number.__repr__", (), "code"),
        ("Number.__bytes__", (), b"bytes"),
        ("Number.__hash__", (), 7),
        ("Number.__format__", (">8",), "<>8>"),
        ("Number.__int__", (), 5),
        ("Number.__float__", (), 1.5),
        ("Number.__complex__", (), 1j),
        ("Number.__index__", (), 5),
        ("Number.__round__", (), 0),
        ("Number.__round__", (2,), 2),
        ("Number.__trunc__", (), 1),
        ("Number.__floor__", (), 2),
        ("Number.__ceil__", (), 3),
        ("Number.__neg__", (), -5),
        ("Number.__pos__", (), 5),
        ("Number.__abs__", (), 9),
        ("Number.__invert__", (), 8),
        ("Number.__eq__", (5,), True),
        ("Number.__ne__", (5,), "ne"),
        ("Number.__lt__", (5,), "lt"),
        ("Number.__le__", (5,), "le"),
        ("Number.__gt__", (5,), "gt"),
        ("Number.__ge__", (5,), "ge"),
        ("Number.__contains__", (5,), True),
        ("Number.__getitem__", ("k",), "k"),
        ("Number.__iter__", (), list(range(100))),
        ("Number.__reversed__", (), [3, 2, 1]),
        ("Number.__next__", (), "next"),
        ("Number.__call__", (1, 2), (1, 2)),
        ("Number.__enter__", (), "entered"),
        ("Number.__aenter__", (), "aentered"),
        ("Number.__await__", (), "awaited"),
        ("Number.__aiter__", (), [1, 2]),
        ("Number.__anext__", (), "anext"),
        ("Number.__add__", (1,), ("+", 1)),
        ("Number.__radd__", (1,), ("r+", 1)),
        ("Number.__iadd__", (1,), ("i+", 1)),
        ("Number.__sub__", (1,), ("-", 1)),
        ("Number.__mul__", (1,), ("*", 1)),
        ("Number.__matmul__", (1,), ("@", 1)),
        ("Number.__truediv__", (1,), ("/", 1)),
        ("Number.__floordiv__", (1,), ("//", 1)),
        ("Number.__mod__", (1,), ("%", 1)),
        ("Number.__rmod__", (1,), ("r%", 1)),
        ("Number.__divmod__", (1,), ("divmod", 1)),
        ("Number.__pow__", (2,), ("**", 2, None)),
        ("Number.__pow__", (2, 3), ("**", 2, 3)),
        ("Number.__lshift__", (1,), ("<<", 1)),
        ("Number.__and__", (1,), ("&", 1)),
        ("Number.__or__", (1,), ("|", 1)),
        ("Number.__xor__", (1,), ("^", 1)),
    ],
)
def test_operators_are_applied_as_python_applies_them(
    zoo: Bench, name: str, arguments: tuple[object, ...], result: object
) -> None:
    outcome = zoo.run(zoo.call("Number", 5), zoo.call(name, *arguments, receiver=0))
    assert outcome.error is None, outcome.error
    assert outcome.results[1] == result
    assert type(outcome.results[1]) is type(result)


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("Number.__setitem__", (1, 2), (1, 2)),
        ("Number.__delitem__", (4,), 4),
        ("Number.double=", (8,), 4),
        ("Number.__enter__", (), "left"),
        ("Number.__aenter__", (), "aleft"),
    ],
)
def test_statements_that_change_their_receiver_do(
    zoo: Bench, name: str, arguments: tuple[object, ...], value: object
) -> None:
    outcome = zoo.run(zoo.call("Number", 5), zoo.call(name, *arguments, receiver=0))
    assert outcome.error is None, outcome.error
    assert outcome.results[0].value == value


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        (lambda z: [z.call("Number", 5), z.call("Number.double", receiver=0)], 10),
        (lambda z: [z.call("Number.zero")], 0),
        (lambda z: [z.call("Number.parse", "12"), z.call("Number.double", receiver=0)], 24),
        (lambda z: [z.call("Number", 1), z.call("Number.plus", 2, 3, 4, times=2, receiver=0)], 20),
        (lambda z: [z.call("count", 3)], [0, 1, 2]),
        (lambda z: [z.call("count", 500)], list(range(100))),
        (lambda z: [z.call("later", 3)], 4),
        (lambda z: [z.call("counted", 3)], [0, 1, 2]),
        (lambda z: [z.call("opened", 3)], 6),
        (lambda z: [z.call("aopened", 3)], 9),
        (lambda z: [z.call("lazily", 3, iterate=True)], [0, 1, 2]),
        (lambda z: [z.call("same", 4), z.call("same", Ref(0))], 4),
        (lambda z: [z.call("same", 4), z.call("same", value=Ref(0))], 4),
    ],
)
def test_results_are_driven_to_the_end(zoo: Bench, steps: Callable[[Bench], list[Statement]], result: object) -> None:
    outcome = zoo.run(*steps(zoo))
    assert outcome.error is None, outcome.error
    assert outcome.results[-1] == result


ONE, TWO = Literal("1"), Literal("2")
INTEGER = Hint("class", "builtins.int")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        (Literal("-0.5"), -0.5),
        (Literal('float("inf")'), math.inf),
        (Literal("b'x'"), b"x"),
        (Literal("..."), ...),
        (Collection("list", (ONE, TWO)), [1, 2]),
        (Collection("tuple", (ONE, TWO)), (1, 2)),
        (Collection("set", (ONE, TWO)), {1, 2}),
        (Collection("frozenset", (ONE,)), frozenset({1})),
        (Collection("dict", (ONE, TWO, TWO, ONE)), {1: 2, 2: 1}),
        (Collection("list", (Collection("dict", ()),)), [{}]),
        (Name("builtins", "ValueError"), ValueError),
        (Name("os.path", "join"), importlib.import_module("os").path.join),
    ],
)
def test_arguments_have_the_value_of_their_expression(zoo: Bench, expression: Expression, value: object) -> None:
    (result,) = zoo.run(zoo.call("same", expression)).results
    assert result == value
    assert type(result) is type(value)


def test_not_a_number_and_iterators_are_arguments_too(zoo: Bench) -> None:
    assert math.isnan(zoo.run(zoo.call("same", Literal('float("nan")'))).results[0])
    assert list(zoo.run(zoo.call("same", Collection("iter", (ONE, TWO)))).results[0]) == [1, 2]


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        (Lambda(0, ONE), (), 1),
        (Lambda(1, Ref(-1)), (7,), 7),
        (Lambda(1, ONE), (7,), 1),
        (Lambda(2, Ref(-2)), (7, 8), 8),
        (Lambda(3, Ref(-1)), (7, 8, 9), 7),
        (Lambda(5, Ref(-4)), (1, 2, 3, 4, 5), 4),
        (Lambda(-1, Ref(-2)), (7, 8), 8),
        (Lambda(-1, Collection("list", ())), (7, 8), []),
    ],
)
def test_functions_as_arguments_give_a_constant_or_a_parameter(
    zoo: Bench, function: Lambda, arguments: tuple[int, ...], value: object
) -> None:
    assert zoo.run(zoo.call("pick", function, *arguments)).results == [value]


def test_a_container_is_built_afresh_each_time(zoo: Bench) -> None:
    statement = zoo.call("same", Collection("list", ()))
    first, second = zoo.run(statement).results[0], zoo.run(statement).results[0]
    assert first is not second


@pytest.mark.parametrize("text", ["foo", "1 +", "__import__('os')", "float('x')", ""])
def test_what_is_not_a_literal_is_a_failure_of_the_set_up(zoo: Bench, text: str) -> None:
    assert zoo.run(zoo.call("same", Literal(text))).failure == "setup"


def test_a_name_that_does_not_exist_is_a_failure_of_the_set_up(zoo: Bench) -> None:
    outcome = zoo.run(zoo.call("same", 1), zoo.call("same", Name("os", "nothing")))
    assert (outcome.failure, zoo.program.raised(outcome), len(outcome.results)) == ("setup", None, 1)


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.binary(), st.just(...)))
def test_a_literal_is_what_its_text_says(value: object) -> None:
    text = "..." if value is ... else repr(value)
    if text in ("nan", "inf", "-inf"):
        text = f'float("{text}")'
    assert (type(literal(text)), repr(literal(text))) == (type(value), repr(value))


@given(st.text(alphabet="0123456789-+._e'\"\\ajb\n ", max_size=8))
def test_short_cuts_read_a_literal_as_python_does(text: str) -> None:
    try:
        expected = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        with pytest.raises(SetupError):
            literal(text)
    else:
        assert (type(literal(text)), repr(literal(text))) == (type(expected), repr(expected))


def test_one_and_true_are_different_literals() -> None:
    assert [type(literal(text)) for text in ("1", "1.0", "True")] == [int, float, bool]


# ------------------------------------------------------------------------------------------------------ exceptions


@pytest.mark.parametrize(
    ("steps", "type_", "function", "kind", "counted"),
    [
        (lambda z: [z.call("explicit", 1)], "KeyError", "explicit", "explicit", True),
        (lambda z: [z.call("explicit", 0)], "AssertionError", "explicit", "explicit", True),
        (lambda z: [z.call("implicit", 0)], "ZeroDivisionError", "implicit", "implicit", True),
        (lambda z: [z.call("helper", 5)], "IndexError", "helper", "implicit", True),
        (lambda z: [z.call("again", 5)], "IndexError", "helper", "implicit", True),
        (lambda z: [z.call("Number.parse", "x")], "ValueError", "Number.parse", "declared", True),
        # errors of the test's own code
        (lambda z: [z.call("helper")], "TypeError", "", "implicit", False),
        (lambda z: [z.call("helper", 1, 2)], "TypeError", "", "implicit", False),
        (lambda z: [z.call("decorated", 1)], "TypeError", "strict.<locals>.wrapper", "implicit", False),
        (lambda z: [z.call("decorated", 1, 2)], "TypeError", "inner", "implicit", True),
        (
            lambda z: [z.call("none_or_number", 0), z.call("Number.nothing", receiver=0)],
            "AttributeError",
            "",
            "implicit",
            False,
        ),
        (lambda z: [z.call("same", Collection("set", (Collection("list", ()),)))], "TypeError", "", "implicit", False),
    ],
)
def test_exceptions_are_told_apart(
    zoo: Bench,
    steps: Callable[[Bench], list[Statement]],
    type_: str,
    function: str,
    kind: str,
    counted: bool,
) -> None:
    outcome = zoo.run(*steps(zoo))
    raised = zoo.program.raised(outcome)
    assert raised is not None
    name = zoo.subject.functions[raised.function].name if raised.function >= 0 else ""
    assert (raised.type, name, raised.kind, raised.counted) == (type_, function, kind, counted)
    assert raised.mro[0] == type_
    assert raised.mro[-1] == "BaseException"
    assert outcome.failure == ""


def test_the_same_statement_is_judged_by_what_its_arguments_are_this_time(zoo: Bench) -> None:
    judged = []
    for literal_ in ("0", "'text'", "0"):
        outcome = zoo.run(zoo.call("same", Literal(literal_)), zoo.call("implicit", Ref(0)))
        raised = zoo.program.raised(outcome)
        assert raised is not None
        judged.append((raised.type, raised.ill_typed, raised.counted))
    assert judged == [
        ("ZeroDivisionError", False, True),
        ("TypeError", True, False),
        ("ZeroDivisionError", False, True),
    ]


@pytest.mark.parametrize(
    ("arguments", "ill_typed"),
    [
        ((Collection("set", (ONE,)),), False),
        ((Collection("list", (ONE,)),), True),
        ((Literal("1"),), True),
        ((Name("zoo", "same"),), True),
        ((Collection("set", (Ref(0),)),), False),
        ((Collection("set", ()), Ref(0)), True),
    ],
)
def test_an_argument_that_is_not_what_its_annotation_asks_for_is_the_fault_of_the_test(
    zoo: Bench, arguments: tuple[Expression, ...], ill_typed: bool
) -> None:
    for _ in range(2):  # what was found out about a statement is kept
        raised = zoo.program.raised(zoo.run(zoo.call("Number", 1), zoo.call("crowd", *arguments)))
        assert raised is not None
        assert (raised.ill_typed, raised.counted) == (ill_typed, not ill_typed)


def test_what_is_done_to_judge_an_exception_is_not_recorded(zoo: Bench) -> None:
    (hash_entry,) = [function.entry for function in zoo.subject.functions if function.name == "Number.__hash__"]
    for _ in range(2):
        zoo.run(zoo.call("Number", 1), zoo.call("crowd", Collection("set", (Ref(0),))))
        assert zoo.recorder.counts[hash_entry] == 1


def test_a_class_of_exceptions_dies_with_its_test_case(zoo: Bench) -> None:
    outcome = zoo.run(zoo.call("brood"))
    raised = zoo.program.raised(outcome)
    assert raised is not None
    assert (raised.type, raised.mro) == (
        "zoo.brood.<locals>.Chick",
        ("zoo.brood.<locals>.Chick", "Exception", "BaseException"),
    )
    del outcome
    gc.collect()
    assert "Chick" not in {cls.__name__ for cls in Exception.__subclasses__()}


def test_a_test_case_stops_at_its_first_exception(zoo: Bench) -> None:
    outcome = zoo.run(zoo.call("same", 1), zoo.call("helper", 5), zoo.call("same", 2))
    raised = zoo.program.raised(outcome)
    assert raised is not None
    assert raised.position == 1
    assert [returned for _, returned, _, _ in outcome.calls] == [True, False]
    assert outcome.results == [1]


def test_a_loop_without_end_runs_out_of_fuel(zoo: Bench) -> None:
    outcome = zoo.run(zoo.call("loop"))
    assert (outcome.failure, zoo.program.raised(outcome)) == ("fuel", None)
    assert zoo.run(zoo.call("same", 1)).failure == ""


def test_a_recursion_without_end_is_a_failure_and_does_not_count(zoo: Bench) -> None:
    outcome = zoo.run(zoo.call("deep", 0))
    assert outcome.failure == "fuel"
    raised = zoo.program.raised(outcome)
    assert raised is None or (raised.type, raised.counted) == ("RecursionError", False)


def test_the_journal_is_idle_after_every_test_case(zoo: Bench) -> None:
    for name, position in (("same", 0), ("helper", 0)):
        zoo.journal.cells[1] = 3
        zoo.run(zoo.call(name, 7))
        assert (zoo.journal.running, zoo.journal.position) == (IDLE, position)


# ---------------------------------------------------------------------------------------------- what costs a little more


def test_partitions_of_arguments_and_results_are_recorded(zoo: Bench) -> None:
    needs = frozenset({"input", "output"})
    outcome = zoo.run(zoo.call("Number", 1), zoo.call("Number.plus", 2, 3, times=0, receiver=0), needs=needs)
    _, (_, returned, output, inputs) = outcome.calls
    assert returned
    assert output == (("int:zero", 0.0),)
    assert inputs == (("n", "int:positive", 2.0), ("more", "int:positive", 3.0), ("times", "int:zero", 0.0))


def test_a_constructor_a_setter_and_a_hash_show_nothing(zoo: Bench) -> None:
    statements = (
        zoo.call("Number", 4),
        zoo.call("Number.double=", 6, receiver=0),
        zoo.call("Number.__hash__", receiver=0),
        zoo.call("Number.double", receiver=0),
    )
    outputs = [output for _, _, output, _ in zoo.run(*statements, needs=frozenset({"output"})).calls]
    assert outputs == [(), (), (), (("int:positive", 6.0),)]


def test_equal_calls_are_one_object_and_so_they_are_sent_once(zoo: Bench) -> None:
    needs = frozenset({"output"})
    first, second = (zoo.run(zoo.call("Number", 4), zoo.call("Number.double", receiver=0), needs=needs) for _ in "ab")
    assert first.calls == second.calls
    assert [one is two for one, two in zip(first.calls, second.calls, strict=True)] == [True, True]


def test_the_raising_call_has_inputs_and_no_output(zoo: Bench) -> None:
    outcome = zoo.run(zoo.call("helper", 5), needs=frozenset({"input", "output"}))
    assert outcome.calls == ((zoo.id("helper"), False, (), (("n", "int:positive", 5.0),)),)


def _entry_is_direct(zoo: Bench, name: str) -> bool:
    entry = next(function.entry for function in zoo.subject.functions if function.name == name)
    return zoo.recorder.direct_counts[entry] > 0


@pytest.mark.parametrize(
    ("steps", "direct", "indirect"),
    [
        (lambda z: [z.call("helper", 0)], "helper", "inner"),
        (lambda z: [z.call("implicit", 2)], "implicit", "helper"),
        (lambda z: [z.call("decorated", 1, 2)], "decorated", "inner"),
        (lambda z: [z.call("later", 1)], "later", "helper"),
        (lambda z: [z.call("count", 2)], "count", "helper"),
        (lambda z: [z.call("counted", 2)], "counted", "helper"),
        (lambda z: [z.call("Number", 2), z.call("Number.double", receiver=0)], "Number.double", "helper"),
        (lambda z: [z.call("Number", 2), z.call("Number.__add__", 2, receiver=0)], "Number.__add__", "helper"),
        (lambda z: [z.call("Number.parse", "2")], "Number.parse", "Number.__init__"),
    ],
)
def test_only_code_that_a_statement_called_itself_is_direct(
    zoo: Bench, steps: Callable[[Bench], list[Statement]], direct: str, indirect: str
) -> None:
    zoo.run(*steps(zoo), needs=frozenset({"direct"}))
    assert _entry_is_direct(zoo, direct)
    assert not _entry_is_direct(zoo, indirect)


def test_types_that_come_back_are_learnt_until_they_repeat(zoo: Bench) -> None:
    zoo.program.feedback.drain()
    steps = [zoo.call("echo", Collection("tuple", (ONE, Literal("'a'")))), zoo.call("lazily", 2)]
    zoo.run(*steps)
    returns, iterators = zoo.program.feedback.drain()
    assert returns[zoo.id("echo")] == Hint("tuple", args=(INTEGER, Hint("class", "builtins.str")))
    assert iterators == [zoo.id("lazily")]
    zoo.run(*steps)
    assert zoo.program.feedback.drain() == ({}, [])


@pytest.mark.parametrize("name", ["hatch", "nest"])
def test_a_class_that_a_test_case_has_made_dies_with_it(zoo: Bench, name: str) -> None:
    outcome = zoo.run(zoo.call(name))
    number = type(outcome.results[0]).__base__
    del outcome
    gc.collect()
    assert number.__subclasses__() == []


def test_an_empty_container_does_not_end_the_lesson(zoo: Bench) -> None:
    zoo.program.feedback.drain()
    empty, full = Collection("dict", ()), Collection("dict", (ONE, TWO))
    zoo.run(zoo.call("parrot", empty), zoo.call("parrot", empty), zoo.call("parrot", full))
    returns, _ = zoo.program.feedback.drain()
    assert Hint("dict", args=(INTEGER, INTEGER)) in returns[zoo.id("parrot")].args


def test_the_text_of_the_zoo_is_a_module() -> None:
    namespace: dict[str, Any] = {"__name__": "plain_zoo"}
    exec(compile(textwrap.dedent(ZOO), "zoo", "exec"), namespace)
    assert len(namespace["Number"](4)) == 4
