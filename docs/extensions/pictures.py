"""Pictures for the generated pages: an agent's choices, a search's coverage, an environment's episode.

The pictures of agents and searches are drawn during the build, from runs on formulas that take milliseconds. Those of
environments are committed files; see `docs/episodes.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from drawing import circle, figure, label, line, rect, svg
from gymnasium.spaces import Discrete
from headroom_map import chart as headroom_chart
from peers import TABLE, chart
from sphinx.application import Sphinx

from fitgym.agents.base import Transition, kind, make
from fitgym.engine import SEARCH
from fitgym.formulas.artificial import ArtificialEngine, Problem

__all__ = ["agent_picture", "goal_picture", "of_page", "search_picture", "with_picture"]

ROOT = Path(__file__).parent.parent.parent
STEPS = 400
OPTIONS = 4
UNLEARNED = ("fixed", "in_turn", "random_fixed", "uniform")
EVALUATIONS = 3000
TARGETS = {"gradient": 20, "infeasible": 10}
GOALS = ("exceptions", "diversity", "strong_mutation")


# ------------------------------------------------------------------------------------------------------------- agents


def agent_picture(name: str) -> str:
    """Draw an agent's choices on a bandit whose best option changes once; empty if it needs training first."""
    cls = kind(name)
    if Discrete not in cls.spaces or not (cls.learns or name in UNLEARNED):
        return ""
    chosen = _choices(name)
    half = STEPS // 2
    best = np.repeat([0, OPTIONS - 1], half)
    before, after = (f"{100 * np.mean(part):.0f} %" for part in np.split(chosen == best, 2))
    shapes, left, right = [], 90, 700
    width = (right - left) / STEPS
    shapes.append(
        label(
            16,
            24,
            f"{name} chooses the best option in {before} of the steps before it changes, in {after} after",
            size=15,
        )
    )
    for option in range(OPTIONS):
        y = 42 + 24 * option
        shapes.append(label(left - 10, y + 14, f"option {option + 1}", colour="faint", anchor="end"))
        for part in np.flatnonzero([option == best[0], option == best[-1]]):
            shapes.append(rect(left + part * half * width, y, half * width, 20, "band"))
        shapes += [
            rect(left + start * width, y + 2, (end - start) * width, 16, "blue")
            for start, end in _spells(chosen == option)
        ]
    for step in (0, half, STEPS):
        anchor = {0: "start", STEPS: "end"}.get(step, "middle")
        shapes.append(label(left + step * width, 42 + 24 * OPTIONS + 14, f"step {step}", colour="faint", anchor=anchor))
    drawing = svg(720, 42 + 24 * OPTIONS + 24, shapes, f"Choices of {name} over {STEPS} steps.")
    return figure(
        drawing,
        f"One run with seed 0 on {OPTIONS} options with rewards of 0.7 for the best and 0.3 for the others, standard "
        "deviation 0.2. Each bar is a choice. The best option is shaded.",
    )


def _choices(name: str) -> np.ndarray:
    agent, rng, seen, chosen = make(name, OPTIONS), np.random.default_rng(0), np.full(2, 0.5, np.float32), []
    for step in range(STEPS):
        best = 0 if step < STEPS // 2 else OPTIONS - 1
        action = agent.act(seen, {})
        agent.observe(Transition(seen, action, float(rng.normal(0.7 if action == best else 0.3, 0.2)), seen))
        chosen.append(int(action))
    return np.array(chosen)


def _spells(mask: np.ndarray) -> list[tuple[int, int]]:
    """Return the first step and the step after the last one of each unbroken row of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


# ----------------------------------------------------------------------------------------------------------- searches


def search_picture(name: str) -> str:
    """Draw the coverage of a search on an artificial problem, compared with all others."""
    curves = {other: _curve(other) for other in SEARCH.names() if other != "one_goal"}
    if name not in curves:
        return ""
    left, right, top, bottom = 60, 560, 50, 200
    most = TARGETS["gradient"]

    def place(curve: list[tuple[int, int]]) -> list[tuple[float, float]]:
        points = [(0, 0), *curve]
        return [(left + (right - left) * x / EVALUATIONS, bottom - (bottom - top) * y / most) for x, y in points]

    reached = curves[name][-1][1]
    title = f"{name} covers {reached} of {most} feasible targets in {EVALUATIONS:,} evaluations"
    shapes = [label(16, 24, title, size=15)]
    for count in (0, most // 2, most):
        y = bottom - (bottom - top) * count / most
        shapes += [
            line([(left, y), (right, y)], "line"),
            label(left - 8, y + 4, str(count), colour="faint", anchor="end"),
        ]
    for other, curve in sorted(curves.items(), key=lambda item: item[0] == name):
        shapes.append(line(place(curve), "blue" if other == name else "muted", 3 if other == name else 1.5))
    spread = _apart({other: place(curve)[-1][1] for other, curve in curves.items()}, 16)
    for other, y in spread.items():
        shapes.append(label(right + 10, y + 4, other, colour="blue" if other == name else "faint"))
    shapes.append(label(right, bottom + 20, f"{EVALUATIONS:,} evaluations", colour="faint", anchor="end"))
    drawing = svg(720, bottom + 30, shapes, title + ".")
    return figure(
        drawing,
        f"One run with seed 0 on an artificial problem: {most} targets with a gradient and {TARGETS['infeasible']} that "
        "nothing covers. One run does not rank the algorithms; the results pages do.",
    )


@cache
def _curve(name: str) -> list[tuple[int, int]]:
    """Return evaluations and covered targets after each generation."""
    engine = ArtificialEngine(Problem.draw(TARGETS, seed=0), search=name, seed=0, budget=EVALUATIONS)
    found = []
    while engine.spent < 1.0:
        engine.step()
        found.append((engine.evaluations, engine.n_covered))
    return found


def _apart(wanted: Mapping[str, float], least: float) -> dict[str, float]:
    """Return heights in the same order, with enough distance for readable labels."""
    found: dict[str, float] = {}
    last = -np.inf
    for name, y in sorted(wanted.items(), key=lambda item: item[1]):
        last = found[name] = max(y, last + least)
    return found


# -------------------------------------------------------------------------------------------------------------- goals


def goal_picture(name: str) -> str:
    """Draw the results of agents under a goal, from the committed table; empty for a goal without one."""
    text = (ROOT / "benchmarks" / "agents" / "table.md").read_text("utf-8")
    section = re.search(rf"^## {name}, (.*?)$(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if section is None:
        return ""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in section[2].splitlines()]
    shares = {row[0]: float(row[4]) for row in cells if len(row) > 5 and re.fullmatch(r"\d\.\d+", row[4])}
    left, right, top, step = 150, 690, 62, 24
    *_, least = shares
    most = next(iter(shares))
    title = f"Goal {name}: from {shares[least]:.2f} ({least}) to {shares[most]:.2f} ({most}) of the best run"
    shapes = [label(16, 24, title, size=15)]
    bottom = top + step * len(shares)
    for tick in range(0, 101, 25):
        x = left + (right - left) * tick / 100
        shapes += [
            line([(x, top - 14), (x, bottom - 10)], "line"),
            label(x, bottom + 6, f"{tick} %", colour="faint", anchor="middle"),
        ]
    for number, (agent, share) in enumerate(shares.items()):
        y = top + step * number
        shapes += [label(left - 14, y + 4, agent, anchor="end"), circle(left + (right - left) * share, y, 6, "blue")]
    drawing = svg(720, bottom + 20, shapes, f"What agents reach under the goal {name}.")
    return figure(
        drawing,
        "Mean share of the best run on the same module, over 12 modules and two seeds. Most differences are within chance; the "
        "results page has intervals and tests.",
    )


# -------------------------------------------------------------------------------------------------------------- pages

MAKERS: Mapping[str, Callable[[str], str]] = {
    "agents": agent_picture,
    "search": search_picture,
    "goals": goal_picture,
}


def of_page(page: str) -> str:
    """Return the picture of a page as HTML; empty if it has none."""
    folder, _, name = page.partition("/")
    if folder in MAKERS and name != "index":
        return MAKERS[folder](name)
    return ""


def with_picture(page: str, text: str) -> str:
    """Return the text of a page with its picture below the heading."""
    if page.startswith("environments/"):
        return _with_animation(text)
    drawing = of_page(page)
    if not drawing:
        return text
    heading, rule, rest = text.split("\n", 2)
    return f"{heading}\n{rule}\n\n.. raw:: html\n\n   {drawing.strip()}\n\n{rest}"


def _with_animation(text: str) -> str:
    heading, _, rest = text.partition("\n")
    name = heading.removeprefix("# ").strip()
    file = ROOT / "docs" / "static" / "environments" / f"{name}.webp"
    if not file.exists():
        return text
    return (
        f"{heading}\n\n```{{figure}} /static/environments/{file.name}\n:alt: An episode of {name} with random actions.\n"
        f':figclass: episode\n\nAn episode with random actions and seed 0, drawn by `render_mode="rgb_array"`.\n```\n{rest}'
    )


def _read(app: Sphinx, page: str, content: list[str]) -> None:
    content[0] = with_picture(page, content[0])
    if page == "index":
        app.env.note_dependency(str(TABLE))
        content[0] = content[0].replace("(the chart beside Pynguin)", chart())
    if page == "benchmark":
        content[0] = content[0].replace("(the headroom map)", headroom_chart())


def setup(app: Sphinx) -> dict[str, Any]:
    """Add pictures to pages when Sphinx reads them."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
