#!/usr/bin/env python3
"""Generate suites for destructive code, and check for damage.

    python benchmarks/hostile_subjects.py --install results/subjects
    python benchmarks/hostile_subjects.py --subjects results/subjects --budget 20s

README.md in this folder explains the columns. Linux only. The exported suites are not run, because outside the sandbox
they would do the same damage as their subjects.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from remeasure import HERE, Subject, environment, install, subjects, subjects_folder
from rich.console import Console
from rich.table import Table

PR_SET_CHILD_SUBREAPER = 36
MARK = "FITGYM_BENCHMARK_MARK"


@dataclass
class Row:
    """One run on one subject; `findings` lists the problems in words."""

    subject: str
    wall_s: float = 0.0
    exit_code: int = 0
    tests: int = 0
    crashed: int = 0
    outcome: str = ""
    findings: list[str] = field(default_factory=list)


def snapshot(folder: Path, left_out: tuple[Path, ...] = ()) -> dict[str, tuple[int, int]]:
    """Return size and modification time of every file under a folder."""
    found = {}
    for base, names, files in os.walk(folder):
        names[:] = [name for name in names if name != "__pycache__" and Path(base, name) not in left_out]
        for name in [*files, *names]:
            path = Path(base, name)
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            # Folders are left out: caching bytecode changes their time, and any other addition shows as a file.
            found[str(path)] = (0, 0) if path.is_dir() else (status.st_size, status.st_mtime_ns)
    return found


def changes(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> list[str]:
    """Return the files that were written, changed or deleted between two snapshots."""
    return [
        *(f"left behind: {path}" for path in sorted(after.keys() - before.keys())),
        *(f"deleted: {path}" for path in sorted(before.keys() - after.keys())),
        *(f"changed: {path}" for path in sorted(before.keys() & after.keys()) if before[path] != after[path]),
    ]


def descendants(mark: str) -> dict[int, str]:
    """Return processes that have the mark in their environment or were orphaned to this one, with command lines.

    This process is a subreaper. It becomes the parent of every orphaned descendant, even one with another session and
    an empty environment.
    """
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            marked = f"{MARK}={mark}".encode() in (entry / "environ").read_bytes()
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except (OSError, ValueError):
            continue
        if state != "Z" and (marked or parent == os.getpid()):
            found[int(entry.name)] = command or "?"
    return found


def reap() -> None:
    """Reap the ended children that were orphaned to this process."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def measure(subject: Subject, options: argparse.Namespace) -> Row:
    """Run `fitgym generate` in a scratch folder, and compare processes and files before and after."""
    row = Row(subject.text)
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        env = environment(options.subjects, scratch)
        mark = env[MARK] = uuid.uuid4().hex
        (scratch / "work").mkdir()
        (scratch / "home" / "precious.txt").write_text("must stay as it is\n")
        (scratch / "work" / "precious.txt").write_text("must stay as it is\n")
        output = (options.results / subject.slug).resolve()
        output.mkdir(parents=True, exist_ok=True)
        for stale in [output / "record.json", *output.glob("suite/*.py")]:
            stale.unlink(missing_ok=True)
        watched = [(scratch, ()), (options.subjects.resolve(), ()), (HERE.parent, (HERE.parent / "results", output))]
        before = [snapshot(folder, left_out) for folder, left_out in watched]
        command = [sys.executable, "-m", "fitgym", "generate", subject.text, "--goal", options.goal, "--quiet"]
        command += ["--budget", options.budget, "--seed", str(options.seed)]
        command += ["--output", str(output / "suite"), "--json", str(output / "record.json")]
        limit = float(options.budget[:-1]) * 1.5 + 30 if options.budget.endswith("s") else 600.0
        started = time.perf_counter()
        run_to_limit(command, env, scratch / "work", output, limit, row)
        row.wall_s = round(time.perf_counter() - started, 2)
        time.sleep(0.5)  # time for processes that are about to end
        reap()
        for process, what in descendants(mark).items():
            row.findings.append(f"process left behind: {what[:120]}")
            os.kill(process, signal.SIGKILL)
        reap()
        for (folder, left_out), old in zip(watched, before, strict=True):
            row.findings += changes(old, snapshot(folder, left_out))
    judge(output, row)
    return row


def run_to_limit(command: list[str], env: dict[str, str], cwd: Path, output: Path, limit: float, row: Row) -> None:
    """Run a command with output to files; killing it at the limit is a finding."""
    with open(output / "stdout.txt", "wb") as out, open(output / "stderr.txt", "wb") as err:
        process = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            row.exit_code = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            row.exit_code = process.wait()
            row.findings.append(f"hangs: still running after {limit:.0f} s")


def judge(output: Path, row: Row) -> None:
    """Check for an exported suite or a clear error message."""
    if row.exit_code == 0 and (output / "record.json").exists():
        record = json.loads((output / "record.json").read_text("utf-8"))
        row.tests, row.crashed = record["tests"], len(record["crashed"])
        if record["suite_path"] and (output / "suite" / record["suite_path"]).exists():
            row.outcome = f"suite of {row.tests} tests"
            return
    said = (output / "stderr.txt").read_text("utf-8", errors="replace").strip().splitlines()
    row.outcome = said[-1] if said else "nothing said"
    if row.exit_code not in (0, 2) or not row.outcome.startswith("fitgym: "):
        row.findings.append(f"neither a suite nor a clear sentence (exit code {row.exit_code})")


def table(rows: list[Row], budget: str) -> Table:
    """Return a table with one line per subject."""
    shown = Table(title=f"hostile subjects, {budget}", title_justify="left")
    for name in ("subject", "wall s", "exit", "tests", "crashed"):
        shown.add_column(name, justify="left" if name == "subject" else "right", no_wrap=True)
    shown.add_column("outcome", overflow="fold")
    shown.add_column("findings", overflow="fold")
    for row in rows:
        numbers = (f"{row.wall_s:.1f}", str(row.exit_code), str(row.tests), str(row.crashed))
        shown.add_row(row.subject, *numbers, row.outcome, "\n".join(row.findings[:5]))
    return shown


def main() -> int:
    """Return 0 without findings, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, metavar="DIR", help="first install the pinned packages to this folder")
    parser.add_argument(
        "--subjects", type=Path, metavar="DIR", help="folder of the installed packages (default: the --install folder)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="PART", help="only subjects whose name contains this part"
    )
    parser.add_argument("--goal", default="coverage")
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=Path("results/hostile"), metavar="DIR")
    options = parser.parse_args()
    options.subjects = subjects_folder(parser, options)
    if options.install:
        install(options.install)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    rows = []
    for subject in subjects("hostile", options.only):
        rows.append(measure(subject, options))
        print(f"{subject.text}: {rows[-1].outcome}", *rows[-1].findings, sep="\n    ", file=sys.stderr)
    Console(width=None if sys.stdout.isatty() else 200).print(table(rows, options.budget))
    (options.results / "table.json").write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", "utf-8")
    return int(any(row.findings for row in rows))


if __name__ == "__main__":
    sys.exit(main())
