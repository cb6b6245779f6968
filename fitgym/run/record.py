"""The record of a run: its request and its results as one JSON object, which `fitgym replay` can repeat."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium

from fitgym import __version__
from fitgym.envs.base import SearchEnv
from fitgym.errors import InputError
from fitgym.evolution.budget import Budget
from fitgym.run.schema import parsed, read_text
from fitgym.run.setting import Setting

__all__ = ["read", "record"]


def record(env: gymnasium.Env[Any, Any], setting: Setting, info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of the last episode in `env`.

    Args:
        env: an environment of fitgym, or a wrapper around one.
        setting: the setting of the run; the record takes its budget and seed from it.
        info: the info of the last step.

    Returns:
        `fitgym_version`, `python`, `env`, `subject`, `agent`, `seed`, `budget`, `options` (all that the result depends
        on), `steps`, `generations`, `executions`, `goal_value`, `actions`, `rewards`; with a subject also
        `source_sha256`.

    Raises:
        InputError: the environment keeps no record.
    """
    inner: Any = env.unwrapped
    if not hasattr(inner, "record"):
        raise InputError(f"environment '{setting.env}' keeps no record, so its episodes cannot be repeated")
    episode = inner.record()
    source = {}
    if isinstance(inner, SearchEnv) and inner.engine is not None:
        source["source_sha256"] = hashlib.sha256(inner.engine.subject.source.encode()).hexdigest()
    return {
        "fitgym_version": __version__,
        "python": platform.python_version(),
        "env": setting.env,
        "subject": setting.subject,
        **source,
        "agent": setting.agent,
        "seed": setting.seed,
        "budget": str(Budget.parse(setting.budget)) if setting.budget else episode["budget"],
        "options": episode["options"],
        "steps": len(episode["actions"]),
        "generations": int(info["generation"]),
        "executions": int(info["executions"]),
        "goal_value": float(info["goal_value"]),
        "actions": episode["actions"],
        "rewards": episode["rewards"],
    }


def read(file: str | Path) -> dict[str, Any]:
    """Read the record in a file.

    Raises:
        InputError: the file cannot be read, or it holds no record.
    """
    source = f"the record '{file}'"
    found = parsed(read_text(Path(file), source), source)
    if not isinstance(found, dict):
        raise InputError(f"'{file}' holds a {type(found).__name__}, expected a record: an object")
    return found
