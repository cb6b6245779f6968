"""A search alone: fixed fitness functions, without an environment or agent."""

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

_IDLE = 200  # consecutive generations without a new execution, after which the search stops


@dataclass(frozen=True, kw_only=True)
class SearchTrial(EngineOptions, Trial):
    """One run of a search algorithm, measured by the coverage of its suite.

    Attributes:
        search, smart, secondary, population: see `fitgym.run.setting.EngineOptions`.
        fitness: the functions that guide the search and measure its suite, joined by +.
        rates: the rates of test generation, a name in `fitgym.testcase.rates.RATES`: "fitgym", or "one_call" for a
            single call with random numbers and no constants of the subject.
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
        """Check that the names exist, and that a fitness function has targets known beforehand."""
        with about("search"):
            parse_search(self.search)
        with about("secondary"):
            SECONDARY.load(self.secondary)
        with about("fitness"):
            if not any(not FITNESS.load(name).dynamic for name in self.fitness.split("+")):
                raise InputError(f"'{self.fitness}' has no targets that are known before the search; add branch")
        if self.population < 2:
            raise InputError(f"population: {self.population} is below 2; expected at least 2")
        with about("rates"):
            if self.rates not in RATES:
                raise UnknownName("rates", self.rates, RATES)

    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Search until the budget is used up, or 200 consecutive generations execute no new test case.

        The second condition is needed because a subject may have fewer test cases of one call than the budget allows.

        The measures are:

        - `share`: the mean, over the fitness functions whose targets are known beforehand, of the share of targets that
          the suite covers. The suite is the archive if the algorithm uses one, otherwise the best suite.
        - the share of each of these functions, under its name;
        - `area`: the area under `share` after each generation, over the executions;
        - `tests` and `statements` of the suite before it is minimised;
        - `lines_run`: how often the suite runs a line of the subject, summed over its test cases, as a measure of its
          run time;
        - `executions` and `generations`.

        The series `covered` is `share` after each generation.

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
                raise InputError(f"the budget of {budget} ended before the first generation; use a larger budget")
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
