"""Probes of infection: record at arithmetic and variables which mutants would have changed the result."""

from __future__ import annotations

from typing import Any

from fitgym.instrument import infection
from fitgym.instrument.arithmetic import APPLY, IN_PLACE
from fitgym.instrument.python.probe_pair import Pair
from fitgym.instrument.tally import Tally
from fitgym.subject.subject import Site

__all__ = ["arithmetic_probes", "value_probes"]


def arithmetic_probes(tally: Tally, site: Site) -> Pair:
    """Return the probe of an arithmetic operator, twice. It computes the result and records infected mutants."""
    number, counts, bits = site.id, tally.counts, tally.bits
    sign = site.operator.rstrip("=")
    apply = (APPLY if sign == site.operator else IN_PLACE)[sign]
    every, infected, raised = infection.others(sign), infection.by_operator, infection.RAISED

    def probe(left: Any, right: Any) -> Any:
        if not tally.infect:
            return apply(left, right)
        counts[number] += 1  # direct visits of expressions are not recorded
        if bits[number] == every:
            return apply(left, right)
        try:
            result = apply(left, right)
        except BaseException:
            bits[number] |= infected(sign, left, right, raised)
            raise
        bits[number] |= infected(sign, left, right, result)
        return result

    return probe, probe


def value_probes(tally: Tally, site: Site) -> Pair:
    """Return the probe of a variable or attribute, twice. It records infected mutants and returns the value."""
    number, counts, bits = site.id, tally.counts, tally.bits
    every, infected = (1 << 3 + len(site.alternatives)) - 1, infection.by_value

    def probe(value: Any, *others: Any) -> Any:
        if tally.infect:
            counts[number] += 1
            if bits[number] != every:
                bits[number] |= infected(value, others)
        return value

    return probe, probe
