"""Optimised Python: fitgym refuses modes without docstrings, and tests keep their assertions in other modes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
def sign(x: int) -> int:
    if x > 0:
        return 1
    return -1
"""


def command(level: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fitgym", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONOPTIMIZE": level},
        capture_output=True,
        text=True,
    )


def test_python_without_docstrings_is_refused_in_one_sentence(tmp_path: Path) -> None:
    done = command("2", "list", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("fitgym: Python runs with -OO or PYTHONOPTIMIZE=2") and done.stderr.count("\n") == 1


def test_the_measured_coverage_is_that_of_tests_with_assertions(tmp_path: Path) -> None:
    (tmp_path / "signs.py").write_text(PROGRAM, "utf-8")
    done = command("1", "generate", "signs.py", "--budget", "100x", "--json", "record.json", "-q", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "record.json").read_text("utf-8"))
    assert record["measured"]["branches"] == {"covered": 2, "total": 2}
