"""The sandbox: what code under test may not do to the machine it runs on.

Each layer is set once per process and costs pure code nothing. Resource limits hold everywhere. The kernel's layers are
namespaces, Landlock and a seccomp filter; which of them work is the level of the sandbox, see `fitgym.sandbox.level`.
An audit hook refuses actions by name. Code under test can take the hook away: it is there for messages, and for machines
without the other layers.

`python -m fitgym.sandbox.sandbox FOLDER -- MODULE [ARGUMENT ...]` runs a module such as `pytest` under the same
rules, able to write in FOLDER only.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import os
import resource
import runpy
import signal
import socket
import sys
import time
from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal, NoReturn

from fitgym.sandbox.confinement import HARMLESS, confined
from fitgym.sandbox.kernel import libc
from fitgym.sandbox.level import Level, check
from fitgym.sandbox.overlay import Overlay
from fitgym.sandbox.programs import started
from fitgym.sandbox.seal import seal

__all__ = [
    "Blocked",
    "Guard",
    "adopt_orphans",
    "die_with_parent",
    "ended_by",
    "limit_sleep",
    "lower",
    "restrict",
    "same_layout",
]

Mode = Literal["off", "polite", "strict"]

LONGEST_SLEEP = 0.05
"""Seconds that a test case may sleep at a time."""

_MIB = 1 << 20
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_WHICH_PERSONALITY, _ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000


class Blocked(BaseException):
    """The sandbox refused an action.

    Not an `Exception`, so that the handlers of the code under test do not take it for one of its own failures.
    """


class Guard:
    """The audit hook of this process: refuses actions that reach outside one folder.

    Args:
        folder: the only folder in which files may be written; temporary files belong there.

    Attributes:
        mode: "off" refuses nothing; "polite" raises `PermissionError`, as an operating system would, and suits imports
            and whole programs; "strict" raises `Blocked`, refuses long sleeps as well, and suits test cases.
        refused: name of the last refused event since it was set to "", "" if there is none. It tells of refusals that
            the code under test has swallowed.
        missed: what an import was not allowed to write, by path; only in the mode "polite".
        hints: what the user can do about programs that an import was not allowed to start.
        overlay: where writes beside the subject go instead, None if nowhere.
        level: what the kernel refuses besides, whatever the mode.

    `programs` are the names of the programs that may be started in the mode "polite".
    """

    def __init__(self, folder: str, programs: Collection[str] = ()) -> None:
        self.folder = os.path.realpath(folder)
        self.programs = frozenset(programs)
        self.missed: list[str] = []
        self.hints: list[str] = []
        self.overlay: Overlay | None = None
        self.level = Level.GUARD
        self.mode: Mode = "off"
        self.refused = ""

    def install(self) -> None:
        """Watch every audit event of this process and its forks, for good; there is no way to take the hook away."""
        sys.addaudithook(_hook(self))

    def watch_calls(self) -> None:
        """Refuse also those functions of the module `os` that raise no audit event, where they would reach outside."""
        for name, reaches in _WITHOUT_EVENT.items():
            if hasattr(os, name):
                setattr(os, name, _refusing(self, name, getattr(os, name), reaches))

    def lay_over(self, root: str) -> None:
        """From now on what is written below a folder, and among temporary files, goes to the guarded folder."""
        self.overlay = Overlay(self.folder, (root, "/tmp", "/var/tmp"))
        self.overlay.install()

    @contextlib.contextmanager
    def off(self) -> Iterator[None]:
        """Refuse nothing inside the block: for the runner's own forks."""
        mode, self.mode = self.mode, "off"
        try:
            yield
        finally:
            self.mode = mode


def restrict(
    folder: str,
    *,
    memory_mb: int | None = None,
    file_mb: int = 64,
    files: int = 1024,
    processes: int | None = None,
    mode: Mode = "polite",
    programs: Collection[str] = (),
) -> Guard:
    """Set every layer for this process and all that it will start.

    Args:
        folder: the only folder in which files may be written.
        memory_mb: address space beyond what is in use now, in MiB; None for no limit.
        file_mb: largest file that may be written, in MiB.
        files: how many descriptors may be open.
        processes: how many processes the user may have, None for no limit; root is never limited by it.
        mode: see `Guard`.
        programs: names of programs that an import may start; they are confined as this process is.

    Returns:
        The guard, whose mode can still be changed.

    Raises:
        ExecutionError: the level of the sandbox is lower than the required one.
    """
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_FSIZE, file_mb * _MIB)
    lower(resource.RLIMIT_NOFILE, files)
    if memory_mb is not None:
        lower(resource.RLIMIT_AS, used_memory() + memory_mb * _MIB)
    if processes is not None:
        lower(resource.RLIMIT_NPROC, processes)
    guard = Guard(folder, programs)
    guard.level = confined(guard.folder, guard.programs)
    check(guard.level)
    guard.install()
    guard.watch_calls()
    if guard.level < Level.NAMESPACES:
        seal(guard.folder)
    guard.mode = mode
    return guard


def limit_sleep(guard: Guard) -> None:
    """Let `time.sleep` refuse long sleeps of test cases, on versions of Python where it raises no audit event."""
    if sys.version_info >= (3, 13):
        return
    sleep = time.sleep

    @functools.wraps(sleep)
    def limited(seconds: float, /) -> None:
        if guard.mode == "strict" and _sleeps_long(guard, (seconds,)):
            guard.refused = "time.sleep"
            raise Blocked("time.sleep is not allowed in a test case")
        sleep(seconds)

    time.sleep = limited  # type: ignore[assignment]


def adopt_orphans() -> None:
    """Make every process that loses its parent below this one a child of this one."""
    libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int | None = None) -> None:
    """Have the kernel kill this process when the thread ends that started it.

    Args:
        parent: process id of the parent. If the parent has ended before this call, this process is killed at once.
    """
    libc().prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def ended_by(connection: socket.socket) -> Iterator[None]:
    """Inside the block this process is killed when the other end of the socket is closed or writes, whatever it is doing.

    Not so when the thread ends that has started it, which is what `die_with_parent` goes by.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(connection, fcntl.F_GETFL)
    fcntl.fcntl(connection, fcntl.F_SETFL, flags | os.O_ASYNC)
    try:
        yield
    finally:
        fcntl.fcntl(connection, fcntl.F_SETFL, flags)


@contextlib.contextmanager
def same_layout() -> Iterator[None]:
    """Programs that are started inside the block by this thread lie at the same addresses each time.

    Nothing happens where the system does not allow that, as in some containers.
    """
    personality = libc().personality
    before = personality(ctypes.c_ulong(_WHICH_PERSONALITY))
    changed = before >= 0 and personality(ctypes.c_ulong(before | _ADDR_NO_RANDOMIZE)) >= 0
    try:
        yield
    finally:
        if changed:
            personality(ctypes.c_ulong(before))


def lower(limit: int, value: int) -> None:
    """Lower the soft limit to `value`; it is left alone where it is lower already or cannot be set."""
    soft, hard = resource.getrlimit(limit)
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    if soft == resource.RLIM_INFINITY or soft > ceiling:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (ceiling, hard))


def used_memory() -> int:
    """Address space of this process in bytes."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):  # no /proc
        return 0


# ---------------------------------------------------------------------------------------------------- the audit hook

Check = Callable[[Guard, tuple[object, ...]], bool]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NETLINK = getattr(socket, "AF_NETLINK", -1)


def _hook(guard: Guard) -> Callable[[str, tuple[object, ...]], None]:
    """The hook itself. What it needs is bound here, because the code under test may replace any builtin."""
    checks = _CHECKS.get
    strict_only = _STRICT
    blocked = Blocked
    refusal = PermissionError
    writes, advice = _WRITES, _advice

    def hook(event: str, args: tuple[object, ...]) -> None:
        check = checks(event)
        if check is None or guard.mode == "off":
            return
        if guard.mode != "strict" and event in strict_only:
            return
        if check(guard, args):
            if guard.mode == "strict":
                guard.refused = event
                raise blocked(f"{event} is not allowed in a test case")
            hint = advice(event, args)
            if event in writes and args:
                guard.missed.append(str(args[0]))
            elif hint:
                guard.hints.append(hint)
            raise refusal(1, f"{event} is not allowed in the sandbox{hint}")

    return hook


def _advice(event: str, args: tuple[object, ...]) -> str:
    """What the user can do about a refused program, "" for everything else."""
    name = started(args) if event in ("subprocess.Popen", "os.posix_spawn") else ""
    return f"; if the program '{name}' is harmless, allow it with --programs {name}" if name else ""


def _refusing(guard: Guard, name: str, call: Callable[..., Any], reaches: Callable[..., bool]) -> Callable[..., Any]:
    """A function of the module `os` that asks the guard first."""

    @functools.wraps(call)
    def guarded(*args: Any, **keywords: Any) -> Any:
        if guard.mode != "off":
            try:
                refused = reaches(*args, **keywords)
            except TypeError:  # of the wrong number of arguments, which the function itself complains about
                refused = False
            if refused and guard.mode == "strict":
                guard.refused = f"os.{name}"
                raise Blocked(f"os.{name} is not allowed in a test case")
            if refused:
                raise PermissionError(1, f"os.{name} is not allowed in the sandbox")
        return call(*args, **keywords)

    return guarded


_WITHOUT_EVENT: dict[str, Callable[..., bool]] = {
    "setpriority": lambda which, who, priority: (which, who) != (os.PRIO_PROCESS, 0),
    "sched_setaffinity": lambda pid, mask: pid != 0,
    "sched_setscheduler": lambda pid, policy, param: pid != 0,
    "sched_setparam": lambda pid, param: pid != 0,
    "memfd_create": lambda *args, **keywords: True,
}
"""Functions without an audit event, each with whether its arguments reach beyond the limits of this process."""


def _always(guard: Guard, args: tuple[object, ...]) -> bool:
    return True


def _opens_for_writing(guard: Guard, args: tuple[object, ...]) -> bool:
    path, mode, flags = args
    if isinstance(path, int):  # a descriptor: unless a test case made it, it is somebody else's, who needs it open
        return guard.mode == "strict" and (path <= 2 or _outside(guard, path, -1))
    writing = bool(flags & _WRITING) if isinstance(flags, int) else False
    if isinstance(mode, str):
        writing = writing or any(letter in mode for letter in "wax+")
    return writing and _outside(guard, path, -1)


def _paths(*places: tuple[int, int | None]) -> Check:
    """A check of arguments that are paths: each place is (index of the path, index of its folder's descriptor)."""

    def check(guard: Guard, args: tuple[object, ...]) -> bool:
        return any(
            _outside(guard, args[path], args[folder] if folder is not None and folder < len(args) else -1)
            for path, folder in places
            if path < len(args)
        )

    return check


def _outside(guard: Guard, path: object, folder: object) -> bool:
    """The path leads out of the guarded folder, symbolic links of its parents followed."""
    if isinstance(path, int):  # fchmod and the like: what it is open on
        path = _of_descriptor(path)
    try:
        name = os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        return True
    if name in HARMLESS:
        return False
    base = _of_descriptor(folder) if isinstance(folder, int) and folder >= 0 else os.getcwd()
    whole = os.path.join(base, name)
    parent = os.path.realpath(os.path.dirname(whole))
    target = os.path.join(parent, os.path.basename(whole))
    if os.path.islink(target):
        target = os.path.realpath(target)
    return not (target == guard.folder or target.startswith(guard.folder + os.sep))


def _of_descriptor(descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return "/"


def _sleeps_long(guard: Guard, args: tuple[object, ...]) -> bool:
    seconds = args[0]
    return isinstance(seconds, (int, float)) and seconds > LONGEST_SLEEP


def _loads_library(guard: Guard, args: tuple[object, ...]) -> bool:
    return guard.mode == "strict"


def _database_outside(guard: Guard, args: tuple[object, ...]) -> bool:
    path = args[0]
    if isinstance(path, str) and path in ("", ":memory:"):
        return False
    return (isinstance(path, str) and path.startswith("file:")) or _outside(guard, path, -1)


def _binds(guard: Guard, args: tuple[object, ...]) -> bool:
    """An import may ask the kernel about the network; everything else would be heard outside."""
    asks_kernel = isinstance(args[0], socket.socket) and socket.SocketType.family.__get__(args[0]) == _NETLINK
    return guard.mode == "strict" or not asks_kernel


def _sends(guard: Guard, args: tuple[object, ...]) -> bool:
    """A new socket that needs no connection to send; the kernel's answers about the network of this machine are harmless."""
    _, family, kind, _ = args
    return family != _NETLINK and isinstance(kind, int) and kind >= 0 and kind & 15 != socket.SOCK_STREAM


def _starts_program(guard: Guard, args: tuple[object, ...]) -> bool:
    return guard.mode == "strict" or started(args) not in guard.programs


_CHECKS: dict[str, Check] = {
    "open": _opens_for_writing,
    "os.remove": _paths((0, 1)),
    "os.rename": _paths((0, 2), (1, 3)),
    "os.rmdir": _paths((0, 1)),
    "os.mkdir": _paths((0, 2)),
    "os.link": _paths((1, 3)),
    "os.symlink": _paths((1, 2)),
    "os.truncate": _paths((0, None)),
    "os.chmod": _paths((0, 2)),
    "os.chown": _paths((0, 3)),
    "os.utime": _paths((0, 3)),
    "os.setxattr": _paths((0, None)),
    "os.removexattr": _paths((0, None)),
    "os.chflags": _paths((0, None)),
    "os.chdir": _paths((0, None)),
    "sqlite3.connect": _database_outside,
    "os.system": _always,
    "os.exec": _always,
    "os.fork": _always,
    "os.forkpty": _always,
    "os.posix_spawn": _starts_program,
    "os.spawn": _always,
    "os.startfile": _always,
    "os.kill": _always,
    "os.killpg": _always,
    "os.lockf": _always,
    "pty.spawn": _always,
    "subprocess.Popen": _starts_program,
    "signal.pthread_kill": _always,
    "resource.setrlimit": _always,
    "resource.prlimit": _always,
    "socket.__new__": _sends,
    "socket.connect": _always,
    "socket.bind": _binds,
    "socket.sendto": _always,
    "socket.sendmsg": _always,
    "socket.getaddrinfo": _always,
    "socket.gethostbyname": _always,
    "socket.gethostbyaddr": _always,
    "socket.getnameinfo": _always,
    "socket.sethostname": _always,
    "webbrowser.open": _always,
    "sys.addaudithook": _always,
    "time.sleep": _sleeps_long,
    "ctypes.dlopen": _loads_library,
    "ctypes.dlsym": _loads_library,
    "ctypes.dlsym/handle": _loads_library,
    "ctypes.call_function": _loads_library,
    "ctypes.string_at": _loads_library,
    "ctypes.wstring_at": _loads_library,
    "ctypes.memoryview_at": _loads_library,
    "ctypes.cdata": _loads_library,
    "ctypes.PyObj_FromPtr": _loads_library,
}
"""What is looked at, by the name of the audit event; everything else passes."""

_WRITES = frozenset({"open", "os.mkdir", "os.rename", "sqlite3.connect", "os.symlink", "os.truncate", "os.utime"})
"""What an overlay may make possible."""

_STRICT = frozenset({"time.sleep"})
"""What only test cases may not do."""


# ---------------------------------------------------------------------------------------------------- command line


def main(arguments: list[str]) -> NoReturn:
    """`FOLDER [OPTION ...] -- MODULE [ARGUMENT ...]`: run a module as a program that can write in FOLDER only.

    With `--beside=ROOT` files that it writes below ROOT go to FOLDER too, `--programs=A,B` lets it start these programs.
    """
    end = arguments.index("--") if "--" in arguments else 0
    if end < 1 or len(arguments) < end + 2:
        print("usage: python -m fitgym.sandbox.sandbox FOLDER -- MODULE [ARGUMENT ...]", file=sys.stderr)
        raise SystemExit(2)
    folder, module, rest = arguments[0], arguments[end + 1], arguments[end + 2 :]
    options = dict(option.removeprefix("--").split("=", 1) for option in arguments[1:end])
    if not os.path.isdir(folder):
        print(f"no such folder: '{folder}'", file=sys.stderr)
        raise SystemExit(2)
    os.environ["TMPDIR"] = os.environ["HOME"] = os.path.realpath(folder)
    sys.dont_write_bytecode = True
    programs = tuple(filter(None, options.get("programs", "").split(",")))
    guard = restrict(folder, programs=programs)
    if "beside" in options:
        guard.lay_over(options["beside"])
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    raise SystemExit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
