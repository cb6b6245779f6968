"""The report of a ladder: a table as text and Markdown, every value as CSV, and a figure."""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fitgym.headroom.ladder import MEASURES, Ladder, Rung
from fitgym.rendering.palette import CYCLE
from fitgym.study.figures import Drawing
from fitgym.suite.text.export import write

__all__ = ["csv_of", "figure", "markdown", "text", "write_all"]

_HEADS = ("rung", "final value", "area under the curve", "score", "policy", "episodes to find it")


def rows(ladder: Ladder) -> list[tuple[str, ...]]:
    """Return a row for each rung, then for each further policy."""
    return [_row(ladder, one) for one in (*ladder.rungs, *ladder.others)]


def text(ladder: Ladder) -> str:
    """Return the table for a terminal."""
    table = [_HEADS, *rows(ladder)]
    widths = [max(len(row[column]) for row in table) for column in range(len(_HEADS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join([*lines, "", *_notes(ladder)]) + "\n"


def markdown(ladders: Sequence[Ladder], command: str) -> str:
    """Return the tables of several environments as a page.

    Args:
        ladders: one ladder for each environment.
        command: the command that measured them.
    """
    parts = ["# Headroom", "", f"Made by `{command}`. Score: 0 for random actions, 1 for the highest rung.", ""]
    for ladder in ladders:
        parts += [f"## {ladder.env}", "", f"{len(ladder.tasks)} test tasks, {_seeds(ladder)} seeds each.", ""]
        parts += [_line(_HEADS), _line(["---"] * len(_HEADS)), *map(_line, rows(ladder)), "", *_notes(ladder), ""]
    return "\n".join(parts)


def csv_of(ladders: Sequence[Ladder]) -> str:
    """Return every episode as CSV: environment, rung, policy, task, seed, final value and area."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("env", "rung", "policy", "task", "seed", *MEASURES))
    for ladder in ladders:
        for rung in (*ladder.rungs, *ladder.others):
            for task, name in enumerate(ladder.tasks):
                for seed in range(rung.final.shape[1]):
                    values = (f"{getattr(rung, measure)[task, seed]:.6g}" for measure in MEASURES)
                    writer.writerow((ladder.env, rung.name, rung.policy, name, seed, *values))
    return out.getvalue()


def figure(ladder: Ladder) -> Drawing:
    """Draw the rungs with their intervals, the lowest at the bottom."""
    shown = [(one.name, ladder.interval(one)) for one in ladder.rungs]

    def draw(axis: Any) -> None:
        for height, (_, found) in enumerate(shown):
            axis.plot((found.low, found.high), (height, height), color=CYCLE[0], linewidth=2)
            axis.plot(found.value, height, "o", color=CYCLE[0])
        axis.set_yticks(range(len(shown)), [name for name, _ in shown])
        axis.set_ylim(-0.6, len(shown) - 0.4)
        axis.set_xlabel("value at the end of an episode, mean and 95 % interval")
        axis.set_title(f"{ladder.env}: {_title(ladder)}", fontsize=9, loc="left")

    return Drawing(draw, height=max(4, len(shown)))


def write_all(ladders: Sequence[Ladder], folder: Path, command: str) -> None:
    """Write `ladder.md`, `ladder.csv` and a figure of each environment into a folder; make the folder if necessary.

    Ladders of other environments in the folder are kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page, rows = folder / "ladder.md", folder / "ladder.csv"
    for file, made, parted in (
        (page, markdown(ladders, command), _sections),
        (rows, csv_of(ladders), _blocks),
    ):
        before = parted(file.read_text("utf-8")) if file.exists() else {}
        write("".join((before | parted(made)).values()).rstrip("\n") + "\n", file)
    for ladder in ladders:
        write(figure(ladder).svg(), folder / f"{ladder.env.rpartition('/')[2]}.svg")


def _sections(page: str) -> dict[str, str]:
    """Return the parts of a page by their headings; the introduction has the heading ""."""
    first, *parts = (f"{part.rstrip()}\n\n" for part in re.split(r"^(?=## )", page, flags=re.MULTILINE))
    return {"": first} | {part.partition("\n")[0]: part for part in parts}


def _blocks(table: str) -> dict[str, str]:
    """Return the lines of a CSV file by the environment, their first cell; the header is one block."""
    found: dict[str, str] = defaultdict(str)
    for line in table.splitlines(keepends=True):
        found[line.partition(",")[0]] += line
    return found


def _row(ladder: Ladder, rung: Rung) -> tuple[str, ...]:
    cells = []
    for measure in MEASURES:
        found = ladder.interval(rung, measure)
        cells.append(f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")
    return rung.name, *cells, f"{ladder.score(rung):.2f}", rung.policy, str(rung.episodes or "")


def _notes(ladder: Ladder) -> list[str]:
    found = [ladder.verdict()]
    if ladder.shares_randomness:
        found.append(
            "The oracle's copies met the same luck as the real episode, so it knows more than any agent could."
        )
    return found


def _title(ladder: Ladder) -> str:
    gap = ladder.gap(ladder.rung("best constant"), ladder.top)
    if gap.low <= 0.0:
        return "nothing is shown to beat the best constant"
    return f"deciding is worth up to {gap.value:.3f} [{gap.low:.3f}, {gap.high:.3f}] more than the best constant"


def _seeds(ladder: Ladder) -> int:
    return int(ladder.rungs[0].final.shape[1])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
