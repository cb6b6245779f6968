"""Messages: what of an exception's message a test can expect the next time."""

from __future__ import annotations

import re

__all__ = ["MESSAGE", "pattern"]

MESSAGE = -1
"""Stands among the indexes of assertions for the message that an exception was expected to have."""

MAX_PATTERN = 60
CUT_PATTERN = 40  # what is left of a longer message: with most classes it fits on a line
_ADDRESS = re.compile(r"<[^<>]*\b0x[0-9a-fA-F]{4,}[^<>]*>|\b0x[0-9a-fA-F]{8,}")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")


def pattern(message: str) -> str:
    """A regular expression that is found in the message, "" if nothing of it is worth expecting.

    The first line, one of more than 60 characters cut at a word before 40, with what stands for an address left open.
    """
    line = message.split("\n", 1)[0].strip()
    pieces = _ADDRESS.split(line)
    if len(line) > MAX_PATTERN:
        room, kept = CUT_PATTERN, []
        for piece in pieces:
            kept.append(piece if len(piece) <= room else piece[: room + 1].rpartition(" ")[0])
            room -= len(piece)
            if room <= 0:
                break
        pieces = kept
    return ".*".join(_SPECIAL.sub(lambda found: f"\\{found[0]}", piece) for piece in pieces).removesuffix(".*").strip()
