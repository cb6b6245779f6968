"""Locks: the conditions between the entry of a part and its treasure.

A lock is a function of a random generator and the knobs. It returns the lines of a guard, level by level. Only search
shows whether a lock can be opened, but its appearance gives a hint. Most dead locks have one statement more than most
others; some of each kind look like the other kind.

| kind | guard | how it opens |
|---|---|---|
| slope | bands around the solution of a x - b y = c | the branch distance, which decreases all the way |
| plateau | the same, rounded up to steps | the branch distance where it changes, luck in between |
| dead | the same, shifted away from all numbers | never, below some level |
| text | a word, one character after the other | the distance between characters |
| state | a dial that moves a little with each call | a sequence of calls on one object |
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["LOCKS", "Lock"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_COEFFICIENTS = (2, 3, 5, 7, 11, 13)


@dataclass(frozen=True, slots=True)
class Lock:
    """The guard of one part.

    Attributes:
        kind: name of the lock.
        before: lines before the first condition.
        conditions: one for each level, the outer one first.
        alive: the number of levels that can be passed; all of them unless the lock is dead.
        word: the first parameter is a string instead of an integer.
        dial: for a class, the condition that moves its dial; "" for a function.
    """

    kind: str
    before: tuple[str, ...]
    conditions: tuple[str, ...]
    alive: int
    word: bool = False
    dial: str = ""


def _slope(chance: random.Random, depth: int, scale: int, telling: bool) -> Lock:
    bands = _widths(depth, scale)
    if telling:
        return Lock("slope", (f"gap = {_gap(chance, scale)}",), _bands(bands), depth)
    # Like a dead lock it has a second statement; the shifted bands undo it.
    shift = 2 * chance.choice(bands)
    return Lock("slope", (f"gap = {_gap(chance, scale)}", f"gap += {shift}"), _bands(bands, shift), depth)


def _plateau(chance: random.Random, depth: int, scale: int, telling: bool) -> Lock:
    bands = _widths(depth, scale)
    # Within a step the branch distance is constant.
    step = max(4, bands[-1])
    lines = (f"gap = -(-{_gap(chance, scale)} // {step}) * {step // 4}",)
    # The second statement has no effect; it only makes the lock look like a dead one.
    return Lock("plateau", lines if telling else (*lines, "gap += 0"), _bands(bands), depth)


def _dead(chance: random.Random, depth: int, scale: int, telling: bool) -> Lock:
    bands = _widths(depth, scale)
    alive = chance.randrange(1, depth)
    # The gap is now at least `shift`, so that no number passes the bands below it.
    shift = 2 * bands[alive]
    gap = _gap(chance, scale)
    lines = (f"gap = {gap}", f"gap += {shift}") if telling else (f"gap = {gap} + {shift}",)
    return Lock("dead", lines, _bands(bands), sum(width > shift for width in bands))


def _text(chance: random.Random, depth: int, scale: int, telling: bool) -> Lock:
    word = "".join(chance.choice(_LETTERS) for _ in range(depth))
    conditions = tuple(f"x[{i}:{i + 1}] == {letter!r}" for i, letter in enumerate(word))
    return Lock("text", (), conditions, depth, word=True)


def _state(chance: random.Random, depth: int, scale: int, telling: bool) -> Lock:
    low, window = chance.randrange(scale // 8), max(8, scale // 8)
    dial = f"if {low} <= x - y < {low + window}:"
    return Lock(
        "state", (), tuple(f"self.dial > {level}" for level in range(1, min(depth, 4) + 1)), min(depth, 4), dial=dial
    )


def _gap(chance: random.Random, scale: int) -> str:
    a, b = chance.sample(_COEFFICIENTS, 2)
    sign = chance.choice("+-")
    return f"abs({a} * x - {b} * y {sign} {chance.randrange(scale // 4, scale)})"


def _widths(depth: int, scale: int) -> list[int]:
    return [max(2, round(scale / 2 / 3**level)) for level in range(depth)]


def _bands(widths: Sequence[int], shift: int = 0) -> tuple[str, ...]:
    return tuple(f"gap < {width + shift}" for width in widths)


LOCKS: Final[Mapping[str, Callable[[random.Random, int, int, bool], Lock]]] = MappingProxyType(
    {"slope": _slope, "plateau": _plateau, "dead": _dead, "text": _text, "state": _state}
)
"""Every kind of lock by name: a function of a generator, the depth, the scale, and whether it looks like its kind."""
