"""The site's search: newcomers' questions find the right page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

SITE = Path(__file__).parent.parent.parent / "site"

pytestmark = pytest.mark.skipif(not (SITE / "objects.inv").is_file(), reason="`make docs` builds the site first")

FIRST = 5
"""Results that a reader looks at."""

QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "how do I install it": ("quickstart",),
    "getting started": ("quickstart",),
    "tutorial": ("notebooks/index", "quickstart"),
    "how do I test a class": ("quickstart", "faq"),
    "which Python version do I need": ("faq", "quickstart"),
    "does it work on Windows": ("faq",),
    "do I need a GPU": ("faq",),
    "run it in docker": ("guides/ci", "guides/security"),
    "is it safe to run": ("concepts", "guides/security"),
    "untrusted code": ("guides/security",),
    "what does a budget count": ("concepts", "quickstart"),
    "why was nothing exported": ("troubleshooting",),
    "no module named": ("troubleshooting",),
    "a generated test fails": ("troubleshooting", "guides/project"),
    "test multiple modules at once": ("guides/project", "faq"),
    "I already have tests": ("guides/existing", "guides/project"),
    "which lines are not covered": ("guides/report", "faq"),
    "did my refactoring change behaviour": ("guides/refactoring",),
    "GitHub Actions": ("guides/ci",),
    "use it in CI": ("guides/ci",),
    "what is a fitness function": ("concepts", "glossary", "fitness/index"),
    "approach level": ("glossary", "fitness/branch"),
    "which results of the papers were reproduced": ("papers/index",),
    "what is a mutant": ("glossary", "guides/checking"),
    "glossary": ("glossary",),
    "which environments are there": ("environments/index",),
    "which agent should I use": ("choosing",),
    "which search algorithm is best": ("choosing",),
    "what goal should I choose": ("choosing",),
    "UCB formula": ("agents/ucb",),
    "discount factor": ("glossary", "agents/ppo", "agents/dqn"),
    "how do I train ppo": ("agents/ppo", "guides/stable_baselines"),
    "stable baselines": ("guides/stable_baselines",),
    "vectorized environments": ("guides/vector",),
    "tune hyperparameters": ("guides/hyperparameters",),
    "tensorboard": ("guides/tensorboard",),
    "record video": ("guides/video",),
    "run on SLURM": ("guides/slurm",),
    "Ray cluster": ("guides/cluster",),
    "own corpus": ("guides/corpus",),
    "train on my own code": ("guides/corpus", "faq"),
    "custom environment": ("add/environment",),
    "how do I add an agent": ("add/agent",),
    "how can I repeat a run": ("concepts", "quickstart"),
    "how do I cite fitgym": ("cite",),
    "changelog": ("changelog",),
    "contributing": ("contributing",),
    "what is the difference to Pynguin": ("comparison",),
    "EvoSuite": ("comparison",),
}
"""What a newcomer types, and the pages that answer."""

FRESH: Mapping[str, tuple[str, ...]] = {
    "can it write tests for async functions": ("faq",),
    "generated tests with unittest instead of pytest": ("quickstart", "faq"),
    "how long does generation take": ("faq", "quickstart", "choosing"),
    "does it use a language model": ("faq",),
    "compare two commits": ("guides/refactoring",),
    "where are the generated files written": ("guides/project", "quickstart"),
    "mock objects": ("guides/checking", "comparison"),
    "random seed reproducibility": ("concepts",),
    "what license": ("faq", "contributing", "cite"),
    "report a security vulnerability": ("guides/security", "faq"),
    "how is reward computed": ("concepts", "glossary"),
    "import error permission denied": ("troubleshooting",),
    "difference between terminated and truncated": ("glossary", "concepts"),
    "save and load a trained policy": ("quickstart", "add/agent", "agents/pretrained"),
    "how good is it compared to other tools": ("comparison", "results/peers_table", "index"),
}
"""Questions that were written before the search was tried with them, and for which nothing was changed."""

ASK = """query => {
  const [words, terms, excluded, highlight, objects] = Search._parseQuery(query);
  return Search._performSearch(words, terms, excluded, highlight, objects).reverse().map(result => result[0]);
}"""


@pytest.fixture(scope="module")
def searched(browser: Any, address: str) -> Any:
    """The search page with its index."""
    page = browser.new_page()
    page.goto(f"{address}/search.html?q=fitgym")
    page.wait_for_function("Search.hasIndex() && document.querySelectorAll('#search-results li a').length > 0")
    page.evaluate("const bar = document.createElement('p'); bar.id = 'search-progress'; document.body.append(bar)")
    yield page
    page.close()


def missed(page: Any, questions: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    """The questions that do not find their page among the first results, with the pages found instead."""
    found = {question: list(dict.fromkeys(page.evaluate(ASK, question)))[:FIRST] for question in questions}
    return {question: pages for question, pages in found.items() if not set(pages) & set(questions[question])}


def test_every_question_finds_its_page(searched: Any) -> None:
    assert len(QUESTIONS) >= 45
    assert missed(searched, QUESTIONS) == {}


def test_questions_that_nothing_was_tuned_for_mostly_find_their_page(searched: Any) -> None:
    assert len(missed(searched, FRESH)) <= len(FRESH) // 5


def test_the_reader_sees_the_results(browser: Any, address: str) -> None:
    page = browser.new_page()
    try:
        page.goto(f"{address}/index.html")
        page.fill("input.sidebar-search", "does it work on Windows")
        page.press("input.sidebar-search", "Enter")
        page.wait_for_selector("#search-results ul.search li a", timeout=20_000)
        links = [link.get_attribute("href") for link in page.query_selector_all("#search-results ul.search li > a")]
    finally:
        page.close()
    assert "faq" in [re.sub(r"\.html.*", "", link) for link in links[:FIRST]]
