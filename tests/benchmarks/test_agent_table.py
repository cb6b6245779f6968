"""The table of agents: every run happens once, an interrupted benchmark resumes, and conclusions match the rows."""

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

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "agent_table", raising=False)
    return importlib.import_module("agent_table")


@pytest.fixture
def run(script: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs the command in its folder with small budgets; gives the lines of runs.csv and the exit code."""
    for budgets in ("BUDGETS", "TRAINING_BUDGETS"):
        monkeypatch.setattr(script, budgets, dict.fromkeys(script.BUDGETS, "60x"))

    def command(*arguments: str) -> tuple[list[str], int]:
        monkeypatch.setattr(sys, "argv", ["agent_table.py", "--folder", str(tmp_path), *arguments])
        code = script.main()
        return (tmp_path / "runs.csv").read_text("utf-8").splitlines(), code

    return command


@pytest.mark.parametrize("goal", ["exceptions", "diversity", "strong_mutation"])
def test_every_agent_of_the_table_can_act_for_every_goal(script: Any, goal: str) -> None:
    assert set(script.BASELINES) <= set(script.AGENTS)
    for name in script.AGENTS:
        setting = script.Contestant(name, goal, f"fixed:{GOALS.load(goal)().fitness}").setting("colorsys", 0)
        env: Any = make_env(setting).unwrapped
        try:
            agent = make(setting.agent, env.action_space, action_names=env.action_names)
            assert agent.ready
            if name == "fixed all":
                assert env.action_names[agent.act(None, {})].split("+") == list(env.goal.functions)
            if name == script.RANDOM_SEARCH:
                assert setting.options["search"] == "random_search"
            if name in ("fixed own", script.BEST_CONSTANT):
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


def written(script: Any, folder: Path, seeds: int = 4, subjects: int = 8, **values: float) -> list[str]:
    """Rows by hand of the goal of exceptions, on test modules."""
    rows = [",".join(script.COLUMNS)]
    for subject in script.Corpus.load("stdlib-v1:test").subjects[:subjects]:
        for seed in range(seeds):
            for name, value in values.items():
                key = ",".join(
                    ("exceptions", "60x", str(script.POPULATION), name.replace("_", " "), subject, str(seed))
                )
                rows.append(f"{key},{value + seed / 10},{value},7,21,60,")
    (folder / "runs.csv").write_text("\n".join(rows) + "\n", "utf-8")
    return rows


def test_the_table_and_the_figure_say_what_the_rows_say(script: Any, run: Any, tmp_path: Path) -> None:
    rows = written(script, tmp_path, ucb=9.0, uniform=5.0, fixed_own=5.0)
    kept, code = run("--seeds", "0")
    assert code == 0 and sorted(kept) == sorted(rows)
    lines = (tmp_path / "table.md").read_text("utf-8").splitlines()
    (ucb,) = [line for line in lines if line.startswith("| ucb ")]
    # Eight subjects, all ahead: 2/2^8, for three pairs.
    cell = "**1.00 [1.00, 1.00], p = 0.023**"
    assert ucb == f"| ucb | 32 | 0 | 9.15 | 1.000 | {cell} | {cell} |"
    assert "- `ucb`: is better than fixed own, uniform." in lines
    (uniform,) = [line for line in lines if line.startswith("| uniform ")]
    assert "0.50 [" in uniform and "**" not in uniform
    (notice,) = [line for line in lines if line.startswith("Null arms are missing: ")]
    assert "random search" in notice and "random_fixed" in notice and "best constant" in notice
    text = (tmp_path / "agents.svg").read_text("utf-8")
    ElementTree.fromstring(text)
    assert "A12 beside fixed own" in text and "exceptions, 60x" in text
    assert "Shown to beat fixed own while learning: ucb for exceptions" in text
    dark = (tmp_path / "agents-dark.svg").read_text("utf-8")
    run("--seeds", "0")
    assert (tmp_path / "agents.svg").read_text("utf-8") == text != dark


def test_with_one_seed_or_few_subjects_nothing_is_stated(script: Any, run: Any, tmp_path: Path) -> None:
    written(script, tmp_path, seeds=1, ucb=9.0, uniform=5.0)
    run("--seeds", "0", "--no-figure")
    text = (tmp_path / "table.md").read_text("utf-8")
    assert "- `ucb`: one seed: no verdict beside uniform." in text and "**" not in text
    written(script, tmp_path, subjects=3, ucb=9.0, uniform=5.0)
    run("--seeds", "0", "--no-figure")
    text = (tmp_path / "table.md").read_text("utf-8")
    assert "- `ucb`: no difference shown beside uniform." in text and "**" not in text
    assert "3 subjects are too few to show any difference among 1 comparisons." in text


@pytest.mark.parametrize("goal", ["exceptions", "diversity", "strong_mutation"])
def test_every_candidate_for_the_best_constant_is_an_action(script: Any, goal: str) -> None:
    found = script.candidates(goal)
    functions = GOALS.load(goal)("gain").functions
    assert f"fixed:{functions[0]}" in found and found[-1] == f"fixed:{'+'.join(functions)}"
    assert len(set(found)) == len(found) >= len(functions)
    for name in found:
        setting = script.Contestant(name, goal).setting("colorsys", 0)
        env: Any = make_env(setting).unwrapped
        assert make(setting.agent, env.action_space, action_names=env.action_names).ready
        env.close()


def test_the_best_constant_comes_from_the_training_split_and_has_a_row_of_its_own(
    script: Any, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may be the same run as that of another arm."""
    monkeypatch.setattr(script, "candidates", lambda goal: ["fixed:exception", "fixed:exception+branch"])
    arguments = ("--goals", "exceptions", "--seeds", "1", "--no-figure")
    subjects = script.Corpus.load(script.TRAINING).subjects[:1]
    monkeypatch.setattr(script, "TRAINING", f"{subjects[0]},")
    (tmp_path / "runs.csv").write_text(",".join(script.COLUMNS) + "\n", "utf-8")
    _, code = run(*arguments, "--constants")
    said = capsys.readouterr().out
    assert code == 0 and said.startswith("exceptions: fixed:")
    monkeypatch.setattr(script, "chosen", lambda file: {"exceptions": "fixed:exception"})
    arms = ("--agents", "fixed own", "best constant", "random search", "--subjects", "colorsys,")
    whole, code = run(*arguments, *arms)
    ours = {line.split(",")[3]: line.split(",")[6:] for line in whole[1:]}
    assert code == 0 and set(ours) == {"fixed own", "best constant", "random search"}
    assert ours["fixed own"] == ours["best constant"]
    assert "`fixed:exception`" in (tmp_path / "table.md").read_text("utf-8")


def test_a_subject_that_cannot_be_used_is_a_row_and_a_finding(run: Any) -> None:
    rows, code = run(
        "--goals", "exceptions", "--agents", "uniform", "--seeds", "1", "--subjects", "no_such_module,string"
    )
    assert code == 1 and len(rows) == 3
    (failed,) = [row for row in rows if "no_such_module" in row]
    assert ",,0.0,0,0,0," in failed and "no module named 'no_such_module'" in failed
