#!/usr/bin/env python3
"""Does anything remain of a command that is killed?

    python benchmarks/kills.py                  # 100 kills of each command; about 50 minutes
    python benchmarks/kills.py --kills 5 --commands generate study

Each command is started as a user starts it, and receives SIGKILL after a random time. Its orphaned processes become
children of this one, which counts those that are alive 5 seconds later. The next private temporary folder triggers a
sweep; remaining temporary folders are counted after it. The exit code is 1 if anything remains. Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PATIENCE_S = 5.0
LATEST_S = 8.0
"""The latest kill, in seconds; by then the last processes of a command have started."""

_PR_SET_CHILD_SUBREAPER = 36
_POLL_S = 0.05
_SOURCE = """
def price(weight: int, fast: bool) -> int:
    if weight > 1000:
        raise ValueError("too heavy")
    total = 5
    while weight > 100:
        total, weight = total + 3, weight - 100
    return total * 2 if fast else total
"""


@dataclass(frozen=True, slots=True)
class Left:
    """The remains of a killed command.

    Attributes:
        alive: it was running when it was killed.
        processes: their command lines.
        entries: names of temporary files that are left after the next sweep.
    """

    alive: bool
    processes: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        """Whether neither a process nor a folder remains."""
        return not self.processes and not self.entries


_ENDLESS = """
import hashlib


def stamp(code: str) -> str:
    if hashlib.sha256(code.encode()).hexdigest().startswith("000000000000"):
        return "found"
    return "not yet"
"""
"""A branch that no search reaches, so that none ends early."""


def _generate(folder: Path) -> list[str]:
    (folder / "parcels.py").write_text(_ENDLESS + _SOURCE, "utf-8")
    return ["generate", "parcels.py", "--budget", "60s"]


def _project(folder: Path) -> list[str]:
    package = folder / "post"
    package.mkdir(exist_ok=True)
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "post"\nversion = "1"\n', "utf-8")
    (folder / "tests" / "test_post.py").write_text("def test_nothing():\n    import post.a\n", "utf-8")
    (package / "__init__.py").touch()
    for name in "abcd":
        (package / f"{name}.py").write_text(_SOURCE, "utf-8")
    return ["generate", ".", "--jobs", "2", "--budget", "120s"]


def _study(folder: Path) -> list[str]:
    arms = "".join(f'[[arms]]\nname = "{agent}"\nagent = "{agent}"\n' for agent in ("ucb", "uniform"))
    head = 'name = "kills"\ntrial = "episode"\nsubjects = ["parcels"]\npath = "."\nseeds = 200\nbudget = "3000x"\n'
    (folder / "parcels.py").write_text(_SOURCE, "utf-8")
    (folder / "kills.toml").write_text(head + arms, "utf-8")
    return ["study", "run", "kills.toml", "--folder", "results", "--workers", "2"]


def _train(folder: Path) -> list[str]:
    (folder / "parcels.py").write_text(_SOURCE, "utf-8")
    return ["train", "ppo", "--envs", "2", "--subjects", "parcels,", "--path", ".", "--steps", "100000"]


def _evaluate(folder: Path) -> list[str]:
    (folder / "parcels.py").write_text(_SOURCE, "utf-8")
    return ["evaluate", "ucb", "uniform", "--jobs", "2", "--subjects", "parcels,", "--path", ".", "--seeds", "200"]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "generate": _generate,
    "project": _project,
    "study": _study,
    "train": _train,
    "evaluate": _evaluate,
}
"""Return a function that writes the files of a command to a folder and returns its arguments."""


def kill(name: str, after_s: float, *, patience_s: float = PATIENCE_S) -> Left:
    """Start a command, kill it after `after_s` seconds, and check what remains.

    Args:
        name: one of `COMMANDS`.
        after_s: seconds from its start to the kill.
        patience_s: seconds that its processes have to end.
    """
    with tempfile.TemporaryDirectory(prefix="kills-") as place, _subreaper():
        work, temporary = Path(place, "work"), Path(place, "temporary")
        work.mkdir()
        temporary.mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(Path(__file__).parents[1])}
        before = set(_descendants(os.getpid()))
        command = subprocess.Popen(
            [sys.executable, "-m", "fitgym", *COMMANDS[name](work)],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            command.wait(after_s)
        alive = command.poll() is None
        command.send_signal(signal.SIGKILL)
        command.wait()
        end = time.monotonic() + patience_s
        while (left := _running(before)) and time.monotonic() < end:
            time.sleep(_POLL_S)
        processes = tuple(_command_line(pid) for pid in left)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        sweep = "from fitgym.sandbox.folder import sweep; sweep()"
        subprocess.run([sys.executable, "-c", sweep], env=environment, check=True)
        return Left(alive, processes, tuple(sorted(os.listdir(temporary))))


@contextlib.contextmanager
def _subreaper() -> Iterator[None]:
    """Make this process the parent of every orphaned descendant within the block."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _running(before: set[int]) -> list[int]:
    """Return new descendants of this process; ended ones are reaped."""
    found = []
    for pid in _descendants(os.getpid()):
        if pid not in before:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            if _state(pid) not in ("", "Z"):
                found.append(pid)
    return found


def _descendants(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text("utf-8").split():
                yield int(child)
                yield from _descendants(int(child))


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return f"process {pid}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="of each command")
    parser.add_argument("--commands", nargs="+", choices=sorted(COMMANDS), default=sorted(COMMANDS))
    parser.add_argument("--seed", type=int, default=0, help="seed of the kill times")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    clean = True
    for name in options.commands:
        found = [kill(name, float(rng.uniform(0.0, LATEST_S))) for _ in range(options.kills)]
        dirty = [one for one in found if not one.nothing]
        clean = clean and not dirty
        killed = sum(one.alive for one in found)
        sys.stdout.write(f"{'✗' if dirty else '✓'} {name}: {killed} kills, {len(dirty)} of them left something\n")
        for text in sorted({text for one in dirty for text in (*one.processes, *one.entries)}):
            sys.stdout.write(f"    {text[:150]}\n")
        sys.stdout.flush()
    return int(not clean)


if __name__ == "__main__":
    raise SystemExit(main())
