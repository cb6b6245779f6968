"""The notebooks as pages: each is a Python file in the percent format, from which its .ipynb is made, without outputs.

    python notebooks/pages.py                         write the .ipynb files anew from the .py files
    python notebooks/pages.py --html build/notebooks  and run all of them in fast mode, each as an HTML page
    python notebooks/pages.py --html build/notebooks --full 04 05

Fast mode is the environment variable FITGYM_FAST: fewer repetitions, the same lesson, the same claims.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jupytext
from nbclient import NotebookClient
from nbformat import NotebookNode, writes

__all__ = ["FOLDER", "converted", "executed", "sources", "text", "write_page"]

FOLDER = Path(__file__).parent
CELL_TIMEOUT_S = 300


def sources(names: Sequence[str] = ()) -> list[Path]:
    """The percent files, in the order of their numbers; only those that begin with one of `names`, if there are any."""
    return [
        file
        for file in sorted(FOLDER.glob("[0-9][0-9]_*.py"))
        if file.name.startswith(tuple(names) or "")
    ]


def converted(source: Path) -> NotebookNode:
    """The notebook that a percent file says: no outputs, and the cells numbered, so that equal sources give equal files."""
    notebook = jupytext.read(source, fmt="py:percent")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number:02}"
    return notebook


def text(notebook: NotebookNode) -> str:
    """The content of the .ipynb file."""
    return str(writes(notebook)) + "\n"


def executed(notebook: NotebookNode, *, fast: bool = True, **options: Any) -> NotebookNode:
    """Run all cells in a process of their own, in the folder of the notebooks, and keep what they show.

    Args:
        notebook: is changed.
        fast: in fast mode.
        options: for `NotebookClient`.

    Raises:
        CellExecutionError: a cell raised an exception, and is not tagged `raises-exception`.
    """
    env = {name: value for name, value in os.environ.items() if name != "FITGYM_FAST"}
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(FOLDER)}},
        **options,
    )
    client.execute(env={**env, "FITGYM_FAST": "1"} if fast else env)
    return notebook


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the .ipynb files, and pages if they are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names",
        nargs="*",
        help="how the names of the files begin, such as 04; all of them by default",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FOLDER", help="run them and write pages there"
    )
    parser.add_argument(
        "--full", action="store_true", help="run them as a reader does, not in fast mode"
    )
    options = parser.parse_args(arguments)
    for source in sources(options.names):
        notebook = converted(source)
        source.with_suffix(".ipynb").write_text(text(notebook), "utf-8")
        if options.html is not None:
            write_page(
                executed(notebook, fast=not options.full), options.html / f"{source.stem}.html"
            )
        sys.stderr.write(f"{source.name}\n")
    return 0


def write_page(notebook: NotebookNode, file: Path) -> None:
    """Write an executed notebook as one HTML file."""
    from nbconvert import HTMLExporter

    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HTMLExporter().from_notebook_node(notebook)[0], "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
