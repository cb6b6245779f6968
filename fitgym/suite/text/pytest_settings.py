"""The pytest configuration of a folder: its file, and path lists in it."""

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
"""Configuration files in the order in which pytest searches them, each with its section."""


def root(folder: Path) -> Path | None:
    """Return the nearest folder at or above `folder` that has a pytest configuration, None if there is none."""
    return next((parent for parent in (folder, *folder.parents) if _options(parent) is not None), None)


def paths(folder: Path, name: str) -> list[Path]:
    """Return the paths of an option such as `testpaths` or `pythonpath`, from the configuration in `folder`.

    Args:
        folder: folder of the configuration; its parents are not searched.
        name: of the option.
    """
    value = (_options(folder) or {}).get(name, ())
    names = value.split() if isinstance(value, str) else value if isinstance(value, list) else []
    return [folder / str(name) for name in names]


def _options(folder: Path) -> dict[str, object] | None:
    """Return the options of the first configuration file of the folder; None if there is none that can be read."""
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
