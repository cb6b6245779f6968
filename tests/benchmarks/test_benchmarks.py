"""The benchmark scripts find planted errors: flaky tests, wrong numbers, stray processes and files."""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

MODULE = """
    class Door:
        def enter(self, key):
            if key == 1:
                return "in"
            raise KeyError(key)

    def look(far):
        if far:
            return "hill"
        return "wall"
"""

SUITE = """
    import pytest
    import house

    def test_enter():
        assert house.Door().enter(1) == "in"

    def test_enter_raises_key_error():
        with pytest.raises(KeyError):
            house.Door().enter(2)

    def test_far():
        assert house.look(True) == "hill"
"""


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The three scripts as modules."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("remeasure", "core_subjects", "hostile_subjects")
    yield argparse.Namespace(**{name: importlib.import_module(name) for name in names})
    for name in names:
        del sys.modules[name]


@pytest.fixture
def house(tmp_path: Path, scripts: Any) -> Any:
    """A subject with four branches, two of them in a class, and a suite that misses one."""
    for name, text in (("subjects/house.py", MODULE), ("suite/test_house.py", SUITE)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(textwrap.dedent(text))
    return argparse.Namespace(
        env=scripts.remeasure.environment(tmp_path / "subjects", tmp_path / "scratch"),
        file=str(tmp_path / "subjects" / "house.py"),
        suite=tmp_path / "suite" / "test_house.py",
    )


def test_the_sets_have_their_sizes(scripts: Any) -> None:
    sizes = {name: len(scripts.remeasure.subjects(name, [])) for name in ("core", "extra", "large", "hostile")}
    assert sizes == {"core": 25, "extra": 25, "large": 17, "hostile": 18}


def test_every_package_of_a_subject_is_pinned(scripts: Any) -> None:
    pins = (BENCHMARKS / "requirements_subjects.txt").read_text().splitlines()
    every = [s for name in ("core", "extra", "large", "hostile") for s in scripts.remeasure.subjects(name, [])]
    assert {f"{subject.package}=={subject.version}" for subject in every} <= set(pins)


def test_subjects_are_picked_by_a_part_of_their_name(scripts: Any) -> None:
    assert [s.text for s in scripts.remeasure.subjects("core", ["jmespath.lexer"])] == ["jmespath.lexer:Lexer"]
    assert scripts.remeasure.subjects("hostile", ["jmespath.lexer"]) == []


def test_the_file_of_a_module_is_found_without_importing_it(scripts: Any, house: Any, tmp_path: Path) -> None:
    (tmp_path / "subjects" / "bomb.py").write_text("1 / 0")
    assert scripts.remeasure.source_file("bomb", house.env, tmp_path) == str(tmp_path / "subjects" / "bomb.py")
    assert scripts.remeasure.source_file("nothing.there", house.env, tmp_path) == ""


@pytest.mark.parametrize("way", ["plain_branches", "clean_branches"])
@pytest.mark.parametrize(("class_name", "expected"), [("", (3, 4)), ("Door", (2, 2))])
def test_branches_are_those_counted_by_hand(
    way: str, class_name: str, expected: tuple[int, int], scripts: Any, house: Any
) -> None:
    subject = scripts.remeasure.Subject("core", "house", "1", "house", class_name)
    measured = getattr(scripts.remeasure, way)(subject, house.file, house.suite, house.env)
    assert (measured.covered, measured.total) == expected


def test_an_expected_exception_has_its_class_and_function(scripts: Any, house: Any) -> None:
    assert scripts.remeasure.raised(house.file, house.suite, house.env) == {("KeyError", "Door.enter")}


def test_a_test_that_depends_on_the_order_is_found(scripts: Any, house: Any) -> None:
    house.suite.write_text("seen = []\n\ndef test_a():\n    seen.append(1)\n\ndef test_b():\n    assert seen\n")
    row = scripts.core_subjects.Row("house", 0)
    # random.Random(1) turns two items round, random.Random(0) does not.
    scripts.core_subjects.rerun(house.suite, house.env, 1, row)
    assert (row.tests, row.passed) == (2, 1)
    assert row.findings == ["test_house.test_b: passed, passed, failed"]


def test_a_suite_that_cannot_be_run_is_found(scripts: Any, house: Any) -> None:
    house.suite.write_text("def test_(:")
    row = scripts.core_subjects.Row("house", 0)
    scripts.core_subjects.rerun(house.suite, house.env, 0, row)
    assert row.passed == 0 and row.findings


def test_a_record_that_says_too_much_is_found(scripts: Any) -> None:
    row = scripts.core_subjects.Row("house", 0, plain=scripts.remeasure.Branches(3, 4))
    scripts.core_subjects.compare_branches({"measured": {"branches": {"covered": 4, "total": 4}}}, row)
    assert row.findings == ["record says 4/4 branches, coverage.py 3/4"]


def test_an_exception_that_no_test_raises_is_found(scripts: Any) -> None:
    row = scripts.core_subjects.Row("house", 0)
    record = {"exceptions": [{"type": "KeyError", "function": "f"}, {"type": "OSError", "function": "f.<locals>.g"}]}
    scripts.core_subjects.compare_exceptions(record, {("OSError", "f.g")}, row)
    assert (row.exceptions, row.raised, row.findings) == (2, 1, ["KeyError in f is in the record only"])


@pytest.mark.parametrize(
    ("function", "expected"),
    [("f", "f"), ("C.f.<locals>.g", "C.f.g"), ("f.<locals>.<listcomp>", "f"), ("f.<locals>.<lambda>", "f.<lambda>")],
)
def test_names_of_functions_are_compared_without_what_differs_by_version(
    function: str, expected: str, scripts: Any
) -> None:
    assert scripts.remeasure.bare(function) == expected


def test_files_that_are_left_changed_or_deleted_are_found(scripts: Any, tmp_path: Path) -> None:
    hostile = scripts.hostile_subjects
    for name in ("stays", "changes", "goes"):
        (tmp_path / name).write_text(name)
    before = hostile.snapshot(tmp_path)
    (tmp_path / "changes").write_text("other")
    (tmp_path / "goes").unlink()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "comes").touch()
    assert hostile.changes(before, hostile.snapshot(tmp_path)) == [
        f"left behind: {tmp_path}/deep",
        f"left behind: {tmp_path}/deep/comes",
        f"deleted: {tmp_path}/goes",
        f"changed: {tmp_path}/changes",
    ]


def test_a_process_that_carries_the_mark_is_found(scripts: Any) -> None:
    hostile = scripts.hostile_subjects
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    process = subprocess.Popen(command, env={hostile.MARK: "of this test"})
    try:
        deadline = time.monotonic() + 10
        while process.pid not in hostile.descendants("of this test") and time.monotonic() < deadline:
            time.sleep(0.01)
        assert "sleep(60)" in hostile.descendants("of this test")[process.pid]
    finally:
        process.kill()
        process.wait()
    assert process.pid not in hostile.descendants("of this test")


def test_an_abandoned_process_without_the_mark_is_found(tmp_path: Path) -> None:
    # In a process of its own, because being a subreaper cannot be taken back by those who started before.
    code = f"""
        import ctypes, json, os, subprocess, sys, time
        sys.path.insert(0, {str(BENCHMARKS)!r})
        import hostile_subjects as hostile
        ctypes.CDLL(None).prctl(hostile.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        stray = "import subprocess, sys; subprocess.Popen(['sleep', '60'], env={{}}, start_new_session=True)"
        subprocess.run([sys.executable, "-c", stray], check=True)
        found = hostile.descendants("unknown")
        for process in found: os.kill(process, 9)
        print(json.dumps(sorted(found.values())))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout or "null") == ["sleep 60"], done.stderr


@pytest.mark.parametrize(
    ("code", "said", "finding"),
    [
        (2, "fitgym: 'sh' replaces itself when imported, name another module", []),
        (2, "Traceback", ["neither a suite nor a clear sentence (exit code 2)"]),
        (1, "fitgym: oh", ["neither a suite nor a clear sentence (exit code 1)"]),
        (0, "", ["neither a suite nor a clear sentence (exit code 0)"]),
    ],
)
def test_a_run_ends_with_a_suite_or_a_clear_sentence(
    code: int, said: str, finding: list[str], scripts: Any, tmp_path: Path
) -> None:
    (tmp_path / "stderr.txt").write_text(said)
    row = scripts.hostile_subjects.Row("sh", exit_code=code)
    scripts.hostile_subjects.judge(tmp_path, row)
    assert row.findings == finding
