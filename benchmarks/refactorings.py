"""Does `fitgym diff` detect refactorings that change behaviour, and stay silent about the others?

    python benchmarks/refactorings.py --budget 20s
    python benchmarks/refactorings.py --budget 4000x --seeds 3 --names 1 4

Each refactoring of `benchmarks/refactorings/refactorings.toml` is applied to a copy of the package `depot`. The
original is committed to a new repository. A refactoring that changes behaviour is found if a difference names its
function. For any other refactoring, every difference is a false alarm.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "refactorings"
REFACTORINGS: list[dict[str, str]] = tomllib.loads((HERE / "refactorings.toml").read_text("utf-8"))["refactoring"]
GIT = ("git", "-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Found:
    """The output of `fitgym diff` for one refactoring."""

    expected: str
    record: dict[str, Any]
    seconds: float

    @property
    def functions(self) -> list[str]:
        """The functions of the differences."""
        return [one["function"] for module in self.record["modules"] for one in module["differences"]]

    @property
    def correct(self) -> bool:
        """Whether the function is named, or there is nothing to name."""
        return self.expected in self.functions if self.expected else not self.functions

    def line(self) -> str:
        """Return one line of text."""
        agreeing = sum(module["agreeing"] for module in self.record["modules"])
        said = ", ".join(dict.fromkeys(self.functions)) or "no difference"
        return f"{'ok    ' if self.correct else 'WRONG '} {said}; {agreeing} tests agree; {self.seconds:.1f} s"


def apply(refactoring: dict[str, str], package: Path) -> None:
    """Refactor a copy of the depot."""
    path = package / f"{refactoring['module']}.py"
    text = path.read_text("utf-8")
    assert text.count(refactoring["old"]) == 1, f"'{refactoring['name']}' stands {text.count(refactoring['old'])} times"
    path.write_text(text.replace(refactoring["old"], refactoring["new"]), "utf-8")


def repository(folder: Path) -> Path:
    """Create a repository with the depot in its only commit; returns the package."""
    package = folder / "depot"
    shutil.copytree(HERE / "depot", package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").touch()
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The depot"]):
        subprocess.run([*GIT, *command], cwd=folder, check=True)
    return package


def measured(refactoring: dict[str, str], budget: str, seed: int) -> Found:
    """Apply one refactoring and run `fitgym diff` on it."""
    with tempfile.TemporaryDirectory() as folder:
        apply(refactoring, repository(Path(folder)))
        command = [sys.executable, "-m", "fitgym", "diff", "HEAD", folder, "--budget", budget, "--seed", str(seed)]
        started = time.monotonic()
        done = subprocess.run([*command, "--json", "-", "--quiet"], capture_output=True, text=True)
        seconds = time.monotonic() - started
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    return Found(refactoring.get("function", ""), json.loads(done.stdout), seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", default="20s", help="for each refactoring")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--names", nargs="+", type=int, default=list(range(1, len(REFACTORINGS) + 1)), help="numbers")
    options = parser.parse_args(arguments)
    for seed in range(options.seeds):
        results = []
        for number in options.names:
            refactoring = REFACTORINGS[number - 1]
            results.append(measured(refactoring, options.budget, seed))
            print(f"seed {seed} {number:2} {results[-1].line()}  ({refactoring['name']})", flush=True)
        changes = [one for one in results if one.expected]
        alarms = sum(not one.correct for one in results if not one.expected)
        print(
            f"seed {seed}: {sum(one.correct for one in changes)} of {len(changes)} changes found, "
            f"{alarms} false alarms on {len(results) - len(changes)} others",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
