"""Measures an exported suite from outside, with pytest and coverage.py in fresh interpreters only.

Nothing here uses fitgym. The inputs are a test file, the name of the module under test, and an environment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

# A clean measurement starts after pytest is loaded and loads the subject anew. So neither pytest's own use of the
# subject counts nor any import before coverage.py started.
CLEAN = """
import sys
import pytest
import coverage
module, file, output, suite = sys.argv[1:]
top = module.split(".")[0]
measurement = coverage.Coverage(branch=True, include=[file], data_file=None, config_file=False)
for name in [name for name in sys.modules if name == top or name.startswith(top + ".")]:
    del sys.modules[name]
measurement.start()
status = pytest.main(["-q", "-p", "no:cacheprovider", suite])
measurement.stop()
measurement.json_report(outfile=output)
sys.exit(int(status))
"""


@dataclass(frozen=True)
class Subject:
    """One entry of subjects.toml."""

    set: str
    package: str
    version: str
    module: str
    class_name: str = ""

    @property
    def text(self) -> str:
        """The subject's name on fitgym's command line."""
        return f"{self.module}:{self.class_name}" if self.class_name else self.module

    @property
    def slug(self) -> str:
        """The subject's folder name."""
        return self.text.replace(":", ".")


def subjects(chosen_set: str, only: list[str]) -> list[Subject]:
    """Return the subjects of a set, or only those whose name contains one of the given parts."""
    with open(HERE / "subjects.toml", "rb") as file:
        entries = tomllib.load(file)["subject"]
    found = [Subject(e["set"], e["package"], e["version"], e["module"], e.get("class", "")) for e in entries]
    return [s for s in found if s.set == chosen_set and (not only or any(part in s.text for part in only))]


def subjects_folder(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Path:
    """Return the folder of `--subjects` or `--install`; without either, end the program with a message."""
    folder: Path | None = options.subjects or options.install
    if folder is None:
        parser.error("say where the subjects are (--subjects) or are to be installed (--install)")
    return folder


def install(folder: Path) -> None:
    """Install the pinned packages to a folder, unless they are there."""
    stamp, pins = folder / ".installed", (HERE / "requirements_subjects.txt").read_text("utf-8")
    if stamp.exists() and stamp.read_text("utf-8") == pins:
        return
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), "--upgrade"]
    subprocess.run([*command, "-r", str(HERE / "requirements_subjects.txt")], check=True)
    stamp.write_text(pins, "utf-8")


def environment(folder: Path, scratch: Path) -> dict[str, str]:
    """Return the environment of every process: few variables, a separate home, the subjects on the path."""
    for name in ("home", "tmp"):
        (scratch / name).mkdir(parents=True, exist_ok=True)
    path = [str(folder.resolve())]
    probe = [sys.executable, "-c", "import fitgym"]
    if subprocess.run(probe, cwd=scratch, capture_output=True, stdin=subprocess.DEVNULL).returncode:
        path.append(str(HERE.parent))  # fitgym from a checkout that is not installed
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(scratch / "home"),
        "TMPDIR": str(scratch / "tmp"),
        "LANG": "C.UTF-8",
    }


def source_file(module: str, env: dict[str, str], cwd: Path) -> str:
    """Return the path of a module's source, "" if it is not found.

    The packages of the module are imported, the module itself is not.
    """
    code = f"import importlib.util; print('\\n' + (importlib.util.find_spec({module!r}).origin or ''))"
    done = run([sys.executable, "-c", code], env, cwd, 60)
    return done.stdout.splitlines()[-1] if done.returncode == 0 and done.stdout.strip() else ""


def run(command: list[str], env: dict[str, str], cwd: Path, limit: float) -> subprocess.CompletedProcess[str]:
    """Run a command to its end or to the limit (return code 124), without input."""
    try:
        return subprocess.run(
            command,
            env=env,
            cwd=cwd,
            timeout=limit,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, 124, _text(late.stdout), _text(late.stderr))


def _text(output: str | bytes | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def outcomes(suite: Path, env: dict[str, str], shuffle_seed: int | None = None) -> dict[str, str]:
    """Return each test's outcome in one plain run: passed, failed, skipped; `{}` if pytest could not run the file."""
    report = suite.parent / "junit.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", suite.name]
    if shuffle_seed is not None:
        env = with_plugins(env) | {"SHUFFLE_SEED": str(shuffle_seed)}
        command[3:3] = ["-p", "shuffled"]
    run(command, env, suite.parent, 300)
    if not report.exists():
        return {}
    found = {}
    try:
        root = ElementTree.parse(report).getroot()
    except ElementTree.ParseError:  # pytest died while it wrote the report
        return {}
    for case in root.iter("testcase"):
        tags = {child.tag for child in case}
        outcome = "failed" if tags & {"failure", "error"} else "skipped" if "skipped" in tags else "passed"
        found[f"{case.get('classname')}.{case.get('name')}"] = outcome
    report.unlink()
    return found


def with_plugins(env: dict[str, str]) -> dict[str, str]:
    """Return the environment with the plugins of this folder at the end of the path."""
    return env | {"PYTHONPATH": env["PYTHONPATH"] + os.pathsep + str(HERE / "plugins")}


@dataclass(frozen=True)
class Branches:
    """Branch outcomes as coverage.py counts them: jumps from a line that can go to more than one other line."""

    covered: int
    total: int

    @property
    def share(self) -> float:
        """The covered share, in [0, 1]; 1 for a subject without branches."""
        return self.covered / self.total if self.total else 1.0


def plain_branches(subject: Subject, file: str, suite: Path, env: dict[str, str]) -> Branches | None:
    """Return the result of `coverage run --branch -m pytest` and `coverage json`."""
    data, report = suite.parent / ".coverage.plain", suite.parent / "coverage_plain.json"
    coverage = [sys.executable, "-m", "coverage"]
    run([*coverage, "run", "--rcfile=/dev/null", "--branch", f"--include={file}", f"--data-file={data}", "-m", "pytest",
         "-q", "-p", "no:cacheprovider", suite.name], env, suite.parent, 300)  # fmt: skip
    run([*coverage, "json", "--rcfile=/dev/null", f"--data-file={data}", "-o", str(report)], env, suite.parent, 60)
    data.unlink(missing_ok=True)
    return _branches(subject, report)


def clean_branches(subject: Subject, file: str, suite: Path, env: dict[str, str]) -> Branches | None:
    """Return the same with the subject loaded anew and without pytest's own use of it; see `CLEAN`."""
    report = suite.parent / "coverage_clean.json"
    run([sys.executable, "-c", CLEAN, subject.module, file, str(report), suite.name], env, suite.parent, 300)
    return _branches(subject, report)


def _branches(subject: Subject, report: Path) -> Branches | None:
    """Return the numbers of the module's file, or of a class with its inner classes; None without a measurement."""
    if not report.exists():
        return None
    files = json.loads(report.read_text("utf-8"))["files"]
    report.unlink()
    if not files:
        return None
    (measured,) = files.values()
    name = subject.class_name
    regions = [measured] if not name else [
        region for key, region in measured["classes"].items() if key == name or key.startswith(name + ".")
    ]  # fmt: skip
    summaries: list[dict[str, Any]] = [region["summary"] for region in regions]
    return Branches(sum(s["covered_branches"] for s in summaries), sum(s["num_branches"] for s in summaries))


def raised(file: str, suite: Path, env: dict[str, str]) -> set[tuple[str, str]]:
    """Return class and innermost subject function of each exception that a test of the suite expects and gets."""
    output = suite.parent / "raised.json"
    env = with_plugins(env) | {"RAISED_FILE": file, "RAISED_OUTPUT": str(output)}
    run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "raised", suite.name],
        env,
        suite.parent,
        300,
    )
    if not output.exists():
        return set()
    found = {(kind, bare(function)) for kind, function in json.loads(output.read_text("utf-8"))}
    output.unlink()
    return found


def bare(function: str) -> str:
    """Return a qualified name without `<locals>` and without comprehensions, which are frames only in some versions."""
    parts = function.replace(".<locals>", "").split(".")
    return ".".join(part for part in parts if part not in ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"))
