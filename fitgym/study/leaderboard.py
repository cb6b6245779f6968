"""The leaderboard, based only on values that validation has measured again.

There are boards of two kinds: agents by goal on the modules of `stdlib-v1:test`, from studies; and agents in
environments with numbered tasks, such as `fitgym/Landscapes-v0`, from `fitgym evaluate --records`.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from fitgym.errors import InputError
from fitgym.run.setting import DEFAULT_ENV, EngineOptions, defaults
from fitgym.study.comparison import Contrast, contrast
from fitgym.study.entries import Scores, scores
from fitgym.study.null_arms import missing, notice
from fitgym.study.statistics import Interval, iqm, mean_of
from fitgym.study.trials.episode import Episode
from fitgym.study.validation import Validity
from fitgym.study.verdict import Judged, Verdict, judge
from fitgym.subject.corpus import Corpus

__all__ = ["CORPUS", "Board", "boards", "markdown", "table"]

CORPUS = "stdlib-v1:test"

Values = dict[str, dict[str, dict[int, float]]]  # by agent, subject and seed


@dataclass(frozen=True)
class Board:
    """The agents that pursued one goal under the same conditions.

    Attributes:
        goal: its name; the id of the environment if there are numbered tasks.
        conditions: budget and settings, in words.
        values: of the goal, by agent, subject and seed.
        subjects: the subjects that count; an agent without a run on one of them is marked.
        missing: null arms that the board lacks.
        notes: sentences about the board.
        scored: whether the values are scores that need no scale: the board then shows their mean over the seeds, instead
            of shares.
    """

    goal: str
    conditions: str
    values: Values
    subjects: tuple[str, ...]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    scored: bool = False

    @property
    def one_seed(self) -> bool:
        """Whether no agent has several seeds on a subject; the board then has no verdicts."""
        return all(len(runs) < 2 for by_subject in self.values.values() for runs in by_subject.values())

    def judged(self) -> dict[str, Judged[Contrast]]:
        """Return the comparison of each agent with the first of the board, if they have runs in common.

        The first agent is chosen by the same runs, so p is corrected for all pairs of agents.
        """
        first, *_ = names = [agent for agent, *_ in self.lines()]
        found = []
        for one, other in combinations(names, 2):
            try:
                found.append(contrast(other, one, self.values[other], self.values[one]))
            except InputError:
                continue
        return {one.evidence.agent: one for one in judge(found) if one.evidence.baseline == first}

    def lines(self) -> list[tuple[str, Interval, int, int]]:
        """Return agent, interquartile mean of its shares, number of runs and number of subjects, the best agent first.

        A share is the value divided by the most that any agent reached on the subject. If the board is `scored`, the mean
        of the values takes the place of the shares.
        """
        if self.scored:
            means = {
                agent: [value for runs in by_subject.values() for value in runs.values()]
                for agent, by_subject in self.values.items()
            }
            lines = [(agent, mean_of(found), len(found), len(self.values[agent])) for agent, found in means.items()]
            return sorted(lines, key=lambda line: (-line[1].value, line[0]))
        most: dict[str, float] = defaultdict(float)
        for by_subject in self.values.values():
            for subject, runs in by_subject.items():
                most[subject] = max(most[subject], *runs.values())
        found = []
        for agent, by_subject in self.values.items():
            width = max(map(len, by_subject.values()))
            shares = np.full((len(by_subject), width), np.nan)
            for row, (subject, runs) in enumerate(sorted(by_subject.items())):
                for column, (_, value) in enumerate(sorted(runs.items())):
                    shares[row, column] = value / most[subject] if most[subject] > 0.0 else 1.0
            found.append((agent, iqm(shares), sum(map(len, by_subject.values())), len(by_subject)))
        return sorted(found, key=lambda line: (-line[1].value, line[0]))


def boards(validities: Iterable[Validity]) -> list[Board]:
    """Return a board for each goal and set of conditions, from the valid runs of agents on the corpus or on test tasks.

    Args:
        validities: of records of studies, or of runs on numbered tasks, see `fitgym.study.entries`. Four kinds do not
            count: invalid ones; failed runs; runs that were not repeated (budgets in seconds, saved agents that are
            missing); and runs of other trials, subjects or tasks. An agent is named after what was run, whatever the
            study calls the arm.
    """
    validities = list(validities)
    subjects = Corpus.load(CORPUS).subjects
    found: dict[tuple[str, str], Values] = {}
    settings: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for one in validities:
        record = one.claim.record
        if not one.valid or not one.made or record.get("trial") != "episode" or record["subject"] not in subjects:
            continue
        key = record["settings"].get("goal", ""), _conditions(record)
        agent = _agent(record, one.made)
        runs = found.setdefault(key, {}).setdefault(agent, {}).setdefault(record["subject"], {})
        runs[record["seed"]] = one.made["measures"]["value"]
        settings[key][record["arm"]] = record["settings"]  # the arm's name tells whether a constant is the best one
    of_corpus = [Board(*key, values, subjects, missing(settings[key])) for key, values in sorted(found.items())]
    return [*of_corpus, *map(_of_tasks, scores(validities))]


def _of_tasks(found: Scores) -> Board:
    """Return the board of an environment; its tasks count as one subject, with the mean over them as value."""
    values = {entry: {found.place: dict(seeds)} for entry, seeds in found.values.items()}
    notes = [f"{entry} is left out: it has {n} of {len(found.tasks)} tasks." for entry, n in found.incomplete.items()]
    baselines = {"random actions (uniform)": "uniform", "a constant action (fixed:NAME)": "fixed:"}
    lacking = [what for what, agent in baselines.items() if not any(entry.startswith(agent) for entry in values)]
    if lacking:
        notes.append(f"Baselines are missing: {' and '.join(lacking)}.")
    conditions = ", ".join(part for part in (found.place, found.conditions) if part)
    return Board(found.env, conditions, values, (found.place,), notes=tuple(notes), scored=True)


def table(found: Iterable[Board]) -> str:
    """Return all values of the boards as CSV: a row for each agent, subject and seed."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("goal", "conditions", "agent", "subject", "seed", "value"))
    for board in found:
        for agent, *_ in board.lines():
            for subject, runs in sorted(board.values[agent].items()):
                rows.writerows(
                    (board.goal, board.conditions, agent, subject, seed, f"{value:.6f}")
                    for seed, value in sorted(runs.items())
                )
    return text.getvalue()


def markdown(found: list[Board]) -> str:
    """Return the boards as Markdown tables; a share has an interval if a subject has several seeds to resample."""
    places = list(dict.fromkeys(board.goal if board.scored else CORPUS for board in found)) or [CORPUS]
    parts = [f"# Leaderboard on {', '.join(places)}", "Based on records that `fitgym validate` found valid."]
    for board in found:
        judged = {} if board.one_seed else board.judged()
        more = "" if board.one_seed else " A12 beside the first | Holm-adjusted p | verdict |"
        head = "score | seeds" if board.scored else "share of the most | runs | subjects"
        rows = [f"| | agent | {head} |{more}", "|---|---|" + "---|" * (head + more).count("|") + "---|"]
        for place, (agent, share, runs, subjects) in enumerate(board.lines(), 1):
            of = "" if subjects == len(board.subjects) else f" of {len(board.subjects)}"
            interval = f" [{share.low:.3f}, {share.high:.3f}]" if runs > subjects else ""
            row = f"| {place} | {agent} | {share.value:.3f}{interval} | {runs} |"
            row += "" if board.scored else f" {subjects}{of} |"
            if more:
                one = judged.get(agent)
                row += f" {one.evidence} | {one.shown_p} | {one.verdict} |" if one else " - | - | - |"
            rows.append(row)
        parts += [f"## {board.goal}: {board.conditions}", "\n".join(rows)]
        if board.one_seed:
            parts.append(f"{str(Verdict.ONE_SEED).capitalize()}. The effect of chance on an agent's place is unknown.")
        else:
            parts.append(
                "A verdict states an effect only if the interval of A12 excludes 0.5 and p, adjusted for all pairs of "
                "agents, is below 0.05."
            )
        if board.missing:
            parts.append(notice(board.missing))
        if board.notes:
            parts.append(" ".join(board.notes))
    if not found:
        parts.append("There is no valid record of an agent on this corpus, or on a test task.")
    return "\n\n".join(parts) + "\n"


def _agent(record: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """Return the agent that was run, with settings that differ from the defaults and are not part of the conditions."""
    settings = record["settings"]
    usual = Episode.settings(settings)
    listed = {"agent", "env", "goal", "suite", "reward", "generations_per_step", *defaults(EngineOptions)}
    own = {name: value for name, value in settings.items() if name not in listed and value != usual.get(name)}
    text = str(made["run"]["agent"])
    return text + (f" ({', '.join(f'{name} {value}' for name, value in sorted(own.items()))})" if own else "")


def _conditions(record: Mapping[str, Any]) -> str:
    """Return the settings that all runs of one board share besides the goal, in words."""
    settings = record["settings"]
    env = [] if settings["env"] == DEFAULT_ENV else [f"env {settings['env']}"]
    shared = [name for name in ("reward", *defaults(EngineOptions), "generations_per_step") if name in settings]
    return ", ".join([record["budget"], *env, *(f"{name.replace('_', ' ')} {settings[name]}" for name in shared)])
