"""Linux system calls that the sandbox needs and the standard library does not offer."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

__all__ = ["forbid_new_privileges", "libc", "syscall"]

_PR_SET_NO_NEW_PRIVS = 38


@functools.cache
def libc() -> Any:
    """Return the C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *args: object) -> int:
    """Make a system call.

    Args:
        number: number of the system call on this architecture.
        args: integers and `ctypes` objects.

    Returns:
        The result of the kernel, -1 for an error; `ctypes.get_errno` has the reason.
    """
    call = libc().syscall
    call.restype = ctypes.c_long
    prepared = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return int(call(ctypes.c_long(number), *prepared))


def forbid_new_privileges() -> None:
    """Forbid programs started by this process to gain privileges.

    Unprivileged processes must do this before they confine themselves.
    """
    libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
