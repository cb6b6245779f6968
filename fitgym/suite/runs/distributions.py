"""Distributions: which installed packages the distribution of the subject does not require."""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fitgym.subject.subject import Reference

__all__ = ["optional_packages"]

RUNNER = ("pytest", ())
"""Whoever runs the suite has its runner, and what that requires."""

_SOURCES = ("lib", "python", "src")
"""Folders of a project that contain its packages."""

_Requirement = tuple[str, tuple[str, ...]]
"""The normalised name of a distribution, and the extras of it that are required."""


def optional_packages(
    imported: Mapping[str, str], reference: Reference, given: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the names of the installed packages that the distribution of the subject does not require.

    The requirements come from the metadata of the distribution. If it is not installed, they come from the
    `pyproject.toml` of the project. The requirements of each required package count, too. What only an extra requires is
    optional. If there is neither metadata nor a `pyproject.toml`, nothing is optional.

    Args:
        imported: the top-level modules that a run imported, each with its folder.
        reference: the subject.
        given: names of further packages that count as required, together with their own requirements.
    """
    top = reference.module.partition(".")[0]
    installed = {name for name, folder in imported.items() if name != top and _has_metadata(folder)}
    if not installed:
        return frozenset()
    places = list(dict.fromkeys((reference.root, *sys.path)))
    known: dict[str, importlib.metadata.Distribution] = {}
    for one in importlib.metadata.distributions(path=places):
        known.setdefault(_normal(one.name or ""), one)
    own = _distribution(top, known)
    wanted = _project_requirements(Path(reference.root)) if own is None else [(own, ())]
    if wanted is None:
        return frozenset()
    others = [(name, ()) for package in sorted(given) if (name := _distribution(package, known)) is not None]
    return frozenset(installed - given - _top_levels([*wanted, *others, RUNNER], known))


def _has_metadata(folder: str) -> bool:
    """Return whether packages are installed in a folder."""
    try:
        return any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder or "."))
    except OSError:
        return False


def _distribution(top: str, known: Mapping[str, importlib.metadata.Distribution]) -> str | None:
    """Return the name of the distribution of a top-level package, None if there is none."""
    if _normal(top) in known:
        return _normal(top)
    return next((name for name, one in known.items() if top in _top_levels_of(one)), None)


def _top_levels(wanted: Sequence[_Requirement], known: Mapping[str, importlib.metadata.Distribution]) -> frozenset[str]:
    """Return the top-level packages of distributions and of all that they require."""
    found: set[str] = set()
    seen: set[_Requirement] = set()
    waiting = list(wanted)
    while waiting:
        one = waiting.pop()
        if one in seen or (distribution := known.get(one[0])) is None:
            continue
        seen.add(one)
        found |= _top_levels_of(distribution)
        waiting += _required(distribution.requires or (), one[1])
    return frozenset(found)


def _top_levels_of(distribution: importlib.metadata.Distribution) -> frozenset[str]:
    """Return the names that a distribution installs."""
    names = (distribution.read_text("top_level.txt") or "").split()
    names += [file.parts[0].partition(".")[0] for file in distribution.files or () if file.parts[0] != ".."]
    return frozenset(names)


def _required(requirements: Iterable[str], extras: Sequence[str] = ()) -> list[_Requirement]:
    """Return what requirements such as `kombu[redis]>=5; python_version < "4"` name.

    Other conditions than extras are taken to hold: what may be required is not optional.
    """
    found = []
    for text in requirements:
        needed, _, condition = text.partition(";")
        asked = re.findall(r"""\bextra\s*==\s*["']([^"']+)["']""", condition)
        if asked and not set(map(_normal, asked)) & set(map(_normal, extras)):
            continue
        if match := re.match(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[([^\]]*)\])?", needed):
            own = tuple(part.strip() for part in (match[2] or "").split(",") if part.strip())
            found.append((_normal(match[1]), own))
    return found


def _project_requirements(root: Path) -> list[_Requirement] | None:
    """Return what the project with this folder of packages requires, None if it does not say."""
    for folder in (root, root.parent) if root.name in _SOURCES else (root,):
        try:
            project: Any = tomllib.loads((folder / "pyproject.toml").read_text("utf-8")).get("project")
        except (OSError, ValueError):
            continue
        if not isinstance(project, dict) or "dependencies" in project.get("dynamic", ()):
            return None
        named = project.get("dependencies", [])
        return _required([one for one in named if isinstance(one, str)]) if isinstance(named, list) else None
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
