"""The command `fitgym init`: add a section for fitgym to pyproject.toml, with every option as a comment."""

from __future__ import annotations

import inspect
import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docstring_parser import parse

from fitgym.commands.codes import DONE
from fitgym.commands.configuration import FILE, LISTS, table
from fitgym.errors import InputError
from fitgym.run.setting import FitnessOptions, defaults

__all__ = ["INIT_EXAMPLES", "init", "section"]

INIT_EXAMPLES = """Examples:
  fitgym init
  fitgym init ../shop
"""

FIRST = ("budget", "jobs", "output", "only", "exclude", "seed", "agent", "goal")
"""Options that come first in the section."""

WIDTH = 88


def init(folder: Path = Path(), /) -> int:
    """Add a section [tool.fitgym] to pyproject.toml, with every option as a comment.

    Parameters
    ----------
    folder
        Folder of pyproject.toml, which is created if needed.
    """
    from fitgym.commands.generate import generate
    from fitgym.suite.text.export import write

    if not folder.is_dir():
        raise InputError(f"'{folder}' is not a folder; expected the root folder of a project")
    file = folder / FILE
    if file.exists() and table(file):
        raise InputError(f"'{file}' already has a section [tool.fitgym]; edit it, or remove it first")
    before = file.read_text("utf-8") if file.exists() else ""
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    write(before + gap + section(generate), file)
    sys.stdout.write(f"{file}: added [tool.fitgym]; remove the # before an option to set it\n")
    return DONE


def section(command: Callable[..., Any]) -> str:
    """Return the options of a command as a TOML section in which every option is a comment.

    Args:
        command: a function with keyword-only parameters; their help is in its docstring or in their annotations.
    """
    descriptions = {one.arg_name: one.description or "" for one in parse(command.__doc__ or "").params}
    options = {
        name: parameter
        for name, parameter in inspect.signature(command).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }
    usual: dict[str, Any] = {}
    usual |= {name: value for name, value in defaults(FitnessOptions).items() if value is not None and name != "search"}
    usual |= dict.fromkeys(LISTS, ())
    usual = {name: value for name, value in usual.items() if name in options and options[name].default is None}
    order = sorted(options, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    lines = ["[tool.fitgym]", "# Options of `fitgym generate` and the other commands for projects.", ""]
    for name in order:
        text = descriptions.get(name) or _help(options[name].annotation)
        if name in usual:
            text = text.removesuffix(f" [default: {_toml(usual[name]).strip(chr(34))}]")
        lines += [f"# {line}" for line in textwrap.wrap(" ".join(text.split()), WIDTH - 2)]
        lines += [f"# {name} = {_toml(usual.get(name, options[name].default))}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _help(annotation: Any) -> str:
    """Return the help text of an option that is derived from a field of `FitnessOptions`."""
    for one in getattr(annotation, "__metadata__", ()):
        if text := getattr(one, "help", None):
            return str(text)
    return ""


def _toml(value: Any) -> str:
    """Return a default as TOML; an empty text if there is no default."""
    if value is None or value is inspect.Parameter.empty:
        return '""'
    if isinstance(value, Path):
        return json.dumps(str(value))
    return json.dumps(list(value) if isinstance(value, tuple) else value)
