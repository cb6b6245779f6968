"""Source: test cases as readable Python with the same meaning that needs no formatting."""

from __future__ import annotations

import builtins
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from subject_by_hand import INT, SOURCE, build, operation_named, positional

from fitgym.subject.subject import SET_VARIABLE, Operation, Parameter, Subject
from fitgym.subject.types.hints import ANY, Hint
from fitgym.suite.text.expressions import expression_source, literal_source
from fitgym.suite.text.layout import Bracket, Pair, columns, flat, laid_out
from fitgym.suite.text.scope import Scope, snake_case
from fitgym.suite.text.source import render
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.factory import TestFactory
from fitgym.testcase.statement import Statement, StatementTable

SUBJECT = build()
SEEDS = st.integers(0, 2**32 - 1)


def call(name: str, *args: Expression, on: int = -1, **kwargs: Expression) -> Statement:
    return Statement(operation_named(SUBJECT, name).id, on, args, tuple(kwargs.items()))


def lines(*statements: Statement, subject: Subject = SUBJECT, **options: Any) -> list[str]:
    return render(statements, subject, **options).lines


NEW = call("Version", Literal("'1.2'"))
ONE, TWO = Literal("1"), Literal("2")


def test_only_the_last_statement_makes_room_for_the_block_that_it_will_be_in() -> None:
    text = 60 * "a"
    wide = call("Version", Literal(repr(text)))
    line, broken = f'version_2 = Version("{text}")', ["version_2 = Version(", f'    "{text}"', ")"]
    assert 84 - 4 < len(line) <= 84
    assert lines(NEW, wide, call("Version.compare", Ref(1), on=0), deeper=4)[1] == line
    assert lines(NEW, wide, named=[0, 1], deeper=4)[1:] == broken


# Every kind of operation

STATEMENTS = [
    (call("Version", Literal("'a'"), ONE, strict=Literal("True")), 'Version("a", 1, strict=True)'),
    (call("Version.major", on=0), "version.major"),
    (call("Version.size", ONE, on=0), "version.size = 1"),
    (call("Version.parse", Literal("'a'")), 'Version.parse("a")'),
    (call("Version.compare", Ref(0), Literal("None")), "Version.compare(version, None)"),
    (call("Version.bump", on=0, minor=Literal("True")), "version.bump(minor=True)"),
    (call("Version.__add__", Ref(0), on=0), "version + version"),
    (call("Version.__getitem__", ONE, on=0), "version[1]"),
    (call("Version.__setitem__", ONE, Literal("'v'"), on=0), 'version[1] = "v"'),
    (call("Version.__delitem__", ONE, on=0), "del version[1]"),
    (call("Version.__contains__", ONE, on=0), "1 in version"),
    (call("Version.__contains__", Lambda(0, ONE), on=0), "(lambda: 1) in version"),
    (call("Version.__len__", on=0), "len(version)"),
    (call("Version.__bool__", on=0), "bool(version)"),
    (call("Version.__call__", ONE, on=0, k=TWO), "version(1, k=2)"),
    (call("Version.__iter__", on=0), "list(itertools.islice(version, 100))"),
    (call("Version.__neg__", on=0), "-version"),
    (call("Version.__lt__", Ref(0), on=0), "same = version\nversion < same"),
    (call("Cart.Item", Literal("'a'"), Literal("1.0")), 'Cart.Item("a", 1.0)'),
    (call("numbers", ONE, step=TWO), "list(itertools.islice(numbers(1, step=2), 100))"),
    (call("wait", Literal("0.0")), "asyncio.run(wait(0.0))"),
    (call("opened", Literal("'p'")), 'with opened("p"):\n    pass'),
    (call("apply", Name("builtins", "len"), Collection("list", ())), "apply(len, [])"),
    (call("mystery", Name("shop", "Color.RED")), "mystery(Color.RED)"),
    (
        Statement(operation_named(SUBJECT, "mystery").id, args=(ONE,), iterate=True),
        "list(itertools.islice(mystery(1), 100))",
    ),
    (
        call("stream", Collection("list", (Literal("'a'"),))),
        'stream_2 = stream(["a"])\n\nasync def drain():\n    return [element async for element in stream_2]\n\n'
        "asyncio.run(drain())",
    ),
    (
        call("connected", Literal("'p'")),
        'context = connected("p")\n\nasync def enter():\n    async with context as entered:\n        return entered\n\n'
        "asyncio.run(enter())",
    ),
]


@pytest.mark.parametrize(("statement", "text"), STATEMENTS, ids=[text.splitlines()[0] for _, text in STATEMENTS])
def test_a_statement_is_written_as_people_write_it(statement: Statement, text: str) -> None:
    blocks = render([NEW, statement], SUBJECT, named=[0]).blocks
    assert blocks[0] == ('version = Version("1.2")',)
    assert "\n".join(blocks[1]) == text


BOUND = [
    (call("Version.major", on=0), "major = version.major"),
    (call("Version.bump", on=0), "version_2 = version.bump()"),
    (call("Version.__len__", on=0), "length = len(version)"),
    (call("Version.__contains__", ONE, on=0), "found = 1 in version"),
    (call("Version.__getitem__", ONE, on=0), "item = version[1]"),
    (call("Version.__iter__", on=0), "values = list(itertools.islice(version, 100))"),
    (call("Cart.Item", Literal("'a'"), Literal("1.0")), 'item = Cart.Item("a", 1.0)'),
    (call("mystery", ONE), "result = mystery(1)"),
    (call("opened", Literal("'p'")), 'with opened("p") as result:\n    pass'),
    (call("Version.size", ONE, on=0), "version.size = 1\nresult = None"),
    (call("Version.__delitem__", ONE, on=0), "del version[1]\nresult = None"),
]


@pytest.mark.parametrize(("statement", "text"), BOUND, ids=[text.splitlines()[0] for _, text in BOUND])
def test_a_result_is_named_after_what_it_is(statement: Statement, text: str) -> None:
    rendered = render([NEW, statement], SUBJECT, named=[0, 1])
    assert "\n".join(rendered.blocks[1]) == text
    assert rendered.names[1] == text.partition("\n")[2].partition(" =")[0] or rendered.names[1] in text


def operator(name: str, arity: int) -> Subject:
    """A subject with a class `N` and one operator of it."""
    parameters = tuple(Parameter(f"p{index}", "positional_or_keyword", ANY) for index in range(arity))
    returns = Hint("class", "n.N")
    return build(
        operations=(
            Operation(0, "constructor", "n", "N", "n.N", returns=returns),
            Operation(1, "operator", "n", f"N.{name}", "n.N", parameters, operator=name),
        ),
        classes={},
    )


OPERATORS = [
    ("__sub__", (ONE,), "n - 1"),
    ("__rsub__", (ONE,), "1 - n"),
    ("__pow__", (TWO,), "n**2"),
    ("__pow__", (Literal("'a'"),), 'n ** "a"'),
    ("__pow__", (Literal("-1"),), "n**-1"),
    ("__rpow__", (Literal("-1"),), "(-1) ** n"),
    ("__pow__", (TWO, TWO), "pow(n, 2, 2)"),
    ("__rdivmod__", (ONE,), "divmod(1, n)"),
    ("__iadd__", (ONE,), "n += 1"),
    ("__ifloordiv__", (ONE,), "n //= 1"),
    ("__imatmul__", (Lambda(0, ONE),), "n @= lambda: 1"),
    ("__eq__", (Literal("None"),), "other = None\nn == other"),  # as linters want it
    ("__invert__", (), "~n"),
    ("__abs__", (), "abs(n)"),
    ("__round__", (), "round(n)"),
    ("__round__", (ONE,), "round(n, 1)"),
    ("__divmod__", (ONE,), "divmod(n, 1)"),
    ("__floor__", (), "math.floor(n)"),
    ("__index__", (), "operator.index(n)"),
    ("__format__", (Literal("'d'"),), 'format(n, "d")'),
    ("__hash__", (), "hash(n)"),
    ("__next__", (), "next(n)"),
    ("__reversed__", (), "reversed(n)"),
    ("__getitem__", (Collection("tuple", (ONE, TWO)),), "n[(1, 2)]"),
    ("__getitem__", (Lambda(1, Ref(-1)),), "n[lambda x: x]"),
    ("__enter__", (), "with n:\n    pass"),
    ("__await__", (), "\nasync def wait():\n    return await n\n\nasyncio.run(wait())"),
    ("__matmul__", (Lambda(0, ONE),), "n @ (lambda: 1)"),
    ("__missing__", (ONE,), "n.__missing__(1)"),
    ("__setattr__", (Literal("'size'"), ONE), "n.size = 1"),
    ("__setattr__", (Literal("'two words'"), ONE), 'setattr(n, "two words", 1)'),
    ("__setattr__", (Literal("'class'"), ONE), 'setattr(n, "class", 1)'),
    ("__setattr__", (Literal("'__own'"), ONE), 'setattr(n, "__own", 1)'),
    ("__setattr__", (ONE, ONE), "setattr(n, 1, 1)"),
    ("__setattr__", (), "setattr(n)"),
    ("__getattr__", (Literal("'size'"),), "n.size"),
    ("__getattribute__", (Literal("'size'"),), "n.size"),
    ("__delattr__", (Literal("'size'"),), "del n.size"),
]


@pytest.mark.parametrize(("name", "args", "text"), OPERATORS, ids=[f"{name} {text}" for name, _, text in OPERATORS])
def test_special_methods_become_the_syntax_that_calls_them(name: str, args: tuple[Expression, ...], text: str) -> None:
    rendered = render([Statement(0), Statement(1, 0, args)], operator(name, len(args)))
    assert "\n".join(rendered.blocks[1]) == text
    compile("\n".join(rendered.lines), "rendered", "exec")


def test_an_object_that_is_used_later_is_not_rebound() -> None:
    added = Statement(1, 0, (ONE,))
    rendered = render([Statement(0), added, Statement(1, 0, (TWO,))], operator("__iadd__", 1))
    assert rendered.lines == ["n = N()", "operator.iadd(n, 1)", "n += 2"]
    assert "import operator" in rendered.scope.imports()


def test_the_result_of_an_assignment_in_place_has_the_name_of_the_object() -> None:
    rendered = render([Statement(0), Statement(1, 0, (ONE,)), Statement(1, 1, (TWO,))], operator("__iadd__", 1))
    assert rendered.lines == ["n = N()", "n += 1", "n += 2"]
    assert "import operator" not in rendered.scope.imports()


# Expressions

EXPRESSIONS = [
    (Literal("'it'"), '"it"'),
    (Literal('"it\'s"'), '"it\'s"'),
    (Literal("'say \"hi\"'"), "'say \"hi\"'"),
    (Literal("'both \\' and \"'"), '"both \' and \\""'),
    (Literal("b'raw'"), 'b"raw"'),
    (Literal("'\\n\\\\'"), '"\\n\\\\"'),
    (Literal("1e+308"), "1e308"),
    (Literal("(1+2j)"), "complex(1.0, 2.0)"),
    (Literal("2j"), "2j"),
    (Literal('float("nan")'), 'float("nan")'),
    (Collection("tuple", ()), "()"),
    (Collection("tuple", (ONE,)), "(1,)"),
    (Collection("set", ()), "set()"),
    (Collection("set", (ONE, TWO)), "{1, 2}"),
    (Collection("frozenset", ()), "frozenset()"),
    (Collection("frozenset", (ONE,)), "frozenset({1})"),
    (Collection("dict", (ONE, TWO)), "{1: 2}"),
    (Collection("iter", (ONE,)), "iter([1])"),
    (Name("builtins", "len"), "len"),
    (Name("decimal", "Decimal"), "Decimal"),
    (Lambda(0, ONE), "lambda: 1"),
    (Lambda(2, Ref(-2)), "lambda x, y: y"),
    (Lambda(-1, Literal("'a'")), 'lambda *args: "a"'),
    (Lambda(1, Ref(3)), "lambda x: version"),
    (Collection("list", (Ref(3), Lambda(1, Ref(-1)))), "[version, lambda x: x]"),
]


@pytest.mark.parametrize(("expression", "text"), EXPRESSIONS, ids=[text for _, text in EXPRESSIONS])
def test_an_expression_as_text(expression: Expression, text: str) -> None:
    assert expression_source(expression, {3: "version"}, Scope()) == text


def test_an_expression_without_its_variable_is_refused() -> None:
    with pytest.raises(KeyError):
        expression_source(Ref(0), {}, Scope())


@given(st.one_of(st.text(), st.binary()))
def test_quotes_change_and_values_do_not(value: str | bytes) -> None:
    text = literal_source(repr(value))
    assert eval(text) == value


# Names and imports


def test_results_that_nobody_uses_are_not_bound() -> None:
    assert lines(NEW) == ['Version("1.2")']
    assert lines(NEW, call("Version.bump", on=0)) == ['version = Version("1.2")', "version.bump()"]


def test_names_are_numbered_only_when_they_clash() -> None:
    rendered = render([NEW, NEW, call("mystery", Ref(1))], SUBJECT, named=[0, 2])
    assert rendered.names == {0: "version", 1: "version_2", 2: "result"}


def test_an_iterator_known_to_end_is_drained_plainly() -> None:
    statements = [NEW, call("Version.__iter__", on=0), call("numbers", ONE)]
    rendered = render(statements, SUBJECT, finite={1, 2})
    assert rendered.lines[1:] == ["list(version)", "list(numbers(1))"]
    assert not any("itertools" in line for line in rendered.scope.imports())


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("__eq__", (ONE,), "_ = n == 1"),
        ("__add__", (ONE,), "_ = n + 1"),
        ("__neg__", (), "_ = -n"),
        ("__getitem__", (ONE,), "n[1]"),
        ("__len__", (), "len(n)"),
        ("__delitem__", (ONE,), "del n[1]"),
    ],
)
def test_an_expression_for_its_own_sake_can_be_assigned_to_nothing(
    name: str, args: tuple[Expression, ...], expected: str
) -> None:
    rendered = render([Statement(0), Statement(1, 0, args)], operator(name, len(args)), discarded=[1])
    assert rendered.lines[1] == expected


def test_a_thing_is_compared_with_itself_under_another_name() -> None:
    rendered = render([Statement(0), Statement(1, 0, (Ref(0),))], operator("__lt__", 1))
    assert rendered.lines[1:] == ["same = n", "n < same"]


# Values of the standard library

DELTA = Hint("class", "datetime.timedelta")
TIMED = (
    Operation(0, "constructor", "shop", "Alarm", "shop.Alarm", (positional("after", DELTA),)),
    Operation(1, "setter", "shop", "Alarm.pause", "shop.Alarm", (positional("value", DELTA),)),
    Operation(2, "constructor", "datetime", "timedelta", "datetime.timedelta", (positional("days"),), returns=DELTA),
    Operation(3, "property", "datetime", "timedelta.days", "datetime.timedelta"),
    Operation(4, "function", *SET_VARIABLE),
)
ALARM, DAY = Statement(0, args=(Ref(0),)), Statement(2, args=(ONE,))
PAUSE = Statement(1, 0, (Ref(1),))


@pytest.mark.parametrize(
    ("statements", "named", "expected"),
    [
        ([DAY, ALARM], (), ["Alarm(timedelta(1))"]),
        ([DAY, Statement(0, args=(Collection("list", (Ref(0),)),))], (), ["Alarm([timedelta(1)])"]),
        ([Statement(0), DAY, PAUSE], (), ["alarm = Alarm()", "alarm.pause = timedelta(1)"]),
        ([DAY], (), ["timedelta(1)"]),
        ([DAY, ALARM], (0,), ["after = timedelta(1)", "Alarm(after)"]),
        ([DAY, ALARM, ALARM], (), ["after = timedelta(1)", "Alarm(after)", "Alarm(after)"]),
        ([Statement(0), DAY, PAUSE], (1,), ["alarm = Alarm()", "pause = timedelta(1)", "alarm.pause = pause"]),
        ([DAY, Statement(3, 0)], (), ["timedelta_2 = timedelta(1)", "timedelta_2.days"]),
        ([Statement(2, args=(Literal("1" * 40),)), ALARM], (), [f"after = timedelta({'1' * 40})", "Alarm(after)"]),
    ],
)
def test_a_short_value_is_written_where_it_is_used_once(
    statements: list[Statement], named: tuple[int, ...], expected: list[str]
) -> None:
    assert render(statements, build(operations=TIMED), named=named).lines == expected


def test_a_value_is_made_before_the_surroundings_change() -> None:
    statements = [DAY, Statement(4, args=(Literal("'TZ'"), Literal("'UTC'"))), ALARM]
    rendered = render(statements, build(operations=TIMED))
    assert rendered.lines[0] == "after = timedelta(1)"
    assert rendered.names == {0: "after"}


def test_a_value_inside_another_call_has_no_lines_and_no_name() -> None:
    rendered = render([DAY, ALARM], build(operations=TIMED), named=[1])
    assert rendered.blocks == ((), ("alarm = Alarm(timedelta(1))",))
    assert rendered.names == {1: "alarm"}
    assert "from datetime import timedelta" in rendered.scope.imports()


def test_names_that_look_like_numbers_are_not_used() -> None:
    operations = (Operation(0, "constructor", "shop", "Cube", "shop.Cube"), Operation(1, "property", "shop", "Cube.l"))
    rendered = render([Statement(0), Statement(1, 0)], build(operations=operations), named=[1])
    assert rendered.names[1] == "result"


def test_a_class_called_error_is_written_with_its_module() -> None:
    assert Scope().text("zlib", "error") == "zlib.error"


def test_reserved_names_builtins_keywords_and_imports_are_not_hidden() -> None:
    names = ["property", "class", "asyncio", "wanted", "mystery", "x"]
    operations = [Operation(0, "constructor", "shop", "Version", "shop.Version", returns=Hint("class", "shop.Version"))]
    operations += [
        Operation(number, "property", "shop", f"Version.{name}", "shop.Version", returns=INT)
        for number, name in enumerate(names, 1)
    ]
    operations += [
        Operation(7, "function", "shop", "mystery"),
        Operation(8, "function", "shop", "wait", drive="await"),
    ]
    subject = build(operations=tuple(operations))
    statements = [Statement(0), *(Statement(number, 0) for number in range(1, 7)), Statement(7), Statement(8)]
    rendered = render(statements, subject, named=range(7), reserved=["wanted"])
    assert [rendered.names[position] for position in range(1, 7)] == [
        "property_",
        "class_",
        "asyncio_2",
        "wanted_2",
        "mystery_2",
        "result",  # `x` is the name of a lambda's parameter
    ]


def test_imports_are_by_name_and_sorted() -> None:
    rendered = render(
        [
            call("wait", Literal("0.0")),
            call("mystery", Name("collections", "OrderedDict")),
            NEW,
            call("mystery", Name("shop", "DEFAULT")),
        ],
        SUBJECT,
    )
    assert rendered.scope.imports() == [
        "import asyncio",
        "from collections import OrderedDict",
        "",
        "from shop import DEFAULT, Version, mystery, wait",
    ]


def test_imports_are_sorted_by_kind_without_case_and_by_number() -> None:
    scope = Scope()
    for name in ("a10", "a2", "Beta", "alpha", "CT_co", "Callable", "MAX", "_LEAST", "_hidden", "X"):
        scope.text("some", name)
    for module in ("m10", "m9", "M", "Zed.sub"):
        scope.module(module)
    scope.text("Aa", "f")
    assert scope.imports(200) == [
        "import M",
        "import m9",
        "import m10",
        "import Zed.sub",
        "from Aa import f",
        "from some import _LEAST, MAX, Beta, Callable, CT_co, X, _hidden, a2, a10, alpha",
    ]


def test_long_imports_are_wrapped() -> None:
    scope = Scope()
    for number in range(12):
        scope.text("some.long.module", f"function_{number:02}")
    assert scope.imports()[:2] == ["from some.long.module import (", "    function_00,"]
    assert scope.imports()[-1] == ")"


@pytest.mark.parametrize(
    ("module", "qualname", "text", "imports"),
    [
        ("builtins", "int", "int", []),
        ("shop", "Cart.Item", "Cart.Item", ["from shop import Cart"]),
        ("shop", "open", "shop.open", ["import shop"]),
        ("shop", "test_connection", "shop.test_connection", ["import shop"]),
        ("shop", "TestBed.run", "shop.TestBed.run", ["import shop"]),
        ("a.b", "f", "f", ["from a.b import f"]),
        ("a.b", "filter", "a.b.filter", ["import a.b"]),
        ("shop", "pytest", "shop.pytest", ["import shop"]),
        ("int", "abs", "int_module.abs", ["import int as int_module"]),
    ],
)
def test_what_would_hide_a_builtin_or_be_collected_is_imported_with_its_module(
    module: str, qualname: str, text: str, imports: list[str]
) -> None:
    scope = Scope(frozenset({"pytest"}))
    assert scope.text(module, qualname) == text
    assert scope.text(module, qualname) == text
    assert scope.imports() == imports


def test_equal_names_of_two_modules_stay_apart() -> None:
    scope = Scope()
    assert scope.text("a", "Item") == "Item"
    assert scope.text("b", "Item") == "b.Item"
    assert scope.imports() == ["import b", "from a import Item"]


def test_a_module_called_like_an_imported_name_gets_another() -> None:
    scope = Scope()
    assert scope.text("datetime", "datetime") == "datetime"
    assert scope.module("datetime") == "datetime_module"
    assert scope.imports() == ["import datetime as datetime_module", "from datetime import datetime"]


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("Version", "version"),
        ("HTTPServer", "http_server"),
        ("CartItem", "cart_item"),
        ("_Private", "private"),
        ("A1B", "a1_b"),
    ],
)
def test_names_of_classes_in_snake_case(name: str, snake: str) -> None:
    assert snake_case(name) == snake


# Layout


def test_arguments_move_to_a_line_of_their_own() -> None:
    piece = Bracket("function(", ("first_argument", "second_argument"), ")", call=True)
    assert laid_out(piece, 40) == ["function(", "    first_argument, second_argument", ")"]


def test_arguments_that_do_not_fit_on_one_line_get_one_each() -> None:
    piece = Bracket("function(", ("first_argument", "second_argument"), ")", call=True)
    assert laid_out(piece, 30) == ["function(", "    first_argument,", "    second_argument,", ")"]


def test_items_of_a_literal_get_a_line_each_at_once() -> None:
    assert laid_out(Bracket("[", ("1000", "2000"), "]"), 10) == ["[", "    1000,", "    2000,", "]"]


def test_parentheses_that_only_a_broken_line_needs() -> None:
    piece = Bracket("lambda x: (", ("'some text'",), ")", optional=True)
    assert flat(piece) == "lambda x: 'some text'"
    assert laid_out(piece, 16) == ["lambda x: (", "    'some text'", ")"]


def test_a_long_key_is_broken_before_its_value() -> None:
    piece = Bracket("{", (Pair(Bracket("(", ("1000", "2000"), ")"), "3000"),), "}")
    assert laid_out(piece, 16) == ["{", "    (", "        1000,", "        2000,", "    ): 3000,", "}"]


def test_wide_characters_count_twice() -> None:
    assert columns("a中😀e\u0301") == 6
    assert len(laid_out(Bracket("f(", ('"中中中中"',), ")", call=True), 12)) == 3


@given(st.integers(10, 60), st.lists(st.sampled_from(["1", "22", "names", "'text'"]), min_size=1, max_size=6))
def test_breaking_lines_keeps_the_tokens(width: int, items: list[str]) -> None:
    piece = Bracket("f(", (Bracket("[", tuple(items), "]"), *items), ")", call=True)
    broken = "".join(line.strip() for line in laid_out(piece, width))
    assert broken.replace(",", "").replace(" ", "") == flat(piece).replace(",", "").replace(" ", "")


# The whole


def file_text(seed: int, tests: int) -> str:
    """A test file from random test cases, as the exporter would write it."""
    factory, rng = TestFactory(SUBJECT, StatementTable()), np.random.default_rng(seed)
    scope = Scope(frozenset({"pytest"}))
    parts = []
    for number in range(tests):
        testcase = factory.random_test(rng)
        for _ in range(int(rng.integers(5))):
            testcase = factory.mutate(testcase, rng)
        rendered = render(factory.table.statements(testcase), SUBJECT, scope, named=[len(testcase) - 1])
        body = ["    " + line if line else "" for line in rendered.lines]
        parts.append("\n".join([f"def test_{number}():", *body]))
    return "\n\n\n".join(["\n".join(scope.imports()), *parts]) + "\n"


@pytest.fixture
def shop() -> Iterator[types.ModuleType]:
    module = types.ModuleType("shop")
    exec(SOURCE, vars(module))
    sys.modules["shop"] = module
    yield module
    del sys.modules["shop"]


@given(SEEDS)
@settings(max_examples=60)
def test_whatever_is_rendered_compiles(seed: int) -> None:
    compile(file_text(seed, 3), "rendered", "exec")


def test_rendered_tests_fail_only_inside_what_they_call(shop: types.ModuleType) -> None:
    """Names are bound before they are used and mean what they should: running raises no NameError."""
    namespace: dict[str, Any] = {}
    exec(compile(file_text(0, 150), "rendered", "exec"), namespace)
    ran = 0
    for name in [name for name in namespace if name.startswith("test_")]:
        try:
            namespace[name]()
            ran += 1
        except (TypeError, ValueError, AttributeError):  # ill-typed arguments on purpose
            continue
    assert ran > 100


def test_rendered_files_are_already_formatted(tmp_path: Path) -> None:
    ruff = shutil.which("ruff", path=str(Path(sys.executable).parent))
    if ruff is None:
        pytest.skip("ruff is not installed beside this interpreter")
    path = tmp_path / "test_rendered.py"
    path.write_text(file_text(1, 300), encoding="utf-8")
    command = [ruff, "format", "--isolated", "--no-cache", "--diff", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == ""
    checked = subprocess.run(
        [ruff, "check", "--isolated", "--no-cache", "--select", "E9,F,I", "--ignore", "F811,F841", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert checked.returncode == 0, checked.stdout


def test_the_same_test_is_rendered_the_same_way() -> None:
    assert file_text(5, 5) == file_text(5, 5)


def test_no_builtin_is_ever_hidden() -> None:
    bound = {line.split(" = ")[0].strip() for line in file_text(2, 100).splitlines() if " = " in line}
    assert not {name for name in bound if name.isidentifier()} & set(dir(builtins))


def test_the_fixture_module_has_what_the_subject_describes() -> None:
    module = types.ModuleType("shop")
    exec(SOURCE, vars(module))
    for operation in SUBJECT.operations:
        if operation.kind not in ("setter", "operator"):
            owner: Any = module
            for part in operation.name.split("."):
                owner = getattr(owner, part)
    installed = [folder for folder in sys.path if "site-packages" in folder]
    assert PathFinder.find_spec("shop", installed) is None


def test_a_holder_of_attributes_is_named_after_the_parameter_that_it_is_given_for() -> None:
    namespace = Hint("class", "types.SimpleNamespace", (INT,), ("level",))
    subject = build(
        operations=(
            Operation(
                0,
                "constructor",
                "types",
                "SimpleNamespace",
                namespace.name,
                (Parameter("level", "keyword_only", INT),),
                namespace,
                under_test=False,
            ),
            Operation(
                1, "function", "shop", "command", parameters=(Parameter("options", "positional_or_keyword", namespace),)
            ),
        )
    )
    made, used = Statement(0, -1, (), (("level", ONE),)), Statement(1, -1, (Ref(0),))
    assert lines(made, used, subject=subject) == ["options = SimpleNamespace(level=1)", "command(options)"]
    assert lines(made, subject=subject, named=[0]) == ["simple_namespace = SimpleNamespace(level=1)"]


# Subclasses that a test makes

HOOKS = (
    Parameter("area", "keyword_only", ANY, hook="def area(self, unit='m'):"),
    Parameter("limit", "keyword_only", ANY, False, hook="limit ="),
    Parameter("name", "keyword_only", ANY, False, hook="@property\ndef name(self):"),
)
SHAPES = Subject(
    **{
        **{field: getattr(SUBJECT, field) for field in ("reference", "source", "sites", "functions", "branches")},
        "dependences": SUBJECT.dependences,
        "operations": (
            Operation(
                0, "constructor", "shop", "Shape", "shop.Shape", (Parameter("unit", "keyword_only", ANY), *HOOKS)
            ),
            Operation(1, "function", "shop", "area", "", (Parameter("a", "positional_only", ANY),)),
            Operation(2, "function", "shop", "limit"),
        ),
        "classes": {},
    }
)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([Statement(0, kwargs=(("unit", ONE),))], "Shape(unit=1)"),
        (
            [Statement(0, kwargs=(("unit", ONE), ("area", TWO)))],
            'class ConcreteShape(Shape):\n    def area(self, unit="m"):\n        return 2\n\nConcreteShape(unit=1)',
        ),
        (
            [Statement(0, kwargs=(("area", TWO), ("limit", ONE), ("name", Literal("'a'"))))],
            'class ConcreteShape(Shape):\n    limit = 1\n\n    def area(self, unit="m"):\n        return 2\n\n'
            '    @property\n    def name(self):\n        return "a"\n\nConcreteShape()',
        ),
        # the variables of a test have other names than attributes in the body of its class
        (
            [Statement(2), Statement(0, kwargs=(("limit", Ref(0)),))],
            "result = limit()\n\nclass ConcreteShape(Shape):\n    limit = result\n\nConcreteShape()",
        ),
        (
            [
                Statement(0, kwargs=(("limit", ONE),)),
                Statement(0, kwargs=(("limit", TWO),)),
                Statement(1, args=(Ref(0),)),
            ],
            "class ConcreteShape(Shape):\n    limit = 1\n\nshape = ConcreteShape()\n\n"
            "class ConcreteShape_2(Shape):\n    limit = 2\n\nConcreteShape_2()\narea(shape)",
        ),
    ],
)
def test_a_subclass_is_defined_before_its_call(statements: list[Statement], expected: str) -> None:
    assert "\n".join(lines(*statements, subject=SHAPES)).strip() == expected
