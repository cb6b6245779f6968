"""Existing tests: which targets of one module the hand-written tests reach and kill."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from fitgym.errors import InputError
from fitgym.fitness.base import Fitness, Mask
from fitgym.instrument.trace import Reached, Trace
from fitgym.subject.subject import Subject

__all__ = ["Existing"]


@dataclass(frozen=True, slots=True)
class Existing:
    """The results of existing tests in one module. It can be pickled.

    Attributes:
        source_sha256: checksum of the measured source of the module.
        traces: one for each test that reaches the module; equal traces are stored once.
        killed: ids of the mutants that the tests kill.
        probes: what was recorded beyond the usual; see `Fitness.needs`. A fitness function that needs more is pursued
            as if there were no tests.
        tests: the number of passing tests that reach the module.
    """

    source_sha256: str
    traces: tuple[Trace, ...] = ()
    killed: frozenset[str] = frozenset()
    probes: frozenset[str] = frozenset({"infection"})
    tests: int = 0

    @staticmethod
    def digest(source: str) -> str:
        """Return the checksum of a source for `source_sha256`."""
        return hashlib.sha256(source.encode()).hexdigest()

    def of(self, subject: Subject) -> Existing:
        """Return the results for a subject, which may have no probes for infection.

        Raises:
            InputError: the tests were measured on another version of the source.
        """
        if self.digest(subject.source) != self.source_sha256:
            raise InputError(
                f"existing tests were measured on another version of '{subject.reference.module}'; measure them again"
            )
        n_sites = len(subject.sites)
        return replace(self, traces=tuple(replace(one, reached=_below(one.reached, n_sites)) for one in self.traces))

    def covered(self, fitness: Fitness) -> Mask:
        """Return which targets of a fitness function the tests cover, `(n_targets,)`.

        A dynamic function appends the targets of the tests.
        """
        if fitness.numbers is not None:
            return np.array([target.key[0] in self.killed for target in fitness.targets], dtype=bool)
        known = fitness.needs <= self.probes and not fitness.reads_tests
        entries = fitness.entries(self.traces) if known and self.traces else None
        covered = np.zeros(len(fitness.targets), dtype=bool)
        if entries is not None:
            covered[entries.covered(len(covered))[1]] = True
        return covered


def _below(reached: Reached, n_sites: int) -> Reached:
    """Return what was reached of the first `n_sites` sites.

    Sites of infection follow all others and have no distances.
    """
    sites, counts, distances = reached
    n = int(np.searchsorted(np.frombuffer(sites, np.uint32), n_sites))
    return sites[: 4 * n], counts[: 4 * n], distances
