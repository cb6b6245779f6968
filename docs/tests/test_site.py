"""The site that `make docs` has built: complete, and easy to navigate for a newcomer."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sphinx.util.inventory import InventoryFile

import fitgym.envs
from fitgym.commands.listing import describe
from fitgym.envs.features.base import blocks

ROOT = Path(__file__).parent.parent.parent
SITE = ROOT / "site"

pytestmark = pytest.mark.skipif(not (SITE / "objects.inv").is_file(), reason="`make docs` builds the site first")


def modules() -> list[ModuleType]:
    """Every public module; the list is read from the files, not from the extension that makes the pages."""
    found = ["fitgym"]
    for file in (ROOT / "fitgym").rglob("*.py"):
        found.append(".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
    for folder in ("envs", "agents"):
        for file in (ROOT / folder).rglob("*.py"):
            found.append(".".join(("fitgym", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"))
    public = {name for name in found if not any(part.startswith("_") for part in name.split("."))}
    return [importlib.import_module(name) for name in sorted(public)]


def members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Name and object of the public classes and functions that a module defines, and of the methods of its classes."""
    for name, member in vars(module).items():
        if name.startswith("_") or getattr(member, "__module__", None) != module.__name__:
            continue
        if name not in getattr(module, "__all__", [name]):
            continue
        if inspect.isclass(member) or inspect.isfunction(member):
            yield f"{module.__name__}.{name}", member
        if inspect.isclass(member):
            for key, method in vars(member).items():
                if not key.startswith("_") and inspect.isfunction(method):
                    yield f"{module.__name__}.{name}.{key}", method


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Page and anchor of every name that the site documents."""
    inventory = InventoryFile.loads((SITE / "objects.inv").read_bytes(), uri="")
    kinds = [kind for kind in inventory.data if kind.startswith("py:")]
    return {name: item.uri for kind in kinds for name, item in inventory.data[kind].items()}


def test_every_public_module_class_function_and_method_has_its_place(pages: dict[str, str]) -> None:
    wanted = [module.__name__ for module in modules()]
    wanted += [name for module in modules() for name, _ in members(module)]
    assert len(wanted) > 800
    assert [name for name in wanted if name not in pages] == []


def test_every_public_module_class_and_function_says_what_it_is() -> None:
    silent = [module.__name__ for module in modules() if not inspect.getdoc(module)]
    silent += [name for module in modules() for name, member in members(module) if not inspect.getdoc(member)]
    assert silent == []


def test_every_class_and_function_leads_to_its_source(pages: dict[str, str]) -> None:
    text = {page: (SITE / page).read_text("utf-8") for page in {uri.partition("#")[0] for uri in pages.values()}}
    for module in modules():
        source = SITE / "_modules" / f"{module.__name__.replace('.', '/')}.html"
        for name, _ in members(module):
            anchor = name.removeprefix(f"{module.__name__}.")
            link = f'_modules/{module.__name__.replace(".", "/")}.html#{anchor}"'
            assert link in text[pages[name].partition("#")[0]], name
            assert f'id="{anchor}"' in source.read_text("utf-8")


@pytest.mark.parametrize("kind", ["agents", "goals", "fitness", "search", "secondary", "features"])
def test_every_extension_has_a_page_of_its_own_and_is_in_the_list(kind: str) -> None:
    index = (SITE / kind / "index.html").read_text("utf-8")
    listed = [name for name, _ in describe(kind)]
    for name in blocks().names() if kind == "features" else listed:  # a set of features is a list of blocks
        assert (SITE / kind / f"{name}.html").is_file()
        assert f'href="{name}.html"' in index


@pytest.mark.parametrize("name", fitgym.envs.REGISTERED)
def test_every_environment_has_a_page_with_bounds_rewards_and_arguments(name: str) -> None:
    index = (SITE / "environments" / "index.html").read_text("utf-8")
    (page,) = re.findall(rf'href="(\w+\.html)"><span class="std std-doc">{name}<', index)
    text = (SITE / "environments" / page).read_text("utf-8")
    assert "Box(" in text
    headings = " ".join(re.findall(r"<h2>(.*?)<a", text))
    for heading in (
        "Action Space",
        "Observation Space",
        "Rewards",
        "Starting State",
        "Episode End",
        "Arguments",
        "Version",
    ):
        assert heading in headings


def test_options_are_shown_as_they_are_typed() -> None:
    page = (SITE / "search" / "mosa.html").read_text("utf-8")
    assert "distance=subvector<" in re.sub(r"</?span[^>]*>", "", page)


def test_every_table_of_results_is_there() -> None:
    for _, table, *_ in tomllib.loads((ROOT / "docs" / "results.toml").read_text("utf-8")).values():
        page = (SITE / "results" / f"{Path(table).parent.name}_{Path(table).stem}.html").read_text("utf-8")
        numbers = re.findall(r"\d+\.\d+", (ROOT / table).read_text("utf-8"))
        assert numbers and all(number in page for number in numbers)


def test_what_is_said_of_a_variable_is_not_taken_for_its_type() -> None:
    text = (SITE / "reference" / "fitgym.fitness.base.html").read_text("utf-8")
    assert "unknown when the trace was measured: not covered." in text


def test_no_page_asks_the_network_or_shows_markup() -> None:
    for file in SITE.rglob("*.html"):
        text = file.read_text("utf-8")
        assert re.findall(r'<(?:script|img|iframe|source)[^>]*src="(?:https?:)?//[^"]*', text) == [], file
        assert re.findall(r'<link(?![^>]*rel="canonical")[^>]*href="(?:https?:)?//[^"]*', text) == [], file
        if "_modules" not in file.parts:
            assert not re.search(r"system-message|:py:|\{py:", text), file


# What the browser shows

PAGES = (
    *(
        "index",
        "quickstart",
        "concepts",
        "glossary",
        "environments/toy",
        "agents/ucb",
        "search/mio",
        "goals/exceptions",
    ),
    *("results/agents_table", "add/fitness", "guides/slurm", "papers/almulla_gay", "paper", "benchmark"),
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_the_window_and_its_text_can_be_read(
    browser: Any, address: str, width: int, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    failed = []
    page.on("requestfailed", lambda r: failed.append(r.url) if r.failure != "net::ERR_ABORTED" else None)
    page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
    try:
        for name in PAGES:
            page.goto(f"{address}/{name}.html")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            colours = page.evaluate(
                "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
            )
            text, ground = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
            assert (text - ground > 300) if scheme == "dark" else (ground - text > 300), name
    finally:
        page.close()
    assert failed == []


def test_the_navigation_has_four_doors() -> None:
    text = (SITE / "index.html").read_text("utf-8")
    captions = re.findall(r'<span class="caption-text">([^<]*)</span>', text)
    assert captions == ["Use", "Learn", "Research", "Reference"]
    assert len(re.findall(r'class="door (?:use|learn|research|look)', text)) == 4


@pytest.mark.parametrize(
    ("page", "picture"),
    [
        ("agents/ucb", '<figure class="picture">'),
        ("search/mio", '<figure class="picture">'),
        ("goals/exceptions", '<figure class="picture">'),
        ("environments/toy", "Toy-v0.webp"),
        ("index", "Pynguin"),
        ("benchmark", "Deciding pays in"),
        ("paper", "The learning curve of PPO"),
    ],
)
def test_a_page_has_its_picture(page: str, picture: str) -> None:
    assert picture in (SITE / f"{page}.html").read_text("utf-8")
