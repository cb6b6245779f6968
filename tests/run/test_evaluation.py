"""Evaluation: rows for every cell, the same in any number of processes, including failures."""

from __future__ import annotations

import contextlib
import functools
import json
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Discrete
from nightly import nightly

from fitgym.agents.base import make
from fitgym.cli import main
from fitgym.envs.toy import Toy, optimum
from fitgym.errors import InputError
from fitgym.run.evaluation import Row, evaluate, first_tries, play, summary
from fitgym.run.setting import Setting

SMALL: dict[str, Any] = {"budget": "150x", "seeds": [0, 1]}


def test_every_cell_gives_a_row_agent_by_agent() -> None:
    rows = list(evaluate(["ucb", "uniform"], ("colorsys", "html"), **SMALL))
    assert [(row.setting.agent, row.setting.subject, row.setting.seed) for row in rows] == [
        (agent, subject, seed) for agent in ("ucb", "uniform") for subject in ("colorsys", "html") for seed in (0, 1)
    ]
    assert all(row.executions >= 150 and row.steps >= 1 and not row.error for row in rows)


def test_the_same_cell_gives_the_same_row_in_any_process() -> None:
    alone = list(evaluate(["thompson"], ("colorsys", "html"), **SMALL))
    together = sorted(evaluate(["thompson"], ("colorsys", "html"), jobs=2, **SMALL), key=lambda row: str(row.setting))
    assert together == sorted(alone, key=lambda row: str(row.setting))


@nightly
def test_actions_with_populations_of_their_own_give_another_run() -> None:
    options: dict[str, Any] = {"budget": "45g", "seeds": [0], "actions": "singles"}
    shared, own = (
        next(iter(evaluate(["uniform"], ("colorsys",), populations=kind, **options)))
        for kind in ("shared", "per-action")
    )
    assert not own.error and own.setting.option("populations") == "per-action"
    assert own.steps > 9 and (own.rewards, own.executions) != (shared.rewards, shared.executions)


def test_a_decision_holds_for_as_many_generations_as_is_said() -> None:
    options: dict[str, Any] = {"budget": "13g", "seeds": [0], "population": 4}
    steps = [
        next(iter(evaluate(["uniform"], ("colorsys",), generations_per_step=generations, **options))).steps
        for generations in (1, 3, 12)
    ]
    assert steps == [12, 4, 1]  # of thirteen generations the first is the start


def test_a_subject_that_cannot_be_used_is_a_row_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0\n")
    rows = list(evaluate(["uniform"], ("no_such_module", "broken", "html"), path=str(tmp_path), **SMALL))
    assert [bool(row.error) for row in rows] == [True] * 4 + [False] * 2
    assert "no_such_module" in rows[0].error and "ZeroDivisionError" in rows[2].error
    assert rows[0].value is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["ubc"], ("html",)), "did you mean 'ucb'"),
        (([], ("html",)), "there is nothing to run"),
        ((["ucb"], ()), "there is nothing to run"),
        ((["ucb"], "stdlib"), "did you mean 'stdlib-v1'"),
        ((["uniform", "ucb:c=-1"], ("html",)), "the weight c of the bonus is -1"),
        ((["uniform", "ppo"], ("html",)), "agent 'ppo' knows nothing yet"),
        ((["uniform", "fixed:brnch"], ("html",)), "no action named 'brnch'"),
    ],
)
def test_a_senseless_request_is_refused_before_anything_runs(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(*arguments)


# One episode


def test_playing_without_learning_leaves_the_agent_as_it_was() -> None:
    agent = make("ucb", 5, seed=0).learn(Toy(8), episodes=2)
    before = {name: array.tolist() for name, array in agent.arrays().items()}
    play(agent, Toy(8), learn=False)
    assert {name: array.tolist() for name, array in agent.arrays().items()} == before
    play(agent, Toy(8))
    assert agent.n_updates == 24


def test_anything_with_the_predict_of_a_model_can_play() -> None:
    class Best:
        """The best policy of the toy, read from the observation, as a model would act."""

        def predict(
            self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
        ) -> tuple[Any, Any]:
            assert deterministic and state == (None if episode_start[0] else 1)
            step = round((1 - observation[0]) * 40)
            n = [round(share * 40) for share in observation[1:6]]
            return np.array(optimum(40)[1][step, n[1], n[3], min(n[4], 5)]), 1

    rewards, steps = play(Best(), Toy())
    assert rewards == pytest.approx(optimum(40)[0]) and steps == 40


class OnlyGround(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The toy with every action but the last one forbidden."""

    def _only(self, info: dict[str, Any]) -> dict[str, Any]:
        return {**info, "action_mask": np.arange(5) == 4}

    def reset(self, **options: Any) -> Any:
        observation, info = self.env.reset(**options)
        return observation, self._only(info)

    def step(self, action: Any) -> Any:
        assert int(action) == 4
        *rest, info = self.env.step(action)
        return (*rest, self._only(info))


def test_a_mask_reaches_whatever_takes_one_and_nothing_else() -> None:
    def masked(observation: Any, state: Any = None, action_masks: Any = None, **others: Any) -> tuple[Any, Any]:
        return np.flatnonzero(action_masks)[0], None

    def without(observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False) -> Any:
        action_masks = np.arange(5) == 4  # a local variable by that name is no parameter
        return np.flatnonzero(action_masks)[0], None

    @functools.wraps(masked)
    def wrapped(*arguments: Any, **others: Any) -> tuple[Any, Any]:
        return masked(*arguments, **others)

    for predict in (masked, without, wrapped, functools.partial(masked)):
        assert play(SimpleNamespace(predict=predict), OnlyGround(Toy(4)))[1] == 4


def test_a_model_of_stable_baselines_can_play() -> None:
    stable_baselines3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is in the extra 'deep'")
    model = stable_baselines3.PPO("MlpPolicy", Toy(), device="cpu", seed=0)
    assert play(model, Toy())[1] == 40


def test_the_evaluator_of_stable_baselines_accepts_every_agent() -> None:
    evaluation = pytest.importorskip(
        "stable_baselines3.common.evaluation", reason="Stable-Baselines3 is in the extra 'deep'"
    )
    from fitgym.agents.base import agents_for

    for name in agents_for(Discrete):
        agent = make(name, 5, seed=0)
        if name == "oracle":  # it looks at the environment it was shown, not at the one it is asked about
            continue
        mean, _ = evaluation.evaluate_policy(agent, Toy(6), n_eval_episodes=2, warn=False)
        assert 0 <= mean <= optimum(6)[0]


# The summary


def row(agent: str, subject: str, seed: int, value: float | None) -> Row:
    return Row(Setting(agent=agent, subject=subject, seed=seed), value, error="" if value is not None else "broken")


def test_agents_that_had_no_time_to_learn_are_told() -> None:
    def run(agent: str, steps: int) -> Row:
        return Row(
            Setting(agent=agent, subject="html", options={"actions": ("branch", "line", "exception")}), 1.0, 0.0, steps
        )

    rows = [
        run("ucb", 3),
        run("ucb", 2),
        run("linucb", 4),
        run("uniform", 2),
        Row(Setting(agent="dsg_sarsa", subject="html")),
    ]
    assert first_tries(rows) == {"ucb": (2, 3)}


def test_the_summary_is_the_one_worked_out_by_hand() -> None:
    rows = [
        *(row("a", "x", 0, 10.0), row("a", "x", 1, 5.0), row("a", "y", 0, 0.0), row("a", "z", 0, None)),
        *(row("b", "x", 0, 5.0), row("b", "x", 1, 10.0), row("b", "y", 0, 0.0), row("b", "z", 0, None)),
        *(row("c", "x", 0, 2.0), row("c", "y", 0, 0.0), row("d", "z", 0, None)),
    ]
    lines = {line["agent"]: line for line in summary(rows)}
    # a: on x (10 / 10 + 5 / 10) / 2 = 0.75, on y 1 because nobody reached anything; mean 0.875. c: 0.2 and 1.
    assert lines["a"] == {"agent": "a", "share": 0.875, "median": 5.0, "mean": 5.0, "runs": 3, "failed": 1}
    assert lines["b"]["share"] == 0.875
    assert lines["c"]["share"] == pytest.approx(0.6)
    assert lines["d"] == {"agent": "d", "share": None, "median": None, "mean": None, "runs": 0, "failed": 1}
    assert [line["agent"] for line in summary(rows)] == ["a", "b", "c", "d"]


def test_numbered_tasks_are_compared_like_subjects() -> None:
    env = "fitgym/Landscapes-v0"
    rows = list(evaluate(["uniform", "fixed:promising"], env=env, tasks="200-201", seeds=[0, 1]))
    assert [row.setting.place for row in rows[:4]] == ["task 200", "task 200", "task 201", "task 201"]
    assert all(row.record is not None and row.record["options"]["task"] == row.setting.options["task"] for row in rows)
    best, worst = summary(rows)
    assert best["agent"] == "fixed:promising" and best["mean"] > worst["mean"]


@pytest.mark.parametrize(
    ("env", "tasks", "message"),
    [
        ("fitgym/Toy-v0", "0-4", "environment 'fitgym/Toy-v0' has no numbered tasks: leave the tasks out"),
        ("fitgym/Corpus-v0", "0-4", "environment 'fitgym/Corpus-v0' has no numbered tasks: leave the tasks out"),
        ("fitgym/Landscapes-v0", "train", "expected at most 10000: use a range such as 200-299"),
    ],
)
def test_tasks_that_cannot_be_played_are_refused(env: str, tasks: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate(["uniform"], env=env, tasks=tasks)


# The command line


def command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fitgym", "evaluate", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_command_prints_a_table_and_writes_all_rows(tmp_path: Path) -> None:
    done = command(
        *("uniform", "fixed:exception", "--subjects", "colorsys,no_such_module", "--budget", "100x"),
        *("--seeds", "1", "--json", "rows.json", "--against", "uniform"),
        folder=tmp_path,
    )
    assert done.returncode == 1, "a subject that cannot be used is a finding"
    reward, head, *lines, contrast = done.stdout.splitlines()
    assert reward == "reward growth"
    assert contrast.startswith("fixed:exception against uniform: A12 ") and "on 1 subjects" in contrast
    assert contrast.endswith("Holm-adjusted p -: one seed: no verdict")
    assert head.split() == ["agent", "share", "of", "best", "median", "mean", "runs", "failed"] and len(lines) == 2
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [bool(found["error"]) for found in rows] == [False, True, False, True]
    assert rows[0]["setting"]["agent"] == "uniform" and rows[0]["value"] is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ubc"], "did you mean 'ucb'"),
        (["ucb", "--subjects", "nothing"], "no corpus named 'nothing'"),
        (["ucb", "--budget", "10s"], "counts seconds"),
        (["ucb", "--seeds", "0"], "seeds is 0"),
        (["ucb", "--jobs", "0"], "jobs is 0"),
        (["ucb", "--executor", "rey"], "did you mean 'ray'"),
        (["ucb", "--address", "auto"], "address 'auto' needs executor 'ray', not 'local'"),
        (["ucb", "--against", "uniform"], "'uniform' is not among the agents to run; expected one of: ucb"),
        ([], "there is nothing to run"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", *arguments])
    out, err = capsys.readouterr()
    assert ended.value.code == 2 and out == ""
    assert message in err and len(err.strip().splitlines()) == 1


def test_without_scipy_a_comparison_is_refused_before_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from fitgym.commands.agents import evaluate as evaluate_command

    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(
        InputError, match=r"--against needs scipy for its statistical test; pip install 'fitgym\[study\]'"
    ):
        evaluate_command("ucb", "uniform", against="uniform")


def test_runs_in_parallel_end_with_the_process_that_asked_for_them() -> None:
    """Killed outright, it has no time to tell them."""
    code = (
        "from fitgym.run.evaluation import evaluate\n"
        "if __name__ == '__main__':\n"
        "    for row in evaluate(['uniform'], ['colorsys', 'textwrap'], seeds=range(50), budget='2000x', jobs=2):\n"
        "        print(row.value, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None and driver.stdout.readline().strip()
        deadline = time.monotonic() + 20
        while len(started := _descendants(driver.pid)) < 4 and time.monotonic() < deadline:
            time.sleep(0.001)  # between two runs there is no worker
        driver.kill()
    assert len(started) >= 4  # two runs, each with a worker for its subject
    deadline = time.monotonic() + 20
    while (left := [pid for pid in started if _is_running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _descendants(pid: int) -> list[int]:
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text("utf-8").split():
                found += [int(child), *_descendants(int(child))]
    return found


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
