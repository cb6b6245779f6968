"""The check of agents finds errors and accepts correct agents."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

from fitgym.agents.base import agents
from fitgym.envs import ENVIRONMENTS
from fitgym.envs.base import GOALS

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "agent_check", raising=False)
    return importlib.import_module("agent_check")


def test_every_goal_has_an_environment() -> None:
    assert sorted(ENVIRONMENTS.values()) == GOALS.names() and "pretrained" in agents().names()


@nightly
def test_an_agent_that_keeps_its_promises_has_no_finding() -> None:
    arguments = ["--agents", "uniform", "pretrained", "--envs", "ExceptionDiscovery-v0", "Toy-v0"]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "agent_check.py"), *arguments], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 of 4 without a finding" in done.stdout
    assert done.stdout.count("run 1, run 2, validated, generated, replayed") == 2  # both for exceptions
    assert "has no policy for" in done.stdout  # pretrained in the toy


def test_runs_that_differ_are_a_finding(script: Any) -> None:
    row = script.Row("uniform", "Toy-v0")
    script.compared(row, {"actions": ["a", "b", "c"]}, {"actions": ["a", "b", "d"]})
    assert row.findings == ["the two runs differ from decision 2 on"] and row.decisions == 3


def test_an_agent_that_cannot_act_is_a_finding(script: Any) -> None:
    row = script.check("fixed:no_such_action", "Toy-v0", "colorsys")
    assert len(row.findings) == 1 and "run 1: exit code 2" in row.findings[0] and "no_such_action" in row.findings[0]


def test_only_agents_that_act_in_a_space_are_checked_there(script: Any) -> None:
    assert script.able("ucb", "Toy-v0") and not script.able("ucb", "FitnessBits-v0")
    assert script.able("factored_ucb", "FitnessBits-v0") and script.able("sac", "GeneratorRates-v0")
