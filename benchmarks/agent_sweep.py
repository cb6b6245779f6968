"""Which hyper-parameters should be the defaults? Tries a small grid on subjects that no result is reported for.

    python benchmarks/agent_sweep.py --seeds 3 --jobs 2 --json sweep.json
    python benchmarks/agent_sweep.py --agents ucb linucb --goals exceptions --budget 2000x --population 10

For each family of agents it prints two things. The first is the result of each setting as a share of the best result of
the family on the same subject and seed, averaged over seeds, subjects and goals. The second is the comparison with the
present default (A12 with its 95 % interval, Holm-adjusted p, verdict). A setting replaces the default if the verdict is
"better". Rewards are those of `--reward`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from fitgym.run.evaluation import Row, evaluate, summary
from fitgym.study.comparison import contrasts
from fitgym.study.verdict import judge
from fitgym.suite.text.export import write

GRIDS: dict[str, tuple[str, ...]] = {
    # The first setting is the default.
    "ucb": ("", "c=0.1", "c=1", "discount=0.97", "window=100", "c=1.414,normalise=none"),
    "factored_ucb": ("", "c=0.3", "discount=0.97"),
    "linucb": ("", "features=action", "features=action,discount=0.97"),
}
"""Twelve settings by agent. `ucb:c=1.414,normalise=none` is UCB1 on unscaled rewards."""


def named(family: str, setting: str) -> str:
    """Return the agent with its options, as a user writes it."""
    return f"{family}:{setting}" if setting else family


def lines(family: str, goals: dict[str, list[Row]]) -> Iterable[str]:
    """Return the result of each setting of a family, best first."""
    shares: dict[str, list[float]] = {}
    for rows in goals.values():
        for line in summary(rows):
            if line["share"] is not None:
                shares.setdefault(line["agent"], []).append(line["share"])
    # The same module under another goal counts as another subject.
    together = [
        replace(row, setting=replace(row.setting, subject=f"{row.setting.subject} ({goal})"))
        for goal, rows in goals.items()
        for row in rows
    ]
    beside = {found.evidence.agent: found for found in judge(contrasts(together, [family]))}
    for name in sorted(shares, key=lambda name: -statistics.fmean(shares[name])):
        found = beside.get(name)
        tail = "the default"
        if found is not None:
            tail = f"A12 {found.evidence}  Holm-adjusted p {found.shown_p}  {found.verdict}"
        yield f"  {name:<34} {statistics.fmean(shares[name]):.3f}  {tail}"


def main() -> int:
    """Run the sweep and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", choices=list(GRIDS), default=list(GRIDS))
    parser.add_argument("--subjects", default="stdlib-v1:validation")
    parser.add_argument("--goals", nargs="+", default=["exceptions", "diversity", "strong_mutation"])
    parser.add_argument("--budget", default="1000x")
    parser.add_argument("--reward", help="default: that of the environments")
    parser.add_argument("--population", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    everything: list[Row] = []
    for family in options.agents:
        names = [named(family, setting) for setting in GRIDS[family]]
        goals: dict[str, list[Row]] = {}
        for goal in options.goals:
            goals[goal] = []
            for row in evaluate(
                names,
                options.subjects,
                seeds=range(options.seeds),
                goal=goal,
                budget=options.budget,
                population=options.population,
                **({"reward": options.reward} if options.reward else {}),
                jobs=options.jobs,
            ):
                goals[goal].append(row)
                sys.stderr.write(f"{goal}: {row.setting.agent} on {row.setting.subject}: {row.error or row.value}\n")
        everything += [row for rows in goals.values() for row in rows]
        print(f"{family}, share of the best of its settings over {', '.join(options.goals)}")
        print(*lines(family, goals), sep="\n", flush=True)
        if options.json is not None:
            write(json.dumps([row.to_json() for row in everything], indent=1) + "\n", options.json)
    failed = {row.setting.subject: row.error for row in everything if row.error}
    for subject, error in failed.items():
        print(f"failed: {subject}: {error}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
