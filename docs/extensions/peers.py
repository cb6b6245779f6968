"""Draws the chart of branch coverage compared with Pynguin, from the committed table.

`python docs/extensions/peers.py` writes the file that the README shows. The landing page has the same drawing in its
own colours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from drawing import circle, label, line, svg

__all__ = ["FILE", "TABLE", "Row", "chart", "rows"]

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "benchmarks" / "peers" / "table.md"
FILE = ROOT / "benchmarks" / "peers" / "peers.svg"

NAMES = {
    "dynamosa": "DynaMOSA",
    "mosa": "MOSA",
    "mio": "MIO",
    "whole_suite": "whole suite",
    "random_search": "random search",
}
WIDTH, LEFT, RIGHT, TOP, STEP = 540, 118, 512, 104, 30


@dataclass(frozen=True)
class Row:
    """The coverage of both tools with one search algorithm: mean shares of branches over `modules` modules."""

    algorithm: str
    modules: int
    fitgym: float
    pynguin: float
    without: int
    """Modules for which Pynguin wrote no suite. They count as 0."""


def rows() -> list[Row]:
    """Return the rows of the committed table, with the algorithms in the order of `NAMES`."""
    found = {}
    for written in TABLE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in written.strip("|").split("|")]
        if cells[0] in NAMES:
            without = int(cells[-1].rpartition(",")[2])
            found[cells[0]] = Row(cells[0], int(cells[1]), float(cells[2]), float(cells[3]), without)
    return [found[name] for name in NAMES]


def budget() -> str:
    """Return the seconds that each tool had, as in the table, for example "10s"."""
    return re.search(r"(\d+s) each", TABLE.read_text("utf-8"))[1]


def chart(*, alone: bool = False) -> str:
    """Draw two dots for each algorithm, on a scale from no branches to all."""
    found = rows()
    bottom = TOP + STEP * len(found)
    ours = f"{min(r.fitgym for r in found):.2f} to {max(r.fitgym for r in found):.2f}"
    theirs = f"{min(r.pynguin for r in found):.2f} to {max(r.pynguin for r in found):.2f}"
    said = f"fitgym covers {ours} of the branches", f"Pynguin {theirs}, in {budget().removesuffix('s')} seconds each"
    shapes = [
        label(16, 28, f"{said[0]},", size=17),
        label(16, 50, said[1], size=17),
        label(16, 72, f"mean over {found[0].modules} modules, one seed", colour="faint"),
    ]
    for tick in range(0, 101, 25):
        x = _at(tick / 100)
        shapes += [
            line([(x, TOP - 18), (x, bottom - 8)], "line"),
            label(x, bottom + 10, f"{tick} %", colour="faint", anchor="middle"),
        ]
    for number, row in enumerate(found):
        y = TOP + STEP * number
        shapes += [
            label(LEFT - 14, y + 4, NAMES[row.algorithm], anchor="end"),
            line([(_at(row.pynguin), y), (_at(row.fitgym), y)], "line", 3),
            circle(_at(row.pynguin), y, 7, "orange"),
            circle(_at(row.fitgym), y, 7, "blue"),
        ]
        if not number:
            shapes += [
                label(_at(row.pynguin), y - 13, "Pynguin", colour="orange", anchor="middle"),
                label(_at(row.fitgym), y - 13, "fitgym", colour="blue", anchor="middle"),
            ]
    sentence = f"{', '.join(said)}: mean over {found[0].modules} modules."
    return svg(WIDTH, bottom + 26, shapes, sentence, alone=alone)


def _at(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * share


if __name__ == "__main__":
    FILE.write_text(chart(alone=True) + "\n", "utf-8")
    print(FILE)
