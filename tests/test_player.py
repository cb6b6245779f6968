"""The player: the content of a film, and the page that plays it in a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nightly import every, nightly

import fitgym
from fitgym.cli import main
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.envs.toy import Toy
from fitgym.errors import InputError
from fitgym.player.film import film, scene
from fitgym.player.page import html, write_page
from fitgym.player.records import record_in
from fitgym.rendering.episode import Episode, Find, Listing, Step
from fitgym.rendering.palette import AGENTS, TONES, agent_tone, css, rgb

VAULT = str(Path(__file__).parent / "programs" / "vault.py")
HOSTILE = "</script><img src=x onerror=alert(1)>{{film}}{{script}}"


def seen(subject: str = VAULT, steps: int = 4, **options: Any) -> Episode:
    """A short episode of a search."""
    with FitnessSelection(
        subject, budget="30g", population=8, render_mode="episode", actions="singles", **options
    ) as env:
        env.reset(seed=0)
        for number in range(steps):
            env.step(number % 3)
        found: Episode = env.render()
    return found


@pytest.fixture(scope="module")
def episode() -> Episode:
    return seen()


def made(*steps: Step) -> Episode:
    """An episode written by hand, of a source of three lines."""
    listing = Listing(("def f(x):", f"    '{HOSTILE}'", "    return x"), 1, frozenset({1, 3}))
    shown = Episode(HOSTILE, HOSTILE, ("branch",), (), listing, goal="coverage", reward="growth")
    shown = shown.then(Step("", {"branch": 1.0}, finds=(Find("f(1)", (1,)),)), {1: 1})
    for step in steps:
        shown = shown.then(step, {1: 1, 3: 1})
    return shown


# ------------------------------------------------------------------------------------------------------------- finds


def test_each_new_line_is_in_the_find_of_its_step(episode: Episode) -> None:
    for number, step in enumerate(episode.steps):
        new = {line for line, first in episode.since.items() if first == number}
        assert {line for find in step.finds for line in find.lines} <= new
        assert not new or any(find.lines for find in step.finds)


def test_an_exception_is_found_once_and_its_line_is_in_the_source(tmp_path: Path) -> None:
    (tmp_path / "gate.py").write_text(
        "def enter(age: int):\n    if age < 0:\n        raise ValueError('no age')\n    return 100 // age\n"
    )
    shown = seen(str(tmp_path / "gate.py"), goal="exceptions")
    raised = {find.raised: find.line for step in shown.steps for find in step.finds if find.raised}
    assert raised == {"ValueError in enter": 3, "ZeroDivisionError in enter": 4}
    assert shown.raised == {3: "ValueError in enter", 4: "ZeroDivisionError in enter"}
    assert len([find for step in shown.steps for find in step.finds if find.raised]) == 2


@nightly
def test_the_code_of_a_find_runs_and_does_what_is_said(tmp_path: Path) -> None:
    (tmp_path / "gate.py").write_text("def enter(age: int):\n    return 100 // age\n")
    shown = seen(str(tmp_path / "gate.py"), goal="exceptions", steps=1)
    (find,) = [find for step in shown.steps for find in step.finds if find.raised]
    code = f"from gate import *\n{find.code}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr.strip().splitlines()[-1].startswith("ZeroDivisionError")


@nightly
def test_an_earlier_moment_of_an_episode_is_the_episode_of_that_moment() -> None:
    short, long = seen(steps=2), seen(steps=4)
    assert long.at(2).steps == short.steps and long.at(2).since == short.since
    assert long.at(2).summary() == short.summary() and long.at(4) is not short


# -------------------------------------------------------------------------------------------------------------- film


def test_a_film_grows_scene_by_scene(episode: Episode) -> None:
    grown = film(episode.at(0))
    for number in range(1, len(episode.steps)):
        one = scene(episode.at(number))
        grown = {**grown, "rows": one["rows"], "ended": one["ended"]}
        grown["steps"].append(one["step"])
        grown["since"] += one["since"]
    assert {**grown, "since": sorted(map(list, grown["since"]))} == {
        **film(episode),
        "since": sorted(map(list, film(episode)["since"])),
    }


def test_a_film_is_json_and_the_same_episode_gives_the_same_page(episode: Episode) -> None:
    json.dumps(film(episode), allow_nan=False)
    assert html(episode) == html(seen())


def test_an_environment_without_a_source_has_a_film_too() -> None:
    with Toy(horizon=3, render_mode="episode") as env:
        env.reset(seed=0)
        env.step(1)
        shown = film(env.render())
    assert shown["listing"] is None and shown["steps"][1]["choice"] == "fading"


def test_hostile_texts_are_only_text() -> None:
    text = html(made(Step(HOSTILE, {HOSTILE: 1.0}, finds=(Find(HOSTILE, (3,), HOSTILE, 3),))))
    assert text.count("<img") == 0 and text.count("</script>") == 2 and text.count("<script") == 2
    held = re.search(r'<script type="application/json" id="film">(.*?)</script>', text, re.DOTALL)
    assert held is not None and json.loads(held[1])["title"] == HOSTILE


def test_the_page_needs_no_network(episode: Episode) -> None:
    text = re.sub(r'<script type="application/json".*?</script>', "", html(episode), flags=re.DOTALL)
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)|src=|@import|url\(|<link", text) == []


# ----------------------------------------------------------------------------------------------------------- palette


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("side", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "boxes"),
    [
        *((name, ("page", "fill", "covered-fill", "new-fill")) for name in ("ink", "soft", "string", "keyword")),
        *((name, ("page", "fill")) for name in ("mark", "warn")),
        ("raised", ("page", "raised-fill")),
    ],
)
def test_text_can_be_read_where_it_stands(name: str, boxes: tuple[str, ...], side: str) -> None:
    for below in boxes:
        one, other = (luminance(getattr(TONES[key], side)) for key in (name, below))
        assert (max(one, other) + 0.05) / (min(one, other) + 0.05) >= 4.5, f"{name} on {below}"


def test_an_agent_has_one_colour_whatever_its_options() -> None:
    assert agent_tone("fixed:branch") is AGENTS["fixed"] and agent_tone("my_agent") not in AGENTS.values()
    assert "--agent-ucb: #0072b2;" in css() and css().count("--ink:") == 4
    assert rgb("new") == (230, 159, 0)


# ----------------------------------------------------------------------------------------------------- command line


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("run") / "record.json"
    fitgym.generate(VAULT, agent="uniform", goal="exceptions", budget="12g", population=8, json=file)
    return file


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["replay", *map(str, arguments)])
    return int(str(ended.value.code))


def test_a_replay_writes_a_page_of_every_step(record: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(record, "--html", tmp_path / "replay.html") == 0
    said = capsys.readouterr().out.splitlines()
    assert "every reward is as recorded" in said[0] and said[1] == f"{tmp_path / 'replay.html'}: open it in a browser"
    text = (tmp_path / "replay.html").read_text("utf-8")
    held = re.search(r'<script type="application/json" id="film">(.*?)</script>', text, re.DOTALL)
    assert held is not None
    assert len(json.loads(held[1])["steps"]) == json.loads(record.read_text())["steps"] + 1


def test_a_record_is_picked_by_its_number(record: Path, tmp_path: Path) -> None:
    one = json.loads(record.read_text())
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps({**one, "seed": seed}) + "\n" for seed in (3, 4)))
    assert [record_in(tmp_path / "runs.jsonl", number)["seed"] for number in (1, 2)] == [3, 4]
    assert record_in(record) == one
    for number, message in ((3, "has no record number 3"), (-1, "number is -1"), (0, "`fitgym replay --number 1`")):
        with pytest.raises(InputError, match=message):
            record_in(tmp_path / "runs.jsonl", number)


def test_a_record_of_a_study_without_an_episode_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.jsonl").write_text(json.dumps({"trial": "search", "settings": {}, "run": {}}) + "\n")
    with pytest.raises(InputError, match="is of a trial without an episode, expected another one"):
        record_in(tmp_path / "runs.jsonl", 1)


# ----------------------------------------------------------------------------------------------------------- browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""


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
def page(browser: Any, episode: Episode, tmp_path: Path) -> Iterator[Any]:
    """The page, offline; an error on the console fails the test."""
    write_page(episode, tmp_path / "page.html")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True, reduced_motion="reduce")
    opened = context.new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.goto((tmp_path / "page.html").as_uri())
    yield opened
    assert problems == []
    context.close()


def test_the_keyboard_steps_through_the_episode(page: Any, episode: Episode) -> None:
    said = page.locator("#told")
    assert said.inner_text() == episode.at(0).summary()
    page.keyboard.press("ArrowRight")
    assert said.inner_text() == episode.at(1).summary()
    page.keyboard.press("End")
    assert said.inner_text() == episode.summary()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    assert said.inner_text() == episode.at(0).summary() and page.locator("#back").is_disabled()


def test_play_runs_to_the_end_and_stops(page: Any, episode: Episode) -> None:
    page.locator("#speed").select_option("5×")
    page.locator("#run").click()
    page.locator("#last:disabled").wait_for()
    assert page.locator("#told").inner_text() == episode.summary()
    page.locator("#run", has_text="Play").wait_for()


@pytest.mark.parametrize("number", [0, 2])
def test_lines_are_marked_as_covered_in_the_step_in_which_they_were(page: Any, episode: Episode, number: int) -> None:
    page.locator("#seek").fill(str(number))
    shown = page.evaluate("[...document.querySelectorAll('#code > div')].map(row => row.className)")
    assert episode.listing is not None
    for line, kind in enumerate(shown, episode.listing.first):
        first = episode.since.get(line)
        expected = "missed" if first is None or first > number else "new" if first == number > 0 else "covered"
        assert kind.split()[:1] == ([expected] if line in episode.listing.code else []), line
    text = page.locator("#code > div code").all_inner_texts()
    assert [one.rstrip() for one in text] == [one.rstrip() for one in episode.listing.lines]


def test_the_test_that_was_found_is_shown_as_code(page: Any, episode: Episode) -> None:
    assert page.locator("#finds pre").first.inner_text() == episode.steps[0].finds[0].code


def test_the_switch_turns_the_page_dark_and_light_again(page: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.locator("#theme").click()
    assert page.evaluate(colour) != light
    page.locator("#theme").click()
    assert page.evaluate(colour) == light


@pytest.mark.parametrize("width", every(2, [390, 1280]))
def test_nothing_is_wider_than_the_screen(browser: Any, episode: Episode, width: int) -> None:
    opened = browser.new_page(viewport={"width": width, "height": 800})
    opened.set_content(html(episode))
    opened.locator("#next").click()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    opened.close()


def test_hostile_texts_stay_texts_in_the_browser(browser: Any) -> None:
    opened = browser.new_page()
    asked: list[str] = []
    opened.on("dialog", lambda dialog: asked.append(dialog.message) or dialog.dismiss())
    shown = made(Step(HOSTILE, {HOSTILE: 1.0}, finds=(Find(HOSTILE, (3,), HOSTILE, 3),)))
    opened.set_content(html(replace(shown, options=(HOSTILE,))))
    opened.keyboard.press("End")
    assert opened.locator("h1").inner_text() == HOSTILE and opened.locator("img").count() == 0 and asked == []
    assert opened.locator("#finds pre").inner_text() == HOSTILE
    opened.close()
