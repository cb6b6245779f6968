"""Warming: imports modules that test cases import at run time once, in the process from which others are forked.

A function may import a large module in its body. Every fresh process that runs it pays for the import again. An early
import must not change what a test case sees, apart from `sys.modules`. So a module is accepted only if its import
leaves the state of the subject and of its package unchanged, and runs no code of the module under test. This is tested
in a fork, so that a rejected module changes nothing here.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import time
import types
from collections.abc import Callable, Iterable

__all__ = ["MOST_SECONDS", "import_all", "only_modules_added", "roots", "succeeds_in_a_fork"]

MOST_SECONDS = 20.0
"""Time limit of one attempt in a fork."""


def roots(names: Iterable[str]) -> list[list[str]]:
    """Return the names of modules that are not imported yet, in the given order, grouped by top-level package."""
    groups: dict[str, list[str]] = {}
    for name in names:
        top = name.partition(".")[0]
        if name not in sys.modules and top not in ("fitgym", "__main__"):
            groups.setdefault(top, []).append(name)
    return list(groups.values())


def import_all(names: Iterable[str]) -> int:
    """Import the modules that can be imported. Returns their number."""
    found = 0
    for name in names:
        with contextlib.suppress(BaseException):
            importlib.import_module(name)
            found += 1
    return found


def only_modules_added(live: object, saved: object) -> bool:
    """Return True if two namespaces differ only by what an import adds.

    An import adds the module to its package. It adds its loggers to the logger dictionary and to the placeholders of their
    parents.
    """
    if not isinstance(live, dict) or not isinstance(saved, dict):
        return False
    logging = sys.modules.get("logging")
    loggers = () if logging is None else (logging.Logger, logging.PlaceHolder)
    kept = all(name in live and live[name] is value for name, value in saved.items())
    added = live.keys() - saved.keys()
    return kept and all(type(live[name]) in (types.ModuleType, *loggers) or type(name) in loggers for name in added)


def succeeds_in_a_fork(act: Callable[[], bool], seconds: float = MOST_SECONDS) -> bool:
    """Run `act` in a fork of this process, for so many seconds at most. Returns True if it returns true there."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            status = 0 if act() else 1
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return False
        time.sleep(0.001)
