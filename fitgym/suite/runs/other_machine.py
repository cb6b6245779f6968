"""Elsewhere: another machine, as far as a test could notice.

Half of the runs that a suite has to pass are made elsewhere: another time zone, language, user and width of the terminal,
another command line, and folders that everybody shares hold other files. A test that leans on one of these fails or
takes another way there, and is not exported.
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
"""Variables that differ there."""

SHARED = ("/", "/etc", "/home", "/opt", "/root", "/tmp", "/usr", "/var", "/var/tmp")
"""Folders whose content a test must not know."""


def arrive() -> None:
    """Make this process one elsewhere, for good: its command line and what it sees in shared folders."""
    del sys.argv[1:]
    os.listdir = _half_of(os.listdir, lambda names: names)
    os.scandir = _half_of(os.scandir, Entries)


def _half_of(old: Callable[..., Any], made: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """A function that lists folders, and of shared folders every second entry only."""
    shared = frozenset((*SHARED, os.path.expanduser("~")))

    def listing(path: Any = ".") -> Any:
        found = old(path)
        if isinstance(path, int) or os.path.abspath(os.fsdecode(path)) not in shared:
            return found
        return made([entry for index, entry in enumerate(found) if index % 2])

    return listing
