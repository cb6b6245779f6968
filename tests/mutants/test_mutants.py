"""The list of mutants: tables of tiny programs with all of their mutants, and properties of all lists."""

from __future__ import annotations

import ast
import importlib.util
import os
import pickle
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import every

from fitgym.mutants.generation import Mutants, mutants
from fitgym.mutants.mutant import PRECEDENCE, Mutant
from fitgym.mutants.mutation import difference, mutated, mutated_text
from fitgym.mutants.replacements import arithmetic, literals, relational, subsuming


def of_body(body: str, parameters: str = "a, b") -> Mutants:
    """The mutants of a function with this body."""
    return mutants(f"def f({parameters}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n")


def changes(found: Mutants, *operators: str) -> list[tuple[str, str]]:
    """Operator and new text of each mutant, of these operators only."""
    return [(one.operator, one.text) for one in found if not operators or one.operator in operators]


# The body of a function of `a` and `b`, and the new texts by operator.
RELATIONAL = [
    ("return a < b", ["a <= b", "a != b", "a < b and False"]),
    ("return a <= b", ["a < b", "a == b", "a <= b or True"]),
    ("return a > b", ["a >= b", "a != b", "a > b and False"]),
    ("return a >= b", ["a > b", "a == b", "a >= b or True"]),
    ("return a == b", ["a >= b", "a <= b", "a == b and False"]),
    ("return a != b", ["a < b", "a > b", "a != b or True"]),
    ("return a in b", ["a not in b"]),
    ("return a not in b", ["a in b"]),
    ("return a is b", ["a is not b"]),
    ("return a is not b", ["a is b"]),
    ("return a == None", ["a != None"]),
    ("return a != {}", ["a == {}"]),
    ("return a < 1 < b", ["a <= 1 < b", "a != 1 < b", "a < 1 <= b", "a < 1 != b"]),
    ("return not (a < b)", ["a <= b", "a != b", "(a < b and False)"]),
    ("return len(a) > 0", ["len(a) >= 0", "len(a) > 0 and False"]),
    ("return len(a) == 0", ["len(a) >= 0", "len(a) == 0 and False"]),
    ("return 0 != len(a)", ["0 > len(a)", "0 != len(a) or True"]),
    ("return 0 < len(a)", ["0 <= len(a)", "0 < len(a) and False"]),
    ("return (a  # first\n    ) is \\\n  not b", ["(a  # first\n    ) is b"]),
]


@pytest.mark.parametrize(("body", "expected"), RELATIONAL, ids=[body for body, _ in RELATIONAL])
def test_comparisons_are_replaced_by_the_subsuming_ones(body: str, expected: list[str]) -> None:
    source = f"def f(a, b):\n    {body}\n"
    found = [one.text for one in mutants(source) if one.operator == "relational"]
    assert found == expected


ARITHMETIC = [
    ("return a + b", ["a * b", "a - b", "a / b", "a // b", "a % b", "a ** b"]),
    ("return a / b", ["a * b", "a - b", "a + b", "a // b", "a % b", "a ** b"]),
    ("return a & b", ["a | b", "a ^ b", "a << b", "a >> b"]),
    ("return a >> b", ["a << b", "a & b", "a | b", "a ^ b"]),
    ("a -= b", ["a *= b", "a += b", "a /= b", "a //= b", "a %= b", "a **= b"]),
    ("return a + 0", ["a * 0", "a / 0", "a // 0", "a % 0", "a ** 0"]),
    ("return a * 1", ["a + 1", "a - 1", "a / 1", "a // 1", "a % 1"]),
    ("return a << 0", ["a & 0", "a | 0", "a ^ 0"]),
    ("return a @ b", []),
    ("return 'x' + a", []),
    ("return [a] * b", []),
    ("return f'{a + b}'", []),
    ("a[1:] += b", []),
]


@pytest.mark.parametrize(("body", "expected"), ARITHMETIC, ids=[body for body, _ in ARITHMETIC])
def test_operators_of_arithmetic_are_replaced_by_those_of_their_family(body: str, expected: list[str]) -> None:
    assert [text for _, text in changes(of_body(body), "arithmetic")] == expected


def test_a_replaced_operator_keeps_its_operands() -> None:
    found = {(one.original, one.replacement): one.text for one in of_body("return a - b * 2 ** a")}
    assert found["-", "+"] == "a + b * 2 ** a"
    assert found["-", "*"] == "a * (b * 2 ** a)", "the product stays the right operand"
    assert found["*", "+"] == "(b + (2 ** a))", "the sum becomes it"
    assert found["**", "*"] == "(2 * a)"


LOGICAL = [
    ("return a and b", [("logical", "a or b")]),
    ("return a or b or f", [("logical", "a and b and f")]),
    ("return not a", [("logical", "a")]),
    ("return not(a)", [("logical", "(a)")]),
]


@pytest.mark.parametrize(("body", "expected"), LOGICAL, ids=[body for body, _ in LOGICAL])
def test_connectives_are_exchanged_and_negations_left_out(body: str, expected: list[tuple[str, str]]) -> None:
    assert changes(of_body(body), "logical") == expected


CONSTANTS = [
    ("return 7", ["0", "8", "6", "1", "-1"]),
    ("return 0", ["1"]),
    ("return 1", ["0"]),
    ("return 2", ["0", "3", "1", "-1"]),
    ("return -1", ["0", "-2", "1"]),
    ("return 2.5", ["0.0", "3.5", "1.5", "1.0", "-1.0"]),
    ("return 1e300", ["0.0", "1.0", "-1.0"]),
    ("return 'text'", ["''"]),
    ("return ''", ["'fitgym'"]),
    ("return b'x'", ["b''"]),
    ("return True", ["False"]),
    ("return f(None)", ["False"]),
    ("return a is None", []),
    ("return a ** 3", ["0", "4", "2", "1", "(-1)"]),
    ("return a if b else'x'", [" ''"]),
    ("return a[1:]", ["0"]),
    ("return f'{a} of {3}'", ["f' of {3}'", "f'{a}{3}'", "f'{a} of '"]),
    ("return f'{a!r:>4}{b!s}'", ["f'{b!s}'", "f'{a}{b!s}'", "f'{a!r:>4}'"]),
    ("return f'{a if b else c}'", ["f''", "f'{a}'", "f'{c}'"]),
    ("return f'{a or b}'", ["f''", "f'{a}'", "f'{b}'"]),
    (
        "return f'{a[1:]}{f(b)}{f(*c)}'",
        ["f'{f(b)}{f(*c)}'", "f'{a}{f(b)}{f(*c)}'", *(f"f'{{a[1:]}}{x}'" for x in ("{f(*c)}", "{b}{f(*c)}", "{f(b)}"))],
    ),
    ("return ('a'\n  f'{b}')", ["(f'{b}'\n)", "(f'a'\n)"]),
    ("raise ValueError(f'{a} of {3}')", []),
    ("raise ValueError('text')", []),
    ("raise ValueError(5)", ["0", "6", "4", "1", "-1"]),
    ("assert a, 'text'", []),
    ("log.warning('text %s', 3)", ["0", "4", "2", "1", "-1"]),
    ("warnings.warn('text', stacklevel=2)", []),
    ("while True: f()", []),
    ("x: 'int' = a", []),
    ("'a remark'; return a", []),
]


@pytest.mark.parametrize(("body", "expected"), CONSTANTS, ids=[body for body, _ in CONSTANTS])
def test_literals_are_replaced(body: str, expected: list[str]) -> None:
    assert [text for _, text in changes(of_body(body), "constant")] == expected


UNARY = [
    ("return a < f", ["-a", "a + 1", "a - 1", "-f", "f + 1", "f - 1"]),
    ("return a < 5", ["-a"]),
    ("return a == 5", []),
    ("return a + 5", ["(-a)"]),
    ("return a * 5", ["(-a)", "(a + 1)", "(a - 1)"]),
    ("return a % 'x'", []),
    ("return f[a:]", ["-a", "a + 1", "a - 1"]),
    ("return f[a]", []),
    ("return f(a)", []),
    ("return range(a)", ["-a", "a + 1", "a - 1"]),
    ("return a.n - b", ["(-a.n)", "(a.n + 1)", "(a.n - 1)", "(-b)", "(b + 1)", "(b - 1)"]),
    ("if a: f()", ["not a"]),
    ("if not a: f()", []),
    ("return b if f(a) else 0", ["not f(a)"]),
    ("return [x for x in a if x]", ["not x"]),
    ("while (x := f()): f(x)", ["not (x := f())"]),
]


@pytest.mark.parametrize(("body", "expected"), UNARY, ids=[body for body, _ in UNARY])
def test_numbers_change_their_sign_or_by_one_and_conditions_are_negated(body: str, expected: list[str]) -> None:
    assert [text for _, text in changes(of_body(body), "unary")] == expected


def test_a_parameter_that_is_declared_a_number_changes_wherever_it_is_used() -> None:
    found = of_body("return g(a)", "a: int")
    assert [text for _, text in changes(found, "unary")] == ["-a", "a + 1", "a - 1"]
    assert changes(of_body("if a: g()", "a: int"), "unary") == [
        ("unary", "not a"),
        ("unary", "a + 1"),
        ("unary", "a - 1"),
    ]


VARIABLES = [
    ("return g(a)", ["b"]),
    ("x = 1; y = 2; return g(a)", ["y", "x"]),
    ("x = a; return g(x)", ["b", "b", "a"]),
    ("if a: x = 1\nreturn g(a)", ["b", "b"]),
    ("if a: x = 1\nelse: x = 2\nreturn g(b)", ["b", "x", "a"]),
    ("del a\nreturn g(b)", []),
    ("try:\n    x = g()\nexcept E as e:\n    return g(b)\nreturn g(b)", ["a", "a"]),
    ("for x in a:\n    g(b)\nreturn g(b)", ["b", "x", "a", "a"]),
    ("global a\nx = ''\ny = []\nreturn g(x)", ["b"]),
    ("return [g(a) for x in b]", []),
    ("return a.x + a()", []),
    ("x = b\nif (x := g()): h()", ["a"]),
]


@pytest.mark.parametrize(("body", "expected"), VARIABLES, ids=[body for body, _ in VARIABLES])
def test_variables_are_replaced_by_others_that_certainly_have_a_value(body: str, expected: list[str]) -> None:
    parameters = "b" if body.startswith("global") else "a, b"
    assert [text for _, text in changes(of_body(body, parameters), "variable")] == expected


def test_the_object_of_a_method_is_no_variable() -> None:
    found = mutants("class C:\n    def m(self, a, b):\n        return g(self, a)\n")
    assert [(one.function, one.text) for one in found if one.operator == "variable"] == [("C.m", "b")]


CALLS = [
    ("return a.title()", ["a"]),
    ("return a.lower()", ["a", "a.upper()"]),
    ("return a.strip().upper()", ["a", "a.lstrip()", "a.rstrip()", "a.strip()", "a.strip().lower()"]),
    ("return a.replace('x', b)", ["a", "a.replace(b, 'x')"]),
    ("return a.replace('x', 'y', 1)", ["a", "a.replace('y', 'x', 1)", "a.replace('x', 1, 'y')", "a.replace('x', 'y')"]),
    ("return a.startswith('x')", ["a.__contains__('x')", "a.endswith('x')"]),
    ("return a.startswith(b)", ["a.endswith(b)"]),
    ("return a.split(b)", []),
    ("return a.split(b, 1)", ["a.split(1, b)", "a.split(b)", "a.rsplit(b, 1)"]),
    ("return a.get(b, 0)", ["a.get(0, b)", "a.get(b)"]),
    ("return a.get(b)", []),
    ("return getattr(a, b, 0)", ["getattr(b, a, 0)", "getattr(a, 0, b)", "getattr(a, b)"]),
    ("return any(a)", ["all(a)"]),
    ("return list(a)", ["a"]),
    ("return int(a, 16)", ["a", "16", "int(16, a)", "int(a)"]),
    ("return normalised(a)", ["a"]),
    ("return self._key(a)", ["a"]),
    ("return Money(a)", []),
    ("return len(a)", []),
    ("return f(a, x=1)", ["f(a)"]),
    ("return re.match(a, b)", ["re.match(b, a)", "re.search(a, b)", "re.fullmatch(a, b)"]),
    ("return a.pop()", []),
    ("return sorted(a)", ["a"]),
    ("return sorted(a, key=b)", ["a", "sorted(a)"]),
    ("return max(0, a + b)", ["0", "(a + b)", "min(0, a + b)"]),
    ("return g(a, b)", ["g(b, a)"]),
    ("return g(a, a)", []),
    ("return g(a, b, 1)", ["g(b, a, 1)", "g(a, 1, b)"]),
    ("return g(*a, b)", []),
    ("return g(a, x=b, **f)", ["g(a, **f)"]),
    ("log.warning(a, b)", []),
    ("return g(\n    a,\n    b,\n)", ["g(b, a\n\n\n)"]),
    ("return sorted(\n    a\n)", ["(a\n\n)"]),
    ("return sorted(x for x in a)", ["((x for x in a))"]),
]


@pytest.mark.parametrize(("body", "expected"), CALLS, ids=[body for body, _ in CALLS])
def test_calls_are_left_out_and_their_arguments_exchanged_or_left_out(body: str, expected: list[str]) -> None:
    assert [text for _, text in changes(of_body(body), "call")] == expected


def test_an_await_is_left_out() -> None:
    found = mutants("async def f(a):\n    return await a\n")
    assert [one.text for one in found if one.operator == "call"] == ["(a)"]


OPERANDS = [
    ("return a + b", ["a", "b"]),
    ("return 'x' + a", ["'x'", "a"]),
    ("return a - b * f", ["a", "(b * f)", "b", "f"]),
    ("return (a\n    % b)", ["(a\n)", "(b\n)"]),
    ("return a and b", ["b", "a"]),
    ("if a or b > 1 or not f: g()", ["b > 1 or not f", "a or not f", "a or b > 1"]),
    ("return a and (b or f)", ["(b or f)", "a", "(f)", "(b)"]),
    ("return (a and\n    b)", ["(b\n)", "(a\n)"]),
]


@pytest.mark.parametrize(("body", "expected"), OPERANDS, ids=[body for body, _ in OPERANDS])
def test_of_an_operation_or_a_connective_one_operand_is_left_out(body: str, expected: list[str]) -> None:
    assert [text for _, text in changes(of_body(body), "operand")] == expected


ALTERNATIVES = [
    ("return isinstance(a, (int, str))", ["(str,)", "(int,)"]),
    ("return a in (1, 2, 3)", ["(2, 3)", "(1, 3)", "(1, 2)"]),
    ("return a not in {1, 2}", ["{2}", "{1}"]),
    ("return a in [b, 2]", ["[2]", "[b]"]),
    ("return a.startswith(('x', b))", ["(b,)", "('x',)"]),
    ("try: g()\nexcept (A, B): h()", ["(B,)", "(A,)"]),
    ("return a in (\n    1,\n    2,\n)", ["(2,\n\n\n)", "(1,\n\n\n)"]),
    ("return a in (1,)", []),
    ("return a in (*b, 2)", []),
    (f"return a in {tuple(range(13))}", []),
    ("return a, b", []),
    ("return a == (1, b)", []),
    ("return g((1, b))", []),
]


@pytest.mark.parametrize(("body", "expected"), ALTERNATIVES, ids=[body for body, _ in ALTERNATIVES])
def test_of_a_collection_of_alternatives_each_is_left_out(body: str, expected: list[str]) -> None:
    assert [text for _, text in changes(of_body(body), "operand")] == expected


MISSING = [
    ("return a is None", ["not a", "a is not None"]),
    ("return a is not None", ["bool(a)", "a is None"]),
    ("if a: g()", ["a is not None"]),
    ("if not a.b: g()", ["a.b is None"]),
    ("return not a", ["a is None"]),
    ("if a and f(): g()", ["(a is not None)"]),
    ("return a or 3", ["(a if a is not None else 3)"]),
    ("return a.get('x') or f'{b}'", ["(a.get('x') if a.get('x') is not None else f'{b}')"]),
    ("return a and b", []),
    ("if a(): g()", []),
    ("if a is b: g()", ["a is not b"]),
    ("m = b.match(a)\nif m: g()", []),
    ("t = a == b\nif t: g()", ["a >= b", "a <= b", "a == b and False"]),
]


@pytest.mark.parametrize(("body", "expected"), MISSING, ids=[body for body, _ in MISSING])
def test_none_is_confused_with_other_false_values(body: str, expected: list[str]) -> None:
    assert [text for _, text in changes(of_body(body), "relational")] == expected


def test_a_confused_none_is_infected_by_a_value_that_is_false_and_not_none() -> None:
    at = {one.text: one.at for one in of_body("if a is None: g()\nif not b: g()")}
    assert at["not a"] == (((2, 7, 2, 16), False),), "`a is None` is false"
    assert at["b is None"] == (((3, 11, 3, 12), False),), "`b` is false"


RESULTS = [
    ("return b", "b: bool", "object", True),
    ("return b", "b", "bool", False),
    ("return b.x", "b", "bool", True),
    ("return g(b)", "b", "bool", True),
    ("return g(b)", "b", "str", False),
    ("return b.startswith('x')", "b", "object", True),
    ("return isinstance(b, int)", "b", "object", True),
    ("return b in (1, 2)", "b", "bool", False),
    ("return True", "b", "bool", False),
]


@pytest.mark.parametrize(
    ("body", "parameters", "returns", "expected"), RESULTS, ids=[" ".join(row[:3]) for row in RESULTS]
)
def test_a_truth_value_that_is_returned_becomes_a_constant(
    body: str, parameters: str, returns: str, expected: bool
) -> None:
    found = mutants(f"def f({parameters}) -> {returns}:\n    {body}\n")
    constants = [text for _, text in changes(found, "relational") if text in ("True", "False")]
    assert constants == (["False", "True"] if expected else [])


STATEMENTS = [
    ("SELECT a FROM t", []),
    ("select this", []),
    ("Select one of us ORDER BY name", ["Select one of us"]),
    ("SELECT SUM(a * b) FROM t", ["SELECT MAX(a * b) FROM t", "SELECT SUM(a + b) FROM t"]),
    ("SELECT a FROM t WHERE b = ?", ["SELECT a FROM t WHERE b <> ?", "SELECT a FROM t"]),
    ("DELETE FROM t WHERE a >= 3", ["DELETE FROM t WHERE a > 3", "DELETE FROM t"]),
    (
        "SELECT a FROM t ORDER BY b DESC LIMIT 3",
        [
            "SELECT a FROM t ORDER BY b ASC LIMIT 3",
            "SELECT a FROM t LIMIT 3",
            "SELECT a FROM t ORDER BY b DESC",
        ],
    ),
    ("INSERT INTO t (a, b) VALUES (?, ?)", []),
    ("a >= b", []),
]


@pytest.mark.parametrize(("statement", "expected"), STATEMENTS, ids=[statement for statement, _ in STATEMENTS])
def test_of_an_sql_statement_one_thing_is_different(statement: str, expected: list[str]) -> None:
    assert [eval(text) for _, text in changes(of_body(f"return {statement!r}"), "constant")] == [*expected, ""]


DELETIONS = [
    ("x = a\nreturn x", ["x = a", "return x"]),
    ("a += 1\na: int = 2\ng(a)\nassert a\nraise E", ["a += 1", "a: int = 2", "g(a)", "assert a", "raise E"]),
    ("import x\nx: int\nglobal y\npass\n...\na", []),
    ("while a:\n    if b: break\n    continue", ["break"]),
    ("for x in a:\n    if b: continue\n    g()", ["continue", "g()"]),
    ("if a: return\ng()\nreturn None", ["return", "g()"]),
    ("if a: return\nelse: return None", []),
    ("yield a\nx = yield\ng()", ["g()"]),
    ("x = 1\ndef g():\n    nonlocal x\n    x = 2\nreturn g", ["x = 2", "return g"]),
    ("return a\ng()", ["return a"]),
    ("if TYPE_CHECKING: g()\nelse: g(1)", ["g(1)"]),
    ("if __name__ == '__main__': g()", []),
    ("while True: g()\ng(1)", ["g()"]),
    ("while True:\n    if a: break\ng(1)", ["break", "g(1)"]),
]


@pytest.mark.parametrize(("body", "expected"), DELETIONS, ids=[body for body, _ in DELETIONS])
def test_statements_are_left_out_where_that_can_be_told(body: str, expected: list[str]) -> None:
    found = [one for one in of_body(body) if one.operator == "deletion"]
    assert [one.original for one in found] == expected
    assert {one.text for one in found} <= {"pass"}


PATTERNS = [
    ("import re\ndef f(a):\n    return re.match('1*', a)", [("'1*'", "'1+'"), ("'1*'", "''")]),
    ("import re\nP = '1*'\ndef f(a):\n    return re.match(P, a)", [("P", "'1+'")]),
    ("import re\nP = '1'\ndef f(a):\n    return re.match(P + '*', a)", [("P + '*'", "'1+'"), ("'*'", "''")]),
    ("import re\nP = re.compile('1*')\ndef f(a):\n    return P.match(a)", [("P", "re.compile('1+')")]),
    ("import re\nP = re.compile('1*', re.M)\ndef f(a):\n    return P.sub(a, a)", [("P", "re.compile('(?m)1+')")]),
    ("from re import compile as c\nP = c('1*')\ndef f(a):\n    return P.split(a)", [("P", "c('1+')")]),
    (
        "import re\nclass C:\n    P = re.compile('1*')\n    def f(self, a):\n        return self.P.findall(a)",
        [("self.P", "re.compile('1+')")],
    ),
    ("import re\nP = re.compile('1*')\ndef f(a):\n    return P.strip(a)", []),
    ("import re\nP = re.compile('1*')\nP = None\ndef f(a):\n    return P.match(a)", []),
    ("import re\nP = re.compile(b'1*')\ndef f(a):\n    return P.match(a)", []),
    ("import re\nP = re.compile('1*')\nQ = P.match('1')", []),
    # A part of a pattern that is put together elsewhere.
    (
        "def f(a):\n    return r'\\d%s\\Z' % a",
        [
            (r"r'\d%s\Z'", r"'\\d%s$'"),
            (r"r'\d%s\Z'", r"'\\d%s'"),
            (r"r'\d%s\Z'", r"'(?i:\\d%s\\Z)'"),
            (r"r'\d%s\Z'", "''"),
        ],
    ),
    ("import re\ndef f(a):\n    return re.match(r'\\d' '2', a)", [(r"r'\d' '2'", "''")]),
]


@pytest.mark.parametrize(("source", "expected"), PATTERNS, ids=[source for source, _ in PATTERNS])
def test_a_pattern_is_changed_where_a_function_uses_it(source: str, expected: list[tuple[str, str]]) -> None:
    found = mutants(source)
    assert [(one.original, one.replacement) for one in found if one.operator == "constant"] == expected
    for mutant in found:
        compile(mutated_text(source, mutant), "<mutant>", "exec")


TABLES = [
    ("T = ('a', 'b')\ndef f(a):\n    return a in T\n", ["(T[:0] + T[1:])", "(T[:1] + T[2:])"]),
    ("T: list[str] = ['a', g()]\ndef f(a):\n    g(T[a])\n", ["(T[:0] + T[1:])", "(T[:1] + T[2:])"]),
    ("T = {1, -2, 3}\ndef f(a):\n    g(T)\n", ["(T - {1})", "(T - {3})"]),
    ("T = frozenset(['a', 'b'])\ndef f(a):\n    g(T)\n", ["(T - {'a'})", "(T - {'b'})"]),
    (
        "T = {'a': 1, 'b': 2}\ndef f(a):\n    return T.get(a) or T[0]\n",
        [
            "{key: value for key, value in T.items() if key != 'a'}",
            "{key: value for key, value in T.items() if key != 'b'}",
        ],
    ),
    (
        "class C:\n    T = (1, 2)\n    def f(self):\n        g(self.T)\ndef f(a):\n    g(C.T)\n    g(a.T)\n",
        ["(self.T[:0] + self.T[1:])", "(self.T[:1] + self.T[2:])", "(C.T[:0] + C.T[1:])", "(C.T[:1] + C.T[2:])"],
    ),
    ("T = (1,)\ndef f(a):\n    g(T)\n", []),
    ("T = (1, *x)\ndef f(a):\n    g(T)\n", []),
    ("T = (1, 2)\nT = (1, 2, 3)\ndef f(a):\n    g(T)\n", []),
    ("T = (1, 2)\ndef f(T):\n    g(T)\n", []),
]


@pytest.mark.parametrize(("source", "expected"), TABLES, ids=[source for source, _ in TABLES])
def test_an_entry_of_a_constant_table_is_left_out_where_a_function_first_reads_it(
    source: str, expected: list[str]
) -> None:
    found = [one for one in mutants(source) if one.text in expected or "[:0]" in one.text or " - {" in one.text]
    assert [one.text for one in found] == expected
    assert all(one.operator == "operand" for one in found)
    for mutant in found:
        compile(mutated_text(source, mutant), "<mutant>", "exec")


def test_of_a_long_table_an_even_selection_of_entries_is_left_out() -> None:
    found = mutants(f"T = {tuple(range(100))}\ndef f(a):\n    return T[a]\n")
    texts = [one.text for one in found if one.operator == "operand"]
    assert len(texts) == 24 and texts[0] == "(T[:0] + T[1:])" and texts[12] == "(T[:50] + T[51:])"


def test_only_bodies_of_functions_are_changed_and_the_others_counted() -> None:
    source = "X = 1\n@deco(2)\ndef f(a=0):\n    return a\nclass C:\n    y = 0\ng = lambda a: 1\n"
    found = mutants(source)
    assert [one.text for one in found] == ["pass"]
    # 1 -> 0, the assignment; 2 -> 0, 3, 1, -1, the call; 0 -> 1; y: the same two; g: the assignment, 1 -> 0
    assert found.at_import == 2 + 5 + 1 + 2 + 2


def test_only_the_class_under_test_is_changed() -> None:
    source = "class A:\n    def m(self):\n        g()\n        def inner(): h()\nclass AB:\n    def m(self): g()\ndef m(): g()\n"
    assert {one.function for one in mutants(source, "A")} == {"A.m", "A.m.<locals>.inner"}


def test_a_mutant_says_where_its_effect_is_seen() -> None:
    found = {(one.original, one.replacement): one for one in of_body("if a < b and not a: g(b + 1)")}
    assert found["<", "<="].place == "comparison" and found["<", "<="].at == (((2, 7, 2, 12), True),)
    assert found["and", "or"].place == "truth"
    assert found["and", "or"].at == (((2, 7, 2, 12), False), ((2, 21, 2, 22), True))
    assert found["not", ""].at == (((2, 21, 2, 22), True), ((2, 21, 2, 22), False))
    assert found["+", "-"].place == "arithmetic" and found["+", "-"].at == (((2, 26, 2, 31), True),)
    assert found["1", "0"].place == "line" and found["1", "0"].at == ()


def test_a_connective_whose_operands_do_something_is_infected_when_its_line_is_reached() -> None:
    for body in ("if a and g(): h()", "if a and b.x: h()", "return a and b"):
        (found,) = [one for one in of_body(body) if one.operator == "logical"]
        assert found.place == "line", body


def test_an_identifier_does_not_change_with_what_stands_around_the_function() -> None:
    source = "def f(a, b):\n    return a < b\n"
    around = f"import os\n\n\ndef g():\n    return 1\n\n\n{source}\n\nX = 1\n"
    ids = [one.id for one in mutants(source)]
    assert ids[0] == "f:1:4:deletion:pass" and "f:1:13:relational:<=" in ids
    assert [one.id for one in mutants(around) if one.function == "f"] == ids


def test_functions_of_one_name_have_mutants_of_different_names() -> None:
    found = mutants("def f(a):\n    g(1)\ndef f(a):\n    g(1)\n")
    ids = [one.id for one in found]
    assert len(set(ids)) == len(ids) and "f:1:4:deletion:pass" in ids and "f:1:4:deletion:pass#2" in ids


def test_a_mutant_can_be_pickled_and_hashed() -> None:
    found = of_body("return a < b")
    assert pickle.loads(pickle.dumps(found)) == found
    assert len(set(found)) == len(found)


# Caps

BUSY = "def f(a, b):\n    x = a + b * 7\n    return x < 3 and a\ndef g(a, b):\n    return a - b\n"


def test_too_many_mutants_are_dropped_by_operator_from_the_least_telling_ones() -> None:
    everything = mutants(BUSY)
    few = mutants(BUSY, per_module=12)
    assert len(few) == 12 and sum(count for _, count in few.dropped) == len(everything) - 12
    kept = {one.operator for one in few}
    assert {"relational", "arithmetic", "logical", "deletion"} <= kept and "variable" not in kept
    assert set(few) <= set(everything)


def test_the_list_gets_shorter_one_by_one_and_never_loses_its_order() -> None:
    everything = list(mutants(BUSY))
    for most in range(len(everything) + 1):
        few = list(mutants(BUSY, per_module=most))
        assert few == [one for one in everything if one in few] and len(few) == most


def test_a_function_has_its_own_bound() -> None:
    found = mutants(BUSY, per_function=5)
    assert [sum(one.function == name for one in found) for name in "fg"] == [5, 5]


def test_what_stays_of_one_operator_is_spread_over_the_source() -> None:
    source = "def f():\n" + "".join(f"    g({number})\n" for number in range(2, 102))
    kept = [one.line for one in mutants(source, per_module=10) if one.operator == "deletion"]
    assert kept == list(range(2, 102, 10))


# Replacements


def test_subsuming_replacements_are_those_of_the_table() -> None:
    table = {"+": {"*"}, "-": {"*"}, "*": {"+"}, "/": {"*", "-"}, "&": {"|"}, "^": {"|"}, "|": {"^", "&"}}
    table |= {"==": {">=", "<="}, "!=": {">", "<"}, ">": {"!=", ">="}, ">=": {"==", ">"}, "<": {"<=", "!="}}
    table |= {"<=": {"==", "<"}, ">>": {"<<"}, "<<": {">>"}}
    assert {sign: set(subsuming(sign)) for sign in table} == table
    assert subsuming("%") == arithmetic("%") == ("+", "-", "*", "/", "//", "**")


@pytest.mark.parametrize("sign", ["==", "!=", ">", ">=", "<", "<="])
def test_whatever_tells_a_comparison_from_the_others_tells_it_from_a_subsuming_one(sign: str) -> None:
    # By the order of two numbers: which comparisons are true.
    true = {
        "<": {-1},
        "<=": {-1, 0},
        "==": {0},
        "!=": {-1, 1},
        ">": {1},
        ">=": {0, 1},
        "True": {-1, 0, 1},
        "False": set(),
    }
    differs = {other: true[sign] ^ true[other] for other in true if other != sign}
    kept = [differs[other] for other in relational(sign)]
    assert all(any(one <= orders for one in kept) for orders in differs.values())
    assert set(subsuming(sign)) < set(relational(sign))


@given(st.one_of(st.integers(), st.floats(), st.text(), st.binary(), st.booleans(), st.none()))
def test_a_literal_is_replaced_by_others_only(value: object) -> None:
    others = literals(value)
    assert all(type(other) is not type(value) or other != value for other in others)
    assert len(set(map(repr, others))) == len(others) <= 5


# Every mutant of real programs


MODULES = [
    "abc",
    "argparse",
    "bdb",
    "bisect",
    "calendar",
    "cmd",
    "code",
    "codecs",
    "colorsys",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "difflib",
    "dis",
    "enum",
    "filecmp",
    "fileinput",
    "fnmatch",
    "fractions",
    "functools",
    "getopt",
    "gettext",
    "glob",
    "graphlib",
    "gzip",
    "heapq",
    "html.parser",
    "http.cookies",
    "json.decoder",
    "keyword",
    "linecache",
    "numbers",
    "random",
    "reprlib",
    "sched",
    "shlex",
    "statistics",
    "string",
    "textwrap",
    "tokenize",
    "urllib.parse",
    "uuid",
]


def source_of(name: str) -> str:
    spec = importlib.util.find_spec(name)
    path = Path(os.__file__).parent.joinpath(*name.split(".")).with_suffix(".py")
    if not path.exists():
        assert spec is not None and spec.origin is not None
        path = Path(spec.origin)
    return path.read_text(encoding="utf-8")


def compiles(way: tuple[ast.AST, ...]) -> bool:
    """What stands at the top of the module, the mutant in it, is taken by the compiler."""
    top = way[1]
    assert isinstance(top, ast.stmt)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(ast.Module([top], []), "mutant.py", "exec", dont_inherit=True)
    return True


@pytest.mark.parametrize("name", every(4, MODULES))
def test_all_mutants_of_a_module_of_the_standard_library_compile(name: str) -> None:
    source = source_of(name)
    tree = ast.parse(source)
    found = mutants(source)
    assert len({one.id for one in found}) == len(found) == len(set(found))
    for mutant in list(found)[:: max(1, len(found) // 20)]:
        assert compiles(mutated(tree, mutant)), mutant


@pytest.mark.parametrize("name", ["bisect", "textwrap", "fractions", "shlex", "heapq", "graphlib"])
def test_the_text_of_a_mutant_differs_in_one_place_and_parses_to_its_tree(name: str) -> None:
    source = source_of(name)
    tree = ast.parse(source)
    before = ast.dump(tree, include_attributes=True)
    found = list(mutants(source))
    for mutant in found[:: max(1, len(found) // 12)]:
        text = mutated_text(source, mutant)
        assert text != source and is_one_edit(source, text, mutant)
        (whole, *_) = mutated(tree, mutant)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert ast.dump(whole) == ast.dump(ast.parse(text)) != ast.dump(tree), mutant
    assert ast.dump(tree, include_attributes=True) == before


def is_one_edit(source: str, text: str, mutant: Mutant) -> bool:
    first, start, last, end = mutant.span
    lines = source.encode().split(b"\n")
    head = b"\n".join([*lines[: first - 1], lines[first - 1][:start]])
    tail = b"\n".join([lines[last - 1][end:], *lines[last:]])
    return text.encode() == head + mutant.text.encode() + tail


def test_the_way_to_a_mutant_shares_everything_beside_it() -> None:
    source = "def f(a):\n    g(1)\n    return a < 0\ndef h(): pass\n"
    tree = ast.parse(source)
    (mutant,) = [one for one in mutants(source) if one.replacement == "<="]
    module, function, statement, expression = mutated(tree, mutant)
    assert isinstance(module, ast.Module) and isinstance(function, ast.FunctionDef)
    assert module.body[0] is function and module.body[1] is tree.body[1]
    assert function.body[0] is tree.body[0].body[0]  # type: ignore[attr-defined]
    assert isinstance(statement, ast.Return) and statement.value is expression
    assert (expression.lineno, expression.col_offset) == (3, 11)  # type: ignore[attr-defined]


def test_mutants_of_what_decorates_an_inner_function_are_found() -> None:
    source = "def f(a):\n    @deco(a < 1)\n    def g(): pass\n    return g\n"
    for mutant in mutants(source):
        assert ast.dump(mutated(ast.parse(source), mutant)[0]) == ast.dump(ast.parse(mutated_text(source, mutant)))


def test_a_mutant_of_another_source_is_refused() -> None:
    (mutant, *_) = mutants("def f(a):\n\n\n\n    return a < 0\n")
    with pytest.raises(ValueError, match="nothing at line 5 matches mutant 'f:4:4:deletion:pass': expected"):
        mutated(ast.parse("x = 1"), mutant)


def test_a_difference_can_be_read() -> None:
    source = "def f(a):\n    return a < 0"
    (mutant,) = [one for one in mutants(source) if one.replacement == "<="]
    assert difference(source, mutant, "f.py").splitlines() == [
        "--- f.py",
        "+++ f.py (f:1:13:relational:<=)",
        "@@ -1,2 +1,2 @@",
        " def f(a):",
        "-    return a < 0",
        "+    return a <= 0",
    ]


def test_positions_count_bytes() -> None:
    source = "def f(ä, ö):\n    return 'é' < ö and ä  # ü\n"
    texts = [mutated_text(source, one) for one in mutants(source)]
    assert "def f(ä, ö):\n    return 'é' < ö or ä  # ü\n" in texts
    assert "def f(ä, ö):\n    return 'é' <= ö and ä  # ü\n" in texts
    assert "def f(ä, ö):\n    return '' < ö and ä  # ü\n" in texts


def test_the_list_is_the_same_under_every_hash_seed() -> None:
    program = "import sys; from fitgym.mutants.generation import mutants; print([m for m in mutants(sys.stdin.read())])"
    source = source_of("fractions")
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=source,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "12345")
    ]
    assert outputs[0] == outputs[1] == f"{list(mutants(source))}\n"


@settings(max_examples=50)
@given(st.integers(0, 40), st.integers(0, 40))
def test_bounds_are_kept(per_function: int, per_module: int) -> None:
    found = mutants(BUSY, per_function=per_function, per_module=per_module)
    assert len(found) <= per_module
    assert all(sum(one.function == name for one in found) <= per_function for name in "fg")
    assert all(operator in PRECEDENCE and count > 0 for operator, count in found.dropped)
