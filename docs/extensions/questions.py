"""Search as newcomers do: in the words of a question, of which only some name a thing.

Sphinx finds the pages that hold all words of a query, so the words of which questions are made are left out of it, as
it leaves out "the" and "of".
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

ASKING = """
am an any been being by can cannot could did do does doing done from get give had has have how i instead its may me mean
means might must my need needs one or our should so some than them those use used using want was we were what when where
which while who whose why without would you your
"""
"""Words that ask. Negations are left out too: "does not work" and "what works" lead to the same page."""


class Questions(SearchEnglish):
    """English, without the words that ask."""

    stopwords = SearchEnglish.stopwords | frozenset(ASKING.split())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register it in the place of English."""
    app.add_search_language(Questions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
