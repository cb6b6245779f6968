"""The check of environments on many subjects: rows for correct ones, findings for the others."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from nightly import nightly

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("environment_check")
    for name in ("environment_check", "remeasure"):
        del sys.modules[name]


def options(**changed: Any) -> argparse.Namespace:
    asked = {"subjects": PROGRAMS, "steps": 12, "population": 4, "seed": 0, "reward": "paper", "strict": True}
    return argparse.Namespace(**{**asked, **changed})


class Rising(gymnasium.Env[Any, Any]):
    """Pays 1, 2, 3 and says 2 at most; an episode has two steps."""

    observation_space = spaces.Box(0, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)
    reward_range = (0.0, 2.0)

    def __init__(self, length: int = 2) -> None:
        self.length = length

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {"executions": 0}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        seen = np.full(1, 0.5, np.float32)
        return seen, float(self.steps), self.steps == self.length, False, {"executions": 10 * self.steps}


@pytest.fixture
def rising() -> Iterator[str]:
    gymnasium.register("fitgym-tests/Rising-v0", entry_point=f"{__name__}:Rising")
    yield "fitgym-tests/Rising-v0"
    del gymnasium.registry["fitgym-tests/Rising-v0"]


@nightly
def test_an_environment_that_is_as_it_should_be_has_no_finding(script: Any) -> None:
    subject = script.Subject("core", "programs", "1", "account")
    row = script.check("fitgym/ExceptionDiscovery-v0", subject, options())
    assert row.findings == []
    expected = ["steps", "stable-baselines3", "gymnasium", "made", "strict"]
    assert row.passed == [what for what in expected if script.WITH_STABLE_BASELINES or what != "stable-baselines3"]
    assert (row.steps, row.episodes) == (12, 1) and row.executions > 0


def test_a_subject_that_cannot_be_used_is_a_finding(script: Any) -> None:
    subject = script.Subject("core", "none", "1", "no_such_module")
    row = script.check("fitgym/BranchCoverage-v0", subject, options(strict=False))
    assert row.passed == [] and row.steps == 0
    assert len(row.findings) == 1 and "no_such_module" in row.findings[0]


def test_episodes_follow_each_other_and_everything_is_counted(script: Any, rising: str) -> None:
    row = script.Row("Rising", "none")
    script.walk(gymnasium.make(rising), options(steps=5), row)
    assert (row.steps, row.episodes, row.executions, row.rewards) == (5, 3, 20 + 20 + 10, (1.0, 2.0))


def test_a_reward_outside_its_range_is_found(script: Any, rising: str) -> None:
    row = script.Row("Rising", "none")
    script.attempt(row, "steps", lambda: script.walk(gymnasium.make(rising, length=4), options(), row))
    assert row.findings == ["steps: AssertionError: the reward of step 3 is 3.0: 0.0 to 2.0"]
    assert row.passed == []


def test_a_warning_is_a_finding_once(script: Any) -> None:
    row = script.Row("any", "none")
    script.attempt(row, "gymnasium", lambda: [warnings.warn("too  wide", stacklevel=1) for _ in range(2)])
    assert row.findings == ["gymnasium: warning: too wide"]
    assert script.verdict(row, "gymnasium") == "no"
    assert script.verdict(row, "strict") == "-"


def test_the_table_is_written_and_the_exit_code_says_whether_anything_was_found(
    script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [script.Row("fitgym/A-v0", "a", ["strict"], 3, rewards=(0.0, 1.0)), script.Row("fitgym/B-v0", "a")]
    rows[1].findings = ["steps: wrong"]
    monkeypatch.setattr(script, "check", lambda *_: rows.pop(0))
    command = f"environment_check.py --subjects {PROGRAMS} --only semver --json {tmp_path / 't.json'}"
    environments = "--environments fitgym/ExceptionDiscovery-v0 fitgym/BranchCoverage-v0"
    monkeypatch.setattr(sys, "argv", [*command.split(), *environments.split()])
    assert script.main() == 1
    assert "1 of 2 without a finding" in capsys.readouterr().out
    written = json.loads((tmp_path / "t.json").read_text())
    assert [row["findings"] for row in written["rows"]] == [[], ["steps: wrong"]]
