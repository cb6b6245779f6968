"""The filter of system calls, interpreted here as in the kernel, and installed in separate processes."""

from __future__ import annotations

import platform
import struct
import subprocess
import sys

import pytest

from fitgym.sandbox import seccomp
from fitgym.sandbox.seccomp import Condition, Rule, filtered, program, supported

ALLOW, KILL = 0x7FFF0000, 0x80000000
AUDIT = 0xC000003E


def refused(errno: int) -> int:
    return 0x00050000 | errno


def decided(code: bytes, number: int, *arguments: int, audit: int = AUDIT) -> int:
    """What a filter decides about a call: a small machine for the instructions that filters here consist of."""
    data = struct.pack("=IIQ6Q", number, audit, 0, *arguments, *[0] * (6 - len(arguments)))
    lines = list(struct.iter_unpack("=HBBI", code))
    at = value = 0
    while True:
        operation, if_true, if_false, operand = lines[at]
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x54:
            value &= operand
        elif operation == 0x05:
            at += operand
        elif operation == 0x06:
            return operand
        else:
            assert operation in (0x15, 0x35)
            at += if_true if (value == operand if operation == 0x15 else value >= operand) else if_false


@pytest.mark.parametrize(
    ("rule", "arguments", "allowed"),
    [
        (Rule(), (0,), False),
        (Rule(((Condition(0, (0,)),),)), (0,), True),
        (Rule(((Condition(0, (0,)),),)), (1,), False),
        (Rule(((Condition(0, (0,)),),)), (1 << 32,), True),  # the kernel takes the lower half of a process id too
        (Rule(((Condition(0, (0,), upper=True),),)), (1 << 32,), False),
        (Rule(((Condition(0, (3, 5, 7)),),)), (5,), True),
        (Rule(((Condition(0, (3, 5, 7)),),)), (7,), True),
        (Rule(((Condition(0, (3, 5, 7)),),)), (6,), False),
        (Rule(((Condition(0, (3, 5, 7), other=True),),)), (3,), False),
        (Rule(((Condition(0, (3, 5, 7), other=True),),)), (7,), False),
        (Rule(((Condition(0, (3, 5, 7), other=True),),)), (6,), True),
        (Rule(((Condition(0, (1,), mask=0xF),),)), (0x80801,), True),
        (Rule(((Condition(0, (0,)), Condition(1, (0,))),)), (0, 1), False),
        (Rule(((Condition(0, (0,)), Condition(1, (0,))),)), (0, 0), True),
        (Rule(((Condition(0, (1,)),), (Condition(1, (2,)),))), (0, 2), True),
        (Rule(((Condition(0, (1,)),), (Condition(1, (2,)),))), (1, 0), True),
        (Rule(((Condition(0, (1,)),), (Condition(1, (2,)),))), (0, 0), False),
    ],
)
def test_a_rule_allows_a_call_if_all_tests_of_a_group_hold(
    rule: Rule, arguments: tuple[int, ...], allowed: bool
) -> None:
    code = program(AUDIT, {7: Rule(), 9: rule, 11: Rule()})
    assert decided(code, 9, *arguments) == (ALLOW if allowed else refused(1))
    assert decided(code, 8, *arguments) == ALLOW


def test_the_error_is_that_of_the_rule() -> None:
    assert decided(program(AUDIT, {9: Rule(errno=38)}), 9) == refused(38)


def test_calls_by_other_numbers_are_not_let_through() -> None:
    code = program(AUDIT, {9: Rule()})
    assert decided(code, 8, audit=0x40000003) == KILL
    assert decided(code, 0x40000000 | 8) == refused(1)


@pytest.mark.parametrize("column", [0, 1], ids=["x86_64", "aarch64"])
def test_no_number_has_two_rules_and_the_filter_fits_the_kernel(column: int) -> None:
    numbers = [row[:2][column] for row in seccomp._CALLS.values() if row[:2][column] >= 0]
    assert len(numbers) == len(set(numbers))
    code = program(AUDIT, {row[:2][column]: row[2] for row in seccomp._CALLS.values() if row[:2][column] >= 0})
    assert len(code) // 8 < 4096


def test_a_machine_without_numbers_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not supported()
    assert not filtered()


def said(script: str) -> str:
    """What a process prints that has the filter."""
    start = "import ctypes, os, socket\nfrom fitgym.sandbox.seccomp import filtered\nassert filtered()\n"
    start += "from fitgym.sandbox.kernel import libc, syscall\n"
    done = subprocess.run([sys.executable, "-c", start + script], capture_output=True, text=True, timeout=60)
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2] or str(done.returncode)


needs_filter = pytest.mark.skipif(not supported(), reason="there is no filter for this machine")


@needs_filter
@pytest.mark.parametrize(
    "call",
    [
        "libc().ptrace(0, 0, 0, 0)",
        "libc().unshare(0x10000000)",
        "libc().mount(None, b'/', None, 0x44000, None)",
        "libc().personality(0x0040000)",
        "libc().shmget(0, 4096, 0o1600)",
        "libc().prlimit(os.getppid(), 4, bytes(16), None)",
        "libc().prctl(62, 1, os.getppid(), 0, 0)",
        "libc().clock_settime(0, bytes(16))",
        "libc().setpriority(2, 0, 19)",
        "libc().ioctl(0, 0x5412, b'x')",
        "syscall(425, 1, bytes(120))",
    ],
)
def test_the_kernel_refuses_calls_from_c(call: str) -> None:
    assert said(f"assert {call} == -1\nprint(ctypes.get_errno())") == "1"


@needs_filter
@pytest.mark.parametrize(
    "action",
    [
        "import threading; t = threading.Thread(target=int); t.start(); t.join()",
        "pid = os.fork() or os._exit(0); os.waitpid(pid, 0)",
        "import subprocess; subprocess.run(['true'], check=True)",
        "import asyncio; asyncio.run(asyncio.sleep(0))",
        "a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [0]); socket.recv_fds(b, 1, 1)",
        "libc().personality(ctypes.c_ulong(0xFFFFFFFF))",
        "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); resource.prlimit(os.getppid(), 4)",
        "import multiprocessing; multiprocessing.Pipe()",
        "import pwd; pwd.getpwuid(0); os.path.expanduser('~nobody')",
        "import ssl, uuid, tempfile, ctypes.util",
    ],
)
def test_ordinary_programs_do_not_notice(action: str) -> None:
    assert said(action + "\nprint('done')") == "done"
