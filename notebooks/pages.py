"""The lessons as notebooks: each is a Python file in the percent format, from which its .ipynb is made with its outputs.

    python notebooks/pages.py            run all lessons in fast mode, two at a time, and write their .ipynb files
    python notebooks/pages.py 06 09      only these
    python notebooks/pages.py --bare 06  write the .ipynb without running it, for a first look in Jupyter
    python notebooks/pages.py --full     run them as a reader does, not in fast mode

Fast mode is the environment variable FITGYM_FAST: fewer repetitions, the same lesson, the same claims.

A run also gives every exercise its solution and its tempting wrong answers, from `solutions/`; it fails if a check refuses
the first or accepts one of the others.
"""

from __future__ import annotations

import argparse
import base64
import copy
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient
from nbformat import NotebookNode, writes
from nbformat.v4 import new_code_cell
from PIL import Image

from fitgym.course.lesson import numbered

__all__ = [
    "FOLDER",
    "NEEDS",
    "committed",
    "converted",
    "executed",
    "is_folded",
    "is_graded",
    "missing",
    "run_all",
    "sources",
    "tags",
    "text",
    "verified",
]

FOLDER = Path(__file__).parent
CELL_TIMEOUT_S = 300
AT_A_TIME = 2

NEEDS = {"11": ("stable_baselines3", "torch"), "18": ("ray",)}
"""What a lesson needs beyond the extra `notebooks`, by its number."""

FORMATS = '%config InlineBackend.figure_formats = ["svg", "png"]'
"""A cell before the first one: the site shows figures as SVG, the .ipynb files as PNG."""

VERIFY = """
for _name, _answer in SOLUTIONS.items():
    _reply = exercise(_name, _answer, globals()[f"check_{_name}"])
    assert _reply.passed, f"the check refuses the solution of '{_name}': {_reply.sentence}"
for _name, _answers in TEMPTING.items():
    for _answer in _answers:
        _reply = exercise(_name, _answer, globals()[f"check_{_name}"])
        assert _reply.passed is False, f"the check of '{_name}' accepts the tempting answer {_answer!r}"
"""
"""A cell after the last one, and after the file with the solutions."""

HIDDEN_IN_SLIDES = {"setup", "check", "hidden", "solution"}
FULL_SLIDE = 300
"""Characters of text beside which a slide has no room for a figure."""


def sources(names: Sequence[str] = ()) -> list[Path]:
    """The percent files, in the order of their numbers; only those that begin with one of `names`, if there are any."""
    return [file for file in numbered(FOLDER) if file.name.startswith(tuple(names) or "")]


def converted(source: Path) -> NotebookNode:
    """The notebook of a percent file, without outputs; equal sources give equal notebooks.

    Cells carry metadata for slides, and those of exercises the metadata of nbgrader.
    """
    notebook = jupytext.read(source, fmt="py:percent")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "fitgym": {"lesson": source.stem},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
        cell.metadata.pop("lines_to_next_cell", None)
        if graded := _graded(cell):
            cell.metadata["nbgrader"] = graded
        if is_folded(cell):
            cell.metadata["jupyter"] = {"source_hidden": True}
    for cell, kind in zip(notebook.cells, _slides(notebook.cells), strict=True):
        cell.metadata["slideshow"] = {"slide_type": kind}
    return notebook


def tags(cell: NotebookNode) -> set[str]:
    """The tags of a cell."""
    return set(cell.metadata.get("tags", ()))


def is_folded(cell: NotebookNode) -> bool:
    """Whether the source of a cell is shown on request only; that of a quiz gives its answers away."""
    return bool(tags(cell) & {"setup", "check"}) or bool(
        re.search(r"^quiz\(", cell.source, re.MULTILINE)
    )


def is_graded(cell: NotebookNode) -> bool:
    """Whether a cell gives points for an answer."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade"))


def _slides(cells: Iterable[NotebookNode]) -> Iterator[str]:
    """Where each cell stands in slides: a heading begins a slide, and text or a figure goes below it when that is full."""
    written = 0
    for number, cell in enumerate(cells):
        kind = "-"
        if tags(cell) & HIDDEN_IN_SLIDES:
            kind = "skip"
        elif number == 0 or (
            cell.cell_type == "markdown" and re.search(r"^## ", cell.source, re.MULTILINE)
        ):
            kind, written = "slide", 0
        elif cell.cell_type == "markdown" or ("plt.show()" in cell.source and written > FULL_SLIDE):
            kind, written = "subslide", 0
        written += len(cell.source) if cell.cell_type == "markdown" else 0
        yield kind


def _graded(cell: NotebookNode) -> dict[str, Any]:
    """The metadata of nbgrader: the answer is the student's, the check is locked, the call of `exercise` gives a point."""
    if cell.cell_type != "code":
        return {}
    name, locked, grade = "", True, False
    if "exercise" in tags(cell) and (
        found := re.search(r"^(?:def )?(\w+)(?= = |\()", cell.source, re.MULTILINE)
    ):
        name, locked = found[1], False
    elif "check" in tags(cell) and (
        found := re.search(r"^def (check_\w+)\(", cell.source, re.MULTILINE)
    ):
        name = found[1]
    elif found := re.search(r"^exercise\(\s*[\"'](\w+)[\"']", cell.source, re.MULTILINE):
        name, grade = f"grade_{found[1]}", True
    if not name:
        return {}
    form = {
        "schema_version": 3,
        "grade_id": name,
        "grade": grade,
        "solution": not locked,
        "locked": locked,
        "task": False,
    }
    return {**form, "points": 1} if grade else form


def text(notebook: NotebookNode) -> str:
    """The content of the .ipynb file; figures are kept as PNG with 128 colours, which takes half of the space."""
    kept = copy.deepcopy(notebook)
    for cell in kept.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data.pop("image/svg+xml", None)
                output.data["image/png"] = _smaller(output.data["image/png"])
    return str(writes(kept)) + "\n"


def _smaller(png: str) -> str:
    """A picture, as text in base 64, with few colours."""
    picture = (
        Image.open(BytesIO(base64.b64decode(png)))
        .convert("RGB")
        .quantize(128, dither=Image.Dither.NONE)
    )
    made = BytesIO()
    picture.save(made, "png", optimize=True)
    return base64.b64encode(made.getvalue()).decode()


def committed(source: Path) -> dict[str, list[tuple[str, str]]]:
    """Kind and source of each cell in the .ipynb file beside a percent file and in what the percent file gives now."""
    import nbformat

    beside = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    both = {"file": beside, "source": converted(source)}
    return {
        name: [(cell.cell_type, cell.source) for cell in notebook.cells]
        for name, notebook in both.items()
    }


def missing(source: Path) -> list[str]:
    """The libraries that a lesson needs and this machine does not have."""
    return [name for name in NEEDS.get(source.name[:2], ()) if find_spec(name) is None]


def executed(notebook: NotebookNode, *, fast: bool = True, **options: Any) -> NotebookNode:
    """Run all cells in a process of their own, in the folder of the notebooks, and keep their outputs.

    Args:
        notebook: is changed.
        fast: in fast mode.
        options: for `NotebookClient`.

    Raises:
        CellExecutionError: a cell raised an exception, and is not tagged `raises-exception`.
    """
    env = {name: value for name, value in os.environ.items() if name != "FITGYM_FAST"}
    env |= {"OMP_NUM_THREADS": "1"} | ({"FITGYM_FAST": "1"} if fast else {})
    notebook.cells.insert(0, new_code_cell(FORMATS))
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        startup_timeout=CELL_TIMEOUT_S,  # on a busy machine a kernel takes a while to start and to send its last output
        iopub_timeout=60,
        kernel_name="python3",
        coalesce_streams=True,
        record_timing=False,
        extra_arguments=[
            "--log-level=ERROR"
        ],  # warns of connections without encryption, which stay on this machine
        resources={"metadata": {"path": str(FOLDER)}},
        **options,
    )
    client.execute(env=env)
    del notebook.cells[0]
    for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook


def verified(source: Path, *, fast: bool = True) -> NotebookNode:
    """Run a lesson and check its solutions and tempting answers.

    Returns:
        The lesson with its outputs; without them if this machine does not have what it needs.

    Raises:
        CellExecutionError: a cell raised an exception, or a check is wrong about an answer.
    """
    notebook = converted(source)
    if missing(source):
        return notebook
    solutions = FOLDER / "solutions" / source.name
    after = [solutions.read_text("utf-8"), VERIFY] if solutions.exists() else []
    notebook.cells += [new_code_cell(code) for code in after]
    executed(notebook, fast=fast)
    if after:
        del notebook.cells[-len(after) :]
    return notebook


def run_all(
    files: Iterable[Path], *, fast: bool = True
) -> Iterator[tuple[Path, NotebookNode, float]]:
    """Run lessons, two at a time; each with its outputs and the seconds that it took, in the order of the files."""

    def run(source: Path) -> tuple[Path, NotebookNode, float]:
        began = time.monotonic()
        return source, verified(source, fast=fast), time.monotonic() - began

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        yield from pool.map(run, files)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the .ipynb files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names",
        nargs="*",
        help="how the names of the files begin, such as 06; all of them by default",
    )
    parser.add_argument("--bare", action="store_true", help="do not run them: no outputs")
    parser.add_argument(
        "--full", action="store_true", help="run them as a reader does, not in fast mode"
    )
    options = parser.parse_args(arguments)
    files = sources(options.names)
    if options.bare:
        made: Iterable[tuple[Path, NotebookNode, float]] = (
            (file, converted(file), 0.0) for file in files
        )
    else:
        made = run_all(files, fast=not options.full)
    for source, notebook, seconds in made:
        source.with_suffix(".ipynb").write_text(text(notebook), "utf-8")
        sys.stderr.write(f"{source.name}  {seconds:.0f} s\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
