"""Setters: operations that change the attributes on which uncovered conditions depend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fitgym.subject.attributes import accesses
from fitgym.subject.subject import Subject

__all__ = ["Setters"]


class Setters:
    """For each operation with uncovered conditions, the operations that may change the outcome of one of them.

    A covered setter reaches no uncovered code (see `fitgym.evolution.reach`), but a test case may need it: a method
    that writes the title of a document is reached only after the title was set.

    Args:
        subject: the code under test.
    """

    def __init__(self, subject: Subject) -> None:
        methods = [one for one in subject.operations if one.needs_receiver and one.function >= 0]
        self._ids = np.array([one.id for one in methods], dtype=np.intp)
        self._branch_site = np.array([branch.site for branch in subject.branches], dtype=np.intp)
        self._last = b""
        self._found: Mapping[int, tuple[tuple[int, ...], ...]] = {}
        if not (methods and subject.source):
            self._ids = self._ids[:0]
            return
        positions: list[set[tuple[int, ...]]] = [set() for _ in subject.functions]
        for site in subject.sites:
            positions[site.function].add(site.span or (site.line,))
        known = accesses(subject.source, subject.functions, tuple(frozenset(each) for each in positions))
        names = sorted({name for one in known for name in one.sets})
        column = {name: index for index, name in enumerate(names)}
        # Which attributes the condition of each site depends on, and which attributes each operation sets.
        self._depends = np.zeros((len(subject.sites), len(names)), dtype=bool)
        for site in subject.sites:
            for name in known[site.function].conditions.get(site.span or (site.line,), ()):
                if name in column:
                    self._depends[site.id, column[name]] = True
        self._sets = np.zeros((len(methods), len(names)), dtype=bool)
        self._runs = np.zeros((len(methods), len(subject.sites)), dtype=bool)
        site_function = np.array([site.function for site in subject.sites], dtype=np.intp)
        for row, operation in enumerate(methods):
            self._sets[row, [column[name] for name in known[operation.function].sets]] = True
            self._runs[row] = np.isin(site_function, list(known[operation.function].functions))

    def feeding(self, covered: Sequence[bool] | NDArray[np.bool_]) -> Mapping[int, tuple[tuple[int, ...], ...]]:
        """Return groups of operation ids by operation id; each group can change one attribute.

        Args:
            covered: for each branch of the subject whether it is covered, shape `(len(subject.branches),)`.
        """
        if not len(self._ids):
            return {}
        covered = np.asarray(covered, dtype=bool)
        state = np.packbits(covered).tobytes()
        if state != self._last:
            self._last = state
            self._found = self._computed(covered)
        return self._found

    def _computed(self, covered: NDArray[np.bool_]) -> Mapping[int, tuple[tuple[int, ...], ...]]:
        open_sites = np.unique(self._branch_site[~covered])
        wanted = (self._runs[:, open_sites].astype(np.float32) @ self._depends[open_sites].astype(np.float32)) > 0
        setters = [tuple(self._ids[self._sets[:, column]].tolist()) for column in range(self._sets.shape[1])]
        found = {}
        for row, identifier in enumerate(self._ids.tolist()):
            groups = dict.fromkeys(setters[column] for column in np.flatnonzero(wanted[row]) if setters[column])
            if groups:
                found[identifier] = tuple(groups)
        return found
