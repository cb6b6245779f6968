"""The independent check of mutation scores distinguishes outcomes, and always runs the copy."""

from __future__ import annotations

import importlib
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

MODULE = """
    from house import walls

    class Door:
        def opens(self, key):
            return key == walls.COUNT

    def far(x):
        return x > 1
"""

SUITE = """
    import sys
    sys.path.insert(0, {original!r})
    from house import door

    def test_opens():
        assert door.Door().opens(4)

    def test_far():
        assert door.far(3)
"""


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("mutation_check")
    for name in ("mutation_check", "remeasure"):
        del sys.modules[name]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with a package, and one with a finished run on a module of it."""
    subjects = tmp_path / "subjects"
    for path, text in (
        ("subjects/house/__init__.py", ""),
        ("subjects/house/walls.py", "COUNT = 4\n"),
        ("subjects/house/door.py", MODULE),
        ("out/test_house_door.py", SUITE.format(original=str(subjects))),
    ):
        (tmp_path / path).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / path).write_text(textwrap.dedent(text))
    record = {"subject": "house.door", "suite_path": "test_house_door.py", "tests": 2, "mutants": None}
    (tmp_path / "out" / "record.json").write_text(json.dumps(record))
    return tmp_path


@pytest.fixture
def check(script: Any, house: Path) -> Any:
    scratch = house / "scratch"
    scratch.mkdir()
    reference = script.locate("house.door", house / "subjects")
    env = script.environment(house / "subjects", scratch)
    return script.Check(reference, house / "out" / "test_house_door.py", scratch, env)


def test_a_run_is_found_by_its_record(script: Any, house: Path) -> None:
    record, suite = script.found(house / "out")
    assert (record["subject"], suite.name) == ("house.door", "test_house_door.py")
    (house / "out").rename(house / "suite")
    (house / "suite" / "record.json").rename(house / "record.json")
    assert script.found(house / "suite")[1] == script.found(house)[1] == house / "suite" / "test_house_door.py"


def test_a_folder_without_a_run_is_refused(script: Any, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('["not a record"]')
    with pytest.raises(SystemExit, match="no record of a run with its suite in"):
        script.found(tmp_path)


@pytest.mark.parametrize(
    ("most", "expected"), [(0, [0, 1, 2, 3, 4]), (9, [0, 1, 2, 3, 4]), (2, [0, 2]), (3, [0, 1, 3])]
)
def test_some_of_the_mutants_are_spread_over_all(most: int, expected: list[int], script: Any) -> None:
    assert script.spread(range(5), most) == expected


def test_a_copy_has_the_whole_package(check: Any) -> None:
    copy = check.copy(1)
    assert sorted(path.name for path in (copy / "house").glob("*.py")) == ["__init__.py", "door.py", "walls.py"]
    assert check.file_in(copy).read_text() == Path(check.reference.path).read_text()


def test_a_module_without_a_package_is_copied_alone(script: Any, house: Path) -> None:
    (house / "subjects" / "hut.py").write_text("x = 1\n")
    reference = script.locate("hut", house / "subjects")
    copy = script.Check(reference, house / "test_hut.py", house, {}).copy(1)
    assert [path.name for path in copy.iterdir() if path.is_file()] == ["hut.py"]


CHANGES = [
    (("", ""), "survived"),
    (("x > 1", "x > 2"), "survived"),  # 3 is above both
    (("x > 1", "x > 3"), "killed"),
    (("class Door", "1 / 0\nclass Door"), "import"),
    (("return x", "while True: pass\n    return x"), "timeout"),
]


@pytest.mark.parametrize(("change", "outcome"), CHANGES)
@pytest.mark.parametrize("late", ["", pytest.param("1", marks=nightly)], ids=["early", "late"])
def test_the_suite_meets_the_copy_although_it_names_the_original(
    change: tuple[str, str], outcome: str, late: str, check: Any
) -> None:
    check.env["MUTATED_LATE"] = late
    copy = check.copy(1)
    file = check.file_in(copy)
    file.write_text(file.read_text().replace(*change))
    assert check.outcome(copy, 4.0 if outcome == "timeout" else 120.0) == outcome


def test_forks_say_the_same_and_share_nothing_that_was_imported(script: Any, check: Any) -> None:
    copy = check.copy(1)
    file = check.file_in(copy)
    text = file.read_text()
    with script.Forks(check) as forks:
        for change, outcome in (*CHANGES[:4], *CHANGES):
            file.write_text(text.replace(*change))
            assert forks.outcome(copy, 2.0) == outcome
        assert forks.outcome(copy.parent, 2.0) == "import"  # there is no copy
        file.write_text(text.replace("return x", "__import__('time').sleep(60)\n    return x"))
        assert forks.outcome(copy, 0.1) == "timeout"


def test_a_copy_that_another_file_stands_in_for_is_no_copy(check: Any) -> None:
    copy = check.copy(1)
    check.file_in(copy).unlink()
    (copy / "house" / "__init__.py").write_text(f"__path__ = [{str(Path(check.reference.path).parent)!r}]")
    assert check.outcome(copy, 120.0) == "import"


def test_each_of_our_mutants_has_the_outcome_that_the_tests_make_obvious(script: Any, check: Any) -> None:
    made = script.mutants(Path(check.reference.path).read_text(), "Door").made
    score = script.ours(script.Check(*_of_class(script, check, "Door")), 120.0, most=4, jobs=2)
    chosen = script.spread(made, 4)
    # `opens` is asked once, with the right key: what answers True is not noticed, what answers False or raises is.
    scope = {"walls": type("walls", (), {"COUNT": 4})}
    expected = [mutant.id for mutant in chosen if _answer(script, check, mutant, scope)]
    assert (score.survivors, score.total, score.outcomes["error"]) == (expected, 4, 0)
    assert score.killed == 4 - len(expected)


def _of_class(script: Any, check: Any, name: str) -> tuple[Any, ...]:
    reference = script.locate(f"house.door:{name}", check.root)
    return reference, check.suite, check.scratch, check.env


def _answer(script: Any, check: Any, mutant: Any, scope: dict[str, Any]) -> bool:
    text = script.mutated_text(Path(check.reference.path).read_text(), mutant).replace("from house import walls", "")
    names = dict(scope)
    exec(text, names)
    try:
        return bool(names["Door"]().opens(4))
    except Exception:
        return False


def test_a_source_file_keeps_its_encoding(script: Any, tmp_path: Path) -> None:
    (tmp_path / "old.py").write_bytes("# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    (tmp_path / "new.py").write_text("x = 'é'\n", "utf-8")
    assert [script.encoding_of(tmp_path / name) for name in ("old.py", "new.py")] == ["iso-8859-1", "utf-8"]


def test_a_suite_that_fails_on_the_original_is_refused(script: Any, check: Any) -> None:
    check.suite.write_text("def test_nothing():\n    assert False\n")
    with pytest.raises(SystemExit, match="does not pass on the unchanged module: killed"):
        script.limit_of(check)


def test_the_limit_is_five_times_the_slowest_run_or_ten_seconds(
    script: Any, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds, expected in ((1.0, 10.0), (3.0, 15.0)):
        clock = iter([0.0, 0.5, 10.0, 10.0 + seconds, 20.0, 20.5])
        monkeypatch.setattr(script.time, "perf_counter", lambda clock=clock: next(clock))
        monkeypatch.setattr(script.Check, "outcome", lambda *_: "survived")
        assert script.limit_of(check) == (seconds, expected)


def test_what_cosmic_ray_says_is_counted(script: Any) -> None:
    def line(outcome: str | None, output: str = "", worker: str = "normal") -> str:
        change = {"start_pos": [4, 8], "operator_name": "core/NumberReplacer", "occurrence": 1}
        result = {"worker_outcome": worker, "output": output, "test_outcome": outcome}
        return json.dumps([{"job_id": "1", "mutations": [change]}, result])

    lines = [
        *(line("killed"), line("killed", "timeout"), line("survived"), line("killed", "1 failed")),
        *(line("incompetent"), line(None, worker="skipped"), '[{"job_id": "2", "mutations": []}, null]'),
    ]
    score = script.read_dump("\n".join(lines))
    assert (score.total, score.killed, score.score) == (4, 3, 0.75)
    assert dict(score.outcomes) == {"killed": 2, "timeout": 1, "survived": 1, "error": 1}
    assert score.survivors == ["4:8:core/NumberReplacer:1"]


@pytest.mark.parametrize(("name", "lines"), [("", (1, 10**9)), ("Door", (4, 6))])
def test_a_class_has_its_lines(name: str, lines: tuple[int, int], script: Any, check: Any) -> None:
    reference = script.locate("house.door" + (f":{name}" if name else ""), check.root)
    assert script.lines_of(reference) == lines


def test_a_set_has_a_row_for_each_subject_and_their_sums(script: Any) -> None:
    first = script.Score("fitgym", [("a", "killed"), ("b", "survived"), ("c", "timeout")], 3.0)
    second = script.Score("fitgym", [("d", "import"), ("e", "survived"), ("f", "error")], 3.0)
    reports = [
        {
            "subject": subject,
            "tests": 2,
            "recorded": {"total": 9, "survivors": survivors},
            "scores": [score.as_dict()],
            "disagreements": ["x"] * differ,
            "by_chance": ["y"] * 2 * differ,
        }
        for subject, score, survivors, differ in (("one", first, ["b"], 0), ("two", second, ["d", "e"], 1))
    ]
    shown = script.rows(reports)
    cells = list(zip(*(column.cells for column in shown.columns), strict=True))
    assert cells == [
        ("one", "2", "9", "3", "2", "2", "0", "1", "0", "0", "1.000"),
        ("two", "2", "9", "2", "0", "1", "1", "0", "1", "2", "1.000"),
        ("all 2", "4", "18", "5", "2", "3", "1", "1", "1", "2", "1.200"),
    ]


def test_rates_compare_the_record_with_each_re_run(script: Any) -> None:
    score = script.Score("fitgym", [("a", "killed"), ("b", "survived")], 4.0).as_dict()
    report = {"recorded": {"total": 100}, "recorded_s": 0.5, "scores": [score]}
    assert script.rates(report) == ["200 mutants a second in the record, 0.50 of fitgym as files: 400 times as many"]
    assert script.rates(report | {"recorded_s": None}) == script.rates({"recorded": None, "recorded_s": None}) == []


def test_mutants_are_compared_one_by_one_where_the_record_names_the_survivors(script: Any) -> None:
    score = script.Score(
        "fitgym", [("a", "killed"), ("b", "survived"), ("c", "timeout"), ("d", "survived"), ("e", "error")]
    )
    recorded = {"total": 4, "killed": 2, "survivors": ["c", "d", "e"]}
    found = ["b: killed in the record, survived here", "c: survived in the record, timeout here"]
    assert script.disagreements(recorded, score) == found
    assert script.disagreements(recorded | {"total": 9}, score) == [*found, "total: 9 in the record, 4 here"]
    assert script.disagreements(recorded | {"total": 9}, score, most=5) == found  # only some were run
    assert script.disagreements(None, score) == []
    assert script.disagreements(recorded, score, chance=["c"]) == [found[0], "killed: 2 in the record, 1 here"]
    assert script.disagreements(recorded, score, chance=["b", "c"]) == []


def test_a_mutant_that_is_killed_now_and_then_is_killed_by_chance(
    script: Any, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with check.suite.open("a") as suite:
        suite.write(
            "\ndef test_now_and_then():\n    import os\n    n = len(os.listdir())\n"
            "    open(f'{n}', 'w').close()\n    assert not door.far(0) or n % 2\n"
        )
    monkeypatch.setattr(script, "AGAIN", 3)
    always, sometimes = "far:1:11:unary:-x", "far:1:13:relational:!="  # far(3) is false; far(3) is true, and far(0) is
    assert script.by_chance(check, 60.0, [always, sometimes]) == [sometimes]
    assert script.by_chance(check, 60.0, [sometimes]) == [sometimes]  # what it has copied before is gone


@pytest.mark.parametrize(
    ("recorded", "code"),
    [(None, 0), ({"total": 4, "killed": 3}, 0), ({"total": 4, "killed": 4}, 1), ({"total": 5, "killed": 3}, 1)],
)
def test_a_record_that_says_something_else_is_found(
    recorded: dict[str, int] | None, code: int, script: Any, house: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = house / "out" / "record.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mutants": recorded}))
    outcomes = ("killed", "timeout", "killed", "survived")
    score = script.Score("fitgym", [(str(number), outcome) for number, outcome in enumerate(outcomes)], 2.0)
    monkeypatch.setattr(script, "limit_of", lambda *_: (1.0, 10.0))
    monkeypatch.setattr(script, "ours", lambda *_: score)
    assert script.main([str(house / "out"), "--subjects", str(house / "subjects"), "--no-tool"]) == code
    report = json.loads((house / "out" / "mutation_check.json").read_text())
    assert report["scores"][0]["score"] == 0.75
    assert report["scores"][0]["seconds_each"] == 0.5
    assert report["recorded"] == recorded
