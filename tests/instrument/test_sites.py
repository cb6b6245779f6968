"""The recorder: counts, distances, direct calls, fuel, stops and operands."""

import functools
import gc
import sys
import weakref
from array import array
from itertools import pairwise
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.instrument.distance import compared
from fitgym.instrument.factories import in_use
from fitgym.instrument.factory import OutOfFuel
from fitgym.instrument.lines import block_lines, covered_lines
from fitgym.instrument.python.probes import FILES, PROBES
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.relations import FALSE_SLOTS, FAR, FURTHEST, TRUE_SLOTS
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.instrument.trace import Stop

pytestmark = pytest.mark.usefixtures("sites")

INFINITE = float("inf")


class Tiny:
    """A module with probes, and its recorder."""

    def __init__(self, source, fuel=100_000):
        self.plan = instrument(dedent(source).strip(), "tiny.py").plan
        instrumented = instrument(dedent(source).strip(), "tiny.py")
        self.recorder = Recorder(instrumented.plan.sites, fuel)
        self.names = {"__name__": "tiny"}
        exec(instrumented.code(self.recorder.probe), self.names)
        self.recorder.begin()

    def __getitem__(self, name):
        return self.names[name]

    def sites(self, *kinds):
        return [site for site in self.recorder.sites if site.kind in kinds]

    def distances(self, kind, index=0):
        site = self.sites(kind)[index]
        return self.recorder.distances[site.slot : site.slot + site.width]

    def counts(self, *kinds):
        return [self.recorder.counts[site.id] for site in self.sites(*kinds)]


# Counts and distances


def test_a_comparison_keeps_the_least_distance_to_each_relation():
    tiny = Tiny("def f(x):\n    return 1 if x < 10 else 2\n")
    assert tiny.distances("comparison") == [INFINITE] * 3
    tiny["f"](3)  # 7 below
    assert tiny.distances("comparison") == [0, 7, 8]
    tiny["f"](14)  # 4 above: nearer to equality, and greater has occurred
    assert tiny.distances("comparison") == [0, 4, 0]
    tiny["f"](9)
    tiny["f"](-50)
    assert tiny.distances("comparison") == [0, 1, 0]
    assert tiny.counts("comparison") == [4]
    tiny.recorder.begin()
    tiny["f"](10)
    assert tiny.distances("comparison") == [1, 0, 1]


def test_membership_truth_and_loop_keep_both_distances():
    tiny = Tiny(
        """
        def f(x, xs):
            if x in xs: pass
            if xs: pass
            for i in xs: pass
        """
    )
    tiny["f"](7, [1, 4])
    assert [tiny.distances(kind) for kind in ("membership", "truth", "loop")] == [[3, 0], [0, 2], [0, 2]]
    tiny["f"](7, [])
    assert [tiny.distances(kind) for kind in ("membership", "truth", "loop")] == [[1, 0], [0, 0], [0, 0]]
    assert tiny.counts("membership", "truth", "loop") == [2, 2, 2]


def test_a_site_that_raises_was_reached_without_an_outcome():
    tiny = Tiny(
        """
        def less(x): return 1 if x < 1 else 2
        def within(x): return 1 if 1 in x else 2
        def true(x): return 1 if x else 2
        def loop(x):
            for i in x: pass
        def pairs(x):
            for i, j in x: pass
        """
    )

    class Unclear:
        def __bool__(self):
            raise KeyError

    def failing():
        raise KeyError
        yield

    for name, value in (("less", "a"), ("within", 3), ("true", Unclear()), ("loop", 1), ("pairs", failing())):
        with pytest.raises((TypeError, KeyError)):
            tiny[name](value)
    assert tiny.counts("comparison", "membership", "truth", "loop") == [1] * 5
    assert set(tiny.recorder.distances) == {FAR}
    tiny["pairs"](iter([(1, 2)]))
    assert tiny.distances("loop", 1) == [0, 1]


def test_a_loop_asks_an_iterator_exactly_what_it_was_asked_without_probes():
    calls = []

    class Numbers:
        def __iter__(self):
            calls.append("iter")
            return Numbers.Next()

        class Next:
            left = 2

            def __next__(self):
                calls.append("next")
                self.left -= 1
                if self.left < 0:
                    raise StopIteration
                return self.left

    source = "def f(xs):\n    return [x for x in xs for y in xs]\ndef g(xs):\n    for x in xs: pass\n"
    asked = []
    bare = {}
    exec(source, bare)
    for names in (bare, Tiny(source)):
        calls.clear()
        assert names["f"](Numbers()) == [1, 1, 0, 0]
        names["g"](Numbers())
        asked.append(calls[:])
    assert asked[0] == asked[1]


def test_a_range_longer_than_len_can_tell_is_far_from_empty():
    tiny = Tiny("def f(xs):\n    if xs: pass\n    for x in xs: break\n")
    tiny["f"](range(10**30))
    assert [tiny.distances(kind) for kind in ("truth", "loop")] == [[0, FURTHEST], [0, FURTHEST]]


def test_blocks_count_every_run():
    tiny = Tiny("def f(n):\n    for i in range(n):\n        if i: pass\n    return n\n")
    tiny["f"](3)
    assert tiny.counts("block") == [0, 1, 3, 2, 1]  # module, entry, loop body, if body, after the loop


def test_begin_forgets_everything():
    tiny = Tiny("def f(x):\n    try:\n        return 1 // x\n    except ZeroDivisionError:\n        return x < 1\n")
    blank = tiny.recorder.snapshot_key()
    tiny["f"](0)
    assert tiny.recorder.snapshot_key() != blank
    tiny.recorder.begin()
    assert tiny.recorder.snapshot_key() == blank


def test_equal_executions_have_equal_keys_and_others_do_not():
    tiny = Tiny("def f(x):\n    return 1 if x < 10 else 2\n")
    keys = []
    for value in (3, 3, 4):
        tiny.recorder.begin()
        tiny["f"](value)
        keys.append(tiny.recorder.snapshot_key())
    assert keys[0] == keys[1] != keys[2]


def unpacked(reached):
    """Sites, counts and distances as lists."""
    return [array(code, part).tolist() for code, part in zip("IId", reached, strict=True)]


def test_a_snapshot_holds_what_was_reached_and_only_that():
    tiny = Tiny("def f(x, y):\n    if x < y: pass\n    if x == y and y: pass\n")
    for _ in range(2):
        tiny["f"](1, 8)
    block, less, equal, (true,) = (
        tiny.sites("block")[1].id,
        *(site.id for site in tiny.sites("comparison")),
        [site.id for site in tiny.sites("truth")],
    )
    everything, direct = tiny.recorder.snapshot()
    reached, counts, distances = unpacked(everything)
    assert reached == sorted(reached) and {block, less, equal} <= set(reached) and true not in reached
    assert dict(zip(reached, counts, strict=True))[less] == 2
    assert distances == [0, 7, 8, 0, 7, 8]
    assert direct is None


def test_distances_too_large_for_a_float_are_the_largest_in_a_snapshot():
    tiny = Tiny("def f(x, y):\n    if x < y: pass\n    if x == y and y: pass\n")
    tiny["f"](-(10**400), 10**400)
    assert unpacked(tiny.recorder.snapshot()[0])[2] == [0, FURTHEST, FURTHEST, 0, FURTHEST, FURTHEST]


def test_a_snapshot_of_direct_calls_has_both():
    tiny = Tiny("def inner(x):\n    return 1 if x > 0 else 2\ndef outer(x):\n    inner(x)\n    return inner(x)\n")
    tiny.recorder.runner_codes.add(run.__code__)
    tiny.recorder.begin(frozenset({"direct"}))
    run(tiny["outer"], 4)
    site = tiny.sites("comparison")[0].id
    (sites, counts, distances), direct = map(unpacked, tiny.recorder.snapshot())
    assert (counts[sites.index(site)], distances) == (2, [5, 4, 0])
    assert site not in direct[0] and direct[0] != [] and direct[2] == []
    run(tiny["inner"], 1)
    (sites, counts, distances), direct = map(unpacked, tiny.recorder.snapshot())
    assert (counts[sites.index(site)], distances) == (3, [2, 1, 0])
    assert (direct[1][direct[0].index(site)], direct[2]) == (1, [2, 1, 0])


def test_what_the_import_recorded_can_be_kept():
    tiny = Tiny(
        """
        def f(x):
            return 1 if x < 10 else 2
        """,
        fuel=20,
    )
    for _ in range(15):
        tiny["f"](3)
    tiny.recorder.settle()
    tiny.recorder.begin()
    assert tiny.recorder.fuel_left == 20
    assert (tiny.counts("comparison"), tiny.distances("comparison")) == ([15], [0, 7, 8])
    tiny["f"](12)
    assert (tiny.counts("comparison"), tiny.distances("comparison")) == ([16], [0, 2, 0])
    assert tiny.recorder.fuel_left == 19
    for _ in range(19):
        tiny["f"](12)
    assert tiny.recorder.fuel_left == 0


numbers = st.one_of(st.integers(-20, 20), st.integers(), st.floats(), st.booleans(), st.integers(10**300, 10**310))


@given(
    st.sampled_from(sorted(TRUE_SLOTS)),
    st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6),
    st.sampled_from([frozenset(), frozenset({"direct"}), frozenset({"constants"})]),
)
def test_probes_record_exactly_what_the_distance_functions_say(sign, pairs, needs):
    tiny = comparison(sign, in_use())
    tiny.recorder.begin(needs)
    expected = [INFINITE] * 3
    for left, right in pairs:
        outcome = tiny["f"](left, right)
        expected = [min(pair) for pair in zip(expected, compared(sign, left, right, outcome), strict=True)]
    found = unpacked(tiny.recorder.snapshot()[0])[2]
    assert found == pytest.approx(expected)
    for slots, outcome in ((TRUE_SLOTS[sign], True), (FALSE_SLOTS[sign], False)):
        occurred = any(tiny["f"](*pair) is outcome for pair in pairs)
        assert (min(found[slot] for slot in slots) == 0) is occurred


@functools.cache
def comparison(sign, factory):
    return Tiny(f"def f(a, b):\n    return True if a {sign} b else False\n")


# Fuel

ENDLESS = {
    "while": "while True: pass",
    "swallowing": """
    while True:
        try:
            while True: pass
        except:
            pass
    """,
    "generator": """
    for i in forever():
        pass
    """,
    "comprehension": "[0 for i in iter(int, 1)]",
    "filtered comprehension": "[0 for i in iter(int, 1) if i]",
    "inner comprehension": "[0 for i in iter(int, 1) for j in ()]",
    "generator expression": "sum(1 for i in iter(int, 1))",
    "lambda": "g = lambda: 0\n    for i in iter(lambda: g(), 1): g()",
    "loops that are never entered": "import itertools\n    [0 for i in itertools.repeat(0) if [j for j in ()]]",
    "finally": """
    while True:
        try:
            pass
        finally:
            continue
    """,
    "recursion": "f()",
}


@pytest.mark.parametrize("body", ENDLESS)
@pytest.mark.parametrize("needs", [frozenset(), frozenset({"direct"})])
def test_fuel_ends_what_is_endless_always_at_the_same_point(body, needs):
    source = f"def forever():\n    while True:\n        yield 1\ndef f():\n    {ENDLESS[body].strip()}\n"
    tiny = Tiny(source, fuel=500)
    keys = set()
    for _ in range(2):
        tiny.recorder.begin(needs)
        with pytest.raises(OutOfFuel):
            tiny["f"]()
        assert tiny.recorder.fuel_left < 0
        assert tiny.recorder.burnt <= 2 * 500
        keys.add(tiny.recorder.snapshot_key())
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("body", "burnt"),
    [
        ("return [x < 1, x in (1,), x and x]", 1),
        ("if x:\n        x = 1\n    else:\n        x = 2\n    return x", 1),
        ("return (lambda: x)()", 2),
        ("return [i for i in range(x) for j in range(2)]", 1 + 3 + 6),
        ("for i in range(x):\n        if i:\n            x = 1\n    else:\n        x = 2", 1 + 3),
        ("while x:\n        x -= 1", 1 + 3),
        ("for i in ():\n        pass", 1),
        ("class A:\n        y = x", 1),
        ("try:\n        1 / 0\n    except ZeroDivisionError:\n        pass", 1),
        ("return sum(i for i in range(x))", 1 + 3),
    ],
)
def test_fuel_is_burnt_by_calls_and_rounds_of_loops(body, burnt):
    tiny = Tiny(f"def f(x):\n    {body}\n", fuel=50)
    tiny["f"](3)
    assert (tiny.recorder.burnt, tiny.recorder.fuel_left) == (burnt, 50 - burnt)


def test_within_its_fuel_a_test_case_is_left_alone():
    tiny = Tiny("def f(n):\n    while n > 0:\n        n -= 1\n    return n\n", fuel=1000)
    assert tiny["f"](999) == 0  # entry and 999 rounds
    assert tiny.recorder.fuel_left == 0


def test_blocks_that_ran_often_while_importing_are_watched_as_others_are():
    tiny = Tiny("def f(n):\n    while n > 0:\n        n -= 1\n    return n\nf(90)\n", fuel=160)
    tiny["f"](90)
    tiny.recorder.settle()
    tiny.recorder.begin()
    with pytest.raises(OutOfFuel):
        tiny["f"](500)
    assert 160 < tiny.recorder.burnt <= 160 + 11


def test_an_interrupt_makes_the_next_block_raise():
    tiny = Tiny(
        "def f(stop):\n    n = 0\n    while True:\n        n += 1\n        if n == 3: stop()\n        if n == 9: return n\n"
    )
    with pytest.raises(OutOfFuel):
        tiny["f"](tiny.recorder.interrupt)
    assert tiny.recorder.fuel_left == -1
    tiny.recorder.begin()
    assert tiny["f"](lambda: None) == 9


# Direct calls

DIRECT = """
import functools, contextlib, statistics
def inner(x):
    return 1 if x > 0 else 2
def outer(x):
    return inner(x)
def wrap(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper
wrapped = wrap(inner)
cached = functools.lru_cache(None)(inner)
partial = functools.partial(inner, 5)
@contextlib.contextmanager
def context(x):
    yield 1 if x else 2
def steps(x):
    while x > 0:
        x -= 1
        yield x
def comprehension(xs):
    return [x for x in xs if x]
def recursion(x):
    return recursion(x - 1) if x else 0
def callback(f):
    return f()
def spread(xs):
    return statistics.mean(1 if x > 0 else 2 for x in xs)
"""


def run(function, *args):
    """What the runner does: calls."""
    result = function(*args)
    return list(result) if hasattr(result, "__next__") else result


@pytest.mark.parametrize(
    ("call", "line", "direct", "all_"),
    [
        (lambda m: run(m["inner"], 1), 3, 1, 1),
        (lambda m: run(m["outer"], 1), 3, 0, 1),
        (lambda m: run(m["wrapped"], 1), 3, 0, 1),  # the wrapper is code of the subject, too
        (lambda m: run(m["cached"], 1), 3, 1, 1),  # the cache is not
        (lambda m: run(m["partial"]), 3, 1, 1),
        (lambda m: run(m["steps"], 2), 17, 3, 3),  # resumed by the runner
        (lambda m: run(sum, m["steps"](2)), 17, 3, 3),
        (lambda m: run(m["comprehension"], [1, 0]), 21, 2, 2),
        (lambda m: run(m["recursion"], 2), 23, 1, 3),
        (lambda m: run(m["callback"], lambda: m["inner"](1)), 3, 0, 1),  # called back by the subject
        (lambda m: run(m["spread"], [1, 2]), 27, 2, 2),  # other code runs through what the function has written
    ],
)
def test_direct_is_what_the_runner_calls_itself(call, line, direct, all_):
    tiny = Tiny(DIRECT)
    recorder = tiny.recorder
    recorder.runner_codes.add(run.__code__)
    recorder.begin(frozenset({"direct"}))
    call(tiny)
    site = next(site for site in recorder.sites if site.line in (line, line + 1) and site.width)
    assert (recorder.direct_counts[site.id], recorder.counts[site.id]) == (direct, all_)
    slots = slice(site.slot, site.slot + site.width)
    assert (min(recorder.direct_distances[slots]) == 0) is (direct > 0)


def test_a_wrapper_of_the_operation_does_not_count_as_its_caller():
    tiny = Tiny(DIRECT)
    recorder = tiny.recorder
    recorder.runner_codes.add(run.__code__)
    recorder.entry_codes.add(tiny["wrapped"].__code__)
    recorder.begin(frozenset({"direct"}))
    run(tiny["wrapped"], 1)
    site = tiny.sites("comparison")[0]
    assert recorder.direct_counts[site.id] == 1


def test_direct_distances_are_those_of_direct_calls_only():
    tiny = Tiny(DIRECT)
    recorder = tiny.recorder
    recorder.runner_codes.add(run.__code__)
    recorder.begin(frozenset({"direct"}))
    run(tiny["outer"], 1)  # 1 above
    run(tiny["inner"], 6)
    slot = tiny.sites("comparison")[0].slot
    assert recorder.distances[slot : slot + 3] == [2, 1, 0]
    assert recorder.direct_distances[slot : slot + 3] == [7, 6, 0]


def test_a_function_called_both_ways_tells_its_calls_apart():
    tiny = Tiny(
        """
        def f(x, again):
            if again:
                f(x + 10, False)
            return 1 if x > 0 else 2
        """
    )
    recorder = tiny.recorder
    recorder.runner_codes.add(run.__code__)
    recorder.begin(frozenset({"direct"}))
    run(tiny["f"], 5, True)  # the inner call ends first, then the outer one goes on
    site = tiny.sites("comparison")[0]
    assert (recorder.counts[site.id], recorder.direct_counts[site.id]) == (2, 1)
    assert recorder.direct_distances[site.slot : site.slot + 3] == [6, 5, 0]


def test_a_generator_is_direct_while_the_runner_resumes_it():
    tiny = Tiny(
        """
        def steps():
            yield 1
            yield 2
            yield 3
        def one(steps):
            return next(steps)
        """
    )
    recorder = tiny.recorder
    recorder.runner_codes.add(run.__code__)
    recorder.begin(frozenset({"direct"}))
    steps = tiny["steps"]()
    run(next, steps)
    run(tiny["one"], steps)
    run(next, steps)
    blocks = [site.id for site in tiny.sites("block") if site.line in (2, 3, 4) and site.lines]
    assert [recorder.counts[block] for block in blocks] == [1, 1]
    assert [recorder.direct_counts[block] for block in blocks] == [0, 1]


def test_nothing_is_direct_without_being_asked_for():
    tiny = Tiny(DIRECT)
    tiny.recorder.runner_codes.add(run.__code__)
    tiny.recorder.begin()
    run(tiny["inner"], 1)
    assert sum(tiny.recorder.direct_counts) == 0
    assert tiny.recorder.snapshot()[1] is None


# Stops


def stops(tiny):
    """(first line of the block, line, count)"""
    sites = tiny.recorder.sites
    return [(sites[stop.site].lines[0], stop.line, stop.count) for stop in tiny.recorder.stops()]


CUT = """
def f(x):
    try:
        return g(x)
    except ValueError:
        return None
def g(x):
    y = 1
    z = h(
        x
    )
    return z
def h(x):
    if x:
        raise ValueError
    return 2
def again(x):
    try:
        f2(x)
    except ValueError as error:
        raise
def f2(x):
    try:
        g(x)
    except ValueError as error:
        raise error
"""


def test_a_caught_exception_notes_every_block_it_left():
    tiny = Tiny(CUT)
    tiny["f"](1)
    assert stops(tiny) == [(3, 3, 1), (7, 8, 1), (14, 14, 1)]
    tiny["f"](1)
    tiny["f"](0)
    assert stops(tiny) == [(3, 3, 2), (7, 8, 2), (14, 14, 2)]


def test_an_exception_raised_again_notes_each_frame_once():
    tiny = Tiny(CUT)
    for _ in range(2):
        try:
            tiny["again"](1)
        except ValueError as error:
            tiny.recorder.stopped(error.__traceback__)
    # In `again` the statement of the try, in `f2` that of the try and the `raise` of the handler.
    assert stops(tiny) == [(7, 8, 2), (14, 14, 2), (18, 18, 2), (23, 23, 2), (25, 25, 2)]


def test_an_exception_that_ends_the_test_case_is_noted_by_the_runner():
    tiny = Tiny(CUT)
    with pytest.raises(ValueError) as error:
        tiny["g"](1)
    tiny.recorder.stopped(error.value.__traceback__)
    assert stops(tiny) == [(7, 8, 1), (14, 14, 1)]
    tiny.recorder.stopped(None)
    assert len(stops(tiny)) == 2


def test_recursion_notes_each_frame():
    tiny = Tiny("def f(n):\n    if n:\n        f(n - 1)\n        n = 0\n    raise KeyError(n)\n")
    with pytest.raises(KeyError) as error:
        tiny["f"](3)
    tiny.recorder.stopped(error.value.__traceback__)
    assert stops(tiny) == [(3, 3, 3), (5, 5, 1)]
    assert covered_lines(tiny.recorder.counts, tiny.recorder.stops(), tiny.recorder.sites) == {2, 3, 5}


def test_a_comprehension_is_not_a_frame_of_its_own():
    tiny = Tiny("def f(xs):\n    y = [1 // x for x in xs]\n    return y\n")
    with pytest.raises(ZeroDivisionError) as error:
        tiny["f"]([0])
    tiny.recorder.stopped(error.value.__traceback__)
    assert stops(tiny) == [(2, 2, 1)]


def test_frames_of_other_code_are_not_noted():
    tiny = Tiny("def f(g):\n    return g()\n")

    def other():
        raise KeyError

    with pytest.raises(KeyError) as error:
        tiny["f"](other)
    tiny.recorder.stopped(error.value.__traceback__)
    assert stops(tiny) == [(2, 2, 1)]


def test_noting_an_exception_does_not_keep_it_alive():
    tiny = Tiny(
        """
        def f(thing):
            try:
                g(thing)
            except ValueError:
                pass
        def g(thing):
            raise ValueError(thing)
        """
    )

    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    gc.disable()
    try:
        tiny["f"](thing)
        del thing
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("counts", "left", "covered"),
    [
        ((1,), [], {2, 3, 4}),
        ((0,), [], set()),
        ((1,), [(3, 1)], {2, 3}),
        ((2,), [(3, 1)], {2, 3, 4}),
        ((3,), [(2, 1), (3, 1), (3, 1)], {2, 3}),
        ((3,), [(2, 3)], {2}),
        ((1,), [(4, 1)], {2, 3, 4}),
    ],
)
def test_lines_behind_every_stop_did_not_run(counts, left, covered):
    sites = Tiny("x = 1\ny = 2\n").recorder.sites
    sites = [type(sites[0])(0, "block", 0, 2, lines=(2, 3, 4))]
    assert covered_lines(counts, [Stop(0, line, count) for line, count in left], sites) == covered
    assert block_lines(sites) == (2, 3, 4)


def test_the_function_of_a_code_object():
    tiny = Tiny("def f():\n    return [g for g in (1,)], lambda: 1\n")
    recorder = tiny.recorder
    code = tiny["f"].__code__
    assert recorder.function_of(code) == 1
    assert recorder.function_of(tiny["f"]()[1].__code__) == 2
    assert recorder.function_of(run.__code__) == -1
    inner = [constant for constant in code.co_consts if hasattr(constant, "co_name")]
    assert {recorder.function_of(c) for c in inner if c.co_name == "<listcomp>"} <= {1}


# Operands


def test_operands_are_collected_as_source_text_once():
    tiny = Tiny("def f(x, y):\n    if x == y or x in (3, y): pass\n")
    recorder = tiny.recorder
    recorder.begin(frozenset({"constants"}))
    for _ in range(2):
        tiny["f"]("key", b"v")
        tiny["f"](2, -1.5)
        tiny["f"](True, None)
        tiny["f"](float("nan"), float("inf"))
        tiny["f"]("x" * 101, "x" * 100)
        tiny["f"](1, 1.0)
        tiny["f"](10**500, 3)
    assert list(recorder.constants) == ["'key'", "b'v'", "2", "-1.5", repr("x" * 100), "1", "1.0", "3"]
    recorder.constants.clear()
    tiny["f"](2, "new")
    assert list(recorder.constants) == ["'new'"]  # 2 is known already


def test_a_site_tells_the_operands_of_its_first_visits_only():
    # 0 to 99 by the left operand, and 7 by the right one at once; the import does not count.
    tiny = Tiny("def f(x):\n    return x == 7, x in (1, 2)\nfor x in range(50): f(x)\n")
    for needs in ({"constants"}, {"constants", "direct"}):
        tiny.recorder.discard_collected()
        tiny.recorder.begin(frozenset(needs))
        for value in range(5000):
            tiny["f"](value)
        assert list(tiny.recorder.constants) == [str(value) for value in (0, 7, *range(1, 7), *range(8, 100))]


def test_the_number_of_operands_is_bounded(monkeypatch):
    monkeypatch.setattr("fitgym.instrument.recorder.MOST_OPERANDS", 5)
    tiny = Tiny("def f(x):\n    return x == 0\n")
    for _ in range(2):
        tiny.recorder.begin(frozenset({"constants"}))
        for value in range(50):
            tiny["f"](value)
        assert list(tiny.recorder.constants) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize("first", [0.0, -0.0])
def test_of_two_zeros_it_makes_no_difference_which_one_came_first(first):
    tiny = Tiny("def f(x):\n    return x < 2.5\n")
    tiny.recorder.begin(frozenset({"constants"}))
    for value in (first, -first, 1.5):
        tiny["f"](value)
    assert list(tiny.recorder.constants) == ["0.0", "2.5", "1.5"]


def test_operands_are_told_again_when_they_have_been_taken_back():
    tiny = Tiny("def f(x):\n    return x == 0, x == 'a', x in (1, 2)\n")
    tiny.recorder.begin(frozenset({"constants"}))
    tiny["f"](3.5)
    for _ in range(3):
        tiny.recorder.begin(frozenset({"constants"}))
        for value in (7, "b", 2.5, b"c", 3.5):
            tiny["f"](value)
            tiny["f"](value)
        assert list(tiny.recorder.constants) == ["3.5", "0", "'a'", "7", "'b'", "2.5", "b'c'"]
        tiny.recorder.discard_collected()
        assert list(tiny.recorder.constants) == ["3.5", "0", "'a'"]


def test_a_literal_is_told_although_its_comparison_was_known_before_operands_were_asked_for():
    tiny = Tiny("def f(x):\n    return x == 'a'\n")
    tiny["f"]("b")
    tiny.recorder.begin(frozenset({"constants"}))
    tiny["f"]("b")
    assert list(tiny.recorder.constants) == ["'b'", "'a'"]


def test_what_shows_an_address_is_no_operand():
    tiny = Tiny("def f(x):\n    return x == 'a'\n")
    tiny.recorder.begin(frozenset({"constants"}))
    tiny["f"](str(object()))
    assert list(tiny.recorder.constants) == ["'a'"]


def test_operands_are_not_collected_unless_asked_for():
    tiny = Tiny("def f(x):\n    return x == 0\n")
    tiny["f"](1)
    assert not tiny.recorder.constants


def test_probes_leave_no_reference_to_operands():
    tiny = Tiny("def f(x):\n    if x == 1: pass\n    if x in (1,): pass\n    if x: pass\n")

    class Thing:
        pass

    thing = Thing()
    before = sys.getrefcount(thing)
    for needs in (frozenset(), frozenset({"direct", "constants"})):
        tiny.recorder.begin(needs)
        tiny["f"](thing)
    assert sys.getrefcount(thing) == before


FLIPS = {
    "1 if a < b else 0": {"<": 1, "<=": 1, "==": 0, "!=": 1, ">": 0, ">=": 0},
    "a in b": {"in": True, "not in": False},
    "a is b": {"is": False, "is not": True},
}


@pytest.mark.parametrize("needs", [frozenset(), frozenset({"direct"})])
@pytest.mark.parametrize("expression", FLIPS)
def test_a_flipped_site_computes_with_another_operator_until_it_has_its_own_again(expression, needs):
    tiny = Tiny(f"def f(a, b):\n    return {expression}\n")
    tiny.recorder.begin(needs)
    operands = (2, 3) if "<" in expression else (2, {2, 4})
    (site,) = tiny.sites("comparison", "membership")
    answers = FLIPS[expression]
    for operator, answer in answers.items():
        tiny.recorder.flip(site.id, operator)
        assert tiny["f"](*operands) == answer
        tiny.recorder.begin(needs ^ {"direct"})
        assert tiny["f"](*operands) == answer
        tiny.recorder.begin(needs)
    tiny.recorder.flip(site.id, site.operator)
    assert tiny["f"](*operands) == answers[site.operator]
    assert tiny.recorder.counts[site.id] == 1


@pytest.mark.parametrize(
    ("expression", "operator"),
    [("a < b", "in"), ("a < b", "+"), ("a < b", "~"), ("a in b", "is"), ("a is b", "=="), ("[x for x in a]", "")],
)
def test_a_site_is_not_flipped_to_an_operator_of_another_kind(expression, operator):
    tiny = Tiny(f"def f(a, b):\n    return {expression}\n")
    with pytest.raises(ValueError, match="operator"):
        tiny.recorder.flip(tiny.sites("comparison", "membership", "block")[-1].id, operator)
    assert tiny["f"]([1], [1, 2]) is not None


def test_probes_are_hashable_and_given_once():
    tiny = Tiny("def f(x):\n    return x < 1\n")
    probes = [tiny.recorder.probe(site.id) for site in tiny.recorder.sites]
    assert len(set(probes)) == len(probes)
    assert all(tiny.recorder.probe(site.id) is probe for site, probe in zip(tiny.recorder.sites, probes, strict=True))
    assert hash(tiny["f"].__code__)


def test_slots_follow_each_other_without_gaps():
    sites = [site for site in Tiny(DIRECT).recorder.sites if site.width]
    assert sites[0].slot == 0
    assert all(left.slot + left.width == right.slot for left, right in pairwise(sites))


def test_the_recorder_knows_the_file_of_every_probe():
    assert {make.__code__.co_filename for make in PROBES.values()} <= FILES
