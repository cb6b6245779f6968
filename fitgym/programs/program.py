"""A generated program: its source, and which of its branches can be covered."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from fitgym.programs.knobs import Knobs
from fitgym.programs.locks import LOCKS, Lock

__all__ = ["Place", "Program", "generate"]

_INDENT = "    "
_ERRORS = ("KeyError", "IndexError", "ValueError", "LookupError", "ArithmeticError", "RuntimeError", "TypeError")


@dataclass(frozen=True, slots=True)
class Place:
    """One part of a program.

    Attributes:
        name: of its function or class.
        lock: kind of its lock, "" without one.
        depth: levels of the lock.
        treasure: decisions behind it.
    """

    name: str
    lock: str
    depth: int
    treasure: int


@dataclass(frozen=True, slots=True)
class Program:
    """A module of some functions and classes.

    Attributes:
        number: of the task.
        source: text of the module, the same for equal numbers and knobs.
        places: its parts, in source order. An agent does not see them.
        dead: impossible outcomes of decisions, as (line, outcome); the outcome None means both.
    """

    number: int
    source: str
    places: tuple[Place, ...]
    dead: frozenset[tuple[int, bool | None]]

    def possible(self, line: int, outcome: bool) -> bool:
        """Return whether a branch can be covered."""
        return (line, outcome) not in self.dead and (line, None) not in self.dead


@dataclass(slots=True)
class _Text:
    """Lines that are written in sequence."""

    lines: list[str] = field(default_factory=list)
    dead: set[tuple[int, bool | None]] = field(default_factory=set)

    def add(self, depth: int, line: str) -> int:
        """Write a line; return its number, from 1."""
        self.lines.append(_INDENT * depth + line if line else "")
        return len(self.lines)


def generate(number: int, knobs: Knobs) -> Program:
    """Return the program of a task.

    Args:
        number: of the task, at least 0.
        knobs: the distribution.
    """
    chance = random.Random(f"fitgym program {number}")
    text = _Text()
    text.add(0, f'"""Program {number}."""')
    kinds, weights = zip(*sorted(knobs.locks.items()), strict=True)
    places = []
    for part in range(chance.randint(*knobs.parts)):
        depth, treasure = chance.randint(*knobs.depth), chance.randint(*knobs.treasure)
        kind = chance.choices(kinds, weights)[0]
        lock = LOCKS[kind](chance, depth, knobs.scale, chance.random() < knobs.telling)
        if chance.random() < knobs.open_rate:
            lock = Lock("", (), (), 0)
        name = f"Part{part}" if lock.dial else f"part_{part}"
        decoys = chance.randint(*(knobs.decoys if lock.kind == "dead" else (0, knobs.decoys[0])))
        _write(
            text, chance, name, lock, treasure, decoys, chance.choice(_ERRORS) if chance.random() < knobs.raises else ""
        )
        places.append(Place(name, lock.kind, len(lock.conditions), treasure))
    return Program(number, "\n".join(text.lines) + "\n", tuple(places), frozenset(text.dead))


def _write(text: _Text, chance: random.Random, name: str, lock: Lock, treasure: int, decoys: int, error: str) -> None:
    """Write one part: a lock, then decisions about another number, and for some parts an exception."""
    for _ in range(2):
        text.add(0, "")
    base = 1
    if lock.dial:
        text.add(0, f"class {name}:")
        text.add(1, "def __init__(self) -> None:")
        text.add(2, "self.dial = 0")
        text.add(0, "")
        text.add(1, "def turn(self, x: int, y: int) -> int:")
        text.add(2, lock.dial)
        text.add(3, "self.dial += 1")
        text.add(2, "return self.dial")
        text.add(0, "")
        text.add(1, "def open(self, z: int) -> int:")
        base = 2
    else:
        text.add(0, f"def {name}(x: {'str' if lock.word else 'int'}, y: int, z: int) -> int:")
    for line in lock.before:
        text.add(base, line)
    for number in range(decoys):
        # The left side is at least `number + 1`, the right side at most `number`.
        text.dead.add((text.add(base, f"if z * z + {number + 1} < {chance.randrange(number + 1)}:"), True))
        text.add(base + 1, f"return -{number + 2}")
    for level, condition in enumerate(lock.conditions):
        at = text.add(base + level, f"if {condition}:")
        if level == lock.alive:
            text.dead.add((at, True))
        elif level > lock.alive:
            text.dead.add((at, None))
    inside = base + len(lock.conditions)

    def decision(line: int) -> None:
        if lock.alive < len(lock.conditions):
            text.dead.add((line, None))

    text.add(inside, "found = 0")
    for n in range(treasure):
        decision(text.add(inside, f"if (z + {n}) % {n + 2} == 0:"))
        text.add(inside + 1, f"found += {n + 1}")
    if error:
        # `found` is a sum over the decisions above, so at least two of them must be true.
        decision(text.add(inside, f"if found > {treasure}:"))
        text.add(inside + 1, f"raise {error}(z)")
    text.add(inside, "return found")
    if lock.conditions:
        text.add(base, "return -1")
