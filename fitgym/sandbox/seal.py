"""The seal: an audit hook that code under test cannot disable from Python.

It is used where the sandbox has no namespaces. It refuses changes to permissions, times, owner and attributes of files
outside one folder, and sockets that send to the outside. C code bypasses it.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

__all__ = ["seal"]

# Any code can get this hook from the garbage collector. So it reads no global, no closure and no attribute of our
# objects: everything it needs is in its defaults, a tuple. Replacing the defaults or the code is an audit event, which
# it refuses.
_FILES = {
    "os.chmod": 2,
    "os.chown": 3,
    "os.utime": 3,
    "os.setxattr": 4,
    "os.removexattr": 2,
    "os.chflags": 2,
}
"""Events about a path, with the index of its folder's descriptor.

The indexes 4 and 2 of the attribute events do not exist.
"""


def seal(folder: str) -> None:
    """Refuse these changes in this process and its forks permanently.

    Args:
        folder: real path of the folder whose files may be changed.
    """
    mark = object()
    kinds = (-1, int(socket.SOCK_STREAM))
    own_type = type(seal)

    def refuse(
        event: str,
        args: tuple[Any, ...],
        mark: Any = mark,
        folder: str = folder,
        below: str = folder + os.sep,
        files: tuple[tuple[str, int], ...] = tuple(_FILES.items()),
        kinds: tuple[int, ...] = kinds,
        netlink: int = int(getattr(socket, "AF_NETLINK", -2)),
        flags: int = os.O_PATH | os.O_CLOEXEC,
        open: Any = os.open,
        close: Any = os.close,
        read: Any = os.readlink,
        number: Any = int,
        function: Any = own_type,
        kind: Any = type,
        size: Any = len,
        absent: Any = OSError,
        refusal: Any = PermissionError,
    ) -> None:
        if event == "socket.connect" or (
            event == "socket.__new__" and args[1] != netlink and args[2] & 15 not in kinds and args[2] not in kinds
        ):
            raise refusal(1, event + " is not allowed in the sandbox")
        if event == "object.__setattr__" or event == "object.__delattr__":
            changed = args[0]
            if kind(changed) is function and changed.__defaults__ and changed.__defaults__[0] is mark:
                raise refusal(1, "the sandbox cannot be changed")
            return
        for name, place in files:
            if event == name:
                path, base = args[0], args[place] if place < size(args) else -1
                opened = -1
                try:
                    if kind(path) is not number:
                        opened = path = open(path, flags) if base == -1 else open(path, flags, dir_fd=base)
                    found = read(f"/proc/self/fd/{path}")
                except absent:  # the call itself will raise the error
                    return
                finally:
                    if opened >= 0:
                        close(opened)
                if found != folder and found[: size(below)] != below:
                    raise refusal(1, event + " is not allowed in the sandbox")

    sys.addaudithook(refuse)
