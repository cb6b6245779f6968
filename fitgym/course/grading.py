"""Grading: a student's notebook is run, and every exercise in it is passed, not yet right, or not tried.

The cells that check answers are restored from the lesson first, as nbgrader does, so that a changed check changes nothing.
The notebook is the student's code and runs with the rights of whoever grades it.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fitgym.course.feedback import RESULT
from fitgym.course.lesson import folder, lessons
from fitgym.course.material import NOTEBOOKS, hand_out
from fitgym.errors import InputError

__all__ = ["Grade", "Mark", "grade"]


@dataclass(frozen=True)
class Mark:
    """The result of one exercise.

    Args:
        name: of the exercise.
        state: "passed"; "not yet" for a wrong answer; "not tried"; "not run" if the notebook did not get that far.
        sentence: what is wrong, empty if nothing is.
        points: for this exercise.
    """

    name: str
    state: str
    sentence: str = ""
    points: int = 1


@dataclass(frozen=True)
class Grade:
    """The result of a notebook.

    Args:
        file: of the student.
        lesson: its name.
        marks: of its exercises, in the order of the lesson.
        problem: what stopped the notebook, empty if nothing did.
    """

    file: str
    lesson: str
    marks: tuple[Mark, ...]
    problem: str = ""

    @property
    def points(self) -> int:
        """The points of the exercises that are passed."""
        return sum(mark.points for mark in self.marks if mark.state == "passed")

    @property
    def possible(self) -> int:
        """The points of all exercises."""
        return sum(mark.points for mark in self.marks)


def grade(file: Path, *, limit: float = 300.0, given: Path | None = None) -> Grade:
    """Run a student's notebook in fast mode and mark its exercises.

    Args:
        file: the notebook; `lesson` in its metadata, or else its name, says which lesson it is.
        limit: seconds for the whole notebook.
        given: a folder with other lessons than those of fitgym.

    Raises:
        InputError: the file is no notebook of a lesson with exercises, or a library is missing.
    """
    try:
        import nbformat
        from nbclient import NotebookClient
    except ImportError as error:
        raise InputError(f"{error.name} is missing, which runs notebooks: pip install 'fitgym[notebooks]'") from error
    notebook = _read(file)
    lesson = _lesson(file, notebook, [lesson.name for lesson in lessons(given)])
    original = nbformat.read(folder(given) / f"{lesson}.ipynb", as_version=4)
    exercises = [
        (_form(cell)["grade_id"].removeprefix("grade_"), _form(cell).get("points", 1)) for cell in _graded(original)
    ]
    if not exercises:
        raise InputError(f"the lesson '{lesson}' of '{file}' has no exercises that can be checked")
    _restore(notebook, original)
    with tempfile.TemporaryDirectory(prefix="fitgym-course-") as temporary:
        hand_out(Path(temporary), [lesson], given=given)
        client = NotebookClient(
            notebook,
            timeout=None,
            kernel_name="python3",
            allow_errors=True,
            extra_arguments=[
                "--log-level=ERROR"
            ],  # warns of connections without encryption, which stay on this machine
            resources={"metadata": {"path": str(Path(temporary, NOTEBOOKS))}},
        )
        problem = asyncio.run(_run(client, limit))
    problem = problem or next(_errors(notebook), "")
    results = dict(_results(notebook))
    marks = [_mark(name, points, results.get(name)) for name, points in exercises]
    return Grade(str(file), lesson, tuple(marks), problem if any(mark.state == "not run" for mark in marks) else "")


async def _run(client: Any, limit: float) -> str:
    """Run a notebook; returns why it was ended, "" if it was not."""
    from nbclient.exceptions import DeadKernelError

    began = time.monotonic()
    try:
        await asyncio.wait_for(client.async_execute(env={**os.environ, "FITGYM_FAST": "1"}), limit)
    except (TimeoutError, DeadKernelError):  # a process that is stopped for its time is dead too
        return f"it took longer than {limit:g} s" if time.monotonic() - began >= limit else "its Python process ended"
    return ""


def _read(file: Path) -> Any:
    import nbformat

    try:
        return nbformat.read(file, as_version=4)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, nbformat.ValidationError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"'{file}' cannot be read as a notebook, expected a file such as 06_bandits.ipynb: {reason}"
        ) from error


def _lesson(file: Path, notebook: Any, names: list[str]) -> str:
    """The name of the lesson that a notebook is of."""
    named = str(notebook.metadata.get("fitgym", {}).get("lesson", ""))
    found = [name for name in names if name == named] or [name for name in names if name in file.stem]
    if not found:
        raise InputError(f"'{file}' is of no lesson: its name has none of {', '.join(names)} in it")
    return found[0]


def _form(cell: Any) -> dict[str, Any]:
    """The metadata of nbgrader."""
    return dict(cell.metadata.get("nbgrader", {}))


def _graded(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if _form(cell).get("grade")]


def _restore(notebook: Any, original: Any) -> None:
    """Put the locked cells of a lesson back; one that was deleted comes behind the cell that it follows in the lesson."""
    there = {_form(cell).get("grade_id"): cell for cell in notebook.cells}
    before = None
    for cell in original.cells:
        if not (name := _form(cell).get("grade_id")):
            continue
        own = there.get(name)
        if _form(cell)["locked"] and own is None:
            own = cell
            at = len(notebook.cells) if before is None else notebook.cells.index(before) + 1
            notebook.cells.insert(at, own)
        elif _form(cell)["locked"] and own is not None:
            own.source, own.cell_type = cell.source, cell.cell_type
            own.metadata["nbgrader"] = cell.metadata["nbgrader"]
        before = before if own is None else own
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def _results(notebook: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the cells with points showed, by the name of the exercise."""
    for cell in _graded(notebook):
        for output in cell.outputs:
            if (result := output.get("data", {}).get(RESULT)) is not None:
                yield _form(cell)["grade_id"].removeprefix("grade_"), result


def _errors(notebook: Any) -> Iterator[str]:
    """What cells raised, a sentence each."""
    for number, cell in enumerate(notebook.cells, 1):
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                yield f"cell {number} raised {output.ename}: {output.evalue}".partition("\n")[0]


def _mark(name: str, points: int, result: dict[str, Any] | None) -> Mark:
    if result is None:
        return Mark(name, "not run", points=points)
    state = {True: "passed", False: "not yet", None: "not tried"}[result["passed"]]
    return Mark(name, state, result["sentence"] if state == "not yet" else "", points)
