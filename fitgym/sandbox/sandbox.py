"""The sandbox: restricts what code under test can do to the machine on which it runs.

Each layer is set once per process and costs pure code nothing. Resource limits work everywhere. The kernel layers are
namespaces, Landlock and a seccomp filter; the layers that work determine the level of the sandbox, see
`fitgym.sandbox.level`. An audit hook refuses actions by name. Code under test can remove the hook: it provides
messages, and some protection on machines without the other layers.

`python -m fitgym.sandbox.sandbox FOLDER -- MODULE [ARGUMENT ...]` runs a module such as `pytest` under the same rules.
It can write only in FOLDER.
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
"""Maximal seconds of one sleep in a test case."""

_MIB = 1 << 20
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_WHICH_PERSONALITY, _ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000


class Blocked(BaseException):
    """The sandbox refused an action.

    Not an `Exception`, so that handlers in the code under test do not catch it as one of its own errors.
    """


class Guard:
    """The audit hook of this process: refuses actions outside one folder.

    Args:
        folder: the only folder in which files may be written. Temporary files belong there.
        programs: names of the programs that may be started in the mode "polite".

    Attributes:
        mode: "off" refuses nothing. "polite" raises `PermissionError`, as an operating system would; it suits imports
            and whole programs. "strict" raises `Blocked` and also refuses long sleeps; it suits test cases.
        refused: name of the last refused event since it was set to "", "" if there is none. It also shows refusals
            whose exception the code under test has caught.
        missed: paths that an import was not allowed to write; only in the mode "polite".
        hints: advice to the user about programs that an import was not allowed to start.
        overlay: the overlay for writes next to the subject, None if there is none.
        level: the level of the kernel layers, which work in every mode.
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
        """Install the hook for all audit events of this process and its forks. It cannot be uninstalled."""
        sys.addaudithook(_hook(self))

    def watch_calls(self) -> None:
        """Guard functions of the module `os` that raise no audit event but can reach outside this process."""
        for name, reaches in _WITHOUT_EVENT.items():
            if hasattr(os, name):
                setattr(os, name, _refusing(self, name, getattr(os, name), reaches))

    def install_overlay(self, root: str) -> None:
        """Redirect writes below a folder and to temporary files to the guarded folder from now on."""
        self.overlay = Overlay(self.folder, (root, "/tmp", "/var/tmp"))
        self.overlay.install()

    @contextlib.contextmanager
    def off(self) -> Iterator[None]:
        """Refuse nothing inside the block. Used for the runner's own forks."""
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
    """Apply every layer to this process and its descendants.

    Args:
        folder: the only folder in which files may be written.
        memory_mb: address space beyond the current use, in MiB; None for no limit.
        file_mb: size of a written file, in MiB.
        files: number of open descriptors.
        processes: number of processes of the user, None for no limit. Root is never limited by it.
        mode: see `Guard`.
        programs: names of programs that an import may start. They are confined like this process.

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
    """Make `time.sleep` refuse long sleeps of test cases in Python versions where it raises no audit event."""
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
    """Make this process the subreaper: it becomes the parent of descendants that lose theirs."""
    libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int | None = None) -> None:
    """Make the kernel kill this process when the thread that started it ends.

    Args:
        parent: process id of the parent. If the parent has ended before this call, this process is killed at once.
    """
    libc().prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def ended_by(connection: socket.socket) -> Iterator[None]:
    """Kill this process inside the block as soon as the other end of the socket is closed or written.

    The signal interrupts any code. Unlike `die_with_parent` it does not depend on the thread that started the process.
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
    """Start programs inside the block at the same memory addresses each time, for this thread.

    Has no effect if the system does not allow it, as in some containers.
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
    """Lower the soft limit to `value`. Does nothing if it is lower already or cannot be set."""
    soft, hard = resource.getrlimit(limit)
    ceiling = value if hard == resource.RLIM_INFINITY else min(value, hard)
    if soft == resource.RLIM_INFINITY or soft > ceiling:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(limit, (ceiling, hard))


def used_memory() -> int:
    """Return the address space of this process in bytes."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):  # no /proc
        return 0


# ---------------------------------------------------------------------------------------------------- the audit hook

Check = Callable[[Guard, tuple[object, ...]], bool]

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_NETLINK = getattr(socket, "AF_NETLINK", -1)
_FAMILIES = (-1, getattr(socket, "AF_UNIX", -1), socket.AF_INET, socket.AF_INET6)  # -1: not stated


def _hook(guard: Guard) -> Callable[[str, tuple[object, ...]], None]:
    """Return the hook. It binds everything it needs, because the code under test may replace any builtin."""
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
    """Return advice about a refused program, "" for every other event."""
    name = started(args) if event in ("subprocess.Popen", "os.posix_spawn") else ""
    return f"; if the program '{name}' is harmless, allow it with --programs {name}" if name else ""


def _refusing(guard: Guard, name: str, call: Callable[..., Any], reaches: Callable[..., bool]) -> Callable[..., Any]:
    """Wrap a function of the module `os` with a check by the guard."""

    @functools.wraps(call)
    def guarded(*args: Any, **keywords: Any) -> Any:
        if guard.mode != "off":
            try:
                refused = reaches(*args, **keywords)
            except TypeError:  # a wrong number of arguments, which `call` reports itself
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
"""Functions without an audit event, each with a check whether its arguments reach beyond this process."""


def _always(guard: Guard, args: tuple[object, ...]) -> bool:
    return True


def _opens_for_writing(guard: Guard, args: tuple[object, ...]) -> bool:
    path, mode, flags = args
    if isinstance(path, int):  # a descriptor that the test case did not open belongs to the worker
        return guard.mode == "strict" and (path <= 2 or _outside(guard, path, -1))
    writing = bool(flags & _WRITING) if isinstance(flags, int) else False
    if isinstance(mode, str):
        writing = writing or any(letter in mode for letter in "wax+")
    return writing and _outside(guard, path, -1)


def _paths(*places: tuple[int, int | None], follows: bool = True) -> Check:
    """Return a check of path arguments. A place is the index of a path and the index of its folder's descriptor.

    With `follows`, the function acts on what a symbolic link points to; without, on the link itself.
    """

    def check(guard: Guard, args: tuple[object, ...]) -> bool:
        return any(
            _outside(guard, args[path], args[folder] if folder is not None and folder < len(args) else -1, follows)
            for path, folder in places
            if path < len(args)
        )

    return check


def _outside(guard: Guard, path: object, folder: object, follows: bool = True) -> bool:
    """Return True if the path is outside the guarded folder. Links of its parents are always followed."""
    if isinstance(path, int):  # for example fchmod: use the file that is open
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
    if follows and os.path.islink(target):
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
    """Return True unless an import binds a netlink socket, with which it queries the kernel about the network."""
    asks_kernel = isinstance(args[0], socket.socket) and socket.SocketType.family.__get__(args[0]) == _NETLINK
    return guard.mode == "strict" or not asks_kernel


def _sends(guard: Guard, args: tuple[object, ...]) -> bool:
    """Return True for a new socket that can send without a connection, or whose family not every machine has."""
    _, family, kind, _ = args
    connects = not isinstance(kind, int) or kind < 0 or kind & 15 == socket.SOCK_STREAM
    # The kernel's answers about the network of this machine are harmless.
    return family != _NETLINK and not (connects and family in _FAMILIES)


def _starts_program(guard: Guard, args: tuple[object, ...]) -> bool:
    return guard.mode == "strict" or started(args) not in guard.programs


_CHECKS: dict[str, Check] = {
    "open": _opens_for_writing,
    "os.remove": _paths((0, 1), follows=False),
    "os.rename": _paths((0, 2), (1, 3), follows=False),
    "os.rmdir": _paths((0, 1), follows=False),
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
"""Checks by the name of the audit event. Other events are allowed."""

_WRITES = frozenset({"open", "os.mkdir", "os.rename", "sqlite3.connect", "os.symlink", "os.truncate", "os.utime"})
"""Events that an overlay may make possible."""

_STRICT = frozenset({"time.sleep"})
"""Events that are refused only in test cases."""


# ---------------------------------------------------------------------------------------------------- command line


def main(arguments: list[str]) -> NoReturn:
    """Run a module that can write only in FOLDER: `FOLDER [OPTION ...] -- MODULE [ARGUMENT ...]`.

    With `--beside=ROOT`, files that it writes below ROOT go to FOLDER too. `--programs=A,B` allows these programs.
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
        guard.install_overlay(options["beside"])
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    raise SystemExit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
