"""Weak mutation coverage: every mutant infected, that is, every changed expression evaluated to another value."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fitgym.fitness._approach import Approach
from fitgym.fitness._outcomes import outcome_slots
from fitgym.fitness._ranges import ranges
from fitgym.fitness._recorded import Reached, reached, recorded_counts, recorded_distances
from fitgym.fitness._stopped import stopped
from fitgym.fitness.base import Entries, Fitness, Floats, Index, Mask, Target, nu
from fitgym.instrument.relations import TRUE_SLOTS
from fitgym.instrument.trace import Trace
from fitgym.mutants.mutant import Mutant
from fitgym.mutants.operators import family
from fitgym.subject.subject import Site, Subject

__all__ = ["WeakMutation"]

_UNARY = 3  # the first bits of a value; the bits after them belong to other variables
_EQUAL = 0.5  # nu(1), the distance where the operands give the mutant the same value


class _Part(NamedTuple):
    """How one site contributes to the measurement of one mutant.

    Attributes:
        column: the column of the mutant.
        slot: which of the site's distances is the distance to infection, -1 for none.
        mask: the bits of the site that mean infection.
    """

    column: int
    slot: int
    mask: int


class WeakMutation(Fitness):
    """Measures how close traces came to infecting every mutant.

    The distance of a trace t to the mutant m is

        f(t, m) = nu(d(t, m))       if t reached the changed expression
                = 1 + A(t, m)       if it did not

    d is the least infection distance over the visits. It is 0 exactly if the mutant would have given another value at
    one of them. A is the approach level plus the normalised branch distance where t took another way
    (`fitgym.fitness._approach`). The value of a suite T is, divided by the number of mutants,

        f_WM(T) = sum over mutants m of d(T, m),  d(T, m) = nu(d_min(T, m)) if T reaches the expression, else 1

    Infection distance by operator, for a comparison of numbers with v = left - right:

        relational      least distance to one of <, =, > under which original and mutant differ: |v| to =, v + 1 to <
                        (of integers, if v >= 0), |v| + 1 to >; 0 if an operand is no number, string or bytes (or NaN)
        in, is          0 if the test had an outcome
        arithmetic      0 if the other operator gives another result, else 1
        logical         least distance to an outcome of an operand after which `and` and `or` differ
        unary, variable 0 if the other value differs from the original one, else 1
        operand         of a connective: distance to the outcome of the operand that decides; else 0 if it is reached
        None            (`x` by `x is not None`) distance to the outcome of the condition that other false values have
        `not`           0 if the condition had an outcome
        constant        0 if it is reached
        deletion        0 if the line is reached

    `True` for a comparison differs under the relations that make it false, `False` under those that make it true. If a
    mutant cannot be measured at its expression, it is infected when its line is reached (the place "line" of a
    `Mutant`). So a test that kills a mutant always infects it. Columns are the mutants of `Subject.mutants`.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation, section 3.1, Weak Mutation Testing: the sum; EvoSuite 1.0.7: the infection distances.

    Differs from EvoSuite:

    - The released code adds the whole branch fitness; here an action may combine it with this function.
    - `True` and `False` for a comparison have a gradient instead of 0 or 1, because the distance to the outcome is
      known anyway. Everything else about integers is the same.
    - A unary change that leaves the value unchanged (-0) does not infect.
    - Statements are deleted; `and` and `or` are exchanged.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"infection"})

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        places = _Places(subject)
        self.mutants: tuple[Mutant, ...] = tuple(one for one in subject.mutants if places.blocks(one))
        self.targets = [Target("weak_mutation", (mutant.id,)) for mutant in self.mutants]
        parts: list[list[_Part]] = [[] for _ in subject.sites]
        of_line: dict[int, dict[int, list[int]]] = {}  # the mutants of each line of each block
        sites: list[list[int]] = []  # where each mutant is reached
        for column, mutant in enumerate(self.mutants):
            found = _parts(column, mutant, places)
            for site, part in found:
                parts[site].append(part)
            if not found:
                for block, line in places.blocks(mutant):
                    of_line.setdefault(block, {}).setdefault(line, []).append(column)
            sites.append(sorted({site for site, _ in found} or {block for block, _ in places.blocks(mutant)}))
        self.sites = sites
        self._n_parts, self._first_part = _lengths([len(found) for found in parts])
        flat = [part for found in parts for part in found]
        self._columns = np.array([part.column for part in flat], dtype=np.intp)
        self._slots = np.array([part.slot for part in flat], dtype=np.intp)
        self._masks = np.array([part.mask for part in flat], dtype=np.uint32)
        # The mutants of a block are in the order of its lines: if it is left early, a prefix of them is reached.
        self._lines = {block: _lines(subject.sites[block]) for block in of_line}
        in_order = [
            [of_line[site.id].get(line, []) for line in self._lines[site.id]] if site.id in of_line else []
            for site in subject.sites
        ]
        self._n_of_block, self._first_of_block = _lengths([sum(map(len, lines)) for lines in in_order])
        self._of_block = np.array([c for lines in in_order for columns in lines for c in columns], dtype=np.intp)
        self._n_up_to = {
            block: np.cumsum([0, *map(len, in_order[block])]).tolist() for block in of_line
        }  # how many mutants the first lines have
        self._approach = Approach(subject, (site for found in sites for site in found))
        self._places = self._approach.places(site for found in sites for site in found)
        self._reached_at = np.array([site for found in sites for site in found], dtype=np.intp)
        self._first_place = np.cumsum([0, *map(len, sites)])[:-1].astype(np.intp)

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Return infection distances, plus approach levels for unreached expressions; `(len(traces), n_columns)`."""
        if not self.targets:
            return np.zeros((len(traces), 0))
        _, reach = self._approach.measure(
            recorded_counts(self.subject, traces), recorded_distances(self.subject, traces)
        )
        missed = np.minimum.reduceat(reach[self._places], self._first_place, axis=0)
        distances: Floats = self.entries(traces).dense(len(traces), self.n_columns) + missed.T
        return distances

    def infected(self, traces: Sequence[Trace], imported: Trace | None = None) -> Mask:
        infected = np.zeros((len(traces), len(self.targets)), dtype=bool)
        infected[self.entries(traces).covered(len(self.targets))] = True
        return infected if imported is None else infected & self._reached_since(imported, traces)

    def _reached_since(self, imported: Trace, traces: Sequence[Trace]) -> Mask:
        """Return which mutants each trace reached after the import, shape `(len(traces), len(targets))`."""
        found = np.zeros((len(traces), len(self.targets)), dtype=bool)
        if not self.targets:
            return found
        at_import = recorded_counts(self.subject, [imported])[0]
        for row, trace in zip(found, traces, strict=True):
            later = recorded_counts(self.subject, [trace])[0] > at_import
            row[:] = np.logical_or.reduceat(later[self._reached_at], self._first_place)
        return found

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """Return entries for the mutants of the expressions and lines that the traces reached.

        Raises:
            ValueError: a trace was recorded without "infection".
        """
        found = reached(self.subject, traces)
        owners, places = ranges(self._first_part[found.sites], self._n_parts[found.sites])
        slots = self._slots[places]
        at = np.where(slots < 0, -1, found.first[owners] + slots)
        distances = np.where(slots < 0, _EQUAL, nu(np.append(found.distances, 0.0)[at]))
        distances[_bits(len(self.subject.sites), traces, found)[owners] & self._masks[places] != 0] = 0.0
        measured = Entries(found.traces[owners], self._columns[places], distances)
        n_mutants = self._n_of_block[found.sites]
        for entry, n_lines in stopped(self._lines, len(self.subject.sites), traces, found):
            n_mutants[entry] = self._n_up_to[int(found.sites[entry])][n_lines]
        owners, places = ranges(self._first_of_block[found.sites], n_mutants)
        lines = Entries(found.traces[owners], self._of_block[places], np.zeros(len(owners)))
        rows = np.concatenate([measured.rows, lines.rows])
        order = np.argsort(rows, kind="stable")
        return Entries(
            rows[order],
            np.concatenate([measured.columns, lines.columns])[order],
            np.concatenate([measured.distances, lines.distances])[order],
        )


class _Places:
    """Maps the places of mutants to sites."""

    def __init__(self, subject: Subject) -> None:
        self.sites = subject.sites
        self._at: dict[tuple[str, tuple[int, ...]], int] = {}
        self._lines: dict[str, list[tuple[int, int]]] = {}  # by function: its lines and their blocks
        self._entries: dict[str, list[tuple[int, int]]] = {}  # by name: first lines and entries of functions
        for site in subject.sites:
            if site.span:
                kind = site.kind if site.kind in ("arithmetic", "value") else "condition"
                self._at.setdefault((kind, site.span), site.id)
            if site.kind == "block":
                name = subject.functions[site.function].name
                self._lines.setdefault(name, []).extend((line, site.id) for line in site.lines)
        for function in subject.functions:
            self._entries.setdefault(function.name, []).append((function.line, function.entry))
        for known in (*self._lines.values(), *self._entries.values()):
            known.sort()

    def site(self, kind: str, span: tuple[int, ...]) -> int | None:
        """Return the site of an expression."""
        return self._at.get((kind, span))

    def blocks(self, mutant: Mutant) -> list[tuple[int, int]]:
        """Return the blocks that the line of a mutant belongs to, each with the first line of its statement.

        A statement belongs to the block of its first line, which is the last known line before the mutant. A `lambda`
        has no lines; its mutants belong to its entry. The list is empty if the function does not exist.
        """
        lines = self._lines.get(mutant.function, [])
        at = bisect_right(lines, (mutant.line, len(self.sites)))
        entries = self._entries.get(mutant.function, [])
        entry = bisect_right(entries, (mutant.line, len(self.sites)))
        # Several functions may share a name: a line before the entry belongs to another one.
        if at and (not entry or lines[at - 1][0] >= entries[entry - 1][0]):
            first = lines[at - 1][0]
            return [(block, line) for line, block in lines if line == first]
        return [(entries[max(entry - 1, 0)][1], 0)] if entries else []


def _parts(column: int, mutant: Mutant, places: _Places) -> list[tuple[int, _Part]]:
    """Return the sites that measure a mutant, each with its part; empty if reaching the line infects the mutant."""
    found: list[tuple[int, _Part]] = []
    for span, outcome in mutant.at:
        kind = mutant.place if mutant.place in ("arithmetic", "value") else "condition"
        number = places.site(kind, span)
        if number is None:
            return []
        site = places.sites[number]
        match mutant.place:
            case "comparison":
                slots = _relations(mutant.original, mutant.replacement)
                found += [(number, _Part(column, slot, 1)) for slot in slots]
            case "membership":
                found += [(number, _Part(column, slot, 0)) for slot in (0, 1)]
            case "truth":
                mask = int(mutant.operator == "operand" or (mutant.operator == "logical" and mutant.original != "not"))
                found += [(number, _Part(column, slot, mask)) for slot in outcome_slots(site, outcome)]
            case "arithmetic":
                bit = family(mutant.replacement.rstrip("=")).index(mutant.replacement.rstrip("="))
                found.append((number, _Part(column, -1, 1 << bit)))
            case "value":
                found.append((number, _Part(column, -1, 1 << _alternative(mutant, site))))
    return found


def _relations(sign: str, other: str) -> tuple[int, ...]:
    """Return under which of <, =, > (0, 1, 2) two comparisons differ; "True" and "False" are constant outcomes."""
    true = {**TRUE_SLOTS, "True": (0, 1, 2), "False": ()}
    return tuple(slot for slot in (0, 1, 2) if (slot in true[sign]) is not (slot in true[other]))


def _alternative(mutant: Mutant, site: Site) -> int:
    """Return the bit of a value that marks a mutant as infected."""
    if mutant.operator == "variable":
        return _UNARY + site.alternatives.index(mutant.replacement)
    return 0 if mutant.replacement.startswith("-") else 1 if mutant.replacement.endswith("+ 1") else 2


def _lines(site: Site) -> tuple[int, ...]:
    """Return the lines of a block in order, each once; (0,) for a block without lines."""
    return tuple(dict.fromkeys(site.lines)) or (0,)


def _lengths(lengths: list[int]) -> tuple[Index, Index]:
    """Return lengths as an array, and the start index of each."""
    found = np.array(lengths, dtype=np.intp)
    return found, np.cumsum(found) - found


def _bits(n_sites: int, traces: Sequence[Trace], found: Reached) -> NDArray[np.uint32]:
    """Return for each entry the infection bits that its site recorded."""
    parts = []
    for trace in traces:
        if trace.failure:
            parts.append((b"", b""))
        elif trace.infected is None:
            raise ValueError('a trace was recorded without "infection"')
        else:
            parts.append(trace.infected)
    sites = np.frombuffer(b"".join([part[0] for part in parts]), np.uint32).astype(np.intp)
    rows = np.repeat(np.arange(len(parts)), [len(part[0]) // 4 for part in parts])
    bits = np.zeros(len(found.sites), np.uint32)
    entries = np.searchsorted(found.traces * n_sites + found.sites, rows * n_sites + sites)
    bits[entries] = np.frombuffer(b"".join([part[1] for part in parts]), np.uint32)
    return bits
