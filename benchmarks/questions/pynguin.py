"""A Pynguin search in its own Python."""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from questions.answer import Settings

__all__ = ["ALGORITHMS", "Search", "pynguin"]

ALGORITHMS = ("WHOLE_SUITE", "DYNAMOSA")
SCRIPT = Path(__file__).resolve().parent.parent / "pynguin_search.py"
FORM = struct.Struct("qdq")
"""The line that the script writes after each execution; see `pynguin_search.py`."""


@dataclass(frozen=True)
class Search:
    """The result of a search.

    Attributes:
        executions: number of executed test cases.
        cpu: seconds of processor time, up to the last execution if the search had to be killed.
        said: why it did not end normally, "" if it did.
    """

    executions: int = 0
    cpu: float = 0.0
    said: str = ""


def pynguin(settings: Settings, module: str, folder: Path, algorithm: str) -> Search:
    """Search a module with one of Pynguin's algorithms, with the seed of all searches."""
    if "pynguin" in settings.absent:
        return Search(said=settings.absent["pynguin"])
    seconds = settings.choose(5, 60)
    limit = 3 * seconds + 60
    with tempfile.TemporaryDirectory() as home:
        progress = Path(home, "progress")
        progress.write_bytes(bytes(FORM.size))
        arguments = [module, str(folder), algorithm, str(seconds), str(settings.seed), str(progress)]
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": home,
            "TMPDIR": home,
            "PYTHONHASHSEED": "0",
            "PYNGUIN_DANGER_AWARE": "1",
        }
        said = ""
        try:
            done = subprocess.run(
                [settings.peers["pynguin"], str(SCRIPT), *arguments],
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=limit,
            )
            if done.returncode:
                said = (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
        except subprocess.TimeoutExpired:
            said = f"killed after {limit} s, its budget was {seconds} s"
        executions, cpu, _ = FORM.unpack(progress.read_bytes())
    return Search(executions, cpu, said)
