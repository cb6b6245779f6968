"""The benchmark of learning: players play the same tasks, rows are summarised, and the page states the closed share."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fitgym.agents.pretrained import policies
from fitgym.envs.rules import POINTERS
from fitgym.run.environment import make
from fitgym.run.setting import Setting

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
LANDSCAPES = "fitgym/Landscapes-v0"


@pytest.fixture
def learning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The script, with an empty folder for its files."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = importlib.import_module("learning")
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    yield module
    del sys.modules["learning"]


def test_the_page_says_which_share_of_the_gap_a_policy_closes(learning: Any, tmp_path: Path) -> None:
    folder = str(policies()[tuple(POINTERS)])
    env: Any = make(Setting(env=LANDSCAPES))
    players = [learning.Player(LANDSCAPES, "0", seen, folder) for seen in ("all", "nothing")]
    players += learning.baselines(env.unwrapped)
    file = learning.RunsFile(tmp_path / "episodes.csv", learning.EPISODES, 5)
    for task in range(200, 215):
        file.add(learning.played(LANDSCAPES, task, players))
    learning.summarise(LANDSCAPES, list(POINTERS))
    page = learning.table()
    gap = next(line for line in page.splitlines() if line.startswith(f"| {LANDSCAPES} | 0.") and "(" in line)
    closed, blank = (float(cell) for cell in gap.split("|")[-3:-1])
    assert closed > 0.3 > blank
    assert f"| {LANDSCAPES} | informed | all | 0." in page and "| early | 0." in page
    assert learning.phases(LANDSCAPES).svg().startswith("<svg")


def test_a_row_of_an_episode_has_its_actions_and_a_repetition_gives_the_same_row(learning: Any) -> None:
    player = learning.Player("random", "", "nothing")
    row, again = (learning.played(LANDSCAPES, 230, [player]) for _ in range(2))
    assert row == again and len(row[0]["taken"]) <= 30 and set(row[0]["taken"]) <= set("0123456")
    assert row[0]["judged"] == LANDSCAPES and 0.0 <= float(row[0]["score"]) <= 1.0
