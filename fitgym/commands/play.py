"""The command `fitgym play`: a person chooses the fitness functions, then agents play the same episode."""

from __future__ import annotations

import json as json_format
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from fitgym.commands.codes import DONE
from fitgym.commands.flags import with_options
from fitgym.commands.interruption import held
from fitgym.errors import InputError

__all__ = ["PLAY_EXAMPLES", "play"]

PLAY_EXAMPLES = """Examples:
  fitgym play textwrap
  fitgym play html.parser --goal coverage --seed 3
  fitgym play colorsys --actions upto:2 --against ucb --against policy
  fitgym play textwrap --no-browser --port 8000
"""

Names = Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)]


@with_options("path", "budget", "population", "actions", "goal")
def play(
    subject: str,
    /,
    *,
    goal: str = "exceptions",
    budget: str = "60g",
    population: int = 20,
    actions: str = "singles",
    seed: int = 0,
    against: Names = (),
    path: Path | None = None,
    port: int = 0,
    browser: bool = True,
    json: Path | None = None,
    options: Mapping[str, Any],
) -> int:
    """Play against the agents: choose the fitness functions of an episode, step by step, in your browser.

    The page shows the source with covered lines, the goal, the tests that were found and the rewards. At the end, agents
    play the same episode: the same seed, first population and budget. The server listens on 127.0.0.1 only; Ctrl-C
    ends it.

    Parameters
    ----------
    subject
        package.module, package.module:Class or path/to/file.py.
    goal
        What counts, see fitgym list goals.
    budget
        Of the episode: 60g (generations, three for each step) or 2000x (executions of test cases).
    population
        Number of individuals; a small population makes quick steps.
    actions
        What you choose from: singles, pairs, upto:K, or the catalogue of a paper.
    seed
        The same seed gives the same first population.
    against
        An agent to compare with; may be repeated (default: ucb, uniform, the best constant, pretrained where it has a
        policy for these actions, and oracle).
    path
        A folder that is searched first for the subject.
    port
        Of the page; 0 takes a free one.
    browser
        Open the page in a browser.
    json
        File for the record of your last complete episode, which fitgym replay repeats.
    """
    with held():
        import webbrowser
        from threading import Thread

        from fitgym.player.game import RIVALS, Game
        from fitgym.player.server import Server
        from fitgym.run.setting import Setting
        from fitgym.suite.text.export import write

    if not 0 <= port <= 65535:
        raise InputError(f"port is {port}, expected a number from 0 to 65535")
    setting = Setting.from_keywords(
        subject=subject,
        seed=seed,
        budget=budget,
        goal=goal,
        population=population,
        actions=actions,
        path=None if path is None else str(path),
        **options,
    )
    game = Game(setting, against or RIVALS)
    try:
        with Server(game, port) as server:
            sys.stdout.write(f"Play at {server.url} (Ctrl-C ends)\n")
            sys.stdout.flush()
            if browser:  # some browsers of a terminal return only when they are closed
                Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
            server.run()
    except KeyboardInterrupt:
        sys.stdout.write("\n")
        if json is not None and game.complete is not None:
            write(json_format.dumps(game.complete, indent=2) + "\n", json)
            sys.stdout.write(f"{json}: fitgym replay repeats it\n")
    finally:
        game.close()
    return DONE
