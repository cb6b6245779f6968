"""The configuration of pytest for a folder: which file holds it, and lists of paths in it."""

from __future__ import annotations

import configparser
import tomllib
from pathlib import Path

__all__ = ["paths", "root"]

FILES = {
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "pyproject.toml": "",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}
"""Files with a configuration, in the order in which pytest looks for it, each with its section."""


def root(folder: Path) -> Path | None:
    """The nearest folder at or above `folder` that has a configuration of pytest, None if there is none."""
    return next((parent for parent in (folder, *folder.parents) if _options(parent) is not None), None)


def paths(folder: Path, name: str) -> list[Path]:
    """The paths of an option such as `testpaths` or `pythonpath`, as the configuration in `folder` gives them.

    Args:
        folder: with the configuration; not those above it.
        name: of the option.
    """
    value = (_options(folder) or {}).get(name, ())
    names = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    return [folder / str(name) for name in names]


def _options(folder: Path) -> dict[str, object] | None:
    """The options in the first file of the folder that has some; None without one, and for files that cannot be read."""
    for name, section in FILES.items():
        file = folder / name
        if not file.is_file():
            continue
        try:
            if not section:
                with file.open("rb") as text:
                    found = tomllib.load(text).get("tool", {}).get("pytest", {}).get("ini_options")
                if isinstance(found, dict):
                    return found
            else:
                parser = configparser.ConfigParser(interpolation=None)
                parser.read(file, encoding="utf-8")
                if parser.has_section(section):
                    return dict(parser.items(section))
        except (OSError, ValueError, AttributeError, configparser.Error):
            continue
    return None
