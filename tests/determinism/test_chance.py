"""Randomness: fixed during a search, real when results are observed, and always of the expected form."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from fitgym.determinism.pids import PIDS
from fitgym.execution.executor import Executor, Limits
from fitgym.sandbox.sandbox import same_layout
from fitgym.subject.source import locate
from fitgym.suite.text.expressions import expression_source
from fitgym.suite.text.scope import Scope
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable

LIMITS = Limits(seconds=1.0, memory_mb=256)

DRAWS = {
    "global generator": "random.random()",
    "own generator": "random.Random().random()",
    "made at import": "OWN.random()",
    "function by name": "randint(0, 10**9)",
    "system generator": "random.SystemRandom().random()",
    "bytes of the system": "os.urandom(8)",
    "uuid": "str(uuid.uuid4())",
    "secrets": "secrets.token_hex(8)",
}

SOURCE = """
import os, random, secrets, uuid
from random import randint
OWN = random.Random()
SEEDED = random.Random(42)

def seeded() -> float:
    return SEEDED.random()

def kinds() -> list:
    return [isinstance(OWN, random.Random), random.Random(3).random() == random.Random(3).random(), len(os.urandom(5))]
"""


def started_on(source: str, name: str, folders: pytest.TempPathFactory) -> Iterator[Executor]:
    """An executor of a module with this source."""
    folder = folders.mktemp(name)
    (folder / f"{name}.py").write_text(source)
    with Executor(locate(name, str(folder)), LIMITS) as executor:
        yield executor


@pytest.fixture(scope="module")
def gambler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    functions = [f"def draw_{i}():\n    return {draw}\n" for i, draw in enumerate(DRAWS.values())]
    yield from started_on(SOURCE + "\n".join(functions), "gambler", tmp_path_factory)


def observed(executor: Executor, name: str) -> object:
    table = StatementTable()
    operation = next(o.id for o in executor.subject.operations if o.name == name)
    testcase = table.testcase([Statement(operation)])
    return executor.observe([testcase], table)[0].observations


@pytest.mark.parametrize("number", range(len(DRAWS)), ids=list(DRAWS))
def test_what_is_observed_is_drawn_anew(gambler: Executor, number: int) -> None:
    assert observed(gambler, f"draw_{number}") != observed(gambler, f"draw_{number}")


def test_a_generator_that_the_subject_has_seeded_is_left_alone(gambler: Executor) -> None:
    assert "0.639426798457883" in str(observed(gambler, "seeded"))  # random.Random(42).random()
    assert observed(gambler, "seeded") == observed(gambler, "seeded")


def test_generators_are_what_they_were(gambler: Executor) -> None:
    assert str(observed(gambler, "kinds")).count("True") == 2


BRANCHES = """
import os, random, uuid
OWN = random.Random()

def gamble(n: int) -> int:
    found = 0
    for draw in (random.random(), random.Random().random(), OWN.random(), uuid.uuid4().int / 2**128, os.urandom(1)[0] / 256):
        if draw > 0.5:
            found += 1
    return found
"""


def test_a_search_sees_the_same_numbers_in_every_process_and_every_test_case(tmp_path: Path) -> None:
    (tmp_path / "gambler.py").write_text(BRANCHES)
    found = []
    for _ in range(2):
        with Executor(locate("gambler", str(tmp_path)), LIMITS) as executor:
            table = StatementTable()
            call = Statement(executor.subject.operations[0].id)
            once, twice = table.testcase([call]), table.testcase([call, call])
            first, _, third = executor.run([once, twice, once], table)
            assert first is third
            (alone,) = executor.verify([once], table, alone=True)
            assert alone is first
            found.append(first.reached)
    assert found[0] == found[1]


def test_the_module_seems_not_to_be_imported_until_it_is() -> None:
    script = """
    import sys
    from fitgym.determinism.chance import Chance
    chance = Chance("something")
    assert "random" not in sys.modules
    chance.fix()
    import random
    import random as again
    assert random is again and random.__spec__.name == "random" and random.__spec__.origin.endswith("random.py")
    first = random.random()
    chance.fix()
    assert random.random() == first
    chance.free()
    assert random.random() != first
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


ADDRESSES = """
import copy

class Node:
    def __init__(self):
        self.next = self

    def __deepcopy__(self, memo):
        twin = memo[id(self)] = Node()
        twin.next = copy.deepcopy(self.next, memo)
        return twin

FIRST = Node()
KNOWN = {id(FIRST): "first"}

def in_order() -> bool:
    nodes = [Node() for _ in range(9)]
    return sorted(nodes, key=id) == nodes

def above(number: int) -> bool:
    return id(Node()) > number

def known() -> str:
    return KNOWN[id(FIRST)]

def twin() -> bool:
    node = Node()
    other = copy.deepcopy(node)
    return other is not node and other.next is other

def alike() -> list:
    node, other = Node(), Node()
    return [id(node) == id(node), id(node) == id(other), id.__name__, isinstance(id(node), int)]

def number() -> int:
    return id(FIRST.__class__.__init__)
"""


@pytest.fixture(scope="module")
def addressed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    yield from started_on(ADDRESSES, "addressed", tmp_path_factory)


def test_a_search_finds_the_same_addresses_in_every_process(addressed: Executor) -> None:
    operations = {operation.name: operation.id for operation in addressed.subject.operations}
    found = []
    for executor in (addressed, Executor(addressed.reference, LIMITS)):
        with executor:
            table = StatementTable()
            above = Statement(operations["above"], args=(Literal("5"),))
            testcases = [table.testcase([Statement(operations["in_order"])]), table.testcase([above])]
            traces = executor.run(testcases, table, frozenset({"output", "constants"}))
            constants = executor.learned().constants
            assert [text for text in constants if len(text) > 10] == [], "an address is no value for a test case"
            found.append([(trace.reached, trace.calls) for trace in traces] + [constants])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("name", "expected"), [("known", '"first"'), ("twin", "True"), ("alike", '[True, False, "id", True]')]
)
def test_the_addresses_that_the_subject_sees_are_what_addresses_are(
    addressed: Executor, name: str, expected: str
) -> None:
    operation = next(o.id for o in addressed.subject.operations if o.name == name)
    table = StatementTable()
    testcase = table.testcase([Statement(operation)])
    (trace,) = addressed.run([testcase], table)
    assert trace.raised is None
    (shown,) = addressed.observe([testcase], table)[0].observations
    assert expression_source(shown.expression, {}, Scope()) == expected


def test_no_test_asserts_an_address_or_an_order_by_addresses(addressed: Executor) -> None:
    table = StatementTable()
    operations = {operation.name: operation.id for operation in addressed.subject.operations}
    testcases = [table.testcase([Statement(operations[name])]) for name in ("in_order", "number")]
    expected = addressed.expect(testcases, addressed.run(testcases, table), table)
    assert [expectation and expectation.facts for expectation in expected] == [(), ()]


def test_addresses_count_in_the_order_of_asking_and_the_other_way_round() -> None:
    script = """
    import builtins
    real = id
    from fitgym.determinism.addresses import Addresses
    addresses = Addresses()
    kept = object()
    assert id is not real and id(kept) == id(kept) != real(kept)
    written = id(kept)
    addresses.settle()
    addresses.fix()
    first, second = object(), object()
    forth = [id(first), id(second), id(kept)]
    assert forth == [written + 16, written + 32, written]
    addresses.fix()
    assert [id(second), id(first), id(kept)] == forth
    addresses.fix(other=True)
    assert id(first) > id(second) > id(kept) == written
    addresses.free()
    assert (id(first), id(kept)) == (real(first), written)
    assert min(forth) > real(first) | real(kept)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


PERSONALITY = [sys.executable, "-c", "print(open('/proc/self/personality').read(), id(object()))"]


def started() -> list[str]:
    return subprocess.run(PERSONALITY, capture_output=True, text=True, check=True, timeout=60).stdout.split()


@pytest.fixture
def _allowed() -> None:
    with same_layout():
        if int(started()[0], 16) & 0x40000 == 0:
            pytest.skip("this system does not allow a process to choose its layout (personality(2))")


@pytest.mark.usefixtures("_allowed")
def test_what_is_started_lies_where_it_lay_before() -> None:
    with same_layout():
        inside = [started() for _ in range(3)]
    assert inside[0] == inside[1] == inside[2]
    assert int(started()[0], 16) & 0x40000 == 0, "this process has been changed"


ORDER = """
class A: pass
class B: pass
class C: pass

def first() -> int:
    found = 0
    for place, (cls, _) in enumerate({(A, 1), (B, 2), (C, 3), (int, 4), (first, 5)}):
        for _ in range(place if cls in (A, first) else 0):
            found += 1
    return found
"""


@pytest.mark.usefixtures("_allowed")
def test_the_order_of_a_set_of_pairs_with_classes_is_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "order.py").write_text(ORDER)
    found = set()
    for _ in range(6):
        with Executor(locate("order", str(tmp_path)), LIMITS) as executor:
            table = StatementTable()
            first = next(o.id for o in executor.subject.operations if o.name == "first")
            (trace,) = executor.run([table.testcase([Statement(first)])], table, frozenset({"output"}))
            found.add((trace.reached, trace.calls))
    assert len(found) == 1


TIMES = """
import threading, time, uuid
from datetime import datetime, timezone
from time import monotonic
from time import time as now

START = time.time()

class Watch:
    look = time.time
    place = id

    def read(self) -> float:
        return self.look()

    def where(self) -> bool:
        return self.place(self) == id(self)

def waited() -> bool:
    until = now() + 0.1
    looks = 0
    while now() < until:
        time.sleep(0.001)
        looks += 1
    return looks > 10

def slept() -> bool:
    before = now()
    time.sleep(0.01)
    return now() - before >= 0.01

def agree() -> bool:
    return abs(time.time_ns() / 1e9 - time.time()) < 1 and time.strftime("%Y") == str(time.localtime().tm_year)

def texts() -> list:
    return [time.ctime(), time.asctime(), time.strftime("%Y-%m-%d"), time.gmtime().tm_year, int(time.time())]

def awaited() -> bool:
    until = monotonic() + 0.1
    while monotonic() < until:
        threading.Event().wait(0.02)
    return True

def dated() -> float:
    return datetime.now().timestamp() + datetime.utcnow().timestamp() + datetime.now(timezone.utc).timestamp()

def counted() -> float:
    return time.perf_counter() + time.process_time() + monotonic() + time.monotonic_ns()

def identified() -> int:
    return uuid.uuid1().int + uuid.getnode()

class Day(datetime):
    @classmethod
    def fromtimestamp(cls, *arguments):
        raise ValueError

def own_day() -> bool:
    return type(Day.now()) is Day and type(Day.utcnow()) is Day

def start() -> float:
    return START

def given() -> list:
    return [time.gmtime(0).tm_year, time.strftime("%Y", time.gmtime(0)), time.asctime(time.gmtime(0))]
"""


@pytest.fixture(scope="module")
def timed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    yield from started_on(TIMES, "timed", tmp_path_factory)


def test_a_search_sees_the_same_time_in_every_process_and_every_test_case(timed: Executor) -> None:
    found = []
    for executor in (timed, Executor(timed.reference, LIMITS)):
        with executor:
            table = StatementTable()
            operations = [o.id for o in executor.subject.under_test if not o.owner and o.kind == "function"]
            testcases = [table.testcase([Statement(operation)]) for operation in operations]
            traces = executor.run([*testcases, *testcases], table, frozenset({"output"}))
            assert [trace.raised for trace in traces] == [None] * len(traces)
            assert traces[: len(testcases)] == traces[len(testcases) :]
            found.append([(trace.reached, trace.calls) for trace in traces])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["waited", "slept", "agree", "awaited", "own_day"])
@pytest.mark.parametrize("mode", ["real", "fixed"])
def test_time_goes_on(timed: Executor, name: str, mode: str) -> None:
    operation = next(o.id for o in timed.subject.operations if o.name == name)
    table = StatementTable()
    testcase = table.testcase([Statement(operation)])
    if mode == "real":
        assert observed(timed, name)[0].expression == Literal("True")  # type: ignore[index]
    else:
        (trace,) = timed.run([testcase], table, frozenset({"output"}))
        assert trace.calls[0].output == (("bool:true", 1.0),)


def test_no_test_asserts_a_time(timed: Executor) -> None:
    assert "2023" not in str(observed(timed, "start")) and "17000" not in str(observed(timed, "start"))
    table = StatementTable()
    operations = {operation.name: operation.id for operation in timed.subject.operations}
    names = ("texts", "given", "dated", "counted", "identified")
    testcases = [table.testcase([Statement(operations[name])]) for name in names]
    expected = timed.expect(testcases, timed.run(testcases, table), table)
    texts, given, *numbers = (str(expectation and expectation.facts) for expectation in expected)
    assert "20" not in texts and "Tue" not in texts
    assert "1970" in given
    assert not any(re.search("[0-9]{3}", number) for number in numbers), numbers


def test_a_stopped_clock_shows_one_moment_until_the_test_case_ends() -> None:
    script = """
    import time
    from datetime import UTC, date, datetime, timedelta, timezone
    from fitgym.determinism.chance import Chance
    chance = Chance("something")
    chance.settle()
    seconds = datetime(2024, 1, 15, 10, tzinfo=UTC).timestamp()
    for begin in (chance.fix, chance.free):
        begin()
        chance.freeze("2024-01-15 10:00", time=True, datetime=True)
        assert time.time() == time.time() == seconds and time.time_ns() == seconds * 10**9
        assert date.today() == date(2024, 1, 15)
        assert datetime.now() == datetime.utcnow() == datetime(2024, 1, 15, 10)
        assert datetime.now(timezone(timedelta(hours=2))).isoformat() == "2024-01-15T10:00:00+02:00"
        begin()
        assert time.time() != seconds and datetime.now().year != 2024

        chance.freeze("2024-01-15 10:00", time=True)
        assert time.time() == seconds and datetime.now().year != 2024
        chance.freeze("2025-06-02 11:00", datetime=True)
        assert time.time() == seconds and datetime.now() == datetime(2025, 6, 2, 11)
    try:
        chance.freeze("soon", time=True)
    except ValueError as error:
        assert "soon" in str(error)
    else:
        raise AssertionError
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_functions_of_the_clock_are_not_bound_once_more() -> None:
    script = """
    import time
    from fitgym.determinism.chance import Chance
    chance = Chance("something")

    class Watch:
        look, place = time.time, id

    assert Watch().look() > 0 and Watch().place(3) == id(3)
    assert (time.time.__name__, time.time.__module__, time.time.__qualname__) == ("time", "time", "time")
    assert (id.__name__, id.__module__) == ("id", "builtins")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_who_waits_sees_what_it_asked_for_and_who_computes_sees_nothing() -> None:
    """Otherwise a busy machine, which makes both take longer, would change what a search sees."""
    script = """
    import queue
    import threading
    import time
    from fitgym.determinism.chance import Chance
    real = time.monotonic
    chance = Chance("mine")
    chance.settle()

    def seconds(action):
        chance.fix()
        before = time.perf_counter()
        action()
        return round(time.perf_counter() - before, 2)

    def compute():
        until = real() + 0.6
        while real() < until:
            pass

    def lock():
        lock = threading.Lock()
        lock.acquire()
        lock.acquire(timeout=0.6)

    def take():
        try:
            queue.Queue().get(timeout=0.3)
        except queue.Empty:
            pass

    assert seconds(compute) == 0
    assert seconds(lambda: [time.sleep(0.3), compute()]) == 0.3
    assert seconds(lambda: threading.Event().wait(0.3)) == 0.3
    assert seconds(take) == 0.3
    assert seconds(lock) == 0.5
    assert seconds(lambda: [lock(), time.sleep(0.3)]) == 0.8
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_the_monotonic_clock_is_fixed_for_the_package_of_the_subject_only() -> None:
    """Who waits for a lock or a queue has to see real time, and a package may keep it."""
    script = """
    import time
    from fitgym.determinism.chance import Chance
    real = time.monotonic
    chance = Chance("mine.part")
    chance.settle()
    look = {}
    for module in ("mine.part", "mine.other", "mine", "mines", "queue"):
        exec("import time\\ndef look():\\n    return time.monotonic(), time.monotonic_ns() / 1e9", names := {"__name__": module})
        look[module] = names["look"]
    first = {}
    for module in look:
        chance.fix()
        first[module] = look[module]()
    assert first["mine.part"] == first["mine.other"] == first["mine"] != first["mines"]
    assert all(abs(look[module]()[i] - real()) < 1 for module in ("mines", "queue") for i in (0, 1))
    chance.free()
    assert abs(look["mine"]()[0] - real()) < 1
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_what_stands_in_for_chance_is_no_state_of_the_subject() -> None:
    script = """
    import types
    from fitgym.determinism.chance import Chance
    from fitgym.worker.state.leakage import State
    chance = Chance("something")
    module = types.ModuleType("watched")
    exec("import os, time\\nlook, place, draw = time.time, id, os.urandom\\nclass Watch:\\n    look = time.time", vars(module))
    chance.settle()
    state = State([module])
    chance.fix()
    numbers = [module.place(object()), module.look(), module.Watch.look(), module.draw(4)]
    assert not state.changed() and not state.reordered()
    module.kept = numbers
    assert state.changed()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


NUMBERED = """
import os

OWN = os.getpid()

class Made:
    def __init__(self):
        self.pid, self.parent = os.getpid(), os.getppid()

def made() -> Made:
    return Made()

def number() -> int:
    return os.getpid()

def imported() -> int:
    return OWN
"""


def test_a_search_sees_the_same_process_id_in_every_process_and_no_test_asserts_it(tmp_path: Path) -> None:
    (tmp_path / "numbered.py").write_text(NUMBERED)
    found = []
    for _ in range(2):
        with Executor(locate("numbered", str(tmp_path)), LIMITS) as executor:
            table = StatementTable()
            operations = [o.id for o in executor.subject.operations if not o.owner]
            testcases = [table.testcase([Statement(operation)]) for operation in operations]
            traces = executor.run(testcases, table, frozenset({"output"}))
            assert all(trace.raised is None for trace in traces)
            found.append([trace.calls for trace in traces])
            expected = executor.expect(testcases, traces, table)
            facts = str([expectation and expectation.facts for expectation in expected])
            assert not any(str(pid) in facts for pid in PIDS)
    assert found[0] == found[1]


def test_a_process_that_is_forked_is_another_one_and_its_parent_is_what_it_calls_itself() -> None:
    script = """
    import os
    real, parent = os.getpid(), os.getppid()
    from fitgym.determinism.pids import Pids
    pids = Pids()
    fixed = os.getpid(), os.getppid()
    assert len({real, parent, *fixed}) == 4 and min(fixed) > 2**22
    pids.fix(other=True)
    other = os.getpid(), os.getppid()
    assert len({real, parent, *fixed, *other}) == 6
    pids.fix()
    child = os.fork()
    if not child:
        os._exit(os.getppid() != fixed[0] or os.getpid() in fixed)
    assert os.waitpid(child, 0)[1] == 0 and (os.getpid(), os.getppid()) == fixed
    pids.free()
    assert (os.getpid(), os.getppid()) == (real, parent)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)
