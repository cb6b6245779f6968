"""Lower bounds for probes: functions that do almost nothing except evaluate the original expression.

In Python they count a visit. In C (`floor` is "c") they do not even count: the code calls built-in functions of Python,
`operator.lt` for a comparison and `gc.disable` for a block. They omit what a search needs: distances, fuel, direct
calls, constants. So no probe that is a function of that language can cost less. The additional cost of fitgym's probes
is the cost of recording.
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
    """Return the built-in function for a site, None if no built-in function evaluates the expression."""
    match site.kind:
        case "block":
            return gc.disable  # a cheap call without effect: the garbage collector is off while tests run
        case "truth" if not site.passes:
            return bool
        case "loop" if site.operator != "async for":
            return iter
        case "arithmetic" | "comparison" | "membership":
            return _applied(site)
    return None


def _applied(site: Site) -> Callable[[Any, Any], Any] | None:
    sign = site.operator.rstrip("=")
    if site.kind == "arithmetic":  # without mutants, fitgym's probes record nothing here either
        return (APPLY if sign == site.operator else IN_PLACE)[sign]
    return BUILT_IN.get(site.operator)


def _counting(site: Site, counts: list[int]) -> Callable[..., Any] | None:
    """Return the function for a site, with its variables bound as constants like fitgym's; None for rare kinds."""
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
    """Return a copy with such functions; `options["floor"]` is "c" or "python"."""
    return _Counted(module, options["floor"] == "c")


def version() -> str:
    """Return the version of fitgym, whose probe sites are used."""
    return __version__
