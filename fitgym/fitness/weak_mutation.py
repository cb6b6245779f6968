"""Weak mutation coverage: every mutant infected, that is, every changed expression seen to give something else."""

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
from fitgym.fitness.base import Entries, Fitness, Floats, Index, Target, nu
from fitgym.instrument.relations import TRUE_SLOTS
from fitgym.instrument.trace import Trace
from fitgym.mutants.mutant import Mutant
from fitgym.mutants.operators import family
from fitgym.subject.subject import Site, Subject

__all__ = ["WeakMutation"]

_UNARY = 3  # bits of a value that are not those of another variable
_EQUAL = 0.5  # nu(1), the distance where the operands give the mutant the same value


class _Part(NamedTuple):
    """What one site says about one mutant.

    Attributes:
        column: of the mutant.
        slot: which of the site's distances is one to infection, -1 for none.
        mask: the bits of the site that mean infection.
    """

    column: int
    slot: int
    mask: int


class WeakMutation(Fitness):
    """How close traces came to infecting every mutant.

    The distance of a trace t to the mutant m is

        f(t, m) = nu(d(t, m))       if t reached the changed expression
                = 1 + A(t, m)       if it did not

    with the least infection distance d over the visits, 0 exactly if the mutant would have given something else at one of
    them, and A the approach level plus the normalised branch distance where t turned away (`fitgym.fitness._approach`). A
    suite T is worth, divided by the number of mutants,

        f_WM(T) = sum over mutants m of d(T, m),  d(T, m) = nu(d_min(T, m)) if T reaches the expression, else 1

    Infection distance by operator, for a comparison of numbers with v = left - right:

        relational      least distance to one of <, =, > under which original and mutant differ: |v| to =, v + 1 to <
                        (of integers, if v >= 0), |v| + 1 to >; 0 if an operand is no number, string or bytes (or NaN)
        in, is          0 if the test had an outcome
        arithmetic      0 if the other operator gives another result, else 1
        logical         least distance to an outcome of an operand after which `and` and `or` differ
        unary, variable 0 if the other value differs from the one there was, else 1
        `not`           0 if the condition had an outcome
        constant        0 if it is reached
        deletion        0 if the line is reached

    `True` for a comparison differs under the relations that make it false, `False` under those that make it true. What
    cannot be measured at the expression is infected when its line is reached (the place "line" of a `Mutant`), so that a
    mutant that a test kills is always infected by it. Columns are the mutants of `Subject.mutants`.

    References:
        Rojas, Vivanti, Arcuri and Fraser 2017, A Detailed Investigation of the Effectiveness of Whole Test Suite
        Generation, section 3.1, Weak Mutation Testing: the sum; EvoSuite 1.0.7: the infection distances.
    Differs from EvoSuite: the released code adds the whole branch fitness, which an action here may combine with this
    function; `True` and `False` for a comparison have a slope instead of 0 or 1 (the distance to the outcome is known
    anyway), everything else of integers is as there; a unary change of a value that it leaves as it is (-0) is not
    infected; statements are deleted; `and` and `or` are exchanged.
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
        # The mutants of a block stand in the order of its lines: when it is left early, the first ones are reached.
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
        self._first_place = np.cumsum([0, *map(len, sites)])[:-1].astype(np.intp)

    def distances(self, traces: Sequence[Trace]) -> Floats:
        """Infection distance, and approach level where the expression was not reached; `(len(traces), n_columns)`."""
        if not self.targets:
            return np.zeros((len(traces), 0))
        _, reach = self._approach.measure(
            recorded_counts(self.subject, traces), recorded_distances(self.subject, traces)
        )
        missed = np.minimum.reduceat(reach[self._places], self._first_place, axis=0)
        distances: Floats = self.entries(traces).dense(len(traces), self.n_columns) + missed.T
        return distances

    def entries(self, traces: Sequence[Trace]) -> Entries:
        """The mutants of the expressions and lines that the traces reached.

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
    """Where in the plan of the probes the places of mutants are."""

    def __init__(self, subject: Subject) -> None:
        self.sites = subject.sites
        self._at: dict[tuple[str, tuple[int, ...]], int] = {}
        self._lines: dict[str, list[tuple[int, int]]] = {}  # of each function the lines and their blocks
        self._entries: dict[str, list[tuple[int, int]]] = {}  # of each name the first lines and entries of functions
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
        """The site of an expression."""
        return self._at.get((kind, span))

    def blocks(self, mutant: Mutant) -> list[tuple[int, int]]:
        """The blocks that the line of a mutant belongs to, each with the line that its statement begins with.

        A statement belongs to the block of its first line, which is the last one known before the mutant. A `lambda` has
        no lines; its mutants belong to its entry. None if the function is not there at all.
        """
        lines = self._lines.get(mutant.function, [])
        at = bisect_right(lines, (mutant.line, len(self.sites)))
        entries = self._entries.get(mutant.function, [])
        entry = bisect_right(entries, (mutant.line, len(self.sites)))
        # Functions of one name: what stands before the entry belongs to another one.
        if at and (not entry or lines[at - 1][0] >= entries[entry - 1][0]):
            first = lines[at - 1][0]
            return [(block, line) for line, block in lines if line == first]
        return [(entries[max(entry - 1, 0)][1], 0)] if entries else []


def _parts(column: int, mutant: Mutant, places: _Places) -> list[tuple[int, _Part]]:
    """What which sites say about a mutant; nothing if it is infected whenever its line is reached."""
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
                mask = int(mutant.operator == "logical" and mutant.original != "not")
                found += [(number, _Part(column, slot, mask)) for slot in outcome_slots(site, outcome)]
            case "arithmetic":
                bit = family(mutant.replacement.rstrip("=")).index(mutant.replacement.rstrip("="))
                found.append((number, _Part(column, -1, 1 << bit)))
            case "value":
                found.append((number, _Part(column, -1, 1 << _alternative(mutant, site))))
    return found


def _relations(sign: str, other: str) -> tuple[int, ...]:
    """Under which of <, =, > (0, 1, 2) two comparisons differ; "True" and "False" always come out so."""
    true = {**TRUE_SLOTS, "True": (0, 1, 2), "False": ()}
    return tuple(slot for slot in (0, 1, 2) if (slot in true[sign]) is not (slot in true[other]))


def _alternative(mutant: Mutant, site: Site) -> int:
    """The bit of a value that tells of a mutant."""
    if mutant.operator == "variable":
        return _UNARY + site.alternatives.index(mutant.replacement)
    return 0 if mutant.replacement.startswith("-") else 1 if mutant.replacement.endswith("+ 1") else 2


def _lines(site: Site) -> tuple[int, ...]:
    """The lines of a block in order, each once; a block without any has line 0."""
    return tuple(dict.fromkeys(site.lines)) or (0,)


def _lengths(lengths: list[int]) -> tuple[Index, Index]:
    """Lengths as an array, and where each begins."""
    found = np.array(lengths, dtype=np.intp)
    return found, np.cumsum(found) - found


def _bits(n_sites: int, traces: Sequence[Trace], found: Reached) -> NDArray[np.uint32]:
    """What the sites say about mutants, for each entry."""
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
