"""Validation: the agent plays the same validation tasks again and again while it trains.

The tasks are not those of the training:

| environment | validation tasks |
|---|---|
| with numbered tasks | tasks 0 to 49, one episode each |
| with a subject | the subjects of the split `validation` of the corpus, one episode each |
| with a split, but without numbers | ten seeds of its split `validation` |
| any other | ten seeds |

`on` selects other subjects or tasks. The agent is saved and played as `fitgym evaluate` would play it, so the training
itself does not change. `validation.csv` in the folder of the agent has a line for each validation: the steps so far,
the mean value, its 95 % bootstrap interval over the episodes, and the number of episodes.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Final

from fitgym.agents.base import Agent
from fitgym.errors import InputError, SubjectError
from fitgym.run.environment import has_subject, has_tasks, options_of
from fitgym.run.evaluation import evaluate
from fitgym.run.setting import Setting
from fitgym.study.statistics import mean_of
from fitgym.suite.text.export import write

__all__ = ["Point", "Validation", "validation_tasks"]

TASKS: Final = "0-49"
"""The default validation tasks of an environment with numbered tasks."""

SEEDS: Final = 10
"""The number of episodes in an environment without subjects and numbered tasks."""


@dataclass(frozen=True, slots=True)
class Point:
    """One validation.

    Attributes:
        step: number of training steps so far.
        mean: mean value of the goal at the end of the episodes; the mean return if there is no goal.
        low, high: ends of its 95 % interval.
        episodes: number of episodes.
    """

    step: int
    mean: float
    low: float
    high: float
    episodes: int


def validation_tasks(setting: Setting, subjects: str, on: str) -> dict[str, Any]:
    """Return the arguments of `fitgym.run.evaluation.evaluate` that select the validation tasks.

    Args:
        setting: of the training.
        subjects: the subjects of the training.
        on: the requested subjects or tasks; "" for the default.

    Raises:
        InputError: there is no default, or the environment has neither subjects nor numbered tasks to select.
    """
    if has_subject(setting.env):
        corpus, colon, split = subjects.partition(":")
        if not on and not (colon and split == "train"):
            raise InputError(
                f"subjects '{subjects}' are no training split of a corpus: name the subjects to validate on, such as "
                "--validate-on stdlib-v1:validation"
            )
        return {"subjects": on or f"{corpus}:validation", "seeds": [0]}
    if has_tasks(setting.env):
        return {"tasks": on or TASKS, "seeds": [0]}
    if on:
        raise InputError(f"environment '{setting.env}' has no subjects and no numbered tasks: leave --validate-on out")
    return {"seeds": range(SEEDS), **({"split": "validation"} if "split" in options_of(setting.env) else {})}


class Validation:
    """Plays the validation tasks at regular intervals, and keeps the points and the best agent.

    Args:
        setting: of the training; its agent and seed are ignored.
        tasks: see `validation_tasks`.
        folder: of the agent.
        keep_best: save the agent with the largest mean in `best` of the folder.
        done: number of steps before the training resumed; later points of the folder are dropped.
        tell: called with each point.
        events: folder for TensorBoard's events; None for none.
    """

    def __init__(
        self,
        setting: Setting,
        tasks: Mapping[str, Any],
        folder: Path,
        keep_best: bool,
        done: int,
        tell: Callable[[Point], None],
        events: Path | None = None,
    ) -> None:
        self._play: dict[str, Any] = {"env": setting.env, "budget": setting.budget, **setting.options, **tasks}
        self._folder, self._keep_best, self._tell, self._events = folder, keep_best, tell, events
        self.points = [point for point in _read(folder / "validation.csv") if 0 < point.step <= done] if done else []

    def add(self, agent: Agent, step: int) -> None:
        """Play the tasks after so many steps; an agent before its first update plays nothing.

        Raises:
            SubjectError: none of the subjects can be used.
        """
        if not agent.ready:
            return
        saved = agent.save(self._folder / "validated")
        rows = list(evaluate([str(saved)], **self._play))
        values = [row.value for row in rows if row.value is not None]
        if not values:
            raise SubjectError(f"there is no validation task that can be played: {rows[0].error}")
        found = mean_of(values, seed=0)
        best = max((point.mean for point in self.points), default=float("-inf"))
        self.points.append(Point(step, found.value, found.low, found.high, len(values)))
        lines = [",".join(each.name for each in fields(Point)), *(_line(point) for point in self.points)]
        write("\n".join(lines) + "\n", self._folder / "validation.csv")
        if self._keep_best and found.value > best:
            shutil.rmtree(self._folder / "best", ignore_errors=True)
            saved.rename(self._folder / "best")
        else:
            shutil.rmtree(saved)
        if self._events is not None:
            _log(self._events, self.points[-1])
        self._tell(self.points[-1])


def _log(folder: Path, point: Point) -> None:
    """Write a point for TensorBoard, which shows each folder as a curve of its own."""
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder)) as writer:
        writer.add_scalar("validation/score", point.mean, point.step)


def _line(point: Point) -> str:
    return ",".join(str(value) for value in astuple(point))


def _read(file: Path) -> list[Point]:
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as lines:
        return [
            Point(int(row["step"]), float(row["mean"]), float(row["low"]), float(row["high"]), int(row["episodes"]))
            for row in csv.DictReader(lines)
        ]
