"""The factory of probes in pure Python, see `Factory`."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

from fitgym.instrument.binding import bound
from fitgym.instrument.factory import Listener, Probe
from fitgym.instrument.probes import PROBES
from fitgym.instrument.tally import Tally
from fitgym.subject.subject import Site

__all__ = ["Sites"]


class Sites(Tally):
    """The factory of probes in Python.

    Where it matters whether a visit is direct, every probe is thorough; everywhere else it is quick.
    """

    def __init__(self, sites: Sequence[Site], listener: Listener, fuel: int) -> None:
        super().__init__(sites, listener, fuel)
        # For each probe the code of the quick one and of the thorough one.
        self._codes: list[tuple[FunctionType, FunctionType, FunctionType]] = []

    def make(self, site: Site) -> Probe:
        quick, thorough = map(bound, PROBES[site.kind](self, site))
        probe = bound(thorough if self.direct else quick)
        self._codes.append((probe, quick, thorough))
        return probe

    def begin(self, fuel: int, direct: bool, collect: bool, infect: bool) -> None:
        if direct is not self.direct:
            for probe, quick, thorough in self._codes:
                probe.__code__ = (thorough if direct else quick).__code__
        super().begin(fuel, direct, collect, infect)
