"""The command `fitgym collect`: record episodes of an agent as a dataset."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from fitgym.commands.codes import DONE
from fitgym.commands.flags import Text, with_options
from fitgym.commands.interruption import held

__all__ = ["COLLECT_EXAMPLES", "collect"]

COLLECT_EXAMPLES = """Examples:
  fitgym collect uniform --env fitgym/Landscapes-v0 --episodes 1000 --output data/random-v0
  fitgym collect oracle:informed=true --env fitgym/Landscapes-v0 --episodes 1000 --output data/informed-v0
  fitgym collect policies/mine --env fitgym/Landscapes-v0 --random 0.1 --output data/mine-v0
  fitgym train ppo --env fitgym/Landscapes-v0 --data data/informed-v0 --steps 4000 --output policies/cloned
  fitgym train dqn --env fitgym/Landscapes-v0 --data data/random-v0,data/mine-v0 --output policies/conservative
"""


@with_options("path", "budget")
def collect(
    agent: str,
    /,
    *,
    env: str,
    episodes: int = 200,
    seed: int = 0,
    random: float = 0.0,
    budget: Text = "",
    output: Path,
    quiet: Annotated[bool, Parameter(name=("--quiet", "-q"), negative=())] = False,
    options: Mapping[str, Any],
) -> int:
    """Record episodes of an agent in the format of Minari, with the probabilities of its actions (extra `offline`).

    The agent does not learn. `fitgym train --data` learns from the dataset.

    Parameters
    ----------
    agent
        uniform, fixed, oracle, or the folder of a trained ppo, a2c or dqn.
    env
        The environment, see `fitgym list envs`.
    episodes
        Number of episodes.
    seed
        Seed of the first episode; the next one has the next seed.
    random
        Probability of a random allowed action in place of the agent's.
    budget
        Budget of an episode: 100g (generations) or 3000x (executions of test cases).
    output
        Folder for the dataset, such as data/random-v0.
    quiet
        Show no progress on stderr.
    """
    with held():
        from fitgym.learning.dataset import Collected
        from fitgym.learning.dataset import collect as run
    from fitgym.run.setting import Setting

    returns: list[float] = []

    def show(episode: Collected) -> None:
        returns.append(episode.rewards)
        if not quiet:
            sys.stderr.write(
                f"{len(returns)} of {episodes}: seed {episode.seed}, {episode.steps} steps, rewards {episode.rewards:g}\n"
            )

    setting = Setting.from_keywords(env=env, agent=agent, seed=seed, budget=budget, **options)
    folder = run(setting, episodes, output, random=random, progress=show)
    sys.stdout.write(f"{episodes} episodes of {agent}, mean rewards {sum(returns) / len(returns):.4g}: {folder}\n")
    return DONE
