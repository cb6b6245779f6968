"""The process: state of the whole process rather than of the subject.

Examples are the environment, the working folder with its files, signal handlers, threads and builtins. Comparing it
costs too much after every test case, so it is compared once after each batch. A part that was found changed once is
compared after each test case from then on, and restored where that is possible exactly.
"""

from __future__ import annotations

import _locale  # imported early, because taking the snapshot must import nothing: a subject may hold `sys.modules`
import _signal  # type: ignore[import-not-found]  # the C module behind `signal`
import _thread
import builtins
import gc
import operator
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper  # before a subject can replace them
from typing import Any, NamedTuple

from fitgym.sandbox.folder import tidy
from fitgym.sandbox.overlay import Overlay

__all__ = ["Process"]


class _Fact(NamedTuple):
    """One part of the process state.

    Attributes:
        read: returns the current value.
        write: restores an earlier value; None if that is impossible.
    """

    read: Callable[[], Any]
    write: Callable[[Any], object] | None = None


class Process:
    """A snapshot of the state of the process, including the files in its working folder.

    Args:
        overlay: the overlay with the files that the subject writes next to itself; None if it writes none.
        unguarded: inside its block, the sandbox refuses nothing.
        memory_slack: bytes by which the address space may grow before that counts as a change.
    """

    def __init__(
        self,
        overlay: Overlay | None = None,
        unguarded: Callable[[], AbstractContextManager[object]] = nullcontext,
        memory_slack: int = 128 << 20,
    ) -> None:
        self._overlay = overlay
        self._unguarded = unguarded
        self._threads = _thread._count()
        self._slack = memory_slack
        self._folder = os.getcwd()
        self._modules = dict(sys.modules)  # more modules may be added, none may be removed
        self._memory = _address_space()
        self._facts = self._described()
        self._values = [fact.read() for fact in self._facts]

    def threads_left(self, patience: float = 0.02) -> bool:
        """Return True if more threads are alive than before.

        Waits up to `patience` seconds for threads that are about to end.
        """
        if _thread._count() <= self._threads:
            return False
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            time.sleep(0.001)
            if _thread._count() <= self._threads:
                return False
        return True

    def changed(self) -> bool:
        """Return True if any state differs from the snapshot. Memory is checked by `grown`."""
        try:
            return bool(self.changes()) or self.left_processes()
        except BaseException:  # the subject has replaced a function that the comparison needs
            return True

    def changes(self) -> tuple[int, ...]:
        """Return the numbers of the changed facts, for `changed_at` and `restore_at`."""
        return tuple(number for number in range(len(self._facts)) if self.changed_at([number]))

    def left_processes(self) -> bool:
        """Return True if a child process is left, which cannot be undone."""
        try:
            return _has_children()
        except BaseException:
            return True

    def grown(self) -> bool:
        """Return True if memory has grown so much, for example by an import, that its limit comes too early."""
        return _address_space() > self._memory + self._slack

    def changed_at(self, facts: Iterable[int]) -> bool:
        """Return True if any of these facts differs from the snapshot."""
        try:
            return any(self._facts[number].read() != self._values[number] for number in facts)
        except BaseException:
            return True

    def restore_at(self, facts: Iterable[int]) -> bool:
        """Restore these facts. Returns False if one of them cannot be restored."""
        try:
            for number in facts:
                read, write = self._facts[number]
                if read() != self._values[number]:
                    if write is None:
                        return False
                    write(self._values[number])
        except BaseException:
            return False
        return not self.changed_at(facts)

    def _empty(self, names: list[str]) -> None:
        """Remove new files from the working folder. Deleted files are not restored."""
        tidy(self._folder, names)

    def _open_streams(self, closed: list[bool]) -> None:
        """Open the standard streams that were open: `with sys.stdin:` closes the object, but not its descriptor."""
        for number, (stream, was_closed) in enumerate(zip((sys.stdin, sys.stdout, sys.stderr), closed, strict=True)):
            if type(stream) is TextIOWrapper and stream.closed and not was_closed:
                with self._unguarded():
                    raw = FileIO(number, "w" if number else "r", closefd=False)
                buffer = BufferedWriter(raw) if number else BufferedReader(raw)
                stream.__init__(buffer, stream.encoding, stream.errors)  # type: ignore[misc]  # the same object

    def _described(self) -> list[_Fact]:
        def attribute(owner: Any, name: str) -> _Fact:
            return _Fact(lambda: getattr(owner, name), lambda value: setattr(owner, name, value))

        def items(thing: list[Any]) -> _Fact:
            return _Fact(lambda: list(thing), lambda value: thing.__setitem__(slice(None), value))

        decimals = _decimal_context() is not None
        return [
            _Fact(_decimal_context, _set_decimal_context) if decimals else _Fact(lambda: None),
            _Fact(os.getcwd, os.chdir),
            _Fact(lambda: sorted(_LISTDIR(self._folder)), self._empty),
            _Fact(
                lambda: all(map(operator.is_, map(sys.modules.get, self._modules), self._modules.values())),
            ),
            _Fact(lambda: dict(os.environ._data), _set_environment),  # type: ignore[attr-defined]
            attribute(sys, "argv"),
            items(sys.argv),
            items(sys.path),
            items(sys.meta_path),
            items(sys.path_hooks),
            _Fact(sys.getrecursionlimit, sys.setrecursionlimit),
            _Fact(sys.getswitchinterval, sys.setswitchinterval),
            _Fact(sys.gettrace, sys.settrace),
            _Fact(sys.getprofile, sys.setprofile),
            *(attribute(sys, name) for name in ("excepthook", "displayhook", "unraisablehook")),
            *(attribute(sys, name) for name in ("stdin", "stdout", "stderr")),
            _Fact(_closed_streams, self._open_streams),
            _Fact(gc.isenabled, lambda value: gc.enable() if value else gc.disable()),
            _Fact(gc.get_threshold, lambda value: gc.set_threshold(*value)),
            items(gc.callbacks),
            _Fact(lambda: list(warnings.filters), _set_filters),
            attribute(warnings, "showwarning"),
            _Fact(lambda: vars(builtins).copy()),
            # `signal.getsignal` converts handlers to enumerations, which takes 100 us
            _Fact(lambda: list(map(_signal.getsignal, _SIGNALS)), _set_signals),
            _Fact(lambda: [_timer(which) for which in _TIMERS], _set_timers),
            _Fact(
                lambda: _signal.pthread_sigmask(signal.SIG_BLOCK, ()),
                lambda value: _signal.pthread_sigmask(signal.SIG_SETMASK, value),
            ),
            _Fact(_loop_policy, _set_loop_policy),
            _Fact(_event_loop, _set_event_loop),
            # Garbage in cycles may hold descriptors. It is rare, so only a difference is worth a full collection.
            _Fact(_descriptors, lambda _: gc.collect()),
            _Fact(lambda: [resource.getrlimit(limit) for limit in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE)]),
            _Fact(lambda: os.getpriority(os.PRIO_PROCESS, 0)),
            _Fact(lambda: os.getsid(0)),
            _Fact(
                lambda: _locale.setlocale(_locale.LC_ALL, None),
                lambda value: _locale.setlocale(_locale.LC_ALL, value),
            ),
            _Fact(_umask, os.umask),
            _Fact(lambda: None if self._overlay is None else self._overlay.look()),
        ]


_LISTDIR = os.listdir
_SIGNALS = sorted(signal.valid_signals())
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _decimal_context() -> tuple[Any, ...] | None:
    """Return precision and rules of `decimal`, None if it is not loaded.

    The flags are left out, because every inexact result changes them.
    """
    decimal = sys.modules.get("decimal")
    if decimal is None:
        return None
    context = decimal.getcontext()
    traps = tuple(trap for trap, on in context.traps.items() if on)
    return (context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps)


def _set_decimal_context(value: tuple[Any, ...]) -> None:
    context = sys.modules["decimal"].getcontext()
    context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps = value
    for trap in context.traps:
        context.traps[trap] = trap in traps


def _set_environment(value: dict[bytes, bytes]) -> None:
    for name in set(os.environb) - set(value):
        del os.environb[name]
    for name, text in value.items():
        if os.environb.get(name) != text:
            os.environb[name] = text


def _set_filters(value: list[Any]) -> None:
    warnings.filters[:] = value  # type: ignore[index]
    mutated = getattr(warnings, "_filters_mutated", None) or getattr(warnings, "_filters_mutated_lock_held", None)
    if mutated is not None:
        mutated()


def _set_signals(value: list[Any]) -> None:
    for number, handler in zip(_SIGNALS, value, strict=True):
        if _signal.getsignal(number) is not handler:
            _signal.signal(number, handler)


def _descriptors() -> list[str] | None:
    return os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else None


def _loop_policy() -> Any:
    return getattr(sys.modules.get("asyncio.events"), "_event_loop_policy", None)


def _set_loop_policy(value: Any) -> None:
    sys.modules["asyncio.events"]._event_loop_policy = value  # type: ignore[attr-defined]


def _loop_holder() -> Any:
    """Return the object that holds the event loop of this thread, None if no code has asked for one."""
    return getattr(_loop_policy(), "_local", None)


def _event_loop() -> Any:
    return getattr(_loop_holder(), "_loop", None)


def _set_event_loop(value: Any) -> None:
    """Restore the event loop of this thread. `asyncio.get_event_loop` makes one, and nobody closes it."""
    holder = _loop_holder()
    if holder is not None:
        holder._loop.close()
        holder._loop, holder._set_called = value, value is not None


def _closed_streams() -> list[bool]:
    return [one is None or one.closed for one in (sys.stdin, sys.stdout, sys.stderr)]


def _timer(which: int) -> tuple[bool, float]:
    """Return whether a timer is armed, and its interval."""
    remaining, interval = signal.getitimer(which)
    return remaining > 0, interval


def _set_timers(value: list[tuple[bool, float]]) -> None:
    """Restore the timers: `signal.alarm(0)` of the subject stops the one that ends its test cases."""
    for which, (is_armed, interval) in zip(_TIMERS, value, strict=True):
        if _timer(which) != (is_armed, interval):
            _signal.setitimer(which, interval if is_armed else 0.0, interval)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True
