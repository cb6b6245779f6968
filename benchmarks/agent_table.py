"""Which agents beat which baselines? Compares ten agents, including null arms, for three goals.

    python -m pip install --no-deps --target results/subjects -r benchmarks/requirements_subjects.txt
    python benchmarks/agent_table.py --constants --jobs 2
    python benchmarks/agent_table.py --jobs 2
    python benchmarks/agent_table.py --goals exceptions --agents ucb uniform --seeds 3 --folder results/agents
    python benchmarks/agent_table.py --seeds 0

All runs of a goal have the same population size and the same budget in test-case executions. Runs with the same subject
and seed start with the same population. Each row is appended to FOLDER/runs.csv at once, and existing rows are not run
again, so an interrupted benchmark resumes. `--seeds 0` only rewrites the table (table.md) and the figures (agents.svg
and agents-dark.svg, which need matplotlib). `--constants` instead runs fixed combinations of functions on six modules
of the training split, into FOLDER/constants.csv. The best of them is the arm "best constant" of the table. README.md in
this folder explains the columns.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs_file import Key, RunsFile

from fitgym.agents.pretrained import constant, policies
from fitgym.envs.fitness_selection import GOALS
from fitgym.run.evaluation import Row, run_all, summary
from fitgym.run.setting import SearchOptions, Setting, defaults
from fitgym.study.comparison import Contrast, contrasts
from fitgym.study.null_arms import BEST_CONSTANT, NULL_ARMS, best_constant, notice
from fitgym.study.verdict import Judged, Verdict, judge, too_few, verdict
from fitgym.subject.corpus import Corpus
from fitgym.suite.text.export import write

HERE = Path(__file__).parent

BUDGETS = {"exceptions": "5000x", "diversity": "20000x", "strong_mutation": "2000x"}
"""Budgets by goal. Strong mutation takes ten times as long, because its test cases also run on mutants."""

POPULATION = 50

SUBJECTS = {
    "exceptions": str(HERE / "agents" / "subjects.toml"),
    "diversity": "stdlib-v1:test",
    "strong_mutation": "stdlib-v1:test",
}
"""Modules by goal, chosen so that more executions than the budget would find more."""

REWARD = str(defaults(SearchOptions)["reward"])

TRAINING = "fractions,statistics,configparser,ipaddress,urllib.parse,email.message"
"""Modules of `stdlib-v1:train` that select the best constant."""

TRAINING_BUDGETS = {"exceptions": "5000x", "diversity": "5000x", "strong_mutation": "1000x"}

RANDOM_SEARCH = "random search"
BASELINES = (BEST_CONSTANT, "fixed own", "fixed all", "random_fixed", "uniform", RANDOM_SEARCH)
BETTER = Verdict.BETTER

LEARNING = ("ucb", "factored_ucb", "linucb", "dsg_sarsa", "released_ucb", "released_dsg_sarsa")
"""The agents that learn within a run."""

DEFAULT = ("ucb", "factored_ucb", *BASELINES)
"""The default agents of the benchmark."""

AGENTS = (
    *("ucb", "factored_ucb", "linucb", "dsg_sarsa", "pretrained"),
    *BASELINES,
    *("released_ucb", "released_dsg_sarsa", "oracle:tries=4"),
)
COLUMNS = (
    *("goal", "budget", "population", "agent", "subject", "seed"),
    *("value", "rewards", "steps", "generations", "executions", "error"),
)


@dataclass(frozen=True)
class Contestant:
    """An agent of the table: its name there, and its run.

    Attributes:
        name: in the table.
        goal: its name.
        constant: the agent behind "best constant".
        budget: of its runs; "" for the goal's.
    """

    name: str
    goal: str
    constant: str = ""
    budget: str = ""

    @property
    def spends(self) -> str:
        """The budget of its runs."""
        return self.budget or BUDGETS[self.goal]

    def setting(self, subject: str, seed: int, path: str | None = None) -> Setting:
        """Return the run of this agent on a subject."""
        functions = GOALS.load(self.goal).functions
        everything = "+".join(functions)
        agents = {
            "fixed own": f"fixed:{functions[0]}",
            "fixed all": f"fixed:{everything}",
            BEST_CONSTANT: self.constant,
            RANDOM_SEARCH: "uniform",  # random search ignores the active functions
        }
        agent = agents.get(self.name, self.name)
        combination = agent.partition(":")[2]
        search = {"search": "random_search"} if self.name == RANDOM_SEARCH else {}
        return Setting.from_keywords(
            agent=agent,
            subject=subject,
            seed=seed,
            goal=self.goal,
            budget=self.spends,
            path=path,
            actions=(combination,) if agent.startswith("fixed:") else None,
            populations="per-action" if self.name.startswith("released") else "shared",
            population=POPULATION,
            generations_per_step=1,  # so that a run has more decisions than actions to choose from
            **search,
        )

    def key(self, subject: str, seed: int) -> Key:
        """Return the first columns of the row of a run."""
        return self.goal, self.spends, str(POPULATION), self.name, subject, str(seed)


def make(wanted: dict[Key, Setting], file: RunsFile, jobs: int) -> None:
    """Run the missing runs and write a row for each."""
    rows = file.rows()
    missing = [(key, setting) for key, setting in wanted.items() if key not in rows]
    keys: dict[str, list[Key]] = {}  # contestants may share a run, for example if the best constant is `fixed own`
    for key, setting in missing:
        keys.setdefault(_name(setting), []).append(key)

    def made() -> Iterator[dict[str, Any]]:
        for done, row in enumerate(run_all([setting for _, setting in missing], jobs), 1):
            key = keys[_name(row.setting)].pop()
            yield _row(key, row)
            sys.stderr.write(f"{done} of {len(missing)}: {', '.join(key)}: {row.error or f'{row.value:g}'}\n")

    file.add(made())
    file.sort(lambda key: (*key[:5], int(key[5])))


def _name(setting: Setting) -> str:
    return json.dumps(setting.to_json(), sort_keys=True)


def _row(key: Key, row: Row) -> dict[str, Any]:
    value = "" if row.value is None else repr(row.value)
    found = (value, repr(row.rewards), row.steps, row.generations, row.executions, row.error)
    return dict(zip(COLUMNS, (*key, *found), strict=True))


def read(rows: Iterable[dict[str, str]], goal: str, budget: str = "") -> list[Row]:
    """Return the rows of one goal as `fitgym evaluate` writes them, with the agents' names in the table."""
    return [
        Row(
            Setting.from_keywords(
                agent=row["agent"],
                subject=row["subject"],
                seed=int(row["seed"]),
                goal=goal,
                budget=row["budget"],
                population=int(row["population"]),
            ),
            float(row["value"]) if row["value"] else None,
            float(row["rewards"]),
            int(row["steps"]),
            int(row["generations"]),
            int(row["executions"]),
            row["error"],
        )
        for row in rows
        if row["goal"] == goal and (row["budget"], row["population"]) == (budget or BUDGETS[goal], str(POPULATION))
    ]


def candidates(goal: str) -> list[str]:
    """Return the candidate constants: the goal's own function alone, with each other one, and all functions."""
    own, *others = GOALS.load(goal).functions
    return [f"fixed:{name}" for name in (own, *(f"{own}+{other}" for other in others), "+".join((own, *others)))]


def chosen(file: RunsFile) -> dict[str, str]:
    """Return the best constant of the training split by goal, for goals with runs there."""
    rows = {goal: read(file.rows().values(), goal, TRAINING_BUDGETS[goal]) for goal in BUDGETS}
    training = Corpus.load(TRAINING).subjects
    return {goal: best_constant(found, training) for goal, found in rows.items() if found}


Found = dict[tuple[str, str], Judged[Contrast]]
"""Comparisons by agent and baseline."""


def compared(rows: Sequence[Row]) -> Found:
    """Compare every agent with every baseline that has rows, judged together. Two baselines form one pair."""
    there = {row.setting.agent for row in rows if row.value is not None}
    every = contrasts(rows, [name for name in BASELINES if name in there])
    once = {frozenset((one.agent, one.baseline)): one for one in every}
    p = {pair: judged.p for pair, judged in zip(once, judge(once.values()), strict=True)}
    adjusted = [(one, p[frozenset((one.agent, one.baseline))]) for one in every]
    return {(one.agent, one.baseline): Judged(one, p, verdict(one, p)) for one, p in adjusted}


def table(goal: str, rows: Sequence[Row], found: Found, constant: str = "") -> str:
    """Return the section of one goal in Markdown.

    Args:
        goal: its name.
        rows: of the goal.
        found: its comparisons.
        constant: the agent behind "best constant".
    """
    steps = sorted(row.steps for row in rows if row.value is not None)
    there = {row.setting.agent for row in rows if row.value is not None}
    shown = [name for name in BASELINES if name in there]
    subjects = len({row.setting.subject for row in rows})
    tests = len({frozenset(pair) for pair in found})
    lines = [
        f"## {goal}, {BUDGETS[goal]}, population {POPULATION}, reward {REWARD}, a decision in each generation",
        "",
        f"{subjects} subjects; decisions in a run: {steps[0]} to {steps[-1]}, median "
        f"{steps[len(steps) // 2]}. A12 [95 % interval] is the probability that a run of the agent reaches more than one "
        f"of the baseline; p is Holm-adjusted for the {tests} comparisons of this table. Bold: the interval leaves 0.5 out "
        "and p is below 0.05.",
        "",
    ]
    if constant:
        lines += [f"Best constant, chosen on six modules of `stdlib-v1:train`: `{constant}`.", ""]
    if too_few(subjects, tests):
        lines += [f"{subjects} subjects are too few to show any difference among {tests} comparisons.", ""]
    if lacking := [name for name in NULL_ARMS if name not in there]:
        lines += [notice(lacking), ""]
    lines += [
        "| agent | runs | failed | median | share of best | " + " | ".join(f"A12, {name}" for name in shown) + " |",
        "|---|---|---|---|---|" + "---|" * len(shown),
    ]
    for line in summary(rows):
        cells = [_called(line["agent"], goal), str(line["runs"]), str(line["failed"])]
        cells += ["-", "-"] if line["share"] is None else [f"{line['median']:.4g}", f"{line['share']:.3f}"]
        cells += [_shown(found.get((line["agent"], name))) for name in shown]
        lines.append("| " + " | ".join(cells) + " |")
    action = declared(goal)
    if action is not None and any(row.setting.agent == "pretrained" for row in rows):
        lines += ["", f"`pretrained` is a constant here: it takes `{action}` in every state."]
    lines += ["", *(_said(line["agent"], found) for line in summary(rows) if line["agent"] not in BASELINES)]
    return "\n".join([*lines, ""])


def declared(goal: str) -> str | None:
    """Return the only action of the shipped policy for a goal, None if it takes several."""
    return next((constant(folder) for folder in policies().values() if folder.name == goal), None)


def _called(agent: str, goal: str) -> str:
    return "pretrained (constant)" if agent == "pretrained" and declared(goal) is not None else agent


def _said(agent: str, found: Found) -> str:
    """Describe which baselines an agent beats, which beat it, and which show no difference."""
    by_verdict: dict[Verdict, list[str]] = {one: [] for one in Verdict}
    for name in BASELINES:
        if (agent, name) in found:
            by_verdict[found[agent, name].verdict].append(name)
    words = {
        Verdict.BETTER: "is better than",
        Verdict.WORSE: "is worse than",
        Verdict.OPEN: f"{Verdict.OPEN} beside",
        Verdict.ONE_SEED: f"{Verdict.ONE_SEED} beside",
    }
    parts = [f"{words[verdict]} {', '.join(names)}" for verdict, names in by_verdict.items() if names]
    return f"- `{agent}`: {'; '.join(parts)}."


def _shown(found: Judged[Contrast] | None) -> str:
    if found is None:
        return "-"
    text = f"{found.evidence}, p = {found.shown_p}"
    return f"**{text}**" if found.verdict.stated else text


def finding(goals: dict[str, Found], reference: str) -> str:
    """Return a sentence about the learning agents that beat the reference, or else `uniform`."""

    def shown(baseline: str) -> str:
        won = {
            goal: [name for name in LEARNING if (name, baseline) in found and found[name, baseline].verdict is BETTER]
            for goal, found in goals.items()
        }
        return ", ".join(f"{' and '.join(names)} for {goal.replace('_', ' ')}" for goal, names in won.items() if names)

    if parts := shown(reference):
        return f"Shown to beat {reference} while learning: {parts}"
    none = f"no agent that learns within a run is shown to beat {reference}"
    if parts := shown("uniform"):
        return f"Learning beats chance ({parts}),\nbut {none}"
    return none.capitalize()


def figure(goals: dict[str, Found], path: Path, *, dark: bool = False) -> None:
    """Draw the comparison of agents with one baseline for each goal: points with intervals.

    A point is filled if an effect is shown.
    """
    import matplotlib

    matplotlib.use("svg")
    ink, faint = ("#e6edf3", "#8b949e") if dark else ("#1f2328", "#656d76")
    matplotlib.rcParams.update({"svg.hashsalt": "fitgym", "svg.fonttype": "none", "font.size": 11})
    matplotlib.rcParams.update(dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), ink))
    from matplotlib import pyplot

    baselines = {baseline for found in goals.values() for _, baseline in found}
    if not baselines:  # no comparison is available
        return
    reference = next(name for name in ("fixed own", *BASELINES) if name in baselines)
    names = [name for name in AGENTS if any((name, reference) in found for found in goals.values())][:10]
    size = (3.6 * len(goals) + 1.2, 0.36 * len(names) + 1.7)
    pane, axes = pyplot.subplots(1, len(goals), figsize=size, sharey=True, squeeze=False)
    for axis, (goal, found) in zip(axes[0], goals.items(), strict=True):
        axis.axvline(0.5, color=faint, linewidth=1)
        for at, name in enumerate(names):
            if (name, reference) not in found:
                continue
            judged = found[name, reference]
            one, stated = judged.evidence, judged.verdict.stated
            color = faint if not stated else "#3fb950" if one.a12 > 0.5 else "#f0883e"
            axis.plot([one.low, one.high], [at, at], color=color, linewidth=2)
            axis.plot([one.a12], [at], "o", color=color, markersize=7, markerfacecolor=color if stated else "none")
        axis.set_title(f"{goal.replace('_', ' ')}, {BUDGETS[goal]}", fontsize=11, color=ink)
        axis.set_xlabel("A12")
        axis.set_xlim(-0.03, 1.03)
        axis.set_facecolor("none")
        for side in axis.spines.values():
            side.set_visible(False)
    axes[0][0].set_yticks(range(len(names)), names)
    axes[0][0].invert_yaxis()
    pane.suptitle(finding(goals, reference), fontsize=12, fontweight="bold", color=ink)
    note = f"Reward {REWARD}. A12 beside {reference}: above 0.5 the agent reaches more. Filled: the effect is shown."
    pane.text(0.5, 0.01, note, ha="center", fontsize=9, color=faint)
    pane.tight_layout(rect=(0, 0.05, 1, 1))
    pane.savefig(path, metadata={"Date": None}, transparent=True, bbox_inches="tight")
    pyplot.close(pane)


def main() -> int:
    """Run the missing runs, and write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--goals", nargs="+", choices=list(BUDGETS), default=list(BUDGETS))
    parser.add_argument("--agents", nargs="+", choices=AGENTS, default=DEFAULT)
    parser.add_argument("--subjects", help="instead of those of the goal")
    parser.add_argument("--seeds", type=int, default=10, help="number of seeds, from 0")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=HERE / "agents", metavar="FOLDER")
    parser.add_argument("--no-figure", action="store_true")
    parser.add_argument("--constants", action="store_true", help="only run constants on the training modules")
    options = parser.parse_args()
    file = RunsFile(options.folder / "runs.csv", COLUMNS, 6)
    training = RunsFile(options.folder / "constants.csv", COLUMNS, 6)
    constants = chosen(training)
    if options.constants:
        contestants = [
            Contestant(name, goal, budget=TRAINING_BUDGETS[goal]) for goal in options.goals for name in candidates(goal)
        ]
        options.subjects = TRAINING
    else:
        contestants = [
            Contestant(name, goal, constants.get(goal, "")) for goal in options.goals for name in options.agents
        ]
        contestants = [one for one in contestants if one.name != BEST_CONSTANT or one.constant]
    corpora = {goal: Corpus.load(options.subjects or SUBJECTS[goal]) for goal in options.goals}
    wanted = {
        one.key(subject, seed): one.setting(subject, seed, corpora[one.goal].path)
        for seed in range(options.seeds)
        for one in contestants
        for subject in corpora[one.goal].subjects
    }
    make(wanted, training if options.constants else file, options.jobs)
    if options.constants:
        sys.stdout.write("".join(f"{goal}: {agent}\n" for goal, agent in chosen(training).items()))
        return 0
    rows = file.rows().values()
    goals = {goal: read(rows, goal) for goal in BUDGETS}
    with_runs = {goal: rows for goal, rows in goals.items() if any(row.value is not None for row in rows)}
    found = {goal: compared(rows) for goal, rows in with_runs.items()}
    text = "\n".join(table(goal, rows, found[goal], constants.get(goal, "")) for goal, rows in with_runs.items())
    sys.stdout.write(text)
    write(text, options.folder / "table.md")
    if not options.no_figure:
        figure(found, options.folder / "agents.svg")
        figure(found, options.folder / "agents-dark.svg", dark=True)
    failed = {row.setting.subject: row.error for rows in goals.values() for row in rows if row.error}
    for subject, error in failed.items():
        sys.stderr.write(f"failed: {subject}: {error}\n")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
