"""Study files: their meaning, and the errors reported before anything runs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from fitgym.errors import InputError
from fitgym.study.plan import Plan
from fitgym.study.trials.base import trials

FILE = """
name = "exceptions"
question = "Is it worth it?"
trial = "episode"
metric = "value"
baseline = "Default"
subjects = ["colorsys", "textwrap"]
seeds = 2
budget = "60x"

[settings]
population = 5

[[arms]]
name = "UCB"
agent = "ucb"

[[arms]]
name = "Default"
agent = "own"
population = 6

[sizes.small]
seeds = [7]
subjects = ["colorsys"]
settings = { population = 4 }

[published]
source = "nowhere"
UCB = 12.9
"""


def plan(size: str = "", **changes: Any) -> Plan:
    return Plan.of({**tomllib.loads(FILE), **changes}, size)


def test_a_plan_crosses_arms_subjects_and_seeds_seed_by_seed() -> None:
    cells = plan().cells()
    assert [(cell.arm, cell.subject, cell.seed) for cell in cells] == [
        *(("UCB", "colorsys", 0), ("Default", "colorsys", 0), ("UCB", "textwrap", 0), ("Default", "textwrap", 0)),
        *(("UCB", "colorsys", 1), ("Default", "colorsys", 1), ("UCB", "textwrap", 1), ("Default", "textwrap", 1)),
    ]
    assert {cell.budget for cell in cells} == {"60x"}


def test_settings_of_an_arm_go_before_those_of_all_and_these_before_the_defaults() -> None:
    first, second = plan().arms
    assert (first.settings["population"], second.settings["population"]) == (5, 6)
    assert first.settings["goal"] == "exceptions" and first.settings["agent"] == "ucb"


def test_a_size_changes_what_it_names() -> None:
    small = plan("small")
    assert (small.seeds, small.subjects, small.arms[0].settings["population"]) == ((7,), ("colorsys",), 4)
    assert plan().seeds == (0, 1)


def test_each_run_has_a_name_of_its_own_that_follows_from_what_it_depends_on() -> None:
    cells = plan().cells()
    assert len({cell.id for cell in cells}) == len(cells)
    assert [cell.id for cell in cells] == [cell.id for cell in plan().cells()]
    assert cells[0].id != plan(budget="61x").cells()[0].id


def test_a_plan_comes_back_from_json() -> None:
    assert Plan.from_json(plan("small").to_json()) == plan("small")


def test_a_corpus_gives_the_subjects() -> None:
    found = plan(subjects="stdlib-v1:validation").subjects
    assert len(found) > 5 and "textwrap" not in found


def arms(**settings: Any) -> list[dict[str, Any]]:
    return [{"name": "A", **settings}]


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"budgte": "3x"}, ["budgte", "did you mean 'budget'?"]),
        ({"budget": "-5x"}, ["budget", "'-5x'", "20000x"]),
        ({"budget": 60}, ["budget is 60", "expected text"]),
        ({"trial": "artificial", "metric": "covered", "arms": arms(), "settings": {}, "budget": "5s"}, ["budget is '5s'", "executions"]),
        ({"trial": "episodes"}, ["no kind of trial named 'episodes'", "did you mean 'episode'?"]),
        ({"metric": "vlaue"}, ["metric is 'vlaue'", "did you mean 'value'?", "rewards"]),
        ({"baseline": "Defualt"}, ["baseline is 'Defualt'", "did you mean 'Default'?"]),
        ({"subjects": ["colorsys", "no_such_module"]}, ["subjects[1]", "no_such_module"]),
        ({"subjects": ["colorsys", "colorsys"]}, ["subjects", "'colorsys' is listed twice"]),
        ({"subjects": "stdlib-v1:tset"}, ["subjects", "tset", "did you mean 'test'?"]),
        ({"subjects": []}, ["subjects is []", "a list of subjects"]),
        ({"seeds": 0}, ["seeds is 0", "from 1 to 1000000"]),
        ({"seeds": 2**63}, ["seeds is 9223372036854775808", "from 1 to 1000000"]),
        ({"seeds": [1, 1]}, ["seeds: 1 is listed twice"]),
        ({"seeds": True}, ["seeds is True"]),
        ({"arms": []}, ["no arms", "[[arms]]"]),
        ({"arms": arms(agent="ucbb")}, ["arms[0].agent", "no agent named 'ucbb'", "did you mean 'ucb'?"]),
        ({"arms": arms(agent="ppo")}, ["arms[0].agent", "agent 'ppo' knows nothing yet: train it with `fitgym train ppo"]),
        ({"arms": arms(agent="ucb:k=2")}, ["arms[0].agent", "agent 'ucb' has no option 'k=2'"]),
        ({"arms": arms(agnet="ucb")}, ["arms[0].agnet is not a known key", "did you mean 'agent'?"]),
        ({"arms": arms(search="mossa")}, ["arms[0].search", "did you mean 'mosa'?"]),
        ({"arms": arms(budget="5x")}, ["arms[0].budget", "the budget of the study"]),
        ({"arms": arms(population="many")}, ["arms[0].population: 'many', expected a whole number of at least 1"]),
        ({"arms": arms(population=0)}, ["arms[0].population: 0, expected a whole number of at least 1"]),
        ({"arms": arms() + arms()}, ["arms[1].name is 'A'", "another arm"]),
        ({"arms": [{"agent": "ucb"}]}, ["arms[0].name is missing"]),
        ({"settings": {"goal": "exeptions"}}, ["settings.goal", "did you mean 'exceptions'?"]),
        ({"settings": {"gaol": "exceptions"}}, ["settings.gaol is not a known key", "did you mean 'goal'?"]),
        ({"sizes": {"tiny": {"arms": []}}}, ["sizes.tiny.arms is not a known key"]),
        ({"published": {"UBC": 1.0}}, ["published.UBC is not a known key", "did you mean 'UCB'?"]),
        ({"name": ""}, ["name is ''", "expected text"]),
        ({"name": "../../evil"}, ["name is '../../evil'", "the name of a folder"]),
        ({"name": "/etc"}, ["name is '/etc'"]),
        ({"name": ".."}, ["name is '..'"]),
        ({"name": "a\\b"}, ["name is 'a", "without slashes"]),
        ({"name": "a\0b"}, ["name is 'a", "the name of a folder"]),
        ({"name": 101 * "n"}, ["name is 'nnn", "at most 100 bytes"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_the_key_the_value_and_the_nearest_one(
    changes: dict[str, Any], parts: list[str]
) -> None:
    if "arms" in changes:
        changes = {"baseline": "", "published": {}, **changes}
    with pytest.raises(InputError) as raised:
        plan(**changes)
    for part in parts:
        assert part in str(raised.value)


def test_a_size_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"no size 'smal' .there are: small"):
        plan("smal")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the study '.*none.toml' cannot be read"):
        Plan.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("name = ", "utf-8")
    with pytest.raises(InputError, match=r"the study '.*bad.toml' is not TOML"):
        Plan.load(tmp_path / "bad.toml")


def test_paths_of_subjects_begin_at_the_study_file(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "own_subject.py").write_text("def f(x: int) -> int:\n    return x\n", "utf-8")
    file = tmp_path / "study.toml"
    file.write_text(
        FILE.replace('subjects = ["colorsys", "textwrap"]', 'subjects = ["own_subject"]\npath = "mine"'), "utf-8"
    )
    assert Plan.load(file).path == str(tmp_path / "mine")
    (tmp_path / "list.toml").write_text('[[subject]]\nsubject = "own_subject"\nsplit = "some"\n', "utf-8")
    text = file.read_text("utf-8").replace('["own_subject"]', '"list.toml:some"')
    file.write_text(text, "utf-8")
    assert Plan.load(file).subjects == ("own_subject",) and Plan.load(file).path == str(tmp_path / "mine")


@pytest.mark.parametrize("name", trials().names())
def test_every_kind_of_trial_has_settings_with_defaults_and_a_metric(name: str) -> None:
    trial = trials().load(name)
    assert trial.metrics and set(trial.units) <= set("sxg")
    assert trial.of(trial.settings()) == trial()
