"""Messages: the part of an exception's message that a test can expect in the next run, and why tests are left out."""

from __future__ import annotations

import re

__all__ = ["MESSAGE", "NOT_ENDED", "pattern"]

MESSAGE = -1
"""The index that stands for the exception's message among the indexes of assertions."""

NOT_ENDED = "did not end in time"
"""Why a test is left out that was interrupted."""

MAX_PATTERN = 60
CUT_PATTERN = 40  # length of a shortened message; with most exception classes it fits on one line
_ADDRESS = re.compile(r"<[^<>]*\b0x[0-9a-fA-F]{4,}[^<>]*>|\b0x[0-9a-fA-F]{8,}")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")


def pattern(message: str) -> str:
    """Return a regular expression that matches the message, "" if no part of it is worth checking.

    It is the first line of the message, with `.*` for each address. A line of more than 60 characters is cut at a word
    boundary before 40 characters.
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
