"""The pictures of the documentation agree with the tables and the searches."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("sphinx", reason="the documentation needs Sphinx: pip install 'fitgym[docs]'")

import numpy as np
import peers
import pictures

import fitgym.envs
from fitgym.engine import SEARCH

DOCS = Path(__file__).parent.parent
ANIMATION = DOCS / "static" / "generate.svg"


def test_the_chart_beside_pynguin_is_that_of_the_committed_table() -> None:
    assert peers.FILE.read_text("utf-8") == peers.chart(alone=True) + "\n"


def test_the_landing_page_states_the_budget_and_the_modules_of_the_table() -> None:
    page = (DOCS / "index.md").read_text("utf-8")
    assert peers.budget() == "10s" and "ten seconds" in page
    assert f"{peers.rows()[0].modules} published modules" in page
    assert {row.without for row in peers.rows()} == {2, 3} and "two or three modules" in page


@pytest.mark.parametrize("drawn", [peers.FILE, ANIMATION], ids=["peers", "animation"])
def test_a_committed_picture_is_small_and_follows_light_and_dark(drawn: Path) -> None:
    text = drawn.read_text("utf-8")
    assert ElementTree.fromstring(text).get("aria-label")
    assert len(text) < 20_000
    assert "prefers-color-scheme: dark" in text


def test_the_animation_stands_still_for_readers_who_ask_for_it() -> None:
    assert "prefers-reduced-motion" in ANIMATION.read_text("utf-8")


@pytest.mark.parametrize("page", [DOCS / "index.md", DOCS.parent / "README.md"], ids=["index", "readme"])
def test_the_tests_of_a_first_screen_are_among_those_of_the_animation(page: Path) -> None:
    drawn = re.sub(r"<[^>]+>", "", ANIMATION.read_text("utf-8"))
    code = re.findall(r"^```python\n(def test_.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)[0]
    lines = [line for line in code.splitlines() if line]
    assert len(lines) > 6
    assert [line for line in lines if line not in drawn] == []


@pytest.mark.parametrize("name", fitgym.envs.REGISTERED)
def test_every_environment_has_an_animation(name: str) -> None:
    file = DOCS / "static" / "environments" / f"{name.partition('/')[2]}.webp"
    assert 5_000 < file.stat().st_size < 200_000


def test_the_title_of_an_agent_counts_its_choices() -> None:
    assert "uniform chooses the best option in 23 %" in pictures.agent_picture("uniform")
    assert "fixed chooses the best option in 100 % of the steps before it changes, in 0 % after" in (
        pictures.agent_picture("fixed")
    )


def test_an_agent_that_has_to_be_trained_has_no_picture() -> None:
    assert pictures.agent_picture("ppo") == "" and pictures.agent_picture("gaussian") == ""


def test_the_title_of_a_search_counts_what_it_covered() -> None:
    drawn = pictures.search_picture("mio")
    covered = pictures._curve("mio")[-1][1]
    assert f"mio covers {covered} of 20 feasible targets" in drawn
    assert all(other in drawn for other in SEARCH.names() if other != "one_goal")


def test_a_goal_without_a_table_has_no_picture() -> None:
    assert "Goal diversity: from 0.10 (random search) to 0.84 (fixed own)" in pictures.goal_picture("diversity")
    assert pictures.goal_picture("coverage") == ""


def test_a_picture_stands_below_the_heading() -> None:
    text = pictures.with_picture("agents/uniform", "uniform: agent\n==============\n\nText.")
    assert text.startswith("uniform: agent\n==============\n\n.. raw:: html\n\n   <figure")
    assert text.endswith("\n\nText.")
    text = pictures.with_picture("environments/toy", "# Toy-v0\n\nText.")
    assert "/static/environments/Toy-v0.webp" in text and text.endswith("\n\nText.")
    assert pictures.with_picture("concepts", "# Concepts") == "# Concepts"


def test_choices_are_joined_to_spells() -> None:
    assert pictures._spells(np.array([True, True, False, True])) == [(0, 2), (3, 4)]
