"""Nothing outlives a command that is killed: no process after five seconds, no folder after the next sweep."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nightly import nightly

from benchmarks import kills

LIBRARIES = {"study": "joblib", "train": "stable_baselines3"}


@pytest.mark.parametrize("after_s", [pytest.param(0.5, marks=nightly), pytest.param(2.0, marks=nightly), 4.0])
@pytest.mark.parametrize("name", kills.COMMANDS)
@nightly
def test_nothing_outlives_a_killed_command(name: str, after_s: float) -> None:
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name], reason=f"the command {name} needs it")
    left = kills.kill(name, after_s)
    assert left.alive, "the command ended before it was killed, so this test has shown nothing"
    assert left.nothing, left


def test_what_outlives_a_command_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leaky.py").write_text(
        "import subprocess, sys, tempfile, time\n"
        "tempfile.mkdtemp(prefix='left-')\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", f"import runpy; runpy.run_path({str(tmp_path / 'leaky.py')!r})"]
    start = subprocess.Popen

    def started(arguments: list[str], **options: object) -> subprocess.Popen[bytes]:
        return start(command if "fitgym" in arguments else arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", started)
    left = kills.kill("generate", 2.0, patience_s=0.3)
    assert left.alive and len(left.processes) == 1 and "sleep(600)" in left.processes[0]
    assert len(left.entries) == 1 and left.entries[0].startswith("left-")
    assert not [pid for pid in kills._descendants(os.getpid()) if "sleep(600)" in kills._command_line(pid)]
