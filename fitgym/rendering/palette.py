"""The palette: one colour per meaning, light and dark, for frames, reports, figures and interactive pages.

The hues are those of Okabe and Ito, which colour-blind readers can distinguish. Text colours have a contrast of at
least 4.5 to 1 with the page. Colour never carries a meaning alone: lines have marks, bars have labels.

References:
    Okabe and Ito 2008, Color Universal Design: How to make figures and presentations that are friendly to Colorblind
    people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["AGENTS", "CYCLE", "TONES", "Tone", "agent_tone", "css", "rgb"]


@dataclass(frozen=True, slots=True)
class Tone:
    """One colour in a light and a dark version.

    Attributes:
        light: the hexadecimal colour on a white page.
        dark: the hexadecimal colour on a dark page.
    """

    light: str
    dark: str


TONES: Final[Mapping[str, Tone]] = MappingProxyType(
    {
        "page": Tone("#ffffff", "#0d1117"),
        "ink": Tone("#1b1f24", "#e6edf3"),
        "soft": Tone("#57606a", "#9198a1"),
        "line": Tone("#d0d7de", "#3d444d"),
        "fill": Tone("#f6f8fa", "#161b22"),
        "mark": Tone("#0072b2", "#56b4e9"),
        "warn": Tone("#8a5a00", "#d29922"),
        "covered": Tone("#56b4e9", "#2f7fb8"),
        "covered-fill": Tone("#e6f2fb", "#10263a"),
        "new": Tone("#e69f00", "#e69f00"),
        "new-fill": Tone("#fdf0d0", "#3a2c08"),
        "missed": Tone("#8c959f", "#6e7681"),
        "raised": Tone("#b5369d", "#f0a3dc"),
        "raised-fill": Tone("#fbeaf6", "#34152c"),
        "chosen": Tone("#d55e00", "#e8763a"),
        "near": Tone("#bcdcf1", "#1d3f5c"),
        "string": Tone("#0a5c36", "#8fd6ac"),
        "keyword": Tone("#6f42c1", "#c3a6ff"),
    }
)
"""Colours by meaning; `page`, `ink`, `soft`, `line` and `fill` are the colours of text and boxes."""

CYCLE: Final = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8c8c00", "#7f7f7f")
"""Colours of series without a meaning, in order."""

AGENTS: Final[Mapping[str, Tone]] = MappingProxyType(
    {
        "you": Tone("#d55e00", "#e8763a"),
        "ucb": Tone("#0072b2", "#56b4e9"),
        "uniform": Tone("#7f7f7f", "#9a9a9a"),
        "fixed": Tone("#009e73", "#2fc79b"),
        "pretrained": Tone("#e69f00", "#e69f00"),
        "oracle": Tone("#cc79a7", "#e39cc4"),
    }
)
"""Colours of agents; an agent has the same colour in every figure."""

_OTHER: Final = Tone("#6f42c1", "#c3a6ff")


def agent_tone(agent: str) -> Tone:
    """Return the colour of an agent, ignoring options such as the `branch` of `fixed:branch`.

    Args:
        agent: the name of the agent, with or without options.
    """
    return AGENTS.get(agent.partition(":")[0], _OTHER)


def rgb(name: str) -> tuple[int, int, int]:
    """Return red, green and blue of a tone on a white page, for pictures.

    Args:
        name: a key of `TONES`.

    Raises:
        KeyError: there is no such tone.
    """
    text = TONES[name].light
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def css() -> str:
    """Return all tones as CSS variables: `--ink`, and `--agent-ucb` for an agent.

    A page follows the colour scheme of the reader's system. `data-theme="light"` or `"dark"` on its root overrides it.
    """
    tones = {**TONES, **{f"agent-{name}": tone for name, tone in AGENTS.items()}, "agent-other": _OTHER}

    def variables(side: str) -> str:
        return " ".join(f"--{name}: {getattr(tone, side)};" for name, tone in tones.items())

    return (
        f":root {{ color-scheme: light dark; {variables('light')} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {variables('dark')} }} }}\n"
        f":root[data-theme=light] {{ color-scheme: light; {variables('light')} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {variables('dark')} }}\n"
    )
