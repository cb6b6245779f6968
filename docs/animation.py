"""Draw the animation of the README and the landing page: `python docs/animation.py`, about twenty seconds.

It shows one real search on `examples/shop/bookshop/prices.py`: the lines that run, the branches covered, then three of
the tests that `fitgym generate` exports. Budgets are counted, so the script gives the same picture each time. It is an
SVG whose styles follow light and dark, and which stands still where the reader has asked for less motion.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import gymnasium

import fitgym
import fitgym.envs

HERE = Path(__file__).parent
SHOP = HERE.parent / "examples" / "shop"
FILE = HERE / "static" / "generate.svg"

SUBJECT = "bookshop.prices"
SHOWN = range(56, 79)
"""The lines of the source that are shown: two functions."""
TESTS = 3
LONGEST = 58
"""Characters of a line of a test that fit."""

SECONDS = 11.0
START, SEARCHED = 0.9, 5.4
"""Seconds at which the search begins and ends."""

STYLE = """
svg { --ground: #ffffff; --panel: #f6f7f9; --ink: #1b1f24; --faint: #6a717a; --line: #dfe3e8; --bar: #0072b2;
      --ran: #d3e8f6; --new: #f5c35b; --good: #00795a; }
@media (prefers-color-scheme: dark) { svg { --ground: #131416; --panel: #1b1d21; --ink: #e4e7eb; --faint: #9aa1ab;
      --line: #33373d; --bar: #56b4e9; --ran: #123f5c; --new: #b9770b; --good: #35c394; } }
text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--ink);
       white-space: pre; }
.faint { fill: var(--faint); } .good { fill: var(--good); } .strong { font-weight: bold; }
.panel { fill: var(--panel); stroke: var(--line); } .ran { fill: var(--ran); } .bar { fill: var(--bar); }
.curve { fill: none; stroke: var(--bar); stroke-width: 2.5; }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; } .passing { opacity: 0; } }
"""


@dataclass(frozen=True)
class Search:
    """What a search came to: when each line first ran, and how many branches were covered after each generation."""

    since: dict[int, int]
    covered: list[int]
    total: int


def searched() -> Search:
    """A small search, one generation for each step."""
    options = {"path": str(SHOP), "population": 8, "search": "mosa", "budget": "90g", "generations_per_step": 1}
    env = gymnasium.make("fitgym/BranchCoverage-v0", subject=SUBJECT, render_mode="rgb_array", **options)
    env.reset(seed=3)
    action = env.unwrapped.action_of("branch")
    over = False
    while not over:
        _, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
    episode = env.unwrapped._display.episode
    env.close()
    counts = [step.covered["branch"] for step in episode.steps]
    return Search(dict(episode.since), [covered for covered, _ in counts], counts[0][1])


def exported() -> list[list[str]]:
    """Some tests of the functions that are shown, as lines: of each kind the first that fits."""
    with TemporaryDirectory() as folder:
        run = fitgym.generate(SUBJECT, path=str(SHOP), budget="3000x", output=folder)
        text = Path(run.suite_path).read_text("utf-8")
    tests = [
        test.strip().splitlines() for test in re.findall(r"^def test_.*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
    ]
    fitting = [test for test in tests if max(map(len, test)) <= LONGEST]
    kinds = ("test_voucher_.*raises", r"test_voucher_price_\d+_returns", r"test_shipping.*returns")
    found = [next(test for test in fitting if re.match(f"def {kind}", test[0])) for kind in kinds]
    return [[line for line in test if line] for test in found[:TESTS]]


def at(generation: int, search: Search) -> float:
    """The second at which a generation is shown."""
    return START + (SEARCHED - START) * generation / (len(search.covered) - 1)


def appear(name: str, second: float) -> str:
    """The style of what is not there before a second; without animations it is there."""
    share = 100 * second / SECONDS
    return (
        f"@keyframes {name} {{ 0%, {share:.2f}% {{ opacity: 0; }} {share + 1.5:.2f}%, 100% {{ opacity: 1; }} }}\n"
        f".{name} {{ animation: {name} {SECONDS}s infinite; }}\n"
    )


def flash(name: str, second: float) -> str:
    """The style of a line that runs for the first time: orange, then blue."""
    share = 100 * second / SECONDS
    return (
        f"@keyframes {name} {{ 0%, {share:.2f}% {{ opacity: 0; }} {share + 0.5:.2f}% {{ opacity: 1; fill: var(--new); }} "
        f"{share + 7:.2f}%, 100% {{ opacity: 1; fill: var(--ran); }} }}\n"
        f".{name} {{ animation: {name} {SECONDS}s infinite; }}\n"
    )


def between(name: str, start: float, end: float) -> str:
    """The style of a number that is shown for some seconds."""
    first, last = 100 * start / SECONDS, 100 * end / SECONDS
    return (
        f"@keyframes {name} {{ 0%, {first:.2f}% {{ opacity: 0; }} {first + 0.01:.2f}%, {last:.2f}% {{ opacity: 1; }} "
        f"{last + 0.01:.2f}%, 100% {{ opacity: 0; }} }}\n.{name} {{ animation: {name} {SECONDS}s infinite; }}\n"
    )


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """One line of text."""
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(words, quote=False)}</text>'


def source(search: Search) -> tuple[str, str]:
    """The styles and shapes of the panel with the source."""
    lines = (SHOP / "bookshop" / "prices.py").read_text("utf-8").splitlines()
    styles, shapes = "", [text(20, 66, "bookshop/prices.py", "faint")]
    for step in sorted({search.since[line] for line in SHOWN if line in search.since}):
        styles += flash(f"g{step}", at(step, search))
    for row, number in enumerate(SHOWN):
        y = 86 + 16 * row
        if number in search.since:
            shapes.append(f'<rect x="52" y="{y - 12}" width="388" height="16" class="ran g{search.since[number]}"/>')
        words = lines[number - 1]
        shapes.append(text(44, y, str(number), "faint", "end"))
        shapes.append(text(56, y, words if len(words) <= 53 else f"{words[:52]}…"))
    return styles, "\n".join(shapes)


def progress(search: Search) -> tuple[str, str]:
    """The styles and shapes of the curve of covered branches."""
    left, right, top, bottom = 476, 836, 92, 158
    x = [left + (right - left) * number / (len(search.covered) - 1) for number in range(len(search.covered))]
    y = [bottom - (bottom - top) * covered / search.total for covered in search.covered]
    path = f"M {x[0]:.1f} {y[0]:.1f} " + " ".join(f"H {a:.1f} V {b:.1f}" for a, b in zip(x[1:], y[1:], strict=True))
    first, last = 100 * START / SECONDS, 100 * SEARCHED / SECONDS
    styles = (
        f"@keyframes draw {{ 0%, {first:.2f}% {{ stroke-dashoffset: 1; }} {last:.2f}%, 100% {{ stroke-dashoffset: 0; }} }}\n"
        f".curve {{ stroke-dasharray: 1; animation: draw {SECONDS}s infinite linear; }}\n"
    )
    shapes = [
        f'<path class="curve" pathLength="1" d="{path}"/>',
        f'<path d="M {left} {bottom} H {right}" stroke="var(--line)"/>',
    ]
    changes = [n for n, now in enumerate(search.covered) if not n or now != search.covered[n - 1]]
    for change, following in zip(changes, [*changes[1:], None], strict=True):
        words, name = f"{search.covered[change]} of {search.total} branches", f"n{change}"
        begin = at(change, search) if change else 0.0
        styles += appear(name, begin) if following is None else between(name, begin, at(following, search))
        shapes.append(text(836, 66, words, f"strong {name}{'' if following is None else ' passing'}", "end"))
    return styles, "\n".join([text(476, 66, "covered by the search", "faint"), *shapes])


def suite(tests: list[list[str]]) -> tuple[str, str]:
    """The styles and shapes of the generated tests, one after the other."""
    styles, shapes, y = appear("t", SEARCHED + 0.3), [], 212
    shapes.append(text(476, y, "generated_tests/test_bookshop_prices.py", "faint t"))
    for number, lines in enumerate(tests):
        styles += appear(f"t{number}", SEARCHED + 0.6 + 0.8 * number)
        y += 9
        for line in lines:
            y += 16
            shapes.append(text(476, y, line, f"t{number}{'' if line.startswith(' ') else ' strong'}"))
    styles += appear("passed", SEARCHED + 0.9 + 0.8 * len(tests))
    return styles, "\n".join([*shapes, text(476, 478, "all tests pass", "good strong passed")])


def typed() -> tuple[str, str]:
    """The styles and shapes of the command."""
    words = "$ fitgym generate bookshop.prices"
    share = 100 * (START - 0.1) / SECONDS
    styles = (
        f"@keyframes type {{ 0% {{ clip-path: inset(0 100% 0 0); }} {share:.2f}%, 100% {{ clip-path: inset(0); }} }}\n"
        f".typed {{ animation: type {SECONDS}s infinite steps({len(words)}); }}\n"
    )
    return styles, text(20, 29, words, "strong typed")


def drawn(search: Search, tests: list[list[str]]) -> str:
    """The whole picture."""
    parts = [typed(), source(search), progress(search), suite(tests)]
    styles, shapes = ("\n".join(part) for part in zip(*parts, strict=True))
    said = (
        "fitgym generates tests for a module: the search covers its lines one after the other, then tests appear "
        "that call voucher and shipping and assert what came back."
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 500" role="img" aria-label="{said}">
<style>{STYLE}{styles}</style>
<rect width="860" height="500" rx="10" fill="var(--ground)"/>
<rect x=".5" y=".5" width="859" height="499" rx="10" class="panel"/>
<path d="M 0 44.5 H 860 M 452.5 44 V 500 M 453 184.5 H 860" stroke="var(--line)"/>
{shapes}
</svg>
"""


if __name__ == "__main__":
    FILE.write_text(drawn(searched(), exported()), "utf-8")
    print(FILE, FILE.stat().st_size // 1024, "KB")
