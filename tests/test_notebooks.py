"""The notebooks: each has the form of a lesson, is in step with its source, and holds when it is executed.

An executed notebook is followed by its solution, which the checker must accept, and by the tempting answer, which it must
not. The second half of this file plants one violation of each rule of the form and sees to it that it is found.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("jupytext", reason="the extra `notebooks` is not installed")

import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nightly import every

from notebooks.pages import FOLDER, converted, executed, sources, text, write_page

MOST_LINES, WIDEST = 25, 100
TITLE = re.compile(r"# (\d\d) [^\n]+\?(\n|$)")
FOLDED = r"<details>\n<summary>{}</summary>\n\n```python\n(.*?)\n```\n.*?</details>"
LIBRARIES = {"11": ["stable_baselines3", "torch"], "18": ["ray"]}
"""What is needed beyond the extra `notebooks`, by number."""

SOURCES = sources()
each = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
some = pytest.mark.parametrize("source", every(4, SOURCES), ids=lambda source: source.stem)


def tagged(notebook: NotebookNode, tag: str) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", [])]


def folded(notebook: NotebookNode, summary: str) -> list[str]:
    """The Python code under a summary that is to be clicked at."""
    texts = [cell.source for cell in tagged(notebook, "solution")]
    return [code for said in texts for code in re.findall(FOLDED.format(summary), said, re.DOTALL)]


def violations(notebook: NotebookNode) -> Iterator[str]:
    """What is wrong with the form of a lesson, a sentence each."""
    cells = notebook.cells
    code = [number for number, cell in enumerate(cells) if cell.cell_type == "code"]
    if not TITLE.match(cells[0].source):
        yield "the title is no numbered question"
    asked = [number for number, cell in enumerate(cells) if cell.source.startswith("**Predict first.**")]
    if not (asked and asked[0] < code[0]):
        yield "no prediction is asked for before the first run"
    if tagged(notebook, "setup") != [cells[code[0]]]:
        yield "the first code cell is not the only one tagged setup"
    elif not all(part in cells[code[0]].source for part in ("FITGYM_FAST", "print(", 'version("fitgym")')):
        yield "the setup does not print versions or knows no fast mode"
    tags = [tag for cell in cells for tag in cell.metadata.get("tags", [])]
    if tags != ["setup", "exercise", "checker", "solution"]:
        yield f"the tags are {tags}, expected setup, exercise, checker and solution once each, in this order"
    elif not tagged(notebook, "exercise")[0].source.startswith("answer = ..."):
        yield "the exercise does not begin with an answer to be filled in"
    elif not tagged(notebook, "checker")[0].source.endswith("\ncheck(answer)"):
        yield "the checker does not end with check(answer)"
    if not (folded(notebook, "Solution") and folded(notebook, "A tempting answer that fails")):
        yield "there is no hidden solution, or no tempting answer that fails"
    if not cells[-1].source.startswith("## What could fool you here\n"):
        yield "it does not end with what could fool you here"
    lesson = [cells[number] for number in code if not cells[number].metadata.get("tags")]
    if not any(isinstance(node, ast.Assert) for cell in lesson for node in ast.walk(ast.parse(cell.source))):
        yield "no claim is asserted"
    for number in code:
        lines = [line for line in cells[number].source.splitlines() if line]  # the formatter asks for empty ones
        if len(lines) > MOST_LINES or max(map(len, lines)) > WIDEST:
            yield f"cell {number + 1} is longer than {MOST_LINES} lines or wider than {WIDEST} characters"


def test_there_is_a_notebook_for_each_number() -> None:
    assert [source.name[:2] for source in SOURCES] == [f"{number:02}" for number in range(len(SOURCES))]


@each
def test_a_notebook_has_the_form_of_a_lesson(source: Path) -> None:
    assert list(violations(converted(source))) == []


@each
def test_the_number_of_a_title_is_that_of_the_file(source: Path) -> None:
    assert converted(source).cells[0].source.startswith(f"# {source.name[:2]} ")


def test_the_readme_lists_every_question() -> None:
    readme = (FOLDER.parent / "README.md").read_text("utf-8")
    for source in SOURCES:
        number, _, question = converted(source).cells[0].source.partition("\n")[0].removeprefix("# ").partition(" ")
        assert f"| {number} | {question}" in readme


@each
def test_a_notebook_is_what_its_source_says_and_holds_no_outputs(source: Path) -> None:
    """If this fails: python notebooks/pages.py, after what was changed in the .ipynb was brought into the .py."""
    assert source.with_suffix(".ipynb").read_text("utf-8") == text(converted(source))


def test_no_notebook_is_without_source() -> None:
    assert {file.stem for file in FOLDER.glob("*.ipynb")} == {source.stem for source in SOURCES}


@some
def test_a_notebook_holds_and_its_checker_tells_the_solution_from_a_tempting_answer(source: Path) -> None:
    for library in LIBRARIES.get(source.name[:2], []):
        pytest.importorskip(library)
    notebook = converted(source)
    (checker,) = tagged(notebook, "checker")
    n_cells = len(notebook.cells)
    for answer in (*folded(notebook, "Solution"), *folded(notebook, "A tempting answer that fails")):
        notebook.cells.append(new_code_cell(answer))
        notebook.cells.append(new_code_cell(checker.source, metadata={"tags": ["raises-exception"]}))
    done = executed(notebook)
    lesson, answers = done.cells[:n_cells], done.cells[n_cells:]
    assert any(shows_picture(cell) for cell in lesson[:5]), "no picture before the sixth cell"
    assert "Your turn" in printed(tagged(done, "checker")[0])
    solved, *failed = answers[1::2]
    assert "Right" in printed(solved), printed(solved)
    assert [error(cell) for cell in failed] == ["AssertionError"] * len(failed)
    assert not [cell for cell in lesson if printed(cell, "stderr")], "there are warnings"


def shows_picture(cell: NotebookNode) -> bool:
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))


def printed(cell: NotebookNode, stream: str = "stdout") -> str:
    return "".join(output.text for output in cell.get("outputs", []) if output.get("name") == stream)


def error(cell: NotebookNode) -> str:
    return "".join(output.ename for output in cell.outputs if output.output_type == "error")


def test_a_claim_that_does_not_hold_fails() -> None:
    with pytest.raises(CellExecutionError, match="not so"):
        executed(new_notebook(cells=[new_code_cell('assert 1 > 2, "not so"')]))


def test_fast_mode_is_an_environment_variable() -> None:
    asks = new_notebook(cells=[new_code_cell('import os; print("FITGYM_FAST" in os.environ)')])
    assert printed(executed(copy.deepcopy(asks)).cells[0]) == "True\n"
    assert printed(executed(asks, fast=False).cells[0]) == "False\n"


def test_a_conversion_repeats_itself_and_can_be_read_back() -> None:
    assert text(converted(SOURCES[0])) == text(converted(SOURCES[0]))
    nbformat.validate(nbformat.reads(text(converted(SOURCES[0])), as_version=4))


def test_an_executed_notebook_becomes_a_page_with_what_it_shows(tmp_path: Path) -> None:
    notebook = new_notebook(cells=[new_markdown_cell("# Why?"), new_code_cell("print(6 * 7)")])
    write_page(executed(notebook), tmp_path / "pages" / "00.html")
    page = (tmp_path / "pages" / "00.html").read_text("utf-8")
    assert "Why?" in page and "<pre>42" in page


# One violation of each rule, planted


def lesson() -> NotebookNode:
    """A notebook in which everything is as it should be."""
    setup = 'FAST = "FITGYM_FAST" in os.environ\nprint(version("fitgym"))'
    solution, tempting = (
        f"<details>\n<summary>{summary}</summary>\n\n```python\nanswer = {value}\n```\n\nWhy.\n\n</details>\n"
        for summary, value in (("Solution", 2), ("A tempting answer that fails", 1))
    )
    return new_notebook(
        cells=[
            new_markdown_cell("# 00 Why?\n\nBecause."),
            new_markdown_cell("**Predict first.** What comes out?"),
            new_code_cell(setup, metadata={"tags": ["setup"]}),
            new_code_cell("assert 1 < 2"),
            new_code_cell("answer = ...  # a number", metadata={"tags": ["exercise"]}),
            new_code_cell("def check(answer): ...\n\n\ncheck(answer)", metadata={"tags": ["checker"]}),
            new_markdown_cell(solution + tempting, metadata={"tags": ["solution"]}),
            new_markdown_cell("## What could fool you here\n\n* Nothing."),
        ]
    )


def test_a_lesson_in_proper_form_passes() -> None:
    assert list(violations(lesson())) == []


@pytest.mark.parametrize(
    ("cell", "source", "expected"),
    [
        (0, "# 00 A statement", "the title is no numbered question"),
        (0, "# What?", "the title is no numbered question"),
        (1, "Now predict.", "no prediction is asked for before the first run"),
        (2, "FAST = False", "the setup does not print versions or knows no fast mode"),
        (3, "1 < 2", "no claim is asserted"),
        (3, "assert 1\n" * 26, "cell 4 is longer than 25 lines or wider than 100 characters"),
        (3, "assert 1  # " + 100 * "x", "cell 4 is longer than 25 lines or wider than 100 characters"),
        (4, "answer = 2", "the exercise does not begin with an answer to be filled in"),
        (5, "def check(answer): ...", "the checker does not end with check(answer)"),
        (6, "The answer is 2.", "there is no hidden solution, or no tempting answer that fails"),
        (7, "## The end\n", "it does not end with what could fool you here"),
    ],
)
def test_a_planted_violation_is_found(cell: int, source: str, expected: str) -> None:
    notebook = lesson()
    notebook.cells[cell].source = source
    assert list(violations(notebook)) == [expected]


def test_a_prediction_after_the_first_run_and_a_missing_tag_are_found() -> None:
    late, untagged = lesson(), lesson()
    late.cells.insert(4, late.cells.pop(1))
    assert list(violations(late)) == ["no prediction is asked for before the first run"]
    untagged.cells[6].metadata = {}
    assert [sentence.partition(" ")[0] for sentence in violations(untagged)] == ["the", "there"]
