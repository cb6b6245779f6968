"""Distributions for tests: a copy of the sources, and the wheel or sdist that setuptools makes of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["LINKED", "build", "built", "copied"]

ROOT = Path(__file__).parents[2]

LINKED = ("agents", "envs")
"""The folders at the top that are packages of fitgym."""


def copied(tree: Path) -> Path:
    """Copy what a distribution is made from to a new folder, without anything that was built."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.so")
    for folder in ("fitgym", *LINKED):
        shutil.copytree(ROOT / folder, tree / folder, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    return tree


def build(tree: Path, what: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Build the wheel or sdist of the tree into the new folder `out` beside it."""
    out = tree.parent / "out"
    out.mkdir()
    code = f"from setuptools import build_meta; build_meta.build_{what}({str(out)!r})"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env={**os.environ, "FITGYM_SITES": "", **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def built(tree: Path, what: str, **environment: str) -> Path:
    """The wheel or sdist of the tree; the build must succeed."""
    done = build(tree, what, **environment)
    assert done.returncode == 0, done.stderr
    (path,) = (tree.parent / "out").iterdir()
    return path
