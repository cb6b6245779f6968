"""Floors under probes: functions that do next to nothing but what the code asks for.

In Python they count a visit, in C (`floor` is "c") not even that: the code calls what Python has built in, `operator.lt` for a
comparison, `gc.disable` for a block. What they leave out is what a search needs: distances, fuel, direct calls, constants.
So no probe that is a function of that language can cost less, and what fitgym's cost beyond this is what they record.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable
from typing import Any

from workload import Test, module_from, run, source_of

from collectors.base import Collected
from fitgym import __version__
from fitgym.instrument.arithmetic import APPLY, IN_PLACE
from fitgym.instrument.python.binding import bound
from fitgym.instrument.python.comparison_probes import COMPARE
from fitgym.instrument.recorder import Recorder
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.subject.subject import Site

__all__ = ["collect", "version"]

BUILT_IN: dict[str, Callable[[Any, Any], Any]] = {**COMPARE, "is": operator.is_, "is not": operator.is_not}


def _built_in(site: Site) -> Callable[..., Any] | None:
    """The built-in function for a site, None where there is none that does what the code asks for."""
    match site.kind:
        case "block":
            return gc.disable  # the garbage collector is off while tests run
        case "truth" if not site.passes:
            return bool
        case "loop" if site.operator != "async for":
            return iter
        case "arithmetic" | "comparison" | "membership":
            return _applied(site)
    return None


def _applied(site: Site) -> Callable[[Any, Any], Any] | None:
    sign = site.operator.rstrip("=")
    if site.kind == "arithmetic":  # fitgym's record nothing either as long as no mutants are asked for
        return (APPLY if sign == site.operator else IN_PLACE)[sign]
    return BUILT_IN.get(site.operator)


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
        case "arithmetic":
            return _applied(site)
        case "comparison" | "membership":
            compare = BUILT_IN.get(site.operator) or (_inside if site.operator == "in" else _outside)

            def binary(left: Any, right: Any) -> Any:
                counts[number] += 1
                return compare(left, right)

            return bound(binary)
    return None


def _inside(left: Any, right: Any) -> Any:
    return left in right


def _outside(left: Any, right: Any) -> Any:
    return left not in right


class _Counted(Collected):
    def __init__(self, module: str, in_c: bool) -> None:
        source, file = source_of(module)
        instrumented = instrument(source, file, leading=in_c)
        sites = instrumented.plan.sites
        recorder, counts = Recorder(sites, fuel=1 << 40), [0] * len(sites)
        probes = [_built_in(site) if in_c else _counting(site, counts) for site in sites]

        def probe(number: int, leading: bool = False) -> Any:
            return probes[number] or recorder.probe(number, leading)

        self.module = module_from(instrumented.code(probe), module)

    def together(self, tests: list[Test]) -> None:
        run(tests)

    def one_by_one(self, tests: list[Test]) -> None:
        raise NotImplementedError("it keeps no data to be read after each test")


def collect(module: str, options: dict[str, str]) -> Collected:
    """A copy with such functions; `options["floor"]` is "c" or "python"."""
    return _Counted(module, options["floor"] == "c")


def version() -> str:
    """Of fitgym, whose places for probes are used."""
    return __version__
