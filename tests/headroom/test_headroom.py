"""Headroom: the ladder finds known gaps, finds none where there is none, and does not reward luck."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from nightly import nightly

from fitgym.cli import main
from fitgym.envs.leading_ones import constant_value, optimum
from fitgym.envs.toy import optimum as toy_optimum
from fitgym.errors import InputError
from fitgym.headroom.ladder import Request, measure
from fitgym.headroom.policy import Constant, Schedule, Uniform
from fitgym.headroom.report import csv_of, figure, markdown, text, write_all
from fitgym.run.setting import Setting


def ladder(env, *, options=None, **keywords):
    return measure(Request(setting=Setting(env=env, options=options or {}), **keywords))


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["headroom", *arguments])
    return ended.value.code


class Same(gymnasium.Env):
    """Every action pays the same noise."""

    action_space = spaces.Discrete(3)
    observation_space = spaces.Box(0.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 8
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.left -= 1
        return np.zeros(1, np.float32), float(self.np_random.random()), self.left == 0, False, {}

    def reseed(self, seed):
        self.np_random = np.random.default_rng(seed)


class Phased(Same):
    """Action 0 pays in the first half, action 1 in the second one."""

    action_space = spaces.Discrete(2)

    def step(self, action):
        self.left -= 1
        pays = action == (0 if self.left >= 4 else 1)
        return np.zeros(1, np.float32), float(pays), self.left == 0, False, {}


HERE = "test_headroom"


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def test_on_toy_the_oracle_finds_the_optimum_exactly():
    found = ladder("fitgym/Toy-v0", every=1, tries=1)
    assert found.top.mean("final") == pytest.approx(toy_optimum(40)[0])
    assert found.rung("best constant").mean("final") == pytest.approx(16.0)
    assert not found.shares_randomness


@nightly
def test_on_leading_ones_the_known_values_lie_within_the_intervals():
    options = {"bits": 20, "flips": [1, 2, 4], "horizon": 15, "tries": 8}
    found = ladder("fitgym/LeadingOnes-v0", options=options, seeds=60, tries=3, every=1, schedules=False)
    constant = found.interval(found.rung("best constant"))
    assert constant.low <= max(constant_value(20, k, 15, 8) for k in (1, 2, 4)) <= constant.high
    best, _ = optimum(20, (1, 2, 4), 15, 8)
    rule = found.interval(found.rung("best rule"))
    assert rule.low - 0.01 <= best and rule.high >= best - 0.02
    gap = found.gap(found.rung("best constant"), found.top)
    known = best - max(constant_value(20, k, 15, 8) for k in (1, 2, 4))
    assert gap.low <= known <= gap.high + 0.02


@nightly
def test_an_oracle_that_looks_ahead_few_times_is_no_worse_than_what_it_starts_from():
    options = {"bits": 20, "flips": [1, 2, 4], "horizon": 15, "tries": 8}
    found = ladder("fitgym/LeadingOnes-v0", options=options, seeds=60, tries=3, every=1, schedules=False)
    oracle = found.rungs[-1]
    assert oracle.name == "oracle" and oracle.policy.endswith("rule theory")
    assert found.gap(found.rung("best rule"), oracle).high > 0.0


def test_where_all_actions_are_the_same_no_gap_is_found():
    found = ladder(f"{HERE}:Same", seeds=30, tries=2, every=2)
    assert "nothing to learn" in found.verdict()
    assert found.gap(found.rung("best constant"), found.rung("best constant for each task")).low <= 0.0


def test_a_schedule_is_found_where_the_best_action_changes_half_way():
    found = ladder(f"{HERE}:Phased", seeds=4, tries=1, every=1)
    assert found.rung("best schedule").mean("final") == 8.0
    assert found.rung("best schedule").policy == "0 until 4, 1"
    assert found.rung("best constant").mean("final") == 4.0 and found.top.mean("final") == 8.0
    assert found.score(found.rungs[0]) == 0.0 and found.score(found.top) == 1.0


def test_the_same_request_gives_the_same_ladder_for_any_number_of_processes():
    one, two = (ladder("fitgym/LeadingOnes-v0", seeds=3, tries=1, every=20, jobs=jobs) for jobs in (1, 2))
    assert csv_of([one]) == csv_of([two])


@nightly
def test_programs_are_judged_on_tasks_of_the_test_split():
    found = measure(
        Request(
            setting=Setting(env="fitgym/Programs-easy-v0", budget="6g"),
            tests=2,
            seeds=2,
            tries=1,
            schedules=False,
        )
    )
    assert found.tasks == ("task 200", "task 201")
    assert {"random", "best constant", "best rule"} <= {rung.name for rung in found.rungs}
    assert {"informed", "oracle"} & {rung.name for rung in (*found.rungs, *found.others)}


def test_a_constant_that_is_masked_is_replaced_by_an_allowed_action():
    class Masked:
        action_space = spaces.Discrete(3)

        def action_masks(self):
            return np.array([False, True, False])

    chance = np.random.default_rng(0)
    assert Constant(0).choose(Masked(), None, {}, 0, chance) == 1
    assert Uniform().choose(Masked(), None, {}, 0, chance) == 1
    assert Schedule((1, 0), (5,)).choose(Masked(), None, {}, 7, chance) == 1


def test_other_spaces_than_discrete_are_refused():
    with pytest.raises(InputError, match="expected Discrete"):
        ladder("fitgym/FitnessBits-v0", options={}, tests=1)


@pytest.mark.parametrize("wrong", [{"tests": 0}, {"seeds": 1}, {"tries": -1}, {"every": 0}, {"jobs": 0}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(InputError, match="expected at least"):
        ladder("fitgym/Toy-v0", **wrong)


def test_the_report_names_every_rung_and_every_episode():
    found = ladder("fitgym/Toy-v0", seeds=2, tries=1, every=10)
    table = text(found)
    assert all(rung.name in table for rung in (*found.rungs, *found.others))
    assert found.verdict() in markdown([found], "fitgym headroom fitgym/Toy-v0")
    lines = csv_of([found]).splitlines()
    assert len(lines) == 1 + sum(rung.final.size for rung in (*found.rungs, *found.others))
    assert "<svg" in figure(found).svg()


def test_the_command_writes_table_rows_and_figure(tmp_path, capsys):
    assert run("fitgym/Toy-v0", "--seeds", "2", "--tries", "0", "-q", "--output", str(tmp_path)) == 0
    shown = capsys.readouterr()
    assert "best schedule" in shown.out and shown.err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Toy-v0.svg", "ladder.csv", "ladder.md"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no environment is given; expected at least one"),
        (["fitgym/Nothing-v0"], "Nothing-v0"),
        (["fitgym/Toy-v0", "--seeds", "1"], "seeds is 1, expected at least 2"),
        (["fitgym/WeightedFitness-v0", "--test", "shlex,", "--training", "shlex,"], "expected Discrete"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments, said, capsys):
    assert run(*arguments) == 2
    assert said in capsys.readouterr().err


def test_measuring_one_environment_again_keeps_the_ladders_of_the_others(tmp_path: Path) -> None:
    def ladders(env, amount):
        return [measure(Request(setting=Setting(env=env), seeds=amount, tries=0, schedules=False))]

    write_all(ladders("fitgym/Toy-v0", 2), tmp_path, "first")
    write_all(ladders("fitgym/LeadingOnes-v0", 2), tmp_path, "second")
    write_all(ladders("fitgym/Toy-v0", 3), tmp_path, "third")
    page = (tmp_path / "ladder.md").read_text()
    assert "Made by `third`" in page and page.count("\n## fitgym/") == 2
    assert "3 seeds each" in page.partition("## fitgym/LeadingOnes-v0")[0]
    assert "\n\n## fitgym/LeadingOnes-v0\n" in page and page.endswith("\n") and not page.endswith("\n\n")
    rows = (tmp_path / "ladder.csv").read_text().splitlines()
    assert rows[0].startswith("env,") and len(set(rows)) == len(rows)
    counts = {
        env: sum(row.startswith(f"{env},random,") for row in rows) for env in ("fitgym/Toy-v0", "fitgym/LeadingOnes-v0")
    }
    assert counts == {"fitgym/Toy-v0": 3, "fitgym/LeadingOnes-v0": 2}
