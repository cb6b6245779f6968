"""Confinement: applies all kernel layers of the sandbox."""

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
    """Confine this process and its descendants permanently, as far as the kernel allows.

    Args:
        folder: real path of the only folder in which files may be written.
        programs: names of programs that may be started.

    Returns:
        The level of confinement that was reached.
    """
    # In another order a layer would refuse a later one: Landlock forbids mounts, and the filter forbids namespaces.
    namespaces = isolate(folder)
    landlock = confine(folder, HARMLESS, executables(programs))
    drop_capabilities()
    return Level.of(landlock=landlock, seccomp=filtered(), namespaces=namespaces)
