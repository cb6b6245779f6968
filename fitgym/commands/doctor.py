"""The doctor: try every feature of fitgym on this machine, and report what does not work."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from fitgym import __version__
from fitgym.errors import FitgymError
from fitgym.execution.executor import Executor
from fitgym.instrument.factories import in_use, missing
from fitgym.sandbox.bound import bound
from fitgym.sandbox.escapes import ESCAPES
from fitgym.sandbox.folder import Folder
from fitgym.sandbox.layers import LAYERS
from fitgym.sandbox.level import Level
from fitgym.sandbox.sandbox import same_layout
from fitgym.subject.source import locate

__all__ = ["Finding", "as_json", "as_text", "examine"]

State = Literal["ok", "weak", "broken"]

REQUIRED = ("numpy", "gymnasium", "cyclopts", "rich", "rapidfuzz", "typeshed-client", "coverage", "pytest")
EXTRAS = {
    "deep": ("torch", "stable-baselines3", "sb3-contrib"),
    "study": ("scipy", "scikit-posthocs", "pandas", "joblib", "jinja2", "matplotlib"),
    "parquet": ("pyarrow",),
    "ray": ("ray",),
    "slurm": ("submitit",),
}
"""Optional packages by the extra that installs them."""

NEEDED = ("limit on memory", "limit on files", "audit hook", "shared journal")
"""Layers of the sandbox that are required: without one of them no code is run."""

ADVICE = {
    "limit on processes": "run fitgym as an ordinary user, or limit the processes of the container",
    "Landlock": "with a kernel of 5.13 or newer that enables Landlock (see /sys/kernel/security/lsm), the code under "
    "test cannot write outside of its folder, not even through C; without it, use a container",
    "signals stay inside": "with a kernel of 6.12 or newer, the code under test cannot send signals to your processes",
    "orphans are found": "processes started by the code under test may keep running; use a container",
    "ends are noticed at once": "with a kernel of 5.3 or newer, fitgym notices the end of a process without polling",
    "waiting is told from working": "on a busy machine, test cases may reach their time limit for lack of CPU time",
}

SUBJECT = '''"""A subject for the self-test."""

def grade(points: int) -> str:
    """The grade for some points.

    Raises:
        ValueError: they are negative.
    """
    if points < 0:
        raise ValueError("negative")
    if points == 4711:
        return "perfect"
    return "good" if points > 50 else "fair"
'''

MISSING = {
    Level.GUARD: "code under test can disable the remaining layer; run fitgym in a container or on a kernel "
    "with Landlock",
    Level.LANDLOCK: "fitgym supports seccomp on x86_64 and aarch64 only, and the container must allow it",
    Level.SECCOMP: "allow user namespaces, such as by kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu; they "
    "need Linux 5.12 or newer. Containers refuse them by default, but protect files outside of the container",
}
"""How the user can reach a higher level of the sandbox, by the current level."""

LIMIT_S = 120.0
"""Time limit for trying the layers, in seconds."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        topic: the group of the check: "versions", "probes", "safety", "sandbox", "worker" or "self-test".
        name: what was checked.
        state: "ok"; "weak" if fitgym works, but slower or less safe; "broken" if it does not work.
        value: the result, in a few words.
        advice: what to do, "" if nothing.
    """

    topic: str
    name: str
    state: State
    value: str
    advice: str = ""


def examine() -> list[Finding]:
    """Run all checks; takes a few seconds, and writes only to a temporary folder."""
    findings = [*_versions(), _bytecode(), _probes()]
    folder = Folder()
    try:
        findings += _layers(Path(folder.path))
        findings += _escapes(Path(folder.path))
        findings += _run(Path(folder.path))
    finally:
        folder.remove()
    return findings


def as_json(findings: Sequence[Finding]) -> str:
    """Return one JSON object: `ok`, whether nothing is broken, and `findings`, in order."""
    rows = [{name: getattr(finding, name) for name in Finding.__slots__} for finding in findings]
    return json.dumps({"ok": _sound(findings), "findings": rows}, indent=2)


def as_text(findings: Sequence[Finding]) -> str:
    """Return the findings on one screen, followed by the advice."""
    lines = []
    for topic in dict.fromkeys(finding.topic for finding in findings):
        for number, finding in enumerate(found for found in findings if found.topic == topic):
            lines.append(f"{'' if number else topic:<10} {_MARKS[finding.state]:<7} {finding.name}: {finding.value}")
    advice = [f"{finding.name}: {finding.advice}" for finding in findings if finding.advice]
    verdict = "fitgym works here" if _sound(findings) else "fitgym does not work here"
    return "\n".join([*lines, "", *advice, *([""] if advice else []), verdict])


_MARKS = {"ok": "ok", "weak": "weak", "broken": "BROKEN"}


def _sound(findings: Sequence[Finding]) -> bool:
    return all(finding.state != "broken" for finding in findings)


def _versions() -> list[Finding]:
    machine = (
        f"{platform.python_implementation()} {platform.python_version()}, {platform.system()} {platform.release()}"
    )
    processors = f"{platform.machine()}, {len(os.sched_getaffinity(0))} processors"
    found = [
        Finding("versions", "fitgym", "ok", f"{__version__} in {Path(__file__).parents[1]}"),
        Finding("versions", "Python", "ok", f"{machine}, {processors}"),
    ]
    absent = []
    known = []
    for name in (*REQUIRED, *(name for names in EXTRAS.values() for name in names)):
        try:
            known.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            absent.append(name)
    found.append(Finding("versions", "packages", "ok", ", ".join(known)))
    for name in absent:
        if name in REQUIRED:
            found.append(Finding("versions", name, "broken", "not installed", f"pip install {name}"))
    for extra, names in EXTRAS.items():
        if missed := [name for name in names if name in absent]:
            what = f"not installed: {', '.join(missed)} (only needed for features that use them)"
            found.append(Finding("versions", f"extra {extra}", "ok", what))
    return found


def _bytecode() -> Finding:
    if sys.dont_write_bytecode:
        advice = "unset PYTHONDONTWRITEBYTECODE, or run python -m compileall on the folder of fitgym once"
        return Finding("versions", "compiled files", "weak", "are not kept, so each start may compile again", advice)
    return Finding("versions", "compiled files", "ok", "are kept")


def _probes() -> Finding:
    try:
        used = in_use()
    except FitgymError as error:
        return Finding("probes", "in use", "broken", str(error), "unset FITGYM_SITES, or install with a C compiler")
    if used == "c":
        return Finding("probes", "in use", "ok", "the C version")
    if os.environ.get("FITGYM_SITES"):
        return Finding(
            "probes",
            "in use",
            "weak",
            "the Python version, chosen by FITGYM_SITES",
            "unset FITGYM_SITES to use the C version",
        )
    advice = "install a C compiler and then fitgym again: searches take about half the time"
    return Finding("probes", "in use", "weak", f"the Python version, because {missing()}", advice)


def _layers(folder: Path) -> list[Finding]:
    try:
        problems: dict[str, str] = _tried("layers", folder)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return [Finding("safety", "all layers", "broken", f"cannot be tried: {error}")]
    found = []
    for name in LAYERS:
        state: State = "ok" if not problems[name] else "broken" if name in NEEDED else "weak"
        advice = ADVICE.get(name, "fitgym runs no code without it") if problems[name] else ""
        found.append(Finding("safety", name, state, problems[name] or "works", advice))
    return found


def _escapes(folder: Path) -> list[Finding]:
    """Find the level of the sandbox, and the known escapes that still succeed on this machine."""
    try:
        found = _tried("escapes", folder)
        level, escapes = Level(found["level"]), list(found["escapes"])
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return [Finding("sandbox", "level", "weak", f"cannot be tried: {error}", _REPORT)]
    advice = MISSING.get(level, "")
    refused = f"{len(ESCAPES) - len(escapes)} of {len(ESCAPES)} are refused"
    remaining = f"; code under test can {', '.join(escapes)}" if escapes else ""
    return [
        Finding("sandbox", "level", "weak" if advice else "ok", f"{level} of {max(Level)}", advice),
        Finding("sandbox", "escapes", "weak" if escapes else "ok", refused + remaining, _CONTAINER if escapes else ""),
    ]


def _tried(module: str, folder: Path) -> Any:
    """Run a module of `fitgym.sandbox` in its own process, and return the JSON that it prints."""
    place = folder / module
    place.mkdir()
    command = bound(f"fitgym.sandbox.{module}", str(place))
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=LIMIT_S
    )
    return json.loads(done.stdout)


def _run(folder: Path) -> list[Finding]:
    """Start a worker, and generate a small suite as a user would."""
    subject = folder / "grades.py"
    subject.write_text(SUBJECT)
    try:
        with Executor(locate(str(subject))) as executor:
            executor.subject  # noqa: B018  (starts it)
            started = Finding("worker", "start", "ok", f"{executor.import_seconds:.2f} s")
    except FitgymError as error:
        return [Finding("worker", "start", "broken", str(error), _REPORT)]
    return [started, _addresses(), _self_test(subject, folder / "suite")]


def _addresses() -> Finding:
    """Check whether two processes allocate the same object at the same address."""
    found = set()
    for _ in range(2):
        with same_layout():
            place = subprocess.run(
                [sys.executable, "-c", "print(id(object()))"], capture_output=True, text=True, timeout=LIMIT_S
            )
        found.add(place.stdout)
    if len(found) == 1:
        return Finding("worker", "addresses", "ok", "are the same in each process")
    advice = "results of subjects that show addresses may differ with the same seed; containers that refuse personality(2) cause this"
    return Finding("worker", "addresses", "weak", "differ between processes", advice)


def _self_test(subject: Path, output: Path) -> Finding:
    from fitgym.run.generation import generate

    began = time.monotonic()
    try:
        run = generate(str(subject), goal="coverage", budget="20g", population=20, output=output)
    except Exception as error:
        return Finding("self-test", "a small suite", "broken", f"{type(error).__name__}: {error}", _REPORT)
    measured = run.record["measured"]
    if measured is None or measured["branches"]["covered"] < measured["branches"]["total"]:
        dropped = "; ".join(f"{test['test']}: {test['reason']}" for test in run.record["dropped"])
        return Finding("self-test", "a small suite", "broken", f"branches stay uncovered ({dropped})", _REPORT)
    tests, total, took = run.record["tests"], measured["branches"]["total"], time.monotonic() - began
    return Finding("self-test", "a small suite", "ok", f"{tests} tests cover {total} of {total} branches, {took:.1f} s")


_CONTAINER = "run untrusted packages in a container, see the documentation page about security"
_REPORT = "please report this, with the output of fitgym doctor --json"
