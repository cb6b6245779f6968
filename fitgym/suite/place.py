"""Places: from which folder a subject is imported, and whether a plain interpreter looks there."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from fitgym.subject.subject import Reference

__all__ = ["import_root", "is_first_party", "is_installed"]


def import_root(reference: Reference) -> str:
    """The folder that has to be on `sys.path` for the subject to be imported, "" if every interpreter looks there.

    The current folder, the folder of the running program and those of `PYTHONPATH` do not count as looked into: whoever
    runs the suite later need not have them.
    """
    root = reference.root
    ours = ["", os.getcwd(), *os.environ.get("PYTHONPATH", "").split(os.pathsep), *reference.search_path]
    excluded = {os.path.realpath(folder) for folder in ours}
    always = {os.path.realpath(folder) for folder in sys.path} - excluded
    return "" if os.path.realpath(root) in always or is_installed(root) else root


def is_first_party(reference: Reference) -> bool:
    """The subject belongs to the user: it is neither installed nor part of Python."""
    top = reference.module.partition(".")[0]
    return top not in sys.stdlib_module_names and not is_installed(reference.root)


def is_installed(folder: str) -> bool:
    """The folder holds installed packages or the standard library."""
    parts = Path(os.path.realpath(folder)).parts
    return "site-packages" in parts or "dist-packages" in parts or os.path.realpath(folder) in _standard_folders()


def _standard_folders() -> set[str]:
    return {os.path.realpath(os.path.dirname(os.__file__))}
