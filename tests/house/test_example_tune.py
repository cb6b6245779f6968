"""The example that tunes PPO: a study of two short trials ends with a command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_short_study_prints_the_command_of_its_best_trial() -> None:
    for library in ("optuna", "stable_baselines3"):
        pytest.importorskip(library, reason="the example needs the extras 'deep' and 'tune'")
    options = ["--trials", "2", "--steps", "240", "--envs", "2", "--tasks", "0-1"]
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "tune.py", *options], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    *_, score, command = done.stdout.splitlines()
    assert score.startswith("best validation score 0.") and "in trial" in score
    assert command.startswith("fitgym train ppo:learning_rate=") and command.endswith("--envs 2 --steps 240")
