"""A search on an artificial problem: targets are formulas, without a subject or worker."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

from fitgym.engine import parse_search
from fitgym.errors import InputError, UnknownName
from fitgym.evolution.budget import Budget
from fitgym.formulas.artificial import KINDS, ArtificialEngine, Problem
from fitgym.study.statistics import area_under_curve
from fitgym.study.trials.base import Measured, Trial, about

__all__ = ["Artificial"]


@dataclass(frozen=True)
class Artificial(Trial):
    """One run of a search on an artificial problem.

    Its subjects are problems: `gradient:30`, or several groups as in `gradient:10+infeasible:100`. The optima of a
    problem are drawn from the seed, the same for every arm.

    Attributes:
        search: algorithm with options.
        population: number of individuals, unless `search` sets it.
    """

    search: str = "mio:population=1"
    population: int = 50

    metrics: ClassVar[dict[str, bool]] = {"covered": True, "area": True}
    course: ClassVar[str] = "covered"
    units: ClassVar[str] = "x"

    def check(self, budget: str) -> None:
        """Check that the algorithm exists."""
        with about("search"):
            parse_search(self.search)

    def check_subject(self, subject: str, path: str | None) -> None:
        """Check that the subject is a problem with targets."""
        Problem.draw(_groups(subject), 0)

    def estimate(self, budget: str) -> float:
        """Return the estimated seconds of a run: 50 us for each evaluation of formulas."""
        return 5e-5 * Budget.parse(budget).amount

    def measure(self, subject: str, seed: int, budget: str, path: str | None) -> Measured:
        """Search until every feasible target is covered or the budget is used up.

        The measures are `covered`, the share of the feasible targets; the `area` under it over the evaluations (its
        mean, as if a run that covers everything continued to its budget); and `evaluations`.
        """
        began = time.monotonic()
        limit = int(Budget.parse(budget).amount)
        problem = Problem.draw(_groups(subject), seed)
        engine = ArtificialEngine(problem, search=self.search, seed=seed, population=self.population, budget=limit)
        feasible = int(problem.feasible.sum())
        covered: list[float] = []
        evaluations: list[int] = []
        while engine.spent < 1.0 and engine.n_covered < feasible:
            engine.step()
            share = engine.n_covered / feasible
            if not covered or share > covered[-1]:
                covered.append(share)
                evaluations.append(engine.evaluations)
        covered.append(covered[-1])
        evaluations.append(limit)
        return Measured(
            {
                "covered": covered[-1],
                "area": area_under_curve(evaluations, covered),
                "evaluations": engine.evaluations,
            },
            {"covered": covered, "evaluations": evaluations},
            {"problem": subject, "search": self.search, "seed": seed, "budget": budget},
            {"run": time.monotonic() - began},
        )


def _groups(subject: str) -> dict[str, int]:
    """Return the groups of a problem.

    Raises:
        InputError: the text is not a problem, or no target of it can be covered.
    """
    groups: dict[str, int] = {}
    for part in subject.split("+"):
        kind, colon, size = part.partition(":")
        if kind not in KINDS:
            raise UnknownName("kind of targets", kind, KINDS)
        if not (colon and size.isdecimal() and int(size) > 0) or kind in groups:
            raise InputError(
                f"'{subject}' is not a problem; expected groups of targets such as gradient:10+infeasible:100"
            )
        groups[kind] = int(size)
    if set(groups) == {"infeasible"}:
        raise InputError(f"'{subject}' has no target that can be covered; add a group such as gradient:10")
    return groups
