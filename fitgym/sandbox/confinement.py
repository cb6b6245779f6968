"""Confinement: the layers of the sandbox that belong to the kernel, all at once."""

from __future__ import annotations

from collections.abc import Collection

from fitgym.sandbox.landlock import confine
from fitgym.sandbox.level import Level
from fitgym.sandbox.namespaces import drop_capabilities, isolate
from fitgym.sandbox.programs import executables
from fitgym.sandbox.seccomp import filtered

__all__ = ["HARMLESS", "confined"]

HARMLESS = ("/dev/null", "/dev/zero", "/dev/full")
"""Devices that may be written to."""


def confined(folder: str, programs: Collection[str] = ()) -> Level:
    """Confine this process and its descendants for good, as far as the kernel allows.

    Args:
        folder: real path of the only folder in which files may be written.
        programs: names of programs that may be started.

    Returns:
        How far that is.
    """
    # The only order in which no layer refuses another: Landlock allows no mounts, and the filter no namespaces.
    namespaces = isolate(folder)
    landlock = confine(folder, HARMLESS, executables(programs))
    drop_capabilities()
    return Level.of(landlock=landlock, seccomp=filtered(), namespaces=namespaces)
