"""Opcodes: checks that reading a pickle from a worker takes bounded time and memory, without reading it.

A few bytes can make the unpickler use more memory than the machine has: an index of its memo, a tree of shared tuples,
a million empty sets. Hashing a deeply nested tuple overflows the stack. `check` follows the opcodes with a stack of
sizes and depths instead of objects.
"""

from __future__ import annotations

from typing import Final

__all__ = ["MOST_COPIES", "MOST_DEPTH", "MOST_OBJECTS", "check"]

MOST_OBJECTS: Final = 2_000_000
"""Objects in a message. The description of `_pydecimal` (6,300 lines) has 82,000, that of 12,000 lines 530,000."""

MOST_COPIES: Final = 16_000_000
"""Objects visited again through references, counted once per reference: the extra cost of walking the message."""

MOST_DEPTH: Final = 500
"""Nesting of containers. The deepest valid message found, the description of `inspect`, has 50."""

_ATOM, _TEXT, _MEMO, _TUPLE, _MARK, _MARKED, _EMPTY, _GET, _PUT, _PUTS, _CALL, _NAME, _SKIP, _STOP, _SHORT = range(
    1, 16
)

_KINDS: Final = bytes(
    {
        **dict.fromkeys(b"N\x88\x89KMJG)", _ATOM),
        **dict.fromkeys(b"\x8cC\x8a", _SHORT),  # its length is one byte
        **dict.fromkeys(b"XB", _TEXT),
        **dict.fromkeys(b"\x85\x86\x87", _TUPLE),
        **dict.fromkeys(b"t\x91", _MARKED),  # a tuple or a frozenset of the items since the mark
        **dict.fromkeys(b"]}\x8f", _EMPTY),
        **dict.fromkeys(b"hj", _GET),
        **dict.fromkeys(b"asb", _PUT),  # an item, a key with its value, a state
        **dict.fromkeys(b"eu\x90", _PUTS),
        **dict.fromkeys(b"R\x81", _CALL),
        **dict.fromkeys(b"\x80\x95", _SKIP),
        ord("\x94"): _MEMO,
        ord("("): _MARK,
        ord("\x93"): _NAME,
        ord("."): _STOP,
    }.get(code, 0)
    for code in range(256)
)
"""The kind of each opcode; 0 is not allowed."""

_WIDTHS: Final = bytes(
    {ord("K"): 1, ord("M"): 2, ord("J"): 4, ord("G"): 8, 0x80: 1, 0x95: 8}.get(code, 0) for code in range(256)
)
"""Argument sizes in bytes of atoms and of skipped opcodes."""

_PREFIX: Final = 4
"""Size in bytes of the length field of a text that is not short."""

_SET: Final = 0x8F
_SET_WEIGHT: Final = 3  # an empty set takes as much memory as three other objects


def check(payload: bytes) -> None:
    """Reject a pickle that is expensive to read, to hash or to walk through.

    The check is exact up to the first opcode that the unpickler would reject.

    Args:
        payload: as `pickle.dumps` writes built-in values and dataclasses with protocol 5.

    Raises:
        ValueError, IndexError: the pickle has too many objects or references, is nested too deeply, contains itself, is
            cut off, or has an opcode that no valid message has.
    """
    atom = [1, 0, 1]  # number of objects, nesting depth, whether it was fetched from the memo
    stack: list[list[int]] = []
    memo: list[list[int]] = []
    marks: list[int] = []
    total = copies = at = 0
    kinds, widths, push = _KINDS, _WIDTHS, stack.append
    while total <= MOST_OBJECTS:
        code = payload[at]
        kind = kinds[code]
        at += 1
        if kind == _ATOM:
            at += widths[code]
            total += 1
            push(atom)
        elif kind == _MEMO:
            memo.append(stack[-1])
        elif kind == _SHORT:
            at += 1 + payload[at]
            total += 1
            push(atom)
        elif kind == _TEXT:
            at += _PREFIX + int.from_bytes(payload[at : at + _PREFIX], "little")
            total += 1
            push(atom)
        elif kind == _TUPLE:
            total += 1
            start = 0x84 - code
            stack[start:] = [_around(stack[start:])]
        elif kind == _GET:
            width = 1 if code == ord("h") else 4
            found = memo[int.from_bytes(payload[at : at + width], "little")]
            at += width
            found[2] = 1
            copies += found[0]
            if copies > MOST_COPIES:
                raise ValueError(f"it refers to more than {MOST_COPIES} earlier objects")
            stack.append(found)
        elif kind == _MARK:
            marks.append(len(stack))
        elif kind == _MARKED:
            total += 1
            mark = marks.pop()
            stack[mark:] = [_around(stack[mark:])]
        elif kind == _PUTS:
            mark = marks.pop()
            _put(stack[mark - 1], stack[mark:])
            del stack[mark:]
        elif kind == _PUT:
            number = 2 if code == ord("s") else 1
            _put(stack[-number - 1], stack[-number:])
            del stack[-number:]
        elif kind == _EMPTY:
            total += _SET_WEIGHT if code == _SET else 1
            stack.append([1, 1, 0])
        elif kind == _CALL:
            total += 1
            stack[-2:] = [_around(stack[-1:])]
        elif kind == _NAME:
            stack[-2:] = [atom]
        elif kind == _SKIP:
            at += widths[code]
        elif kind == _STOP:
            if at != len(payload):
                raise ValueError(f"{len(payload) - at} bytes follow the message")
            return
        else:
            raise ValueError(f"opcode {code:#04x} is not allowed")
    raise ValueError(f"it has more than {MOST_OBJECTS} objects")


def _around(items: list[list[int]]) -> list[int]:
    """Return the size and depth of a container of these items."""
    size, depth = 1, 0
    for inside, deep, _ in items:
        size += inside
        if deep > depth:
            depth = deep
    if depth >= MOST_DEPTH:
        raise ValueError(f"it is nested more than {MOST_DEPTH} times")
    return [size, depth + 1, 0]


def _put(container: list[int], items: list[list[int]]) -> None:
    """Add items to a container.

    Rejects a container that was fetched from the memo before, because it may contain itself.
    """
    if container[2]:
        raise ValueError("a container is changed after it was referenced")
    size, depth, _ = _around(items)
    container[0] += size
    container[1] = max(container[1], depth)
