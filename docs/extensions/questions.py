"""Search for newcomers: ignores question words and finds pages by synonyms that they do not contain.

`static/ranking.js` ranks the pages. `docs/tests/test_search.py` contains questions that must find their page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

__all__ = ["ASKING", "SYNONYMS", "Questions"]

ASKING = """
am an any been being by can cannot could did do does doing done from get give had has have how i instead its may me mean
means might must my need needs one or our should so some than them those use used using want was we were what when where
which while who whose why without would you your
"""
"""Question words. Negations are included: "does not work" and "what works" lead to the same page."""

SYNONYMS: Mapping[str, str] = {
    "quickstart": "tutorial start started begin getting install setup installation introduction first steps",
    "choosing": "recommend recommended best default algorithm pick select decide",
    "faq": "windows mac macos wsl gpu cuda questions faq osx apple",
    "glossary": "glossary terminology definition definitions vocabulary terms meaning words",
    "changelog": "changelog release notes news changes version history new",
    "contributing": "contribute contributing contribution pull request patch developer conduct hacking",
    "concepts": "architecture overview design works internals inside reproducible determinism deterministic",
    "cite": "cite citing citation bibtex reference paper publication",
    "comparison": "alternative alternatives versus compared hypothesis randoop tool tools",
    "troubleshooting": "nothing exported empty suite error errors problem problems help fails failed broken stuck slow hang empty debug",
    "guides/index": "howto guides recipes how-to",
    "guides/corpus": "corpus dataset own code modules subjects training set toml",
    "guides/stable_baselines": "sb3 baselines baselines3 stable torch pytorch loop custom training ppo dqn",
    "guides/vector": "vectorized vectorised vector parallel environments asyncvectorenv subprocvecenv make_vec batch",
    "guides/slurm": "slurm sbatch cluster hpc supercomputer jobs study",
    "guides/cluster": "ray cluster distributed cores nodes",
    "guides/ci": "ci docker container github actions gitlab pipeline workflow continuous integration precommit jenkins",
    "guides/tensorboard": "tensorboard logging plot curves monitor wandb losses",
    "guides/offline": "offline dataset minari imitation cloning bc cql demonstrations record replay buffer",
    "guides/hyperparameters": "hyperparameter hyperparameters tuning tune parameters settings options grid optuna",
    "guides/video": "video record recording mp4 gif movie animation render rendering visualise visualize watch",
    "guides/security": "sandbox secure malicious untrusted safe trust docker isolation virus",
    "guides/project": "project package packages multiple several modules once whole repository all pytest keep edits",
    "guides/existing": "existing own tests already have improve coverage add missing",
    "guides/report": "report html coverage uncovered missed lines mutants",
    "guides/refactoring": "refactor refactoring regression behaviour behavior changed compare commits git",
    "guides/teaching": "teacher teachers syllabus autograder grade grading class university nbgrader slides students",
    "guides/checking": "mutation mutants assertions assert strong quality mock protocol",
    "guides/budget": "budget time share divide allocate seconds modules",
    "add/index": "extend extension plugin custom own",
    "add/environment": "custom environment own environment write create",
    "add/agent": "custom agent own agent policy write create algorithm",
    "add/fitness": "custom fitness function own objective write create",
    "benchmark": "leaderboard submit benchmark compete challenge",
    "agents/ucb": "formula bandit upper confidence bound exploration",
    "agents/ppo": "discount factor gamma proximal policy optimization neural network",
    "agents/dqn": "discount factor gamma q-network deep",
    "search/mosa": "many-objective pareto nsga front",
    "environments/index": "gym gymnasium action space observation environments list",
    "notebooks/index": "lessons course tutorial tutorials notebook notebooks learn teach teaching exercises jupyter beginner",
    "papers/index": "papers reproduced replicated reproduction replication claims published verdicts",
    "results/index": "results evidence experiments evaluation reproduce numbers",
}
"""Newcomers' words for the content of a page, by page. A page that does not exist is ignored."""


class Questions(SearchEnglish):
    """English without the question words."""

    stopwords = SearchEnglish.stopwords | frozenset(ASKING.split())


def _add_synonyms(app: Sphinx, doctree: nodes.document) -> None:
    """Add synonyms to a page as keywords, which Sphinx indexes."""
    if words := SYNONYMS.get(app.env.docname):
        doctree.insert(0, nodes.meta("", name="keywords", content=", ".join(words.split())))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register this language in place of English."""
    app.add_search_language(Questions)
    app.connect("doctree-read", _add_synonyms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
