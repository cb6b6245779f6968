"""The terminal: an episode as a panel redrawn after every step, or as plain lines if there is no terminal."""

from __future__ import annotations

import weakref

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fitgym.rendering.episode import Episode, Listing

__all__ = ["Terminal"]

_STEPS = 40  # number of latest steps to show
_BARS = " ▁▂▃▄▅▆▇█"
_FEWEST, _MOST = 5, 24  # minimum and maximum number of source lines


class Terminal:
    """Shows an episode on stderr.

    On a terminal it draws a panel: the functions or parts that guide the search now and in the last steps, the
    coverage, the rewards, and the source around the latest progress. Otherwise it prints a line per step. The cursor is
    restored on `close`, or at the end of the process.

    Args:
        console: the console to draw on; stderr by default.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._live: Live | None = None
        if self.console.is_terminal:
            # Each step redraws the panel. A refresh thread would not survive a fork of the process.
            self._live = Live(console=self.console, auto_refresh=False)
            self._live.start()
            self._stop = weakref.finalize(self, self._live.stop)

    def show(self, episode: Episode) -> None:
        """Show the current episode."""
        if self._live is not None:
            self._live.update(panel(episode, self.console.height), refresh=True)
        else:
            self.console.print(f"{episode.title}: {episode.summary()}", highlight=False, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Leave the last panel on the screen; a second call does nothing."""
        if self._live is not None:
            self._stop()


def panel(episode: Episode, height: int = 40) -> RenderableType:
    """Return the panel for a terminal of `height` lines."""
    step = episode.steps[-1]
    heading = Text(f"{episode.title} · {episode.setting}", style="bold cyan", no_wrap=True, overflow="ellipsis")
    state = f"  {step.spent:.0%} of the budget, " if step.spent else "  "
    state += f"{step.clock}, goal {step.value:.4g}, return {episode.total:.4g}"
    parts: list[RenderableType] = [heading, Text(state, no_wrap=True, overflow="ellipsis"), _table(episode)]
    room = height - len(episode.rows) - 6
    if episode.listing is not None and room >= _FEWEST:
        parts.append(_source(episode, episode.listing, min(_MOST, room)))
    parts.append(
        Text(f"  {episode.summary()}", style="bold" if episode.ended else "", no_wrap=True, overflow="ellipsis")
    )
    return Group(*parts)


def _table(episode: Episode) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, min_width=_STEPS)
    table.add_column(no_wrap=True, justify="right")
    last = episode.choices[-_STEPS:]
    for name in episode.rows:
        active = name in episode.steps[-1].active
        label = Text(("● " if active else "  ") + name, style="bold" if active else "dim")
        covered, known = episode.steps[-1].covered.get(name, (0, 0))
        figures = f"{covered} found" if known is None else f"{covered} of {known}" if known else ""
        history = "".join("■" if name in step.active else "·" for step in last) if name in episode.options else ""
        table.add_row(label, Text(history, style="dark_orange3"), figures)
    most = max((abs(step.reward) for step in last), default=0.0) or 1.0
    bars = "".join(_BARS[round(max(0.0, step.reward) / most * (len(_BARS) - 1))] for step in last)
    table.add_row("  reward", bars, f"last {episode.steps[-1].reward:.4g}")
    return table


def _source(episode: Episode, listing: Listing, height: int) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    new = episode.new
    for number in episode.shown(height):
        counts, covered = number in listing.code, number in episode.since
        mark = "+" if number in new else " " if covered or not counts else "-"
        style = "dim" if not counts else "black on dark_orange" if number in new else "blue" if covered else ""
        text.append(f"{number:6} {mark} {listing.lines[number - listing.first].expandtabs(4)}\n", style=style)
    text.rstrip()
    return text
