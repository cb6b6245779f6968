"""Entries of the leaderboard in environments with numbered tasks: the mean score on test tasks, by training seed.

An entry is an agent without training, or all saved agents of one kind with the same hyper-parameters and the same
training, except for the seed. The name of an entry is derived from `agent.json`, not from the name of a folder.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from fitgym.agents._saved import description_of
from fitgym.agents.base import agents, is_saved
from fitgym.envs.tasks import SPLITS
from fitgym.errors import FitgymError
from fitgym.registry import keywords
from fitgym.run.environment import has_tasks, options_of
from fitgym.run.setting import plain
from fitgym.study.validation import Validity

__all__ = ["Scores", "named", "scores"]


@dataclass(frozen=True)
class Scores:
    """The entries in one environment with the same options.

    Attributes:
        env: id of the environment.
        conditions: budget and options that differ from the defaults, in words; "" for none.
        tasks: the test tasks that count, in order.
        values: mean score over the tasks, by entry and training seed.
        incomplete: entries without a run on some of the tasks, with the number of their tasks.
    """

    env: str
    conditions: str
    tasks: tuple[int, ...]
    values: Mapping[str, Mapping[int, float]]
    incomplete: Mapping[str, int]

    @property
    def place(self) -> str:
        """The tasks in words, such as `tasks 200 to 229`."""
        first, last = self.tasks[0], self.tasks[-1]
        return f"tasks {first} to {last}" if last - first + 1 == len(self.tasks) else f"{len(self.tasks)} tasks"


def scores(validities: Iterable[Validity]) -> list[Scores]:
    """Return the entries of each environment, from valid records of `fitgym evaluate --records` on test tasks.

    Records that are invalid or were not repeated with their agent do not count. All tasks count on which some entry has
    a run; an entry that lacks one is incomplete.
    """
    runs: dict[tuple[str, str], dict[tuple[str, int], dict[int, list[float]]]] = defaultdict(dict)
    for one in validities:
        record = one.claim.record
        if not one.valid or not one.made or not _counts(record):
            continue
        entry = named(str(record["agent"]), int(record["seed"]))
        key = str(record["env"]), _conditions(record)
        tasks = runs[key].setdefault(entry, {})
        tasks.setdefault(int(record["options"]["task"]), []).append(float(one.made["goal_value"]))
    return [_scored(*key, found) for key, found in sorted(runs.items())]


def named(agent: str, seed: int) -> tuple[str, int]:
    """Return the name of an agent's entry and its training seed.

    Args:
        agent: as in a record: `name`, `name:argument` or the folder of a saved agent.
        seed: of the run; an agent without training has no other.
    """
    if not is_saved(agent):
        return agent, seed
    description = description_of(Path(agent))
    kind = str(description["agent"])
    usual = keywords(agents().load(kind))
    given = {name: value for name, value in description["hyper_parameters"].items() if value != usual.get(name)}
    options = ",".join(f"{name}={value}" for name, value in given.items())
    trainings = " then ".join(map(_training, description.get("made", {}).get("trainings", ())))
    return f"{kind}{':' if options else ''}{options}{f' ({trainings})' if trainings else ''}", int(description["seed"])


def _training(made: Mapping[str, Any]) -> str:
    if data := made.get("data"):
        return f"{made['steps']} updates from {', '.join(PurePath(folder).name for folder in data.split(','))}"
    return f"{made['steps']} steps"


def _counts(record: Mapping[str, Any]) -> bool:
    """Whether a record is a run on a test task."""
    task = (record.get("options") or {}).get("task")
    if "trial" in record or not isinstance(task, int) or task not in SPLITS["test"]:
        return False
    try:
        return has_tasks(str(record["env"]))
    except FitgymError:
        return False


def _conditions(record: Mapping[str, Any]) -> str:
    usual = plain(options_of(record["env"]))
    own = {
        name: value
        for name, value in record["options"].items()
        if name not in ("task", "split") and value != usual.get(name)
    }
    if (budget := record["budget"]) and budget != usual.get("budget"):
        own["budget"] = budget
    return ", ".join(f"{name} {value}" for name, value in sorted(own.items()))


def _scored(env: str, conditions: str, found: Mapping[tuple[str, int], Mapping[int, list[float]]]) -> Scores:
    tasks = tuple(sorted(set().union(*found.values())))
    values: dict[str, dict[int, float]] = defaultdict(dict)
    incomplete: dict[str, int] = {}
    for (entry, seed), runs in found.items():
        if len(runs) < len(tasks):
            incomplete[entry] = min(len(runs), incomplete.get(entry, len(tasks)))
        else:
            values[entry][seed] = statistics.fmean(statistics.fmean(runs[task]) for task in tasks)
    complete = {entry: seeds for entry, seeds in values.items() if entry not in incomplete}
    return Scores(env, conditions, tasks, complete, incomplete)
