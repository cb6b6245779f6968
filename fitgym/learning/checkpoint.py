"""Checkpoints: an agent in the middle of its training, with what is needed to resume from there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fitgym.agents.base import Agent
from fitgym.errors import InputError
from fitgym.learning.episode import Episode
from fitgym.learning.request import Training
from fitgym.run.environment import options_of
from fitgym.run.setting import plain
from fitgym.suite.text.export import write

__all__ = ["episodes_before", "last_checkpoint", "save_checkpoint"]

_PROGRESS = "progress.json"  # in a checkpoint: the request, and the episodes so far


def episodes_before(checkpoint: Path, request: Training) -> tuple[Episode, ...]:
    """Return the episodes before a checkpoint.

    Raises:
        InputError: the checkpoint belongs to another training than the requested one.
    """
    saved = json.loads((checkpoint / _PROGRESS).read_text("utf-8"))
    theirs, ours = _compared(saved["request"]), _compared(request.to_json())
    for name in {**theirs, **ours}:
        if theirs.get(name) != (asked := ours.get(name)):
            raise InputError(
                f"checkpoint '{checkpoint}' was made with {name} '{theirs.get(name)}', not with '{asked}': use the "
                "same value, or train in another folder"
            )
    return tuple(Episode(**episode) for episode in saved["episodes"])


def _compared(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a resumed training must share with the interrupted one, by name."""
    setting = request["setting"]
    options = plain({**options_of(setting["env"]), **setting["options"]})
    own = {name: setting[name] for name in ("agent", "env", "seed", "budget")}
    return {**own, **options, **{name: request.get(name, "") for name in ("subjects", "normalise", "data")}}


def last_checkpoint(request: Training) -> Path | None:
    """Return the folder of the latest complete checkpoint with at most `steps` steps; None if there is none."""
    folders = [f for f in Path(request.output).glob("checkpoints/*") if f.name.isdigit() and (f / _PROGRESS).is_file()]
    reached = [folder for folder in folders if int(folder.name) <= request.steps]
    return max(reached, key=lambda folder: int(folder.name), default=None)


def save_checkpoint(request: Training, agent: Agent, steps: int, episodes: Sequence[Episode]) -> None:
    """Save the agent after so many steps and the episodes so far.

    The folder gets its final name only when it is complete, so that no training resumes from half of one.
    """
    folder = Path(request.output) / "checkpoints" / str(steps)
    unfinished = agent.save(folder.with_name(f"{steps}.unfinished"))
    progress = {"request": request.to_json(), "episodes": [asdict(episode) for episode in episodes]}
    write(json.dumps(progress) + "\n", unfinished / _PROGRESS)
    if folder.exists():
        shutil.rmtree(folder)
    unfinished.rename(folder)
