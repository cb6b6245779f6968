"""How well does a goal's value distinguish agents? Prints the share of its variance that the agent explains.

    python benchmarks/goal_spread.py --goals diversity mean_diversity

For each module it prints the intraclass correlation of six agents (the goal's own function with each of four others,
`ucb` and `uniform`) over several seeds. It is 1 if only the agent matters, and about 0 if only the seed does. Values
without an upper bound are compared by their logarithm.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

from fitgym.envs.base import GOALS
from fitgym.run.evaluation import run_all
from fitgym.run.setting import Setting

SUBJECTS = ("textwrap", "statistics", "configparser", "difflib")
WITH = ("branch", "exception", "output", "weak_mutation")


def correlation(groups: list[list[float]]) -> float:
    """Return the intraclass correlation of groups of equal size.

    It is (B - W) / (B + (n - 1) W), with mean squares B between and W within the groups.
    """
    n = len(groups[0])
    means = [statistics.fmean(group) for group in groups]
    between = n * statistics.variance(means)
    within = statistics.fmean(statistics.variance(group) for group in groups)
    total = between + (n - 1) * within
    return (between - within) / total if total else 0.0


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goals", nargs="+", choices=GOALS.names(), default=["diversity", "mean_diversity"])
    parser.add_argument("--subjects", nargs="+", default=SUBJECTS)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--budget", default="2000x")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for name in options.goals:
        goal = GOALS.load(name)
        agents = [*(f"fixed:{goal.fitness}+{other}" for other in WITH), "uniform", "ucb"]
        shared = {"goal": name, "budget": options.budget, "population": 20, "generations_per_step": 1}
        wanted = [
            Setting.from_keywords(
                subject=subject,
                agent=agent,
                seed=seed,
                actions=(agent.partition(":")[2],) if agent.startswith("fixed") else None,
                **shared,
            )
            for subject in options.subjects
            for agent in agents
            for seed in range(options.seeds)
        ]
        values: dict[str, dict[str, list[float]]] = {}
        for row in run_all(wanted, options.jobs):
            if row.value is None:
                sys.stderr.write(f"failed: {row.setting.subject}: {row.error}\n")
                return 1
            value = row.value if goal.highest < math.inf else math.log1p(row.value)
            values.setdefault(row.setting.subject, {}).setdefault(row.setting.agent, []).append(value)
        found = {subject: correlation(list(groups.values())) for subject, groups in values.items()}
        shown = ", ".join(f"{subject} {one:.2f}" for subject, one in found.items())
        print(f"{name}: mean {statistics.fmean(found.values()):.2f} ({shown})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
