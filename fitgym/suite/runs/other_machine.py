"""A simulated other machine, as far as a test can notice.

Half of the runs that a suite must pass use it: another time zone, language, user, width of the terminal and command
line, and shared folders with other entries. A test that depends on one of these fails or takes another path there, and
is not exported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fitgym.sandbox.overlay import Entries

__all__ = ["ENVIRONMENT", "arrive"]

ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        **{"TZ": "Pacific/Chatham", "LANG": "C", "LC_ALL": "C", "LANGUAGE": "C"},
        **{"USER": "stranger", "LOGNAME": "stranger", "USERNAME": "stranger"},
        **{"COLUMNS": "57", "LINES": "17", "TERM": "dumb", "NO_COLOR": "1"},
    }
)
"""Environment variables with other values on the simulated machine."""

SHARED = ("/", "/etc", "/home", "/opt", "/root", "/tmp", "/usr", "/var", "/var/tmp")
"""Folders whose content a test must not depend on."""


def arrive() -> None:
    """Make this process appear to run on another machine, irreversibly.

    Its command line and the listings of shared folders change.
    """
    del sys.argv[1:]
    os.listdir = _half_of(os.listdir, lambda names: names)
    os.scandir = _half_of(os.scandir, Entries)


def _half_of(old: Callable[..., Any], made: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """Return a function that lists folders, but only every second entry of shared folders."""
    shared = frozenset((*SHARED, os.path.expanduser("~")))

    def listing(path: Any = ".") -> Any:
        found = old(path)
        if isinstance(path, int) or os.path.abspath(os.fsdecode(path)) not in shared:
            return found
        return made([entry for index, entry in enumerate(found) if index % 2])

    return listing
