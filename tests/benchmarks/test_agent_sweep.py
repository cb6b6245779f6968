"""The sweep over hyper-parameters: the default comes first, and better settings are distinguished from lucky ones."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fitgym.agents.base import kind, make
from fitgym.run.evaluation import Row
from fitgym.run.setting import Setting

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def sweep(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "agent_sweep", raising=False)
    return importlib.import_module("agent_sweep")


def test_every_setting_makes_an_agent_and_the_first_is_the_default(sweep: Any) -> None:
    for family, settings in sweep.GRIDS.items():
        assert settings[0] == "" and len(set(settings)) == len(settings)
        for setting in settings:
            assert type(make(sweep.named(family, setting), 3, action_names=["a", "b", "c"])) is kind(family)


def test_there_are_at_most_twelve_settings(sweep: Any) -> None:
    assert sum(map(len, sweep.GRIDS.values())) <= 12


def test_settings_are_ordered_by_their_share_and_put_beside_the_default(sweep: Any) -> None:
    goals = {
        goal: [
            Row(Setting.from_keywords(agent=agent, subject=subject, seed=seed, goal=goal), value + seed)
            for agent, value in (("ucb", 8.0), ("ucb:c=0.1", 18.0), ("ucb:c=0.5", 4.0))
            for subject in ("colorsys", "html", "this")
            for seed in (0, 1)
        ]
        for goal in ("exceptions", "diversity")
    }
    best, default, worst = sweep.lines("ucb", goals)
    # six subjects with their goals, all ahead: 2/2^6, for two settings
    assert best.split()[:6] == ["ucb:c=0.1", "1.000", "A12", "1.00", "[1.00,", "1.00]"]
    assert best.endswith("Holm-adjusted p 0.062  no difference shown")
    assert default.split()[0] == "ucb" and default.endswith("the default")
    assert worst.split()[0] == "ucb:c=0.5" and "A12 0.00 [0.00, 0.00]" in worst


def test_a_subject_that_cannot_be_used_is_a_finding(tmp_path: Path) -> None:
    arguments = ["--agents", "linucb", "--subjects", "colorsys,no_such_module", "--goals", "exceptions"]
    arguments += ["--budget", "60x", "--seeds", "1", "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "agent_sweep.py"), *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1, done.stderr
    assert "failed: no_such_module" in done.stdout and "the default" in done.stdout
    assert (tmp_path / "rows.json").stat().st_size > 0
