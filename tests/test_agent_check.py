"""The check of agents finds what is wrong, not only what is right."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fitgym.agents.base import agents
from fitgym.envs import ENVIRONMENTS
from fitgym.envs.fitness_selection import GOALS

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "agent_check", raising=False)
    return importlib.import_module("agent_check")


def test_every_goal_has_an_environment() -> None:
    assert sorted(ENVIRONMENTS.values()) == GOALS.names() and "pretrained" in agents().names()


def test_an_agent_that_keeps_its_promises_has_no_finding() -> None:
    arguments = ["--agents", "uniform", "pretrained", "--goals", "exceptions", "Toy-v0"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "agent_check.py"), *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 of 4 without a finding" in done.stdout
    assert done.stdout.count("generated, replayed, run 1, run 2") == 2  # both for exceptions
    assert "has no policy for" in done.stdout  # pretrained in the toy


def test_runs_that_differ_are_a_finding(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    by_hash = script.RUN.replace("chosen.append(int(action))", "chosen.append(hash('x') if len(chosen) > 2 else 0)")
    assert by_hash != script.RUN
    monkeypatch.setattr(script, "RUN", by_hash)
    row = script.Row("uniform", "Toy-v0")
    script.in_python("uniform", {"id": "fitgym/Toy-v0"}, row)
    assert row.findings == ["the two runs differ from decision 3 on"] and row.decisions == 40


def test_an_agent_that_cannot_act_is_a_finding(script: Any) -> None:
    row = script.Row("fixed", "Toy-v0")
    script.in_python("fixed:no_such_action", {"id": "fitgym/Toy-v0"}, row)
    assert len(row.findings) == 1 and "run 1: exit code 1" in row.findings[0] and "no_such_action" in row.findings[0]
