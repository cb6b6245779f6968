"""Forgery: a test case that writes to the journal, the answer or other results affects only itself."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from calls_by_name import Calls
from nightly import every

from fitgym.execution.executor import Executor, Limits
from fitgym.subject.source import locate

LIMITS = Limits(seconds=0.4, batch=20)

# Loops of the subject burn fuel, so what goes on for long is compiled at run time, without probes.
SOURCE = '''
import os, pickle, signal, sys, time

def keep(n: int) -> int:
    return n + 1 if n > 3 else n

def local(name):
    """A local variable of a frame above."""
    frame = sys._getframe()
    while name not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals[name]

def endless(text: str, **names):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    exec(compile("while True:\\n    " + text, "endless", "exec"), names)

def stir(seconds: float) -> None:
    endless("cells[0] += 1; sleep(seconds)", cells=local("cells"), sleep=time.sleep, seconds=seconds)

def turn_back() -> None:
    endless("cells[0] -= 1", cells=local("cells"))

def pretend() -> None:
    endless("cells[1] = -1; cells[3] = 0; cells[0] += 1; sleep(0.05)", cells=local("cells"), sleep=time.sleep)

def say(payload: bytes, length: int = -1) -> None:
    data = local("token") + (len(payload) if length < 0 else length).to_bytes(4, "little") + payload
    while data:
        data = data[os.write(local("descriptor"), data):]

def lists() -> None:
    say(b"\\x80\\x05" + b"]" * 20_000_000)

def memo() -> None:
    say(b"\\x80\\x05Nr\\xff\\xff\\xff\\x7f.")

def nested() -> None:
    say(b"\\x80\\x05N" + b"\\x85" * 5_000_000 + b".")

def shared() -> None:
    say(b"\\x80\\x05N\\x85\\x94" + b"".join(b"h%ch%c\\x86\\x94" % (n, n) for n in range(60)) + b".")

def huge() -> None:
    say(b"", 1 << 31)

def wrong() -> None:
    say(pickle.dumps(([0] * 20, [], False, 0, ({}, [], []), ((), ()), [])))

def blank() -> None:
    frame = sys._getframe()
    while frame is not None:
        for value in list(frame.f_locals.values()):
            if type(value) in (list, dict):
                value.clear()
        frame = frame.f_back

def swap() -> None:
    frame = sys._getframe()
    while "seal" not in frame.f_locals:
        frame = frame.f_back
    frame.f_locals["results"].reverse()
    frame.f_locals["fresh"].reverse()

def forget() -> None:
    frame = sys._getframe()
    while not hasattr(frame.f_locals.get("self"), "_known"):
        frame = frame.f_back
    frame.f_locals["self"]._known.clear()
'''


@pytest.fixture
def executor(tmp_path: Path) -> Executor:
    (tmp_path / "hostile.py").write_text(textwrap.dedent(SOURCE))
    return Executor(locate("hostile", str(tmp_path)), LIMITS)


@pytest.mark.parametrize(
    "attack",
    every(
        3,
        [
            ("stir", 0.0),
            ("stir", 0.02),
            ("turn_back",),
            ("pretend",),
            ("lists",),
            ("memo",),
            ("nested",),
            ("shared",),
            ("huge",),
            ("wrong",),
        ],
    ),
    ids=lambda attack: "-".join(map(str, attack)),
)
def test_a_forger_is_banned_and_its_neighbours_are_as_they_are_alone(
    executor: Executor, attack: tuple[object, ...]
) -> None:
    with executor:
        calls = Calls(executor)
        honest = [calls(("keep", n)) for n in range(8)]
        known = executor.run(honest, calls.table)
        forger = calls(attack)
        traces = executor.run([*honest[:4], forger, *honest[4:]], calls.table)
        assert [*traces[:4], *traces[5:]] == known
        # "exit": the process that writes ended by itself when the executor closed the connection.
        assert traces[4].failure in ("crash", "exit", "timeout") and list(executor.banned) == [forger]
        assert executor.run([forger], calls.table) == [traces[4]]


@pytest.mark.parametrize("known_there", [True, False])
@pytest.mark.parametrize("attack", ["blank", "swap", "forget"])
def test_what_is_recorded_of_neighbours_cannot_be_changed(executor: Executor, attack: str, known_there: bool) -> None:
    with executor:
        calls = Calls(executor)
        honest = [calls(("keep", n)) for n in range(8)]
        known = executor.run(honest, calls.table)
        if not known_there:
            executor._retire()  # in a fresh process all traces are new
        traces = executor.run([*honest[:4], calls((attack,)), *honest[4:]], calls.table)
        assert [*traces[:4], *traces[5:]] == known
