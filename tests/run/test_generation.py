"""Generation end to end: a suite that pytest runs and a correct record, both reproducible."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from nightly import every, nightly

import fitgym
from fitgym.engine import Engine
from fitgym.errors import BudgetError, InputError, SubjectError, UnknownName
from fitgym.execution.executor import Executor
from fitgym.execution.zygote import Zygote
from fitgym.run.generation import Request, filing_of, generate_request
from fitgym.subject.source import locate
from fitgym.suite.deadline import Deadline
from fitgym.suite.finishing import finish
from fitgym.suite.share import INTERRUPTED_S
from fitgym.suite.text.export import file_name
from fitgym.suite.text.filing import Filing

PROGRAMS = Path(__file__).parents[1] / "programs"
TRIANGLE = str(PROGRAMS / "triangle.py")
ACCOUNT = str(PROGRAMS / "account.py") + ":Account"


def pytest_run(file, folder):
    """Run an exported file in a plain interpreter, without fitgym's own configuration."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(file)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def branches_by_coverage(file, source, folder):
    """What coverage.py itself says of an exported file, as (covered, total)."""
    env = {**os.environ, "COVERAGE_FILE": str(folder / "data")}
    run = [sys.executable, "-m", "coverage", "run", "--branch", f"--include={source}", "-m", "pytest", "-q"]
    subprocess.run([*run, "-p", "no:cacheprovider", "-c", os.devnull, str(file)], env=env, cwd=folder, check=True)
    report = folder / "report.json"
    subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "-o", str(report)], env=env, cwd=folder, check=True)
    totals = json.loads(report.read_text())["totals"]
    return totals["covered_branches"], totals["num_branches"]


@pytest.mark.parametrize("goal", every(3, ["coverage", "exceptions", "tests"]))
def test_within_a_time_limit_the_worker_starts_once(goal, monkeypatch, tmp_path):
    started = []
    start = Zygote.__init__

    def noted(self, *arguments, **options):
        started.append(options["infection"])
        start(self, *arguments, **options)

    monkeypatch.setattr(Zygote, "__init__", noted)
    generate_request(Request.of(TRIANGLE, goal=goal, budget="1s", output=tmp_path))
    assert started == [True]


@pytest.fixture(scope="module")
def reports():
    """The progress of `coverage_run`."""
    return []


@pytest.fixture(scope="module")
def coverage_run(tmp_path_factory, reports):
    folder = tmp_path_factory.mktemp("coverage")
    request = Request.of(
        TRIANGLE, goal="coverage", budget="60g", population=20, output=folder, json=folder / "record.json"
    )
    return generate_request(request, progress=reports.append)


@pytest.fixture(scope="module")
def exceptions_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exceptions")
    return generate_request(
        Request.of(ACCOUNT, goal="exceptions", agent="ucb", budget="60g", population=20, output=folder)
    )


def test_every_exported_test_passes(coverage_run, exceptions_run, tmp_path):
    for run in (coverage_run, exceptions_run):
        result = pytest_run(run.suite_path, tmp_path)
        assert result.returncode == 0, result.stdout
        assert f"{run.record['tests']} passed" in result.stdout


def test_coverage_is_what_was_reported(coverage_run, tmp_path):
    measured = coverage_run.record["measured"]["branches"]
    assert branches_by_coverage(coverage_run.suite_path, TRIANGLE, tmp_path) == (
        measured["covered"],
        measured["total"],
    )


def test_a_simple_subject_is_covered_almost_completely(coverage_run):
    covered, total = coverage_run.record["coverage"]["branch"].values()
    assert covered >= total - 2


def test_every_exception_of_the_record_is_expected_by_a_test(exceptions_run):
    assert {e["type"] for e in exceptions_run.record["exceptions"]} >= {"ValueError", "account.Overdrawn"}
    for found in exceptions_run.record["exceptions"]:
        assert f"pytest.raises({found['type'].rpartition('.')[2]}" in exceptions_run.source


def test_the_record_has_the_documented_keys_and_is_valid_json(coverage_run):
    record = json.loads((coverage_run.suite_path.parent / "record.json").read_text())
    assert record == coverage_run.record
    for key in [
        "fitgym_version",
        "python",
        "env",
        "options",
        "subject",
        "source_sha256",
        "agent",
        "budget",
        "seed",
        "steps",
        "generations",
        "executions",
        "seconds",
        "tests",
        "statements",
        "coverage",
        "measured",
        "exceptions",
        "goal_value",
        "rewards",
        "actions",
        "mutants",
        "crashed",
        "suite_path",
        "kept",
    ]:
        assert key in record
    assert len(record["rewards"]) == len(record["actions"]) == record["steps"]
    assert list(record["seconds"]) == ["search", "finish"] and min(record["seconds"].values()) > 0


def test_a_run_without_existing_tests_says_so_in_the_record(coverage_run):
    assert coverage_run.record["existing"] is None
    assert "existing tests" not in coverage_run.summary()


def test_the_exported_file_does_not_need_fitgym(coverage_run):
    assert "fitgym" not in coverage_run.source.partition('"""\n')[2]


def test_nothing_is_written_without_an_output_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = fitgym.generate(TRIANGLE, goal="coverage", budget="3g", population=5)
    assert "def test_" in run.source
    assert run.suite_path is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("goal", ["coverage", pytest.param("exceptions", marks=nightly)])
def test_same_seed_same_bytes_in_two_processes_with_different_hash_seeds(tmp_path, goal):
    outputs = []
    for hash_seed in ("1", "77"):
        folder = tmp_path / hash_seed
        command = [sys.executable, "-m", "fitgym", "generate", ACCOUNT, "--goal", goal, "--agent", "ucb"]
        command += ["--budget", "15g", "--population", "10", "--output", str(folder), "--json", str(folder / "r.json")]
        subprocess.run(
            [*command, "--quiet"], check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": hash_seed}
        )
        record = json.loads((folder / "r.json").read_text())
        del record["seconds"]
        outputs.append((record, {file.name: file.read_bytes() for file in folder.glob("test_*.py")}))
    assert outputs[0] == outputs[1]
    assert outputs[0][1]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"subject": "no_such_thing"}, SubjectError, "no_such_thing"),
        ({"goal": "coverag"}, UnknownName, "no goal named 'coverag'; did you mean 'coverage'"),
        ({"agent": "usb"}, UnknownName, "no agent named 'usb'; did you mean 'ucb'"),
        ({"agent": "fixed:brunch"}, InputError, "there is no fitness function 'brunch'"),
        ({"search": "whole"}, UnknownName, "no search algorithm named 'whole'"),
        ({"budget": "soon"}, BudgetError, "budget 'soon' cannot be read"),
    ],
)
def test_bad_requests_are_refused_before_anything_is_written(tmp_path, options, error, message):
    output = tmp_path / "out"
    with pytest.raises(error, match=message):
        generate_request(Request.of(**{"subject": TRIANGLE, "output": output, "json": output / "r.json", **options}))
    assert list(tmp_path.iterdir()) == []


def test_what_a_person_wrote_or_edited_stays_in_the_file(tmp_path):
    request = Request.of(TRIANGLE, goal="coverage", budget="2g", population=5, output=tmp_path)
    run = generate_request(request)
    path, first = run.suite_path, run.source
    assert path is not None and not filing_of(replace(request, output=tmp_path / "elsewhere")).is_current
    edited = (
        path.read_text().replace("\n\n\ndef ", "  # looked at\n\n\ndef ", 2) + "\n\ndef test_mine():\n    assert 1\n"
    )
    path.write_text(edited)
    again = generate_request(replace(request, setting=replace(request.setting, seed=5, budget="4g")))
    assert again.record["kept"] == first.count("\ndef test_") + 1
    lines = iter(path.read_text().split("\n"))
    for line in edited.split("\n"):
        if line and not line.startswith(("#", "from ", "import ")):
            assert line in lines
    result = pytest_run(path, tmp_path)
    assert result.returncode == 0, result.stdout


def test_a_suite_is_current_until_the_code_or_the_goal_changes(tmp_path):
    source = tmp_path / "till.py"
    source.write_text("def add(coins: int) -> int:\n    return coins + 1\n")
    request = Request.of(str(source), goal="coverage", budget="2g", population=5, output=tmp_path / "tests")
    assert not filing_of(request).is_current
    generate_request(request)
    before = (tmp_path / "tests" / "test_till.py").read_text()
    assert (
        filing_of(request).is_current
        and filing_of(replace(request, setting=replace(request.setting, budget="9g", seed=4))).is_current
    )
    source.write_text('"""A till."""\n\n\ndef add(coins: int) -> int:\n    # one more\n    return coins + 1\n')
    assert filing_of(request).is_current
    assert not filing_of(Request.of(str(source), goal="exceptions", output=tmp_path / "tests")).is_current
    source.write_text("def add(coins: int) -> int:\n    return coins + 2\n")
    assert not filing_of(request).is_current
    assert (tmp_path / "tests" / "test_till.py").read_text() == before


def test_what_fitgym_did_not_make_is_never_replaced(tmp_path):
    request = Request.of(TRIANGLE, goal="coverage", budget="2g", population=5, output=tmp_path)
    name = file_name(locate(TRIANGLE).module)
    (tmp_path / name).write_text("def test_mine(): pass\n")
    with pytest.raises(InputError, match="was not generated by fitgym"):
        generate_request(request)
    assert (tmp_path / name).read_text() == "def test_mine(): pass\n"


def test_an_output_that_is_a_file_is_refused(tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(InputError, match="cannot be a folder"):
        generate_request(Request.of(TRIANGLE, output=taken))
    assert taken.read_text() == "mine"


def test_the_summary_counts_time_on_mutants_once(coverage_run):
    took = {"search": 4.0, "finish": 3.0, "mutants": 2.5}  # the last one is a part of the second
    run = replace(coverage_run, record=coverage_run.record | {"seconds": took})
    assert run.summary().splitlines()[3].endswith(", 7.0 s")


def test_the_summary_says_how_many_tests_were_left_out_and_why(coverage_run):
    assert "left out" not in coverage_run.summary()
    reasons = ["AssertionError", "no time was left to see it pass", "no time was left to see it pass"]
    dropped = [{"test": f"test_{n}", "reason": reason} for n, reason in enumerate(reasons)]
    run = replace(coverage_run, record=coverage_run.record | {"dropped": dropped})
    assert run.summary().endswith("\nleft out: 3 tests, no time was left to see it pass (2), AssertionError (1)")


@pytest.fixture
def searched():
    """A search between two generations."""
    with Executor(locate(TRIANGLE)) as executor:
        engine = Engine(executor, population=10)
        for _ in range(5):
            engine.step()
        yield engine


def test_what_there_is_no_time_to_observe_is_dropped_and_listed(searched):
    finished = finish(searched, ["branch"], deadline=Deadline(0.0, 0.0))
    assert (finished.tests, finished.source, finished.runs, finished.measured) == ((), "", 0, None)
    assert len(finished.dropped) == len(searched.best_suite(["branch"]))  # nor was there time to minimise
    assert {dropped.reason for dropped in finished.dropped} == {"no time was left to observe it"}
    assert searched.deadline is None


@nightly
def test_in_a_hurry_a_suite_is_longer_but_has_passed_in_both_orders(searched, tmp_path):
    finished = finish(
        searched, ["branch"], filing=Filing.of(tmp_path / "test_triangle.py"), deadline=Deadline(soft=0.0)
    )
    assert finished.runs == 2
    made = [searched.table.testcase(test.statements) for test in finished.tests]
    found = searched.best_suite(["branch"])
    assert len(made) == len(found)
    assert all(any(testcase[: len(test)] == test for testcase in found) for test in made)  # up to what raises
    assert pytest_run(finished.path, tmp_path).returncode == 0


def test_ctrl_c_while_finishing_finishes_in_a_hurry(tmp_path, monkeypatch):
    deadlines = []

    def interrupted_once(*arguments, deadline, **options):
        deadlines.append(deadline)
        if len(deadlines) == 1:
            raise KeyboardInterrupt
        return finish(*arguments, deadline=deadline, **options)

    monkeypatch.setattr("fitgym.run.generation.finish", interrupted_once)
    run = generate_request(Request.of(TRIANGLE, goal="coverage", budget="3g", population=5, output=tmp_path))
    assert run.interrupted
    assert run.suite_path is not None and run.suite_path.exists()
    assert deadlines[1].left < deadlines[1].rest <= INTERRUPTED_S


def test_ctrl_c_twice_gives_it_up_and_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fitgym.run.generation.finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        generate_request(Request.of(TRIANGLE, goal="coverage", budget="3g", population=5, output=tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


def test_executions_are_those_of_the_search(tmp_path):
    run = generate_request(Request.of(ACCOUNT, goal="coverage", budget="400x", population=10, output=tmp_path))
    # A generation is finished before the budget is looked at: it proposes at most ten suites of new tests.
    assert run.record["executions"] < 400 + 10 * 10


HANGING = """
def halve(n: int) -> int:
    steps = 0
    while n != 1:  # for ever from 0 on downwards
        n = n // 2 if n > 1 else n
        steps += 1
    return steps


def grade(points: int) -> str:
    while points < 0:
        pass
    return "good" if points > 90 else "bad"
"""


@pytest.fixture
def hanging(tmp_path):
    path = tmp_path / "hanging.py"
    path.write_text(HANGING)
    return path


@nightly
def test_a_module_that_hangs_on_half_of_its_inputs_gives_tests_for_the_other_half(hanging, tmp_path):
    run = generate_request(Request.of(str(hanging), goal="coverage", budget="300x", output=tmp_path / "out"))
    assert run.record["executions"] >= 300
    assert "test_halve" in run.source and "test_grade" in run.source


@nightly
def test_a_module_that_hangs_gives_the_same_suite_each_time_with_a_budget_in_executions(hanging, tmp_path, monkeypatch):
    # Work ends finishing, and the clock does not, however busy the machine is.
    monkeypatch.setattr("fitgym.suite.share.FLOOR_S", 600.0)
    monkeypatch.setattr("fitgym.suite.share.WORKING", 10.0 / 600.0)
    runs = [
        generate_request(Request.of(str(hanging), goal="coverage", budget="500x", output=tmp_path / name))
        for name in ("one", "other")
    ]
    assert runs[0].source == runs[1].source
    first, second = (run.record | {"seconds": None, "runs": None, "unfinished": None} for run in runs)
    assert first == second


def test_a_search_that_proposes_nothing_new_comes_to_an_end(tmp_path):
    path = tmp_path / "spinning.py"
    path.write_text("def spin() -> None:\n    while True:\n        pass\n")
    run = generate_request(Request.of(str(path), goal="coverage", budget="100000x", output=tmp_path / "out"))
    assert run.record["executions"] < 1000 and not run.record["tests"]


@pytest.mark.parametrize(
    ("code", "error", "reason"),
    [
        ("import surely_not_installed", "ModuleNotFoundError", "it depends on which packages are installed"),
        ("import socket; socket.socket().bind(('surely.invalid', 8))", "gaierror", "it depends on the network"),
    ],
)
def test_what_depends_on_the_machine_is_left_out(code, error, reason, tmp_path):
    path = tmp_path / "loud.py"
    path.write_text(
        "def loud(text: str, backend: str = '') -> str:\n"
        f"    if backend:\n        {code}\n        return backend\n"
        "    return text.upper()\n"
    )
    run = fitgym.generate(str(path), budget="300x", seed=0)
    assert "loud(" in run.source and error not in run.source
    assert reason in {test["reason"] for test in run.record["dropped"]}


def test_the_goal_of_a_run_that_names_none_is_tests_and_its_summary_says_what_survives(tmp_path):
    run = fitgym.generate(TRIANGLE, budget="1000x", seed=0)
    score = run.record["mutants"]
    assert run.record["options"]["goal"] == "tests"
    assert score["killed"] + len(score["survivors"]) == score["total"] and score["killed"] > score["total"] / 2
    assert f"mutants {score['killed']}/{score['total']} killed" in run.summary()
    assert len(score["survivor_lines"]) == len(score["survivors"])


def test_what_finishing_did_not_come_to_the_end_of_is_said(coverage_run):
    run = replace(coverage_run, record=coverage_run.record | {"unfinished": ["minimising: stopped by the clock"]})
    assert "not finished: minimising: stopped by the clock" in run.summary().splitlines()


def test_each_stage_of_finishing_is_reported(coverage_run, reports):
    assert coverage_run.record["tests"] > 0
    stages = [report.note.partition(":")[0] for report in reports if report.phase == "finish"]
    expected = ["minimising", "observing", "choosing assertions", "checking in fresh interpreters", "running mutants"]
    assert list(dict.fromkeys(stages)) == expected
