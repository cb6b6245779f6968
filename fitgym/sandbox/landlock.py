"""Landlock: kernel rules that restrict files, TCP and signals of a process and its descendants."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Sequence

from fitgym.sandbox.kernel import forbid_new_privileges, syscall

__all__ = ["confine", "isolate_signals", "landlock_version", "signal_rules"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
_RULE_PATH_BENEATH = 1

_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_TRUNCATE = 1 << 14
_CHANGING = (
    _WRITE_FILE | sum(1 << bit for bit in range(4, 13))  # remove a folder or file; create a node of one of seven kinds
)
_REFER = 1 << 13
_TCP = 0b11  # bind, connect
_SCOPES = 0b11  # abstract sockets, signals


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"  # the layout that `_pack_` implies; Python 3.14 requires it explicitly
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


@functools.cache
def landlock_version() -> int:
    """Return the version of the kernel's Landlock interface, 0 if there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    version = syscall(_CREATE_RULESET, None, 0, 1)
    return max(version, 0)


def confine(folder: str, harmless: Sequence[str], executable: Sequence[str] = ()) -> bool:
    """Confine this process as far as the kernel can: writes in one folder, no new programs and no connections.

    Args:
        folder: the only folder in which files may be written.
        harmless: devices that may be written to as well.
        executable: files that may be executed.

    Returns:
        False if the kernel has no Landlock.
    """
    version = landlock_version()
    if version == 0:
        return False
    rights = _EXECUTE | _CHANGING
    if version >= 2:
        rights |= _REFER
    if version >= 3:
        rights |= _TRUNCATE
    inside = rights & ~_EXECUTE
    rules = [(folder, inside)]
    rules += [(device, _WRITE_FILE | (_TRUNCATE if version >= 3 else 0)) for device in harmless]
    rules += [(path, _EXECUTE) for path in executable]
    return _apply(version, _Ruleset(rights, _TCP if version >= 4 else 0, _SCOPES if version >= 6 else 0), rules)


def signal_rules() -> int:
    """Return a descriptor of the rules for `isolate_signals` in this process or its forks, -1 if unsupported."""
    version = landlock_version()
    if version < 6:
        return -1
    forbid_new_privileges()
    return _ruleset(version, _Ruleset(0, 0, _SCOPES))


def isolate_signals(rules: int | None = None) -> bool:
    """Prevent this process from sending signals to non-descendants. Returns False if the kernel cannot do it.

    Args:
        rules: the descriptor that `signal_rules` returned in the parent of this fork; it is closed here.
    """
    found = signal_rules() if rules is None else rules
    return found >= 0 and _confine(found)


def _apply(version: int, ruleset: _Ruleset, rules: list[tuple[str, int]]) -> bool:
    descriptor = _ruleset(version, ruleset)
    if descriptor < 0:
        return False
    for path, allowed in rules:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rule = _PathBeneath(allowed, place)
            syscall(_ADD_RULE, descriptor, _RULE_PATH_BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(place)
    forbid_new_privileges()
    return _confine(descriptor)


def _ruleset(version: int, ruleset: _Ruleset) -> int:
    size = 8 if version < 4 else 16 if version < 6 else 24
    return syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)


def _confine(rules: int) -> bool:
    try:
        return syscall(_RESTRICT_SELF, rules, 0) == 0
    finally:
        os.close(rules)
