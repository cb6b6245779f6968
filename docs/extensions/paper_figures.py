"""Draws the figures of the paper that no other page has: verdicts on claims, and learning curves."""

from __future__ import annotations

import csv
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from drawing import circle, label, line, rect, svg
from evidence import OUTCOMES
from headroom_map import ladders
from papers import papers

__all__ = ["TABLE", "Score", "learning_chart", "scores", "verdict_chart"]

ROOT = Path(__file__).parent.parent.parent
CURVES = ROOT / "benchmarks" / "learning" / "curves.csv"
TABLE = ROOT / "benchmarks" / "learning" / "table.md"

_COLOURS = dict(zip(OUTCOMES, ("blue", "orange", "line"), strict=True))
_WIDTH = 720


def verdict_chart() -> str:
    """Draw a bar for each paper, one square for each claim."""
    found = papers(ROOT)
    total = {outcome: sum(one.count(outcome) for one in found) for outcome in OUTCOMES}
    said = f"Of {sum(total.values())} claims, " + ", ".join(f"{count} {outcome}" for outcome, count in total.items())
    left, size, step, top = 250, 22, 34, 62
    shapes = [label(16, 28, said, size=17)]
    for number, paper in enumerate(found):
        y = top + step * number
        shapes.append(label(left - 14, y + 16, paper.title.partition(":")[0], anchor="end"))
        at = left
        for outcome in OUTCOMES:
            for _ in range(paper.count(outcome)):
                shapes.append(rect(at, y, size - 4, size, _COLOURS[outcome]))
                at += size
    bottom = top + step * len(found)
    for number, outcome in enumerate(OUTCOMES):
        x = left + 150 * number
        shapes += [rect(x, bottom + 8, 14, 14, _COLOURS[outcome]), label(x + 20, bottom + 20, outcome, size=12)]
    return svg(_WIDTH, bottom + 36, shapes, f"{said}.")


@dataclass(frozen=True)
class Score:
    """A policy in one environment.

    Attributes:
        policy: its name.
        sees: "all", or "nothing" for observations of zeros and for policies that ignore them.
        score: its mean, with the interval, as text.
        tasks: number of tasks.
        seeds: number of training seeds, "" without training.
    """

    policy: str
    sees: str
    score: str
    tasks: str
    seeds: str

    @property
    def numbers(self) -> tuple[float, ...]:
        """Mean, low and high."""
        return tuple(map(float, re.findall(r"-?\d+\.\d+", self.score)))


def scores(judged: str) -> list[Score]:
    """Return the scores in an environment, from the table of `benchmarks/learning.py`."""
    found = []
    for row in TABLE.read_text("utf-8").partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if cells[0] == judged:
            found.append(Score(*cells[1:]))
    return found


def learning_chart(trained: str = "fitgym/Landscapes-v0", judged: str = "fitgym/Programs-v0") -> str:
    """Draw the learning curve of PPO, and beside it the scores where it was not trained."""
    shapes = [label(16, 28, "PPO learns on landscapes and beats every constant on programs", size=17)]
    shapes += [*_curve(trained, 60, 225, 82, 190), *_scores(trained, judged, 520, 170, 82, 190)]
    return svg(
        _WIDTH, 302, shapes, "The learning curve of PPO on landscapes, and the scores of its policies on programs."
    )


def _curve(env: str, left: float, width: float, top: float, height: float) -> Iterator[str]:
    """Draw the mean reward of training episodes, with the band of all seeds, beside policies that do not learn."""
    (known,) = (one for one in ladders() if one.env == env)
    curves = _curves(env)
    last = max(curves)

    def at(steps: float, value: float) -> tuple[float, float]:
        return left + width * steps / last, top + height * (0.9 - value) / 0.4

    yield label(left, top - 12, f"Training on {env.partition('/')[2]}: mean reward", size=12)
    for tick in (0.5, 0.6, 0.7, 0.8, 0.9):
        yield line([at(0, tick), at(last, tick)], "line", 0.5)
        yield label(left - 8, at(0, tick)[1] + 4, f"{tick:.1f}", size=11, colour="faint", anchor="end")
    lows = [at(steps, min(values)) for steps, values in curves.items()]
    highs = [at(steps, max(values)) for steps, values in curves.items()]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*highs, *reversed(lows)))
    yield f'<polygon points="{points}" fill="var(--band)"/>'
    for name, words, down in (
        ("random", "random", 12),
        ("best constant", "best constant", -4),
        (known.top.name, "best known", 4),
    ):
        value = known.rung(name).mean("final")
        colour = "orange" if words == "best known" else "faint"
        yield line([at(0, value), at(last, value)], colour, 1.5)
        yield label(left + width + 4, at(0, value)[1] + down, words, size=11, colour=colour)
    yield line([at(steps, statistics.fmean(values)) for steps, values in curves.items()], "blue", 2.5)
    yield circle(*at(last, statistics.fmean(curves[last])), 4, "blue")
    yield label(left + width, top + height + 18, f"{last:,} steps", size=11, colour="faint", anchor="end")
    yield label(left, top + height + 18, f"{max(map(len, curves.values()))} seeds", size=11, colour="faint")


def _scores(trained: str, judged: str, left: float, width: float, top: float, height: float) -> Iterator[str]:
    """Draw the scores of policies with their intervals, the lowest first."""
    found = scores(judged)
    best = max((one for one in found if one.policy.startswith("constant ")), key=lambda one: one.numbers[0])
    names = {f"PPO, {trained}": "PPO", "random": "random", "informed": "informed", best.policy: "best constant"}
    rows = [(_named(names[one.policy], one), one) for one in found if one.policy in names]
    rows.sort(key=lambda row: row[1].numbers[0])

    def x(value: float) -> float:
        return left + width * (value - 0.6) / 0.3

    tasks, seeds = rows[0][1].tasks, max(int(one.seeds or 0) for _, one in rows)
    yield label(left - 96, top - 12, f"Score on {judged.partition('/')[2]}, without training there", size=12)
    for tick in (0.6, 0.7, 0.8, 0.9):
        yield line([(x(tick), top), (x(tick), top + height)], "line", 0.5)
        yield label(x(tick), top + height + 18, f"{tick:.1f}", size=11, colour="faint", anchor="middle")
    for number, (name, one) in enumerate(rows):
        y = top + height * (number + 0.5) / len(rows)
        mean, low, high = one.numbers
        colour = "blue" if name == "PPO" else "faint"
        yield label(left - 10, y + 4, name, size=12, anchor="end")
        yield line([(x(low), y), (x(high), y)], colour, 2)
        yield circle(x(mean), y, 4, colour)
    said = f"{tasks} test programs, {seeds} training seeds"
    yield label(left + width, top + height + 34, said, size=11, colour="faint", anchor="end")


def _named(name: str, one: Score) -> str:
    return "PPO, sees nothing" if name == "PPO" and one.sees == "nothing" else name


def _curves(env: str) -> dict[int, list[float]]:
    """Return the values of all seeds by the mean number of steps of a part."""
    parts: dict[int, list[tuple[int, float]]] = {}
    with CURVES.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["env"] == env:
                parts.setdefault(int(row["part"]), []).append((int(row["steps"]), float(row["rewards"])))
    return {
        round(statistics.fmean(steps for steps, _ in found)): [value for _, value in found]
        for _, found in sorted(parts.items())
    }
