#!/usr/bin/env python3
"""Soak test: generate, train, evaluate, study, kill and resume on random subjects for a given time.

    python benchmarks/soak.py --minutes 120       # the two hours of a release
    python benchmarks/soak.py --minutes 1440      # a day, before a version that changes workers
    python benchmarks/soak.py --minutes 5 --seed 3 --json soak.json

Every round runs a few commands in a new folder; every tenth round uses a hostile subject. A round has a finding if a
command prints a traceback, exceeds its time limit, ends with an unexpected exit code, leaves a process or a temporary
folder behind, or writes a record that `fitgym validate` does not confirm. In parallel, one process plays episodes all
the time; its memory must not grow. The exit code is 1 if there was any finding. Linux only.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from hostile_subjects import MARK, PR_SET_CHILD_SUBREAPER, descendants, reap

ROOT = Path(__file__).parents[1]
EVERY_HOSTILE = 10
"""Every this many rounds the subject is hostile."""

LIMIT_S = 300.0
"""Seconds after which a command counts as hanging; the longest takes about 40 on an idle machine."""

PATIENCE_S = 5.0
GROWTH = 1.1
"""Largest ratio of the resident process's memory in the last quarter of the soak to that in the second quarter."""

LIBRARY = (
    "textwrap",
    "shlex",
    "html.parser",
    "colorsys",
    "string",
    "difflib",
    "fnmatch",
    "quopri",
    "heapq",
    "graphlib",
)

HOSTILE = {
    "loops": "def f(n: int) -> int:\n    while n > 3:\n        pass\n    return n\n",
    "exits": "import os\ndef f(n: int) -> int:\n    if n > 3:\n        os._exit(n % 256)\n    return n\n",
    "fills": "def f(n: int) -> int:\n    kept = []\n    while n > 3:\n        kept.append(bytes(1 << 24))\n    return n\n",
    "recurs": "import sys\ndef f(n: int) -> int:\n    sys.setrecursionlimit(10**9)\n    return f(n + 1) if n > 3 else n\n",
    "forks": "import os\ndef f(n: int) -> int:\n    if n > 3:\n        for _ in range(50):\n            os.fork()\n    return n\n",
    "kills": "import os, signal\ndef f(n: int) -> int:\n    os.kill(os.getppid(), signal.SIGKILL)\n    return n\n",
    "closes": "import os\ndef f(n: int) -> int:\n    os.closerange(0, 256)\n    return n\n",
    "prints": "import os\ndef f(n: int) -> int:\n    for fd in range(3, 64):\n        try:\n            os.write(fd, b'x' * 4096)\n"
    "        except OSError:\n            pass\n    return n\n",
}
"""Small hostile modules: a suitable number as argument triggers the damage."""


@dataclass(slots=True)
class Round:
    """One round.

    Attributes:
        number: from 0.
        kind: one of `KINDS`, or `hostile`.
        subject: the module under test.
        seconds: wall time.
        memory_mb: largest resident set of a command's main process.
        findings: problems, one sentence each.
    """

    number: int
    kind: str
    subject: str
    seconds: float = 0.0
    memory_mb: float = 0.0
    findings: list[str] = field(default_factory=list)


class Place:
    """The folder of a round, and the commands that run in it.

    Args:
        folder: an empty folder.
        round: collects the findings.
        rng: draws the times of kills, and programs.
    """

    def __init__(self, folder: Path, round: Round, rng: random.Random) -> None:
        self.work, self._temporary = folder / "work", folder / "temporary"
        self.work.mkdir()
        self._temporary.mkdir()
        self._round, self.rng = round, rng
        self._mark = uuid.uuid4().hex
        self._environment = {**os.environ, "TMPDIR": str(self._temporary), "PYTHONPATH": str(ROOT), MARK: self._mark}

    def write(self, name: str, text: str) -> None:
        """Write a file, and the folders above it."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def run(self, *arguments: str, expected: Sequence[int] = (0,)) -> int:
        """Run `fitgym` to its end; returns the exit code."""
        with self._started(arguments) as (process, output):
            code = self._wait(process, LIMIT_S)
            if code is None:
                process.kill()
                code = process.wait()
                self._find(f"`fitgym {' '.join(arguments)}` still ran after {LIMIT_S:g} s")
            elif code not in expected:
                self._find(f"`fitgym {' '.join(arguments)}` ended with {code}: {_last_line(output)}")
        return code

    def kill(self, *arguments: str, latest_s: float) -> None:
        """Start `fitgym` and kill it after a random time."""
        with self._started(arguments) as (process, _):
            self._wait(process, self.rng.uniform(0.2, latest_s))
            process.send_signal(signal.SIGKILL)
            process.wait()

    @contextmanager
    def _started(self, arguments: Sequence[str]) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
        """Start a command with its output in a file; afterwards, check what it left behind."""
        output = self.work / "output.txt"
        before = set(descendants(self._mark))
        with open(output, "wb") as out:
            command = [sys.executable, "-m", "fitgym", *arguments]
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            yield subprocess.Popen(command, cwd=self.work, env=self._environment, **streams), output
        if "Traceback (most recent call last)" in output.read_text("utf-8", errors="replace"):
            self._find(f"`fitgym {' '.join(arguments)}` printed a traceback: {_last_line(output)}")
        end = time.monotonic() + PATIENCE_S
        while (left := descendants(self._mark).keys() - before) and time.monotonic() < end:
            time.sleep(0.05)
        for pid, line in descendants(self._mark).items():
            if pid in left:
                self._find(f"`fitgym {arguments[0]}` left a process: {line[:120]}")
                os.kill(pid, signal.SIGKILL)

    def swept(self) -> None:
        """Check for temporary files that the next run does not remove."""
        sweep = "from fitgym.sandbox.folder import sweep; sweep()"
        subprocess.run([sys.executable, "-c", sweep], env=self._environment, check=True)
        for name in sorted(os.listdir(self._temporary)):
            self._find(f"left among the temporary files: {name}")

    def _wait(self, process: subprocess.Popen[bytes], limit_s: float) -> int | None:
        """Return the exit code, None if it still runs after `limit_s` seconds; meanwhile record its memory."""
        end = time.monotonic() + limit_s
        while (code := process.poll()) is None and time.monotonic() < end:
            self._round.memory_mb = max(self._round.memory_mb, _memory_mb(process.pid))
            time.sleep(0.1)
        return code

    def _find(self, finding: str) -> None:
        self._round.findings.append(finding)


def _generate(place: Place, subject: str) -> None:
    place.run(
        "generate", subject, "--budget", "600x", "--goal", "coverage", "--json", "record.json", "--output", "made"
    )
    if (place.work / "record.json").exists():
        place.run("validate", "record.json", "--path", ".")


def _train(place: Place, subject: str) -> None:
    place.run("train", "dsg_sarsa", "--subjects", f"{subject},", "--path", ".", "--steps", "60", "--output", "policy")
    place.run(
        "evaluate", "policy", "uniform", "--subjects", f"{subject},", "--path", ".", "--seeds", "1", "--budget", "300x"
    )


def _study(place: Place, subject: str) -> None:
    arms = "".join(f'[[arms]]\nname = "{agent}"\nagent = "{agent}"\n' for agent in ("ucb", "uniform"))
    head = f'name = "soak"\ntrial = "episode"\nsubjects = ["{subject}"]\npath = "."\nseeds = 4\nbudget = "400x"\n'
    place.write("soak.toml", head + arms)
    command = ("study", "run", "soak.toml", "--folder", "results", "--workers", "2")
    place.kill(*command, latest_s=12.0)
    place.run(*command)
    place.run("validate", "results")


def _project(place: Place, subject: str) -> None:
    place.write("pyproject.toml", '[project]\nname = "post"\nversion = "1"\n')
    place.write("post/__init__.py", "")
    for number in range(3):
        place.write(f"post/part{number}.py", _program(place.rng))
    command = ("generate", ".", "--budget", "2400x", "--jobs", "2")
    place.kill(*command, latest_s=20.0)
    place.run(*command)
    place.run("check", ".")
    place.run("update", ".")


KINDS: dict[str, Callable[[Place, str], None]] = {
    "generate": _generate,
    "train": _train,
    "study": _study,
    "project": _project,
}


def _hostile(place: Place, subject: str) -> None:
    # 1: no test case finished, so nothing was exported.
    place.run("generate", subject, "--budget", "150x", "--goal", "coverage", "--output", "made", expected=(0, 1))


def play(number: int, seed: int) -> Round:
    """Run a round, drawn from its number and the seed of the soak."""
    rng = random.Random(f"soak {seed} {number}")
    hostile = number % EVERY_HOSTILE == EVERY_HOSTILE - 1
    kind = "hostile" if hostile else rng.choice(sorted(KINDS))
    with tempfile.TemporaryDirectory(prefix="soak-", ignore_cleanup_errors=True) as folder:
        done = Round(number, kind, "")
        place = Place(Path(folder), done, rng)
        if hostile:
            name, source = rng.choice(sorted(HOSTILE.items()))
            place.write(f"{name}.py", source)
            done.subject = name
        elif rng.random() < 0.5:
            place.write("program.py", _program(rng))
            done.subject = "program"
        else:
            done.subject = rng.choice(LIBRARY)
        started = time.monotonic()
        (_hostile if hostile else KINDS[kind])(place, done.subject)
        place.swept()
        reap()
        done.seconds = round(time.monotonic() - started, 1)
    return done


def _program(rng: random.Random) -> str:
    from fitgym.programs.knobs import EASY
    from fitgym.programs.program import generate

    return generate(rng.randrange(10**6), EASY).source


def episodes(seed: int, told: Connection) -> None:
    """Play episodes on drawn programs until the other side closes; sends this process's memory in MB after each."""
    import gymnasium

    import fitgym.envs  # noqa: F401  (registers the environments)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    env = gymnasium.make("fitgym/Programs-v0", level="easy", budget="600x")
    for number in range(10**9):
        env.reset(seed=seed + number)
        ended = False
        while not ended:
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            ended = terminated or truncated
        try:
            told.send(_memory_mb(os.getpid(), "VmRSS"))
        except OSError:
            return


def growth(memory: Sequence[float]) -> float:
    """Return the median of the last quarter over that of the second quarter; 1.0 for few samples.

    The first quarter is left out because caches fill.
    """
    quarter = len(memory) // 4
    return median(memory[-quarter:]) / median(memory[quarter : 2 * quarter]) if quarter else 1.0


def _memory_mb(pid: int, line: str = "VmHWM") -> float:
    try:
        status = Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return 0.0
    return next((int(text.split()[1]) / 1024 for text in status.splitlines() if text.startswith(line)), 0.0)


def _last_line(output: Path) -> str:
    lines = output.read_text("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "it printed nothing"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each round, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=0, help="of all rounds")
    parser.add_argument("--json", type=Path, help="file for all rounds")
    options = parser.parse_args(arguments)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    context = multiprocessing.get_context("spawn")
    heard, told = context.Pipe(duplex=False)
    resident = context.Process(target=episodes, args=(options.seed, told), daemon=True)
    resident.start()
    told.close()
    end = time.monotonic() + 60.0 * options.minutes
    rounds: list[Round] = []
    memory: list[float] = []
    while not rounds or time.monotonic() < end:
        done = play(len(rounds), options.seed)
        rounds.append(done)
        while heard.poll():
            memory.append(heard.recv())
        sys.stdout.write(
            f"{'✗' if done.findings else '✓'} {done.number:4} {done.kind:9} {done.subject:12} "
            f"{done.seconds:6.1f} s {done.memory_mb:5.0f} MB\n" + "".join(f"    {text}\n" for text in done.findings)
        )
        sys.stdout.flush()
    alive = resident.is_alive()
    resident.kill()
    grown = growth(memory)
    dirty = [done for done in rounds if done.findings]
    sys.stdout.write(
        f"{len(rounds)} rounds, {len(dirty)} with findings; {len(memory)} episodes beside them"
        f"{'' if alive else ', until the process ended by itself'}; its memory grew by {100 * (grown - 1):.1f} %\n"
    )
    if options.json is not None:
        kept = {"rounds": [asdict(done) for done in rounds], "memory_mb": memory, "growth": grown}
        options.json.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    return int(bool(dirty) or not alive or grown > GROWTH)


if __name__ == "__main__":
    raise SystemExit(main())
