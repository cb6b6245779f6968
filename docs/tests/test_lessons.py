"""Lesson pages: figures for light and dark, formulas in MathML, collapsed cells."""

from __future__ import annotations

import base64
import re
from io import BytesIO
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="the documentation needs Sphinx: pip install 'fitgym[docs]'")
pytest.importorskip("jupytext", reason="the documentation runs the lessons: pip install 'fitgym[notebooks]'")

import lessons
from figures import described, for_dark, for_light
from formulas import in_html, mathml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.errors import ExtensionError

from fitgym.course.lesson import Lesson
from notebooks.pages import missing, sources

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
SVG = '<?xml version="1.0"?>\n<svg width="9"><metadata><date>2026</date></metadata>{}</svg>'

built = pytest.mark.skipif(
    not (SITE / "notebooks" / "index.html").is_file(), reason="`make docs` builds the site first"
)
each = pytest.mark.parametrize("name", [source.stem for source in sources() if not missing(source)])
"""Each lesson that this machine has the libraries for; the others are shown without outputs."""


def page(name: str) -> str:
    """The content of a page of the site."""
    text = (SITE / "notebooks" / f"{name}.html").read_text("utf-8")
    return text[text.index("<article") : text.index("</article>")]


# The site


@built
@each
def test_a_lesson_shows_its_figures_twice_and_says_what_they_show(name: str) -> None:
    images = re.findall(r"<img[^>]*>", page(name))
    light = [image for image in images if "only-light" in image]
    assert len(light) >= 2 and len(images) == 2 * len(light)
    for image in light:
        assert len(re.findall(r'alt="([^"]*)"', image)[0]) > 10
        file = SITE / "notebooks" / re.findall(r'src="([^"]*)"', image)[0]
        assert file.is_file() and file.with_name(file.name.replace("_light", "_dark")).is_file()
        assert file.stat().st_size < 400_000, f"{file.name} is large: plot with rasterized=True"


@built
@each
def test_a_lesson_shows_no_raw_formula(name: str) -> None:
    text = re.sub(r"<(pre|code|math|svg)\b.*?</\1>", "", page(name), flags=re.DOTALL)
    assert re.findall(r"\$[^$]+\$|\\[a-zA-Z]+", re.sub(r"<[^>]+>", "", text)) == []


@built
@each
def test_a_lesson_says_time_needs_and_goals_and_can_be_downloaded(name: str) -> None:
    text = page(name)
    assert all(f"<p>{label}</p>" in text for label in ("Time", "You need", "You will be able to", "Do it yourself"))
    assert list((SITE / "_downloads").glob(f"*/{name}.ipynb"))


@built
@each
def test_a_lesson_has_exercises_and_a_quiz_that_folds_its_answers(name: str) -> None:
    text = page(name)
    assert text.count("not tried yet") >= 3
    assert text.count("<summary>Answer</summary>") >= 3


@built
def test_every_lesson_has_a_card_with_a_picture() -> None:
    index = page("index")
    for source in (source for source in sources() if not missing(source)):
        assert f'href="{source.stem}.html"' in index
        assert re.search(rf'src="[^"]*/{source.stem}_\d+_light\.svg"', index)


# Figures


def test_a_figure_has_no_date_and_draws_black_where_nothing_is_said() -> None:
    light = for_light(SVG.format(""))
    assert light == '<svg fill="#000000" width="9"></svg>'


@pytest.mark.parametrize(
    ("light", "dark"),
    [("#ffffff", "#131416"), ("#000000", "#e6e6e6"), ("#0072b2", "#53b1e6")],
)
def test_on_dark_pages_a_colour_mirrors_its_lightness_and_keeps_its_hue(light: str, dark: str) -> None:
    assert for_dark(f'<svg fill="{light}">') == f'<svg fill="{dark}">'


def test_pictures_in_a_figure_are_mirrored_and_keep_their_transparency() -> None:
    from PIL import Image

    made = BytesIO()
    Image.new("RGBA", (2, 1), (255, 255, 255, 77)).save(made, "png")
    dark = for_dark(f'<image href="data:image/png;base64,{base64.b64encode(made.getvalue()).decode()}"/>')
    found = Image.open(BytesIO(base64.b64decode(re.findall(r'base64,([^"]*)', dark)[0])))
    assert found.getpixel((0, 0)) == (0x13, 0x14, 0x16, 77)


def test_a_figure_is_described_by_its_words_the_longest_first() -> None:
    svg = "<!-- tries --><!-- 0.5 --><!-- UCB &lt; chance: it\n loses --><!-- tries -->"
    assert described(svg) == "UCB < chance: it loses; tries"


# Formulas


def test_a_formula_becomes_mathml() -> None:
    assert "<msub>" in mathml("A_t") and 'display="block"' in mathml("A_t", block=True)
    assert "<mspace" in mathml(r"\ln t") and "<mspace" not in mathml(r"\ln(t)")
    assert "…" in mathml(r"1, \dots")


def test_a_formula_that_cannot_be_set_is_named() -> None:
    with pytest.raises(ExtensionError, match=r"the formula '\\nonsense' cannot be converted"):
        mathml(r"\nonsense")


def test_formulas_in_html_are_set_too() -> None:
    assert in_html("costs $x^2$ or 3 $") == f"costs {mathml('x^2')} or 3 $"


# Pages


def shown(*cells: object) -> str:
    """The page of a lesson with a head and these cells."""
    head = new_markdown_cell("# 06 Which?\n\nAbout it.\n\n**Time:** 5 minutes. **You need:** `x`.")
    notebook = new_notebook(cells=[head, *cells])
    return lessons._Page(Path("06_small.py"), Lesson.parse("06_small", head.source), notebook).text()


def printing(text: str, *tags: str) -> object:
    output = new_output("stream", text=text)
    return new_code_cell("print(x)", outputs=[output], metadata={"tags": [*tags]})


def test_the_head_becomes_a_title_and_a_table() -> None:
    text = shown()
    assert text.startswith("# 06 Which?\n\nAbout it.\n\n```{list-table}")
    assert "* - Time\n  - 5 minutes\n" in text and "{download}`06_small.ipynb`" in text
    assert "You will be able to" not in text


def test_code_is_followed_by_what_it_prints_without_colours() -> None:
    text = shown(printing("\x1b[31mred\x1b[0m\n"))
    assert "python\n:class: lesson-code\n\nprint(x)\n```\n\n````{code-block} text" in text and "\n\nred\n````" in text


def test_hidden_cells_are_left_out_and_set_up_folds_with_its_output() -> None:
    text = shown(printing("mine", "hidden"), printing("fitgym 0.1", "setup"))
    assert "mine" not in text
    assert text.index("<summary>Setup") < text.index("fitgym 0.1") < text.index("</details>")


def test_the_source_of_a_quiz_is_not_shown() -> None:
    output = new_output("execute_result", data={"text/html": "<ol>$x^2$</ol>", "text/plain": "quiz"})
    text = shown(new_code_cell("quiz(Question(right=1))", outputs=[output]))
    assert "right" not in text and "<ol><math" in text


def test_links_between_lessons_lead_to_pages() -> None:
    assert "[05](05_searches.md)" in shown(new_markdown_cell("[05](05_searches.ipynb)"))


def test_a_figure_is_shown_for_light_and_dark_pages() -> None:
    output = new_output("display_data", data={"image/svg+xml": SVG.format("<!-- A finding -->"), "image/png": ""})
    text = shown(new_code_cell("plt.show()", outputs=[output]))
    for mode in ("light", "dark"):
        assert f"```{{image}} 06_small_1_{mode}.svg\n:class: only-{mode} lesson-figure\n:alt: A finding\n" in text
