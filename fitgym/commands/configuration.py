"""`[tool.fitgym]` in pyproject.toml: default options of the commands for projects."""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cyclopts import App, ArgumentCollection
from cyclopts.config import Dict

from fitgym.errors import InputError

__all__ = ["FILE", "LISTS", "Configuration", "find", "table"]

FILE = "pyproject.toml"

PATHS = frozenset({"path", "output", "json", "tests"})
"""Options that are paths, read relative to the folder of pyproject.toml, wherever the command is run."""

LISTS = frozenset({"only", "exclude", "option"})
"""Options that may be repeated; lists for other options are passed on as JSON."""


class Configuration:
    """Sets the options of commands from the nearest pyproject.toml at or above the current folder.

    A key is the long name of an option, such as `budget` or `generations_per_step`, with hyphens or underscores.
    Options on the command line take precedence.

    Args:
        known: names of the options of all commands; other keys are errors.
        without: options that have another meaning for this command, and are not read from the file.
    """

    def __init__(self, known: Iterable[str], without: Iterable[str] = ()) -> None:
        self._known = frozenset(known)
        self._without = frozenset(without)

    def __call__(self, app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
        """Set the options that the user did not give.

        Raises:
            InputError: a key is not an option, or the file cannot be read.
        """
        file = find(Path.cwd())
        if file is None:
            return
        given = {name.replace("-", "_"): value for name, value in table(file).items()}
        for name in given:
            if name not in self._known:
                near = difflib.get_close_matches(name, sorted(self._known), n=1)
                advice = f"; did you mean '{near[0]}'?" if near else "; `fitgym generate --help` lists the options"
                raise InputError(f"[tool.fitgym] in '{file}' has no option '{name}'{advice}")
        have = {name for argument in arguments for name in _names(argument.names)}
        values = {
            name: _value(name, value, file.parent) for name, value in given.items() if name in have - self._without
        }
        Dict(values, source=str(file), use_commands_as_keys=False)(app, commands, arguments)


def find(folder: Path) -> Path | None:
    """Return the nearest pyproject.toml at or above a folder, None if there is none."""
    return next((parent / FILE for parent in (folder, *folder.parents) if (parent / FILE).is_file()), None)


def table(file: Path) -> Mapping[str, Any]:
    """Return the table `[tool.fitgym]` of a file, empty if it has none.

    Raises:
        InputError: the file is not TOML, or `[tool.fitgym]` is not a table.
    """
    try:
        with file.open("rb") as text:
            found = tomllib.load(text).get("tool", {}).get("fitgym", {})
    except (OSError, ValueError, AttributeError) as problem:
        raise InputError(f"'{file}' cannot be read: {problem}") from None
    if not isinstance(found, dict):
        raise InputError(f"[tool.fitgym] in '{file}' is {found!r}, expected a table")
    return found


def _names(names: Iterable[str]) -> list[str]:
    return [name.removeprefix("--").replace("-", "_") for name in names if name.startswith("--")]


def _value(name: str, value: Any, folder: Path) -> Any:
    """Return a value in the form of the command line.

    Paths become relative to the current folder, lists of repeatable options stay lists, other lists and tables become
    JSON.
    """
    if name in PATHS and isinstance(value, str) and value not in ("", "-"):
        return os.path.relpath(folder / value)
    if isinstance(value, dict) or (isinstance(value, list) and name not in LISTS):
        return json.dumps(value)
    return value
