"""Checks that ruff accepts fitgym's output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["assert_ruff_accepts"]


def assert_ruff_accepts(path: Path, rules: list[str]) -> None:
    command = [sys.executable, "-m", "ruff", *rules, "--isolated", "--no-cache", str(path)]
    done = subprocess.run(
        [*command, *(["--diff"] if "format" in rules else [])], cwd=path.parent, capture_output=True, text=True
    )
    if "No module named ruff" in done.stderr:
        pytest.skip("ruff is not installed")
    assert done.returncode == 0, done.stdout + done.stderr
