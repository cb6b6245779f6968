"""Seccomp: the kernel refuses system calls of a process and its descendants, regardless of how they are made.

A filter sees the numeric arguments of a call but no memory. It can check a process id, but not a path or an address.
"""

from __future__ import annotations

import ctypes
import platform
import struct
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fitgym.sandbox.kernel import forbid_new_privileges, syscall

__all__ = ["Condition", "Rule", "filtered", "program", "supported"]

# pyseccomp, like the binding of libseccomp itself, needs the system library libseccomp. Code in the process of the
# subject may import only the standard library. The part needed here is 40 lines.


class Condition(NamedTuple):
    """A test whether an argument of a call, or some of its bits, equals one of several numbers.

    Attributes:
        argument: index of the argument; by default its lower 32 bits are tested.
        values: the numbers.
        mask: bits that are compared.
        upper: test the upper 32 bits instead of the lower ones.
        other: the argument must equal none of the numbers.
    """

    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    upper: bool = False
    other: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """The treatment of one system call.

    Attributes:
        allowed: the call is allowed if all tests of at least one group hold. Without groups it is never allowed.
        errno: error number of refused calls.
    """

    allowed: tuple[tuple[Condition, ...], ...] = ()
    errno: int = 1  # EPERM


class _Machine(NamedTuple):
    """A processor architecture: its number in the kernel, the number of `seccomp`, and its column in `_CALLS`."""

    audit: int
    seccomp: int
    column: int


_MACHINES: Mapping[str, _Machine] = {
    "x86_64": _Machine(0xC000003E, 317, 0),
    "aarch64": _Machine(0xC00000B7, 277, 1),
}

_REFUSED = Rule()
_ABSENT = Rule(errno=38)  # ENOSYS: the C library falls back to an older call
_OWN = Rule(((Condition(0, (0,)),),))  # the first argument is a process id: 0 is the caller itself

_STREAM, _SEQUENCE = 1, 5
_KIND = 0xF  # bits of the socket type that are not flags
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_FAST_OPEN = 0x20000000  # sending with this flag connects
_NEW_NAMESPACES = 0x7E020000
_TYPE_INTO_TERMINAL, _TERMINAL_CONTROL = 0x5412, 0x541C
_SET_FLAGS, _SET_ATTRIBUTES = 0x40086602, 0x401C5820  # of a file that is opened for reading
_SCHED_CORE = 62

# A rule for each call by name, with its numbers on x86_64 and on aarch64 (-1 if it does not exist there).
_CALLS: Mapping[str, tuple[int, int, Rule]] = {
    # Other processes
    "ptrace": (101, 117, _REFUSED),
    "process_vm_readv": (310, 270, _REFUSED),
    "process_vm_writev": (311, 271, _REFUSED),
    "process_madvise": (440, 440, _REFUSED),
    "process_mrelease": (448, 448, _REFUSED),
    "pidfd_getfd": (438, 438, _REFUSED),
    "kcmp": (312, 272, _REFUSED),
    "sched_setaffinity": (203, 122, _OWN),
    "sched_setscheduler": (144, 119, _OWN),
    "sched_setparam": (142, 118, _OWN),
    "sched_setattr": (314, 274, _OWN),
    "migrate_pages": (256, 238, _OWN),
    "move_pages": (279, 239, _OWN),
    "setpriority": (141, 140, Rule(((Condition(0, (0,)), Condition(1, (0,))),))),  # of a process, of the caller
    "ioprio_set": (251, 30, Rule(((Condition(0, (1,)), Condition(1, (0,))),))),
    "prlimit64": (
        302,
        261,
        Rule(((Condition(0, (0,)),), (Condition(2, (0,)), Condition(2, (0,), upper=True)))),
    ),  # reading is fine
    "prctl": (157, 167, Rule(((Condition(0, (_SCHED_CORE,), other=True),),))),
    # Sockets: event loops need only a socket pair
    "socket": (
        *(41, 198),
        Rule(
            (
                (Condition(0, (_UNIX, _INET, _INET6)), Condition(1, (_STREAM,), _KIND)),
                (Condition(0, (_NETLINK,)), Condition(2, (0,))),  # routes and addresses of this machine
            )
        ),
    ),
    # A datagram pair could send to any socket by its path
    "socketpair": (53, 199, Rule(((Condition(1, (_STREAM, _SEQUENCE), _KIND),),))),
    "connect": (42, 203, _REFUSED),
    "listen": (50, 201, _REFUSED),
    "sendto": (44, 206, Rule(((Condition(3, (0,), _FAST_OPEN),),))),
    "sendmsg": (46, 211, Rule(((Condition(2, (0,), _FAST_OPEN),),))),
    "sendmmsg": (307, 269, Rule(((Condition(3, (0,), _FAST_OPEN),),))),
    # Memory that no limit counts and that outlives the process
    "memfd_create": (319, 279, _REFUSED),
    "memfd_secret": (447, 447, _REFUSED),
    "shmget": (29, 194, _REFUSED),
    "semget": (64, 190, _REFUSED),
    "msgget": (68, 186, _REFUSED),
    "mq_open": (240, 180, _REFUSED),
    # Ways to bypass the other layers
    "ioctl": (
        16,
        29,
        Rule(((Condition(1, (_TYPE_INTO_TERMINAL, _TERMINAL_CONTROL, _SET_FLAGS, _SET_ATTRIBUTES), other=True),),)),
    ),
    "io_uring_setup": (425, 425, _REFUSED),
    "io_uring_enter": (426, 426, _REFUSED),
    "io_uring_register": (427, 427, _REFUSED),
    "open_by_handle_at": (304, 265, _REFUSED),
    "userfaultfd": (323, 282, _REFUSED),
    "personality": (135, 92, Rule(((Condition(0, (0xFFFFFFFF,)),),))),  # reading it
    "clone": (56, 220, Rule(((Condition(0, (0,), _NEW_NAMESPACES),),))),
    "clone3": (435, 435, _ABSENT),  # its flags are in memory, which a filter cannot read
    "unshare": (272, 97, _REFUSED),
    "setns": (308, 268, _REFUSED),
    "chroot": (161, 51, _REFUSED),
    "pivot_root": (155, 41, _REFUSED),
    "mount": (165, 40, _REFUSED),
    "umount2": (166, 39, _REFUSED),
    "fsopen": (430, 430, _REFUSED),
    "fsconfig": (431, 431, _REFUSED),
    "fsmount": (432, 432, _REFUSED),
    "fspick": (433, 433, _REFUSED),
    "open_tree": (428, 428, _REFUSED),
    "open_tree_attr": (467, 467, _REFUSED),
    "move_mount": (429, 429, _REFUSED),
    "mount_setattr": (442, 442, _REFUSED),
    # The machine
    "bpf": (321, 280, _REFUSED),
    "perf_event_open": (298, 241, _REFUSED),
    "keyctl": (250, 219, _REFUSED),
    "add_key": (248, 217, _REFUSED),
    "request_key": (249, 218, _REFUSED),
    "reboot": (169, 142, _REFUSED),
    "swapon": (167, 224, _REFUSED),
    "swapoff": (168, 225, _REFUSED),
    "init_module": (175, 105, _REFUSED),
    "finit_module": (313, 273, _REFUSED),
    "delete_module": (176, 106, _REFUSED),
    "kexec_load": (246, 104, _REFUSED),
    "kexec_file_load": (320, 294, _REFUSED),
    "acct": (163, 89, _REFUSED),
    "quotactl": (179, 60, _REFUSED),
    "quotactl_fd": (443, 443, _REFUSED),
    "settimeofday": (164, 170, _REFUSED),
    "clock_settime": (227, 112, _REFUSED),
    "adjtimex": (159, 171, _REFUSED),
    "clock_adjtime": (305, 266, _REFUSED),
    "sethostname": (170, 161, _REFUSED),
    "setdomainname": (171, 162, _REFUSED),
    "syslog": (103, 116, _REFUSED),
    "vhangup": (153, 58, _REFUSED),
    "iopl": (172, -1, _REFUSED),
    "ioperm": (173, -1, _REFUSED),
    "fanotify_init": (300, 262, _REFUSED),
}
"""All other calls are allowed."""

_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _AND, _EQUAL, _AT_LEAST, _JUMP, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x05, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in the data that a filter reads
_OTHER_NUMBERS = 0x40000000  # the same calls by their numbers in the x32 interface of x86_64
_SET_FILTER, _ALL_THREADS, _NO_SLOWDOWN = 1, 1, 4

_Instruction = tuple[int, int, int, int]
"""Code, lines to skip if true, lines to skip if false, operand."""


def supported() -> bool:
    """Return True if there is a filter for this machine."""
    return sys.platform == "linux" and platform.machine() in _MACHINES and ctypes.sizeof(ctypes.c_void_p) == 8


def filtered() -> bool:
    """Install the filter for this process and its descendants. Returns False if that is impossible."""
    if not supported():
        return False
    machine = _MACHINES[platform.machine()]
    rules = {(numbers[:2])[machine.column]: numbers[2] for numbers in _CALLS.values()}
    code = program(machine.audit, {number: rule for number, rule in rules.items() if number >= 0})
    buffer = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    forbid_new_privileges()
    return syscall(machine.seccomp, _SET_FILTER, _ALL_THREADS | _NO_SLOWDOWN, described) == 0


def program(audit: int, rules: Mapping[int, Rule]) -> bytes:
    """Return the filter in the kernel's format.

    Args:
        audit: number of the architecture. A call with the numbers of another architecture kills the process.
        rules: rules by the number of the call.
    """
    code: list[_Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL)]
    code += [(_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _OTHER_NUMBERS), (_RETURN, 0, 0, _ERRNO | _REFUSED.errno)]
    for number, rule in sorted(rules.items()):
        body = list(_rule(rule))
        code += [(_EQUAL, 0, len(body), number), *body]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in code)


def _rule(rule: Rule) -> Iterable[_Instruction]:
    """Yield the instructions of a rule.

    Each group of tests ends with a return; a failed test jumps to the next group.
    """
    for tests in rule.allowed:
        group: list[_Instruction] = [(_RETURN, 0, 0, _ALLOW)]
        for test in reversed(tests):
            group = [*_condition(test), (_JUMP, 0, 0, len(group)), *group]
        yield from group
    yield (_RETURN, 0, 0, _ERRNO | rule.errno)


def _condition(test: Condition) -> Iterable[_Instruction]:
    """Yield the instructions of a test. They skip the next instruction if the test holds."""
    yield (_LOAD, 0, 0, _ARGUMENTS + 8 * test.argument + (4 if test.upper else 0))
    if test.mask != 0xFFFFFFFF:
        yield (_AND, 0, 0, test.mask)
    last = len(test.values) - 1
    for index, value in enumerate(test.values):
        if test.other:
            yield (_EQUAL, last - index, int(index == last), value)
        else:
            yield (_EQUAL, last - index + 1, 0, value)
