"""Stops: the lines at which exceptions left blocks early."""

from __future__ import annotations

from bisect import bisect_right
from builtins import id
from collections.abc import Callable, Sequence
from types import CodeType, TracebackType

from fitgym.instrument.trace import Stop
from fitgym.subject.subject import Site

__all__ = ["COMPREHENSIONS", "Stops"]

COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Code names that run as a part of the function around them.

From Python 3.12 on, only generator expressions have frames.
"""

_MOST_CODES = 10_000

Place = tuple[int, int]  # site and line


class Stops:
    """Counts, for each line of each block, how often an exception left the block there.

    Args:
        sites: all sites of the subject, by id.
        function_of: returns the function of a code object, -1 if it is not instrumented code.
        count: returns the number of visits of a site.
    """

    def __init__(
        self, sites: Sequence[Site], function_of: Callable[[CodeType], int], count: Callable[[int], int]
    ) -> None:
        self._function_of = function_of
        self._count = count
        self._lines = _line_tables(sites)
        self._counts: dict[Place, int] = {}
        self._settled: dict[Place, int] = {}  # start of every test case
        self._settled_stops: tuple[Stop, ...] = ()
        # The last exception: its innermost traceback, block and visits of the block; its frames; ids noted before.
        self._noted: tuple[int, int, int, list[tuple[int, Place]], frozenset[int]] | None = None
        # For each code object the places of its instructions seen so far, None for code without probes. The code object
        # is kept, so that its id is not reused.
        self._places: dict[int, tuple[CodeType, dict[int, Place | None] | None]] = {}

    def begin(self) -> None:
        """Clear the stops recorded since `settle`."""
        if self._noted is not None:
            self._noted = None
            self._counts = dict(self._settled)

    def settle(self) -> None:
        """Keep the stops recorded so far as the start of every test case."""
        self._settled = dict(self._counts)
        self._settled_stops = _ordered(self._counts)
        self._noted = None

    def all(self) -> tuple[Stop, ...]:
        """Return the stops, ordered by block and line."""
        return self._settled_stops if self._noted is None else _ordered(self._counts)

    def note(self, traceback: TracebackType | None) -> None:
        """Record for every frame of the subject on a traceback that its block was left at that line.

        An exception that is caught and raised again is noted several times. Frames that were noted before are skipped.
        The exception is recognised by the id of its innermost traceback, as long as the block there was not entered
        again. (Keeping the exception itself would change when the program's objects are destroyed.)
        """
        frames: list[tuple[int, Place]] = []
        places = self._places
        while traceback is not None:
            code = traceback.tb_frame.f_code
            known = places.get(id(code)) or self._known_places(code)
            met = known[1]
            if met is not None:
                instruction = traceback.tb_lasti
                if instruction not in met:
                    met[instruction] = self._place(code, traceback.tb_lineno)
                place = met[instruction]
                if place is not None:
                    frames.append((id(traceback), place))
            traceback = traceback.tb_next
        if not frames:
            return
        innermost, (block, _) = frames[-1]
        entered = self._count(block)
        old: frozenset[int] = frozenset()
        if self._noted is not None and self._noted[:3] == (innermost, block, entered):
            old = self._noted[4].union([identity for identity, _ in self._noted[3]])
        counts = self._counts
        for identity, place in frames:
            if identity not in old:
                counts[place] = counts.get(place, 0) + 1
        self._noted = (innermost, block, entered, frames, old)

    def _known_places(self, code: CodeType) -> tuple[CodeType, dict[int, Place | None] | None]:
        has_places = code.co_name not in COMPREHENSIONS and self._function_of(code) >= 0
        if len(self._places) >= _MOST_CODES:  # the subject may create code objects while it runs
            self._places.clear()
        known = self._places[id(code)] = (code, {} if has_places else None)
        return known

    def _place(self, code: CodeType, line: int) -> Place | None:
        lines, blocks = self._lines[self._function_of(code)]
        index = bisect_right(lines, line) - 1
        return (blocks[index], lines[index]) if index >= 0 else None


def _ordered(counts: dict[Place, int]) -> tuple[Stop, ...]:
    return tuple([Stop(site, line, count) for (site, line), count in sorted(counts.items())])


def _line_tables(sites: Sequence[Site]) -> dict[int, tuple[list[int], list[int]]]:
    """Return for each function its lines in order, and the block of each line.

    If two blocks share a line (`if x: return`), the block that continues after it is used.
    """
    tables: dict[int, dict[int, int]] = {}
    for site in sites:
        table = tables.setdefault(site.function, {})
        for position, line in enumerate(site.lines):
            if line not in table or position + 1 < len(site.lines):
                table[line] = site.id
    ordered = {function: sorted(table.items()) for function, table in tables.items()}
    return {function: ([line for line, _ in rows], [block for _, block in rows]) for function, rows in ordered.items()}
