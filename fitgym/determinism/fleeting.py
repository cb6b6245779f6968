"""Fleeting values: numbers and texts that may differ in the next run of the same code.

Examples are times and dates, memory addresses, process ids, folders of this machine, and the text of an unordered set.
No assertion may expect them.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from time import localtime, strftime, time

from fitgym.determinism.addresses import END_OF_NUMBERS
from fitgym.determinism.clock import MOMENTS
from fitgym.determinism.pids import PIDS

__all__ = ["is_fleeting", "is_fleeting_number", "is_fleeting_text", "without_addresses"]

# On 64-bit Linux the heap of position-independent programs starts at 0x55... and mappings end at 0x7f.... The numbers
# that replace addresses for the subject start above these.
_LOWEST_ADDRESS = 0x5500_0000_0000
_DIGIT = re.compile(r"\d")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{8,}")
_SET_TEXT = re.compile(r"""\{b?(?P<a>['"])[^:{}]*(?P=a), b?(?P<b>['"])[^:{}]*(?P=b)[,}]""")


def is_fleeting(literal: str) -> bool:
    """Return True if the source text of a literal depends on this run: clock reading, address, process id or date.

    The current year as a number does not count here.
    """
    try:
        return _is_of_this_run(int(literal) if literal.isdecimal() else float(literal))
    except (ValueError, OverflowError):  # not a number, or one with too many digits
        return _mentions_this_run(literal)


def is_fleeting_number(value: int | float) -> bool:
    """Return True if the number looks like a clock reading, the current year, an address or a process id."""
    return (isinstance(value, int) and value == localtime().tm_year) or _is_of_this_run(value)


def is_fleeting_text(text: str) -> bool:
    """Return True if the text has an address, a process id, today's date, a local folder or an unordered set."""
    if _mentions_this_run(text) or _SET_TEXT.search(text):
        return True
    return "/" in text and any(folder in text for folder in _folders())


def without_addresses(text: str) -> str:
    """Return the text without hexadecimal addresses."""
    return _ADDRESS.sub("", text)


def _is_of_this_run(value: int | float) -> bool:
    if isinstance(value, int) and (_LOWEST_ADDRESS <= value < END_OF_NUMBERS or value in PIDS):
        return True
    scales = (1, 1_000, 1_000_000, 1_000_000_000)
    return any(abs(value - now * scale) < 172_800 * scale for now in (time(), *MOMENTS) for scale in scales)


def _mentions_this_run(text: str) -> bool:
    if not _DIGIT.search(text):
        return False
    return bool(_ADDRESS.search(text)) or any(part in text for part in (*_days(time()), *_FIXED))


def _folders() -> list[str]:
    try:
        here = os.getcwd()
    except OSError:  # the subject removed it
        here = "/"
    # A library may return the name of a file that comes with it, so folders of packages count.
    packages = (entry for entry in sys.path if isinstance(entry, str))
    places = (tempfile.gettempdir(), here, os.path.expanduser("~"), sys.prefix, sys.base_prefix, *packages)
    return [place for place in places if place.count("/") >= 2 or place == tempfile.gettempdir()]


def _days(now: float) -> list[str]:
    """Return the dates of the day before, the day and the day after in common formats."""
    days = []
    for shift in (-86_400, 0, 86_400):
        day = localtime(now + shift)
        days += [strftime(form, day) for form in ("%Y-%m-%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y")]
        days += [strftime("%b ", day) + f"{day.tm_mday:2d}", strftime("%d %b %Y", day)]
    return days


_FIXED = (*(day for moment in MOMENTS for day in _days(moment)), *map(str, PIDS))
