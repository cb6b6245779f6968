"""Slides of the lessons: complete, and without a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from slides import page, with_formulas, write

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LESSONS = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_slides_load_nothing_from_a_network(lesson: Path) -> None:
    text = page(lesson)
    loaded = re.findall(r"""(?:src|href)="([^"]+)"|@import\s+url\(([^)]+)\)|from '([^']+)'""", text)
    places = [place for found in loaded for place in found if place]
    pictures = [place for place in places if not place.startswith(("data:", "#", "../"))]
    scripts = [place for place in pictures if place.endswith((".js", ".css"))]
    assert {place.partition("/")[0] for place in scripts} == {"reveal.js"}
    assert not re.search(r"<(?:script|img|link)[^>]+https?://", text)


def test_slides_show_sections_formulas_and_figures_but_no_code() -> None:
    lesson = NOTEBOOKS / "06_bandits.ipynb"
    text = page(lesson)
    assert text.count("<section") > 10
    assert "<math" in text and "image/" in text
    assert "def " not in re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    assert "You made no prediction" not in text
    assert len(page(lesson, code=True)) > len(text)


def test_formulas_in_code_are_left_alone() -> None:
    assert with_formulas("`$x$` and $x$").startswith("`$x$` and <math")
    assert with_formulas("```\n$x$\n```") == "```\n$x$\n```"
    assert with_formulas("it costs 3 $") == "it costs 3 $"


def test_a_browser_shows_the_slides_without_a_request_or_an_error(browser: Any, tmp_path: Path) -> None:
    write(LESSONS[5:6], tmp_path)
    opened = browser.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: asked.append(str(error)))
    opened.goto((tmp_path / f"{LESSONS[5].stem}.html").as_uri())
    opened.wait_for_function("window.Reveal && Reveal.isReady()")
    assert opened.evaluate("Reveal.getTotalSlides()") > 10
    assert [one for one in asked if not one.startswith(("file:", "data:"))] == []
    opened.close()
