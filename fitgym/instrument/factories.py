"""The factory in use: C probes if they were built, else Python probes."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Literal

from fitgym.errors import InputError
from fitgym.instrument.factory import Factory

__all__ = ["chosen", "in_use", "missing"]


def missing() -> str:
    """Return why the C probes cannot be used, "" if they can."""
    try:
        from fitgym.instrument import _sites
    except ImportError as error:
        return f"they were not built ({error})"
    # A checkout has the sources; a wheel has none.
    sources = sorted([*Path(__file__).parent.glob("_*.[ch]")])
    if sources and zlib.crc32(b"".join(path.read_bytes() for path in sources)) != _sites.SOURCES:
        return "they were built from other sources; install fitgym again"
    return ""


def in_use() -> Literal["c", "python"]:
    """Return the factory that `FITGYM_SITES` selects. If it is not set, "c" if possible.

    Raises:
        InputError: the value is invalid, or the C probes cannot be used.
    """
    wanted = os.environ.get("FITGYM_SITES", "")
    if wanted not in ("", "c", "python"):
        raise InputError(f"FITGYM_SITES is '{wanted}', expected 'c' or 'python'")
    if wanted == "python":
        return "python"
    reason = missing()
    if reason and wanted == "c":
        raise InputError(f"FITGYM_SITES is 'c', but the C probes cannot be used: {reason}")
    return "python" if reason else "c"


def chosen() -> type[Factory]:
    """Return the factory in use.

    Raises:
        InputError: see `in_use`.
    """
    if in_use() == "c":
        from fitgym.instrument._sites import Sites as SitesInC

        return SitesInC
    from fitgym.instrument.python.sites import Sites as SitesInPython

    return SitesInPython
