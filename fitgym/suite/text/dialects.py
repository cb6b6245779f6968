"""Dialects: write tests as functions for pytest or as classes for unittest."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from fitgym.errors import InputError
from fitgym.messages.observation import Observation
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.messages import pattern
from fitgym.suite.text.environment import Environment
from fitgym.suite.text.expressions import literal_source
from fitgym.suite.text.layout import Bracket, Pair, Piece, columns, flat, indented, laid_out, prefixed
from fitgym.suite.text.scope import Scope
from fitgym.testcase.expression import Collection, Expression, Literal, Name

__all__ = ["DIALECTS", "WIDTH", "Captures", "Dialect", "Pytest", "Table", "Unittest", "dialect"]

WIDTH = 88  # default line length of black and ruff


class Captures(NamedTuple):
    """How a test obtains its output.

    Attributes:
        before: lines at the beginning of the test.
        after: lines before its checks.
        values: source of each part of the output, by the kind of fact.
    """

    before: list[str]
    after: list[str]
    values: Mapping[str, str]


class Table(NamedTuple):
    """The cases of a test as source.

    Attributes:
        parameters: their names.
        rows: for each case the values of the parameters; without rows the test runs once.
    """

    parameters: tuple[str, ...] = ()
    rows: tuple[tuple[Piece, ...], ...] = ()


class Dialect(Environment, Protocol):
    """The style of tests for one framework.

    Attributes:
        tabular: whether a test can have several cases.
        body: maximal length of a line of a test's body.
        reserved: names that variables and imports must not use.
    """

    tabular: bool
    body: int
    reserved: frozenset[str]

    def modules(self, tests: Sequence[FinishedTest]) -> list[str]:
        """Return the modules that the tests need besides the code that they call."""

    def expected(self, test: FinishedTest, scope: Scope) -> list[str]:
        """Return the head of the block that must raise."""

    def warns(self, fact: Observation, scope: Scope) -> list[str]:
        """Return the head of the block that must give a warning."""

    def check(self, value: str, fact: Observation, expected: Piece, scope: Scope) -> list[str]:
        """Return the lines that check one fact.

        Args:
            value: source of the value that the fact is about.
            fact: what is checked.
            expected: the fact's expression as source.
            scope: of the file.
        """

    def holds(self, condition: str) -> list[str]:
        """Return the lines that check a condition."""

    def captures(self, facts: Sequence[Observation], scope: Scope) -> Captures:
        """Return how a test obtains the parts of its output that these facts are about."""

    def own_folder(self) -> list[str]:
        """Return the lines at the beginning of a test that switch to a temporary folder."""

    def requires(self, package: str, scope: Scope, whole: bool = False) -> list[str]:
        """Return the lines that skip a test, or the whole file, if a package is not installed.

        Args:
            package: its top-level name.
            scope: of the file.
            whole: for lines before the import of the code under test, not for the beginning of a test.
        """

    def function(self, test: FinishedTest, body: Sequence[str], cases: Table, scope: Scope) -> list[str]:
        """Return the lines of a test.

        Args:
            test: what to write.
            body: the lines of the body.
            cases: the names of its parameters and their values for each case.
            scope: of the file.
        """

    def groups(self, groups: Sequence[tuple[str, list[list[str]]]], headed: bool = False) -> list[str]:
        """Return the blocks of the file, to be separated by two blank lines.

        Args:
            groups: operations under test, each with the lines of its tests.
            headed: write a heading for each operation even if it has few tests.
        """


class Pytest(Dialect):
    """Plain functions, `assert` and `pytest.raises`; with many tests, the tests of each operation get a heading."""

    tabular = True
    body = WIDTH - 4
    reserved = frozenset({"caplog", "capsys", "captured", "monkeypatch", "tmp_path"})

    def modules(self, tests: Sequence[FinishedTest]) -> list[str]:
        kinds = {fact.kind for test in tests for fact in test.assertions}
        has_blocks = any(test.raises is not None or test.cases.rows or test.packages for test in tests)
        needs_pytest = has_blocks or "approx" in kinds or "warned" in kinds
        return ["pytest"] * needs_pytest + ["math"] * ("nan" in kinds)

    def expected(self, test: FinishedTest, scope: Scope) -> list[str]:
        assert test.raises is not None
        error = scope.text(test.raises.module, test.raises.qualname)
        match = (f"match={pattern_source(test.match)}",) if test.match else ()
        return laid_out(Bracket(f"with {scope.module('pytest')}.raises(", (error, *match), "):", call=True), self.body)

    def warns(self, fact: Observation, scope: Scope) -> list[str]:
        category, text = _warning(fact, scope)
        match = (f"match={pattern_source(text)}",) if text else ()
        return laid_out(
            Bracket(f"with {scope.module('pytest')}.warns(", (category, *match), "):", call=True), self.body
        )

    def check(self, value: str, fact: Observation, expected: Piece, scope: Scope) -> list[str]:
        match fact.kind:
            case "nan":
                return self._asserted(Bracket(f"{scope.module('math')}.isnan(", (value,), ")", call=True))
            case "isinstance":
                return self._asserted(Bracket("isinstance(", (value, expected), ")", call=True))
            case "is" | "is not":
                return self._compared(value, fact.kind, expected)
            case "truth":
                return self.holds(value if fact.expression == Literal("True") else f"not {value}")
            case "approx":
                about = Bracket(f"{scope.module('pytest')}.approx(", (expected,), ")", call=True)
                return self._compared(value, "==", about)
            case "length" | "text" | "list":
                return self._compared(f"{_VIEWS[fact.kind]}({value})", "==", expected)
            case "equal" | "stdout" | "stderr" if columns(f"assert {value} == (") <= self.body and (
                parts := _pieces(fact.expression, self.body - 4)
            ):
                return [f"assert {value} == (", *indented(parts), ")"]
            case _:
                return self._compared(value, "==", expected)

    def holds(self, condition: str) -> list[str]:
        return [f"assert {condition}"]

    def captures(self, facts: Sequence[Observation], scope: Scope) -> Captures:
        kinds = {fact.kind for fact in facts}
        values = {"logged": "caplog.messages"}
        before = ['caplog.set_level("WARNING")'] if "logged" in kinds else []  # a project may have set another one
        if kinds >= {"stdout", "stderr"}:  # reading empties both
            values |= {"stdout": "captured.out", "stderr": "captured.err"}
            return Captures(before, ["captured = capsys.readouterr()"], values)
        values |= {"stdout": "capsys.readouterr().out", "stderr": "capsys.readouterr().err"}
        return Captures(before, [], values)

    def variable(self, name: Piece, value: Piece, scope: Scope, width: int) -> list[str]:
        return laid_out(Bracket("monkeypatch.setenv(", (name, value), ")", call=True), width)

    def replaced(self, place: str, value: Piece, scope: Scope, width: int) -> list[str]:
        return laid_out(Bracket("monkeypatch.setattr(", (f'"{place}"', value), ")", call=True), width)

    def own_folder(self) -> list[str]:
        return ["monkeypatch.chdir(tmp_path)"]

    def requires(self, package: str, scope: Scope, whole: bool = False) -> list[str]:
        return [f'{scope.module("pytest")}.importorskip("{package}")']

    def function(self, test: FinishedTest, body: Sequence[str], cases: Table, scope: Scope) -> list[str]:
        kinds = {fact.kind for fact in test.assertions}
        arguments = (
            *cases.parameters,
            *(("tmp_path",) if test.writes else ()),
            *(("monkeypatch",) if test.writes or test.surroundings else ()),
            *(("capsys",) if kinds & {"stdout", "stderr"} else ()),
            *(("caplog",) if "logged" in kinds else ()),
        )
        marks = self._parametrized(cases, scope) if cases.rows else []
        if not arguments:
            return [f"def {test.name}():", *indented(body)]
        head = laid_out(Bracket(f"def {test.name}(", arguments, "):", call=True), WIDTH)
        return [*marks, *head, *indented(body)]

    def _parametrized(self, cases: Table, scope: Scope) -> list[str]:
        """Return the mark with the cases: on one line if they are short values of one parameter, else one per line."""
        head = f"@{scope.module('pytest')}.mark.parametrize("
        names = [f'"{name}"' for name in cases.parameters]
        if len(names) == 1:
            values = [flat(value) for (value,) in cases.rows]
            line = f"{head}{names[0]}, [{', '.join(values)}])"
            if columns(line) <= WIDTH:
                return [line]
            first = f"{names[0]},"
        else:
            values = [f"({', '.join(map(flat, row))})" for row in cases.rows]
            first = f"({', '.join(names)}),"
        return [head, f"    {first}", "    [", *(f"        {value}," for value in values), "    ],", ")"]

    def groups(self, groups: Sequence[tuple[str, list[list[str]]]], headed: bool = False) -> list[str]:
        blocks = []
        number = sum(len(functions) for _, functions in groups)
        for heading, functions in groups:
            if headed or (
                2 * len(groups) <= number and len(groups) > 1
            ):  # else there would be almost as many headings as tests
                blocks.append(f"# {heading}")
            blocks += ["\n".join(lines) for lines in functions]
        return blocks

    def _asserted(self, condition: Piece) -> list[str]:
        return laid_out(prefixed("assert ", condition), self.body)

    def _compared(self, left: str, operator: str, right: Piece) -> list[str]:
        """Return `assert left operator right`, broken if it is too long.

        If the right side has a bracket, it is opened; otherwise the comparison is put in parentheses.
        """
        whole = f"assert {left} {operator} {flat(right)}"
        if columns(whole) <= self.body:
            return [whole]
        if (
            isinstance(right, Bracket)
            and right.items
            and columns(f"assert {left} {operator} {right.head}") <= self.body
        ):
            return laid_out(prefixed(f"assert {left} {operator} ", right), self.body)
        inner = f"{left} {operator} {flat(right)}"
        if columns(inner) + 4 <= self.body:
            return ["assert (", f"    {inner}", ")"]
        return ["assert (", f"    {left}", *indented(laid_out(prefixed(f"{operator} ", right), self.body - 4)), ")"]


class Unittest(Dialect):
    """A class of unittest for each operation; needs only the standard library.

    Floats from 1e-3 to 1e6 are compared with 7 decimal places, others with a relative tolerance of 1e-6; containers of
    floats are compared exactly.
    """

    tabular = False
    body = WIDTH - 8
    reserved = frozenset({"folder", "logs", "self", "stderr", "stdout"})

    def modules(self, tests: Sequence[FinishedTest]) -> list[str]:
        facts = [fact for test in tests for fact in test.assertions]
        needs_math = any(
            fact.kind == "nan" or (fact.kind == "approx" and _is_extreme(fact.expression)) for fact in facts
        )
        writes = ["contextlib", "tempfile"] if any(test.writes for test in tests) else []
        prints = ["contextlib", "io"] if any(fact.kind in ("stdout", "stderr") for fact in facts) else []
        return list(dict.fromkeys(["unittest", *(["math"] * needs_math), *writes, *prints]))

    def expected(self, test: FinishedTest, scope: Scope) -> list[str]:
        assert test.raises is not None
        error = scope.text(test.raises.module, test.raises.qualname)
        if not test.match:
            return laid_out(Bracket("with self.assertRaises(", (error,), "):", call=True), self.body)
        items = (error, pattern_source(test.match))
        return laid_out(Bracket("with self.assertRaisesRegex(", items, "):", call=True), self.body)

    def warns(self, fact: Observation, scope: Scope) -> list[str]:
        category, text = _warning(fact, scope)
        name, items = ("Warns", (category,)) if not text else ("WarnsRegex", (category, pattern_source(text)))
        return laid_out(Bracket(f"with self.assert{name}(", items, "):", call=True), self.body)

    def check(self, value: str, fact: Observation, expected: Piece, scope: Scope) -> list[str]:
        match fact.kind:
            case "nan":
                return self._called("True", Bracket(f"{scope.module('math')}.isnan(", (value,), ")", call=True))
            case "isinstance":
                return self._called("IsInstance", value, expected)
            case "truth":
                return self.holds(value if fact.expression == Literal("True") else f"not {value}")
            case "is" if expected == "None":
                return self._called("IsNone", value)
            case "is":
                return self._called("Is", value, expected)
            case "is not" if expected == "None":
                return self._called("IsNotNone", value)
            case "is not":
                return self._called("IsNot", value, expected)
            case "approx" if _is_extreme(fact.expression):
                items = (value, expected, "rel_tol=1e-6")
                return self._called("True", Bracket(f"{scope.module('math')}.isclose(", items, ")", call=True))
            case "approx" if isinstance(fact.expression, Literal):
                return self._called("AlmostEqual", value, expected)
            case "length" | "text" | "list":
                return self._called("Equal", f"{_VIEWS[fact.kind]}({value})", expected)
            case "equal" | "stdout" | "stderr" if parts := _pieces(fact.expression, self.body - 5):
                return ["self.assertEqual(", *indented([f"{value},", *parts[:-1], f"{parts[-1]},"]), ")"]
            case _:
                return self._called("Equal", value, expected)

    def holds(self, condition: str) -> list[str]:
        if condition.startswith("not "):
            return self._called("False", condition.removeprefix("not "))
        return self._called("True", condition)

    def captures(self, facts: Sequence[Observation], scope: Scope) -> Captures:
        kinds = {fact.kind for fact in facts}
        streams = [kind for kind in ("stdout", "stderr") if kind in kinds]
        before = [
            f"{stream} = self.enterContext({scope.module('contextlib')}.redirect_{stream}({scope.module('io')}.StringIO()))"
            for stream in streams
        ]
        if "logged" in kinds:
            before.append('logs = self.enterContext(self.assertLogs(level="WARNING"))')
        values = {"stdout": "stdout.getvalue()", "stderr": "stderr.getvalue()"}
        return Captures(before, [], {**values, "logged": "[record.getMessage() for record in logs.records]"})

    def variable(self, name: Piece, value: Piece, scope: Scope, width: int) -> list[str]:
        return self._patched(".dict", '"os.environ"', Bracket("{", (Pair(name, value),), "}"), scope, width)

    def replaced(self, place: str, value: Piece, scope: Scope, width: int) -> list[str]:
        return self._patched("", f'"{place}"', value, scope, width)

    def _patched(self, how: str, place: str, value: Piece, scope: Scope, width: int) -> list[str]:
        patch = Bracket(f"{scope.module('unittest.mock')}.patch{how}(", (place, value), ")", call=True)
        return laid_out(Bracket("self.enterContext(", (patch,), ")", call=True), width)

    def own_folder(self) -> list[str]:
        return [
            "folder = self.enterContext(tempfile.TemporaryDirectory())",
            "self.enterContext(contextlib.chdir(folder))",
        ]

    def requires(self, package: str, scope: Scope, whole: bool = False) -> list[str]:
        missing = f'{scope.module("importlib.util")}.find_spec("{package}") is None'
        skip = f"raise {scope.module('unittest')}.SkipTest" if whole else "self.skipTest"
        return [f"if {missing}:", f'    {skip}("{package} is not installed")']

    def function(self, test: FinishedTest, body: Sequence[str], cases: Table, scope: Scope) -> list[str]:
        return [f"def {test.name}(self):", *indented(body)]

    def groups(self, groups: Sequence[tuple[str, list[list[str]]]], headed: bool = False) -> list[str]:
        blocks = []
        taken: set[str] = set()
        for heading, functions in groups:
            name = "Test" + "".join(word[:1].upper() + word[1:] for word in re.split(r"\W+|_", heading))
            while name in taken:
                name += "_"
            taken.add(name)
            methods = "\n\n".join("\n".join(indented(lines)) for lines in functions)
            blocks.append(f"class {name}(unittest.TestCase):\n{methods}")
        return [*blocks, 'if __name__ == "__main__":\n    unittest.main()']

    def _called(self, name: str, *items: Piece) -> list[str]:
        return laid_out(Bracket(f"self.assert{name}(", items, ")", call=True), self.body)


DIALECTS: dict[str, Dialect] = {"pytest": Pytest(), "unittest": Unittest()}

_VIEWS = {"length": "len", "text": "str", "list": "list"}


def dialect(name: str) -> Dialect:
    """Return the dialect of that name.

    Raises:
        InputError: there is no such dialect.
    """
    if name not in DIALECTS:
        raise InputError(f"no format named '{name}' (there are: {', '.join(DIALECTS)})")
    return DIALECTS[name]


def pattern_source(pattern: str) -> str:
    """Return a regular expression as source: a raw string if it has backslashes and can be one."""
    plain = literal_source(repr(pattern))
    if "\\" not in pattern or not pattern.isprintable() or pattern.endswith("\\"):
        return plain
    for quote in ('"', "'"):
        if quote not in pattern:
            return f"r{quote}{pattern}{quote}"
    return plain


def _pieces(expression: Expression, room: int) -> list[str]:
    """Return a text that is too long for a line as literals of at most `room` columns; none for other values.

    A piece ends after a newline, else after the last space.
    """
    if not isinstance(expression, Literal) or columns(literal_source(expression.text)) <= room:
        return []
    value = ast.literal_eval(expression.text)
    if not isinstance(value, str):
        return []
    pieces = []
    for line in value.splitlines(keepends=True):
        while columns(literal_source(repr(line))) > room:
            size = room - 2
            while columns(literal_source(repr(line[:size]))) > room:
                size -= 1
            size = line.rfind(" ", size // 2, size) + 1 or size
            pieces.append(line[:size])
            line = line[size:]
        pieces.append(line)
    return [literal_source(repr(piece)) for piece in pieces]


def _warning(fact: Observation, scope: Scope) -> tuple[str, str]:
    """Return the source of the class of an expected warning, and a pattern for its text, "" if any text will do."""
    assert isinstance(fact.expression, Collection)
    category, text = fact.expression.items
    assert isinstance(category, Name) and isinstance(text, Literal)
    return scope.text(category.module, category.qualname), pattern(ast.literal_eval(text.text))


def _is_extreme(expression: Expression) -> bool:
    """Return whether a number is too small or too large to be compared with 7 decimal places."""
    if not isinstance(expression, Literal):
        return False
    size = abs(ast.literal_eval(expression.text))
    return bool(size) and not 1e-3 <= size < 1e6
