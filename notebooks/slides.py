#!/usr/bin/env python3
"""Make slides of lessons that need no network.

    python notebooks/slides.py             # all lessons, to build/slides
    python notebooks/slides.py 06 12       # some lessons
    python notebooks/slides.py 06 --code   # with the code

nbconvert arranges the cells: each section is a slide, and further text goes below it. reveal.js lies beside the pages,
copied from the package sphinx-revealjs, and formulas are MathML. Needs `pip install "fitgym[docs]"`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

import nbformat
import sphinx_revealjs
from jinja2 import DictLoader
from nbconvert.exporters import SlidesExporter

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "docs" / "extensions"))

from formulas import mathml

UNPREDICTED = "You made no prediction"
"""What a lesson says to readers, not to an audience."""

TEMPLATE = """
{%- extends 'reveal/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block footer_js -%}
<script src="reveal.js/dist/reveal.js"></script>
<script src="reveal.js/plugin/notes/notes.js"></script>
<style>
:root {
  --r-heading-text-transform: none; --r-heading1-size: 1.7em; --r-heading2-size: 1.5em; --r-main-font-size: 28px;
  --jp-content-font-size1: 25px; --jp-code-font-size: 21px;
}
.reveal section section { max-height: 95vh; overflow-y: auto; }
</style>
<script>Reveal.initialize({ history: true, width: 1100, height: 760, center: false, plugins: [RevealNotes] });</script>
{%- endblock -%}
"""
"""The page of nbconvert, which loads its scripts from three servers, with the scripts that lie beside it instead."""


def with_formulas(text: str) -> str:
    """Return Markdown with its formulas as MathML; code is left alone."""
    parts = re.split(r"(```.*?```|`[^`\n]*`)", text, flags=re.DOTALL)
    for at, part in enumerate(parts[::2]):
        part = re.sub(
            r"\$\$(.+?)\$\$", lambda found: mathml(found[1], block=True), part, flags=re.DOTALL
        )
        parts[2 * at] = re.sub(r"\$([^$\n]+)\$", lambda found: mathml(found[1]), part)
    return "".join(parts)


def page(notebook: Path, *, code: bool = False) -> str:
    """Return the slides of a notebook as HTML that expects `reveal.js` beside it.

    Args:
        notebook: with results.
        code: show the code too.
    """
    cells = nbformat.read(notebook, as_version=4)
    for cell in cells.cells:
        if cell.cell_type == "markdown":
            cell.source = with_formulas(cell.source)
        else:
            cell.outputs = [one for one in cell.outputs if UNPREDICTED not in str(one)]
    exporter = SlidesExporter(
        extra_loaders=[DictLoader({"slides.html.j2": TEMPLATE})],
        template_file="slides.html.j2",
        reveal_url_prefix="reveal.js",
        reveal_theme="white",  # its fonts lie beside it
        exclude_input=not code,
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    cells.metadata["title"] = notebook.stem
    text, _ = exporter.from_notebook_node(cells)
    return text


def write(notebooks: list[Path], folder: Path, *, code: bool = False) -> None:
    """Write the slides of notebooks, and reveal.js beside them."""
    shown = Path(sphinx_revealjs.__file__).parent / "_static" / "revealjs"
    for part in ("dist", "plugin"):
        shutil.copytree(shown / part, folder / "reveal.js" / part, dirs_exist_ok=True)
    for notebook in notebooks:
        (folder / f"{notebook.stem}.html").write_text(page(notebook, code=code), "utf-8")


def main() -> int:
    """Return 0, or 2 if there is no such lesson."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lessons", nargs="*", metavar="NN", help="numbers of lessons; default: all")
    parser.add_argument(
        "--output", type=Path, default=HERE.parent / "build" / "slides", metavar="DIR"
    )
    parser.add_argument("--code", action="store_true", help="show the code too")
    options = parser.parse_args()
    every = {path.name[:2]: path for path in sorted(HERE.glob("[0-9][0-9]_*.ipynb"))}
    if unknown := [number for number in options.lessons if number not in every]:
        parser.error(
            f"there is no lesson {unknown[0]}; the lessons are {min(every)} to {max(every)}"
        )
    write([every[number] for number in options.lessons or every], options.output, code=options.code)
    print(f"slides: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
