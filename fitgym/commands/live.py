"""The live view: show the progress of a search on the terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fitgym.run.generation import Progress

__all__ = ["LiveView"]

_LABEL = 21  # columns for the longest name of a fitness function and the marker of active functions
_BAR = 30
_ACTIVE = "● "


class LiveView:
    """Shows the progress of a run on stderr: a panel that is redrawn on a terminal, plain lines elsewhere.

    The panel has one line for each fitness function that has guided the search; a dot marks the functions that are
    active now. It is at most as wide as the terminal, and grows only downwards.

    Args:
        subject, goal, agent: shown in the heading.
        console: where to draw; stderr by default.
    """

    def __init__(self, subject: str, goal: str, agent: str, *, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self.heading = f"{subject} · goal {goal} · agent {agent}"
        self._live: Live | None = None
        self._progress: Progress | None = None
        self._note = "starting: reading and importing the subject"
        self._started = time.monotonic()
        self._stage = ""
        self._reported = -1  # below every share of the budget, so the first report is printed at once

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        if self.console.is_terminal:
            self._live = Live(console=self.console, refresh_per_second=8, get_renderable=self._panel)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._note = "" if error is None else "stopped"
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show the current state of the run."""
        self._progress, self._note = progress, progress.note
        stage = progress.note.partition(":")[0]
        if self._live is not None:
            if progress.phase != "search":
                self._live.refresh()
        elif int(progress.spent * 10) > self._reported or (progress.phase != "search" and stage != self._stage):
            self._reported = int(progress.spent * 10)
            self._stage = stage
            self.console.print(self._line(progress), highlight=False, soft_wrap=True)

    def _line(self, progress: Progress) -> str:
        return (
            f"{progress.phase}: {progress.spent:.0%} of the budget, generation {progress.generation}, "
            f"{progress.executions} executions, {progress.note}"
        )

    def _panel(self) -> RenderableType:
        """Return the panel to draw; its clock also advances between two reports."""
        heading = Text(self.heading, style="bold cyan", no_wrap=True, overflow="ellipsis")
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=_LABEL, no_wrap=True)
        table.add_column(width=_BAR)
        table.add_column(no_wrap=True, overflow="ellipsis")
        clock = f"{time.monotonic() - self._started:.0f} s"
        progress = self._progress
        if progress is None:
            table.add_row("  time", "", clock)
        else:
            table.add_row("  budget", _bar(progress.spent), f"{progress.spent:.0%}, {clock}")
            table.add_row("  generation", str(progress.generation), f"{progress.executions:,} executions")
            table.add_row("  goal", f"{progress.goal_value:.4g}", f"last reward {progress.reward:.4g}")
            for name, (covered, total) in progress.coverage.items():
                active = name in progress.active
                label = Text((_ACTIVE if active else "  ") + name, style="bold" if active else "dim")
                # The total of "exception" is the number of exceptions found so far, so a share of it means nothing.
                whole = name != "exception" and total > 0
                table.add_row(label, _bar(covered / total) if whole else "", f"{covered:,}" + f"/{total:,}" * whole)
        note = Text(f"  {self._note}", style="dim", no_wrap=True, overflow="ellipsis")
        return Group(heading, table, note) if self._note else Group(heading, table)


def _bar(share: float) -> ProgressBar:
    return ProgressBar(total=1.0, completed=share, width=_BAR)
