"""Draws the headroom of all environments: where deciding pays, and how much.

`PYTHONPATH=benchmarks python docs/extensions/headroom_map.py` writes the file for other pages. `docs/benchmark.md` and the paper
have the same drawing in the colours of the page.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from drawing import circle, label, line, rect, svg
from provenance import newer

from fitgym.headroom.ladder import Ladder, Rung
from fitgym.study.statistics import Interval

__all__ = ["FILE", "Row", "chart", "ladders", "rows"]

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "benchmarks" / "headroom"
FILE = FOLDER / "map.svg"

_NO_RUNG = ("constant ", "rule ", "greedy")
WIDTH, LEFT, RIGHT, TOP, STEP = 720, 168, 500, 108, 32


@dataclass(frozen=True, slots=True)
class Row:
    """The headroom of one environment, in shares of the value of the best known policy.

    Attributes:
        env: the environment without its namespace.
        random: of random actions.
        constant: of the best constant action.
        best: name of the best known policy.
        gain: its value minus that of the best constant, with a 95 % interval, in the unit of the environment.
        old: the code has changed since the measurement.
    """

    env: str
    random: float
    constant: float
    best: str
    gain: Interval
    old: bool

    @property
    def pays(self) -> bool:
        """Whether a policy is shown to reach more than the best constant."""
        return self.gain.low > 0.0


def ladders() -> list[Ladder]:
    """Return the committed ladders."""
    values: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    with (FOLDER / "environments" / "ladder.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["rung"].startswith(_NO_RUNG):
                found = values.setdefault((row["env"], row["rung"]), {})
                found.setdefault(row["task"], []).append((float(row["final"]), float(row["area"])))
    rungs: dict[str, list[Rung]] = {}
    tasks: dict[str, tuple[str, ...]] = {}
    for (env, name), found in values.items():
        both = np.array(list(found.values()))
        rungs.setdefault(env, []).append(Rung(name, name, both[..., 0], both[..., 1]))
        tasks[env] = tuple(found)
    return [Ladder(env, tasks[env], tuple(found)) for env, found in rungs.items()]


def rows() -> list[Row]:
    """Return a row for each environment, the largest share that a constant leaves first."""
    found = []
    for one in ladders():
        top, constant = one.top, one.rung("best constant")
        value = top.mean("final")
        found.append(
            Row(
                one.env.partition("/")[2],
                one.rung("random").mean("final") / value,
                constant.mean("final") / value,
                top.name,
                one.gap(constant, top),
                newer(ROOT, f"benchmarks/headroom/environments/ladder.md#{one.env}"),
            )
        )
    return sorted(found, key=lambda row: (not row.pays, row.constant))


def chart(*, alone: bool = False) -> str:
    """Draw three dots for each environment: random actions, the best constant, the best known policy.

    Args:
        alone: the picture is a separate file. It does not mark old measurements, because later changes would age it.
    """
    found = rows()
    pays = [row for row in found if row.pays]
    bottom = TOP + STEP * len(found)
    said = f"Deciding pays in {len(pays)} of {len(found)} environments"
    more = (
        f"the best constant action reaches {_percent(pays[0])} to {_percent(pays[-1])} of the best known policy there"
    )
    shapes = [
        label(16, 28, f"{said}:", size=17),
        label(16, 50, more, size=15),
        label(16, 72, "final value, mean over test tasks; bars: what the best constant leaves", colour="faint"),
        label(RIGHT + 24, TOP - 24, "gain over the best constant", size=12, colour="faint"),
    ]
    for tick in range(0, 101, 25):
        x = _at(tick / 100)
        shapes.append(line([(x, TOP - 12), (x, bottom - 12)], "line"))
        shapes.append(label(x, bottom + 8, f"{tick} %", colour="faint", anchor="middle"))
    for number, row in enumerate(found):
        y = TOP + STEP * number
        shapes.append(label(LEFT - 14, y + 4, row.env + ("*" if row.old and not alone else ""), anchor="end"))
        if row.pays:
            shapes.append(rect(_at(row.constant), y - 7, _at(1.0) - _at(row.constant), 14, "band"))
        shapes += [
            circle(_at(row.random), y, 4, "faint"),
            circle(_at(1.0), y, 7, "orange"),
            circle(_at(row.constant), y, 6, "blue"),
        ]
        gain = (
            f"+{_three(row.gain.value)} [{_three(row.gain.low)}, {_three(row.gain.high)}]"
            if row.pays
            else "none is shown"
        )
        shapes.append(label(RIGHT + 24, y + 4, gain, colour="ink" if row.pays else "faint"))
    for x, colour, words in (
        (LEFT, "faint", "random"),
        (LEFT + 90, "blue", "best constant"),
        (LEFT + 215, "orange", "best known"),
    ):
        shapes += [circle(x + 5, bottom + 30, 5, colour), label(x + 16, bottom + 34, words, size=12)]
    if any(row.old for row in found) and not alone:
        shapes.append(label(16, bottom + 56, "* measured before the code last changed", size=12, colour="faint"))
    return svg(WIDTH, bottom + 68, shapes, f"{said}: {more}.", alone=alone)


def _percent(row: Row) -> str:
    return f"{100 * row.constant:.0f} %"


def _three(number: float) -> str:
    return f"{number:.3f}" if number < 1.0 else f"{number:.1f}"


def _at(share: float) -> float:
    return LEFT + (RIGHT - LEFT) * share


if __name__ == "__main__":
    FILE.write_text(chart(alone=True) + "\n", "utf-8")
    print(FILE)
