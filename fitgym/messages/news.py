"""News: messages from the zygote to the parent. The import of the subject may forge them, so their shape is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fitgym.messages.protocol import ProtocolError, read_untrusted
from fitgym.subject.subject import Subject

__all__ = ["read_news"]

_SHAPES: Final[Mapping[str, tuple[type, ...]]] = {
    "importing": (str,),
    "writes": (str,),
    "failed": (str, str),
    "ready": (Subject,),
    "child": (int,),
    "refused": (str,),
    "gone": (int, int),
    "warm": (int,),
}
"""Types of the values, by the first word of a message."""

_MOST: Final = 1 << 31
"""Upper bound of process ids and wait statuses."""


def read_news(payload: bytes) -> tuple[Any, ...]:
    """Decode a message of the zygote. Returns its first word and the values.

    Raises:
        ProtocolError: the payload is not a valid message.
    """
    message = read_untrusted(payload)
    if type(message) is not tuple or not message or type(message[0]) is not str:
        raise ProtocolError("not a message")
    if tuple(map(type, message[1:])) != _SHAPES.get(message[0]):
        raise ProtocolError(f"not a message: '{message[0][:40]}' with values of wrong types")
    if any(type(value) is int and not 0 <= value < _MOST for value in message):
        raise ProtocolError(f"not a message: '{message[0]}' with a number that is too large or negative")
    return message
