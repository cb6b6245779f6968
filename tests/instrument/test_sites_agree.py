"""The probes in C and in Python agree on results, exceptions, reports and records for all calls."""

from __future__ import annotations

import copy
import datetime
import math
import re
from array import array
from collections.abc import Callable, Generator, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fitgym.instrument.factory import OutOfFuel
from fitgym.instrument.python.sites import Sites as SitesInPython
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.mutants.generation import mutants
from fitgym.mutants.mutant import Mutant
from fitgym.mutants.operators import COMPARISONS, SIGNS, are_alike

in_c = pytest.importorskip("fitgym.instrument._sites", reason="the probes in C were not built")

pytestmark = pytest.mark.filterwarnings("ignore:NotImplemented:DeprecationWarning")

FACTORIES = (SitesInPython, in_c.Sites)
INFECTION = frozenset({"infection"})
EXAMPLES = settings.default.max_examples

SOURCE = """
def less(a, b): return 1 if a < b else 2
def less_or_equal(a, b): return 1 if a <= b else 2
def equal(a, b): return 1 if a == b else 2
def different(a, b): return 1 if a != b else 2
def greater(a, b): return 1 if a > b else 2
def greater_or_equal(a, b): return 1 if a >= b else 2
def only_a_value(a, b): return a < b, a == b, a != b, a >= b
def passed_on(a, b): return (a < b) or (a == b) or (a > b) or b
def within(a, b): return 1 if a in b else 2
def outside(a, b): return 1 if a not in b else 2
def same(a, b): return 1 if a is b else 2
def other(a, b): return 1 if a is not b else 2
def true(a, b): return 1 if a else 2 if not b else 3
def first_true(a, b): return a or b
def matched(a, b):
    match a:
        case int() if a == b: return 1
        case [first, *_] if first: return 2
        case {"k": value}: return 3
        case str() | None: return 4
    return 5
def handled(a, b):
    try:
        if a < b: return 1
    except (TypeError, ValueError, KeyError):
        return 2
    finally:
        b = None
    return 3
def guarded(a, b):
    while a:
        assert b != a
        break
    return [a for b in (1, 2) if b > 1]
"""

APPLIED = """
def added(a, b): return a + b
def subtracted(a, b): return a - b
def multiplied(a, b): return a * b
def divided(a, b): return a / b
def floor_divided(a, b): return a // b
def left_over(a, b): return a % b
def raised(a, b): return a ** b if type(b) is not int or abs(b) < 70 else 1
def both_bits(a, b): return a & b
def any_bit(a, b): return a | b
def one_bit(a, b): return a ^ b
def shifted_left(a, b): return a << b if type(b) is not int or b < 2000 else 1
def shifted_right(a, b): return a >> b
def in_place(a, b):
    a += b
    a -= b
    a *= 2
    a //= 3
    a %= 7
    a /= 2
    a **= 2
    return a
def bits_in_place(a, b):
    a &= b
    a |= b
    a ^= 5
    a <<= 2
    a >>= 1
    return a
"""

LOOPS = """
def walked(xs):
    for x in xs: pass
    else: return 1
def left_early(xs):
    for x in xs: return x
def first_of(xs): return next((x for x in xs), None)
def pairs(xs): return [(x, y) for x in xs for y in (x, x) if x]
def delegated(xs): return list(inner(xs))
def inner(xs):
    for x in xs: yield x
def unpacked(xs):
    for x, y in xs: return y
"""

ASYNCHRONOUS = """
async def walked(xs):
    async for x in xs: pass
    else: return 1
async def left_early(xs):
    async for x in xs: return x
async def collected(xs):
    return [x async for x in xs if x]
async def stepped(xs):
    async for x in xs: yield x
async def delegated(xs):
    async for x in stepped(xs): pass
"""


def functions_of(source: str) -> list[str]:
    return re.findall(r"def (\w+)", source)


# Operands

integers = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    *(st.integers(edge - 2, edge + 2) for near in (2**53, 2**63, 2**64, 10**400) for edge in (near, -near)),
)
floats = st.one_of(
    st.floats(), st.sampled_from([0.0, -0.0, math.nan, math.inf, 5e-324, 1.7976931348623157e308, 2.0**53])
)
short_texts = st.text(st.sampled_from("ab\x00\xe9\u20ac\ud800\U0001f600"), max_size=8)
texts = st.one_of(short_texts, st.text(max_size=40), st.text("ab", min_size=14, max_size=40))
bytes_ = st.binary(max_size=24)
leaves = st.one_of(integers, floats, st.booleans(), st.none(), texts, bytes_, st.complex_numbers())
hashable = st.recursive(
    leaves, lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=4)), max_leaves=4
)
ranges = st.builds(
    lambda start, size, step: range(start, start + size * step, step),
    integers,
    st.integers(0, 20),
    st.integers(-3, 3).filter(bool),
)


class Number(int):
    def __eq__(self, other: object) -> bool:
        return not int.__eq__(self, other)

    __hash__ = int.__hash__


class Text(str):
    def __lt__(self, other: str) -> bool:
        return True


class Items(list):  # type: ignore[type-arg]
    def __len__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return item == 1


class Named:
    """Called like a class that is measured, and none."""


Named.__qualname__ = "Decimal"

zone = datetime.timezone(datetime.timedelta(hours=5))
subclasses = st.one_of(
    st.builds(Number, st.integers(-3, 3)),
    st.builds(Text, short_texts),
    st.builds(Items, st.lists(st.integers(-3, 3), max_size=3)),
    st.builds(type("Fraction_", (Fraction,), {}), st.integers(-3, 3)),
)
measured_in_python = st.one_of(
    st.decimals(-1000, 1000, places=3)
    | st.decimals(allow_nan=True, min_value=None).filter(lambda d: not d.is_finite()),
    st.fractions(),
    st.dates(),
    st.timedeltas(),
    st.datetimes(timezones=st.sampled_from([None, zone, datetime.UTC])),
    st.sampled_from([Decimal("sNaN"), Decimal("Infinity"), Decimal(10) ** 400, datetime.time(3), Named(), Named]),
)
containers = st.recursive(
    leaves | measured_in_python,
    lambda inner: st.one_of(
        st.lists(inner, max_size=12),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashable, inner, max_size=4),
        st.sets(hashable, max_size=4),
        st.frozensets(hashable, max_size=12),
    ),
    max_leaves=12,
)
views = st.dictionaries(hashable, leaves, max_size=3).flatmap(
    lambda mapping: st.sampled_from([mapping.keys(), mapping.values(), mapping.items()])
)
classes = st.sampled_from([int, object, type, len, math, Ellipsis, NotImplemented, Number, object()])


class Vague:
    """Compares like an array: what comes out is no bool, and has a truth only where it says so."""

    def __init__(self, truth: object) -> None:
        self.truth = truth

    def _compared(self, other: object) -> Vague:
        return self

    __lt__ = __le__ = __eq__ = __ne__ = __gt__ = __ge__ = _compared  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        if isinstance(self.truth, BaseException):
            raise self.truth
        return self.truth  # type: ignore[return-value]

    def __contains__(self, item: object) -> Vague:
        return self


class Hostile:
    """Each of its methods notes that it was called and then does what is said: raise, return, or call a probe again."""

    def __init__(self, answers: dict[str, object], log: list[str]) -> None:
        self.answers = answers
        self.log = log

    def _answer(self, name: str, *arguments: object) -> Any:
        self.log.append(name)
        answer = self.answers.get(name, NotImplemented)
        if isinstance(answer, type) and issubclass(answer, BaseException):
            raise answer(name)
        return answer

    def __hash__(self) -> int:
        return int(self._answer("hash") or 0) if isinstance(self.answers.get("hash"), int) else 7


for _name in ("lt", "le", "eq", "ne", "gt", "ge", "contains", "bool", "len", "iter", "sub", "abs", "getitem"):
    setattr(
        Hostile,
        f"__{_name}__",
        (lambda name: lambda self, *arguments: self._answer(name, *arguments))(_name),
    )

ANSWERS = [
    True,
    False,
    None,
    0,
    1,
    3,
    -1,
    "",
    "x",
    2.5,
    [],
    [1],
    NotImplemented,
    KeyError,
    ValueError,
    StopIteration,
    SystemExit,
]
LOG: list[str] = []
hostile = st.dictionaries(
    st.sampled_from(["lt", "le", "eq", "ne", "gt", "ge", "contains", "bool", "len", "iter", "hash"]),
    st.sampled_from(ANSWERS),
).map(lambda answers: Hostile(answers, LOG))
vague = st.sampled_from([True, False, ValueError("ambiguous"), 1]).map(Vague)

operands = st.one_of(
    leaves,
    containers,
    st.lists(leaves, max_size=70),
    bytes_.map(bytearray),
    ranges,
    views,
    subclasses,
    measured_in_python,
    classes,
    vague,
    hostile,
)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two operands: unrelated, alike, or one of them an element of the other."""
    left = draw(operands)
    match draw(st.integers(0, 4)):
        case 0:
            return left, draw(operands)
        case 1:
            return left, left
        case 2:
            return left, [left, draw(leaves)]
        case 3:
            return draw(leaves), draw(st.lists(leaves, max_size=10))
        case _:
            kind = draw(
                st.sampled_from([integers, floats, texts, bytes_, st.lists(integers), st.sets(integers | texts)])
            )
            return draw(kind), draw(kind)


# Both factories


class Both:
    """One module under both factories."""

    def __init__(self, source: str, fuel: int = 10**6, mutants: Iterable[Mutant] | None = None) -> None:
        instrumented = instrument(source, "both.py", INFECTION, mutants=mutants)
        self.recorders = [Recorder(instrumented.plan.sites, fuel, factory) for factory in FACTORIES]
        self.modules: list[dict[str, Any]] = []
        for recorder in self.recorders:
            self.modules.append({"__name__": "both"})
            exec(instrumented.code(recorder.probe), self.modules[-1])
            recorder.runner_codes.add(called.__code__)
            recorder.settle()

    def begin(self, needs: frozenset[str] = frozenset()) -> None:
        for recorder in self.recorders:
            recorder.begin(needs)

    def call(self, name: str, arguments: Callable[[], tuple[Any, ...]]) -> Any:
        """What both answered, which must be the same."""
        answers = []
        for recorder, module in zip(self.recorders, self.modules, strict=True):
            LOG.clear()
            answers.append((*called(recorder, module[name], arguments()), LOG[:]))
        assert answers[0] == answers[1]
        return answers[0]

    def agree(self) -> None:
        """Everything that was recorded is the same."""
        python, c = self.recorders
        (reached, direct, stops, infected), (reached_in_c, direct_in_c, stops_in_c, infected_in_c) = (
            r.snapshot_key() for r in self.recorders
        )
        assert (infected is None) == (infected_in_c is None)
        if infected is not None and infected_in_c is not None:
            assert [array("I", part).tolist() for part in infected] == [
                array("I", part).tolist() for part in infected_in_c
            ]
        assert unpacked(reached) == unpacked(reached_in_c)
        assert (reached, stops, list(python.constants)) == (reached_in_c, stops_in_c, list(c.constants))
        assert (direct is None) == (direct_in_c is None)
        if direct is not None and direct_in_c is not None:
            assert unpacked(direct) == unpacked(direct_in_c)
            assert direct == direct_in_c
        assert (python.burnt, python.fuel_left) == (c.burnt, c.fuel_left)
        assert python.counts == c.counts and python.direct_counts == c.direct_counts


def unpacked(reached: tuple[bytes, ...]) -> list[list[float]]:
    return [array(code, part).tolist() for code, part in zip("IId", reached, strict=True)]


def called(recorder: Recorder, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, str]:
    """Kind and text of what came back or was raised; the text has addresses of the same objects only."""
    try:
        result = function(*arguments)
        if isinstance(result, Generator):
            result = list(result)
    except BaseException as error:
        recorder.stopped(error.__traceback__)
        return type(error).__name__, str(error)
    return type(result).__name__, repr(result)


BOTH = Both(SOURCE)
BOTH_LOOPS = Both(LOOPS)
BOTH_APPLIED = Both(APPLIED)
BOTH_ASYNCHRONOUS = Both(ASYNCHRONOUS)
EVERYTHING = frozenset({"direct", "constants"})
SIGNS_AND_COMPARISONS = [*COMPARISONS.values(), *SIGNS.values(), *(f"{sign}=" for sign in SIGNS.values())]
needs = st.frozensets(st.sampled_from(["direct", "constants", "infection"]))


@settings(max_examples=6 * EXAMPLES)
@given(needs, st.lists(st.tuples(st.sampled_from(functions_of(SOURCE)), pairs()), min_size=1, max_size=4))
@example(frozenset(), [("equal", (0, Hostile({"eq": True}, LOG))), ("equal", (0, 0))])
@example(frozenset(), [("equal", ("", Hostile({"eq": True}, LOG))), ("equal", ("", ""))])
def test_they_agree_on_any_operands(needs: frozenset[str], calls: list[tuple[str, tuple[Any, Any]]]) -> None:
    BOTH.begin(needs)
    for name, pair in calls:
        BOTH.call(name, lambda pair=pair: pair)
    BOTH.agree()


@settings(max_examples=3 * EXAMPLES)
@given(pairs())
@example((math.nan, math.nan))
@example(("a" * 1023 + "b", "a" * 1023 + "c"))
@example(("a" * 1025, "a" * 1024 + "b"))
@example(("b" * 40, "a" * 2000))
@example((b"b", b"a" * 2000))
@example((range(10**30), 3))
@example((5, range(10**30)))
@example((-5.5, range(20)))
@example((10**30, range(10**30)))
@example((math.nan, range(3)))
@example((True, range(2, 9)))
@example(({1: [1], 2: (2,)}, {1: [1, 2], 3: (2,)}))
@example(([[[[1]]]], [[[[2]]]]))
@example((2**64, -(2**63)))
@example((-(2**63), 2**63 - 1))
@example((2**53 + 1, float(2**53)))
@example((2**70, 2.0**70 + 2.0**40))
@example((2.0**70, 2**70))
@example((10**400, 1.5))
@example((10**400, math.nan))
@example((1 + 2j, 1 - 5j))
@example((complex(math.inf, 0), complex(math.nan, 0)))
@example((complex(1e308, 1e308), -complex(1e308, 1e308)))
@example((complex(1e308, 1e308), [1e308 - 1e308j]))
@example((None, [None, 1, None]))
@example(([None, 1], [None, 2]))
@example((300, b"abc"))
@example((5, b""))
@example((5, b"abc"))
@example(("a", range(5)))
@example((None, range(5)))
@example(({1, 2}, frozenset({2, 3})))
@example(({1, (2, object)}, frozenset({2, 3})))
@example(({1: object()}, {1: object(), 2: 3}))
@example(([0] * 8 + [1], [0] * 8 + [2]))
@example(([0] * 8 + [1, 2], [0] * 8 + [1]))
@example((list(range(65)), list(range(66))))
@example((bytearray(b"abcd"), bytearray(b"abx")))
@example((bytearray(b"abcd"), b"abcd"))
@example(("b", "\ud800a\U0001f600"))
@example((Decimal("1.5"), 2))
@example((Fraction(1, 3), Decimal("sNaN")))
@example((Named(), Decimal(1)))
@example(([Decimal(1)], [Decimal(2)]))
def test_they_agree_on_every_operator(pair: tuple[Any, Any]) -> None:
    for needs in (frozenset[str](), EVERYTHING):
        BOTH.begin(needs)
        for name in functions_of(SOURCE):
            BOTH.call(name, lambda: pair)
        BOTH.agree()


LITERALS = """
def literal(a, b): return a == "a", a < "b", "b" != b, a == 3, b > 2.5
def contained(a, b): return a in ("a", "b", 3), b in "abc", a in {1, 2, "a"}, b not in [a, 1]
def filtered(a, b): return [x for x in (a, b, "a") if x != "a"]
def repeated(a, b):
    for i in range(150):
        if a == i or b == "x" * i or i in (7, a): pass
"""
BOTH_LITERALS = Both(LITERALS)


@settings(max_examples=2 * EXAMPLES)
@given(
    st.lists(
        st.tuples(
            needs,
            st.booleans(),
            st.lists(st.tuples(st.sampled_from(functions_of(LITERALS)), st.tuples(leaves, leaves)), max_size=4),
        ),
        max_size=4,
    )
)
@example([(frozenset(), False, [("literal", ("x", 0))]), (EVERYTHING, False, [("literal", ("x", 0))])])
@example([(EVERYTHING - {"direct"}, True, [("literal", ("y", 1))])] * 2)
def test_they_tell_the_same_operands_in_the_same_order(
    testcases: list[tuple[frozenset[str], bool, list[tuple[str, tuple[Any, Any]]]]],
) -> None:
    for recorder in BOTH_LITERALS.recorders:  # as in a new process
        recorder.begin()
        recorder.constants.clear()
        for kept in recorder.kept.values():
            kept.clear()
    for needs, unlearns, calls in testcases:
        BOTH_LITERALS.begin(needs)
        for name, pair in calls:
            BOTH_LITERALS.call(name, lambda pair=pair: pair)
        BOTH_LITERALS.agree()
        if unlearns:
            for recorder in BOTH_LITERALS.recorders:
                recorder.discard_collected()
        BOTH_LITERALS.agree()


class Steps:
    """An iterator of its own making, which may end or fail where it likes and notes that it was asked."""

    def __init__(self, items: list[Any], iterable: bool = True) -> None:
        self.items = items[:]

    def __next__(self) -> Any:
        LOG.append("next")
        if not self.items:
            raise StopIteration
        item = self.items.pop(0)
        if isinstance(item, type) and issubclass(item, BaseException):
            raise item
        return item


class Walkable(Steps):
    def __iter__(self) -> Any:
        LOG.append("iter")
        return Steps(self.items)


def generated(items: list[Any]) -> Any:
    yield from items


WAYS: list[Callable[[list[Any]], Any]] = [
    *(lambda items: items, tuple, iter, generated, Walkable, Steps, enumerate, reversed),
    *(lambda items: dict.fromkeys(range(len(items))), lambda items: {}.keys(), lambda items: iter(range(len(items)))),
    *(lambda items: range(len(items)), lambda items: iter("".join("x" for _ in items)), lambda items: map(str, items)),
    *(lambda items: iter({}.items()), lambda items: bytearray(len(items)), lambda items: Items(items), lambda items: 3),
]


@settings(max_examples=3 * EXAMPLES)
@given(
    needs,
    st.lists(
        st.tuples(
            st.sampled_from(functions_of(LOOPS)),
            st.sampled_from(WAYS),
            st.lists(st.sampled_from([0, 1, "ab", (1, 2), KeyError, None, StopIteration]), max_size=3),
        ),
        min_size=1,
        max_size=4,
    ),
)
def test_they_agree_on_loops(
    needs: frozenset[str], calls: list[tuple[str, Callable[[list[Any]], Any], list[Any]]]
) -> None:
    BOTH_LOOPS.begin(needs)
    for name, way, items in calls:
        BOTH_LOOPS.call(name, lambda way=way, items=items: (way(items),))
    BOTH_LOOPS.agree()


def fresh(value: Any) -> Any:
    """A copy of what an augmented assignment may change."""
    return copy.copy(value) if type(value) in (list, set, dict, bytearray) else value


@settings(max_examples=3 * EXAMPLES)
@given(needs, st.lists(st.tuples(st.sampled_from(functions_of(APPLIED)), pairs()), min_size=1, max_size=4))
def test_they_agree_on_arithmetic(needs: frozenset[str], calls: list[tuple[str, tuple[Any, Any]]]) -> None:
    BOTH_APPLIED.begin(needs | INFECTION)
    for name, pair in calls:
        # A text times a large number would fill the memory.
        most = 10**20 if {*map(type, pair)} <= {int, bool, float, complex} else 100
        if all(type(operand) is not int or abs(operand) < most for operand in pair):
            BOTH_APPLIED.call(name, lambda pair=pair: (fresh(pair[0]), pair[1]))
    BOTH_APPLIED.agree()


CHANGED = """
def numbers(a, b): return -a < b
def used(a, b):
    c = [a, b]
    d = c
    return a, b, c, d, [a for a in c if a is not b]
def in_turn(a, b):
    for each in (a, b, a):
        if each: b = a
    return b - each
def of_attributes(a, b): return a.real + b.real * a.imag
def chained(a, b): return 1 if 0 <= a < b else 2
"""
BOTH_CHANGED = Both(CHANGED, mutants=mutants(CHANGED))


@settings(max_examples=3 * EXAMPLES)
@given(needs, st.lists(st.tuples(st.sampled_from(functions_of(CHANGED)), pairs()), min_size=1, max_size=4))
def test_they_agree_on_values(needs: frozenset[str], calls: list[tuple[str, tuple[Any, Any]]]) -> None:
    BOTH_CHANGED.begin(needs | INFECTION)
    for name, pair in calls:
        if all(type(operand) is not int or abs(operand) < 10**20 for operand in pair):
            BOTH_CHANGED.call(name, lambda pair=pair: pair)
    BOTH_CHANGED.agree()


@settings(max_examples=2 * EXAMPLES)
@given(st.data(), needs, pairs(), pairs())
def test_they_agree_on_flipped_operators(
    data: st.DataObject, needs: frozenset[str], pair: tuple[Any, Any], other: tuple[Any, Any]
) -> None:
    both, source = data.draw(st.sampled_from([(BOTH, SOURCE), (BOTH_APPLIED, APPLIED)]))
    sites = [site for site in both.recorders[0].sites if site.operator]
    site = data.draw(st.sampled_from(sites))
    signs = [sign for sign in SIGNS_AND_COMPARISONS if are_alike(site.operator, sign)]
    name = functions_of(source)[site.function - 1]
    sign = data.draw(st.sampled_from(signs))
    for recorder in both.recorders:
        recorder.flip(site.id, sign)
    try:
        both.begin(needs)
        for operands in (pair, other, pair):
            # A power of large numbers would fill the memory, and so would a text times one.
            if both is BOTH or all(not isinstance(part, int) or abs(int(part)) < 60 for part in operands):
                both.call(name, lambda operands=operands: (fresh(operands[0]), operands[1]))  # type: ignore[misc]
        both.agree()
    finally:
        for recorder in both.recorders:
            recorder.flip(site.id, site.operator)


def test_what_mutants_do_at_import_is_settled() -> None:
    both = Both(f"{CHANGED}\nx = numbers(3, 4)\n", mutants=mutants(CHANGED))
    for recorder in both.recorders:
        assert recorder.infected() is None
        recorder.begin(INFECTION)
        assert recorder.infected() == (b"", b""), "the import did not ask for it"
        both.modules[0 if recorder is both.recorders[0] else 1]["numbers"](3, 4)
        seen = recorder.infected()
        assert seen is not None and seen[0]
        recorder.settle()
        recorder.begin()
        assert recorder.infected() is None
        recorder.begin(INFECTION)
        assert recorder.infected() == seen
    both.agree()


class Later:
    """An asynchronous iterable; what is asked of it is noted."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items[:]

    def __aiter__(self) -> Any:
        LOG.append("aiter")
        return self

    async def __anext__(self) -> Any:
        LOG.append("anext")
        if not self.items:
            raise StopAsyncIteration
        item = self.items.pop(0)
        if isinstance(item, type) and issubclass(item, BaseException):
            raise item
        return item


async def arriving(items: list[Any]) -> Any:
    for item in items:
        yield item


def driven(function: Callable[[Any], Any], iterable: Any) -> Any:
    """The result of a coroutine, or the items of an asynchronous generator, that never waits."""
    made = function(iterable)
    if hasattr(made, "__anext__"):
        made = collected(made)
    try:
        while True:
            made.send(None)
    except StopIteration as end:
        return end.value


async def collected(items: Any) -> list[Any]:
    return [item async for item in items]


@settings(max_examples=EXAMPLES)
@given(
    needs,
    st.sampled_from(functions_of(ASYNCHRONOUS)),
    st.sampled_from(
        [Later, arriving, list, lambda items: 3, lambda items: type("No", (), {"__aiter__": lambda self: 3})()]
    ),
    st.lists(st.sampled_from([0, 1, "ab", KeyError, None]), max_size=3),
)
def test_they_agree_on_asynchronous_loops(
    needs: frozenset[str], name: str, way: Callable[[list[Any]], Any], items: list[Any]
) -> None:
    BOTH_ASYNCHRONOUS.begin(needs)
    answers = []
    for recorder, module in zip(BOTH_ASYNCHRONOUS.recorders, BOTH_ASYNCHRONOUS.modules, strict=True):
        LOG.clear()
        answers.append((*called(recorder, driven, (module[name], way(items))), LOG[:]))
    assert answers[0] == answers[1]
    BOTH_ASYNCHRONOUS.agree()


# Whatever operands do while they are compared

REENTRANT = """
def f(a, b):
    return 1 if a < b else 2
def g(a, b):
    return [x for x in a if x == b]
def h(a, b):
    return a in b, (a or b)
"""


class Meddling:
    """Runs something whenever it is compared or asked for its truth."""

    def __init__(self, meddle: Callable[[], object]) -> None:
        self.meddle = meddle

    def __eq__(self, other: object) -> bool:
        self.meddle()
        return False

    def __lt__(self, other: object) -> bool:
        self.meddle()
        return True

    def __bool__(self) -> bool:
        self.meddle()
        return False

    def __hash__(self) -> int:
        return 7  # and no address, so that sets have the same order


def test_a_container_may_be_changed_while_it_is_compared() -> None:
    both = Both(REENTRANT)
    for needs in (frozenset[str](), EVERYTHING):
        both.begin(needs)
        for kind in (list, set, dict.fromkeys):
            answers = []
            for recorder, module in zip(both.recorders, both.modules, strict=True):
                container: Any = kind([])
                meddler = Meddling(container.clear)
                container = kind([1, meddler, 2])
                meddler.meddle = container.clear
                again = [called(recorder, module[name], (1, container)) for name in ("f", "h")]
                again += [called(recorder, module[name], (container, [3, meddler])) for name in ("f", "g", "h")]
                answers.append([kind for kind, _ in again])
            assert answers[0] == answers[1]
        both.agree()


def test_a_probe_may_be_entered_again_while_it_compares() -> None:
    both = Both(REENTRANT)
    both.begin()
    for module in both.modules:
        module["f"](Meddling(lambda module=module: module["f"](2, 9)), 1)
        module["h"](
            Meddling(lambda module=module: module["h"](2, [9])), [Meddling(lambda module=module: module["f"](0, 0))]
        )
    both.agree()


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_test_case_may_begin_settle_or_be_interrupted_while_a_probe_compares(factory: Any) -> None:
    recorder = Recorder(instrument(REENTRANT, "both.py").plan.sites, 100, factory)
    module: dict[str, Any] = {}
    exec(instrument(REENTRANT, "both.py").code(recorder.probe), module)
    for meddle in (recorder.begin, recorder.settle, recorder.snapshot, lambda: recorder.begin(frozenset({"direct"}))):
        module["f"](Meddling(meddle), 1)
        module["h"](Meddling(meddle), [Meddling(meddle)])
    recorder.begin()
    module["f"](Meddling(recorder.interrupt), 1)
    with pytest.raises(OutOfFuel):
        module["f"](1, 2)


def test_a_loop_that_outlives_its_test_case_tells_the_next_one_nothing() -> None:
    source = "def f(xs):\n    return (x for x in xs)\n"
    both = Both(source)
    left_over = [module["f"](generated([1])) for module in both.modules]
    both.begin()
    assert [next(loop) for loop in left_over] == [1, 1]
    both.agree()
    both.begin()
    both.agree()


def test_they_run_out_of_fuel_at_the_same_visit() -> None:
    source = (
        "def f(n):\n    for i in range(n):\n        for j in (1, 2): pass\n        g(i)\ndef g(x):\n    return x < 5\n"
    )
    both = Both(source, fuel=400)
    for n in (10, 79, 80, 95, 1000):
        for needs in (frozenset[str](), frozenset({"direct"})):
            both.begin(needs)
            both.call("f", lambda n=n: (n,))
            both.agree()
