"""The floor of probes in Python: functions that count a visit and do nothing else but what the code asks for.

What they leave out is what a search needs: distances, fuel, direct calls, constants. So no probe that is a Python function
can cost less, and what fitgym's cost beyond this is what they record.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from workload import Test, module_from, run, source_of

from collectors.base import Collected
from fitgym import __version__
from fitgym.instrument.arithmetic import APPLY, IN_PLACE
from fitgym.instrument.binding import bound
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.transformer import instrument
from fitgym.subject.subject import Site

__all__ = ["collect", "version"]

COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
    "is": operator.is_,
    "is not": operator.is_not,
}


def _counting(site: Site, counts: list[int]) -> Callable[..., Any] | None:
    """The function for a site, with its variables bound as constants as those of fitgym are; None for rare kinds."""
    number = site.id

    def block() -> None:
        counts[number] += 1

    def unary(value: Any) -> Any:
        counts[number] += 1
        return value

    match site.kind:
        case "block":
            return bound(block)
        case "truth" | "loop" if site.operator != "async for":
            return bound(unary)
        case "arithmetic":  # they record nothing either as long as no mutants are asked for
            sign = site.operator.rstrip("=")
            return (APPLY if sign == site.operator else IN_PLACE)[sign]
        case "comparison" | "membership":
            compare = COMPARE[site.operator]

            def binary(left: Any, right: Any) -> Any:
                counts[number] += 1
                return compare(left, right)

            return bound(binary)
    return None


class _Counted(Collected):
    def __init__(self, module: str) -> None:
        source, file = source_of(module)
        instrumented = instrument(source, file)
        sites = instrumented.plan.sites
        recorder, self._counts = Recorder(sites, fuel=1 << 40), [0] * len(sites)
        probes = [_counting(site, self._counts) or recorder.probe(site.id) for site in sites]
        self.module = module_from(instrumented.code(probes.__getitem__), module)

    def together(self, tests: list[Test]) -> None:
        run(tests)
        if not any(self._counts):
            raise RuntimeError("the probes of the module were never called")

    def one_by_one(self, tests: list[Test]) -> None:
        raise NotImplementedError("it keeps no data to be read after each test")


def collect(module: str, options: dict[str, str]) -> Collected:
    """A copy with probes that only count."""
    return _Counted(module)


def version() -> str:
    """Of fitgym, whose places for probes are used."""
    return __version__
