"""Forgery: validation detects a change to any single field of a true record."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

import fitgym
from fitgym.run import repeat
from fitgym.run.evaluation import run as evaluated
from fitgym.run.repetition import UNCHECKED
from fitgym.run.setting import Setting
from fitgym.study.cell import record
from fitgym.study.plan import Cell
from fitgym.study.trials.episode import Episode
from fitgym.study.validation import Claim, Validity, validate

PROGRAM = '''
def grade(points: int, bonus: bool = False) -> str:
    """A grade."""
    if bonus:
        points += 5
    if points < 0:
        raise ValueError("points are negative")
    if points > 4000:
        return "a"
    if points == 1703:
        if bonus:
            return "never"
        return "b"
    return "c"
'''

Path_ = tuple[str | int, ...]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("forgery")
    (found / "grades.py").write_text(PROGRAM, "utf-8")
    return found


@pytest.fixture(autouse=True, scope="module")
def remembered() -> Iterator[None]:
    """Make each run once: what is told apart here are records, and the same setting gives the same run."""
    with pytest.MonkeyPatch.context() as patch:
        # A busy machine finishes its suites too: the clock ends that later, and work when it did before.
        patch.setattr("fitgym.suite.share.FLOOR_S", 600.0)
        patch.setattr("fitgym.suite.share.WORKING", 10.0 / 600.0)
        for owner, name in ((repeat, "_generated"), (Episode, "measure")):
            patch.setattr(owner, name, once(getattr(owner, name)))
        yield


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def found(*arguments: Any) -> Any:
        key = repr([setting_in(one) for one in arguments])
        if key not in known:
            known[key] = function(*arguments)
        return copy.deepcopy(known[key])

    return found


def setting_in(argument: Any) -> Any:
    """An argument, of a record what a new run takes from it besides the setting."""
    if not isinstance(argument, dict):
        return argument
    return bool(argument.get("made_for") or argument.get("suite_path")), argument.get("format")


@pytest.fixture(scope="module")
def generated(folder: Path) -> dict[str, Any]:
    run = fitgym.generate(
        "grades",
        path=str(folder),
        agent="ucb",
        seed=3,
        budget="200x",
        population=4,
        generations_per_step=1,
        goal="coverage",
        output=folder,
    )
    assert run.record["tests"] > 1 and run.record["steps"] > 2 and run.record["unfinished"] == []
    found: dict[str, Any] = json.loads(json.dumps(run.record))
    return found


@pytest.fixture(scope="module")
def studied(folder: Path) -> dict[str, Any]:
    settings = {**Episode.settings(), "population": 4, "goal": "coverage", "suite": True}
    cell = Cell("episode", "UCB", "grades", 5, "60x", settings, str(folder))
    found: dict[str, Any] = json.loads(record(cell))
    assert not found["error"] and found["run"]["tests"] > 0
    return found


def leaves(value: Any, path: Path_ = ()) -> Iterator[Path_]:
    """The way to every number, text and empty container of a record, and of long lists to the last one."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list) and value:
        yield from leaves(value[-1], (*path, len(value) - 1))
    else:
        yield path


def forged(record: dict[str, Any], path: Path_) -> dict[str, Any]:
    """The record with another value in one place, of the same type where that is possible."""
    changed = copy.deepcopy(record)
    place: Any = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = other(place[path[-1]])
    return changed


def other(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case None:
            return 7
        case list():
            return [*value, "x"]
        case _:
            return {**value, "x": 1}


def verdict(changed: dict[str, Any], folder: Path) -> Validity:
    return validate(Claim("one", changed, str(folder)))


def unnoticed(record: dict[str, Any], paths: list[Path_], folder: Path) -> list[Path_]:
    return [path for path in paths if verdict(forged(record, path), folder).valid]


@nightly
def test_true_records_are_valid_and_nothing_else_is_unchecked(
    generated: dict[str, Any], studied: dict[str, Any], folder: Path
) -> None:
    for one in (generated, studied):
        found = verdict(one, folder)
        assert (found.reasons, dict(found.unchecked)) == ((), {}) and found.made


def test_any_field_of_a_generated_record_that_is_changed_is_noticed(generated: dict[str, Any], folder: Path) -> None:
    paths = [path for path in leaves(generated) if path[0] not in UNCHECKED and path[0] != "options"]
    assert len(paths) > 25
    assert unnoticed(generated, paths, folder) == []


@nightly
def test_any_option_of_a_generated_record_that_is_changed_is_noticed(generated: dict[str, Any], folder: Path) -> None:
    """An option may be given another value with which the run is the same one, but then the record says what is true."""
    paths: list[Path_] = [("options", name) for name in generated["options"]]
    unseen = unnoticed(generated, paths, folder)
    for path in unseen:
        made = verdict(forged(generated, path), folder).made
        assert made["options"][path[1]] == forged(generated, path)["options"][path[1]]
    assert len(unseen) <= 3, unseen


def test_any_field_of_a_record_of_a_study_that_is_changed_is_noticed(studied: dict[str, Any], folder: Path) -> None:
    paths = [path for path in leaves(studied) if path[0] not in UNCHECKED and path[-1] not in UNCHECKED]
    assert len(paths) > 50
    assert unnoticed(studied, paths, folder) == []


def test_a_field_that_is_taken_out_or_put_in_is_noticed(generated: dict[str, Any], folder: Path) -> None:
    for name in ("coverage", "measured", "exceptions", "steps", "made_for"):
        assert not verdict({key: value for key, value in generated.items() if key != name}, folder).valid
    assert "unknown field 'score'" in verdict({**generated, "score": 1}, folder).reasons[0]


def test_the_forgeries_that_passed_once_are_noticed(generated: dict[str, Any], folder: Path) -> None:
    exception = {"type": "ValueError", "function": "grade", "kind": "explicit"}
    for change in (
        {"coverage": {"branch": {"covered": 999, "total": 999}}},
        {"measured": {"branches": {"covered": 9, "total": 9}, "lines": {"covered": 9, "total": 9}}},
        {"exceptions": 50 * [exception]},
        {"executions": 3},
        {"mutants": {"killed": 100, "total": 100, "survivors": [], "survivor_lines": []}},
        {"agent": "uniform"},
        {"suite": "def test_a(): pass\n"},
        {"actions": [], "rewards": []},
        {"actions": [], "rewards": [], "steps": 0},
        {"seed": 10**40},
        {"options": {**generated["options"], "population": 10**7}},
    ):
        assert not verdict({**generated, **change}, folder).valid, change


def test_a_suite_that_is_not_the_one_of_the_run_is_noticed(generated: dict[str, Any], folder: Path) -> None:
    file = folder / generated["suite_path"]
    assert validate(Claim("one", generated, str(folder), file)).reasons == ()
    trivial = folder / "trivial.py"
    trivial.write_text("def test_a():\n    pass\n", "utf-8")
    (reason,) = validate(Claim("one", generated, str(folder), trivial)).reasons
    assert reason.startswith("the suite is not the one of the new run: test_a and ")


def test_a_record_without_a_suite_is_made_again_too(folder: Path) -> None:
    setting = Setting.from_keywords(
        subject="grades", agent="uniform", budget="60x", population=4, goal="coverage", path=str(folder)
    )
    found = json.loads(json.dumps(evaluated(setting).record))
    assert verdict(found, folder).reasons == ()
    assert "executions is" in verdict({**found, "executions": 61}, folder).reasons[0]
    assert not verdict({**found, "agent": "ucb"}, folder).valid


def test_a_run_of_an_agent_that_is_not_here_is_replayed_and_the_agent_is_unchecked(
    generated: dict[str, Any], folder: Path
) -> None:
    found = verdict({**generated, "agent": "policies/gone"}, folder)
    assert found.valid and not found.made and {"agent", "coverage", "measured"} <= set(found.unchecked)
    assert "unchecked: agent" in str(found) and "'policies/gone' is not here" in str(found)
    assert not verdict({**generated, "agent": "policies/gone", "goal_value": 99.0}, folder).valid


def test_a_budget_in_seconds_leaves_fields_unchecked_and_says_so(generated: dict[str, Any], folder: Path) -> None:
    found = verdict({**generated, "budget": "30s"}, folder)
    assert found.valid and {"agent", "executions", "coverage", "mutants"} <= set(found.unchecked)
    assert "the budget is in seconds" in str(found)


def test_a_run_with_existing_tests_cannot_be_made_again(generated: dict[str, Any], folder: Path) -> None:
    for change in ({"existing": {"tests": 3}}, {"kept": 2}):
        (reason,) = verdict({**generated, **change}, folder).reasons
        assert "subtracted what existing tests cover" in reason


def test_a_failed_run_with_results_is_noticed(studied: dict[str, Any], folder: Path) -> None:
    assert "the run failed, but the record has measures" in verdict({**studied, "error": "boom"}, folder).reasons
