"""The saved form of an agent: a folder with `agent.json` and `arrays.npz`, without pickles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from zipfile import BadZipFile

import msgspec
import numpy as np
from numpy.typing import NDArray

from fitgym.errors import InputError

__all__ = ["FORMAT", "arrays_of", "description_of", "same_environment", "write"]

FORMAT = 1
"""Version of the saved form; `description_of` refuses any other."""

_KINDS: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "agent": str,
        "space": dict[str, Any],
        "action_names": list[str],
        "environment": dict[str, str],
        "hyper_parameters": dict[str, Any],
        "made": dict[str, Any],
        "generators": list[dict[str, Any]],
    }
)
"""The types of the keys of `agent.json`; files of earlier versions lack some keys."""


def write(folder: Path, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write an agent to a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    # JSON cannot store numpy's numbers, which hyper-parameters may be.
    text = json.dumps({"format": FORMAT, **description}, indent=2, default=np.generic.item)
    (folder / "agent.json").write_text(text + "\n", encoding="utf-8")
    stored: dict[str, Any] = dict(arrays)
    np.savez(folder / "arrays.npz", **stored)
    return folder


def description_of(folder: Path) -> dict[str, Any]:
    """The description of a saved agent.

    Raises:
        InputError: the folder holds no agent, or one in another format.
    """
    try:
        description: dict[str, Any] = json.loads((folder / "agent.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"no saved agent in '{folder}': {error}") from None
    if not isinstance(description, dict):
        kind = type(description).__name__
        raise InputError(f"no saved agent in '{folder}': agent.json holds a {kind}, expected an object; train it again")
    if description.get("format") != FORMAT:
        raise InputError(f"'{folder}' holds format {description.get('format')}, this version reads {FORMAT}")
    for name, kind in _KINDS.items():
        try:
            if name in description or name == "agent":
                msgspec.convert(description.get(name), kind)
        except msgspec.ValidationError as error:
            raise InputError(f"no saved agent in '{folder}': {name} in agent.json: {error}; train it again") from None
    return description


def arrays_of(folder: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a saved agent, by name.

    Raises:
        InputError: they cannot be read.
    """
    try:
        with np.load(folder / "arrays.npz", allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise InputError(f"no saved agent in '{folder}': {error}") from None


def same_environment(who: str, known: Mapping[str, str], given: Mapping[str, str] | None) -> None:
    """Check that the environment has the names of the one in training; only names on both sides are compared.

    Raises:
        InputError: a name differs.
    """
    for part, theirs in (given or {}).items():
        ours = known.get(part, theirs)
        if ours != theirs:
            raise InputError(
                f"{who} was trained for {part} '{ours}', this environment has '{theirs}': train one for it, or ask for "
                f"the {part} it knows"
            )
