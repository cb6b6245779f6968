"""How does the cost of a generation grow with the number of targets, and with the population?"""

from __future__ import annotations

import tempfile
from pathlib import Path

from questions.answer import Answer, Settings, Table, Target
from questions.estimate import power_law
from questions.processes import apart
from questions.searching import Span, engine_on, spent

__all__ = ["answer", "source"]

TARGETS = (50, 150, 500, 1500, 5000)
POPULATIONS = (10, 25, 50, 100, 200)
LAST = 1.1
"""Limit of the exponent between the two largest sizes: 1 plus a margin for noise."""

PER_FUNCTION = 9
"""Number of targets in one function of the synthetic subject: its entry and two outcomes of four conditions."""


def source(targets: int) -> str:
    """Return a module with about `targets` branch targets.

    Its functions differ only in constants; some conditions are hard to meet.
    """
    text = '"""Functions with four conditions each."""\n'
    for n in range(max(1, round((targets - 1) / PER_FUNCTION))):
        text += f"""

def f{n}(a: int, b: int) -> int:
    result = 0
    if a > {n % 97}:
        result += 1
    if a == {1000 + 37 * n}:
        result += 2
    if a + b < {n % 13 - 200}:
        if b == {n}:
            result += 4
    return result
"""
    return text


def generations(targets: int, population: int, seed: int, before: int, counted: int) -> tuple[Span, int]:
    """Measure some generations after the first ones, and count the targets."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "synthetic.py").write_text(source(targets))
        with engine_on("synthetic", Path(folder), seed=seed, population=population) as engine:
            spent(engine, before)
            return spent(engine, counted), engine.coverage()["branch"][1]


def answer(settings: Settings) -> Answer:
    """Measure the cost per generation for subjects and populations of growing size, and the exponents."""
    sizes, populations = settings.choose(((50, 200, 800), (10, 25, 50)), (TARGETS, POPULATIONS))
    seeds, before, counted = settings.choose((1, 2, 3), (3, 5, 20))
    result = Answer()
    for name, points in (
        ("targets", [(size, 50) for size in sizes]),
        ("population", [(500, population) for population in populations]),
    ):
        table = Table(
            f"Cost of a generation by {name}, milliseconds of processor time",
            (name, *(f"seed {settings.seed + n}" for n in range(seeds)), "executed / generation", "us / test case"),
            [],
        )
        xs: list[float] = []
        ys: list[float] = []
        least: dict[int, float] = {}
        figures = result.figures[name] = []
        for targets, population in points:
            spans = []
            for n in range(seeds):
                span, real = apart(generations, targets, population, settings.seed + n, before, counted)
                spans.append(span)
                size = real if name == "targets" else population
                xs.append(size)
                ys.append(span.cpu / span.generations)
                figures.append({"targets": real, "population": population, "seed": settings.seed + n, **vars(span)})
            executed = sum(span.executions for span in spans)
            least[size] = min(span.cpu / span.generations for span in spans)
            table.rows.append(
                (
                    str(size),
                    *(f"{1000 * span.cpu / span.generations:.1f}" for span in spans),
                    f"{executed / sum(span.generations for span in spans):.0f}",
                    f"{1e6 * sum(span.cpu for span in spans) / executed:.0f}",
                )
            )
        exponent = power_law(xs, ys)
        last = dict(list(least.items())[-2:])
        tail = power_law(list(last), list(last.values()))
        table.rows.append(("exponent", str(exponent), *[""] * (seeds + 1)))
        table.rows.append(("between the two largest", f"{tail.value:.2f}", *[""] * (seeds + 1)))
        result.tables.append(table)
        result.figures[f"{name}_exponent"] = vars(exponent)
        result.figures[f"{name}_exponent_of_the_two_largest"] = tail.value
        result.targets.append(Target(f"exponent of the cost of a generation in {name}", 1.0, exponent.value))
        result.targets.append(Target(f"exponent between the two largest sizes in {name}", LAST, tail.value))
    return result
