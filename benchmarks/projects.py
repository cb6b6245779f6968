"""What does `fitgym generate` add to packages with tests, and does a second run change anything?

    python benchmarks/projects.py --budget 120s --jobs 2
    python benchmarks/projects.py boltons --budget 540s

Each package is downloaded as a source distribution, unpacked into a temporary folder, and searched by one command.
Branches and mutants of the searched modules are counted before and after. Then pytest runs the tests once more, and the
command runs again with another budget: nothing may change.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGES = ("cachetools==8.0.2", "inflection==0.5.1", "jmespath==1.1.0", "python-slugify==9.2.0", "humanize==4.17.0")
"""Pure Python packages of a few modules with tests in the source distribution."""


@dataclass(frozen=True)
class Row:
    """The measurements of one package."""

    package: str
    modules: int
    existing: int
    added: int
    branches: tuple[int, int, int]
    mutants: tuple[int, int, int]
    seconds: float
    passed: bool
    changed: int

    @property
    def cells(self) -> list[str]:
        """The cells of a table row."""
        minutes = self.seconds / 60
        (b0, b1, b), (m0, m1, m) = self.branches, self.mutants
        return [
            self.package,
            str(self.modules),
            f"{self.existing} + {self.added}",
            f"{b0} -> {b1} of {b}",
            f"{m0} -> {m1} of {m}",
            f"{(b1 - b0) / minutes:.1f}",
            f"{(m1 - m0) / minutes:.1f}",
            f"{self.seconds:.0f}",
            "yes" if self.passed else "no",
            str(self.changed),
        ]


HEAD = ["package", "modules", "tests", "branches", "mutants", "branches a minute", "mutants a minute", "s", "pass"]
HEAD += ["files changed by a second run"]


def unpacked(package: str, folder: Path) -> Path:
    """Return the source distribution of a package, as a git repository."""
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-binary",
        ":all:",
        "--no-deps",
        "--dest",
        str(folder),
    ]
    subprocess.run([*pip, package], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (root,) = (path for path in folder.iterdir() if path.is_dir())
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "--message", "as published")
    return root


def git(root: Path, *arguments: str) -> str:
    """Run git and return its output."""
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def generate(root: Path, budget: str, jobs: int) -> tuple[dict[str, Any], float]:
    """Return the records of one run by module, and its seconds."""
    started = time.monotonic()
    command = [sys.executable, "-m", "fitgym", "generate", "--budget", budget, "--jobs", str(jobs), "--json", "-"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True)
    seconds = time.monotonic() - started
    records: dict[str, Any] = json.loads(done.stdout)["modules"] if done.stdout.startswith("{") else {}
    return records, seconds


def total(records: dict[str, Any], noun: str) -> tuple[int, int, int]:
    """Return the number covered or killed before and after, and the total."""
    before = after = every = 0
    for record in records.values():
        if existing := record["existing"]:
            numbers = existing[noun]
            before += numbers["before"]
            after += numbers["before"] if numbers["after"] is None else numbers["after"]
            every += numbers["total"]
        elif noun == "branches":
            measured = record["coverage"].get("branch", {"covered": 0, "total": 0})
            after, every = after + measured["covered"], every + measured["total"]
        elif record["mutants"]:
            after, every = after + record["mutants"]["killed"], every + record["mutants"]["total"]
    return before, after, every


def measured(package: str, budget: str, jobs: int) -> Row:
    """Return all measurements of one package."""
    with tempfile.TemporaryDirectory() as folder:
        root = unpacked(package, Path(folder))
        records, seconds = generate(root, budget, jobs)
        generated = [str(path) for path in sorted(root.rglob("generated"))]
        tests = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *generated], cwd=root, capture_output=True, text=True
        )
        git(root, "add", "--all")
        git(root, "-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "--message", "generated")
        generate(root, "4000x", jobs)
        changed = len(git(root, "status", "--porcelain").splitlines())
        existing = max((record["existing"]["tests"] for record in records.values() if record["existing"]), default=0)
        return Row(
            package,
            len(records),
            existing,
            sum(record["tests"] for record in records.values()),
            total(records, "branches"),
            total(records, "mutants"),
            seconds,
            tests.returncode == 0,
            changed,
        )


def table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *(row.cells for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, help="names, as for pip")
    parser.add_argument("--budget", default="120s", help="for each package")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    rows = []
    for package in given.packages:
        rows.append(measured(package, given.budget, given.jobs))
        print(table(rows[-1:]).splitlines()[-1], flush=True)
    print()
    print(table(rows))


if __name__ == "__main__":
    main()
