#!/usr/bin/env python3
"""Install each distribution of a folder where there is no compiler, and use it: `make installed`.

Every Python from 3.11 to 3.13 gets a new environment. Its PATH has the programs of that environment only. For each distribution
this script runs `fitgym doctor`, generates a suite for `textwrap`, and runs the suite. pip gets the dependencies
from the package index.

    python tools/installed.py [FOLDER] [--python VERSION ...]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")
"""The Pythons that fitgym supports."""

LIMIT_S = 600.0
"""Seconds for one command."""

IN_C, IN_PYTHON = "those in C", "those in Python"
"""What the doctor says about the probes in use."""


class Failed(Exception):
    """A command failed, or said something else than expected; the text says which one."""


def interpreter(version: str) -> Path | None:
    """The Python of a version: on the PATH, or the newest one that pyenv has installed."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = sorted(pyenv.glob(f"{version}.*/bin/{name}"), key=lambda path: int(path.parts[-3].split(".")[2]))
    candidates = [*reversed(found), *([Path(on_path)] if (on_path := shutil.which(name)) else [])]
    return next((path for path in candidates if _starts(path)), None)


def _starts(python: Path) -> bool:
    """Whether it can be used; a shim of pyenv is there for versions that are switched off, too."""
    return subprocess.run([python, "--version"], capture_output=True, timeout=LIMIT_S).returncode == 0


def expected(distribution: Path) -> str:
    """The probes that fitgym uses after installing a distribution without a compiler."""
    return IN_C if "-abi3-" in distribution.name else IN_PYTHON


class Environment:
    """A new virtual environment without a compiler.

    Attributes:
        programs: the folder of its programs, the whole PATH of what runs in it.
    """

    def __init__(self, python: Path, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True, timeout=LIMIT_S)
        self.folder = folder
        self.programs = folder / "venv" / "bin"

    def run(self, program: str, *arguments: str) -> str:
        """What a program of the environment prints.

        Raises:
            Failed: it does not end with 0.
        """
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FITGYM", "PYTHON", "CC"))}
        environment = kept | {"PATH": str(self.programs), "VIRTUAL_ENV": str(self.programs.parent)}
        command = [str(self.programs / program), *arguments]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S
        )
        if done.returncode:
            raise Failed(f"{program} {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, distribution: Path) -> None:
        """Install a distribution; the dependencies are installed once."""
        pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet")
        # Without the cache, which has wheels of earlier sdists with the same name.
        self.run("python", *pip, "--no-cache-dir", "--force-reinstall", "--no-deps", str(distribution))
        self.run("python", *pip, str(distribution))

    def use(self, distribution: Path) -> None:
        """Do with fitgym what a user does first.

        Raises:
            Failed: something does not work, or other probes than expected are in use.
        """
        report = json.loads(self.run("fitgym", "doctor", "--json"))
        probes = next(finding["value"] for finding in report["findings"] if finding["topic"] == "probes")
        if not report["ok"] or not probes.startswith(expected(distribution)):
            raise Failed(
                f"fitgym doctor reports ok={report['ok']}, probes: {probes}; expected {expected(distribution)}"
            )
        suite = self.folder / distribution.name / "suite"
        self.run("fitgym", "generate", "textwrap", "--budget", "5s", "--output", str(suite))
        self.run("python", "-m", "pytest", "-q", str(suite))


def tried(version: str, distributions: list[Path]) -> bool:
    """Install and use each distribution with one Python, and say how it went."""
    python = interpreter(version)
    if python is None:
        print(f"Python {version} is not installed; install it (such as by `pyenv install {version}`), or leave it out")
        return False
    well = True
    with tempfile.TemporaryDirectory(prefix="fitgym-installed-") as folder:
        environment = Environment(python, Path(folder))
        for distribution in distributions:
            began = time.monotonic()
            try:
                environment.install(distribution)
                environment.use(distribution)
                result = f"works with {expected(distribution).replace('those', 'the probes')}"
            except Failed as error:
                result, well = f"FAILED: {error}", False
            print(f"{version:<5} {distribution.name}: {result}, {time.monotonic() - began:.0f} s", flush=True)
    return well


def main(arguments: list[str] | None = None) -> int:
    """The exit code: 0 if every distribution works with every Python."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("dist"), help="of the distributions (dist)")
    parser.add_argument("--python", nargs="+", default=VERSIONS, metavar="VERSION", help="such as 3.12 (all)")
    options = parser.parse_args(arguments)
    distributions = sorted(path.resolve() for path in options.folder.glob("fitgym-*") if path.suffix in (".whl", ".gz"))
    if not distributions:
        print(f"'{options.folder}' has no distribution of fitgym; run `make wheels` first", file=sys.stderr)
        return 1
    results = [tried(version, distributions) for version in options.python]
    return 0 if all(results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
