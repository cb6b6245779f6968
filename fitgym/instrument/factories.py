"""Which factory of probes is in use: the one in C where it was built, the one in Python everywhere else."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Literal

from fitgym.errors import InputError
from fitgym.instrument.factory import Factory

__all__ = ["chosen", "in_use", "missing"]


def missing() -> str:
    """Why the probes in C cannot be used, "" if they can."""
    try:
        from fitgym.instrument import _sites
    except ImportError as error:
        return f"they were not built ({error})"
    # In a checkout; a wheel has no sources.
    sources = sorted([*Path(__file__).parent.glob("_*.[ch]")])
    if sources and zlib.crc32(b"".join(path.read_bytes() for path in sources)) != _sites.SOURCES:
        return "they were built from other sources than these: install again"
    return ""


def in_use() -> Literal["c", "python"]:
    """What `FITGYM_SITES` asks for; without it "c" where that is possible.

    Raises:
        InputError: it asks for what is not there.
    """
    wanted = os.environ.get("FITGYM_SITES", "")
    if wanted not in ("", "c", "python"):
        raise InputError(f"FITGYM_SITES is '{wanted}', expected 'c' or 'python'")
    if wanted == "python":
        return "python"
    reason = missing()
    if reason and wanted == "c":
        raise InputError(f"FITGYM_SITES asks for probes in C, but {reason}")
    return "python" if reason else "c"


def chosen() -> type[Factory]:
    """The factory in use.

    Raises:
        InputError: see `in_use`.
    """
    if in_use() == "c":
        from fitgym.instrument._sites import Sites as SitesInC

        return SitesInC
    from fitgym.instrument.python.sites import Sites as SitesInPython

    return SitesInPython
