"""Pattern changes: regular expressions with one difference, as their authors make mistakes.

Reference:
    Arcaini, Gargantini and Riccobene 2017, MutRex: A Mutation-Based Generator of Fault Detecting Strings for Regular
    Expressions, whose fault classes these are. Differs from it: complements and arbitrary other characters are left out,
    because nearly every string tells them from the original. Lazy repetitions, ends before a newline and a dot that
    takes newlines are added, because Python has them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fitgym.subject.code.patterns import parsed

__all__ = ["MOST", "other_patterns"]

MOST = 16
"""The largest number of changes of one pattern."""

_TOKEN = re.compile(
    r"""
    (?P<escape> \\(?: x[0-9a-fA-F]{2} | u[0-9a-fA-F]{4} | U[0-9a-fA-F]{8} | N\{[^}]*\} | [0-7]{3} | . ))
    | (?P<set> \[ \^? \]? (?: \\. | [^\]\\] )* \])
    | (?P<flags> \(\?[aiLmsux]+\))
    | (?P<comment> \(\?\#[^)]*\))
    | (?P<reference> \(\?P=\w+\))
    | (?P<open> \( (?: \?(?: P<\w+> | [:=!>] | <[=!] | [aiLmsux]*-?[imsx]*: | \([^)]*\) ) )?)
    | (?P<close> \))
    | (?P<bar> \|)
    | (?P<anchor> [\^$])
    | (?P<dot> \.)
    | (?P<repeat> (?: [*+?] | \{ (?: \d+ (?: ,\d* )? | ,\d+ ) \} ) [?+]?)
    | (?P<other> .)
    """,
    re.VERBOSE | re.DOTALL,
)
_MEMBER = re.compile(r"(\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|.)|[^\\])(-(?:\\.|[^\]\\]))?", re.DOTALL)
_ESCAPES = {
    r"\.": (".",),
    r"\Z": ("$", ""),
    r"\A": ("",),
    r"\b": ("",),
    r"\w": ("[a-zA-Z0-9_]",),
    r"\s": (" ",),
}
_ANCHORS = {"^": ("",), "$": (r"\Z", "")}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@functools.lru_cache(maxsize=1024)
def other_patterns(pattern: str) -> tuple[str, ...]:
    r"""Return at most `MOST` patterns with one difference that compile and do not mean the same, from left to right.

        repetitions      `a*` by `a+`, `a+` by `a*` and `a`, `a?` by `a`, one more or less of `a{2,3}`, lazy by greedy
        sets             each member left out; capitals added to small letters, or the other way round
        alternatives     each left out
        anchors          left out; `$` by `\Z`, and the other way round; `\b` at an end of the pattern by `^` or `$`
        characters       `\.` by `.`; `.` by one that takes newlines too; `\w` by ASCII letters; `\s` by a space
        groups           a negative look left out
        flags            upper and lower case are told apart or not

    Args:
        pattern: a pattern of texts; its flags stand at its start, as `(?ix)`.

    Returns:
        The changed patterns; none for a pattern that does not compile. Of more than `MOST`, an even selection.
    """
    if parsed(pattern) is None:
        return ()
    known, kept = {_meaning(pattern)}, []
    for other in _changed(pattern):
        meaning = _meaning(other)
        if meaning and meaning not in known:
            known.add(meaning)
            kept.append(other)
    if len(kept) > MOST:
        kept = [kept[index * len(kept) // MOST] for index in range(MOST)]
    return tuple(kept)


def _meaning(pattern: str) -> str:
    """Return a text that is the same for patterns that match the same in the same way, "" if it does not compile."""
    found = parsed(pattern)
    return "" if found is None else f"{found.state.flags} {found}"


def _changed(pattern: str) -> Iterator[str]:
    """Yield the changed patterns, some of which may not compile."""
    tokens = [_Token(str(found.lastgroup), found.group(), found.start()) for found in _TOKEN.finditer(pattern)]
    flags = tokens[0].text if tokens and tokens[0].kind == "flags" else ""
    if "x" in flags:
        tokens = _without_comments(tokens)
    for start, end, other in [
        *_replacements(tokens, "s" in flags, "i" in flags),
        *_alternatives(tokens, len(flags), len(pattern)),
    ]:
        yield pattern[:start] + other + pattern[end:]
    if any(map(_has_case, tokens)):
        ending = "\n)" if "x" in flags else ")"  # the last line may be a comment
        yield f"{flags}(?{'-' * ('i' in flags)}i:{pattern[len(flags) :]}{ending}"


def _has_case(token: _Token) -> bool:
    """Return whether upper or lower case matters for what the token matches."""
    if token.kind == "set":
        return any(character.isalpha() for character in re.sub(r"\\.", "", token.text))
    return token.kind == "other" and token.text.isalpha()


def _without_comments(tokens: Sequence[_Token]) -> list[_Token]:
    """Return the tokens of a verbose pattern without its comments."""
    kept, inside = [], False
    for token in tokens:
        if token.text == "#" and token.kind == "other":
            inside = True
        elif token.text == "\n":
            inside = False
        if not inside:
            kept.append(token)
    return kept


def _replacements(tokens: Sequence[_Token], dot_all: bool, any_case: bool) -> Iterator[tuple[int, int, str]]:
    """Yield changes of single tokens: start and end of the replaced text, and its replacement."""
    for token in tokens:
        others: Sequence[str] = ()
        match token.kind:
            case "escape":
                edges = [("^", token is tokens[0]), ("$", token is tokens[-1])] if token.text == r"\b" else []
                others = (*_ESCAPES.get(token.text, ()), *(anchor for anchor, is_there in edges if is_there))
            case "anchor":
                others = _ANCHORS[token.text]
            case "dot" if not dot_all:
                others = ("(?s:.)",)
            case "set":
                others = tuple(_sets(token.text, any_case))
            case "repeat":
                others = tuple(_repetitions(token.text))
            case "open" if token.text in ("(?!", "(?<!"):
                others = ("(?=|",)  # true everywhere
        for other in others:
            yield token.start, token.end, other


def _repetitions(text: str) -> Iterator[str]:
    """Yield other repetitions."""
    base, manner = (text[:-1], text[-1]) if len(text) > 1 and text[-1] in "?+" else (text, "")
    if manner:
        yield base
    match base:
        case "*":
            yield f"+{manner}"
        case "+":
            yield f"*{manner}"
            yield "{1}"
        case "?":
            yield "{1}"
        case _:
            least, comma, most = base[1:-1].partition(",")
            if not comma:
                yield f"{{{int(least) + 1}}}"
                yield f"{{{int(least) - 1}}}" if int(least) else "*"
                return
            if least and int(least):
                yield f"{{{int(least) - 1},{most}}}{manner}"
            if not most or int(least or 0) < int(most):
                yield f"{{{int(least or 0) + 1},{most}}}{manner}"
            if most:
                yield f"{{{least},{int(most) + 1}}}{manner}"
                if int(most) > int(least or 0):
                    yield f"{{{least},{int(most) - 1}}}{manner}"


def _sets(text: str, any_case: bool) -> Iterator[str]:
    """Yield other sets of characters."""
    head = "[^" if text.startswith("[^") else "["
    inner = text[len(head) : -1]
    members = [found.group() for found in _MEMBER.finditer(inner)]
    if len(members) > 1:
        for index in range(len(members)):
            rest = "".join(members[:index] + members[index + 1 :])
            yield f"{head}{chr(92) * rest.startswith('^')}{rest}]"
    if not any_case:
        for small, capital in (("a-z", "A-Z"), ("A-Z", "a-z"), ("a-f", "A-F"), ("A-F", "a-f")):
            if small in members and capital not in members:
                yield f"{head}{inner}{capital}]" if not inner.endswith("-") else f"{head}{capital}{inner}]"


def _alternatives(tokens: Sequence[_Token], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield changes that remove one alternative: start and end of the removed text, and "" as its replacement."""
    waiting: list[list[tuple[int, int]]] = [[(start, start)]]  # of each open group: its opening and bars
    for token in [*tokens, _Token("close", "", end)]:
        if token.kind == "open":
            waiting.append([(token.start, token.end)])
        elif token.kind == "bar":
            waiting[-1].append((token.start, token.end))
        elif token.kind == "close":
            bars = waiting.pop()
            edges = [*bars, (token.start, token.end)]
            for index in range(len(bars) if len(bars) > 1 else 0):
                # The first alternative goes with the bar behind it, each other one with the bar before it.
                first = index == 0
                yield (edges[0][1], edges[1][1], "") if first else (edges[index][0], edges[index + 1][0], "")
            if not waiting:
                return
