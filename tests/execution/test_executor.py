"""The executor: traces of all kinds of test cases, and no processes or files left at the end."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from calls_by_name import Calls
from trace_by_hand import counted

from fitgym.errors import ExecutionError, OutOfBudget, SubjectError
from fitgym.execution.child import Child
from fitgym.execution.executor import Executor, Limits
from fitgym.execution.zygote import Zygote
from fitgym.instrument.trace import Trace
from fitgym.messages.observation import Observed
from fitgym.sandbox.environment import MARKER, marked
from fitgym.subject.source import locate
from fitgym.subject.subject import Reference
from fitgym.subject.types.hints import Hint, choices
from fitgym.testcase.expression import Collection, Literal
from fitgym.testcase.statement import Statement, StatementTable, TestCase

LIMITS = Limits(seconds=1.0, fuel=20_000, memory_mb=256, batch=20)

BANK = """
import random

class Account:
    opened = 0

    def __init__(self, balance: int = 0):
        Account.opened += 1
        self.balance = balance

    def withdraw(self, amount: int) -> int:
        if amount > self.balance:
            raise ValueError("too much")
        self.balance -= amount
        return self.balance

def opened() -> int:
    if Account.opened > 0:
        return 1
    return 0

def lucky(n: int) -> int:
    if random.randint(0, 1000) == n:
        return 1
    return 0

def stop(code: int) -> None:
    import os
    if code > 5:
        os._exit(code)

def numbers(n: int) -> list[int]:
    return list(range(n))

def lazily(n):
    return iter(range(n))
"""


def plain(trace: Trace) -> tuple[object, ...]:
    return (trace.reached, trace.calls, trace.raised, trace.stops, trace.failure, trace.fuel)


def module(folder: Path, source: str, name: str = "bank") -> Reference:
    (folder / f"{name}.py").write_text(textwrap.dedent(source))
    return locate(name, str(folder))


def token(executor: Executor) -> str:
    assert executor._zygote is not None
    return executor._zygote._token.hex()


def eventually(condition: Callable[[], bool]) -> bool:
    """The condition becomes true before long."""
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    with Executor(module(tmp_path_factory.mktemp("bank"), BANK), LIMITS) as executor:
        yield executor


@pytest.fixture
def calls(bank: Executor) -> Calls:
    bank.begin()
    return Calls(bank)


# ------------------------------------------------------------------------------------------------------- results


def test_a_trace_tells_calls_and_the_exception_that_ended_the_test_case(bank: Executor, calls: Calls) -> None:
    (trace,) = bank.run([calls(("Account", 5), ("Account.withdraw", 3), ("Account.withdraw", 3))], calls.table)
    assert [call.returned for call in trace.calls] == [True, True, False]
    assert trace.raised is not None
    assert (trace.raised.type, trace.raised.position, trace.raised.kind) == ("ValueError", 2, "explicit")
    assert trace.raised.counted
    assert bank.subject.functions[trace.raised.function].name == "Account.withdraw"
    assert trace.failure == ""


def test_every_trace_includes_what_the_import_did(bank: Executor, calls: Calls) -> None:
    (trace,) = bank.run([calls(("numbers", 2))], calls.table)
    body = bank.subject.functions[0].entry
    assert counted(trace)[body] == 1


def test_results_come_in_the_order_of_the_test_cases_over_several_batches(bank: Executor, calls: Calls) -> None:
    testcases = [calls(("numbers", n % 10)) for n in range(50)]
    assert len(testcases) > 2 * LIMITS.batch
    observed = bank.observe(testcases, calls.table)
    expected = [Collection("list", tuple(Literal(str(i)) for i in range(n % 10))) for n in range(50)]
    assert [one.observations[0].expression for one in observed] == expected


def test_equal_executions_share_one_trace(bank: Executor, calls: Calls) -> None:
    first, second = bank.run(
        [
            calls(("stop", 1)),
            calls(
                ("stop", 1),
            ),
        ],
        calls.table,
    )
    (third,) = bank.verify([calls(("stop", 1))], calls.table, alone=True)
    assert first is second is third


def test_a_child_is_replaced_before_it_remembers_too_much(
    bank: Executor, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    testcases = [calls(("numbers", n)) for n in range(60)]
    expected = bank.run(testcases, calls.table)
    pids = set()
    monkeypatch.setattr("fitgym.execution.executor._MOST_EXCHANGED", 2_000)
    for _ in range(6):
        assert bank.run(testcases, calls.table) == expected
        assert bank._zygote is not None
        child = bank._zygote.child
        pids.add(child and child.pid)
        assert child is None or child.exchanged <= 2_000
    assert len(pids) > 1


def test_traces_that_nobody_needs_are_forgotten(bank: Executor, calls: Calls) -> None:
    testcases = [calls(("numbers", n)) for n in range(20)]
    traces = bank.run(testcases, calls.table)
    assert len(bank._traces._traces) >= len(set(map(id, traces)))
    bank.begin()
    del traces
    gc.collect()
    assert len(bank._traces._traces) == 0


def test_nothing_to_run_gives_nothing(bank: Executor, calls: Calls) -> None:
    assert bank.run([], calls.table) == []
    assert bank.executions == 0


def test_only_what_ran_counts_as_executed(bank: Executor, calls: Calls) -> None:
    exits, fine = calls(("stop", 9)), calls(("stop", 1))
    bank.run([fine, exits, fine], calls.table)
    assert bank.executions == 3
    bank.run([exits, fine], calls.table)
    assert bank.executions == 4


def test_direct_counts_and_partitions_are_recorded_only_if_needed(bank: Executor, calls: Calls) -> None:
    testcase = calls(("Account", 5), ("Account.withdraw", 3))
    (without,) = bank.run([testcase], calls.table)
    assert without.direct is None
    assert (without.calls[1].output, without.calls[1].inputs) == ((), ())
    (trace,) = bank.run([testcase], calls.table, frozenset({"direct", "output", "input"}))
    assert {bank.subject.functions[bank.subject.operations[call.operation].function].entry for call in trace.calls} <= {
        *counted(trace, direct=True)
    }
    assert trace.calls[1].output == (("int:positive", 2.0),)
    assert trace.calls[1].inputs == (("amount", "int:positive", 3.0),)


# --------------------------------------------------------------------------------------------------- independence


def test_a_trace_does_not_depend_on_what_ran_before(bank: Executor, calls: Calls) -> None:
    testcases = [
        calls(("opened",)),
        calls(("Account", 1)),
        calls(("lucky", 864)),
        calls(("stop", 9)),
        calls(("numbers", 3)),
        calls(("lucky", 5)),
        calls(("Account", 3), ("Account.withdraw", 9)),
    ]
    alone = {
        t: plain(trace) for t, trace in zip(testcases, bank.verify(testcases, calls.table, alone=True), strict=True)
    }
    rng = random.Random(4)
    for _ in range(4):
        order = rng.choices(testcases, k=30)
        for testcase, trace in zip(order, bank.run(order, calls.table), strict=True):
            assert plain(trace) == alone[testcase]


SPINNING = """
class Rope:
    cut = 0

    def __del__(self):
        for _ in range(3):
            Rope.cut += 1

def spin(n: int) -> int:
    rope = Rope()
    while n > 0:
        n += 1
    return Rope.cut
"""


def test_a_child_goes_on_after_test_cases_that_ran_out_of_fuel(tmp_path: Path, sites: str) -> None:
    with Executor(module(tmp_path, SPINNING), LIMITS) as executor:
        calls = Calls(executor)
        (before,) = executor.run([calls(("spin", 0))], calls.table)
        assert executor._zygote is not None
        child = executor._zygote.child
        testcases = [calls(("spin", n)) for n in (1, 2, 0, 3)]
        traces = executor.run(testcases, calls.table)
        assert [trace.failure for trace in traces] == ["fuel", "fuel", "", "fuel"]
        assert traces[2] == before  # what they left behind was undone
        assert executor._zygote.child is child and child is not None
        assert [plain(trace) for trace in executor.verify(testcases, calls.table, alone=True)] == [*map(plain, traces)]


def test_random_numbers_start_anew_in_every_test_case(bank: Executor, calls: Calls) -> None:
    once, twice = calls(("lucky", 1)), calls(("lucky", 1), ("lucky", 1))
    first, _, last = bank.run([once, twice, once], calls.table)
    assert first is last


def test_state_that_cannot_be_compared_cheaply_is_found_after_the_batch(tmp_path: Path) -> None:
    (tmp_path / "shelf.py").write_text("BOOKS = []\n")
    reference = module(
        tmp_path,
        """
        import shelf

        def put(n: int) -> int:
            shelf.BOOKS.append(n)
            if len(shelf.BOOKS) > 1:
                return len(shelf.BOOKS)
            return 0
        """,
    )
    with Executor(reference, LIMITS) as executor:
        calls = Calls(executor)
        traces = executor.run([calls(("put", n)) for n in range(8)], calls.table)
        assert all(trace.reached == traces[0].reached for trace in traces)


def test_a_name_that_is_left_among_the_builtins_costs_no_process(tmp_path: Path) -> None:
    source = """
    import builtins

    def install(n: int) -> bool:
        there = hasattr(builtins, "_")
        builtins._ = n
        return there
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        observed = executor.observe([calls(("install", n)) for n in range(6)], calls.table)
        assert {o.observations[0].expression for o in observed} == {Literal("False")}
        executor.run([calls(("install", n)) for n in range(6)], calls.table)
        child = executor._zygote.child if executor._zygote is not None else None
        assert child is not None  # the one that ran them goes on


def test_care_that_nothing_calls_for_any_more_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
    import os

    def change(n: int) -> int:
        if n:
            os.environ["CHANGED"] = "yes"
        return len(os.environ.get("CHANGED", ""))
    """
    monkeypatch.setattr("fitgym.execution.killing._CALM", 40)
    monkeypatch.setattr("fitgym.messages.watched._MOST", 0)  # what changes is not watched
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        changes, keeps = calls(("change", 1)), calls(("change", 0))
        (expected,) = executor.run([keeps], calls.table)
        cares = []
        for testcases in ([keeps, changes, keeps], 40 * [keeps], 40 * [keeps], [changes, keeps]):
            traces = executor.run(testcases, calls.table)
            assert all(
                trace == expected for testcase, trace in zip(testcases, traces, strict=True) if testcase == keeps
            )
            cares.append(executor._care.level)
        assert cares == [2, 1, 0, 2]


# -------------------------------------------------------------------------------------------------------- crashes


def test_a_test_case_that_ends_its_process_is_banned_and_reported(bank: Executor, calls: Calls) -> None:
    exits = calls(("numbers", 1), ("stop", 7))
    fine = calls(("numbers", 4))
    traces = bank.run([fine, exits, fine], calls.table)
    assert [trace.failure for trace in traces] == ["", "exit", ""]
    assert [(c.testcase, c.failure, c.position) for c in bank.crashes] == [(exits, "exit", 1)]
    assert bank.subject.operations[bank.crashes[0].operation].name == "stop"
    assert list(bank.banned) == [exits]
    assert bank.run([exits], calls.table)[0].failure == "exit"
    assert bank.observe([exits], calls.table) == [Observed(failure="exit")]
    assert len(bank.crashes) == 1


@pytest.mark.parametrize("size", [1, 30])
def test_a_child_that_dies_before_it_begins_bans_nothing(
    bank: Executor, calls: Calls, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    deaths = iter([True, True])
    fork = Zygote.fork

    def dying(self: Zygote) -> Child:
        child = fork(self)
        if next(deaths, False):
            os.kill(child.pid, signal.SIGKILL)
        return child

    monkeypatch.setattr(Zygote, "fork", dying)
    traces = bank.run([calls(("numbers", n)) for n in range(size)], calls.table)
    assert [trace.failure for trace in traces] == [""] * size
    assert (len(bank.banned), bank.crashes, bank.executions) == (0, [], size)
    assert next(deaths, None) is None


def test_children_that_never_begin_are_not_replaced_for_ever(
    bank: Executor, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    fork = Zygote.fork

    def dying(self: Zygote) -> Child:
        child = fork(self)
        os.kill(child.pid, signal.SIGKILL)
        return child

    monkeypatch.setattr(Zygote, "fork", dying)
    (trace,) = bank.run([calls(("numbers", 3))], calls.table)
    assert trace.failure == "crash"


def test_a_banned_test_case_tells_which_of_its_statements_returned(tmp_path: Path) -> None:
    source = """
    import os, re

    def backtrack(n: int) -> object:
        return re.match("(a|aa)+$", "a" * n + "b")

    def stop(n: int) -> None:
        if n:
            os._exit(n)
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        testcases = [calls(*((name, n) for n in (0, 60, 0))) for name in ("backtrack", "stop")]
        for _ in range(2):  # run, and remembered
            traces = executor.run(testcases, calls.table)
            assert [trace.failure for trace in traces] == ["timeout", "exit"]
            assert [[call.returned for call in trace.calls] for trace in traces] == [[True, False]] * 2
        assert [call.operation for call in traces[1].calls] == [calls.ids["stop"]] * 2


def test_a_new_run_forgets_what_was_banned_and_learnt(bank: Executor, calls: Calls) -> None:
    bank.run([calls(("stop", 7)), calls(("numbers", 4))], calls.table)
    learned = bank.learned()
    bank.begin()
    assert (len(bank.banned), bank.crashes, bank.executions) == (0, [], 0)
    again = Calls(bank)
    bank.run([again(("stop", 7)), again(("numbers", 4))], again.table)
    assert bank.learned() == learned
    assert len(bank.crashes) == 1


def test_ids_of_another_table_are_not_mixed_up(bank: Executor, calls: Calls) -> None:
    exits, other = calls(("stop", 7)), Calls(bank)
    fine = other(("numbers", 2))
    assert exits == fine
    assert bank.run([exits], calls.table)[0].failure == "exit"
    assert bank.run([fine], other.table)[0].failure == ""
    assert bank.run([exits], calls.table)[0].failure == "exit"


def test_two_executors_agree_on_everything(bank: Executor, calls: Calls) -> None:
    testcases = [calls(("numbers", n), ("stop", n)) for n in range(9)]
    traces = bank.run(testcases, calls.table)
    learned = bank.learned()
    with Executor(bank.reference, LIMITS) as other:
        assert other.subject == bank.subject
        assert [plain(t) for t in other.run(testcases, calls.table)] == [plain(t) for t in traces]
        assert other.learned() == learned
        assert other.crashes == bank.crashes


# --------------------------------------------------------------------------------------------------------- lessons


def test_types_and_iterators_are_learnt_once(bank: Executor, calls: Calls) -> None:
    bank.run([calls(("numbers", 2)), calls(("lazily", 2)), calls(("numbers", 3))], calls.table)
    learned = bank.learned()
    integer = Hint("class", "builtins.int")
    assert learned.returns[calls.ids["numbers"]] == Hint("list", args=(integer,))
    assert learned.iterators == (calls.ids["lazily"],)
    bank.run([calls(("numbers", 5))], calls.table)
    assert bank.learned().returns == {}


MIXED = """
def mixed(n: int):
    return [(), (1.0, 2.0), (1, "a"), None, [], [1], ["b"], {}, {1: 2}][n]
"""


@pytest.mark.parametrize(
    ("numbers", "kinds"),
    [
        ((1, 2), ["tuple"]),
        ((0, 1, 2), ["tuple", "tuple"]),
        ((2, 0), ["tuple"]),
        ((4, 3, 5, 6, 4), ["list", "none", "list"]),
        ((7, 7, 8, 7), ["dict", "dict"]),
    ],
)
def test_what_is_learnt_does_not_depend_on_when_processes_are_replaced(
    tmp_path: Path, numbers: tuple[int, ...], kinds: list[str]
) -> None:
    learned = []
    with Executor(module(tmp_path, MIXED), LIMITS) as executor:
        for width in (1, 2, len(numbers)):
            calls = Calls(executor)
            executor.begin()
            for start in range(0, len(numbers), width):
                batch = [calls(("mixed", n)) for n in numbers[start : start + width]]
                executor.verify(batch, calls.table)  # in fresh processes
            learned.append(executor.learned().returns[calls.ids["mixed"]])
    assert learned[0] == learned[1] == learned[2]
    assert [hint.kind for hint in choices(learned[0])] == kinds


def test_so_many_types_of_one_operation_are_learnt(tmp_path: Path) -> None:
    source = """
    def mixed(n: int):
        return [1, 1.0, "", b"", None, True, 1j, (), (2,), [], [3]][n]
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        executor.run([calls(*(("mixed", n) for n in range(11)))], calls.table)
        hint = executor.learned().returns[calls.ids["mixed"]]
    assert [part.name.removeprefix("builtins.") or part.kind for part in choices(hint)] == [
        *("int", "float", "str", "bytes", "none", "bool", "complex", "tuple", "tuple")
    ]


def test_operands_are_learnt_if_needed(bank: Executor, calls: Calls) -> None:
    testcase = calls(("Account", 41), ("Account.withdraw", 7))
    bank.run([testcase], calls.table)
    assert bank.learned().constants == ()
    bank.run([testcase], calls.table, frozenset({"constants"}))
    assert set(bank.learned().constants) == {"7", "41"}


PLACES = """
import os

def is_here(path: str) -> bool:
    return os.path.abspath(path) == os.getcwd() + "/x" or os.fsencode(path) in (os.getcwdb(), b"y")
"""


def test_nothing_is_learnt_from_where_the_private_folder_is(tmp_path: Path, sites: str) -> None:
    with Executor(module(tmp_path, PLACES), Limits()) as executor:
        calls = Calls(executor)
        executor.run([calls(("is_here", "z"))], calls.table, frozenset({"constants"}))
        assert executor.learned().constants == ("b'z'",)


COMPARING = """
def find(text: str, start: int) -> int:
    for at in range(start, 300):
        if text == str(at) or at == 10**start:
            return at
    return -1

def deep(n: int) -> int:
    return deep(n + 1) if n != 123456 else n

def crash(n: int) -> None:
    import os
    if n > 3:
        os._exit(n)
"""


def test_what_is_learnt_does_not_depend_on_which_process_runs_what(tmp_path: Path, sites: str) -> None:
    reference = module(tmp_path, COMPARING)
    learned = []
    for batch in (1, 3, 100):
        with Executor(reference, Limits(seconds=10.0, fuel=20_000, batch=batch)) as executor:
            calls = Calls(executor)
            testcases = [
                calls(("find", "no", 0)),
                calls(("find", "299", 50)),
                calls(("deep", 1000)),
                calls(("crash", 2)),
            ]
            testcases += [calls(("crash", 7)), calls(("deep", 123450)), calls(("find", "70", 2))]
            executor.run(testcases, calls.table, frozenset({"constants"}))
            learned.append(executor.learned().constants)
            executor._retire()
            executor.run(testcases[::-1], calls.table, frozenset({"constants"}))
            assert executor.learned().constants == ()
    assert learned[0] == learned[1] == learned[2]
    # By the 100 first visits of each site: text, what it is compared with, and what `at` is compared with.
    assert learned[0][:5] == ("'no'", "'0'", "0", "1", "'1'")
    assert {"'99'", "99", "'149'", "149", "123456", "123450", "100"} <= {*learned[0]}
    # Nothing of the recursion that ended somewhere by chance, nor of later visits.
    assert {"1000", "1001", "'150'", "150"} & {*learned[0]} == set()


# ------------------------------------------------------------------------------------------------------- patience


def test_waiting_a_little_is_allowed_and_waiting_for_ever_is_a_timeout(tmp_path: Path) -> None:
    source = """
    import threading

    def wait(for_ever: bool) -> bool:
        return threading.Event().wait(None if for_ever else 0.05)

    def join() -> int:
        thread = threading.Thread(target=sum, args=(range(50_000),))
        thread.start()
        thread.join()
        return 1
    """
    with Executor(module(tmp_path, source), Limits(seconds=60.0)) as executor:
        calls = Calls(executor)
        testcases = [calls(("wait", False)), calls(("wait", True)), calls(("join",)), calls(("wait", False))]
        assert [trace.failure for trace in executor.run(testcases, calls.table)] == ["", "timeout", "", ""]
        assert list(executor.banned) == [testcases[1]]
        assert executor.crashes == []


def test_at_the_deadline_a_run_is_given_up_and_the_executor_stays_usable(tmp_path: Path) -> None:
    source = "import threading\ndef wait(n: int):\n    if n: threading.Event().wait()\n"
    with Executor(module(tmp_path, source), Limits(seconds=60.0, idle_seconds=60.0)) as executor:
        calls = Calls(executor)
        waits, returns = calls(("wait", 1)), calls(("wait", 0))
        (before,) = executor.run([returns], calls.table)
        executor.deadline = time.monotonic() + 0.2
        with pytest.raises(OutOfBudget):
            executor.run([returns, waits], calls.table)
        with pytest.raises(OutOfBudget):
            executor.verify([returns], calls.table)
        executor.deadline = None
        assert executor.run([returns], calls.table) == [before]
        assert (list(executor.banned), executor.crashes) == ([], [])


# -------------------------------------------------------------------------------------------------------- imports


@pytest.mark.parametrize(
    ("source", "sentence", "traceback"),
    [
        ("import nothing_of_this_name\ndef f(): pass", "ModuleNotFoundError", "import nothing_of_this_name"),
        ("def f(): pass\n1 / 0", "ZeroDivisionError: division by zero", "1 / 0"),
        ("import sys\ndef f(): pass\nsys.exit(3)", "it exits with status 3", ""),
        ("import os\ndef f(): pass\nos._exit(4)", "ended the process (exit status 4)", ""),
        ("import os\ndef f(): pass\nos.abort()", "crashed the process (SIGABRT)", ""),
        ("import os\ndef f(): pass\nos.remove(__file__)", "PermissionError", "os.remove"),
        ("def f(): pass\nwhile True: pass", "did not finish within 2 s", ""),
        ("X = 1", "offers nothing to test", ""),
        ("import sys\ndef f(): pass\nsys.modules[__name__] = 5", "replaces itself in sys.modules", ""),
        (
            "import sys, types\ndef f(): pass\nsys.modules[__name__] = types.ModuleType(__name__)",
            "replaces itself in sys.modules",
            "",
        ),
        ("def f(): pass\nglobals()[5] = 5", "can be imported, but looking at it raises AttributeError", "startswith"),
    ],
)
def test_an_import_that_fails_is_one_sentence(tmp_path: Path, source: str, sentence: str, traceback: str) -> None:
    reference = module(tmp_path, source)
    with pytest.raises(SubjectError) as caught, Executor(reference, Limits(import_seconds=2)) as executor:
        assert executor.subject
    text = str(caught.value)
    assert sentence in text
    assert "\n" not in text
    assert traceback in caught.value.traceback  # type: ignore[attr-defined]
    assert "fitgym" not in caught.value.traceback  # type: ignore[attr-defined]
    assert os.path.exists(reference.path)


@pytest.mark.parametrize(
    "prelude",
    [
        "import sys\nsys.modules['os'] = None",
        """
        class Meta(type):
            def __getattribute__(cls, name): raise RuntimeError("go away")
            def __eq__(cls, other): raise RuntimeError("go away")
            __hash__ = None

        class Unsociable(metaclass=Meta): pass
        """,
    ],
    ids=["takes os away", "hostile metaclass"],
)
def test_a_strange_import_leaves_the_rest_to_be_tested(tmp_path: Path, prelude: str) -> None:
    source = textwrap.dedent(prelude) + "\ndef f(n: int) -> int:\n    return n\n"
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        assert [trace.failure for trace in executor.verify([calls(("f", 1)), calls(("f", 2))], calls.table)] == ["", ""]
        assert [observed.failure for observed in executor.observe([calls(("f", 1))], calls.table)] == [""]


def test_an_import_that_prints_disturbs_nobody(tmp_path: Path) -> None:
    source = """
    import os, sys
    print("x" * 100_000)
    for n in range(3, 20):
        try: os.write(n, b"garbage")
        except OSError: pass

    def f(n: int) -> int:
        return n
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        assert executor.run([calls(("f", 1))], calls.table)[0].failure == ""


def test_the_environment_of_the_worker_is_fixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    source = """
    import os, time

    def seen() -> list:
        return [os.environ["PYTHONHASHSEED"], time.tzname[0], os.getcwd() == os.environ["HOME"], hash("a") == hash("a")]
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        (observed,) = executor.observe([calls(("seen",))], calls.table)
        assert "'0'" in str(observed)
        assert "'UTC'" in str(observed)


# ------------------------------------------------------------------------------------------------ being a good guest


def test_closing_leaves_nothing_and_running_starts_again(tmp_path: Path) -> None:
    executor = Executor(module(tmp_path, BANK), LIMITS)
    calls = Calls(executor)
    testcase = calls(("numbers", 3))
    (before,) = executor.run([testcase], calls.table)
    mark = token(executor)
    assert executor._zygote is not None
    folder = executor._zygote._folder.path
    assert marked(mark) != []
    executor.close()
    executor.close()
    assert marked(mark) == []
    assert not os.path.exists(folder)
    (after,) = executor.run([testcase], calls.table)
    assert after is before
    executor.close()


def test_a_collected_executor_ends_its_worker(tmp_path: Path) -> None:
    executor = Executor(module(tmp_path, BANK), LIMITS)
    assert executor.subject
    mark = token(executor)
    del executor
    assert marked(mark) == []


@pytest.mark.parametrize("clone", [lambda e: pickle.loads(pickle.dumps(e)), copy.deepcopy], ids=["pickle", "copy"])
def test_a_copy_goes_on_with_a_worker_of_its_own(
    bank: Executor, calls: Calls, clone: Callable[[Executor], Executor]
) -> None:
    exits, fine = calls(("stop", 7)), calls(("numbers", 3))
    before = bank.run([exits, fine], calls.table)
    with clone(bank) as other:
        table = other._table
        assert table is not None
        assert other._zygote is None
        assert other.subject == bank.subject
        assert list(other.banned) == [exits]
        assert [plain(t) for t in other.run([exits, fine], table)] == [plain(t) for t in before]
        assert other.executions == 3
        assert token(other) != token(bank)


def test_threads_take_turns(bank: Executor, calls: Calls) -> None:
    testcases = [calls(("numbers", n)) for n in range(30)]
    expected = bank.run(testcases, calls.table)
    found: list[list[Trace]] = []
    threads = [threading.Thread(target=lambda: found.append(bank.run(testcases, calls.table))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def _run_in_daemon(reference: Reference, queue: multiprocessing.Queue[int]) -> None:
    with Executor(reference, LIMITS) as executor:
        calls = Calls(executor)
        queue.put(len(executor.run([calls(("numbers", 3))] * 3, calls.table)))


def test_a_daemonic_process_may_have_one(bank: Executor) -> None:
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_run_in_daemon, args=(bank.reference, queue), daemon=True)
    process.start()
    assert queue.get(timeout=60) == 3
    process.join(30)


def test_a_fork_of_the_parent_starts_its_own_worker(bank: Executor, calls: Calls) -> None:
    testcase = calls(("numbers", 3))
    bank.run([testcase], calls.table)
    mine = token(bank)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            ok = bank.run([testcase], calls.table)[0].failure == "" and token(bank) != mine
            bank.close()
            os.write(writing, b"1" if ok else b"0")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reading, 1) == b"1"
    assert token(bank) == mine
    assert bank.run([testcase], calls.table)[0].failure == ""


SCRIPT = """
import sys, time
from fitgym.execution.executor import Executor, Limits
from fitgym.subject.source import locate
from fitgym.testcase.statement import Statement, StatementTable, TestCase

executor = Executor(locate("sleepy", sys.argv[1]), Limits(seconds=60))
executor.start()
operation = executor.subject.operations[0].id
table = StatementTable()
print(executor._zygote._token.hex(), flush=True)
executor.run([table.testcase([Statement(operation)])], table)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_parent_that_dies_in_the_middle_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "sleepy.py").write_text("import threading\ndef wait():\n    threading.Event().wait()\n")
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout is not None
        mark = parent.stdout.readline().strip()
        assert eventually(lambda: len(marked(mark)) == 3)  # the zygote, the child that waits, the one that stands by
        parent.send_signal(number)
        parent.wait(30)
    assert eventually(lambda: marked(mark) == [])


@pytest.mark.parametrize("body", ["for n in range(10**12): pass", "sum(range(10**12))"], ids=["python", "c"])
def test_a_parent_that_dies_during_an_import_that_does_not_end_leaves_no_process(tmp_path: Path, body: str) -> None:
    (tmp_path / "sleepy.py").write_text(f"open('started', 'w').close()\n{body}\n")
    script = "print(executor._zygote._token.hex(), executor._zygote._folder.path, flush=True)\ntime.sleep(60)\n"
    script = SCRIPT.partition("operation =")[0] + script
    with subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        mark, folder = parent.stdout.readline().split()
        assert eventually((Path(folder) / "home" / "started").exists)
        assert len(marked(mark)) == 1
        parent.kill()
    assert eventually(lambda: marked(mark) == [])


@pytest.mark.parametrize("fresh", [False, True], ids=["child in use", "no child"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_that_is_killed_is_replaced(bank: Executor, calls: Calls, number: signal.Signals, fresh: bool) -> None:
    testcase = calls(("numbers", 3))
    (before,) = bank.run([testcase], calls.table)
    mark = token(bank)
    if fresh:
        bank._retire()
    assert bank._zygote is not None
    os.kill(bank._zygote._process.pid, number)
    bank._zygote._process.wait(30)
    (after,) = bank.run([testcase], calls.table)
    assert after is before
    assert bank.crashes == []
    assert marked(mark) == []


def test_a_child_that_is_killed_while_it_waits_is_replaced(bank: Executor, calls: Calls) -> None:
    testcase = calls(("numbers", 3))
    (before,) = bank.run([testcase], calls.table)
    assert bank._zygote is not None and bank._zygote.child is not None
    os.kill(bank._zygote.child.pid, signal.SIGKILL)
    (after,) = bank.run([testcase], calls.table)
    assert after is before
    assert bank.crashes == []


@pytest.mark.parametrize("doomed", ["stands by", "is parked"])
def test_a_child_that_is_killed_while_nobody_asks_it_is_replaced(bank: Executor, calls: Calls, doomed: str) -> None:
    testcase = calls(("numbers", 3))
    (before,) = bank.run([testcase], calls.table)
    zygote = bank._zygote
    assert zygote is not None and zygote.child is not None
    working = {zygote._process.pid, zygote.child.pid}
    assert eventually(lambda: len(marked(token(bank))) == 3)
    (idle,) = set(marked(token(bank))) - working
    victim = idle if doomed == "stands by" else zygote.child.pid
    os.kill(victim, signal.SIGKILL)
    # Until the worker has noticed: a process that is about to end has no environment any more, but still its connection.
    assert eventually(lambda: not Path("/proc", str(victim)).exists())
    assert bank.verify([testcase], calls.table, alone=True) == [before]
    assert bank.run([testcase], calls.table) == [before]
    assert bank.crashes == []
    assert bank._zygote is zygote


def test_after_a_verification_the_process_from_before_goes_on(bank: Executor, calls: Calls) -> None:
    testcases = [calls(("numbers", 3)), calls(("opened",)), calls(("stop", 7))]
    before = bank.run(testcases[:2], calls.table)
    zygote = bank._zygote
    assert zygote is not None and zygote.child is not None
    working = zygote.child.pid
    assert [trace.failure for trace in bank.verify(testcases, calls.table)] == ["", "", "exit"]
    assert zygote.child.pid == working
    assert bank.run(testcases[:2], calls.table) == before
    assert zygote.child.pid == working
    other = Calls(bank)
    assert bank.verify([other(("opened",))], other.table) == before[1:]  # another statement of the same number
    assert bank.run(testcases[:2], calls.table) == before


def test_who_gives_something_unexpected_is_verified_alone(tmp_path: Path) -> None:
    source = """
    import os

    def mark() -> None:
        os.environ["MARK"] = "1"

    def seen() -> int:
        if "MARK" in os.environ:
            return 1
        return 0
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        testcases = [calls(("mark",)), calls(("seen",))]
        expected = executor.run(testcases, calls.table)
        assert executor.verify(testcases, calls.table, expected=expected) == expected
        wrong = expected[::-1]
        assert executor.verify(testcases, calls.table, expected=wrong) == expected  # they give what they give
        assert executor.verify(testcases, calls.table) == expected


def verifier(executor: Executor) -> int:
    """The process that has verified and is kept, 0 for none."""
    return executor._verifier[1].pid if executor._verifier is not None else 0


def test_a_process_that_only_verified_verifies_again_as_long_as_it_is_as_it_was(tmp_path: Path) -> None:
    source = """
    import os

    def change(n: int) -> int:
        if n:
            os.open("/dev/null", os.O_RDONLY)
        return 0
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        changes, keeps, other = calls(("change", 1)), calls(("change", 0)), calls(("change", 0), ("change", 0))
        known = dict(zip((changes, keeps, other), executor.run([changes, keeps, other], calls.table), strict=True))

        def verified(*testcases: TestCase) -> bool:
            expected = [known[testcase] for testcase in testcases]
            return executor.verify(testcases, calls.table, expected=expected) == expected

        assert verified(keeps)
        first = verifier(executor)
        assert first and verified(other, keeps) and verifier(executor) == first
        assert verified(changes) and verifier(executor) == 0
        assert verified(other) and verifier(executor) not in (0, first)
        second = verifier(executor)
        executor.verify([keeps], calls.table)  # without knowing what to expect: always in fresh ones
        assert verifier(executor) == second
        os.kill(second, signal.SIGKILL)
        assert verified(keeps) and executor.crashes == []


def test_what_verified_for_one_table_of_statements_does_not_for_another(bank: Executor, calls: Calls) -> None:
    testcase = calls(("numbers", 3))
    expected = bank.run([testcase], calls.table)
    assert bank.verify([testcase], calls.table, expected=expected) == expected
    first = verifier(bank)
    other = Calls(bank)
    another = other(("opened",))
    known = bank.run([another], other.table)
    assert first and verifier(bank) == 0
    assert bank.verify([another], other.table, expected=known) == known


def test_the_worker_loads_nothing_that_only_the_parent_needs(tmp_path: Path) -> None:
    source = """
    import sys

    def loaded() -> None:
        assert not {"subprocess", "threading", "secrets", "fitgym.execution.zygote"} & set(sys.modules)
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        (trace,) = executor.run([calls(("loaded",))], calls.table)
        assert (trace.failure, trace.raised) == ("", None)


def test_a_child_may_not_use_the_processor_for_ever(tmp_path: Path) -> None:
    source = """
    import resource

    def limited() -> None:
        assert 0 < resource.getrlimit(resource.RLIMIT_CPU)[0] <= 3600
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        (trace,) = executor.run([calls(("limited",))], calls.table)
        assert (trace.failure, trace.raised) == ("", None)


def test_what_a_verification_leaves_in_the_folder_is_gone_when_the_run_goes_on(tmp_path: Path) -> None:
    source = """
    import os

    def leave(n: int) -> None:
        with open("left", "w") as file:
            file.write("x" * n)

    def found() -> int:
        if os.path.exists("left"):
            return 1
        return 0
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        leave, found = calls(("leave", 5)), calls(("found",))
        expected = [plain(trace) for trace in executor.run([found, leave, found], calls.table)]
        assert expected[0] == expected[2]
        assert [plain(trace) for trace in executor.verify([found, leave], calls.table)] == expected[:2]
        assert [plain(trace) for trace in executor.run([found], calls.table)] == expected[2:]


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each process that was started."""
    made: list[int] = []
    fork = Zygote.fork
    monkeypatch.setattr(Zygote, "fork", lambda self: made.append(1) or fork(self))
    return made


@pytest.mark.parametrize(
    "what",
    [
        'open("left", "w").close()',
        'os.makedirs("left/deep")',
        'os.symlink("there", "left")',
        'os.symlink("/etc/passwd", "left")',
    ],
)
def test_files_in_the_working_folder_cost_no_process_of_their_own(tmp_path: Path, forks: list[int], what: str) -> None:
    source = f"""
    import os

    def leave(n: int) -> int:
        before = os.path.lexists("left")
        if not before:
            {what}
        return n + 1 if before else n
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        traces = executor.run([calls(("leave", n)) for n in range(200)], calls.table)
        assert len({trace.reached for trace in traces}) == 1  # none has found what another one left
        assert len(forks) < 20


@pytest.mark.parametrize(
    ("what", "failure"),
    [
        ("socket.create_connection(('127.0.0.1', 9))", "blocked"),
        ("sys.stdin.close(); sys.stdout.close()", ""),
        ("asyncio.set_event_loop(asyncio.new_event_loop())", ""),
        ("asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy()); asyncio.get_event_loop()", ""),
    ],
)
def test_what_is_refused_or_closed_or_left_open_costs_no_process_of_its_own(
    tmp_path: Path, forks: list[int], what: str, failure: str
) -> None:
    source = f"""
    import asyncio, socket, sys, warnings

    def leave(n: int) -> int:
        warnings.simplefilter("ignore")  # asyncio deprecates these calls from Python 3.12 on
        found = sys.stdin.closed or asyncio.get_event_loop_policy()._local._loop is not None
        {what}
        return n + 1 if found else n
    """
    with Executor(module(tmp_path, source), LIMITS) as executor:
        calls = Calls(executor)
        traces = executor.run([calls(("leave", n)) for n in range(100)], calls.table)
        assert len({(trace.reached, trace.failure) for trace in traces}) == 1  # none has found what another one left
        assert traces[0].failure == failure
        assert len(forks) < 20


def test_a_worker_that_never_stays_alive_is_an_error(
    bank: Executor, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dead(self: Zygote) -> Child:
        raise ExecutionError("it has ended")

    with monkeypatch.context() as patch:
        patch.setattr(Zygote, "fork", dead)
        with pytest.raises(ExecutionError, match="died 5 times without a test case to blame"):
            bank.verify([calls(("numbers", 3))], calls.table)
    bank._restarts = 0


@pytest.mark.parametrize("where", ["_answer", "_send", "_hear"])
def test_an_interrupt_leaves_the_executor_usable_wherever_it_comes(
    bank: Executor, calls: Calls, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    testcase, failing = calls(("numbers", 3)), calls(("Account", 1), ("Account.withdraw", 7))
    expected = [plain(trace) for trace in bank.run([testcase, failing], calls.table)]

    def interrupted(*_: object, **__: object) -> bytes:
        raise KeyboardInterrupt

    zygote = bank._zygote
    assert zygote is not None
    with monkeypatch.context() as patch:
        patch.setattr(zygote, where, interrupted)
        with pytest.raises(KeyboardInterrupt):
            bank.verify([testcase], calls.table)
    # Asked for a child and not listened to, it says something later that would be taken for another answer.
    assert zygote.is_ours is (where == "_answer")
    for _ in range(2):
        assert [plain(trace) for trace in bank.verify([failing, testcase], calls.table)] == expected[::-1]
        assert [plain(trace) for trace in bank.run([testcase, failing], calls.table)] == expected


def test_processes_of_a_worker_can_be_recognised(bank: Executor) -> None:
    environ = Path(f"/proc/{marked(token(bank))[0]}/environ").read_bytes()
    assert f"{MARKER}={token(bank)}".encode() in environ


def test_infection_is_recorded_where_it_is_required(tmp_path: Path) -> None:
    source = "def half(n: int) -> int:\n    if n > 4:\n        return n // 2\n    return n\nhalf(2)\n"
    reference = module(tmp_path, source)
    with Executor(reference, LIMITS) as executor:
        plain = executor.subject
        table = StatementTable()
        (half,) = [operation.id for operation in plain.under_test]
        testcase = table.testcase([Statement(half, -1, (Literal("9"),))])
        with pytest.raises(ExecutionError, match="call `require` with"):
            executor.run([testcase], table, frozenset({"infection"}))
        executor.require(frozenset({"infection", "direct"}))
        subject = executor.subject
        assert subject.sites[: len(plain.sites)] == plain.sites, "those of infection follow all others"
        assert {site.kind for site in subject.sites[len(plain.sites) :]} == {"arithmetic", "value"}
        (without,) = executor.run([testcase], table)
        (trace,) = executor.run([testcase], table, frozenset({"infection"}))
        assert without.infected is None and trace.infected is not None
        sites, bits = (array("I", part).tolist() for part in trace.infected)
        found = {subject.sites[site].kind: mask for site, mask in zip(sites, bits, strict=True)}
        assert found["arithmetic"] == 0b1101111, "4: 11, 7, 18, 4.5, itself, 1, 81"
        assert executor.run([testcase], table, frozenset({"infection"}))[0] is trace
        assert executor.verify([testcase], table, frozenset({"infection"}), [trace])[0] is trace


def test_a_parked_process_leaves_no_connection_open_when_the_worker_ends(bank: Executor, calls: Calls) -> None:
    testcase = calls(("numbers", 3))
    expected = bank.run([testcase], calls.table)
    assert bank.verify([testcase], calls.table, expected=expected) == expected
    assert bank._verifier is not None and bank._zygote is not None and bank._zygote.child is not None
    connections = [bank._verifier[1].connection, bank._zygote.child.connection]
    bank.close()
    assert [connection.fileno() for connection in connections] == [-1, -1]


def test_what_is_nested_too_deeply_for_the_compiler_is_not_blamed_on_the_import(tmp_path, monkeypatch):
    from fitgym.worker import preparation

    def refuse(*_, **__):
        raise RecursionError("maximum recursion depth exceeded while traversing 'expr' node")

    monkeypatch.setattr(preparation, "instrument", refuse)
    (tmp_path / "deep.py").write_text("def f(x):\n    return x\n")
    with pytest.raises(SubjectError, match="nested too deeply"):
        preparation.instrumented(locate("deep", tmp_path), "", False)
