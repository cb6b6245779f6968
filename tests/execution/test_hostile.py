"""Hostile code under test: each row ends as one failed test case and affects nothing else.

Every row is a module with a function `bad` and a function `good`. Test cases that call `good` run before and after the one
that calls `bad`, in one batch; they must give what they give alone.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fitgym.execution.executor import Executor, Limits
from fitgym.instrument.trace import Trace
from fitgym.sandbox.environment import marked
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable, TestCase

LIMITS = Limits(seconds=0.6, fuel=20_000, memory_mb=256)

ANY = frozenset({"", "fuel", "timeout", "memory", "crash", "exit", "blocked"})

# name, source of `bad`, the failures it may end with ("" where it is harmless), its exception if it raises one
ROWS: list[tuple[str, str, str, str]] = [
    ("loops for ever", "while True: pass", "fuel", ""),
    ("loops without a condition", "for _ in iter(int, 1): pass", "fuel", ""),
    (
        "swallows what should stop it",
        """
        while True:
            try:
                while True:
                    try:
                        while True: pass
                    except: pass
            except: pass
        """,
        "fuel timeout",
        "",
    ),
    ("recurses for ever", "return overflow()", "fuel", ""),
    ("exits", "import sys; sys.exit(3)", "", "SystemExit"),
    ("exits at once", "import os; os._exit(0)", "exit", ""),
    ("exits at once with a status", "import os; os._exit(5)", "exit", ""),
    ("aborts", "import os; os.abort()", "crash", ""),
    ("reads a null pointer", "import ctypes; ctypes.string_at(0)", "blocked", ""),
    (
        "reads a bad pointer",
        "import ctypes; return ctypes.cast(8, ctypes.POINTER(ctypes.c_int))[0]",
        "crash",
        "",
    ),
    ("grows a list", "items = [0]\nwhile True: items += items", "memory", ""),
    ("makes a huge text", "return 'x' * 10**12", "memory", ""),
    ("makes a huge number", "n = 7\nfor _ in range(60): n = n * n", "timeout memory", ""),
    ("sleeps", "import time; time.sleep(30)", "blocked", ""),
    ("waits for a lock", "import threading; l = threading.Lock(); l.acquire(); l.acquire()", "timeout", ""),
    ("waits for an event", "import threading; threading.Event().wait()", "timeout", ""),
    ("waits for input", "return input()", "", "EOFError"),
    ("backtracks", "import re; re.match(r'(a+)+$', 'a' * 64 + 'b')", "timeout", ""),
    ("stays in a C call", "return sum(range(10**11))", "timeout", ""),
    ("prints megabytes", "for _ in range(40): print('x' * 250_000)", "", ""),
    ("forks", "import os; os.fork()", "blocked", ""),
    (
        "leaves a process through C",
        """
        import ctypes, os
        if LIBC.fork() == 0:
            LIBC.setsid()
            if LIBC.fork() == 0:
                LIBC.sleep(60)
            os._exit(0)
        """,
        "any",
        "",
    ),
    ("makes a lock of processes", "import multiprocessing; multiprocessing.Lock()", "blocked", ""),
    ("makes a pool of processes", "import concurrent.futures as c; c.ProcessPoolExecutor(2)", "blocked", ""),
    (
        "makes a queue of processes and hides it",
        "import multiprocessing\ntry: multiprocessing.Queue()\nexcept OSError: 1 / 0",
        "blocked",
        "",
    ),
    ("starts a program", "import subprocess; subprocess.run(['true'])", "blocked", ""),
    ("starts a shell", "import os; os.system('true')", "blocked", ""),
    ("writes a file", "open(VICTIM, 'w').write('gone')", "blocked", ""),
    ("writes a file by descriptor", "import os; os.open(VICTIM, os.O_WRONLY | os.O_TRUNC)", "blocked", ""),
    ("deletes a file", "import os; os.remove(VICTIM)", "blocked", ""),
    ("deletes a folder", "import os, shutil; shutil.rmtree(os.path.dirname(VICTIM))", "blocked", ""),
    ("renames a file", "import os; os.rename(VICTIM, VICTIM + '2')", "blocked", ""),
    ("changes permissions", "import os; os.chmod(VICTIM, 0)", "blocked", ""),
    ("makes a folder", "import os; os.mkdir(VICTIM + '.d')", "blocked", ""),
    ("changes the folder", "import os; os.chdir('/')", "blocked", ""),
    ("swallows a refusal", "import os\ntry: os.remove(VICTIM)\nexcept BaseException: pass", "blocked", ""),
    ("connects", "import socket; socket.create_connection(('127.0.0.1', 9))", "blocked", ""),
    ("starts a thread", "import threading; threading.Thread(target=spin, daemon=True).start()", "any", ""),
    ("takes the timer", "import signal; signal.signal(signal.SIGALRM, lambda *a: 1 / 0)", "", ""),
    ("stops the timer", "import signal; signal.setitimer(signal.ITIMER_REAL, 0)", "", ""),
    ("changes the recursion limit", "import sys; sys.setrecursionlimit(150)", "", ""),
    ("kills its parent", "import os; os.kill(os.getppid(), 9)", "blocked", ""),
    ("kills its parent through C", "import os; LIBC.kill(os.getppid(), 9)", "any", ""),
    ("closes every descriptor", "import os; os.closerange(0, 4096)", "any", ""),
    (
        "writes garbage to every descriptor",
        """
        import os
        for n in range(300):
            try: os.write(n, b'garbage' * 9)
            except OSError: pass
        """,
        "any",
        "",
    ),
    ("replaces a builtin", "import builtins; builtins.len = None; builtins.isinstance = None", "any", ""),
    ("changes the environment", "import os; os.environ['LEFT'] = '1'", "", ""),
    ("changes a module", "global STATE\nSTATE = 5; SEEN.append(1); Box.count += 1", "", ""),
    ("fills a cache", "remembered(5)", "", ""),
    ("leaves a lock taken", "LOCK.acquire()", "", ""),
    ("replaces itself", "global good\ngood = None", "", ""),
    ("collects", "import gc; gc.disable(); gc.collect()", "", ""),
    ("traces", "import sys; sys.settrace(lambda *a: None)", "", ""),
    ("limits itself", "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))", "blocked", ""),
    ("raises a strange exception", "raise Strange()", "", "mischief.Strange"),
    ("interrupts", "raise KeyboardInterrupt", "", "KeyboardInterrupt"),
    ("loops in a finalizer", "Cursed()", "fuel", ""),
    ("returns what loops as it dies", "return made(LOOP.format('__del__'))()", "timeout", ""),
    ("leaves a cycle that loops as it dies", "x = made(LOOP.format('__del__'))(); x.x = x", "timeout", ""),
    ("leaves a cycle that exits as it dies", "x = made(EXIT.format('__del__'))(); x.x = x", "exit", ""),
    ("leaves a cycle that writes as it dies", "x = Scribe(); x.x = x", "blocked", ""),
    ("is called by the garbage collector", "import gc; gc.callbacks.append(lambda *a: spin())", "fuel", ""),
    ("keeps what cannot be compared", "SEEN.append(made(LOOP.format('__eq__'))())", "", ""),
    ("raises what loops when asked", "raise made(LOOP.format('__getattribute__'), 'Exception')", "", "X"),
    ("raises what hides its traceback", "raise Hidden()", "", "mischief.Hidden"),
    ("raises what belongs nowhere", "raise Homeless()", "", "Homeless"),
    ("raises from nowhere", "raise ValueError().with_traceback(nowhere())", "", "ValueError"),
    ("speaks for the worker", "shout(bytes.fromhex(os.environ['FITGYM_WORKER']) + bytes(3) + b'x')", "any", ""),
    ("stops itself", "import signal; signal.raise_signal(signal.SIGSTOP)", "timeout", ""),
    (
        "holds every signal back",
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()); sum(range(10**11))",
        "timeout",
        "",
    ),
    ("waits for a pipe", "os.mkfifo('pipe'); open('pipe')", "timeout", ""),
    ("fills the folder", "for n in range(50): open(f'file{n}', 'w').write('x' * 1000)", "", ""),
    ("empties its module", "globals().clear()", "", ""),
    ("empties the builtins", "import builtins; vars(builtins).clear()", "any", ""),
    ("empties the list of modules", "sys.modules.clear()", "any", ""),
]

PRELUDE = """
import ctypes, functools, os, sys, threading, types
LIBC = ctypes.CDLL(None)
VICTIM = {victim!r}
STATE = 0
SEEN = []
LOCK = threading.Lock()

class Box:
    count = 0

class Strange(BaseException):
    def __str__(self): raise RuntimeError
    def __repr__(self): raise RuntimeError
    def __eq__(self, other): raise RuntimeError
    __hash__ = None

class Cursed:
    def __del__(self):
        while True: pass

class Scribe:
    def __del__(self):
        open(VICTIM, 'w')

class Hidden(Exception):
    __traceback__ = 5
    @property
    def __class__(self): raise RuntimeError

class Homeless(Exception):
    __module__ = 5

LOOP = 'def {{}}(self, *args):\\n  while True: pass'
EXIT = 'def {{}}(self, *args): import os; os._exit(9)'

def made(body, base='object'):
    names = {{}}
    exec(f'class X({{base}}):\\n ' + body, names)  # code without probes
    return names['X']

def nowhere():
    return types.TracebackType(None, sys._getframe(), 10**6, 1)

def shout(data):
    for n in range(3, 300):
        try: os.write(n, data)
        except OSError: pass

@functools.lru_cache
def remembered(n: int) -> int:
    return n

def spin():
    while True: pass

def overflow():
    return overflow()

def good(n: int) -> int:
    if n > 3:
        return n
    return -n

def state() -> list:
    found = [STATE, len(SEEN), Box.count, LOCK.locked()]
    if STATE or SEEN or Box.count or LOCK.locked():
        found.append(1)
    return found
"""


@dataclass
class Stage:
    """One worker that meets all rows, one after the other."""

    executor: Executor
    table: StatementTable
    victim: Path
    good: list[TestCase]
    alone: list[tuple[object, ...]]

    def call(self, name: str, *arguments: int) -> TestCase:
        operation = next(o.id for o in self.executor.subject.operations if o.name == name)
        return self.table.testcase([Statement(operation, args=tuple(Literal(str(a)) for a in arguments))])

    @property
    def token(self) -> str:
        assert self.executor._zygote is not None
        return self.executor._zygote._token.hex()


def plain(trace: Trace) -> tuple[object, ...]:
    return (trace.reached, trace.calls, trace.raised, trace.stops, trace.failure, trace.fuel)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("hostile")
    outside = folder / "outside"
    outside.mkdir()
    victim = outside / "victim"
    victim.write_text("precious")
    functions = [
        f"\ndef bad_{number}():\n" + textwrap.indent(textwrap.dedent(bad).strip(), "    ")
        for number, (_, bad, _, _) in enumerate(ROWS)
    ]
    (folder / "mischief.py").write_text("\n".join([PRELUDE.format(victim=str(victim)), *functions, ""]))
    with Executor(locate("mischief", str(folder)), LIMITS) as executor:
        stage = Stage(executor, StatementTable(), victim, [], [])
        stage.good += [stage.call("good", 1), stage.call("good", 5), stage.call("state")]
        stage.alone += [plain(trace) for trace in executor.verify(stage.good, stage.table, alone=True)]
        yield stage
        tokens = stage.token
        home = executor._zygote._folder.path if executor._zygote else ""
    assert not os.path.exists(home)
    assert marked(tokens) == []


@pytest.mark.parametrize("number", range(len(ROWS)), ids=[row[0] for row in ROWS])
def test_one_test_case_fails_and_the_others_do_not_notice(stage: Stage, number: int) -> None:
    _, _, failures, raises = ROWS[number]
    allowed = ANY if failures == "any" else set(failures.split()) or {""}

    *before, trace, _, _, _ = traces = stage.executor.run(
        [*stage.good, stage.call(f"bad_{number}"), *stage.good], stage.table
    )

    assert trace.failure in allowed
    assert (trace.raised.type if trace.raised and not trace.failure else "") == raises
    assert [plain(t) for t in before] == stage.alone
    assert [plain(t) for t in traces[4:]] == stage.alone
    assert stage.victim.read_text() == "precious"
    assert os.listdir(stage.victim.parent) == ["victim"]
    assert stage.victim.stat().st_mode & 0o777
    assert sorted(os.listdir(stage.victim.parent.parent)) == ["mischief.py", "outside"]
    assert len(marked(stage.token)) <= 3  # the zygote, the child that waits for the next batch, the one that stands by


def test_a_subject_may_set_signals_when_it_is_imported(tmp_path: Path) -> None:
    source = """
    import signal
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def endless():
        while True:
            try: raise ValueError
            except: pass

    def crash():
        import os
        os.abort()
    """
    (tmp_path / "unsignalled.py").write_text(textwrap.dedent(source))
    with Executor(locate("unsignalled", str(tmp_path)), LIMITS) as executor:
        table = StatementTable()
        tests = [table.testcase([Statement(operation.id)]) for operation in executor.subject.operations]
        worker = executor._zygote
        assert [trace.failure for trace in executor.run(tests, table)] == ["fuel", "crash"]
        assert executor._zygote is worker
