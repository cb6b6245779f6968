"""Draws the figures of the paper that no other page has: verdicts on claims, and learning curves."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

from drawing import circle, label, line, rect, svg
from evidence import OUTCOMES
from headroom_map import ladders
from papers import papers

__all__ = ["learning_chart", "verdict_chart"]

ROOT = Path(__file__).parent.parent.parent
CURVES = ROOT / "benchmarks" / "learning" / "curves.csv"

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


def learning_chart(envs: tuple[str, ...] = ("fitgym/Landscapes-v0", "fitgym/Programs-v0")) -> str:
    """Draw the mean reward of training episodes, with the band of all seeds, beside three policies that do not learn."""
    known = {one.env: one for one in ladders()}
    width, height, top, gap = 225, 190, 76, 120
    shapes = [label(16, 28, "How PPO improves while it is trained", size=17)]
    shapes.append(label(16, 50, "mean reward of training episodes; shaded: all training seeds", colour="faint"))
    for panel, env in enumerate(envs):
        curves = _curves(env)
        left = 60 + panel * (width + gap)
        last = max(curves)

        def at(steps: float, value: float, left: float = left, last: int = last) -> tuple[float, float]:
            return left + width * steps / last, top + height * (0.9 - value) / 0.4

        for tick in (0.5, 0.6, 0.7, 0.8, 0.9):
            shapes.append(line([at(0, tick), at(last, tick)], "line", 0.5))
            shapes.append(label(left - 8, at(0, tick)[1] + 4, f"{tick:.1f}", size=11, colour="faint", anchor="end"))
        lows = [at(steps, min(values)) for steps, values in curves.items()]
        highs = [at(steps, max(values)) for steps, values in curves.items()]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (*highs, *reversed(lows)))
        shapes.append(f'<polygon points="{points}" fill="var(--band)"/>')
        for name, words in (
            ("random", "random"),
            ("best constant", "best constant"),
            (known[env].top.name, "best known"),
        ):
            value = known[env].rung(name).mean("final")
            colour = "orange" if words == "best known" else "faint"
            shapes.append(line([at(0, value), at(last, value)], colour, 1.5))
            down = 12 if words == "random" else -4
            shapes.append(
                label(
                    left + width + 4,
                    at(0, value)[1] + (down if words != "best known" else 4),
                    words,
                    size=11,
                    colour=colour,
                )
            )
        shapes.append(line([at(steps, statistics.fmean(values)) for steps, values in curves.items()], "blue", 2.5))
        end = at(last, statistics.fmean(curves[last]))
        shapes += [circle(*end, 4, "blue"), label(left, top - 8, env.partition("/")[2], size=13)]
        shapes.append(label(left + width, top + height + 18, f"{last:,} steps", size=11, colour="faint", anchor="end"))
        seeds = f"{max(map(len, curves.values()))} seeds"
        shapes.append(label(left, top + height + 18, seeds, size=11, colour="faint"))
    return svg(_WIDTH, top + height + 30, shapes, "Learning curves of PPO on two environments.")


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
