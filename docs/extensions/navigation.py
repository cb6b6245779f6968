"""The navigation beside each page: the sections, and the pages of the section that the reader is in.

Sphinx would copy the tables of contents of all pages, with all classes and methods, for each of them anew: of five
hundred pages, the sources included, that takes minutes, and the result is longer than most pages.
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


def tree(app: Sphinx, page: str) -> str:
    """The navigation as seen from a page, as nested lists of links."""
    ancestors = _ancestors(app.env, page)
    return _list(app, app.config.root_doc, page, ancestors, 1)


def _ancestors(env: BuildEnvironment, page: str) -> set[str]:
    """The page and those that it lies under."""
    parents = {child: parent for parent in env.toctree_includes for child in env.toctree_includes[parent]}
    found = set[str]()
    while page in parents and page not in found:
        found.add(page)
        page = parents[page]
    return found


def _list(app: Sphinx, parent: str, page: str, ancestors: set[str], level: int) -> str:
    items = [
        f'<li class="toctree-l{level}{" current" if name in ancestors else ""}">'
        f'<a class="reference internal{" current" if name == page else ""}" href="{_address(app, page, name)}">'
        f"{escape(title or app.env.titles[name].astext())}</a>"
        f"{_list(app, name, page, ancestors, level + 1) if name in ancestors else ''}</li>"
        for title, name in _entries(app.env, parent)
    ]
    return f"<ul>{''.join(items)}</ul>" if items else ""


def _entries(env: BuildEnvironment, parent: str) -> Iterator[tuple[str | None, str]]:
    """Title, where there is one of its own, and name of the pages that lie under a page."""
    for toctree in env.tocs[parent].findall(addnodes.toctree):
        yield from toctree["entries"]


def _address(app: Sphinx, page: str, name: str) -> str:
    return "#" if name == page else app.builder.get_relative_uri(page, name)


def _use(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: document | None) -> None:
    """Give the theme this one."""
    context["toctree"] = lambda **options: tree(app, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Before the theme asks for the navigation, which it does with the usual priority of 500."""
    app.connect("html-page-context", _use, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
