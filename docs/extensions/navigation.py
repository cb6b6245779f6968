"""Builds the navigation of each page: the groups, their sections, and the pages of the current section.

Sphinx would copy the tables of contents of all pages into each page. With five hundred pages that takes minutes, and
the copy is longer than most pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from docutils.nodes import document
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

__all__ = ["tree"]

Entry = tuple[str | None, str]
"""Title, if it differs from the title of the page, and name of a page."""


def tree(app: Sphinx, page: str) -> str:
    """Return the navigation for a page: nested lists of links, in the groups that the root page names."""
    ancestors = _ancestors(app.env, page)
    groups = []
    for caption, entries in _groups(app.env, app.config.root_doc):
        heading = f'<p class="caption" role="heading"><span class="caption-text">{escape(caption)}</span></p>'
        groups.append((heading if caption else "") + _list(app, entries, page, ancestors, 1))
    return "".join(groups)


def _ancestors(env: BuildEnvironment, page: str) -> set[str]:
    """Return the page and the pages above it."""
    parents = {child: parent for parent in env.toctree_includes for child in env.toctree_includes[parent]}
    found = set[str]()
    while page in parents and page not in found:
        found.add(page)
        page = parents[page]
    return found


def _list(app: Sphinx, entries: list[Entry], page: str, ancestors: set[str], level: int) -> str:
    items = [
        f'<li class="toctree-l{level}{" current" if name in ancestors else ""}">'
        f'<a class="reference internal{" current" if name == page else ""}" href="{_address(app, page, name)}">'
        f"{escape(title or app.env.titles[name].astext())}</a>"
        f"{_below(app, name, page, ancestors, level + 1) if name in ancestors else ''}</li>"
        for title, name in entries
    ]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _below(app: Sphinx, parent: str, page: str, ancestors: set[str], level: int) -> str:
    entries = [entry for _, group in _groups(app.env, parent) for entry in group]
    return _list(app, entries, page, ancestors, level)


def _groups(env: BuildEnvironment, parent: str) -> Iterator[tuple[str, list[Entry]]]:
    """Yield caption and entries of each table of contents on a page."""
    for toctree in env.tocs[parent].findall(addnodes.toctree):
        yield toctree.get("caption") or "", list(toctree["entries"])


def _address(app: Sphinx, page: str, name: str) -> str:
    return "#" if name == page else app.builder.get_relative_uri(page, name)


def _use(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: document | None) -> None:
    """Pass this navigation to the theme."""
    context["toctree"] = lambda **options: tree(app, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with a priority below the theme's 500, so that it runs before the theme requests the navigation."""
    app.connect("html-page-context", _use, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
