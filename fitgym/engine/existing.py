"""Existing tests: what the tests that people wrote reach and kill in one module."""

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
    """What existing tests do in one module. It can be pickled.

    Attributes:
        source_sha256: of the source of the module that was measured.
        traces: one for each test that reaches the module, equal ones once.
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
        """The checksum of a source that `source_sha256` holds."""
        return hashlib.sha256(source.encode()).hexdigest()

    def of(self, subject: Subject) -> Existing:
        """The same for a subject, which may have no probes for infection.

        Raises:
            InputError: it was measured on another version of the source.
        """
        if self.digest(subject.source) != self.source_sha256:
            raise InputError(
                f"existing tests were measured on another version of '{subject.reference.module}'; measure them again"
            )
        n_sites = len(subject.sites)
        return replace(self, traces=tuple(replace(one, reached=_below(one.reached, n_sites)) for one in self.traces))

    def covered(self, fitness: Fitness) -> Mask:
        """Which targets of a fitness function the tests cover, `(n_targets,)`; a dynamic one learns their targets."""
        if fitness.numbers is not None:
            return np.array([target.key[0] in self.killed for target in fitness.targets], dtype=bool)
        known = fitness.needs <= self.probes and not fitness.reads_tests
        entries = fitness.entries(self.traces) if known and self.traces else None
        covered = np.zeros(len(fitness.targets), dtype=bool)
        if entries is not None:
            covered[entries.covered(len(covered))[1]] = True
        return covered


def _below(reached: Reached, n_sites: int) -> Reached:
    """What was reached of the first sites. Sites of infection follow all others and have no distances."""
    sites, counts, distances = reached
    n = int(np.searchsorted(np.frombuffer(sites, np.uint32), n_sites))
    return sites[: 4 * n], counts[: 4 * n], distances
