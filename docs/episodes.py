"""Draw the animations on the pages of the environments: `python docs/episodes.py`, about a minute.

Each one is a short episode with random actions and seed 0. The files are committed, because the searches behind them
take longer than the rest of the documentation. Run the script again when `fitgym/rendering` draws something else.
"""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium
from PIL import Image

import fitgym.envs

FOLDER = Path(__file__).parent / "static" / "environments"
STEPS = 7
MILLISECONDS = 800
LAST = 2400  # milliseconds that the last frame stays
SHOP = {"subject": "bookshop.prices", "path": str(Path(__file__).parent.parent / "examples" / "shop")}
OPTIONS = {"fitgym/Corpus-v0": {"population": 10}, "fitgym/Focus-v0": SHOP}
"""Options of the environments that are not made with `SHOP` and a small population or, without a subject, with none."""


def frames(name: str) -> list[Image.Image]:
    """The pictures of an episode in an environment, the one after `reset` first."""
    options = OPTIONS.get(name, {} if name in fitgym.envs.WITHOUT_SUBJECT else SHOP | {"population": 5})
    env = gymnasium.make(name, render_mode="rgb_array", **options)
    env.action_space.seed(0)
    env.reset(seed=0)
    found = [Image.fromarray(env.render())]
    over = False
    while not over and len(found) <= STEPS:
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        over = terminated or truncated
        found.append(Image.fromarray(env.render()))
    env.close()
    return found


def file_of(name: str) -> Path:
    """Where the animation of an environment lies: `fitgym/Toy-v0` has Toy-v0.webp."""
    return FOLDER / f"{name.partition('/')[2]}.webp"


def draw(name: str) -> None:
    """Write the animation of one environment, in 128 colours and without loss."""
    first, *rest = [frame.quantize(128, dither=Image.Dither.NONE).convert("RGB") for frame in frames(name)]
    shown = [MILLISECONDS] * len(rest) + [LAST]
    FOLDER.mkdir(exist_ok=True)
    first.save(file_of(name), save_all=True, append_images=rest, duration=shown, loop=0, lossless=True, method=6)


if __name__ == "__main__":
    for name in sys.argv[1:] or fitgym.envs.REGISTERED:
        draw(name)
        print(file_of(name), file_of(name).stat().st_size // 1024, "KB", flush=True)
