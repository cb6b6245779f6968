"""The view of a project run: a line for each finished module, and on a terminal the modules in progress."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fitgym.project.generation import Event, Outcome

__all__ = ["ProjectView", "line"]

BAR = 24
"""Columns of a progress bar."""


class ProjectView:
    """Shows the progress of a project on stderr.

    Args:
        modules: number of modules.
        console: where to draw; stderr by default.
    """

    def __init__(self, modules: int, *, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._modules = modules
        self._done = 0
        self._running: dict[str, Event] = {}
        self._started = time.monotonic()
        self._live: Live | None = None
        self._note = ""

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        if self.console.is_terminal:
            self._live = Live(console=self.console, refresh_per_second=8, get_renderable=self._panel, transient=True)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        """Show an event."""
        if not event.module:
            self._note = event.note
            if event.spent >= 1.0:
                self.console.print(Text(f"note: {event.note}"), soft_wrap=True)
            return
        self._note = ""
        if event.outcome is None:
            self._running[event.module] = event
            return
        self._running.pop(event.module, None)
        self._done += 1
        said = f"[{self._done}/{self._modules}] {line(event.module, event.outcome)}"
        self.console.print(Text(said), soft_wrap=True)

    def _panel(self) -> RenderableType:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, overflow="ellipsis")
        table.add_column(width=BAR)
        table.add_column(no_wrap=True, overflow="ellipsis")
        clock = f"{time.monotonic() - self._started:.0f} s"
        bar = ProgressBar(total=max(1, self._modules), completed=self._done, width=BAR)
        table.add_row(Text("modules", style="bold"), bar, f"{self._done}/{self._modules}, {clock}")
        for name, event in self._running.items():
            table.add_row(Text(f"  {name}"), ProgressBar(total=1.0, completed=event.spent, width=BAR), Text(event.note))
        if self._note:
            table.add_row(Text(f"  {self._note}", style="dim"))
        return table


def line(module: str, outcome: Outcome) -> str:
    """Return the result of a module in one line."""
    if outcome.error:
        return f"{module}: not tested: {outcome.error}"
    if outcome.current:
        return f"{module}: up to date"
    assert outcome.record is not None
    return f"{module}: {figures(outcome.record)}"


def figures(record: Mapping[str, Any]) -> str:
    """Return the result of a run in a few words."""
    measured, mutants = record["measured"], record["mutants"]
    parts = [f"{record['tests']} test{'s' * (record['tests'] != 1)}"]
    if record["kept"]:
        parts[0] = f"{parts[0]} added to {record['kept']}"
    if existing := record.get("existing"):
        for noun in ("branches", "mutants"):
            before, after, total = (existing[noun][key] for key in ("before", "after", "total"))
            if after is not None:
                parts.append(f"{noun} {before} -> {after} of {total}")
        mutants = None
    elif measured is not None:
        parts.append(f"branches {measured['branches']['covered']}/{measured['branches']['total']}")
    if mutants is not None:
        parts.append(f"mutants {mutants['killed']}/{mutants['total']}")
    parts.append(f"{record['seconds']['search'] + record['seconds']['finish']:.1f} s")
    return ", ".join(parts)
