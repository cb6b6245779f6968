"""Namespaces: isolates a process, so that it has no network and can write in only one folder.

In the namespace every file system is mounted read-only. This also protects the permissions, times and owners of files,
which other layers of the sandbox do not cover. The user needs no privileges if the kernel allows user namespaces.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct

from fitgym.sandbox.kernel import libc, syscall

__all__ = ["drop_capabilities", "isolate"]

_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_NET = 0x00020000, 0x08000000, 0x10000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_MOUNT_SETATTR = 442  # the same number on every architecture
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_READ_ONLY, _NO_SUID = 1, 2

_SYS_ADMIN = 21
_KEPT_CAPABILITIES = 0b11111  # of files: chown, dac_override, dac_read_search, fowner, fsetid
_CAPABILITIES_VERSION = 0x20080522


def isolate(folder: str) -> bool:
    """Move this process to its own namespaces: mounts, network and inter-process communication.

    Call it while the process has one thread, and before Landlock, which forbids mounts.

    Args:
        folder: real path of the only folder that stays writable.

    Returns:
        False if the kernel or a container does not allow it.
    """
    # There is no process namespace: when its first process ends, the kernel kills all others in it. Landlock and
    # seccomp protect other processes instead. Root needs no user namespace: in it root could not read the files of
    # other users.
    kinds = _NEW_MOUNTS | _NEW_IPC | _NEW_NET
    privileged = bool(_effective_capabilities() >> _SYS_ADMIN & 1)
    user, group = os.geteuid(), os.getegid()
    if libc().unshare(kinds if privileged else kinds | _NEW_USER) != 0:
        return False
    if not privileged and not _keep_identity(user, group):
        return False
    return _protect(folder)


def drop_capabilities() -> None:
    """Drop all capabilities except those over files, so that root can still read every file."""
    kept = _effective_capabilities() & _KEPT_CAPABILITIES
    header = struct.pack("=Ii", _CAPABILITIES_VERSION, 0)
    libc().capset(header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))


def _effective_capabilities() -> int:
    """Return the effective capabilities of this process as a bit mask."""
    found = ctypes.create_string_buffer(24)
    if libc().capget(struct.pack("=Ii", _CAPABILITIES_VERSION, 0), found) != 0:
        return 0
    low, _, _, high, _, _ = struct.unpack("=6I", found.raw)
    return int(low | high << 32)


def _keep_identity(user: int, group: int) -> bool:
    """Map the user and the group to the same numbers in the new user namespace."""
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError:
        return False
    return True


def _protect(folder: str) -> bool:
    """Make every mount read-only except the folder."""
    path = os.fsencode(folder)
    if (
        libc().mount(None, b"/", None, _RECURSIVE | _PRIVATE, None) != 0
        or libc().mount(path, path, None, _BIND, None) != 0
        or _set_attributes(b"/", _AT_RECURSIVE, _READ_ONLY | _NO_SUID, 0) != 0
        or _set_attributes(path, 0, 0, _READ_ONLY) != 0
    ):
        return False
    with contextlib.suppress(OSError):  # the current folder still refers to the mount below
        os.chdir(os.getcwd())
    return True


def _set_attributes(path: bytes, how: int, added: int, removed: int) -> int:
    attributes = struct.pack("=4Q", added, removed, 0, 0)
    return syscall(_MOUNT_SETATTR, _AT_FDCWD, path, how, attributes, len(attributes))
