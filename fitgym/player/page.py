"""The page of the player: one HTML file with its styles, its script and the film, which needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from fitgym.player.film import film
from fitgym.rendering.episode import Episode
from fitgym.rendering.palette import css
from fitgym.suite.text.export import write

__all__ = ["html", "page", "write_page"]


def html(episode: Episode) -> str:
    """An episode as a page that plays it.

    Args:
        episode: as an environment with `render_mode="episode"` renders it. Equal episodes give equal pages.
    """
    return page(film(episode))


def page(shown: Mapping[str, Any]) -> str:
    """A film as a page.

    Args:
        shown: see `fitgym.player.film.film`; with `live`, the page also asks for choices, see `fitgym.player.game`.
    """
    folder = resources.files("fitgym.player")
    parts = {
        "title": escape(str(shown["title"])),
        "palette": css(),
        "style": (folder / "player.css").read_text("utf-8"),
        # A "<" could end the element that holds the film.
        "film": json.dumps(shown, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "script": (folder / "player.js").read_text("utf-8"),
    }
    made, rest = "", (folder / "player.html").read_text("utf-8")
    for name, part in parts.items():  # in the order of the file, so that no part is searched for marks
        before, _, rest = rest.partition("{{" + name + "}}")
        made += before + part
    return made + rest


def write_page(episode: Episode, path: Path) -> None:
    """Write the page of an episode, whole or not at all.

    Args:
        episode: what it plays.
        path: the HTML file.

    Raises:
        OSError: the file cannot be written.
    """
    write(html(episode), path)
