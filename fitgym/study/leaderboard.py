"""The leaderboard: agents by goal on `stdlib-v1:test`, from what validation has measured again and from nothing else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from fitgym.errors import InputError
from fitgym.run.setting import DEFAULT_ENV, EngineOptions, defaults
from fitgym.study.comparison import Contrast, contrast
from fitgym.study.null_arms import missing, notice
from fitgym.study.statistics import Interval, iqm
from fitgym.study.trials.episode import Episode
from fitgym.study.validation import Validity
from fitgym.study.verdict import Judged, Verdict, judge
from fitgym.subject.corpus import Corpus

__all__ = ["CORPUS", "Board", "boards", "markdown"]

CORPUS = "stdlib-v1:test"

Values = dict[str, dict[str, dict[int, float]]]  # by agent, subject and seed


@dataclass(frozen=True)
class Board:
    """The agents that pursued one goal under the same conditions.

    Attributes:
        goal: its name.
        conditions: budget and settings, in words.
        values: of the goal, by agent, subject and seed.
        subjects: that a run counts for; an agent without a run on one of them is marked.
        missing: null arms that the board lacks.
    """

    goal: str
    conditions: str
    values: Values
    subjects: tuple[str, ...]
    missing: tuple[str, ...] = ()

    @property
    def one_seed(self) -> bool:
        """No agent has several seeds on a subject, so the board has no verdict."""
        return all(len(runs) < 2 for by_subject in self.values.values() for runs in by_subject.values())

    def judged(self) -> dict[str, Judged[Contrast]]:
        """By agent how it stands to the first of the board; agents without a run in common with it are left out.

        The first is chosen by the same runs, so the correction is for all pairs of agents.
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
        """Agent, interquartile mean of its shares of the most that any agent reached on the subject, runs and subjects; the
        best first."""
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
    """A board for each goal and each set of conditions, of the valid runs of agents on the corpus.

    Args:
        validities: of records of studies. Those that are not valid, have failed, were not made again (budgets in seconds,
            saved agents that are not here) or are about something else do not count. An agent has the name of what was run,
            whatever the study calls the arm.
    """
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
        settings[key][record["arm"]] = record["settings"]  # which says of a constant whether it is the best one
    return [Board(*key, values, subjects, missing(settings[key])) for key, values in sorted(found.items())]


def markdown(found: list[Board]) -> str:
    """The boards as tables; a share has an interval where a subject has several seeds, which is what is drawn from."""
    parts = [f"# Leaderboard on {CORPUS}", "Made from records that `fitgym validate` has found valid."]
    for board in found:
        judged = {} if board.one_seed else board.judged()
        more = "" if board.one_seed else " A12 beside the first | Holm-adjusted p | verdict |"
        rows = [
            f"| | agent | share of the most | runs | subjects |{more}",
            "|---|---|---|---|---|" + "---|" * more.count("|"),
        ]
        for place, (agent, share, runs, subjects) in enumerate(board.lines(), 1):
            of = "" if subjects == len(board.subjects) else f" of {len(board.subjects)}"
            interval = f" [{share.low:.3f}, {share.high:.3f}]" if runs > subjects else ""
            row = f"| {place} | {agent} | {share.value:.3f}{interval} | {runs} | {subjects}{of} |"
            if more:
                one = judged.get(agent)
                row += f" {one.evidence} | {one.shown_p} | {one.verdict} |" if one else " - | - | - |"
            rows.append(row)
        parts += [f"## {board.goal}: {board.conditions}", "\n".join(rows)]
        if board.one_seed:
            parts.append(
                f"{str(Verdict.ONE_SEED).capitalize()}. How far chance alone would move an agent cannot be told."
            )
        else:
            parts.append(
                "A verdict states an effect only if the interval of A12 leaves out 0.5 and p is below 0.05, adjusted for all pairs "
                "of agents."
            )
        if board.missing:
            parts.append(notice(board.missing))
    if not found:
        parts.append("No valid record is about an agent on this corpus.")
    return "\n\n".join(parts) + "\n"


def _agent(record: Mapping[str, Any], made: Mapping[str, Any]) -> str:
    """The agent that was run, with its settings that the conditions of the board do not tell and that are not usual."""
    settings = record["settings"]
    usual = Episode.settings(settings)
    told = {"agent", "env", "goal", "suite", "reward", "generations_per_step", *defaults(EngineOptions)}
    own = {name: value for name, value in settings.items() if name not in told and value != usual.get(name)}
    text = str(made["run"]["agent"])
    return text + (f" ({', '.join(f'{name} {value}' for name, value in sorted(own.items()))})" if own else "")


def _conditions(record: Mapping[str, Any]) -> str:
    """The settings that all runs of one board share besides the goal, in words."""
    settings = record["settings"]
    env = [] if settings["env"] == DEFAULT_ENV else [f"env {settings['env']}"]
    shared = [name for name in ("reward", *defaults(EngineOptions), "generations_per_step") if name in settings]
    return ", ".join([record["budget"], *env, *(f"{name.replace('_', ' ')} {settings[name]}" for name in shared)])
