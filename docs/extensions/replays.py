"""The replay of one episode, made when the documentation is built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from fitgym.player.page import write_page
from fitgym.run.environment import agent_of, make
from fitgym.run.episode import play
from fitgym.run.setting import Setting

__all__ = ["write"]

SETTING = Setting.from_keywords(
    subject="html.parser", goal="exceptions", agent="ucb", actions="singles", budget="46g", population=20
)


def write(app: Sphinx, problem: Exception | None) -> None:
    """Write the page beside the other files that are only copied; takes about three seconds."""
    if problem is not None or app.builder.format != "html":
        return
    env: Any = make(SETTING, render_mode="episode")
    try:
        play(agent_of(SETTING, env), env, seed=SETTING.seed)
        write_page(env.render(), Path(app.outdir) / "_static" / "replay.html")
    finally:
        env.close()


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the page at the end, when Sphinx has copied its files."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
