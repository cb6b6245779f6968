"""The probes in C alone: their properties, rejected arguments, and no leaks."""

from __future__ import annotations

import dataclasses
import gc
import mmap
import re
import sys
import types
import weakref
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from nightly import every

from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.mutants.generation import mutants
from fitgym.subject.subject import Site

in_c = pytest.importorskip("fitgym.instrument._sites", reason="the probes in C were not built")

EVERYTHING = frozenset({"direct", "constants", "infection"})
INFECTION = frozenset({"infection"})

SOURCE = """
def less(a, b): return 1 if a < b else 2
def equal(a, b): return 1 if a == b else 2
def only_a_value(a, b): return a < b
def within(a, b): return 1 if a in b else 2
def same(a, b): return 1 if a is b else 2
def true(a, b): return 1 if a else 2 if not b else 3
def first_true(a, b): return a or b
def matched(a, b):
    match a:
        case int() if a == b: return 1
        case [first, *_] if first: return 2
    return 5
def handled(a, b):
    try:
        return 1 if a < b else 2
    except KeyError:
        return 3
def added(a, b): return a + b
def divided(a, b): return a / b
def in_place(a, b):
    a += b
    a **= 2
    return a
def exchanged(a, b):
    c = a
    return c * b, a < b
def walked(xs):
    for x in xs: pass
def left_early(xs):
    for x in xs: return x
def first_of(xs): return next((x for x in xs), None)
def stepped(xs):
    for x in xs: yield x
"""


def generated(items: list[Any]) -> Any:
    yield from items


@pytest.fixture
def tiny() -> tuple[Recorder, dict[str, Any]]:
    instrumented = instrument(SOURCE, "tiny.py", INFECTION, leading=True, mutants=mutants(SOURCE))
    recorder = Recorder(instrumented.plan.sites, 10**9, in_c.Sites)
    module: dict[str, Any] = {}
    exec(instrumented.code(recorder.probe), module)
    return recorder, module


def test_nothing_is_returned_without_a_reference_of_its_own() -> None:
    """Built with the headers of 3.13, `Py_RETURN_NONE` gives none, and 3.11 ends with a crash after some thousand calls."""
    folder = Path(in_c.__file__).parent
    for source in [*folder.glob("*.c"), *folder.glob("*.h")]:
        code = re.sub(r"/\*.*?\*/", "", source.read_text("utf-8"), flags=re.DOTALL)
        assert not re.findall(r"\bPy_RETURN_\w+|\breturn Py_(?:None|True|False)\b", code), source.name


def test_a_probe_is_a_builtin_function_that_can_be_hashed(tiny: tuple[Recorder, dict[str, Any]]) -> None:
    recorder, _ = tiny
    probes = [recorder.probe(site.id) for site in recorder.sites]
    assert {type(probe) for probe in probes} == {type(len)}
    assert len(set(probes)) == len(probes)


def test_a_probe_refuses_a_call_that_no_code_makes(tiny: tuple[Recorder, dict[str, Any]]) -> None:
    recorder, _ = tiny
    recorder.begin(INFECTION)
    for kind in ("comparison", "membership", "case", "arithmetic"):
        site = next(site for site in recorder.sites if site.kind == kind)
        for arguments in ((), (1, 2, 3)):
            with pytest.raises(TypeError, match="wrong number of arguments"):
                recorder.probe(site.id)(*arguments)
    case = next(site for site in recorder.sites if site.kind == "case")
    with pytest.raises(TypeError):
        recorder.probe(case.id)("stage")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "wish"}, "unknown kind: 'wish'"),
        ({"operator": "<>"}, "unknown operator: '<>'"),
        ({"function": -1}, "function is negative: -1"),
    ],
)
def test_a_site_that_makes_no_sense_is_refused(change: dict[str, Any], message: str) -> None:
    site = dataclasses.replace(Site(0, "comparison", 0, 1, "<", 0), **change)
    with pytest.raises(ValueError, match=message):
        Recorder((site,), 1, in_c.Sites).probe(0)


def test_there_is_no_site_beyond_the_last(tiny: tuple[Recorder, dict[str, Any]]) -> None:
    recorder, _ = tiny
    factory: Any = recorder._factory
    for number in (-1, len(recorder.sites)):
        with pytest.raises(IndexError, match=f"no site {number}"):
            factory.count(number)
    with pytest.raises(TypeError):
        factory.count("first")


def test_a_module_without_conditions_has_probes_too() -> None:
    assert Recorder((), 1, in_c.Sites).snapshot() == ((b"", b"", b""), None)


@pytest.mark.parametrize(
    ("leads", "error"), [((), ValueError), ((0, 1, 2), ValueError), ((-1, 7), IndexError), (("a", "b"), TypeError)]
)
def test_a_condition_that_leads_to_no_block_is_refused(leads: tuple[Any, ...], error: type[Exception]) -> None:
    site = Site(0, "comparison", 0, 1, "<", 0, leads=leads)
    with pytest.raises(error):
        Recorder((site,), 1, in_c.Sites).probe(0, leading=True)


def test_a_recorder_and_its_probes_can_be_collected() -> None:
    instrumented = instrument(SOURCE, "tiny.py", leading=True)
    recorder = Recorder(instrumented.plan.sites, 10**9, in_c.Sites)
    module: dict[str, Any] = {}
    exec(instrumented.code(recorder.probe), module)
    module["first_true"](0, 1)
    loop = module["stepped"](generated([1, 2]))
    next(loop)
    gone = weakref.ref(recorder)
    del recorder, module, loop
    gc.collect()  # the functions, which are in cycles; then what their constants, unseen by the collector, have held
    gc.collect()
    assert gone() is None


class Raising:
    """Cannot be compared, looked into, walked through or asked for its truth."""

    def _raise(self, *arguments: object) -> Any:
        raise KeyError("no")

    __lt__ = __eq__ = __contains__ = __iter__ = __bool__ = __add__ = _raise  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Vague:
    def __eq__(self, other: object) -> Any:
        return self

    __hash__ = None  # type: ignore[assignment]


class NoTruth:
    def __lt__(self, other: object) -> Raising:
        return Raising()


LEAKS: dict[str, tuple[str, Any, Any]] = {
    "integers": ("less", 3, 10),
    "wide integers": ("less", 10**30, -(10**40)),
    "too wide for a float": ("less", 10**400, 3.5),
    "floats": ("less", 2.5, 1e300),
    "strings": ("equal", "abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwy"),
    "wide strings": ("equal", "\u20acuro", "\U0001f600uro"),
    "bytes": ("equal", b"abc", b"abd"),
    "lists": ("equal", [1, "a", (2, 3)], [1, "b", (2, 4)]),
    "opaque lists": ("equal", [object()], [object()]),
    "dicts": ("equal", {1: "a", 2: [3]}, {1: "b", 2: [3], 4: None}),
    "sets": ("equal", {1, 2}, frozenset({2, 3})),
    "complex numbers": ("equal", 1 + 2j, 3j),
    "objects": ("equal", object(), object()),
    "measured in Python": ("equal", Decimal(1), Decimal(2)),
    "compares like an array": ("equal", Vague(), Vague()),
    "in a list": ("within", 5, [1, "2", 3.5]),
    "in a string": ("within", "xyz", "abcdefghi"),
    "in a set": ("within", 5, {1, 2}),
    "in a range": ("within", 50, range(10)),
    "identity": ("same", 1, "1"),
    "number as condition": ("true", 10**30, 1),
    "container as condition": ("first_true", [1], {}),
    "no truth of its own": ("only_a_value", NoTruth(), 3),
    "not comparable": ("less", "a", 1),
    "raises when compared": ("equal", Raising(), 1),
    "raises when asked for its truth": ("true", Raising(), 1),
    "raises when what came out is asked for its truth": ("less", NoTruth(), 1),
    "raises when looked into": ("within", 1, Raising()),
    "raises when added": ("added", Raising(), 1),
    "match": ("matched", [1, 2], 3),
    "caught": ("handled", Raising(), 1),
    "sum": ("added", 10**30, 1),
    "sum in place": ("in_place", 3, 1),
    "variables": ("exchanged", 3, 10),
    "variables that hold floats": ("exchanged", -0.0, float("nan")),
    "variables that hold wide integers": ("exchanged", 2**62, 2**80),
    "variables that hold strings": ("exchanged", "abc", "".join(["a", "bc"])),
    "variables that hold objects": ("exchanged", Raising(), None),
    "others raise": ("added", 3, 0),
    "it raises itself": ("divided", 3, 0),
    "too long": ("added", 3, 2**40),
    "loop over a list": ("walked", [1, 2], None),
    "loop over an iterator": ("walked", lambda: iter([1, 2]), None),
    "loop over a generator": ("walked", lambda: generated([1, 2]), None),
    "loop left early": ("left_early", lambda: generated([1, 2]), None),
    "loop over nothing": ("walked", lambda: generated([]), None),
    "loop over what is no iterable": ("walked", 3, None),
    "loop over what raises": ("walked", Raising(), None),
    "loop in a generator": ("first_of", lambda: generated([1, 2]), None),
}


QUICK = ("integers", "floats", "strings", "identity", "container as condition", "in a set", "sum", "loop over a list")


def repeated(function: Callable[..., Any], left: Any, right: Any, times: int) -> None:
    makes = type(left) is types.FunctionType
    rest = () if right is None else (right,)
    for _ in range(times):
        try:  # noqa: SIM105 (a context manager costs more than the probe)
            function(left() if makes else left, *rest)
        except (KeyError, TypeError, ZeroDivisionError):
            pass


@pytest.mark.parametrize("case", every(4, LEAKS))
def test_a_million_visits_leave_nothing_behind(case: str, tiny: tuple[Recorder, dict[str, Any]]) -> None:
    """A tenth of a million where a visit runs code in Python, a hundredth where it looks at frames."""
    recorder, module = tiny
    name, left, right = LEAKS[case]
    often = 1_000_000 if case in QUICK else 100_000
    for needs, times in ((frozenset[str](), often), (INFECTION, 20_000), (EVERYTHING, 10_000)):
        recorder.begin(needs)
        repeated(module[name], left, right, 1_000)
        memory, before = resident(), (sys.getrefcount(left), sys.getrefcount(right), sys.getallocatedblocks())
        repeated(module[name], left, right, times)
        recorder.snapshot_key()
        after = sys.getrefcount(left), sys.getrefcount(right), sys.getallocatedblocks()
        assert all(abs(one - other) < 100 for one, other in zip(before, after, strict=True)), (before, after)
        assert resident() - memory < 1 << 20


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
