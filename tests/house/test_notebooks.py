"""The lessons: each has the required form, separate solutions, and an up-to-date notebook.

The build of the documentation runs all lessons, with their solutions and tempting answers, and fails if one does not hold.
The second half of this file plants one violation of each rule of the form and sees to it that it is found.
"""

from __future__ import annotations

import ast
import base64
import copy
import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jupytext", reason="the extra `notebooks` is not installed")

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nightly import nightly

from fitgym.course.lesson import PARTS, Lesson
from notebooks.pages import FOLDER, committed, converted, executed, is_folded, run_all, sources, tags, text, verified

MOST_LINES, WIDEST = 50, 100
LARGEST = 400_000
"""Bytes of a notebook; GitHub does not show much larger ones."""

SOURCES = sources()
each = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)


def tagged(notebook: NotebookNode, tag: str) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if tag in tags(cell)]


def calls(notebook: NotebookNode, name: str) -> list[ast.Call]:
    """Calls of a function in the cells that students see."""
    shown = [cell for cell in notebook.cells if cell.cell_type == "code" and "hidden" not in tags(cell)]
    nodes = [node for cell in shown for node in ast.walk(ast.parse(cell.source))]
    return [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == name]


def exercises(notebook: NotebookNode) -> list[str]:
    """The names of the exercises."""
    return [ast.literal_eval(call.args[0]) for call in calls(notebook, "exercise")]


def violations(notebook: NotebookNode) -> Iterator[str]:
    """What is wrong with the form of a lesson, a sentence each."""
    lesson = Lesson.parse("00_lesson", notebook.cells[0].source)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    if not re.match(r"# \d\d \S", notebook.cells[0].source):
        yield "the first cell does not begin with '# NN Title'"
    for label, value in {"Time": lesson.time, "You need": lesson.need, "You will be able to": lesson.goals}.items():
        if not value:
            yield f"the first cell does not say **{label}:**"
    if tagged(notebook, "setup") != code[:1]:
        yield "the first code cell is not the only one tagged setup"
    elif not all(part in code[0].source for part in ("FITGYM_FAST", 'plt.style.use("lesson.mplstyle")')):
        yield "the setup knows no fast mode or does not set the style of the figures"
    if not calls(notebook, "predict"):
        yield "the reader is not asked for a prediction"
    if len(names := exercises(notebook)) < 3:
        yield f"there are {len(names)} exercises, expected three or more"
    yield from (found for name in names for found in exercise_violations(notebook, name))
    questions = [len(call.args) for call in calls(notebook, "quiz")]
    if not (len(questions) == 1 and 3 <= questions[0] <= 5):
        yield "there is no quiz of three to five questions"
    if len(calls(notebook, "plt.show")) < 2:
        yield "there are fewer than two figures, each of which ends with plt.show()"
    for heading in ("What could fool you here", "Next"):
        if f"## {heading}" not in prose:
            yield f"there is no section '## {heading}'"
    for number, cell in enumerate(notebook.cells, 1):
        yield from cell_violations(number, cell)


def exercise_violations(notebook: NotebookNode, name: str) -> Iterator[str]:
    """What is wrong with an exercise: students write in a cell of its own, and a named function checks the answer."""
    written = [cell.source for cell in tagged(notebook, "exercise")]
    if not any(re.search(rf"^({name} = \.\.\.|def {name}\()", source, re.MULTILINE) for source in written):
        yield f"no cell tagged exercise has '{name} = ...' or 'def {name}('"
    if not any(f"def check_{name}(" in cell.source for cell in tagged(notebook, "check")):
        yield f"no cell tagged check has 'def check_{name}('"


def cell_violations(number: int, cell: NotebookNode) -> Iterator[str]:
    """What is wrong with a cell."""
    if cell.cell_type == "markdown":
        prose = re.sub(r"```.*?```|`[^`]*`", "", cell.source, flags=re.DOTALL)
        outside = re.sub(r"\$\$.+?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$|\\\$", "", prose, flags=re.DOTALL)
        if "$" in outside:
            yield f"cell {number} has a dollar sign that is not part of a formula"
        return
    if not (is_folded(cell) or "hidden" in tags(cell)):
        lines = [line for line in cell.source.splitlines() if line]  # the formatter asks for empty ones
        if len(lines) > MOST_LINES:
            yield f"cell {number} is longer than {MOST_LINES} lines"
        if max(map(len, lines), default=0) > WIDEST:
            yield f"cell {number} is wider than {WIDEST} characters"
    asserts = any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source)))
    if asserts and not tags(cell) & {"setup", "check", "hidden"}:
        yield f"cell {number} asserts something before the eyes of students: tag it hidden"


@each
def test_a_notebook_has_the_form_of_a_lesson(source: Path) -> None:
    assert list(violations(converted(source))) == []


@each
def test_the_number_of_a_title_is_that_of_the_file(source: Path) -> None:
    assert converted(source).cells[0].source.startswith(f"# {source.name[:2]} ")


def test_every_lesson_is_in_one_part_of_the_course_and_no_number_is_missing() -> None:
    numbers = [int(source.name[:2]) for source in SOURCES]
    assert numbers == [number for part in PARTS.values() for number in part]


@each
def test_a_notebook_is_as_new_as_its_source_and_shows_what_its_cells_gave(source: Path) -> None:
    """If this fails: python notebooks/pages.py NN."""
    both = committed(source)
    assert both["file"] == both["source"]
    content = source.with_suffix(".ipynb").read_text("utf-8")
    assert '"image/png"' in content, "no figure: it was written with --bare"
    assert len(content) < LARGEST


def test_no_notebook_is_without_source() -> None:
    assert {file.stem for file in FOLDER.glob("*.ipynb")} == {source.stem for source in SOURCES}


@each
def test_every_exercise_has_a_solution_and_a_tempting_wrong_answer_in_a_file_apart(source: Path) -> None:
    names = exercises(converted(source))
    found = assigned(FOLDER / "solutions" / source.name)
    assert sorted(found["SOLUTIONS"]) == sorted(found["TEMPTING"]) == sorted(names)


def assigned(file: Path) -> dict[str, list[str]]:
    """The keys of the dictionaries in a file with solutions; it is not run, because it uses names of its lesson."""
    dictionaries = {}
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            keys = [ast.literal_eval(key) for key in node.value.keys if key is not None]
            dictionaries[ast.unparse(node.targets[0])] = keys
    return dictionaries


def printed(cell: NotebookNode, stream: str = "stdout") -> str:
    return "".join(output.text for output in cell.get("outputs", []) if output.get("name") == stream)


def test_fast_mode_is_an_environment_variable_and_a_claim_that_does_not_hold_fails() -> None:
    asks = new_notebook(cells=[new_code_cell('import os; print("FITGYM_FAST" in os.environ)')])
    assert printed(executed(copy.deepcopy(asks)).cells[0]) == "True\n"
    with pytest.raises(CellExecutionError, match="not so"):
        executed(new_notebook(cells=[new_code_cell('assert 1 > 2, "not so"')]))


@nightly
def test_without_fast_mode_the_variable_is_not_set() -> None:
    asks = new_notebook(cells=[new_code_cell('import os; print("FITGYM_FAST" in os.environ)')])
    assert printed(executed(asks, fast=False).cells[0]) == "False\n"


def test_a_conversion_repeats_itself_and_can_be_read_back() -> None:
    assert text(converted(SOURCES[0])) == text(converted(SOURCES[0]))
    nbformat.validate(nbformat.reads(text(converted(SOURCES[0])), as_version=4))


def test_a_notebook_keeps_a_figure_as_a_small_png() -> None:
    from PIL import Image

    made = BytesIO()
    Image.effect_noise((80, 80), 90).save(made, "png")
    png = base64.b64encode(made.getvalue()).decode()
    output = new_output("display_data", data={"image/png": png, "image/svg+xml": "<svg/>"})
    (kept,) = json.loads(text(new_notebook(cells=[new_code_cell("plt.show()", outputs=[output])])))["cells"][0][
        "outputs"
    ]
    assert list(kept["data"]) == ["image/png"] and len("".join(kept["data"]["image/png"])) < len(png)


# A small lesson


SMALL = """# %% [markdown]
# # 01 Why?

# %% tags=["setup"]
from fitgym.course import exercise

limit = 10

# %% tags=["exercise"]
small = ...  # a number


# %% tags=["check"]
def check_small(answer):
    return None if answer < limit else "too large"


# %%
exercise("small", small, check_small)
"""


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lesson in a folder of its own, whose solution uses a name of the lesson."""
    monkeypatch.setattr("notebooks.pages.FOLDER", tmp_path)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "01_small.py").write_text(
        'SOLUTIONS = {"small": limit - 1}\nTEMPTING = {"small": [limit]}\n'
    )
    (tmp_path / "01_small.py").write_text(SMALL)
    return tmp_path / "01_small.py"


def test_cells_carry_what_nbgrader_and_slides_need(small: Path) -> None:
    cells = converted(small).cells
    graded: list[Any] = [cell.metadata.get("nbgrader", {}) for cell in cells]
    assert [form.get("grade_id") for form in graded] == [None, None, "small", "check_small", "grade_small"]
    assert [form.get("locked") for form in graded[2:]] == [False, True, True]
    assert [form.get("points") for form in graded[2:]] == [None, None, 1]
    assert [cell.metadata["slideshow"]["slide_type"] for cell in cells] == ["slide", "skip", "-", "skip", "-"]
    assert converted(small).metadata["fitgym"] == {"lesson": "01_small"}


def test_a_lesson_is_run_with_its_solutions_which_leave_no_trace(small: Path) -> None:
    ((source, notebook, seconds),) = run_all([small])
    assert source == small and seconds > 0
    assert [cell.source for cell in notebook.cells] == [cell.source for cell in converted(small).cells]
    assert "not tried yet" in json.dumps(notebook.cells[-1].outputs)


@pytest.mark.parametrize(
    ("solution", "tempting", "expected"),
    [
        ("limit", "limit", "the check refuses the solution of 'small': too large"),
        ("1", "2", "the check of 'small' accepts the tempting answer 2"),
    ],
)
@nightly
def test_a_check_that_is_wrong_about_an_answer_fails(small: Path, solution: str, tempting: str, expected: str) -> None:
    (small.parent / "solutions" / small.name).write_text(
        f'SOLUTIONS = {{"small": {solution}}}\nTEMPTING = {{"small": [{tempting}]}}\n'
    )
    with pytest.raises(CellExecutionError, match=expected):
        verified(small)


# One violation of each rule, planted


def lesson() -> NotebookNode:
    """A notebook in which everything is as it should be."""
    head = "# 00 Why?\n\nBecause.\n\n**Time:** 10 minutes. **You need:** Python. **You will be able to:** count."
    setup = 'FAST = "FITGYM_FAST" in os.environ\nplt.style.use("lesson.mplstyle")'
    answers = "".join(f"{name} = ...  # a number\n" for name in ("one", "two", "three"))
    checks = "".join(f"def check_{name}(answer): ...\n" for name in ("one", "two", "three"))
    called = "".join(f'exercise("{name}", {name}, check_{name})\n' for name in ("one", "two", "three"))
    return new_notebook(
        cells=[
            new_markdown_cell(head),
            new_code_cell(setup, metadata={"tags": ["setup"]}),
            new_code_cell('predict("How many?", None)'),
            new_code_cell("plt.show()\nplt.show()"),
            new_code_cell(answers, metadata={"tags": ["exercise"]}),
            new_code_cell(checks, metadata={"tags": ["check"]}),
            new_code_cell(called),
            new_code_cell("quiz(Question(), Question(), Question())"),
            new_markdown_cell("## What could fool you here\n\n* Nothing costs $1$ `$`."),
            new_markdown_cell("## Next\n\nMore."),
        ]
    )


def test_a_lesson_in_proper_form_passes() -> None:
    assert list(violations(lesson())) == []


@pytest.mark.parametrize(
    ("cell", "old", "new", "expected"),
    [
        (0, "# 00 Why?", "# Why?", "the first cell does not begin with '# NN Title'"),
        (0, "**Time:** 10 minutes. ", "", "the first cell does not say **Time:**"),
        (0, "**You need:** Python. ", "", "the first cell does not say **You need:**"),
        (0, " **You will be able to:** count.", "", "the first cell does not say **You will be able to:**"),
        (1, "FITGYM_FAST", "", "the setup knows no fast mode or does not set the style of the figures"),
        (2, "predict", "ask", "the reader is not asked for a prediction"),
        (3, "plt.show()\n", "", "there are fewer than two figures, each of which ends with plt.show()"),
        (
            3,
            "plt.show()\n",
            "plt.show()\nassert 1\n",
            "cell 4 asserts something before the eyes of students: tag it hidden",
        ),
        (3, "plt.show()\n", "plt.show()\n" * 50, "cell 4 is longer than 50 lines"),
        (3, "plt.show()\n", "plt.show()\n# " + "x" * 99 + "\n", "cell 4 is wider than 100 characters"),
        (4, "one = ...", "one = 1", "no cell tagged exercise has 'one = ...' or 'def one('"),
        (5, "check_two", "check", "no cell tagged check has 'def check_two('"),
        (6, 'exercise("two", two, check_two)\n', "", "there are 2 exercises, expected three or more"),
        (7, ", Question()", "", "there is no quiz of three to five questions"),
        (8, "fool", "fail", "there is no section '## What could fool you here'"),
        (8, "$1$", "$1", "cell 9 has a dollar sign that is not part of a formula"),
        (9, "Next", "End", "there is no section '## Next'"),
    ],
)
def test_a_planted_violation_is_found(cell: int, old: str, new: str, expected: str) -> None:
    notebook = lesson()
    assert old in notebook.cells[cell].source
    notebook.cells[cell].source = notebook.cells[cell].source.replace(old, new)
    assert list(violations(notebook)) == [expected]


def test_a_missing_tag_is_found() -> None:
    untagged = lesson()
    untagged.cells[1].metadata = {}
    assert list(violations(untagged)) == ["the first code cell is not the only one tagged setup"]
