"""Weak mutation: tiny programs that really ran, with numbers by hand, and properties of all programs and operands."""

from __future__ import annotations

import math
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_programs import random_program

from fitgym.fitness.weak_mutation import WeakMutation
from fitgym.instrument.factories import missing
from fitgym.instrument.factory import OutOfFuel
from fitgym.instrument.python.sites import Sites
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.instrument.trace import Trace
from fitgym.mutants.generation import mutants
from fitgym.mutants.mutant import Mutant
from fitgym.mutants.mutation import mutated_text
from fitgym.subject import subject as data
from fitgym.subject.dependence import branches, dependences

INFECTION = frozenset({"infection"})
FACTORIES: list[Any] = [Sites]
if not missing():
    from fitgym.instrument._sites import Sites as SitesInC

    FACTORIES.append(SitesInC)
EXAMPLES = settings.default.max_examples


class Program:
    """A module with all probes, loaded under every factory."""

    def __init__(self, source: str, fuel: int = 10**6) -> None:
        self.source = source = dedent(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            instrumented = instrument(source, "tiny.py", INFECTION, mutants=mutants(source))
        plan = instrumented.plan
        self.recorders = [Recorder(plan.sites, fuel, factory) for factory in FACTORIES]
        self.modules: list[dict[str, Any]] = []
        for recorder in self.recorders:
            self.modules.append({"__name__": "tiny"})
            exec(instrumented.code(recorder.probe), self.modules[-1])
        self.subject = data.Subject(
            reference=data.Reference("tiny", "tiny", "tiny.py"),
            source=source,
            sites=plan.sites,
            functions=plan.functions,
            branches=tuple(b for b in branches(plan.sites, plan.functions) if plan.sites[b.site].function),
            dependences=dependences(
                instrumented.tree, plan.at, plan.blocks, plan.entries, plan.sites, plan.functions, plan.infection
            ),
            operations=(),
            classes={},
        )
        self.fitness = WeakMutation(self.subject)

    def trace(self, *calls: tuple[Any, ...]) -> tuple[Trace, list[object]]:
        """What some calls of `f` record, the same under all factories, and how each of them ends."""
        traces, ends = [], []
        for recorder, module in zip(self.recorders, self.modules, strict=True):
            recorder.begin(INFECTION)
            ends.append([ending(recorder, module["f"], arguments) for arguments in calls])
            reached, direct = recorder.snapshot()
            traces.append(Trace(reached, direct, stops=recorder.stops(), infected=recorder.infected()))
        assert len({(t.reached, t.stops, t.infected) for t in traces}) == 1, "the factories record the same"
        assert len({repr(end) for end in ends}) == 1
        return traces[0], ends[0]

    def distances(self, *calls: tuple[Any, ...]) -> dict[str, float]:
        """The distance to each mutant."""
        (row,) = self.fitness.distances([self.trace(*calls)[0]])
        return dict(zip((one.id for one in self.fitness.mutants), row.tolist(), strict=True))

    def infected(self, *calls: tuple[Any, ...]) -> set[Mutant]:
        (row,) = self.fitness.distances([self.trace(*calls)[0]])
        return {one for one, distance in zip(self.fitness.mutants, row, strict=True) if distance == 0.0}


def ending(recorder: Recorder | None, function: Any, arguments: tuple[Any, ...]) -> object:
    """How a call ends, for comparison: what it returns, with its type and the sign of zero, or the exception's class."""
    try:
        result = function(*arguments)
    except OutOfFuel:
        return "endless"
    except Exception as error:
        if recorder is not None:
            recorder.stopped(error.__traceback__)
        return type(error)
    return type(result), repr(result) if not isinstance(result, int) else result


# Distances by hand


def test_a_comparison_has_the_slopes_of_the_table() -> None:
    program = Program("def f(a, b):\n    return a < b\n")
    for (a, b), less_or_equal, different, never in [
        # v = a - b: <= differs where v = 0, != where v > 0, False where v < 0.
        ((5, 8), Fraction(3, 4), Fraction(4, 5), 0),  # |v| = 3; |v| + 1 = 4
        ((8, 8), 0, Fraction(1, 2), Fraction(1, 2)),  # 1; v + 1 = 1
        ((9, 8), Fraction(1, 2), 0, Fraction(2, 3)),  # 1; v + 1 = 2
    ]:
        found = program.distances((a, b))
        assert found["f:1:13:relational:<="] == pytest.approx(less_or_equal)
        assert found["f:1:13:relational:!="] == pytest.approx(different)
        assert found["f:1:13:relational:False"] == pytest.approx(never)


# Facts of the infection distances of EvoSuite, of every replacement of every comparison of integers with v = left - right.
TABLE: dict[tuple[str, str], Any] = {
    ("<", "<="): abs,
    ("<", "!="): lambda v: abs(v) + 1 if v <= 0 else 0,
    ("<=", "<"): abs,
    ("<=", "=="): lambda v: v + 1 if v >= 0 else 0,
    (">", ">="): abs,
    (">", "!="): lambda v: v + 1 if v >= 0 else 0,
    (">=", ">"): abs,
    (">=", "=="): lambda v: abs(v) + 1 if v <= 0 else 0,
    ("==", "<="): lambda v: v + 1 if v >= 0 else 0,
    ("==", ">="): lambda v: abs(v) + 1 if v <= 0 else 0,
    ("!=", "<"): lambda v: abs(v) + 1 if v <= 0 else 0,
    ("!=", ">"): lambda v: v + 1 if v >= 0 else 0,
}


@pytest.mark.parametrize(("sign", "other"), TABLE)
def test_slopes_are_those_of_evosuite(sign: str, other: str) -> None:
    program = Program(f"def f(a, b):\n    return 1 if a {sign} b else 2\n")
    (name,) = [one.id for one in program.fitness.mutants if one.replacement == other]
    for v in range(-4, 5):
        expected = TABLE[sign, other](v)
        if sign in ("<=", ">=") and other == "==":  # these differ where the original is true but not equal
            expected = {"<=": lambda v: 0 if v < 0 else v + 1, ">=": lambda v: 0 if v > 0 else abs(v) + 1}[sign](v)
        assert program.distances((10 + v, 10))[name] == pytest.approx(expected / (expected + 1)), v


def test_distances_are_the_least_of_all_visits() -> None:
    program = Program("def f(a, b):\n    return a < b\n")
    assert program.distances((1, 9), (12, 9))["f:1:13:relational:<="] == pytest.approx(3 / 4)


def test_what_is_not_reached_is_as_far_as_its_branch() -> None:
    program = Program(
        """\
        def f(a, b):
            if a > 3:
                if b == 0:
                    return 7
            return a + b
        """
    )
    # a > 3 misses by 0 - 3, v + 1 = 4 to its truth: nu = 4/5; b == 0 has one level more, its block two.
    found = program.distances((0, 0))
    assert found["f:2:13:relational:>="] == pytest.approx(1 + 4 / 5)
    assert found["f:3:12:deletion:pass"] == found["f:3:19:constant:0"] == pytest.approx(2 + 4 / 5)
    # 0 + 0: - and * give 0 as well, / // % raise, ** gives 1.
    signs = {name.rpartition(":")[2]: d for name, d in found.items() if ":arithmetic:" in name}
    assert signs == {"-": 0.5, "*": 0.5, "/": 0.0, "//": 0.0, "%": 0.0, "**": 0.0}


def test_a_function_that_is_not_entered_is_one_level_away() -> None:
    program = Program("def f(a):\n    return a\ndef g(a):\n    return a < 1\n")
    found = program.distances((1,))
    assert found["g:1:13:relational:<="] == 2.0 and found["g:1:4:deletion:pass"] == 2.0


def test_lines_behind_an_exception_are_not_reached() -> None:
    program = Program("def f(a):\n    b = a[0]\n    c = 2\n    return c\n")
    found = program.distances(([],))
    assert found["f:1:4:deletion:pass"] == 0.0 and found["f:1:10:constant:1"] == 0.0
    assert found["f:2:4:deletion:pass"] == 1.0 and found["f:2:8:constant:0"] == 1.0
    assert set(program.distances(([],), ([5],)).values()) >= {0.0}
    assert program.distances(([],), ([5],))["f:2:4:deletion:pass"] == 0.0


def test_a_constant_of_a_choice_is_reached_with_its_condition() -> None:
    program = Program("def f(a):\n    return 5 if a else 7\n")
    by_text = {name.rpartition(":")[2]: d for name, d in program.distances((True,)).items() if ":1:11:" in name}
    assert by_text["6"] == 0.0
    others = {name: d for name, d in program.distances((True,)).items() if ":1:23:" in name}
    assert others and set(others.values()) == {0.5}, "the condition is 1 away from false"


def test_a_connective_differs_where_an_operand_decides() -> None:
    program = Program("def f(a, b):\n    return 1 if a > 0 and b > 0 else 2\n")
    name = "f:1:22:logical:or"
    # Both true: the nearest outcome that is false is that of a > 0, min(3 to =, 4 to <).
    assert program.distances((3, 5))[name] == pytest.approx(3 / 4)
    assert program.distances((3, 0))[name] == program.distances((0, 5))[name] == 0.0


def test_a_lambda_is_reached_when_it_is_called() -> None:
    program = Program("def f(a, b):\n    g = lambda: 5\n    return g() if a else b\n")
    assert program.distances((0, 1))["f.<locals>.<lambda>:0:16:constant:0"] >= 1.0
    assert program.distances((1, 1))["f.<locals>.<lambda>:0:16:constant:0"] == 0.0


def test_a_chain_that_is_not_expanded_is_infected_when_its_line_is_reached() -> None:
    program = Program("def f(a, b):\n    return 0 <= a.real < b\n")
    assert program.distances((3, 5))["f:1:13:relational:<"] == 0.0
    program = Program("def f(a, b):\n    return 0 <= a < b\n")
    assert program.distances((3, 5))["f:1:13:relational:<"] == pytest.approx(3 / 4)


def test_a_suite_is_worth_the_mean_of_its_least_distances() -> None:
    program = Program("def f(a, b):\n    return a < b\n")
    traces = [program.trace((5, 8))[0], program.trace((9, 8))[0]]
    rows = program.fitness.distances(traces)
    assert program.fitness.visits(traces) is None
    by_hand = np.minimum(rows.min(axis=0), 1.0).mean()
    assert program.fitness.of_suite(rows) == pytest.approx(by_hand)
    assert program.fitness.of_suite(rows, raw=True) == pytest.approx(by_hand * rows.shape[1])


def test_entries_say_the_same_as_distances() -> None:
    program = Program(SOURCES["classify"])
    traces = [program.trace(arguments)[0] for arguments in ((1, 2, 3), (0, 0, 0), (5, 5, 5))]
    dense = program.fitness.entries(traces).dense(3, program.fitness.n_columns)
    assert dense.tolist() == np.minimum(program.fitness.distances(traces), 1.0).tolist()


def test_a_trace_without_infection_is_refused() -> None:
    program = Program("def f(a, b):\n    return a < b\n")
    with pytest.raises(ValueError, match='recorded without "infection"'):
        program.fitness.distances([Trace()])
    assert program.fitness.distances([Trace(failure="timeout")]).min() > 0.0


# 0 exactly where the changed expression differs

EXPRESSIONS = {
    **{sign: f"def f(a, b):\n    return 1 if a {sign} b else 2\n" for sign in ("<", "<=", "==", "!=", ">", ">=")},
    "value of <": "def f(a, b):\n    return a < b\n",
    **{f"arithmetic {sign}": f"def f(a, b):\n    return a {sign} b\n" for sign in ("+", "-", "*", "/", "//", "%")},
    **{f"bits {sign}": f"def f(a, b):\n    return a {sign} b\n" for sign in ("&", "|", "^", ">>")},
    "in place": "def f(a, b):\n    a -= b\n    return a\n",
    "numbers": "def f(a: int, b: float):\n    return [a, b]\n",
    "identity": "def f(a, b):\n    return 1 if a is b else 2\n",
    "condition": "def f(a, b):\n    return 1 if a else 2\n",
    "negation": "def f(a, b):\n    return 1 if not a else 2\n",
    "value of a negation": "def f(a, b):\n    return not a\n",
}
COMPUTED = ("arithmetic", "bits", "in place")
plain = st.one_of(
    st.integers(-3, 3), st.booleans(), st.sampled_from([0.0, -0.0, 1.0, 2.5, math.inf, 3, 2**62]), st.floats(-4, 4)
)
words = st.one_of(st.text("ab", max_size=3), st.binary(max_size=2))
anything = st.one_of(plain, words, st.none(), st.just(()), st.lists(st.integers(0, 1), max_size=1), st.just(math.nan))


def is_seen(name: str, mutant: Mutant) -> bool:
    """The value of the changed expression decides what the program gives."""
    if mutant.operator in ("unary", "variable"):
        return name == "numbers" or mutant.replacement == "not"
    return mutant.operator in ("relational", "arithmetic", "logical") and mutant.place != "line"


PROGRAMS = {name: Program(source) for name, source in EXPRESSIONS.items()}
FUNCTIONS: dict[tuple[str, str], Any] = {}


def changed(name: str, mutant: Mutant) -> Any:
    """The function with the mutant in it, compiled once."""
    if (name, mutant.id) not in FUNCTIONS:
        module: dict[str, Any] = {"__name__": "tiny"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile(mutated_text(PROGRAMS[name].source, mutant), "tiny.py", "exec", dont_inherit=True), module)
        FUNCTIONS[name, mutant.id] = module["f"]
    return FUNCTIONS[name, mutant.id]


@settings(max_examples=5 * EXAMPLES)
@given(st.sampled_from(sorted(EXPRESSIONS)), plain, plain)
def test_a_mutant_is_infected_exactly_where_its_expression_differs(name: str, a: Any, b: Any) -> None:
    assume(not (name.startswith("bits") and float in (type(a), type(b))))  # they are not looked at
    assume(not (name.startswith(COMPUTED) and 2**62 in (a, b)))  # to the power of itself
    program = PROGRAMS[name]
    (end,) = program.trace((a, b))[1]
    infected = program.infected((a, b))
    for mutant in program.fitness.mutants:
        if is_seen(name, mutant):
            assert (ending(None, changed(name, mutant), (a, b)) != end) == (mutant in infected), mutant


@settings(max_examples=5 * EXAMPLES)
@given(st.sampled_from(sorted(EXPRESSIONS)), anything, anything)
def test_a_mutant_that_ends_differently_is_infected_whatever_the_operands_are(name: str, a: Any, b: Any) -> None:
    assume(not (name.startswith(COMPUTED) and any(type(each) is int and each == 2**62 for each in (a, b))))
    program = PROGRAMS[name]
    (end,) = program.trace((a, b))[1]
    infected = program.infected((a, b))
    for mutant in program.fitness.mutants:
        if ending(None, changed(name, mutant), (a, b)) != end:
            assert mutant in infected, mutant


@given(st.booleans(), st.booleans(), st.sampled_from(["and", "or"]))
def test_a_connective_is_infected_where_it_differs_or_stops_early(a: bool, b: bool, sign: str) -> None:
    program = Program(f"def f(a, b):\n    return 1 if a {sign} b else 2\n")
    (mutant,) = [one for one in program.fitness.mutants if one.operator == "logical"]
    stops_early = a is (sign == "or")
    assert (mutant in program.infected((a, b))) == (stops_early or a is not b)


# Killed implies infected implies reached

SOURCES = {
    "gcd": "def f(a: int, b: int) -> int:\n    while b:\n        a, b = b, a % b\n    return abs(a)\n",
    "classify": """\
        def f(a, b, c):
            if a <= 0 or b <= 0 or c <= 0:
                raise ValueError("no triangle")
            if a == b == c:
                return "equilateral"
            if a == b or b == c or a == c:
                return "isosceles"
            return "scalene" if a + b > c and a < b + c else "none"
        """,
    "search": """\
        def f(items, wanted):
            low, high = 0, len(items) - 1
            while low <= high:
                middle = (low + high) // 2
                if items[middle] == wanted:
                    return middle
                if items[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle - 1
            return -1
        """,
    "words": """\
        def f(text, limit=3):
            words = []
            for word in text.split():
                if not word.isalpha() or len(word) > limit:
                    continue
                words.append(word.upper() if word[0] in "ab" else word)
            else:
                words += [str(len(words))]
            return [w for w in words if w != "x"] or None
        """,
    "account": """\
        def f(amounts, limit=10):
            balance = 0.0
            log = {}
            for number, amount in enumerate(amounts):
                try:
                    if amount < 0 and balance + amount < -limit:
                        raise OverflowError(amount)
                    balance += amount
                except TypeError:
                    log[number] = "bad"
                finally:
                    log.setdefault(number, balance)
            return balance, log
        """,
    "matched": """\
        def f(value, depth=0):
            match value:
                case int() if value > 3:
                    return depth
                case [first, *rest]:
                    return f(first, depth + 1) + len(rest)
                case {"x": inner}:
                    return f(inner, depth - 1)
                case None:
                    return False
            return not depth and 1
        """,
    "bits": """\
        def f(n: int, width: int = 8):
            count = 0
            mask = (1 << width) - 1
            rest = n & mask
            while rest:
                count += rest & 1
                rest >>= 1
            return count ^ (n < 0), (lambda x: x | 1)(count)
        """,
}
ARGUMENTS: dict[str, Any] = {
    "gcd": st.tuples(st.integers(-30, 30), st.integers(-30, 30)),
    "classify": st.tuples(*[st.integers(-1, 5)] * 3),
    "search": st.tuples(st.lists(st.integers(0, 9), max_size=6).map(sorted), st.integers(0, 9)),
    "words": st.tuples(st.text("ab1 x", max_size=12), st.integers(0, 4)),
    "account": st.tuples(st.lists(st.one_of(st.integers(-20, 20), st.floats(-9, 9), st.none()), max_size=4)),
    "matched": st.tuples(
        st.recursive(
            st.integers(0, 6) | st.none() | st.just(""),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xy"), inner),
            max_leaves=5,
        )
    ),
    "bits": st.tuples(st.integers(-300, 300), st.integers(0, 9)),
}
REAL = {name: Program(source) for name, source in SOURCES.items()}
MUTATED: dict[tuple[str, str], tuple[Recorder, Any]] = {}


def with_fuel(source: str, mutant: Mutant) -> tuple[Recorder, Any]:
    """The function of a program with the mutant in it and probes that end what is endless."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        instrumented = instrument(mutated_text(source, mutant), "tiny.py")
    recorder = Recorder(instrumented.plan.sites, 500, Sites)
    module: dict[str, Any] = {"__name__": "tiny"}
    exec(instrumented.code(recorder.probe), module)
    return recorder, module["f"]


class Huge(Exception):
    """A number grows so fast that no fuel ends it."""


@contextmanager
def impatient() -> Iterator[None]:
    """Raises `Huge` after half a second."""

    def interrupt(*_: object) -> None:
        raise Huge

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


HUGE: set[tuple[str, str]] = set()


@pytest.mark.parametrize("name", sorted(SOURCES))
@settings(max_examples=max(3, EXAMPLES // 8), deadline=None)
@given(st.data())
def test_killed_implies_infected_implies_reached(name: str, data: st.DataObject) -> None:
    arguments = data.draw(ARGUMENTS[name])
    program = REAL[name]
    trace, (end,) = program.trace(arguments)
    (row,) = program.fitness.distances([trace])
    dense = dict(zip(program.fitness.mutants, row.tolist(), strict=True))
    assert len(dense) == len(program.subject.mutants), "every mutant has a place"
    for mutant, distance in dense.items():
        if (name, mutant.id) not in MUTATED:
            MUTATED[name, mutant.id] = with_fuel(program.source, mutant)
        recorder, function = MUTATED[name, mutant.id]
        recorder.begin()
        if (name, mutant.id) in HUGE:
            continue
        with impatient():
            found = ending(None, function, arguments)
        if found is Huge:
            HUGE.add((name, mutant.id))
        elif found != end:
            assert distance == 0.0, mutant


@settings(max_examples=max(3, EXAMPLES // 10), deadline=None)
@given(st.integers(0, 10**9), st.lists(st.tuples(*[st.integers(-9, 9)] * 2), min_size=1, max_size=4))
def test_killed_implies_infected_implies_reached_in_random_programs(seed: int, calls: list[tuple[int, int]]) -> None:
    program = Program(random_program(seed))
    traces, ends = zip(*[program.trace(arguments) for arguments in calls], strict=True)
    distances = program.fitness.distances(traces)
    reached = program.fitness.entries(traces).dense(len(calls), program.fitness.n_columns) < 1.0
    assert (reached | (distances > 0.0)).all()
    for column, mutant in enumerate(program.fitness.mutants):
        recorder, function = with_fuel(program.source, mutant)
        for row, arguments in enumerate(calls):
            if distances[row, column] > 0.0:
                recorder.begin()
                assert [ending(None, function, arguments)] == ends[row], f"{mutant} in\n{program.source}"
