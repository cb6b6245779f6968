"""Places: the folder that a subject is imported from, and whether Python finds it without help."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

from fitgym.subject.subject import Reference
from fitgym.suite.text import pytest_settings

__all__ = ["import_root", "is_configured", "is_first_party", "is_installed"]

PROBE = "import importlib.util, sys; print(getattr(importlib.util.find_spec(sys.argv[1]), 'origin', None) or '')"
"""A program that prints the file of a package as an interpreter finds it."""


def import_root(reference: Reference) -> str:
    """Return the folder that must be on `sys.path` to import the subject, "" if every interpreter finds it.

    The current folder, the folder of the running program and the folders of `PYTHONPATH` are ignored: a later user of
    the suite may not have them. An editable install counts.
    """
    root = reference.root
    ours = ["", os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep), *reference.search_path]
    excluded = {os.path.realpath(folder) for folder in ours}
    always = {os.path.realpath(folder) for folder in sys.path} - excluded
    if os.path.realpath(root) in always or is_installed(root):
        return ""
    found = _found_by_python(reference.module.partition(".")[0])
    return "" if found and Path(found).is_relative_to(os.path.realpath(root)) else root


def is_configured(root: str, folder: Path) -> bool:
    """Return whether the pytest configuration for tests in `folder` puts `root` on `sys.path`."""
    configured = pytest_settings.root(folder)
    known = [] if configured is None else pytest_settings.paths(configured, "pythonpath")
    return os.path.realpath(root) in {os.path.realpath(path) for path in known}


def is_first_party(reference: Reference) -> bool:
    """Return whether the subject belongs to the user: it is neither installed nor part of Python."""
    top = reference.module.partition(".")[0]
    return top not in sys.stdlib_module_names and not is_installed(reference.root)


def is_installed(folder: str) -> bool:
    """Return whether the folder holds installed packages or the standard library."""
    parts = Path(os.path.realpath(folder)).parts
    return "site-packages" in parts or "dist-packages" in parts or os.path.realpath(folder) in _standard_folders()


def _standard_folders() -> set[str]:
    return {os.path.realpath(os.path.dirname(os.__file__))}


@functools.cache
def _found_by_python(package: str) -> str:
    """Return the file of a package as found without the current folder and `PYTHONPATH`, "" if it is not found."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, package], capture_output=True, text=True, cwd=os.sep, check=False
    )
    return os.path.realpath(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else ""
