"""The table of agents: every run once, what was cut off goes on, and what is said follows from the rows."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fitgym.agents.base import make
from fitgym.envs.base import GOALS
from fitgym.run.environment import make as make_env

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "agent_table", raising=False)
    return importlib.import_module("agent_table")


@pytest.fixture
def run(script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs the command in its folder with small budgets; gives the lines of runs.csv and the exit code."""
    monkeypatch.setattr(script, "BUDGETS", dict.fromkeys(script.BUDGETS, "60x"))

    def command(*arguments: str) -> tuple[list[str], int]:
        monkeypatch.setattr(sys, "argv", ["agent_table.py", "--folder", str(tmp_path), *arguments])
        code = script.main()
        return (tmp_path / "runs.csv").read_text("utf-8").splitlines(), code

    return command


@pytest.mark.parametrize("goal", ["exceptions", "diversity", "strong_mutation"])
def test_every_agent_of_the_table_can_act_for_every_goal(script: Any, goal: str) -> None:
    assert set(script.BASELINES) <= set(script.AGENTS)
    for name in script.AGENTS:
        setting = script.Contestant(name, goal).setting("colorsys", 0)
        env: Any = make_env(setting).unwrapped
        try:
            agent = make(setting.agent, env.action_space, action_names=env.action_names)
            assert agent.ready
            if name == "fixed all":
                assert env.action_names[agent.act(None, {})].split("+") == list(env.goal.functions)
            if name == "fixed own":
                assert env.action_names[agent.act(None, {})] == GOALS.load(goal)("gain").fitness
        finally:
            env.close()


def test_what_was_cut_off_goes_on_and_comes_out_the_same(run: Any, tmp_path: Path) -> None:
    arguments = ("--goals", "exceptions", "--agents", "ucb", "uniform", "--seeds", "1", "--no-figure")
    arguments += ("--subjects", "colorsys,string")
    whole, code = run(*arguments)
    assert code == 0 and len(whole) == 1 + 4 and len(set(whole)) == 5
    # Two rows are there, a third was cut off while it was written.
    (tmp_path / "runs.csv").write_text("\n".join([*whole[:3], whole[3][:25]]), "utf-8")
    assert run(*arguments)[0] == whole
    assert run(*arguments[:-2], "--subjects", "colorsys,")[0] == whole  # nothing is lost of what is not asked for


def test_the_table_and_the_figure_say_what_the_rows_say(script: Any, run: Any, tmp_path: Path) -> None:
    rows = [",".join(script.COLUMNS)]
    for subject in ("colorsys", "string", "html"):
        for seed in range(4):
            for name, value in (("ucb", 9.0), ("uniform", 5.0), ("fixed own", 5.0)):
                key = ",".join(("exceptions", "60x", str(script.POPULATION), name, subject, str(seed)))
                rows.append(f"{key},{value + seed / 10},{value},7,21,60,")
    (tmp_path / "runs.csv").write_text("\n".join(rows) + "\n", "utf-8")
    kept, code = run("--seeds", "0")
    assert code == 0 and sorted(kept) == sorted(rows)
    lines = (tmp_path / "table.md").read_text("utf-8").splitlines()
    (ucb,) = [line for line in lines if line.startswith("| ucb ")]
    assert ucb == "| ucb | 12 | 0 | 9.15 | 1.000 | **1.00 [1.00, 1.00]** | - | - | **1.00 [1.00, 1.00]** |"
    assert "- `ucb` is better than fixed own, uniform." in lines
    (uniform,) = [line for line in lines if line.startswith("| uniform ")]
    assert "0.50 [" in uniform and "**" not in uniform
    text = (tmp_path / "agents.svg").read_text("utf-8")
    ElementTree.fromstring(text)
    assert "against uniform" in text and "exceptions, 60x" in text
    first = text
    run("--seeds", "0")
    assert (tmp_path / "agents.svg").read_text("utf-8") == first


def test_a_subject_that_cannot_be_used_is_a_row_and_a_finding(run: Any) -> None:
    rows, code = run(
        "--goals", "exceptions", "--agents", "uniform", "--seeds", "1", "--subjects", "no_such_module,string"
    )
    assert code == 1 and len(rows) == 3
    (failed,) = [row for row in rows if "no_such_module" in row]
    assert ",,0.0,0,0,0," in failed and "no module named 'no_such_module'" in failed
