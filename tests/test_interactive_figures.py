"""The interactive figures of the site: colours, no network access, and behaviour in a browser."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fitgym.rendering.palette import AGENTS, TONES

FIGURES = sorted((Path(__file__).parent.parent / "docs" / "static" / "figures").glob("*.html"))
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""


def text_of(name: str) -> str:
    (file,) = [file for file in FIGURES if file.stem == name]
    return file.read_text("utf-8")


@pytest.mark.parametrize("file", FIGURES, ids=lambda file: file.stem)
def test_a_figure_has_the_colours_of_the_palette_and_needs_no_network(file: Path) -> None:
    text = file.read_text("utf-8")
    known = {colour for tone in (*TONES.values(), *AGENTS.values()) for colour in (tone.light, tone.dark)}
    assert set(re.findall(r"#[0-9a-f]{6}\b", text)) <= known
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)|src=|@import|url\(|<link", text) == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("no Chromium is installed: apt-get install chromium, or name one in CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 390, "height": 800}, offline=True, reduced_motion="reduce")
    opened = context.new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    yield opened
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    assert problems == []
    context.close()


@pytest.mark.parametrize(
    ("kind", "stops", "arrives"),
    [
        ("gradient", "It arrives after 65 steps.", 101),
        ("plateau", "It stops at 15, distance 60: both neighbours have the same distance.", 11),
        ("deceptive", "It stops at 20, distance 12: both neighbours are farther.", 31),
    ],
)
def test_the_climber_arrives_where_the_distance_has_a_slope(page: Any, kind: str, stops: str, arrives: int) -> None:
    page.set_content(f"<meta name=viewport content='width=device-width'><body>{text_of('climb')}")
    page.get_by_role("button", name=kind).click()
    page.get_by_role("button", name="Climb").click()
    assert page.locator(".told").inner_text() == stops
    page.get_by_role("button", name="From which").click()
    assert page.locator(".told").inner_text().startswith(f"It arrives from {arrives} of 101 starts")


def test_the_start_moves_by_keyboard_and_by_dragging(page: Any) -> None:
    page.set_content(f"<meta name=viewport content='width=device-width'><body>{text_of('climb')}")
    start = page.get_by_role("slider")
    start.focus()
    for key in ("ArrowRight", "PageUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert start.get_attribute("aria-valuenow") == "25"
    box = page.locator("svg").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 40 / 600, box["y"] + 30, steps=3)
    page.mouse.up()
    assert start.get_attribute("aria-valuenow") == "0"


def test_a_game_with_the_bandit_ends_after_thirty_pulls(page: Any) -> None:
    page.set_content(f"<meta name=viewport content='width=device-width'><body>{text_of('bandit')}")
    page.get_by_role("button", name="Arm A").click()
    assert "29 pulls are left" in page.locator(".told").inner_text()
    for number in range(29):
        page.keyboard.press("123"[number % 3])
    told = page.locator(".told").inner_text()
    assert re.match(r"You earned \d+, UCB \d+\. Always the best arm, [ABC], earns \d+ on average\.", told)
    assert [page.get_by_role("button", name=f"Arm {arm}").is_disabled() for arm in "ABC"] == [True] * 3
    shown = page.locator(".seen").all_inner_texts()
    assert sum(int(text.split()[2]) for text in shown) == 30
    pulls = [int(re.findall(r"pulled (\d+)", text)[0]) for text in page.locator(".truth").all_inner_texts()]
    assert sum(pulls) == 30
    page.get_by_role("button", name="New game").click()
    assert "Pull an arm" in page.locator(".told").inner_text()


def test_a_figure_follows_the_switch_of_the_page(page: Any) -> None:
    page.set_content(f"<meta name=viewport content='width=device-width'><body data-theme=dark>{text_of('climb')}")
    colour = "getComputedStyle(document.querySelector('.touch')).backgroundColor"
    assert page.evaluate(colour) == "rgb(13, 17, 23)"
    page.evaluate("document.body.dataset.theme = 'light'")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
