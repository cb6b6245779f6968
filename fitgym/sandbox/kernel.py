"""The kernel of Linux as the sandbox calls it: system calls that the standard library does not offer."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

__all__ = ["forbid_new_privileges", "libc", "syscall"]

_PR_SET_NO_NEW_PRIVS = 38


@functools.cache
def libc() -> Any:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *args: object) -> int:
    """Make a system call.

    Args:
        number: of the call, on this architecture.
        args: integers, and objects of `ctypes`.

    Returns:
        What the kernel returns, -1 if it refuses; `ctypes.get_errno` tells why.
    """
    call = libc().syscall
    call.restype = ctypes.c_long
    prepared = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return int(call(ctypes.c_long(number), *prepared))


def forbid_new_privileges() -> None:
    """No program that this process starts gains privileges; unprivileged processes need this before they confine themselves."""
    libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
