"""When does the choice of fitness functions matter? Computes the ladder of many settings and of all task environments.

    python benchmarks/headroom.py environments          the registered environments whose ladder takes minutes
    python benchmarks/headroom.py choice --jobs 2       goal x search x archive x population, on real modules
    python benchmarks/headroom.py choice --table        rewrite the table from the existing rows

Rows are appended to `headroom/choice.csv` at once, so an interrupted benchmark resumes. `headroom/environments/` has a
page, every episode and a figure of each environment.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs_file import RunsFile, typed

from fitgym.headroom.ladder import Ladder, Request, measure
from fitgym.headroom.report import write_all
from fitgym.run.setting import Setting
from fitgym.suite.text.export import write

FOLDER = Path(__file__).parent / "headroom"

ENVIRONMENTS: Mapping[str, Mapping[str, Any]] = {
    "fitgym/Toy-v0": {"every": 1, "tries": 1},
    "fitgym/LeadingOnes-v0": {"seeds": 40, "every": 6, "tries": 4},
    "fitgym/Artificial-v0": {"seeds": 20, "tries": 0},
    "fitgym/Landscapes-v0": {"tests": 30, "seeds": 2, "every": 6, "tries": 2},
    "fitgym/ProjectBudget-v0": {"tests": 100, "seeds": 2, "tries": 0},
    "fitgym/Programs-easy-v0": {"tests": 12, "seeds": 2, "tries": 0, "schedules": False},
    "fitgym/Programs-v0": {"tests": 12, "seeds": 2, "tries": 0, "schedules": False},
}
"""Environments with the requirements of their ladder; those on real modules are in `choice`."""

GOALS = ("coverage", "exceptions")
SEARCHES = ("whole_suite", "whole_suite:use_archive=false", "mosa")
POPULATIONS = (10, 50)
BUDGETS = ("1000x",)
ACTIONS = {
    "coverage": ("branch", "line", "method", "exception", "output", "input", "branch+exception+output+input"),
    "exceptions": ("exception", "branch", "line", "method", "output", "input", "exception+branch+output+input"),
}
"""The choices: single functions, and combinations."""

KEYS = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One setting of the matrix with its gaps.

    Attributes:
        goal, search, population, budget: of the setting.
        random, constant, each, schedule: mean final values of the rungs.
        chosen: the best constant of the training modules.
        gap, gap_low, gap_high: best constant for each module minus the best constant.
        switch, switch_low, switch_high: best schedule minus the best constant.
    """

    goal: str
    search: str
    population: int
    budget: str
    random: float
    constant: float
    each: float
    schedule: float
    chosen: str
    gap: float
    gap_low: float
    gap_high: float
    switch: float
    switch_low: float
    switch_high: float


def cells() -> Iterator[tuple[str, str, int, str]]:
    """Yield the settings of the matrix."""
    for goal in GOALS:
        for search in SEARCHES:
            for population in POPULATIONS:
                for budget in BUDGETS:
                    yield goal, search, population, budget


def measured(goal: str, search: str, population: int, budget: str, tests: int, seeds: int, jobs: int) -> Cell:
    """Compute the ladder of one setting without an oracle, because look-ahead on real modules takes hours."""
    options = {"goal": goal, "search": search, "population": population, "actions": ACTIONS[goal]}
    ladder = measure(
        Request(
            setting=Setting(env="fitgym/FitnessSelection-v0", budget=budget, options=options),
            tests=tests,
            seeds=seeds,
            tries=0,
            jobs=jobs,
        ),
        lambda line: sys.stderr.write(f"  {line}\n"),
    )
    constant, each, schedule = (
        ladder.rung(name) for name in ("best constant", "best constant for each task", "best schedule")
    )
    gap, switch = ladder.gap(constant, each), ladder.gap(constant, schedule)
    values = (rung.mean("final") for rung in (ladder.rungs[0], constant, each, schedule))
    return Cell(
        goal,
        search,
        population,
        budget,
        *values,
        constant.policy.removeprefix("constant "),
        *(gap.value, gap.low, gap.high),
        *(switch.value, switch.low, switch.high),
    )


def table(found: list[Cell]) -> str:
    """Return the matrix as a page."""
    shown = [one for one in found if one.gap_low > 0.0 or one.switch_low > 0.0]
    where = "; ".join(f"{one.goal}, {one.search}, population {one.population}" for one in shown) or "nowhere"
    heads = ("goal", "search", "population", "random", "best constant", "for each module", "schedule", "chosen")
    lines = [
        "# When does the choice of fitness functions matter?",
        "",
        "Final values on modules of `stdlib-v1:test`, mean over modules and seeds. In brackets the difference to the best",
        "constant with its 95 % interval. Constants and schedules were chosen on `stdlib-v1:train`.",
        "Made by `python benchmarks/headroom.py choice`.",
        "",
        f"An interval above 0: {where}.",
        "",
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
    ]
    for one in found:
        each = f"{one.each:.3f} ({one.gap:+.3f} [{one.gap_low:+.3f}, {one.gap_high:+.3f}])"
        schedule = f"{one.schedule:.3f} ({one.switch:+.3f} [{one.switch_low:+.3f}, {one.switch_high:+.3f}])"
        cells_ = (
            one.goal,
            f"`{one.search}`",
            one.population,
            f"{one.random:.3f}",
            f"{one.constant:.3f}",
            each,
            schedule,
        )
        lines.append(f"| {' | '.join(map(str, cells_))} | {one.chosen} |")
    return "\n".join(lines) + "\n"


def choice(options: argparse.Namespace) -> None:
    """Compute the matrix and write its table."""
    file = RunsFile(FOLDER / "choice.csv", tuple(Cell.__dataclass_fields__), KEYS)
    if not options.table:
        known = file.rows()
        for goal, search, population, budget in cells():
            if (goal, search, str(population), budget) not in known:
                sys.stderr.write(f"{goal} {search} {population} {budget}\n")
                cell = measured(goal, search, population, budget, options.tests, options.seeds, options.jobs)
                file.add([{name: getattr(cell, name) for name in Cell.__dataclass_fields__}])
    write(table([typed(Cell, row) for row in file.rows().values()]), FOLDER / "choice.md")


def environments(options: argparse.Namespace) -> None:
    """Compute the ladders of the environments."""
    found: list[Ladder] = []
    for env in options.envs or ENVIRONMENTS:
        sys.stderr.write(f"{env}\n")
        request = Request(setting=Setting(env=env), jobs=options.jobs, **ENVIRONMENTS.get(env, {}))
        found.append(measure(request, lambda line: sys.stderr.write(f"  {line}\n")))
        write_all(found, FOLDER / "environments", "python benchmarks/headroom.py environments")


def main() -> int:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["environments", "choice"])
    parser.add_argument("--envs", nargs="+", metavar="ID", help="only these")
    parser.add_argument("--tests", type=int, default=4, help="test modules of the matrix")
    parser.add_argument("--seeds", type=int, default=4, help="seeds of the matrix")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="only rewrite the table")
    options = parser.parse_args()
    (environments if options.what == "environments" else choice)(options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
