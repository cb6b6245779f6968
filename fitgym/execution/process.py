"""The process: state that belongs to the whole process rather than to the subject.

It includes the environment, the working folder and its files, signal handlers, threads and builtins. To compare it costs
too much after every test case, so that happens once after each batch.
"""

from __future__ import annotations

import _locale  # looking at the state must import nothing: a subject may keep `sys.modules`
import _signal  # type: ignore[import-not-found]  # what `signal` wraps
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

from fitgym.execution.overlay import Overlay

__all__ = ["Process"]


class Process:
    """A snapshot of what belongs to the process rather than to the subject, the files in its working folder included.

    Args:
        overlay: what the subject has written beside itself, None if nothing.
        memory_slack: bytes by which the address space may grow before that counts as a change.
    """

    def __init__(self, overlay: Overlay | None = None, memory_slack: int = 128 << 20) -> None:
        self._overlay = overlay
        self._threads = _thread._count()
        self._slack = memory_slack
        self._folder = os.getcwd()
        self._modules = dict(sys.modules)  # more may come, none may go
        self._memory = _address_space()
        self._facts = self._look()

    def threads_left(self, patience: float = 0.02) -> bool:
        """Threads are alive that were not; those about to end are waited for, `patience` seconds at most."""
        if _thread._count() <= self._threads:
            return False
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            time.sleep(0.001)
            if _thread._count() <= self._threads:
                return False
        return True

    def changed(self) -> bool:
        """Something is not as it was."""
        try:
            facts = self._look()
            if not self._facts[0]:  # decimal was not loaded then
                facts[0] = ()
            return facts != self._facts or _address_space() > self._memory + self._slack or _has_children()
        except BaseException:
            return True

    def _look(self) -> list[object]:
        return [
            _decimal_context(),
            os.getcwd(),
            sorted(os.listdir(self._folder)),
            self._modules
            if all(map(operator.is_, map(sys.modules.get, self._modules), self._modules.values()))
            else (),
            dict(os.environ._data),  # type: ignore[attr-defined]
            list(sys.path),
            list(sys.meta_path),
            list(sys.path_hooks),
            sys.getrecursionlimit(),
            sys.getswitchinterval(),
            sys.gettrace(),
            sys.getprofile(),
            sys.excepthook,
            sys.displayhook,
            sys.unraisablehook,
            (sys.stdin, sys.stdout, sys.stderr),
            [stream.closed for stream in (sys.stdin, sys.stdout, sys.stderr) if stream is not None],
            gc.isenabled(),
            gc.get_threshold(),
            list(gc.callbacks),
            list(warnings.filters),
            warnings.showwarning,
            vars(builtins).copy(),
            list(map(_signal.getsignal, _SIGNALS)),  # `signal` makes enumerations of them, which takes 100 us
            [_timer(which) for which in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)],
            _signal.pthread_sigmask(signal.SIG_BLOCK, ()),
            os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else None,
            [resource.getrlimit(limit) for limit in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE)],
            os.getpriority(os.PRIO_PROCESS, 0),
            os.getsid(0),
            _locale.setlocale(_locale.LC_ALL, None),
            _umask(),
            None if self._overlay is None else self._overlay.look(),
        ]


_SIGNALS = sorted(signal.valid_signals())


def _address_space() -> int:
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _decimal_context() -> tuple[object, ...]:
    """Precision and rules; the flags change with every inexact result and are left out."""
    decimal = sys.modules.get("decimal")
    if decimal is None:
        return ()
    context = decimal.getcontext()
    traps = tuple(trap for trap, on in context.traps.items() if on)
    return (context.prec, context.rounding, context.Emin, context.Emax, context.capitals, context.clamp, traps)


def _timer(which: int) -> tuple[bool, float]:
    """Whether a timer is armed, and its interval."""
    remaining, interval = signal.getitimer(which)
    return remaining > 0, interval


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
