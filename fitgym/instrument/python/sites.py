"""The factory of probes in pure Python, see `Factory`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from fitgym.instrument.factory import Listener, Probe
from fitgym.instrument.python.binding import bound
from fitgym.instrument.python.probes import PROBES
from fitgym.instrument.tally import Tally
from fitgym.mutants.operators import are_alike
from fitgym.subject.subject import Site

__all__ = ["Sites"]


class Sites(Tally):
    """The factory of probes in Python.

    If direct visits are recorded, every probe is thorough; otherwise it is quick.
    """

    def __init__(self, sites: Sequence[Site], listener: Listener, fuel: int) -> None:
        super().__init__(sites, listener, fuel)
        # By site id: the probe, and the quick and thorough functions that provide its code.
        self._probes: dict[int, tuple[FunctionType, FunctionType, FunctionType]] = {}
        self._pairs: dict[tuple[int, str], tuple[FunctionType, FunctionType]] = {}

    def make(self, site: Site, leading: bool = False) -> Probe:
        """Return the probe of a site, see `fitgym.instrument.factory.Factory.make`."""
        if site.id not in self._probes:
            quick, thorough = self._pair(site, site.operator)
            self._probes[site.id] = (bound(thorough if self.direct else quick), quick, thorough)
        probe = self._probes[site.id][0]
        return self._leading(site, probe) if leading else probe

    def _leading(self, site: Site, probe: Probe) -> Probe:
        """Return a probe that also counts the block that the condition leads to.

        The rewriter uses it only for the C factory. Code for this factory calls the block probes directly, which is
        faster.
        """
        true, false = (self.make(self.sites[block]) if block >= 0 else None for block in site.leads)

        def leading(*operands: Any) -> Any:
            result = probe(*operands)
            block = true if result else false
            if block is not None:
                block()
            return result

        return leading

    def flip(self, site_id: int, operator: str) -> None:
        """Make a probe evaluate another operator, see `fitgym.instrument.factory.Factory.flip`."""
        site = self.sites[site_id]
        if not are_alike(site.operator, operator):
            raise ValueError(f"site {site_id} cannot have the operator '{operator}'")
        if site_id in self._probes:  # the compiler may have dropped the code of the site
            quick, thorough = self._pair(site, operator)
            probe = self._probes[site_id][0]
            probe.__code__ = (thorough if self.direct else quick).__code__
            self._probes[site_id] = (probe, quick, thorough)

    def _pair(self, site: Site, operator: str) -> tuple[FunctionType, FunctionType]:
        """Return the two probes of a site with this operator."""
        key = (site.id, operator)
        if key not in self._pairs:
            quick, thorough = PROBES[site.kind](self, replace(site, operator=operator))
            self._pairs[key] = bound(quick), bound(thorough)
        return self._pairs[key]

    def begin(self, fuel: int, direct: bool, collect: bool, infect: bool) -> None:
        """Clear the records, see `Tally`. Probes get thorough code if `direct`, else quick code."""
        if direct is not self.direct:
            for probe, quick, thorough in self._probes.values():
                probe.__code__ = (thorough if direct else quick).__code__
        super().begin(fuel, direct, collect, infect)
