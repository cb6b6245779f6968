"""The probes in Python: the functions that instrumented code calls at the sites.

For each kind of site a function creates two probes that record the same data. The quick probe measures common operands
in place and skips visits that cannot lower a distance. The thorough probe distinguishes direct visits and measures each
of them. Both can be bound (`fitgym.instrument.python.binding`), and a bound probe can take the code of the other one.
These functions store built-ins in local variables because binding turns the free variables of a probe into constants.
"""

from __future__ import annotations

from collections.abc import Callable

from fitgym.instrument.python import (
    block_probes,
    comparison_probes,
    condition_probes,
    infection_probes,
    loop_probes,
    membership_probes,
    probe_pair,
)
from fitgym.instrument.python.probe_pair import Pair
from fitgym.instrument.tally import Tally
from fitgym.subject.subject import Site, SiteKind

__all__ = ["FILES", "PROBES"]

PROBES: dict[SiteKind, Callable[[Tally, Site], Pair]] = {
    "arithmetic": infection_probes.arithmetic_probes,
    "block": block_probes.block_probes,
    "case": condition_probes.case_probes,
    "comparison": comparison_probes.comparison_probes,
    "loop": loop_probes.loop_probes,
    "membership": membership_probes.membership_probes,
    "truth": condition_probes.truth_probes,
    "value": infection_probes.value_probes,
}
"""The functions that create the quick and the thorough probe, by kind of site."""

FILES = frozenset(
    {
        block_probes.__file__,
        comparison_probes.__file__,
        condition_probes.__file__,
        infection_probes.__file__,
        loop_probes.__file__,
        membership_probes.__file__,
        probe_pair.__file__,
    }
)
"""Source files of the probes. The recorder skips frames of these files when it looks for the caller of the subject."""
