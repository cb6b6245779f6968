"""Figures of a study: SVG whose text has the colour of the surrounding page, and PNG on white."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fitgym.rendering.palette import CYCLE
from fitgym.study.results import GRID, PHASES, Results
from fitgym.study.statistics import Ranks, normalised

__all__ = ["FIGURES", "Drawing", "figures", "ranks_figure"]

Floats = NDArray[np.float64]

_INK = "#010203"  # placeholder for the colour of text, replaced in the SVG
_MOST = 10


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure that can be drawn; the same figure always gives the same bytes.

    Attributes:
        draw: fills the axis, or the column of axes if there are `rows`.
        height: approximate height, in lines of text.
        rows: number of axes below each other, 0 for a single axis.
    """

    draw: Callable[[Any], None]
    height: int
    rows: int = 0

    def svg(self) -> str:
        """Return the figure for a page: without a background, and with text in the colour of the page's text."""
        written = io.StringIO()
        self._save(written, format="svg", metadata={"Date": None, "Creator": None})
        text = written.getvalue()
        return text[text.index("<svg") :].replace(_INK, "currentColor")

    def png(self) -> bytes:
        """Return the figure for a paper or slides: on white, 1440 pixels wide.

        The image has 256 colours, which reduces its size to a third.
        """
        from PIL import Image

        drawn, written = io.BytesIO(), io.BytesIO()
        self._save(drawn, format="png", dpi=200, facecolor="white", metadata={"Software": None})
        Image.open(drawn).convert("RGB").quantize().save(written, "PNG", optimize=True)
        return written.getvalue()

    def _save(self, file: Any, **options: Any) -> None:
        import matplotlib
        from matplotlib.figure import Figure

        style: dict[Any, Any] = {
            **{"svg.hashsalt": "fitgym", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"},
            **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), _INK),
            **{
                "axes.spines.top": False,
                "axes.spines.right": False,
                "axes.facecolor": "none",
                "figure.facecolor": "none",
            },
        }
        with matplotlib.rc_context(style):
            figure = Figure(figsize=(7.2, 0.7 + 0.42 * self.height), layout="constrained")
            axes = figure.subplots(max(1, self.rows), squeeze=False)[:, 0]
            self.draw(axes if self.rows else axes[0])
            figure.savefig(file, **options)


def figures(results: Results, ranks: Ranks | None) -> dict[str, tuple[str, Drawing]]:
    """Return every figure for which there are results: by name, its caption and its drawing."""
    found = {}
    if ranks is not None and ranks.best != ranks.names:  # equal ranks cannot be drawn on a scale
        found["ranks"] = (
            "Mean ranks over the subjects, 1 the best. A bar joins arms between which no difference is shown.",
            ranks_figure(ranks),
        )
    for name, (caption, draw) in FIGURES.items():
        drawing = draw(results)
        if drawing is not None:
            found[name] = (caption, drawing)
    return found


def boxes(results: Results) -> Drawing | None:
    """Return box plots of the metric over all runs of each arm.

    The metric is normalised; for a metric of 0 or 1 its mean on each subject is shown.
    """
    shares = results.centres() if results.likelihood else normalised(results.metric)
    values = [shares[arm][~np.isnan(shares[arm])] for arm in results.arms]
    if not any(found.size for found in values):
        return None
    unit = "likelihood on each subject" if results.likelihood else "share of the most"
    return Drawing(lambda axis: _boxes(axis, results.arms, values, f"{results.plan.metric}, {unit}"), len(values))


def reached(results: Results) -> Drawing | None:
    """Return curves of the share of each arm's runs that have reached the final level of the baseline, over the run."""
    found = results.reaches()
    if not found:
        return None

    def lines(axis: Any) -> None:
        for number, (arm, reach) in enumerate(found.items()):
            axis.step(GRID, reach.curve, where="post", color=CYCLE[number % len(CYCLE)], label=arm, linewidth=1.6)
        axis.axhline(0.5, color=_INK, linewidth=0.6, linestyle=":")
        axis.set_xlabel("share of the run")
        axis.set_ylabel(f"runs at the level of {results.plan.baseline or 'the median'}")
        axis.set_ylim(0.0, 1.02)
        axis.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16))

    return Drawing(lines, 6)


def times(results: Results) -> Drawing | None:
    """Return box plots of the milliseconds per generation, by arm."""
    values = [np.array(results.generation_ms[arm]) for arm in results.arms]
    if not any(found.size for found in values):
        return None
    return Drawing(lambda axis: _boxes(axis, results.arms, values, "ms for each generation"), len(values))


def curves(name: str) -> Callable[[Results], Drawing | None]:
    """Return a function that draws a curve for each arm, with the band between the quartiles."""

    def draw(results: Results) -> Drawing | None:
        found = results.curves(name)
        if not found:
            return None

        def lines(axis: Any) -> None:
            for number, (arm, curve) in enumerate(found.items()):
                colour = CYCLE[number % len(CYCLE)]
                axis.plot(GRID, curve.middle, color=colour, label=arm, linewidth=1.6)
                axis.fill_between(GRID, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0)
            axis.set_xlabel("share of the run")
            axis.set_ylabel(f"{name}, share of the most")
            axis.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.16))

        return Drawing(lines, 6)

    return draw


def chosen(results: Results) -> Drawing | None:
    """Return bar charts of the ten most frequent actions of each arm that takes more than one."""
    arms = _choosing(results)
    if not arms:
        return None

    def bars(axes: Any) -> None:
        for axis, arm in zip(axes, arms, strict=True):
            most = results.choices[arm].times.most_common(_MOST)
            every = results.choices[arm].times.total()
            axis.barh([name for name, _ in most], [count / every for _, count in most], color=CYCLE[0])
            axis.invert_yaxis()
            axis.set_title(arm, loc="left")
            axis.set_xlabel("share of all choices")

    return Drawing(bars, 5 * len(arms), rows=len(arms))


def heat(results: Results) -> Drawing | None:
    """Return heat maps of the choices: in each tenth of the runs, the share of each action."""
    arms = _choosing(results)
    if not arms:
        return None

    def maps(axes: Any) -> None:
        for axis, arm in zip(axes, arms, strict=True):
            choices = results.choices[arm]
            names = [name for name, _ in choices.times.most_common(_MOST)]
            counts = np.array([choices.phases[name] for name in names])
            every = np.sum(list(choices.phases.values()), axis=0)
            shown = axis.imshow(counts / np.maximum(1.0, every), aspect="auto", cmap="cividis", vmin=0.0)
            axis.set_yticks(range(len(names)), names)
            axis.set_xticks(np.arange(0, PHASES + 1, 2) - 0.5, [f"{10 * phase} %" for phase in range(0, PHASES + 1, 2)])
            axis.set_title(arm, loc="left")
            axis.figure.colorbar(shown, ax=axis)

    return Drawing(maps, 5 * len(arms), rows=len(arms))


def ranks_figure(ranks: Ranks) -> Drawing:
    """Return the critical-difference diagram of Demsar 2006."""
    from scikit_posthocs import critical_difference_diagram

    p_values = _matrix(ranks)

    def draw(axis: Any) -> None:
        critical_difference_diagram(
            dict(zip(ranks.names, ranks.means, strict=True)),
            p_values,
            ax=axis,
            color_palette=dict.fromkeys(ranks.names, _INK),
            crossbar_props={"color": _INK},
        )

    return Drawing(draw, max(3, len(ranks.names) // 2 + 2))


FIGURES: Mapping[str, tuple[str, Callable[[Results], Drawing | None]]] = {
    "boxes": (
        "All runs, as shares of the most that any run reached on the subject; for a metric of 0 or 1, its mean.",
        boxes,
    ),
    "reached": (
        "Share of the runs that have reached the median final level of the baseline's runs on the same subject.",
        reached,
    ),
    "value": (
        "Value of the goal during the runs: medians, and the band between the quartiles.",
        curves("value"),
    ),
    "covered": ("Coverage during the runs: medians, and the band between the quartiles.", curves("covered")),
    "reward": ("Reward of each step during the runs: medians, and the band between the quartiles.", curves("reward")),
    "chosen": ("The ten most frequent actions.", chosen),
    "heat": ("Actions over time: share of the choices in each tenth of the runs.", heat),
    "times": ("Time per generation, including all work of fitgym.", times),
}


def _choosing(results: Results) -> list[str]:
    """Return the arms that take more than one action."""
    return [arm for arm in results.arms if arm in results.choices and len(results.choices[arm].times) > 1]


def _boxes(axis: Any, arms: tuple[str, ...], values: list[Floats], label: str) -> None:
    there = [(arm, found) for arm, found in zip(arms, values, strict=True) if found.size]
    style = {name: {"color": _INK} for name in ("boxprops", "whiskerprops", "capprops")}
    axis.boxplot(
        [found for _, found in there],
        orientation="horizontal",
        tick_labels=[arm for arm, _ in there],
        medianprops={"color": CYCLE[4], "linewidth": 2},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": _INK},
        **style,
    )
    axis.invert_yaxis()
    axis.set_xlabel(label)


def _matrix(ranks: Ranks) -> Any:
    import pandas

    table = pandas.DataFrame(1.0, index=list(ranks.names), columns=list(ranks.names))
    for (first, second), p in ranks.pairs.items():
        table.loc[first, second] = table.loc[second, first] = p
    return table
