"""What does smart selection save? Measures the time of a search with all eight functions, with and without it.

Smart selection removes fitness functions and targets. That makes measuring and selecting cheaper, so it cannot save
more than these take. The cost of executing depends on the test cases, which differ with smart selection.
"""

from __future__ import annotations

from pathlib import Path

from fitgym.engine.smart_selection import EIGHT
from questions.answer import Answer, Settings, Table
from questions.growth import source
from questions.processes import apart
from questions.searching import Span, engine_on, folder_of, spent
from questions.whole_loop import SUBJECTS

__all__ = ["answer"]

SEARCHES = ("whole_suite", "mosa", "dynamosa")
SYNTHETIC, BRANCHES = "synthetic", 1500
"""Return a subject with so many branches and some thousand further targets, as large subjects have."""


def timed(
    module: str, folder: Path, seed: int, search: str, smart: bool, before: int, generations: int
) -> tuple[Span, int]:
    """Measure some generations after the first ones, and count the targets still open."""
    with engine_on(module, folder, fitness=EIGHT, search=search, smart=smart, seed=seed) as engine:
        spent(engine, before)
        targets = len(engine.targets())
        return spent(engine, generations), targets


def chosen(span: Span) -> float:
    """Return microseconds of measuring and selecting per executed test case."""
    return 1e6 * (span.timings["measure"] + span.timings["search"]) / span.executions


def answer(settings: Settings) -> Answer:
    """Measure by search and subject the time of each stage, and the part that smart selection saves."""
    before, generations = settings.choose((3, 10), (10, 50))
    subjects = settings.pick(("semver.version",), (*SUBJECTS, SYNTHETIC))
    settings.results.mkdir(parents=True, exist_ok=True)
    (settings.results / f"{SYNTHETIC}.py").write_text(source(BRANCHES), "utf-8")
    result = Answer()
    header = ("", "execute", "measure", "select", "targets", "smart", "us measure+select", "smart", "saved of all")
    for search in SEARCHES:
        table = Table(f"{search} by all eight functions, and with smart selection", header, [])
        for module in subjects:
            folder = settings.results if module == SYNTHETIC else folder_of(module, settings.subjects)
            run = (module, folder, settings.seed, search)
            eight, targets = apart(timed, *run, False, before, generations)
            smart, kept = apart(timed, *run, True, before, generations)
            whole = sum(eight.timings.values())
            saved = (chosen(eight) - chosen(smart)) * eight.executions / 1e6 / whole
            shares = (f"{eight.timings[stage] / whole:.0%}" for stage in ("execute", "measure", "search"))
            costs = (f"{chosen(span):.0f}" for span in (eight, smart))
            table.rows.append((module, *shares, str(targets), str(kept), *costs, f"{saved:.0%}"))
            result.figures[f"{search}, {module}"] = {"eight": vars(eight), "smart": vars(smart), "saved": saved}
        result.tables.append(table)
    return result
