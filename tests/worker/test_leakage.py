"""Leaks: every change to the state of a module is found, and restored exactly or not at all."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitgym.worker.state.leakage import State
from fitgym.worker.state.process import Process

SOURCE = """
import array, collections, contextvars, functools, itertools, random, threading

number = 1
names = ["a", ["b"]]
table = {"x": {"y": 1}, "z": 2}
members = {1, 2}
crowd = set(range(200))
[crowd.discard(number) for number in range(3, 200)]
grown = set(map(str, range(6)))
pair = {8, 0}
words = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}
nobody = set()
queue = collections.deque([1, 2], maxlen=5)
ordered = collections.OrderedDict(a=1, b=2)
counter = collections.Counter("aab")
defaults = collections.defaultdict(list, a=[1])
raw = bytearray(b"abc")
numbers = array.array("i", [1, 2])
ids = itertools.count(3)
taken_ids = itertools.count()
take_id = taken_ids.__next__
stream = iter([1, 2, 3])
lock = threading.Lock()
relock = threading.RLock()
context = contextvars.ContextVar("context", default=1)
dice = random.Random(4)
nested = ({"deep": [1]},)

class Base:
    __slots__ = ()
    shared = []
    count = 0
    ids = itertools.count(0.5, -1)

class Thing(Base):
    __slots__ = ("slot", "__dict__")
    def __init__(self):
        self.value = 1
        self.inside = [1]
    @classmethod
    def make(cls): return cls()

class Slotted:
    __slots__ = ("a", "b")
    def __init__(self): self.a = [1]

class Special(dict):
    def __eq__(self, other): return True
    __hash__ = None

class Touchy:
    def __eq__(self, other): raise RuntimeError
    __hash__ = None

class LazyList(list):
    def __iter__(self):
        self.append("filled")
        return super().__iter__()

class Proxy:  # has the methods of an iterator, and each use of it counts
    def __init__(self): object.__setattr__(self, "uses", 0)
    def __next__(self): return 1
    def __length_hint__(self):
        self.uses += 1
        return self.uses

proxy = Proxy()
class Unequal:  # like an array, or a map that compares its values
    def __ne__(self, other): raise ValueError

class Holder:
    __slots__ = ("unequal", "number")

holder = Holder()
holder.unequal = Unequal()
holder.number = 1
thing = Thing()
slotted = Slotted()
special = Special(a=1)
touchy = Touchy()
lazy = LazyList()

def default(item, into=[]):
    into.append(item)

def keyword(*, into={}):
    into["k"] = 1

def with_attribute(): pass
with_attribute.calls = 0

def closure():
    memory, count = {}, 0
    def inner():
        nonlocal count
        count += 1
        memory[count] = 1
    return inner
inner = closure()

@functools.lru_cache
def cached(n): return [n]

@functools.wraps(cached)
def wrapping(n): return cached(n)

def generate():
    yield 1
    yield 2
generator = generate()
next(generator)
"""

UNDONE = [
    "number = 2",
    "number = None",
    "fresh = 1",
    "del number",
    "names.append(1)",
    "names[1].append(1)",
    "names[:] = []",
    "table['x']['y'] = 2",
    "del table['z']",
    "table = {}",
    "nobody.add(3)",
    "queue.append(3)",
    "ordered.move_to_end('a')",
    "counter['z'] += 0",
    "defaults['missing']",
    "defaults['a'].append(2)",
    "raw[0] = 0",
    "numbers.append(3)",
    "context.set(5)",
    "nested[0]['deep'].append(2)",
    "Base.shared.append(1)",
    "Thing.shared = []",
    "Base.count += 1",
    "Thing.extra = 1",
    "del Thing.make",
    "members.add(3)",
    "members.discard(1)",
    "members.update(range(100))",
    "words.clear()",
    "words ^= {'a', 1}",
    "nobody.add(1)",
    "thing.value = 2",
    "thing.extra = 2",
    "del thing.value",
    "thing.inside.append(2)",
    "thing.slot = 1",
    "slotted.a = 2",
    "slotted.a.append(2)",
    "slotted.b = 2",
    "slotted.a = None",
    "del slotted.a",
    "special['a'] = 2",
    "touchy = Touchy()",
    "default(1)",
    "keyword()",
    "with_attribute.calls += 1",
    "inner()",
    "del inner.__closure__[0].cell_contents",
    "closure = None",
]

FINAL = [
    "crowd.add(300)",
    "grown.add(3)",
    "next(taken_ids)",
    "next(stream)",
    "lock.acquire()",
    "relock.acquire()",
    "next(generator)",
]

HARMLESS = [
    "number = 1",
    "names.append(1); names.pop()",
    "thing.value = 1",
    "copy = 1; del copy",
    "lock.acquire(); lock.release()",
    "Thing().value",
    "lazy == []",
]


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    module = types.ModuleType("leaky")
    sys.modules["leaky"] = module
    exec(compile(SOURCE, "leaky.py", "exec"), vars(module))
    yield module
    del sys.modules["leaky"]


def shape(module: types.ModuleType) -> str:
    """Everything that can be printed about the module's own state."""
    found = {name: value for name, value in vars(module).items() if not name.startswith("__")}
    objects = {name: vars(found[name]) for name in ("thing", "with_attribute")}
    classes = {name: sorted(vars(found[name])) for name in ("Base", "Thing", "Slotted")}
    slots = [getattr(found["slotted"], name, None) for name in ("a", "b")]
    plain = {name: value for name, value in found.items() if not callable(value) and name not in ("special", "lazy")}
    functions = [found["default"].__defaults__, found["keyword"].__kwdefaults__]
    cells = [cell.cell_contents for cell in found["inner"].__closure__]
    values = (objects, classes, slots, sorted(found), functions, cells, dict.__repr__(found["special"]))
    return repr((values, {name: str(value) for name, value in sorted(plain.items())}))


@pytest.mark.parametrize("change", UNDONE)
def test_a_change_is_found_and_undone(module: types.ModuleType, change: str) -> None:
    state, before = State([module]), shape(module)
    identities = {name: id(value) for name, value in vars(module).items()}
    assert not state.changed()
    assert not state.reordered()
    exec(change, vars(module))
    assert state.changed() or state.reordered()
    assert state.restore()
    assert not state.changed()
    assert shape(module) == before
    assert {name: id(value) for name, value in vars(module).items()} == identities


@pytest.mark.parametrize("change", ["pair.clear(); pair.update((0, 8, 16))", "pair.update(range(100))", "pair.pop()"])
def test_the_order_of_a_set_is_the_same_again(module: types.ModuleType, change: str) -> None:
    state, before = State([module]), list(module.pair)
    assert before != list({0, 8})  # both belong in the same place, which has whoever came first
    exec(change, vars(module))
    assert state.changed()
    assert state.restore()
    assert list(module.pair) == before


def test_of_a_shallow_module_the_names_are_put_back_and_nothing_else(module: types.ModuleType) -> None:
    other = types.ModuleType("other")
    other.kept, other.items = 1, []  # type: ignore[attr-defined]
    state = State([module], shallow=[other])
    other.items.append(1)
    assert not state.changed()
    other.new, other.kept = 2, 3  # type: ignore[attr-defined]
    assert state.changed() and state.restore()
    assert other.kept == 1 and not hasattr(other, "new") and other.items == [1]


def test_a_set_that_was_filled_and_emptied_again_leaves_no_order_behind() -> None:
    module = types.ModuleType("sets")
    module.one = set()  # type: ignore[attr-defined]
    module.other = []  # type: ignore[attr-defined]
    state = State([module])
    module.one.update([0, 1])
    module.one.discard(0)
    module.one.discard(1)  # their places stay taken, so 0 would now come behind 8
    module.other.append(1)
    assert state.changed() and state.restore()
    module.one.update([0, 8])
    assert list(module.one) == [0, 8]


@given(
    st.lists(st.integers(0, 99)),
    st.booleans(),
    st.lists(st.integers(0, 99)),
    st.integers(0, 9),
    st.lists(st.integers()),
)
def test_a_set_that_was_put_back_goes_on_like_one_that_nobody_touched(
    items: list[int], at_once: bool, added: list[int], popped: int, later: list[int]
) -> None:
    def made() -> set[int]:
        found = set(items) if at_once else set()
        for item in items:
            found.add(8 * item)
        return found

    module = types.ModuleType("sets")
    module.one, untouched = made(), made()  # type: ignore[attr-defined]
    state = State([module])
    module.one.update(added)
    for _ in range(min(popped, len(module.one))):
        module.one.pop()
    if state.restore():
        module.one.update(later)
        untouched.update(later)
        assert list(module.one) == list(untouched)


@pytest.mark.parametrize("change", FINAL)
def test_what_cannot_be_undone_exactly_is_found_and_said(module: types.ModuleType, change: str) -> None:
    state = State([module])
    exec(change, vars(module))
    assert state.changed()
    assert not state.restore()


@pytest.mark.parametrize("change", HARMLESS)
def test_what_ends_as_it_began_is_no_change(module: types.ModuleType, change: str) -> None:
    state = State([module])
    exec(change, vars(module))
    assert not state.changed()


def test_a_count_that_one_namespace_holds_is_replaced_by_one_that_starts_where_it_was(module: types.ModuleType) -> None:
    State([module])  # an earlier snapshot does not count as another holder
    state = State([module])
    for _ in range(3):
        assert not state.changed()
        assert [next(module.ids), next(module.ids), next(module.Base.ids)] == [3, 4, 0.5]
        assert state.changed() and state.restore()
    module.ids = iter([1])  # another object in its place is a change of the namespace
    assert state.changed() and state.restore()
    assert next(module.ids) == 3


def test_an_object_that_is_not_equal_to_itself_is_no_change(module: types.ModuleType) -> None:
    state = State([module])
    module.holder.number = 2
    assert len(state.changes()) == 1
    assert state.restore_at(state.changes()) and module.holder.number == 1


def test_two_changes_are_undone_together(module: types.ModuleType) -> None:
    state, before = State([module]), shape(module)
    for change in UNDONE[4:10]:
        exec(change, vars(module))
    assert state.restore()
    assert shape(module) == before


def test_an_order_that_changed_is_found_only_when_asked_for(module: types.ModuleType) -> None:
    state = State([module])
    module.table["x"] = module.table.pop("x")
    assert not state.changed()
    assert state.reordered()
    assert state.restore()
    assert list(module.table) == ["x", "z"]


def test_caches_are_emptied_and_generators_set_back(module: types.ModuleType) -> None:
    state = State([module])
    first = module.dice.random()
    module.cached(1)
    assert not state.changed()
    state.reset()
    assert module.cached.cache_info().currsize == 0
    assert module.dice.random() == first


def test_looking_at_a_lazy_container_does_not_fill_it(module: types.ModuleType) -> None:
    State([module])
    assert list.__len__(module.lazy) == 0


def test_objects_of_a_library_are_never_undone_in_part(module: types.ModuleType) -> None:
    class Library:
        def __init__(self) -> None:
            self.cache: dict[int, int] = {}

    Library.__module__ = "some_library"
    module.helper = Library()
    state = State([module])
    module.helper.value = 1
    assert state.changed()
    assert not state.restore()
    module.helper = Library()
    state = State([module], around=[types.ModuleType("some_library")])
    module.helper.value = 1
    assert state.restore()
    assert vars(module.helper) == {"cache": {}}


def test_classes_of_other_modules_are_left_alone(module: types.ModuleType) -> None:
    class Foreign:
        count = 0

    Foreign.__module__ = "elsewhere"
    module.Foreign = Foreign
    state = State([module])
    Foreign.count = 1
    assert not state.changed()


def test_a_subject_that_holds_the_loaded_modules_must_find_the_same_ones(module: types.ModuleType) -> None:
    indifferent = State([module])
    module.modules = sys.modules
    state = State([module])
    sys.modules["leaky.later"] = types.ModuleType("leaky.later")
    try:
        assert state.changed()
        assert not state.restore()
        assert indifferent.restore()
    finally:
        del sys.modules["leaky.later"]


# ----------------------------------------------------------------------------------------------------- the process

CHANGES = [
    "os.chdir('/')",
    "open('left', 'w')",
    "os.environ['LEAK'] = '1'",
    "del os.environ['HOME']",
    "sys.path.append('/nowhere')",
    "sys.argv.append('--verbose')",
    "sys.argv = ['other']",
    "del sys.modules['signal']",
    "sys.modules['signal'] = os",
    "sys.setrecursionlimit(500)",
    "sys.settrace(lambda *a: None)",
    "sys.stdout = None",
    "sys.stdout.close()",
    "sys.excepthook = None",
    "builtins.len = None",
    "builtins.extra = 1",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "signal.setitimer(signal.ITIMER_REAL, 100)",
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])",
    "warnings.simplefilter('error')",
    "decimal.getcontext().prec = 5",
    "gc.disable()",
    "os.umask(0)",
    "os.nice(1)",
    "os.open('/dev/null', os.O_RDONLY)",
    "os.close(0)",
    "os.setsid() if os.getpid() != os.getsid(0) else os.chdir('/')",
    "os.fork() or os._exit(0)",
]

SCRIPT = """
import builtins, decimal, gc, os, signal, sys, warnings
from fitgym.worker.state.process import Process
process = Process()
assert not process.changed(), "changed by itself"
assert decimal.getcontext().divide(1, 3) and not process.changed(), "flags do not count"
write = os.write
{change}
write(1, b"found" if process.changed() else b"missed")
os._exit(0)
"""


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_process_is_found(change: str, tmp_path: Path) -> None:
    script = textwrap.dedent(SCRIPT).format(change=change)
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout == "found", result.stderr


PUT_BACK = [
    "os.chdir('/')",
    "os.environ['LEAK'] = '1'",
    "del os.environ['HOME']",
    "os.environ['HOME'] = '/'",
    "sys.path.append('/nowhere')",
    "sys.setrecursionlimit(500)",
    "sys.stdout = None",
    "sys.excepthook = None",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])",
    "warnings.simplefilter('error')",
    "decimal.getcontext().prec = 5; decimal.getcontext().traps[decimal.Inexact] = True",
    "gc.disable(); gc.set_threshold(5); gc.callbacks.append(lambda *a: None)",
    "os.umask(0)",
    "sys.stdin.close()",
    "signal.setitimer(signal.ITIMER_VIRTUAL, 9.0)",
    "sys.stdout.close(); sys.stderr.close()",
    "import asyncio; asyncio.set_event_loop(asyncio.new_event_loop())",
    "gc.disable(); cycle = [open('/dev/null')]; cycle.append(cycle); del cycle",
]


@pytest.mark.parametrize("change", PUT_BACK)
def test_a_change_of_the_process_is_put_back_where_that_is_possible_exactly(change: str, tmp_path: Path) -> None:
    script = """
    import builtins, decimal, gc, os, signal, subprocess, sys, warnings
    from fitgym.worker.state.process import Process
    process = Process()
    write, environment = os.write, dict(os.environ)
    {change}
    changes = process.changes()
    assert changes and process.changed_at(changes)
    assert process.restore_at(changes) and not process.changed() and dict(os.environ) == environment
    write(1, b"as it was")
    os._exit(0)
    """
    command = [sys.executable, "-c", textwrap.dedent(script).format(change=change)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert result.stdout == "as it was", result.stderr


def test_an_open_file_is_found_and_not_put_back() -> None:
    process = Process()
    with open("/dev/null"):
        changes = process.changes()
        assert changes and not process.restore_at(changes)
    assert process.restore_at(changes)


def test_memory_that_is_taken_is_no_change_but_growth() -> None:
    process = Process(memory_slack=64 << 20)
    assert not process.grown()
    great = bytearray(200 << 20)
    assert process.grown() and not process.changed() and great


def test_looking_at_the_process_imports_nothing() -> None:
    script = """
    import sys
    from fitgym.worker.state.process import Process
    before = set(sys.modules)
    assert not Process().changed() and set(sys.modules) == before, set(sys.modules) - before
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_a_thread_that_stays_is_found_and_one_that_ends_is_waited_for() -> None:
    process = Process()
    gate = threading.Event()
    staying = threading.Thread(target=gate.wait)
    staying.start()
    assert process.threads_left(patience=0.0)
    threading.Timer(0.01, gate.set).start()
    assert not process.threads_left(patience=10.0)
    staying.join()
