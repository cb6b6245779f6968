"""The live view: what a running search is doing, on the terminal."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fitgym.generation import Progress

__all__ = ["LiveView"]


class LiveView:
    """Shows the progress of a run on stderr: a panel that is redrawn, or plain lines where there is no terminal.

    Args:
        subject, goal, agent: shown in the heading.
        quiet: show nothing.
        console: where to draw; stderr by default.
    """

    def __init__(self, subject: str, goal: str, agent: str, *, quiet: bool = False, console: Console | None = None):
        self.console = console or Console(stderr=True)
        self.heading = f"{subject} · goal {goal} · agent {agent}"
        self.quiet = quiet
        self._live: Live | None = None
        self._reported = -1  # the first report comes at once

    def __enter__(self) -> Self:
        if not self.quiet and self.console.is_terminal:
            self._live = Live(console=self.console, refresh_per_second=8, transient=False)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show where the run is."""
        if self.quiet:
            return
        if self._live is not None:
            self._live.update(self._panel(progress))
        elif int(progress.spent * 10) > self._reported or progress.phase != "search":
            self._reported = int(progress.spent * 10)
            self.console.print(self._line(progress), highlight=False, soft_wrap=True)

    def _line(self, progress: Progress) -> str:
        return (
            f"{progress.phase}: {progress.spent:.0%} of the budget, generation {progress.generation}, "
            f"{progress.executions} executions, {progress.note}"
        )

    def _panel(self, progress: Progress) -> Group:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", justify="right")
        table.add_column()
        table.add_row("generation", f"{progress.generation}   ({progress.executions:,} executions)")
        table.add_row("active", Text(" + ".join(progress.active), style="bold"))
        for name, (covered, total) in progress.coverage.items():
            share = f"{covered}/{total}" if name != "exception" else f"{covered} discovered"
            table.add_row(name, share)
        table.add_row("goal", f"{progress.goal_value:.4g}")
        table.add_row("last reward", f"{progress.reward:.4g}")
        table.add_row("budget", ProgressBar(total=1.0, completed=progress.spent, width=40))
        table.add_row("", progress.note)
        return Group(Text(self.heading, style="bold cyan"), table)
