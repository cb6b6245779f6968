"""A search of Pynguin, in its own Python."""

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
"""What the script writes after each execution, see there."""


@dataclass(frozen=True)
class Search:
    """What a search did.

    Attributes:
        executions: how many test cases it executed.
        cpu: seconds of processor time that this took; up to its last execution if it had to be killed.
        said: why it did not end as it should, "" if it did.
    """

    executions: int = 0
    cpu: float = 0.0
    said: str = ""


def pynguin(settings: Settings, module: str, folder: Path, algorithm: str) -> Search:
    """Search with one of Pynguin's algorithms on a module, with the seed of all searches."""
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
