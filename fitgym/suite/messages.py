"""Messages: the part of an exception's message that a test can expect in the next run, and why tests are left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["MESSAGE", "NOT_ENDED", "pattern"]

MESSAGE = -1
"""The index that stands for the exception's message among the indexes of assertions."""

NOT_ENDED = "did not end in time"
"""Why a test is left out that was interrupted."""

MAX_PATTERN = 60
CUT_PATTERN = 40  # length of a shortened message; with most exception classes it fits on one line
FEW_WORDS = 3  # a beginning of fewer words says little, such as `<class` before a long name
_ADDRESS = re.compile(r"<[^<>]*\b0x[0-9a-fA-F]{4,}[^<>]*>|\b0x[0-9a-fA-F]{8,}")
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]()|]")


def pattern(message: str) -> str:
    """Return a regular expression that matches the message, "" if no part of it is worth checking.

    It is the first line of the message, with `.*` for each address. A line of more than 60 characters is cut at a word
    boundary before 40 characters. If only one or two words are left, the 40 characters with the most words are taken.
    """
    line = message.split("\n", 1)[0].strip()
    pieces = _ADDRESS.split(line)
    if len(line) > MAX_PATTERN:
        start = _beginning(pieces)
        inside = max((run for piece in pieces for run in _runs(piece)), key=_words, default="")
        pieces = [inside] if _words(" ".join(start)) < min(FEW_WORDS, _words(inside)) else start
    return ".*".join(_SPECIAL.sub(lambda found: f"\\{found[0]}", piece) for piece in pieces).removesuffix(".*").strip()


def _beginning(pieces: Sequence[str]) -> list[str]:
    room, kept = CUT_PATTERN, []
    for piece in pieces:
        kept.append(piece if len(piece) <= room else piece[: room + 1].rpartition(" ")[0])
        room -= len(piece)
        if room <= 0:
            break
    return kept


def _runs(text: str) -> Iterator[str]:
    """Yield, from each word on, the longest run of whole words that has at most 40 characters."""
    spans = [found.span() for found in re.finditer(r"\S+", text)]
    for at, (start, _) in enumerate(spans):
        ends = [end for _, end in spans[at:] if end - start <= CUT_PATTERN]
        if ends:
            yield text[start : ends[-1]]


def _words(text: str) -> int:
    return len(text.split())
