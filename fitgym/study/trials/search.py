"""A search by itself: fitness functions that stay the same, no environment and no agent."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import ClassVar

from fitgym.engine import FITNESS, SECONDARY, Engine, parse_search
from fitgym.errors import InputError, UnknownName
from fitgym.evolution.budget import Budget
from fitgym.evolution.proxies import PROXIES
from fitgym.execution.executor import Executor
from fitgym.run.setting import EngineOptions
from fitgym.study.statistics import area_under_curve
from fitgym.study.trials.base import Measured, Trial, about
from fitgym.subject.source import locate
from fitgym.testcase.rates import RATES

__all__ = ["SearchTrial"]

_IDLE = 200  # generations in a row that execute nothing, after which there is nothing left to find


@dataclass(frozen=True, kw_only=True)
class SearchTrial(EngineOptions, Trial):
    """One run of a search algorithm, measured by the coverage of its suite.

    Attributes:
        search, smart, secondary, population: see `fitgym.run.setting.EngineOptions`.
        fitness: the functions that guide it and by which its suite is judged, joined by +.
        rates: what test cases are made of, a name in `fitgym.testcase.rates.RATES`: "fitgym", or "one_call" for a single call
            with random numbers that take nothing from the subject.
    """

    fitness: str = "branch"
    rates: str = "fitgym"

    metrics: ClassVar[dict[str, bool]] = {
        "share": True,
        "area": True,
        "tests": False,
        "statements": False,
        "lines_run": False,
    }
    course: ClassVar[str] = "covered"
    units: ClassVar[str] = "xgs"

    def check(self, budget: str) -> None:
        """The names must be known, and something must be to be covered."""
        with about("search"):
            parse_search(self.search)
        with about("secondary"):
            SECONDARY.load(self.secondary)
        with about("fitness"):
            if not any(not FITNESS.load(name).dynamic for name in self.fitness.split("+")):
                raise InputError(f"'{self.fitness}' has no targets that are known beforehand: add branch")
        if self.population < 2:
            raise InputError(f"population: {self.population} is below 2")
        with about("rates"):
            if self.rates not in RATES:
                raise UnknownName("rates", self.rates, RATES)

    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Search until the budget is used up, or 200 generations have found no test case that is new: of one call
        a subject may have fewer test cases than the budget counts.

        Measured are `share`, the mean over the fitness functions (those whose targets are known beforehand) of the share of
        the targets that the suite covers: what the archive holds where the algorithm works with one, else its best suite
        alone; the share of each function under its name; the `area` under the share after each generation, over the
        executions; `tests` and `statements` of the suite before it is minimised; `lines_run`, how often it runs a line of the
        subject, all its test cases together, which stands for the time that it takes; `executions` and `generations`. The
        series `covered` is the share after each generation.

        Raises:
            InputError: the subject cannot be used, or the time was over before the first generation.
        """
        began = time.monotonic()
        spent = Budget.parse(budget)
        functions = tuple(self.fitness.split("+"))
        judges = [name for name in functions if not FITNESS.load(name).dynamic]
        covered: list[float] = []
        executions: list[int] = []
        with Executor(locate(subject, path)) as executor:
            engine = Engine(
                executor,
                fitness=functions,
                **self.engine(),
                seed=seed,
                budget=spent if spent.deterministic else None,
                deadline=None if spent.deterministic else began + spent.amount,
                rates=RATES[self.rates],
            )
            idle = 0
            while not engine.over and idle < _IDLE:
                before = engine.executions
                engine.step()
                idle = 0 if engine.executions > before else idle + 1
                suite = engine.best_suite() if engine.uses_archive else list(engine.best.testcases)
                shares = {name: c / max(1, n) for name, (c, n) in engine.coverage_of(suite).items() if name in judges}
                covered.append(statistics.fmean(shares.values()))
                executions.append(engine.executions)
            if not covered:
                raise InputError(f"the budget of {budget} ended before the first generation: give more")
            lines_run = engine.proxies(suite)[:, PROXIES.index("covered_statements")].sum()
        return Measured(
            {
                "share": covered[-1],
                **shares,
                "area": area_under_curve(executions, covered),
                "tests": len(suite),
                "statements": sum(map(len, suite)),
                "lines_run": float(lines_run),
                "executions": engine.executions,
                "generations": engine.generation,
            },
            {"covered": covered, "executions": executions},
            {"subject": subject, "search": self.search, "seed": seed, "budget": budget},
            {"run": time.monotonic() - began, **engine.timings},
        )
