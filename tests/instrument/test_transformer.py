"""Instrumented programs: the records of each construct, and unchanged behaviour. One row for each construct."""

import ast
import contextlib
import inspect
import sys
import traceback
import types
import warnings
from textwrap import dedent

import pytest

from fitgym.instrument.lines import block_lines, covered_lines
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.relations import FALSE_SLOTS, TRUE_SLOTS
from fitgym.instrument.rewriting import rewriter
from fitgym.instrument.rewriting.plan import plan
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.subject.dependence import branches, dependences

PROGRAMS = {
    "if_else": """
        def f(x):
            if x < 3:
                return 1
            else:
                return 2
    """,
    "elif": """
        def f(x):
            if x == 1:
                y = "one"
            elif x == 2:
                y = "two"
            else:
                y = "many"
            return y
    """,
    "and_or_in_if": """
        def f(a, b, c):
            if a and (b or not c):
                return 1
    """,
    "and_in_value": """
        def f(a, b, c):
            return a and b or c
    """,
    "not_in_value": """
        def f(a, b):
            return not (a and b)
    """,
    "bare_comparison_is_no_branch": """
        def f(a, b):
            return a < b
    """,
    "last_operand_is_value": """
        def f(a, b):
            return a is None or a < b
    """,
    "ternary": """
        def f(a):
            return "x" if a > 0 else "y" if a else "z"
    """,
    "while_else": """
        def f(n):
            while n > 0:
                n -= 1
                if n == 5:
                    break
            else:
                n = 100
            return n
    """,
    "while_true": """
        def f(n):
            while True:
                n -= 1
                if n < 0:
                    return n
            return 7
    """,
    "for_else": """
        def f(xs):
            for x in xs:
                if x:
                    break
            else:
                return "none"
            return x
    """,
    "for_over_generator": """
        def f(n):
            total = 0
            for x in (i * i for i in range(n)):
                total += x
            return total
    """,
    "nested_continue": """
        def f(xs):
            out = []
            for x in xs:
                if x % 2:
                    continue
                out.append(x)
            return out
    """,
    "chain_of_locals": """
        def f(x):
            if 0 <= x < 10:
                return 1
            return 0
    """,
    "chain_of_others": """
        def f(x, y):
            if 0 <= x.real < y:
                return 1
            return 0
    """,
    "membership": """
        def f(x, y):
            if x in y and x is not None:
                return 1
            return x not in y
    """,
    "comprehension": """
        def f(xs):
            return [x for x in xs if x > 1 if x % 2]
    """,
    "nested_comprehension": """
        def f(xs):
            return {x: y for x in xs if x for y in range(x) if y != 2}
    """,
    "generator_expression": """
        def f(xs):
            return any(x == 3 for x in xs)
    """,
    "assert": """
        def f(x):
            assert x > 0, "not " + str(x)
            return x
    """,
    "lambda": """
        def f(x):
            g = lambda y, z=x > 2: y or z
            return g(0)
    """,
    "try_except": """
        def f(x):
            try:
                y = int(x)
                y += 1
            except ValueError:
                y = -1
            except (TypeError, KeyError) as error:
                return str(type(error))
            else:
                y *= 2
            finally:
                z = 1
            return y
    """,
    "bare_except": """
        def f(x):
            try:
                return 1 / x
            except:
                return 0
    """,
    "try_finally": """
        def f(x):
            try:
                return 1 / x
            finally:
                x = None
            return 5
    """,
    "reraise": """
        def f(x):
            try:
                g(x)
                x = 1
            except ValueError:
                raise
            return x

        def g(x):
            if x:
                raise ValueError(x)
            return x
    """,
    "except_star": """
        def f(kinds):
            try:
                raise ExceptionGroup("g", [kind() for kind in kinds])
            except* ValueError:
                a = 1
            except* TypeError:
                a = 2
            return a
    """,
    "with": """
        import contextlib
        def f(x):
            with contextlib.suppress(ZeroDivisionError) as c, contextlib.nullcontext():
                y = 1 / x
                x = 5
            return x
    """,
    "with_always_returns": """
        import contextlib
        def f(x):
            with contextlib.suppress(ZeroDivisionError):
                return 1 / x
            return x
    """,
    "match": """
        def f(x):
            match x:
                case 0 | 1:
                    return "bit"
                case [a, b] if a == b:
                    return "pair"
                case {"k": v}:
                    return v
                case str():
                    return "text"
                case other if other:
                    return "true"
                case _:
                    return "rest"
    """,
    "match_without_wildcard": """
        def f(x):
            match x:
                case 1: y = 2
                case (2): y = 3
                case 3 if x > 5: y = 4
            return x
    """,
    "generator": """
        def f(n):
            while n:
                yield n
                n -= 1
            return 7
    """,
    "yield_splits_a_block": """
        def f(n):
            a = 1
            b = yield a
            c = 2
            yield c
    """,
    "coroutine": """
        async def g(x):
            return x
        async def f(x):
            if await g(x) > 1:
                return [y async for y in h(x) if y]
        async def h(x):
            for i in range(x):
                yield i
        def run(c):
            import asyncio
            return asyncio.run(c)
    """,
    "async_for": """
        async def h(x):
            for i in range(x):
                yield i
        async def f(x):
            async for y in h(x):
                if y == 1:
                    break
            else:
                return "else"
            return y
        def run(c):
            import asyncio
            return asyncio.run(c)
    """,
    "async_with": """
        import contextlib
        async def f(x):
            async with contextlib.AsyncExitStack() as s:
                x += 1
            return x
        def run(c):
            import asyncio
            return asyncio.run(c)
    """,
    "class_body": """
        class A:
            "Doc."
            x = 3
            ys = [i for i in range(x) if i > 0]
            if x == 3:
                z = x
            def m(self):
                return self.z
        def f():
            return A().m(), A.ys, A.__doc__
    """,
    "name_mangling": """
        class A:
            def __init__(self, v):
                self.__v = v
            def m(self, __w=2):
                if self.__v == __w:
                    return [self.__v for __i in (1,) if __i]
    """,
    "super_and_class": """
        class A:
            def m(self, x):
                return x or 1
        class B(A):
            def m(self, x):
                if super().m(x) == 1:
                    return __class__.__name__
    """,
    "walrus": """
        def f(xs):
            if (n := len(xs)) > 2:
                return n
            while (x := xs.pop()):
                pass
            return [y for x in [1, 2] if (y := x) > 1], y
    """,
    "nonlocal_and_global": """
        G = 0
        def f():
            global G
            n = 0
            def g():
                nonlocal n
                if not n:
                    n = 1
                return n
            G = g()
            return G, n
    """,
    "decorators_and_defaults": """
        import functools
        def deco(flag):
            return lambda f: f if flag else None
        @deco(1 < 2)
        @functools.lru_cache
        def f(x=3 > 2, *, y=0 or 4):
            return x, y
    """,
    "f_string": """
        def f(x):
            return f"{x > 1!r} {x if x else 'none'}"
    """,
    "constants_are_no_predicates": """
        def f(x):
            if 0:
                x = 1
            if not 0:
                x = 2
            if __debug__ and 1:
                x += 3
            while 0:
                x = 4
            return 5 if True else x
    """,
    "dead_code": """
        def f(x):
            if x:
                return 1
                x = 2
            else:
                raise KeyError(x)
            return x
    """,
    "annotations": """
        from dataclasses import dataclass
        @dataclass
        class P:
            x: int if 1 < 2 else str
            y: "no such" = 3
        def f(a: 1 < 2) -> (3 if 4 else 5):
            b: int
            c: int = 3
            return f.__annotations__, P.__annotations__, P(1).y
    """,
    "future": '''
        """Doc."""
        from __future__ import annotations
        import sys
        def f(x: nonsense):
            """Doc."""
            return f.__annotations__, f.__doc__, __doc__, f.__code__.co_consts[0]
    ''',
    "docstring_only": '''
        def f():
            """Doc."""
        class C:
            """Doc."""
    ''',
    "one_line": """
        def f(x): return 1 if x else 2
        def g(x):
            if x: return 1
            a = 1; b = 2
            for i in x: pass
            return a
    """,
    "swallowed_in_called": """
        def f(x):
            try:
                return g(x)
            except ValueError:
                return 0
        def g(x):
            y = h(x)
            return y
        def h(x):
            if x:
                raise ValueError
            return 1
    """,
    "slots": """
        class A:
            __slots__ = ("x",)
            def __init__(self, x):
                self.x = x
        def f():
            return hasattr(A(1), "__dict__"), sorted(k for k in vars(A) if not k.startswith("__"))
    """,
    "enum_and_namedtuple": """
        import enum, typing
        class E(enum.Enum):
            A = 1
            B = 2 if A == 1 else 3
        class N(typing.NamedTuple):
            x: int
            y: int = 2
        def f():
            return [(e.name, e.value) for e in E], N(1), N._fields
    """,
}

# Program, call, then for every predicate in order its line and its outcomes (T, F, TF, or - if it was not reached; ~ marks
# comparisons that decide nothing), then the lines inside functions that did not run.
CALLS = [
    ("if_else", "f(1)", "2T", "5"),
    ("elif", "f(2)", "2F 4T", "3 7"),
    ("and_or_in_if", "f(1, 0, 0)", "2T 2F 2F", ""),
    ("and_in_value", "f(1, 0, 5)", "2T 2F", ""),
    ("not_in_value", "f(1, 0)", "2T", ""),
    ("bare_comparison_is_no_branch", "f(1, 2)", "2~T", ""),
    ("last_operand_is_value", "f(1, 2)", "2F 2~T", ""),
    ("ternary", "f(0)", "2F 2F", ""),
    ("while_else", "f(2)", "2TF 4F", "5"),
    ("while_else", "f(7)", "2T 4TF", "7"),
    ("while_true", "f(1)", "4TF", ""),
    ("for_else", "f([])", "2F 3-", "3 4 7"),
    ("for_else", "f([0])", "2T 3F", "4 7"),
    ("for_else", "f((0, 4))", "2T 3TF", "6"),
    ("for_over_generator", "f(0)", "3F", "4"),
    ("for_over_generator", "f(4)", "3T", ""),
    ("nested_continue", "f([1, 2])", "3T 4TF", ""),
    ("chain_of_locals", "f(-1)", "2F 2-", "3"),
    ("chain_of_locals", "f(20)", "2T 2F", "3"),
    ("chain_of_others", "f(1, 2)", "2T", "4"),
    ("membership", "f(1, [2])", "2F 2- 4~T", "3"),
    ("comprehension", "f([1, 2])", "2TF 2F", ""),
    ("nested_comprehension", "f([0, 4])", "2TF 2TF", ""),
    ("generator_expression", "f([1, 3, 4])", "2~TF", ""),
    ("assert", "f(0)", "2F", "3"),
    ("assert", "f(1)", "2T", ""),
    ("lambda", "f(3)", "2~T 2F", ""),
    ("try_except", "f('1')", "", "5 6 7 8"),
    ("try_except", "f('a')", "", "4 7 8 10"),
    ("try_except", "f(None)", "", "4 6 10 13"),
    ("bare_except", "f(0)", "", ""),
    ("try_finally", "f(0)", "", ""),
    ("try_finally", "f(1)", "", ""),
    ("reraise", "f(1)", "10T", "4 7 12"),
    ("reraise", "f(0)", "10F", "5 6 11"),
    ("except_star", "f([ValueError, TypeError])", "", ""),
    ("with", "f(0)", "", "5"),
    ("with", "f(1)", "", ""),
    ("with_always_returns", "f(0)", "", ""),
    ("with_always_returns", "f(1)", "", "5"),
    ("match", "f(1)", "3T 5- 5- 7- 9- 11-", "5 6 7 8 9 10 11 12 13 14"),
    ("match", "f([2, 2])", "3F 5T 5T 7- 9- 11-", "4 7 8 9 10 11 12 13 14"),
    ("match", "f([2, 3])", "3F 5T 5F 7F 9F 11T", "4 6 8 10 13 14"),
    ("match", "f({'k': 4})", "3F 5F 5- 7T 9- 11-", "4 6 9 10 11 12 13 14"),
    ("match", "f('a')", "3F 5F 5- 7F 9T 11-", "4 6 8 11 12 13 14"),
    ("match", "f(None)", "3F 5F 5- 7F 9F 11F", "4 6 8 10 12"),
    ("match_without_wildcard", "f(3)", "3F 4F 5T 5F", ""),
    ("match_without_wildcard", "f(9)", "3F 4F 5F 5-", ""),
    ("generator", "list(f(2))", "2TF", ""),
    ("generator", "next(f(2))", "2T", "4 5"),
    ("yield_splits_a_block", "next(f(0))", "", "4 5"),
    ("coroutine", "run(f(3))", "4T 5TF 7T", ""),
    ("async_for", "run(f(0))", "2F 5F 6-", "3 6 7 10"),
    ("async_for", "run(f(1))", "2T 5T 6F", "7 10"),
    ("async_for", "run(f(3))", "2T 5T 6TF", "9"),
    ("async_for", "run(f('no'))", "2- 5- 6-", "3 6 7 9 10"),
    ("async_with", "run(f(0))", "", ""),
    ("class_body", "f()", "4- 5-", ""),
    ("name_mangling", "A(2).m()", "5T 6T", ""),
    ("super_and_class", "B().m(0)", "3F 6T", ""),
    ("walrus", "f([0, 3])", "2F 4TF 6TF", "3"),
    ("nonlocal_and_global", "f()", "7F", ""),
    ("decorators_and_defaults", "f()", "3- 4~- 6~-", "3"),
    ("f_string", "f(0)", "2~F 2F", ""),
    ("constants_are_no_predicates", "f(0)", "", ""),
    ("dead_code", "f(1)", "2T", "6"),
    ("annotations", "f(1)", "", ""),
    ("future", "f(1)", "", ""),
    ("docstring_only", "f()", "", ""),
    ("docstring_only", "(f.__doc__, C.__doc__)", "", ""),
    ("one_line", "f(1)", "1T 3- 5-", "3 4 5 6"),
    ("one_line", "g(0)", "1- 3F 5-", "1 6"),
    ("one_line", "g(())", "1- 3F 5F", "1"),
    ("swallowed_in_called", "f(1)", "10T", "8 12"),
    ("swallowed_in_called", "f(0)", "10F", "4 5 11"),
    ("slots", "f()", "6TF", ""),
    ("enum_and_namedtuple", "f()", "4-", ""),
]

NEW_IN_312 = {
    "type_parameters": """
        import dataclasses
        def f[T: (int, str)](x: T) -> T:
            if x:
                return x
            return f.__type_params__[0].__constraints__
        type Pair[A] = tuple[A, A] if 1 < 2 else None
        @dataclasses.dataclass
        class Box[T](list if 1 < 2 else dict):
            v: T
            def get(self) -> T:
                return self.v if self.v else Pair.__value__
    """,
}

CALLS_312 = [
    ("type_parameters", "f(0)", "3F 11-", "4 11"),
    ("type_parameters", "str(Box(0).get())", "3- 11F", "3 4 5"),
]


@contextlib.contextmanager
def module(code, name="tiny"):
    """Execute the code as a module and clean up."""
    made = types.ModuleType(name)
    sys.modules[name] = made
    try:
        exec(code, vars(made))
        yield vars(made)
    finally:
        del sys.modules[name]


def end_of(namespace, call, stopped=lambda traceback: None):
    """What a caller can see of a call: the value, or the exception with the lines it passed through."""
    try:
        return repr(eval(call, namespace))
    except Exception as error:
        stopped(error.__traceback__)
        frames = traceback.extract_tb(error.__traceback__)
        return type(error), str(error), [frame.lineno for frame in frames if frame.filename == "tiny.py"]


def outcomes(recorder):
    """Every predicate in order, like `3TF`."""
    found = []
    for site in recorder.sites:
        if site.kind == "comparison":
            slots = [TRUE_SLOTS[site.operator], FALSE_SLOTS[site.operator]]
        elif site.width:
            slots = [(0,), (1,)]
        else:
            continue
        zero = [min(recorder.distances[site.slot + slot] for slot in some) == 0 for some in slots]
        marks = "".join(mark for mark, is_zero in zip("TF", zero, strict=True) if is_zero)
        found.append(f"{site.line}{'' if site.decides else '~'}{marks or '-'}")
    return " ".join(found)


def missed(recorder):
    """The lines inside functions that did not run."""
    inside = {line for site in recorder.sites if site.function for line in site.lines}
    return " ".join(map(str, sorted(inside - covered_lines(recorder.counts, recorder.stops(), recorder.sites))))


INFECTION = frozenset({"infection"})


def check(source, call, expected, not_run, needs=frozenset(), features=frozenset(), *, leading=False):
    source = dedent(source).strip()
    instrumented = instrument(source, "tiny.py", features, leading=leading)
    recorder = Recorder(instrumented.plan.sites)
    with module(compile(source, "tiny.py", "exec", dont_inherit=True)) as bare:
        wanted = end_of(bare, call)
    with module(instrumented.code(recorder.probe)) as probed:
        recorder.begin(needs)
        assert end_of(probed, call, recorder.stopped) == wanted
        assert set(probed) == set(bare)
    assert (outcomes(recorder), missed(recorder)) == (expected, not_run)


@pytest.mark.parametrize(("name", "call", "expected", "not_run"), CALLS)
def test_outcomes_and_lines_of(name, call, expected, not_run):
    check(PROGRAMS[name], call, expected, not_run)


@pytest.mark.parametrize(("name", "call", "expected", "not_run"), CALLS)
def test_recording_more_records_the_same(name, call, expected, not_run):
    check(PROGRAMS[name], call, expected, not_run, frozenset({"direct", "constants"}))


@pytest.mark.parametrize("features", [frozenset(), INFECTION], ids=["", "infection"])
@pytest.mark.parametrize(("name", "call", "expected", "not_run"), CALLS)
def test_conditions_that_count_what_they_lead_to_record_the_same(name, call, expected, not_run, features):
    check(PROGRAMS[name], call, expected, not_run, frozenset({"constants"}), features, leading=True)


@pytest.mark.parametrize("needs", [frozenset(), frozenset({"direct"})], ids=["", "direct"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_counts_are_the_same_whoever_counts(name, needs):
    calls = [call for other, call, *_ in CALLS if other == name]
    snapshots = []
    for leading in (False, True):
        instrumented = instrument(dedent(PROGRAMS[name]).strip(), "tiny.py", leading=leading)
        recorder = Recorder(instrumented.plan.sites)
        recorder.runner_codes.add(end_of.__code__)
        snapshots.append([])
        with module(instrumented.code(recorder.probe)) as probed:
            for call in calls:
                recorder.begin(needs)
                end_of(probed, call, recorder.stopped)
                snapshots[-1].append(recorder.snapshot_key())
    assert snapshots[0] == snapshots[1]


LEADS = {
    # What the conditions lead to, as the first lines of the blocks that begin when they are true, and false.
    "if a:\n        x = 1\n    y = 2": ["3 -"],
    "if a:\n        x = 1\n    else:\n        x = 2": ["3 5"],
    "if a < 1:\n        return 1\n    y = 2": ["3 4"],
    "if a < 1:\n        return 1\n    else:\n        x = 2\n    y = 2": ["3 5"],
    "if not a:\n        return 1\n    y = 2": ["4 3"],
    "if a and b:\n        return 1\n    y = 2": ["- 4", "3 4"],
    "if a or not b:\n        return 1\n    y = 2": ["3 -", "4 3"],
    "if a:\n        return 1\n    elif b:\n        return 2\n    y = 2": ["3 4", "5 6"],
    "if a:\n        x = 1\n    elif b:\n        return 2\n    y = 2": ["3 4", "5 -"],
    "if 0 < a < 5:\n        x = 1": ["- -", "3 -"],
    "if a if b else 0:\n        return 1\n    y = 2": ["- -", "- -"],
    "if a and 0:\n        return 1\n    y = 2": ["- -"],
    "while a:\n        if b: break\n        a -= 1\n    y = 2": ["- -", "3 4"],
    "if a:\n        return 1\n    try:\n        if b in a: raise KeyError\n        y = 1\n    except KeyError: pass": [
        "3 4",
        "5 6",
    ],
    "return a and b or 1": ["- -", "- -"],
}


@pytest.mark.parametrize("body", LEADS)
def test_a_condition_leads_to_blocks_that_begin_in_no_other_way(body):
    sites = instrument(f"def f(a, b):\n    {body}\n", "tiny.py").plan.sites
    shown = [
        " ".join("-" if block < 0 else str(sites[block].line) for block in site.leads or (-1, -1))
        for site in sites
        if site.kind in ("comparison", "membership", "truth")
    ]
    assert shown == LEADS[body]


@pytest.mark.parametrize(("name", "call", "expected", "not_run"), CALLS)
def test_probes_of_arithmetic_change_nothing_else(name, call, expected, not_run):
    check(PROGRAMS[name], call, expected, not_run, features=INFECTION)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
@pytest.mark.parametrize("leading", [False, True])
@pytest.mark.parametrize(("name", "call", "expected", "not_run"), CALLS_312)
def test_outcomes_and_lines_with_new_syntax(name, call, expected, not_run, leading):
    check(NEW_IN_312[name], call, expected, not_run, features=INFECTION, leading=leading)


def load(source, features=frozenset(), **form):
    """A module with probes, and its recorder; the module is not registered."""
    instrumented = instrument(dedent(source), "tiny.py", features, **form)
    recorder = Recorder(instrumented.plan.sites)
    namespace = {"__name__": "tiny"}
    exec(instrumented.code(recorder.probe), namespace)
    recorder.begin()
    return namespace, recorder


class Counted:
    """Counts how often it is asked for its truth and for comparisons."""

    def __init__(self, truth=True):
        self.truth = truth
        self.asked = []

    def __bool__(self):
        self.asked.append("bool")
        return self.truth

    def __lt__(self, other):
        self.asked.append("lt")
        return self

    def __eq__(self, other):
        self.asked.append("eq")
        return self.truth

    __hash__ = None

    def __contains__(self, other):
        self.asked.append("contains")
        return self.truth

    def __len__(self):
        raise AssertionError("nobody asked for a length")


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        ("1 if x else 2", ["bool"]),
        ("1 if not x else 2", ["bool"]),
        ("1 if x and x else 2", ["bool", "bool"]),
        ("1 if x < 1 else 2", ["lt", "bool"]),
        ("1 if x == 1 else 2", ["eq"]),
        ("1 if 1 in x else 2", ["contains"]),
        ("1 if x is None else 2", []),
        ("x < 1", ["lt"]),
        ("not x", ["bool"]),
        ("[1 for _ in (1,) if x]", ["bool"]),
        ("x or 1", ["bool", "bool"]),
    ],
)
def test_operands_are_asked_as_often_as_without_probes(condition, asked):
    namespace, _ = load(f"def f(x):\n    return {condition}\n")
    bare = {}
    exec(f"def f(x):\n    return {condition}\n", bare)
    original, probed = Counted(), Counted()
    bare["f"](original)
    namespace["f"](probed)
    if " or " in condition:
        # The one exception: the probe of an operand whose value is used has to ask for the truth, and so has `or` itself.
        assert (original.asked, probed.asked) == (["bool"], asked)
    else:
        assert (original.asked, probed.asked) == (asked, asked)


class Vector:
    """Compares to something that has no truth value, like an array."""

    def __init__(self, name):
        self.name = name

    def _compare(self, other):
        return Vector(f"{self.name}?{other}")

    __lt__ = __eq__ = __ne__ = __ge__ = _compare
    __hash__ = None

    def __bool__(self):
        raise ValueError("the truth value is ambiguous")


def test_results_that_are_not_bool_pass_through_unchanged():
    namespace, recorder = load(
        """
        def f(a):
            return (a < 1), (a == 2), [a != 3]
        def g(a):
            if a < 1:
                return 1
        """
    )
    less, equal, [unequal] = namespace["f"](Vector("v"))
    assert [x.name for x in (less, equal, unequal)] == ["v?1", "v?2", "v?3"]
    # Neither outcome occurred, but the sites were reached.
    assert outcomes(recorder) == "3~- 3~- 3~- 5-"
    assert [recorder.counts[site.id] for site in recorder.sites if site.kind == "comparison"] == [1, 1, 1, 0]
    with pytest.raises(ValueError, match="ambiguous"):
        namespace["g"](Vector("v"))


def test_an_exception_of_an_operand_is_the_original_one_and_the_visit_counts():
    namespace, recorder = load("def f(a, b):\n    return 1 if a < b else 2\n")
    with pytest.raises(TypeError, match=r"'<' not supported between instances of 'int' and 'str'"):
        namespace["f"](1, "a")
    site = next(site for site in recorder.sites if site.kind == "comparison")
    assert recorder.counts[site.id] == 1
    assert outcomes(recorder) == "2-"


def test_an_iterator_given_to_a_loop_stays_usable():
    namespace, _ = load(
        """
        def f(it):
            for x in it:
                break
            return x, next(it)
        """
    )
    assert namespace["f"](iter([1, 2, 3])) == (1, 2)


def test_a_loop_sees_elements_added_while_it_runs():
    namespace, _ = load("def f(xs):\n    for x in xs:\n        if x < 3: xs.append(x + 1)\n    return xs\n")
    assert namespace["f"]([0]) == [0, 1, 2, 3]


def test_a_generator_loop_asks_for_nothing_early():
    namespace, _ = load("def f(it, log):\n    for x in it:\n        log.append(('body', x))\n")
    log = []

    def source():
        for i in range(2):
            log.append(("made", i))
            yield i

    namespace["f"](source(), log)
    assert log == [("made", 0), ("body", 0), ("made", 1), ("body", 1)]


def test_plan_is_deterministic_and_numbers_in_order():
    source = dedent(PROGRAMS["match"])
    one, two = (instrument(source, "tiny.py").plan for _ in range(2))
    assert one.sites == two.sites
    assert one.functions == two.functions
    assert [site.id for site in one.sites] == list(range(len(one.sites)))
    slot = 0
    for site in one.sites:
        assert site.slot == (slot if site.width else -1)
        slot += site.width


def test_plan_does_not_change_the_tree():
    tree = ast.parse(dedent(PROGRAMS["try_except"]))
    before = ast.dump(tree, include_attributes=True)
    plan(tree)
    assert ast.dump(tree, include_attributes=True) == before


def test_instrumenting_leaves_the_tree_without_probes():
    source = dedent(PROGRAMS["match"])
    instrumented = instrument(source, "tiny.py")
    assert ast.dump(instrumented.tree) == ast.dump(ast.parse(source))
    nodes = set(ast.walk(instrumented.tree))
    mapped = instrumented.plan
    assert nodes.issuperset([*mapped.at, *mapped.blocks, *mapped.entries])


def test_chains_are_expanded_only_where_the_middle_can_be_read_twice():
    def kinds(source):
        return [site.kind for site in instrument(source, "tiny.py").plan.sites if site.kind != "block"]

    assert kinds("def f(x):\n    if 0 < x < 9: pass\n") == ["comparison", "comparison"]
    assert kinds("def f(x):\n    if x < 5 < y == 3: pass\n") == ["truth"]
    assert kinds("x = 1\nif 0 < x < 9: pass\n") == ["truth"]
    assert kinds("def f():\n    global x\n    x = 1\n    if 0 < x < 9: pass\n") == ["truth"]
    assert kinds("def f(x):\n    def g():\n        nonlocal x\n    if 0 < x < 9: pass\n") == ["truth"]
    assert kinds("def f(xs):\n    return [x for x in xs if 0 < x < 9]\n") == ["comparison", "comparison"]
    assert kinds("f = lambda x: 1 if 0 < x < 9 else 2\n") == ["comparison", "comparison"]
    assert kinds("class C:\n    x = 1\n    if 0 < x < 9: pass\n") == ["truth"]


def test_functions_have_qualified_names_and_lines():
    source = """
        def f():
            class A:
                def m(self):
                    return lambda: 1
            return [lambda: i for i in ()]

        @staticmethod
        def g(): pass
    """
    functions = instrument(dedent(source).strip(), "tiny.py").plan.functions
    assert [(f.name, f.line, f.end_line) for f in functions] == [
        ("<module>", 1, 8),
        ("f", 1, 5),
        ("f.<locals>.A.m", 3, 4),
        ("f.<locals>.A.m.<locals>.<lambda>", 4, 4),
        ("f.<locals>.<lambda>", 5, 5),
        ("g", 8, 8),
    ]


def test_blocks_hold_the_lines_of_headers_and_simple_statements():
    source = """
        x = 1
        if x:
            y = 2
        elif y:
            z = (
                3
            )
            w = 4
        @property
        def f():
            "Doc."
            global x
            a: int
            try:
                x = 1
                x = 2
            finally:
                x = 3
    """
    plan_ = instrument(dedent(source).strip(), "tiny.py").plan
    assert [site.lines for site in plan_.sites if site.kind == "block"] == [
        (1, 2),
        (3,),
        (4,),
        (5, 8),
        (9, 10),
        (14,),
        (15,),
        (16,),
        (18,),
    ]
    assert block_lines(plan_.sites) == (1, 2, 3, 4, 5, 8, 9, 10, 14, 15, 16, 18)


def test_loop_conditions_are_marked():
    source = "def f(x):\n    while x and x > 1:\n        if x: pass\n    for i in x: pass\n"
    sites = instrument(source, "tiny.py").plan.sites
    assert [site.in_loop for site in sites if site.kind != "block"] == [True, True, False, True]


def test_no_warning_is_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        instrument("def f(x):\n    return 1 if x is 3 else x\n", "tiny.py")


NAMES = """
G = 1
def f(x):
    global G
    G += x
    x = G + 1
    return [y for y in (x,) if y < 1], lambda: x - G
class C:
    a = G + 1
    a -= 2
"""


@pytest.mark.parametrize("features", [frozenset(), INFECTION])
def test_code_without_source_changes_only_in_its_constants(features):
    instrumented = instrument(NAMES, "tiny.py", features)
    probed = all_code(instrumented.code(lambda site, leading=False: len))
    for code, bare in zip(probed, all_code(compile(NAMES, "tiny.py", "exec")), strict=True):
        for part in ("co_names", "co_varnames", "co_freevars", "co_cellvars", "co_flags", "co_name", "co_firstlineno"):
            assert getattr(code, part) == getattr(bare, part)


@pytest.mark.parametrize("leading", [False, True])
def test_every_code_object_tells_its_function(leading):
    names, recorder = load(NAMES + "    def m(self):\n        pass\n", leading=leading)
    functions = instrument(NAMES + "    def m(self):\n        pass\n", "tiny.py").plan.functions
    for code in (names["f"].__code__, names["f"](1)[1].__code__, names["C"].m.__code__):
        assert functions[recorder.function_of(code)].line == code.co_firstlineno


# Arithmetic


def arithmetic(recorder):
    """Line, operator and count of every site of arithmetic."""
    return [
        (site.line, site.operator, recorder.counts[site.id]) for site in recorder.sites if site.kind == "arithmetic"
    ]


ARITHMETIC = [
    ("return x + 2 * x ** 2, x - 1, -x, +x", "1"),
    ("return x / 3 // 2 % 5, x << 2 >> 1, x & 3 | 4 ^ 5", "7"),
    ("x += 1\n    x *= x\n    return x", "5"),
    ("x += [3]\n    return x", "[1, 2]"),
    ("y = x\n    x += [3]\n    return y, x is y", "[1]"),
    ("x[0] += 1; x[-1] -= 2; x[len(x) - 1] *= 7\n    return x", "[1, 2]"),
    ("x['k'] += 1\n    return x", "{'k': 1}"),
    ("x['k'] += 1\n    return x", "{}"),
    ("x[0] += [9]\n    return x", "([1],)"),
    ("x[0:1] += [9]\n    return x", "[1, 2]"),
    ("class C:\n        a = x\n        a += 1\n        __b = a * 2\n        __b += 1\n    return C.a, C._C__b", "3"),
    ("class __C:\n        def m(self):\n            self.__v = x\n            self.__v += 1\n            return vars(self)\n    return __C().m()", "3"),
    ("class _:\n        def m(self):\n            self.__v = x\n            self.__v += 1\n            return vars(self)\n    return _().m()", "3"),
    ("x.a += 1\n    return x", "3"),
    ("return 'a' % x, f'{x + 1}', [0] * x, 'a' + x", "3"),
    ("return '%d' % x, [0] * x", "3"),
    ("return x @ x", "3"),
    ("if x - 3:\n        return 1\n    return 2 if x % 2 else 3", "3"),
    ("return [y * 2 for y in range(x) if y & 1], (lambda z: z + x)(1)", "4"),
    ("return sum(y + 1 for y in range(x))", "3"),
    ("x /= 0", "1"),
    ("return 1 + None", "1"),
    ("y += 1\n    y = 2", "1"),
    ("def g():\n        nonlocal x\n        x -= 1\n        return x\n    return g() + g()", "5"),
    ("x: int = 3 + 4\n    return (x := x + 1) * 2", "5"),
    ("match x:\n        case 3 if x + 1 > 3: return -1\n        case -1 | 1+2j: return 2", "3"),
    ("def g():\n        y = yield 1\n        y += yield 2\n        return y\n    i = g(); i.send(None); i.send(5)\n    try: i.send(x)\n    except StopIteration as e: return e.value", "6"),
    ("return int | str, {1, 2} - {x}, {1: 2} | {x: 3}", "2"),
    ("for i in range(x):\n        x -= i\n    else:\n        x += 10\n    return x", "4"),
]  # fmt: skip


@pytest.mark.parametrize("leading", [False, True])
@pytest.mark.parametrize(("body", "argument"), ARITHMETIC)
def test_arithmetic_behaves_as_without_probes(body, argument, leading):
    source = f"def f(x):\n    {body}\n"
    instrumented = instrument(source, "tiny.py", INFECTION, leading=leading)
    recorder = Recorder(instrumented.plan.sites)
    with module(compile(source, "tiny.py", "exec", dont_inherit=True)) as bare:
        wanted = end_of(bare, f"f({argument})")
    with module(instrumented.code(recorder.probe)) as probed:
        for needs in (frozenset(), INFECTION, frozenset({"direct", "constants", "infection"})):
            recorder.begin(needs)
            assert end_of(probed, f"f({argument})", recorder.stopped) == wanted


def test_binary_operators_whose_operands_may_be_numbers_have_sites():
    names, recorder = load(
        """
        def f(x):
            y = x + 1
            y *= 2
            x = "a" * y, "%d" % y, f"{y}" + str(y)  # none of these can be a number
            z = [y]
            z[0] <<= 1
            z[0:1] += z
            return y @ x if x is None else y & 3 | y
        """,
        INFECTION,
    )
    recorder.begin(INFECTION)
    assert names["f"](1) == 4
    assert arithmetic(recorder) == [(3, "+", 1), (4, "*=", 1), (7, "<<=", 1), (9, "&", 1), (9, "|", 1)]


def test_the_parts_of_a_target_are_evaluated_once_and_in_order():
    source = """
        def f(log, container, index, value):
            container()[index()] += value()
            container().n -= value()
            container()[index()].n *= value()
        """

    class Box(dict):
        def __init__(self, log):
            self.log, self.n = log, 10
            dict.__init__(self, {"k": self})

        def __getitem__(self, key):
            self.log.append("read")
            return dict.__getitem__(self, key)

        def __setitem__(self, key, value):
            self.log.append("write")

        def __iadd__(self, other):
            self.log.append("add")
            return self

    def run_with(features):
        log = []
        box = Box(log)
        names, _ = load(source, features)
        names["f"](log, lambda: log.append("c") or box, lambda: log.append("i") or "k", lambda: log.append("v") or 2)
        return log, box.n

    log, n = run_with(INFECTION)
    assert (log, n) == run_with(frozenset())
    assert log[:6] == ["c", "i", "read", "v", "add", "write"]


def test_features_change_no_other_site_and_no_dependence():
    for name, source in PROGRAMS.items():
        plain, more = (instrument(dedent(source), "tiny.py", features) for features in (frozenset(), INFECTION))
        assert more.plan.sites[: len(plain.plan.sites)] == plain.plan.sites, name
        assert {site.kind for site in more.plan.sites[len(plain.plan.sites) :]} <= {"arithmetic"}
        found = [
            dependences(each.tree, p.at, p.blocks, p.entries, p.sites, p.functions, p.infection)
            for each in (plain, more)
            for p in (each.plan,)
        ]
        assert found[1][: len(found[0])] == found[0], name
        assert branches(more.plan.sites, more.plan.functions) == branches(plain.plan.sites, plain.plan.functions)


def test_sites_tell_where_their_expression_stands():
    source = "def f(a, bc):\n    if a + bc < 'ä' + (\n        bc): a *= bc\n"
    sites = instrument(source, "tiny.py", INFECTION).plan.sites
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    texts = {}
    for site in sites:
        if site.span:
            first, start, last, end = site.span
            text = b"".join(lines[first - 1 : last])
            texts[site.operator] = text[start : len(text) - len(lines[last - 1]) + end].decode()
    assert texts == {"<": "a + bc < 'ä' + (\n        bc)", "+": "a + bc", "*=": "a *= bc"}


def test_literal_operands_are_told_apart():
    source = (
        "def f(x, y):\n    return x < 1, 'a' == y, x != -2.5, x in (1, 'a'), None != x, x > y, x in [1, y], x in {-1}\n"
    )
    sites = instrument(source, "tiny.py").plan.sites
    assert [site.literals for site in sites if site.kind != "block"] == [
        ("", "int"),
        ("str", ""),
        ("", "float"),
        ("", "tuple"),
        ("NoneType", ""),
        ("", ""),
        ("", ""),
        ("", "set"),
    ]


def all_code(code):
    yield code
    for constant in code.co_consts:
        if inspect.iscode(constant):
            yield from all_code(constant)


def test_each_factory_gets_its_own_code():
    instrumented = instrument("def f(x):\n    return x\n", "tiny.py")
    seen = []
    for number in range(2):
        namespace = {}
        exec(instrumented.code(lambda site, number=number: lambda: seen.append((number, site))), namespace)
        namespace["f"](1)
    assert seen == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_string_of_the_subject_that_looks_like_a_placeholder_is_left_alone():
    namespace, _ = load("def f():\n    return '\\0fitgym:', '\\0fitgym:x', '\\0fitgym:' + '12'.strip()\n")
    assert namespace["f"]() == ("\0fitgym:", "\0fitgym:x", "\0fitgym:12")


@pytest.mark.parametrize(
    "source",
    [
        "x = 3\nif x == 0: pass\n" + "".join(f"elif x == {i}: y = {i}\n" for i in range(1, 400)),
        "x = 3\nif x == 0: pass\n" + "".join(f"elif x == {i}: y = {i}\n" for i in range(1, 2000)),
        "x = " + " + ".join(["1"] * 900) + "\n",
        pytest.param(
            "x = " + " + ".join(["1"] * 2500) + "\n",
            marks=pytest.mark.xfail(
                sys.version_info[:2] == (3, 12), raises=RecursionError, reason="Python 3.12 compiles no deeper trees"
            ),
        ),
        "x = " + "not " * 150 + "(1 < 2)\n",
        "x = " + "(1 < " * 80 + "2" + ")" * 80 + "\n",
    ],
    ids=["elif", "long elif", "sum", "long sum", "not", "nested comparisons"],
)
def test_deep_trees_are_no_problem(source):
    limit = sys.getrecursionlimit()
    instrumented = instrument(source, "tiny.py", INFECTION, leading=True)
    mapped = instrumented.plan
    dependences(
        instrumented.tree, mapped.at, mapped.blocks, mapped.entries, mapped.sites, mapped.functions, mapped.infection
    )
    bare, probed = {}, {}
    exec(source, bare)
    recorder = Recorder(instrumented.plan.sites)
    exec(instrumented.code(recorder.probe), probed)
    assert probed["x"] == bare["x"]
    assert sys.getrecursionlimit() == limit


def test_source_that_is_not_python_is_refused():
    with pytest.raises(SyntaxError):
        instrument("def f(:\n", "tiny.py")


def test_an_empty_module_has_an_entry():
    for source in ("", '"""Doc."""\n'):
        instrumented = instrument(source, "tiny.py")
        assert [site.kind for site in instrumented.plan.sites] == ["block"]
        exec(instrumented.code(lambda site: lambda: None), {})


CHAIN = """
def f(x, seen):
    for y in (x, 500):
        {head}
        {arms}
        {last}
    return seen
"""


@pytest.mark.parametrize("features", [frozenset(), INFECTION], ids=["plain", "infection"])
@pytest.mark.parametrize("leading", [False, True])
@pytest.mark.parametrize("last", ["", "else: seen.append('else')"])
def test_a_long_chain_of_elif_counts_as_a_short_one(last, leading, features, monkeypatch):
    arms = [f"elif y == {number}: seen.append({number})" for number in range(1, 120)]
    arms[3] = "elif y == 4: continue"
    arms[5] = "elif y == 6: break"
    arms[7] = "elif (z := y) == 8 and seen: seen.append(z)"
    source = CHAIN.format(head="if y == 0: seen.append(0)", arms="\n        ".join(arms), last=last)
    bare = {}
    exec(source, bare)

    def snapshots(longest):
        monkeypatch.setattr(rewriter, "_LONG_CHAIN", longest)
        instrumented = instrument(source, "tiny.py", features, leading=leading)
        recorder = Recorder(instrumented.plan.sites)
        namespace = {}
        exec(instrumented.code(recorder.probe), namespace)
        for x in (0, 1, 4, 6, 8, 15, 118, 400, 600):
            recorder.begin(frozenset())
            assert namespace["f"](x, [7]) == bare["f"](x, [7])
            yield str(recorder.snapshot())

    assert list(snapshots(100)) == list(snapshots(1000))
