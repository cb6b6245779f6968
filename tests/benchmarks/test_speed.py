"""The speed benchmarks: correct computations, and the workloads that they claim to run."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import every, nightly

from fitgym.agents.base import agents
from fitgym.instrument.rewriting.transformer import instrument
from fitgym.subject.dependence import branches

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
QUESTIONS = (
    *("estimate", "answer", "processes", "peers", "growth", "hostile", "whole_loop", "parts", "startup"),
    *("agents", "stages", "smart", "rendering", "decisions"),
)


@pytest.fixture(scope="module")
def speed() -> Iterator[Any]:
    """The modules of the benchmark, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        before = set(sys.modules)
        found = {name: importlib.import_module(f"questions.{name}") for name in QUESTIONS}
        found |= {name: importlib.import_module(name) for name in ("speed", "collect", "workload")}
        found |= {name: importlib.import_module(f"collectors.{name}") for name in ("nothing", "fitgym_sites", "floor")}
        yield argparse.Namespace(**found)
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in ("questions", "speed", "collect", "collectors", "workload", "workloads"):
                del sys.modules[name]


# ------------------------------------------------------------------------------------------------------- numbers


def test_the_geometric_mean_is_the_root_of_the_product(speed: Any) -> None:
    assert speed.estimate.geometric_mean([2, 8, 4]) == pytest.approx(4)  # 64 ** (1 / 3)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=9))
def test_the_geometric_mean_is_the_same_from_either_side(speed: Any, ratios: list[float]) -> None:
    mean = speed.estimate.geometric_mean
    assert mean([1 / ratio for ratio in ratios]) == pytest.approx(1 / mean(ratios))


def test_a_ratio_is_that_of_the_least_and_that_of_neighbours(speed: Any) -> None:
    ratio = speed.estimate.ratio([2, 3], [1, 2])
    assert ratio.least == 2  # 2 / 1
    assert ratio.median.value == 1.75  # between 2 / 1 and 3 / 2
    assert (ratio.median.low, ratio.median.high) == (1.5, 2)


@pytest.mark.parametrize(("costs", "base"), [([], []), ([1], [1, 2]), ([1], [0])])
def test_a_ratio_needs_repeats_of_both(speed: Any, costs: list[float], base: list[float]) -> None:
    with pytest.raises(ValueError, match="cannot compare"):
        speed.estimate.ratio(costs, base)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_the_interval_of_a_median_holds_it_and_nothing_that_was_not_seen(speed: Any, values: list[float]) -> None:
    interval = speed.estimate.bootstrap(values, 50)
    assert min(values) <= interval.low <= interval.high <= max(values)
    assert min(values) <= interval.value <= max(values)


def test_a_slope_without_noise_is_exact(speed: Any) -> None:
    slope, start = speed.estimate.slope([0, 1, 2], [1, 3, 5])
    assert (slope.value, slope.low, slope.high, start) == (2, 2, 2, 1)


def test_a_slope_with_noise_has_the_interval_of_the_textbook(speed: Any) -> None:
    # Means 2.5 and 2.5, Sxx 5, Sxy 4: y = 0.5 + 0.8 x. The residues -0.3, 0.9, -0.9, 0.3 have squares of 1.8 in all,
    # 0.9 for each of 2 degrees of freedom; the standard error is sqrt(0.9 / 5), Student's quantile 4.303.
    slope, start = speed.estimate.slope([1, 2, 3, 4], [1, 3, 2, 4])
    assert (slope.value, start) == (pytest.approx(0.8), pytest.approx(0.5))
    assert slope.high - slope.value == pytest.approx(4.303 * math.sqrt(0.9 / 5))
    assert slope.value - slope.low == pytest.approx(4.303 * math.sqrt(0.9 / 5))


def test_two_points_say_nothing_about_their_error(speed: Any) -> None:
    slope, _ = speed.estimate.slope([0, 1], [5, 7])
    assert (slope.value, slope.low, slope.high) == (2, -math.inf, math.inf)


def test_one_point_has_no_slope(speed: Any) -> None:
    with pytest.raises(ValueError, match="two different x"):
        speed.estimate.slope([3, 3], [1, 2])


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 2])
def test_the_exponent_of_a_power_law_is_found(speed: Any, exponent: float) -> None:
    sizes = [50, 150, 500, 1500, 5000]
    found = speed.estimate.power_law(sizes, [3 * size**exponent for size in sizes])
    assert found.value == pytest.approx(exponent, abs=1e-9)
    assert found.high - found.low == pytest.approx(0, abs=1e-6)


def test_growth_is_that_of_the_last_half_over_its_start(speed: Any) -> None:
    # Half time is 2 s, where the line through 100, 105, 110 starts at 100; it rises by 5 in each of the 2 s left.
    grown = speed.estimate.growth_of_last_half([0, 1, 2, 3, 4], [50, 60, 100, 105, 110])
    assert grown.value == pytest.approx(0.1)


def test_growth_needs_samples(speed: Any) -> None:
    with pytest.raises(ValueError, match="2 samples are too few"):
        speed.estimate.growth_of_last_half([0, 1, 2], [1, 1, 1])


# ------------------------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("value", "at_least", "verdict"),
    [
        (2.0, False, "met"),
        (2.1, False, "missed"),
        (2.0, True, "met"),
        (1.9, True, "missed"),
        (None, False, "not measured"),
    ],
)
def test_a_target_is_met_missed_or_not_measured(speed: Any, value: float | None, at_least: bool, verdict: str) -> None:
    assert speed.answer.Target("what", 2.0, value, at_least).verdict == verdict


@pytest.mark.parametrize(
    ("quick", "only", "expected"),
    [(True, (), ["b"]), (False, (), ["a", "b", "ab"]), (True, ("a",), ["a", "ab"]), (False, ("b",), ["b", "ab"])],
)
def test_subjects_are_picked_from_all_by_a_part_of_their_name(
    speed: Any, quick: bool, only: tuple[str, ...], expected: list[str]
) -> None:
    settings = speed.answer.Settings(quick, Path(), Path(), only=only)
    assert settings.pick(["b"], ["a", "b", "ab"]) == expected


def test_a_subject_that_a_question_does_not_have_is_an_error(speed: Any) -> None:
    with pytest.raises(speed.answer.NoSuchSubject, match="has x or y in its name"):
        speed.answer.Settings(True, Path(), Path(), only=("x", "y")).pick(["a"], ["a"])


def test_a_question_that_fails_says_why_and_the_others_go_on(speed: Any) -> None:
    settings = speed.answer.Settings(True, Path(), Path(), only=("x",))
    answer = speed.speed.ask("environment", settings)
    assert answer.notes == [
        "not measured: questions.answer.NoSuchSubject: no subject of this question has x in its name"
    ]


# ----------------------------------------------------------------------------------------------------- processes


def test_decisions_are_compared_with_toy_and_with_bare_calls(speed: Any, tmp_path: Path) -> None:
    assert 0.0 < speed.decisions._called(50, 0) < 0.01
    found = speed.decisions.answer(speed.answer.Settings(True, tmp_path, tmp_path))
    (table,) = found.tables
    assert [row[0] for row in table.rows][2:] == ["Programs-v0", "Programs-v0"]
    assert len(found.targets) == 4 and all(target.value > 0.0 for target in found.targets)
    assert float(table.rows[3][4]) > 1.0, "a search costs more than bare calls"


def test_a_function_can_be_called_in_a_process_with_its_own_environment(speed: Any) -> None:
    assert speed.processes.apart(os.getpid) != os.getpid()
    assert speed.processes.apart(os.getenv, "OF_ITS_OWN", environment={"OF_ITS_OWN": "yes"}) == "yes"
    assert os.getenv("OF_ITS_OWN") is None
    with pytest.raises(ValueError, match="invalid literal"):
        speed.processes.apart(int, "one")


def test_the_time_of_running_and_ended_descendants_counts(speed: Any) -> None:
    child = "import time\nwhile time.process_time() < 0.2: pass"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print(); sys.stdin.read()"
    _, others = speed.processes.cpu_of_tree()
    with subprocess.Popen([sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert process.pid in speed.processes.below()
        assert speed.processes.cpu_of(process.pid) >= 0.19  # a clock tick may be missing
        assert speed.processes.cpu_of_tree()[1] - others >= 0.19
        assert min(speed.processes.memory_of(process.pid)) > 1
    assert speed.processes.cpu_of(process.pid) == 0
    assert speed.processes.cpu_of_tree()[1] - others >= 0.19


def test_a_peer_that_cannot_be_installed_is_absent_with_the_reason(
    speed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(command: list[str], **options: Any) -> None:
        raise subprocess.CalledProcessError(1, command, stderr="talk\nERROR: No matching distribution found\nhint")

    monkeypatch.setattr(subprocess, "run", fail)
    present, absent = speed.peers.install_peers(tmp_path)
    assert present == {}
    assert absent["pynguin"] == "pynguin==0.48.0 cannot be installed: No matching distribution found"


# ----------------------------------------------------------------------------------------------------- workloads


def test_every_subject_has_sixty_tests_of_one_to_twelve_calls(speed: Any) -> None:
    for subject in speed.workload.SUBJECTS:
        tests = [test for part in speed.workload.parts(subject) for test in part.tests]
        assert len(tests) >= 60, subject
        assert {speed.workload.calls(test) for test in tests} <= set(range(1, 13)), subject
        assert len(set(tests)) == len(tests), subject


@pytest.fixture
def numeric(speed: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The workload of the bundled subject."""
    monkeypatch.syspath_prepend(str(speed.workload.BUNDLED))
    return speed.workload.parts("numeric")[0]


def test_tests_of_the_bundled_subject_end_or_raise_what_it_declares(speed: Any, numeric: Any) -> None:
    source, file = speed.workload.source_of("numeric")
    module = speed.workload.module_from(compile(source, file, "exec"), "numeric")
    assert module is not sys.modules["numeric"]
    for test in speed.workload.compiled(numeric, module):
        try:
            test()
        except Exception as error:
            assert type(error) is ValueError


@pytest.mark.parametrize(
    ("collector", "options"),
    [
        ("fitgym_sites", {"needs": "constants"}),
        ("floor", {"floor": "python"}),
        ("floor", {"floor": "c"}),
    ],
)
def test_collected_copies_do_what_the_plain_module_does(
    speed: Any, numeric: Any, collector: str, options: dict[str, str]
) -> None:
    plain = speed.nothing.collect("numeric", {}).module
    probed = getattr(speed, collector).collect("numeric", options).module
    assert probed.triangle.__code__.co_consts != plain.triangle.__code__.co_consts
    for sides in [(3, 4, 5), (2, 2, 3), (1, 1, 1), (1, 2, 3)]:
        assert probed.triangle(*sides) == plain.triangle(*sides)


def test_a_repeat_measures_every_way_that_there_is(speed: Any, numeric: Any) -> None:
    subject = speed.collect.Subject("numeric", speed.fitgym_sites.collect, {})
    measured = subject.repeat(0, backwards=False)
    assert subject.tests == len(numeric.tests)
    assert [name for name in measured if measured[name]] == ["bare", "together", "one_by_one"]


def test_a_way_without_data_for_each_test_says_why(speed: Any, numeric: Any) -> None:
    class Together(speed.nothing.Collected):  # type: ignore[misc]
        module = speed.nothing.collect("numeric", {}).module

        def together(self, tests: Any) -> None:
            speed.workload.run(tests)

        def one_by_one(self, tests: Any) -> None:
            raise NotImplementedError("it counts once")

    measured = speed.collect.Subject("numeric", lambda module, options: Together(), {}).repeat(0, backwards=True)
    assert measured["why"] == "it counts once"
    assert set(measured) == {"bare", "together", "why"}


# ----------------------------------------------------------------------------------------------------- questions


@pytest.mark.parametrize("targets", [10, 50, 500])
def test_the_synthetic_subject_has_about_as_many_targets_as_asked_for(speed: Any, targets: int) -> None:
    plan = instrument(speed.growth.source(targets), "synthetic.py").plan
    assert abs(len(branches(plan.sites, plan.functions, "")) - targets) <= speed.growth.PER_FUNCTION / 2


def test_what_is_recorded_is_what_was_executed_and_can_be_replayed(speed: Any) -> None:
    run = ("numeric", speed.workload.BUNDLED, 3, 1, 1)
    span, _ = speed.whole_loop.timed(*run)
    tests, imports, left_out = speed.whole_loop.recorded(*run)
    assert len(tests) + left_out == span.executions > 0
    assert span.generations == 1
    replayed = speed.whole_loop.replayed
    chunks = speed.processes.apart(replayed, tests, imports, speed.workload.BUNDLED, 3)
    assert [len(chunk) for chunk in chunks] == [3] * math.ceil(len(tests) / speed.whole_loop.CHUNK)


def test_replaying_goes_on_after_an_exception(speed: Any, tmp_path: Path) -> None:
    tests = [["1 / 0"], [], [f"open({str(tmp_path / 'reached')!r}, 'w').close()"]]
    speed.processes.apart(speed.whole_loop.replayed, tests, "", tmp_path, 1)
    assert (tmp_path / "reached").exists()


def test_samples_count_for_the_innermost_file_that_is_known(speed: Any) -> None:
    for subject, name in ((__file__, "the subject"), ("nowhere.py", "elsewhere")):
        with speed.parts.sampling(subject) as seen:
            while not seen:
                pass
        assert set(seen) == {name}


def test_stages_share_the_time_of_the_parent_and_leave_the_methods_as_they_were(speed: Any) -> None:
    places = [place for methods in speed.stages.STAGES.values() for place in methods]
    methods = [getattr(*place) for place in places]
    started = time.process_time_ns()
    taken, span = speed.stages.by_stage("numeric", speed.workload.BUNDLED, 3, 0, 3)
    assert all(taken.values())
    assert sum(taken.values()) < time.process_time_ns() - started  # what is in two stages counts once
    assert span.executions > 0
    assert [getattr(*place) for place in places] == methods


@pytest.mark.parametrize("search", every(3, ["whole_suite", "mosa", "dynamosa"]))
def test_smart_selection_is_timed_on_fewer_targets_than_all_eight_functions_have(speed: Any, search: str) -> None:
    run = "numeric", speed.workload.BUNDLED, 3, search
    eight, targets = speed.smart.timed(*run, False, 1, 2)
    smart, fewer = speed.smart.timed(*run, True, 1, 2)
    assert 0 < fewer < targets
    for span in (eight, smart):
        assert span.generations == 2 and span.executions > 0
        assert set(span.timings) == {"execute", "measure", "search"} and all(span.timings.values())


def test_what_a_worker_was_asked_can_be_answered_again(speed: Any) -> None:
    requests = speed.processes.apart(speed.parts.asked, "numeric", speed.workload.BUNDLED, 3, 1)
    assert len(requests) > 1
    speed.processes.apart(speed.parts.of_worker, "numeric", speed.workload.BUNDLED, requests)


def test_every_agent_is_asked_or_it_is_said_why_not(speed: Any) -> None:
    names, notes = speed.agents.asked()
    left_out = {note.partition(":")[0] for note in notes}
    asked = {name.partition(":")[0] for name in names}
    assert "oracle" in left_out and {"ucb", "dsg_sarsa", "linucb"} <= asked
    assert asked | left_out == set(agents().names()) and not asked & left_out


@pytest.mark.parametrize("text", ["linucb", "dsg_sarsa:tiles=4", "uniform"])
def test_a_decision_is_timed_in_rounds(speed: Any, text: str) -> None:
    costs = speed.agents.timed(text, 1, 2, 3)
    assert [len(costs[half]) for half in ("act", "observe")] == [2, 2]
    assert all(cost > 0 for half in costs.values() for cost in half)


@pytest.mark.parametrize(("name", "subject"), [("Toy-v0", ""), ("BranchCoverage-v0", "colorsys")])
def test_every_frame_of_an_episode_is_timed(speed: Any, name: str, subject: str) -> None:
    found = speed.rendering.drawn(name, subject, 1, 2)
    assert len(found["frames"]) >= 2 and all(seconds > 0 for seconds in found["frames"])
    assert len(found["lines_run"]) == (len(found["frames"]) if subject else 0)
    assert (found["lines"] > 100) is bool(subject)


def test_both_sides_agree_on_how_progress_is_written(speed: Any) -> None:
    form = 'struct.Struct("qdq")'
    assert form in (BENCHMARKS / "pynguin_search.py").read_text()
    assert form in (BENCHMARKS / "questions" / "pynguin.py").read_text()


def test_a_hostile_test_case_is_told_from_the_same_batch_without_it(speed: Any) -> None:
    hostile, plain, failure = speed.hostile.held_up("leave", 2)
    assert (len(hostile), len(plain), failure) == (2, 2, "raises SystemExit")
    assert speed.hostile.held_up("end", 1)[2] == "exit"


def test_every_hostile_behaviour_is_a_function_of_the_subject(speed: Any) -> None:
    source = (speed.workload.BUNDLED / "hostile.py").read_text()
    assert all(f"\ndef {name}()" in source for name in speed.hostile.BEHAVIOURS)


def test_a_start_is_timed_to_its_end_or_to_the_moment_it_tells(speed: Any, tmp_path: Path) -> None:
    tell = "import os, time; os.write(int(os.environ['MOMENT']), repr(time.monotonic() + 1000).encode())"
    assert speed.startup.started(["-c", tell], str(tmp_path)) > 1000
    assert speed.startup.started(["-c", "pass"], str(tmp_path)) < 1000
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        speed.startup.started(["-c", "1 / 0"], str(tmp_path))


def test_start_up_is_measured_with_byte_code(speed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    speed.startup.started(["-c", "import sys; assert not sys.dont_write_bytecode"], str(tmp_path))


@nightly
def test_the_command_prints_tables_and_writes_everything_as_json(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "speed.py"), "--quick", "--no-peers", "--subject", "numeric"]
    command += ["--only", "collection", "environment", "--results", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr
    assert "fitgym, Python sites, per test" in done.stdout
    assert "note (collection): SlipCover, branch: left out (--no-peers)" in done.stdout
    report = json.loads((tmp_path / "speed.json").read_text())
    assert report["machine"]["processors"] == os.cpu_count()
    assert any(line.startswith("numpy==") for line in report["versions"]["fitgym"])
    assert set(report["questions"]) == {"collection", "environment"}
    raw = report["questions"]["collection"]["figures"]["nanoseconds_per_round"]["numeric"]["fitgym, Python sites"]
    assert len(raw["bare"]) == len(raw["one_by_one"]) == 3
    assert report["questions"]["environment"]["targets"][0]["verdict"] in ("met", "missed")
