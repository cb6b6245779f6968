"""Builds the pages of the lessons: runs each lesson and includes its figures for light and dark pages.

Results are cached in `build/lessons` until the lesson or a file of fitgym changes. MyST-NB also runs notebooks, but it
makes only one picture per figure, does not read lesson headers, and depends on SQLAlchemy.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat
from figures import described, for_dark, for_light
from formulas import in_html
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from sphinx.errors import ExtensionError
from sphinx.util import logging

from fitgym.course.lesson import PARTS, Lesson
from notebooks.pages import converted, is_folded, is_graded, missing, run_all, sources, tags, text

__all__ = ["lesson_pages"]

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "lessons"

INDEX = """# Lessons

A course in search-based test generation and reinforcement learning. Each lesson asks for a prediction, runs an experiment,
and ends with exercises that check your answers. Every figure was made when this site was built.

You need Python 3.11 or newer and no GPU. From a clone of the repository:

```sh
pip install -e '.[notebooks]'
fitgym course start course
jupyter lab course/notebooks
```

Teachers find a syllabus, slides and an autograder in [Teaching with the lessons](../guides/teaching.md).
"""

FOLDED = {"setup": "Setup: imports and style", "check": "How the answer is checked"}
"""Titles of collapsed cells, by cell tag. Calls of `quiz` and `exercise` are not shown at all."""

logger = logging.getLogger(__name__)


def lesson_pages() -> dict[str, str]:
    """Return the page, figures and notebook of each lesson and an index page, by file path.

    Raises:
        ExtensionError: a cell of a lesson raised an exception.
    """
    pages: dict[str, str] = {}
    shown: dict[Lesson, str] = {}
    for source, notebook in _outputs().items():
        lesson = Lesson.parse(source.stem, notebook.cells[0].source)
        made = _Page(source, lesson, notebook)
        pages[f"notebooks/{source.stem}.md"] = made.text()
        pages |= {f"notebooks/{name}": svg for name, svg in made.figures.items()}
        pages[f"notebooks/{source.stem}.ipynb"] = text(converted(source))
        shown[lesson] = made.cover
    return pages | {"notebooks/index.md": _index(shown)}


def _index(lessons: Mapping[Lesson, str]) -> str:
    """Return the parts of the course with a card for each lesson.

    Args:
        lessons: with the name of a figure of each, empty if it has none.
    """
    parts = []
    for title, numbers in PARTS.items():
        cards = [_card(lesson, figure) for lesson, figure in lessons.items() if lesson.number in numbers]
        if cards:
            parts.append(f"## {title}\n\n`````{{container}} lesson-cards\n{''.join(cards)}`````\n")
    names = "\n".join(lesson.name for lesson in lessons)
    return "\n".join([INDEX, *parts, f"```{{toctree}}\n:hidden:\n\n{names}\n/guides/teaching\n```\n"])


def _card(lesson: Lesson, figure: str) -> str:
    pictures = "".join(
        _picture(figure, mode, "", f":target: {lesson.name}.html\n") for mode in ("light", "dark") if figure
    )
    link = f"[{lesson.number:02} {lesson.title}]({lesson.name}.md)"
    return f"````{{container}} lesson-card\n{pictures}\n{link}\n\n{lesson.time}\n````\n"


def _picture(figure: str, mode: str, alt: str, more: str = "") -> str:
    return (
        f"```{{image}} {figure}_{mode}.svg\n:class: only-{mode} lesson-figure\n:alt: {alt}\n:loading: lazy\n{more}```\n"
    )


class _Page:
    """Builds the page of one lesson.

    Args:
        source: its file.
        lesson: its header.
        notebook: with outputs.

    Attributes:
        figures: the text of each figure by file name.
        cover: the name of the figure for the card of the lesson: of the cell tagged `cover`, otherwise the first one.
    """

    def __init__(self, source: Path, lesson: Lesson, notebook: NotebookNode) -> None:
        self.source, self.lesson, self.notebook = source, lesson, notebook
        self.figures: dict[str, str] = {}
        self.cover = ""

    def text(self) -> str:
        """Return the page in Markdown, and collect its figures."""
        return "\n\n".join([*self._head(), *(block for cell in self.notebook.cells[1:] for block in self._cell(cell))])

    def _head(self) -> Iterator[str]:
        lesson = self.lesson
        yield f"# {lesson.number:02} {lesson.title}"
        yield lesson.about
        said = {"Time": lesson.time, "You need": lesson.need, "You will be able to": lesson.goals}
        rows = {label: value for label, value in said.items() if value}
        rows["Do it yourself"] = f"{{download}}`{lesson.name}.ipynb`, or [all lessons with their data](index.md)"
        lines = "\n".join(f"* - {label}\n  - {' '.join(value.split())}" for label, value in rows.items())
        yield f"```{{list-table}}\n:class: facts lesson-facts\n\n{lines}\n```"
        if lacking := missing(self.source):
            yield f"```{{note}}\nThis lesson was not run when the site was built: {' and '.join(lacking)} was missing.\n```"

    def _cell(self, cell: NotebookNode) -> Iterator[str]:
        tagged = tags(cell)
        if "hidden" in tagged:
            return
        if cell.cell_type != "code":
            yield re.sub(r"\]\((\d\d_\w+)\.(?:ipynb|py)\)", r"](\1.md)", cell.source)
            return
        kind = "lesson-code lesson-exercise" if "exercise" in tagged else "lesson-code"
        code = f"```{{code-block}} python\n:class: {kind}\n\n{cell.source}\n```"
        folded = [title for tag, title in FOLDED.items() if tag in tagged]
        shown = [block for output in cell.get("outputs", []) for block in self._output(output, "cover" in tagged)]
        if folded:
            yield f'```{{raw}} html\n<details class="lesson-fold"><summary>{folded[0]}</summary>\n```'
            yield code
            yield from shown if "setup" in tagged else ()
            yield "```{raw} html\n</details>\n```"
            yield from () if "setup" in tagged else shown
        else:
            yield from () if is_folded(cell) or is_graded(cell) else (code,)
            yield from shown

    def _output(self, output: NotebookNode, cover: bool) -> Iterator[str]:
        data = output.get("data", {})
        if output.get("name") == "stderr":
            logger.warning("%s wrote to stderr: %s", self.source.name, output.text.strip())
        elif output.output_type == "stream":
            yield _said(output.text)
        elif "image/svg+xml" in data:
            yield self._figure(data["image/svg+xml"], cover)
        elif "text/html" in data:
            yield f'````{{raw}} html\n<div class="lesson-html">{in_html(data["text/html"])}</div>\n````'
        elif "text/plain" in data:
            yield _said(data["text/plain"])

    def _figure(self, svg: str, cover: bool) -> str:
        name = f"{self.lesson.name}_{len(self.figures) // 2 + 1}"
        light = for_light(svg)
        self.figures |= {f"{name}_light.svg": light, f"{name}_dark.svg": for_dark(light)}
        self.cover = name if cover else self.cover or name
        alt = described(svg).replace("\n", " ")
        return "\n".join(_picture(name, mode, alt) for mode in ("light", "dark"))


def _said(printed: str) -> str:
    clean = re.sub(r"\x1b\[[0-9;]*m", "", printed).rstrip()
    return f"````{{code-block}} text\n:class: lesson-output\n\n{clean}\n````"


# ---------------------------------------------------------------------- running


def _outputs() -> dict[Path, NotebookNode]:
    """Return each lesson with its outputs; unchanged lessons are not run again."""
    code = _digest(file.read_bytes() for file in _code())
    kept = {
        source: KEPT / f"{_digest([code.encode(), source.read_bytes(), *_solutions(source)])}.ipynb"
        for source in sources()
    }
    KEPT.mkdir(parents=True, exist_ok=True)
    for stale in set(KEPT.iterdir()) - set(kept.values()):
        stale.unlink()
    try:
        for source, notebook, seconds in run_all([source for source, file in kept.items() if not file.exists()]):
            logger.info("%s was run in %.0f s", source.name, seconds)
            if not missing(source):
                kept[source].write_text(nbformat.writes(notebook), "utf-8")
    except CellExecutionError as error:
        raise ExtensionError(f"a lesson failed: {error}") from error
    return {
        source: nbformat.read(file, as_version=4) if file.exists() else converted(source)
        for source, file in kept.items()
    }


def _code() -> list[Path]:
    """Return the files that the result of a lesson depends on, besides the lesson itself."""
    found = [file for folder in ("fitgym", "envs", "agents", "notebooks/own") for file in (ROOT / folder).rglob("*.py")]
    return sorted([*found, ROOT / "notebooks" / "lesson.mplstyle", ROOT / "notebooks" / "pages.py"])


def _solutions(source: Path) -> list[bytes]:
    file = source.parent / "solutions" / source.name
    return [file.read_bytes()] if file.exists() else []


def _digest(parts: Iterator[bytes] | list[bytes]) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part + b"\0")
    return found.hexdigest()[:20]
