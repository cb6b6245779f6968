"""A film: an episode as JSON-ready values, for the page that plays it."""

from __future__ import annotations

from typing import Any

from fitgym.rendering.episode import Episode, Find, Step
from fitgym.rendering.highlight import highlighted

__all__ = ["film", "scene"]


def film(episode: Episode) -> dict[str, Any]:
    """The whole episode.

    Args:
        episode: any, also one that has not ended. Equal episodes give equal films.

    Returns:
        `title`, `setting`, `goal`, `reward`, `options`, `rows`, `listing` (None without a source), `since` (by line the
        step in which it first ran), `steps` and `ended`. Code is HTML, in which every text is escaped.
    """
    return {
        "title": episode.title,
        "setting": episode.setting,
        "goal": episode.goal,
        "reward": episode.reward,
        "options": list(episode.options),
        "rows": list(episode.rows),
        "listing": _listing(episode),
        "since": sorted(episode.since.items()),
        "steps": [_step(episode.at(number)) for number in range(len(episode.steps))],
        "ended": episode.ended,
    }


def scene(episode: Episode) -> dict[str, Any]:
    """What the last step adds to the film of an episode.

    Args:
        episode: with at least one step.

    Returns:
        `step`, `since` (only the lines that ran for the first time), `rows` and `ended`.
    """
    last = len(episode.steps) - 1
    return {
        "step": _step(episode),
        "since": [[line, last] for line in sorted(episode.since) if episode.since[line] == last],
        "rows": list(episode.rows),
        "ended": episode.ended,
    }


def _listing(episode: Episode) -> dict[str, Any] | None:
    listing = episode.listing
    if listing is None:
        return None
    return {"first": listing.first, "lines": highlighted("\n".join(listing.lines)), "code": sorted(listing.code)}


def _step(episode: Episode) -> dict[str, Any]:
    """The last step of an episode."""
    step: Step = episode.steps[-1]
    return {
        "choice": step.choice,
        "active": dict(step.active),
        "covered": {name: list(counts) for name, counts in step.covered.items()},
        "reward": step.reward,
        "value": step.value,
        "spent": step.spent,
        "clock": step.clock,
        "told": episode.summary(),
        "finds": [_find(one) for one in step.finds],
    }


def _find(find: Find) -> dict[str, Any]:
    return {
        "code": "\n".join(highlighted(find.code)),
        "lines": list(find.lines),
        "raised": find.raised,
        "line": find.line,
    }
