"""What trials with a goal and an agent share: the names of fixed agents, and what must be known before anything runs."""

from __future__ import annotations

from pathlib import Path

from fitgym.agents._deep import Deep
from fitgym.agents.base import kind, make, trained
from fitgym.engine import parse_search
from fitgym.envs.fitness_selection import GOALS
from fitgym.study.trials.base import about

__all__ = ["agent_text", "check_names"]


def agent_text(goal: str, agent: str) -> str:
    """An agent as it is made: "own" is the goal's own fitness function all the time, "all" are all of its functions."""
    functions = GOALS.load(goal)("gain").functions
    return {"own": f"fixed:{functions[0]}", "all": f"fixed:{'+'.join(functions)}"}.get(agent, agent)


def check_names(goal: str, agent: str, search: str) -> None:
    """See to it that goal, agent and search are known, and that the agent need not be trained first.

    Raises:
        InputError: one is not, or the agent must; the message begins with the name of the setting and a colon.
    """
    with about("goal"):
        GOALS.load(goal)
    with about("agent"):
        text = agent_text(goal, agent)
        if issubclass(kind(text), Deep) and not Path(text).is_dir():
            trained(make(text, 2))
    with about("search"):
        parse_search(search)
