"""Material for students: lessons without outputs and without solutions, with the files that they read."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from fitgym.course.lesson import folder, numbered
from fitgym.errors import InputError

__all__ = ["NOTEBOOKS", "hand_out"]

NOTEBOOKS: Final = "notebooks"
"""The folder of the lessons, in the repository and in what students get, so that paths in lessons hold in both."""

NOT_FOR_STUDENTS: Final = frozenset({"solutions", "pages.py", "ruff.toml", "__pycache__", ".ipynb_checkpoints"})


def hand_out(target: Path, names: Iterable[str] = (), *, given: Path | None = None) -> list[Path]:
    """Copy lessons and the files that they read.

    Args:
        target: a folder; the lessons go into `notebooks` in it. It is made if it does not exist.
        names: of lessons, such as "06_bandits" or "06"; without any, all lessons.
        given: a folder with other lessons than those of fitgym.

    Returns:
        The notebooks that were written.

    Raises:
        InputError: a lesson exists in the target already, a name is that of no lesson, or there are no lessons.
    """
    source = folder(given)
    files = _chosen(source, names)
    place = target / NOTEBOOKS
    made = [place / f"{file.stem}.ipynb" for file in files]
    if there := [file for file in made if file.exists()]:
        raise InputError(f"'{there[0]}' exists already and may hold answers: name another folder, or move it away")
    place.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.name not in NOT_FOR_STUDENTS and not re.match(r"\d\d_", entry.name):
            _copy(entry, place / entry.name)
    for file, notebook in zip(files, made, strict=True):
        content = json.loads(file.with_suffix(".ipynb").read_text("utf-8"))
        notebook.write_text(json.dumps(_cleared(content), indent=1, ensure_ascii=False) + "\n", "utf-8")
        for path in _read_by(content):
            if (source.parent / path).exists():
                _copy(source.parent / path, target / path)
    return made


def _chosen(source: Path, names: Iterable[str]) -> list[Path]:
    every, names = numbered(source), list(names)
    for name in names:
        if not any(file.stem.startswith(name) for file in every):
            raise InputError(
                f"there is no lesson '{name}', expected a name or a number of `fitgym course list`, such as 06"
            )
    return [file for file in every if not names or file.stem.startswith(tuple(names))]


def _cleared(content: dict[str, Any]) -> dict[str, Any]:
    """A notebook without outputs, which would give predictions away; cells of our own checks are left out too."""
    kept = [cell for cell in content["cells"] if not {"hidden", "solution"} & set(cell["metadata"].get("tags", ()))]
    for cell in kept:
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = [], None
    return {**content, "cells": kept}


def _read_by(content: dict[str, Any]) -> list[str]:
    """Paths beside the folder of the lessons that a notebook reads, relative to the folder above."""
    code = "\n".join("".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code")
    return sorted(set(re.findall(r"[\"']\.\./([\w./-]+)[\"']", code)))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    else:
        shutil.copyfile(source, target)
