"""Lessons are listed, distributed to students, and graded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly

from fitgym.cli import main
from fitgym.course.lesson import Lesson, lessons
from fitgym.course.material import hand_out
from fitgym.errors import InputError

LESSON = '''# %% [markdown]
# # 06 What is small?
#
# About numbers.
#
# * **Time:** 10 minutes.
# * **You need:** Python.
# * **You will be able to:** count.

# %% tags=["setup"]
from pathlib import Path

from fitgym.course import exercise

limit = int(Path("../data/limit.txt").read_text())

# %% tags=["hidden"]
assert limit == 10

# %% tags=["exercise"]
small = ...  # a number


# %% tags=["check"]
def check_small(answer):
    return None if answer < limit else f"{answer} is not below {limit}."


# %%
exercise("small", small, check_small)


# %% tags=["exercise"]
def double(x):
    """Twice x."""


# %% tags=["check"]
def check_double(answer):
    return None if answer(4) == 8 else f"double(4) gives {answer(4)}, expected 8."


# %%
exercise("double", double, check_double)
'''


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A folder with one lesson, its solutions and its data."""
    pytest.importorskip("jupytext", reason="the extra `notebooks` is not installed")
    from notebooks.pages import converted, text

    folder = tmp_path / "repository" / "notebooks"
    (folder / "solutions").mkdir(parents=True)
    (folder / "06_small.py").write_text(LESSON)
    (folder / "06_small.ipynb").write_text(text(converted(folder / "06_small.py")))
    (folder / "solutions" / "06_small.py").write_text("SOLUTIONS = {}")
    (folder / "lesson.mplstyle").write_text("")
    (folder / ".ruff_cache").mkdir()
    (folder / ".ruff_cache" / "rules").write_text("")
    (folder.parent / "data").mkdir()
    (folder.parent / "data" / "limit.txt").write_text("10")
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def answered(course: Path, tmp_path: Path, **answers: str) -> Path:
    """What a student hands in: the source of the cells in which they write, by the name of the exercise."""
    (handed,) = hand_out(tmp_path / "student", given=course)
    content = json.loads(handed.read_text())
    for cell in content["cells"]:
        if (name := cell["metadata"].get("nbgrader", {}).get("grade_id")) in answers:
            cell["source"] = answers[name]
    handed.write_text(json.dumps(content))
    return handed


def marks(course: Path, file: Path, **options: Any) -> tuple[dict[str, str], str]:
    from fitgym.course.grading import grade

    found = grade(file, given=course, **options)
    return {mark.name: mark.state for mark in found.marks}, found.problem


def test_the_head_of_a_lesson_says_time_needs_and_goals(course: Path) -> None:
    (lesson,) = lessons(course)
    assert lesson == Lesson("06_small", "What is small?", "About numbers.", "10 minutes", "Python", "count")


@pytest.mark.parametrize(
    "head",
    [
        "# 06 What?\n\nAbout.\n\n**Time:** 10 minutes. **You need:** Python. **You will be able to:** count.",
        "# 06 What?\n\nAbout.\n\n**Time:** 10 minutes.\n**You need:** Python.\n\n- **You will be able to:** count.\n",
    ],
)
def test_the_facts_may_stand_in_a_line_or_in_a_list(head: str) -> None:
    lesson = Lesson.parse("06_what", head)
    assert (lesson.about, lesson.time, lesson.need, lesson.goals) == ("About.", "10 minutes", "Python", "count")


def test_a_head_without_facts_has_empty_ones() -> None:
    assert Lesson.parse("06_what", "# 06 What?\n\nAbout.") == Lesson("06_what", "What?", "About.", "", "", "")


def test_lessons_are_listed_by_part_with_their_time(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "course", "list", "--lessons", course)
    assert code == 0 and "Deciding\n  06  What is small?  10 minutes\n" in out


def test_students_get_lessons_with_their_data_but_without_solutions_and_outputs(course: Path, tmp_path: Path) -> None:
    (made,) = hand_out(tmp_path / "student", given=course)
    files = {
        str(file.relative_to(tmp_path / "student")) for file in (tmp_path / "student").rglob("*") if file.is_file()
    }
    assert files == {"notebooks/06_small.ipynb", "notebooks/lesson.mplstyle", "data/limit.txt"}
    assert "assert limit" not in made.read_text()
    assert all(not cell.get("outputs") for cell in json.loads(made.read_text())["cells"])


def test_answers_of_a_student_are_not_overwritten(course: Path, tmp_path: Path) -> None:
    hand_out(tmp_path, given=course)
    with pytest.raises(InputError, match="exists already and may hold answers"):
        hand_out(tmp_path, given=course)


def test_a_lesson_that_does_not_exist_is_named(course: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no lesson '07', expected a name or a number"):
        hand_out(tmp_path, ["07"], given=course)


def test_a_folder_without_lessons_says_where_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "course", "list", "--lessons", tmp_path)
    assert code == 2 and "clone it and install it with pip install -e '.[notebooks]'" in err


def test_right_answers_pass(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = answered(course, tmp_path, small="small = 3", double="def double(x):\n    return 2 * x")
    code, out, err = run(capsys, "course", "check", file, "--lessons", course)
    assert (code, out) == (0, f"{file}: 2 of 2 points\n  small: passed\n  double: passed\n"), err


def test_a_wrong_answer_and_none_are_told_apart(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = answered(course, tmp_path, small="small = 30")
    code, out, _ = run(capsys, "course", "check", file, "--lessons", course, "--json")
    (found,) = json.loads(out)
    assert code == 1 and (found["points"], found["possible"]) == (0, 2)
    assert [(mark["state"], mark["sentence"]) for mark in found["marks"]] == [
        ("not yet", "30 is not below 10."),
        ("not tried", ""),
    ]


def test_a_check_that_was_changed_or_removed_is_restored(course: Path, tmp_path: Path) -> None:
    file = answered(course, tmp_path, small="small = 30", check_small="def check_small(answer): ...")
    content = json.loads(file.read_text())
    content["cells"] = [cell for cell in content["cells"] if "double(4)" not in "".join(cell["source"])]
    file.write_text(json.dumps(content))
    assert marks(course, file)[0] == {"small": "not yet", "double": "not tried"}


@nightly
def test_a_cell_that_raises_stops_only_its_own_exercise(course: Path, tmp_path: Path) -> None:
    file = answered(course, tmp_path, small="small = smal", double="double = lambda x: x + x")
    found, problem = marks(course, file)
    assert found == {"small": "not run", "double": "passed"}
    assert problem == "cell 3 raised NameError: name 'smal' is not defined"


@nightly
def test_a_notebook_that_does_not_end_is_stopped(course: Path, tmp_path: Path) -> None:
    file = answered(course, tmp_path, small="small = 3", double="while True: pass")
    found, problem = marks(course, file, limit=15)
    assert found == {"small": "passed", "double": "not run"} and problem == "it took longer than 15 s"


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"cells": 3, "nbformat": 4}'])
def test_a_file_that_is_no_notebook_is_refused_in_a_sentence(course: Path, tmp_path: Path, content: str) -> None:
    from fitgym.course.grading import grade

    file = tmp_path / "06_small.ipynb"
    file.write_text(content)
    with pytest.raises(InputError, match="cannot be read as a notebook"):
        grade(file, given=course)


def test_a_notebook_of_no_lesson_is_refused(course: Path, tmp_path: Path) -> None:
    from fitgym.course.grading import grade

    file = answered(course, tmp_path)
    content = json.loads(file.read_text())
    del content["metadata"]["fitgym"]
    (tmp_path / "mine.ipynb").write_text(json.dumps(content))
    with pytest.raises(InputError, match="its name has none of 06_small in it"):
        grade(tmp_path / "mine.ipynb", given=course)


def test_nothing_to_check_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "course", "check")
    assert code == 2 and "there is no notebook to check" in err


@nightly
def test_a_notebook_whose_process_dies_is_told(course: Path, tmp_path: Path) -> None:
    file = answered(course, tmp_path, small="import os\nos._exit(3)")
    found, problem = marks(course, file)
    assert found == {"small": "not run", "double": "not run"} and problem == "its Python process ended"
