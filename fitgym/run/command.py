"""The command line that repeats a run."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from fitgym.envs.base import GOALS
from fitgym.evolution.budget import Budget
from fitgym.run.setting import DEFAULT_ENV, FitnessOptions, Options, Setting, defaults

__all__ = ["command"]


def command(setting: Setting, budget: Budget, *, format: str = "pytest", tests: str | Path = "") -> str:
    """Return the `fitgym generate` command of a run, without local paths.

    Args:
        setting: the setting of the run.
        budget: the budget of the run.
        format: the format of the suite.
        tests: the folder with existing tests; "" for none.
    """
    known = defaults(FitnessOptions)
    parts = ["fitgym", "generate", setting.subject]
    if setting.env == DEFAULT_ENV:
        parts.append(f"--goal {setting.option('goal')}")
    else:
        parts.append(f"--env {setting.env}")
    if setting.agent:
        parts.append(f"--agent {setting.agent}")
    usual = {**known, "search": GOALS.load(str(setting.option("goal"))).search}
    given = {name: value for name, value in setting.options.items() if value != usual.get(name)}
    for name in sorted(given, key=[*known, *given].index):
        if name in known and name not in Options.local and (name != "goal" or setting.env != DEFAULT_ENV):
            parts.append(_flag(name, given[name]))
        elif name not in known:
            parts.append(f"--option {shlex.quote(f'{name}={_text(given[name])}')}")
    parts += [f"--budget {budget}", f"--seed {setting.seed}"]
    if tests:
        folder = Path(tests)
        parts.append(f"--tests {shlex.quote(folder.name if folder.is_absolute() else folder.as_posix())}")
    if format != "pytest":
        parts.append(f"--format {format}")
    return " ".join(parts)


def _flag(name: str, value: Any) -> str:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{flag}" if value else f"--no-{flag}"
    return f"--{flag} {shlex.quote(_text(value))}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
