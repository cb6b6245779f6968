"""A game: a person chooses the fitness functions of an episode, then agents play the same episode."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from gymnasium import spaces

from fitgym.agents.base import is_saved
from fitgym.engine.choices import FITNESS
from fitgym.envs.base import SearchEnv
from fitgym.errors import InputError
from fitgym.player.film import film, scene
from fitgym.rendering.episode import Episode
from fitgym.rendering.palette import AGENTS
from fitgym.run.environment import agent_of, make
from fitgym.run.episode import play
from fitgym.run.record import record
from fitgym.run.setting import Setting

__all__ = ["BEST_CONSTANT", "RIVALS", "Game"]

BEST_CONSTANT: Final = "best constant"
"""The rival that tries every constant action and shows the best one."""

RIVALS: Final = ("ucb", "uniform", BEST_CONSTANT, "pretrained", "oracle")
"""Who plays against a person when nobody else is named; `pretrained` only where it has a policy for the actions."""

_MOST_CONSTANTS = 12  # actions that the best constant is chosen from
_TOLD: Final = {
    "ucb": "learns from the rewards of this episode only",
    "uniform": "draws every action by lot",
    "pretrained": "a policy trained on other modules",
    "oracle": "tries actions on copies of the search before each step",
}


class Game:
    """One episode of a person, and those of rivals with the same seed and budget.

    Args:
        setting: environment, subject, seed and budget.
        rivals: agents as `fitgym evaluate` names them, and `best constant`.

    Attributes:
        setting: as given; `again` takes the next seed.
        rivals: those that can act here.
        complete: the record of the person's last complete episode, for `fitgym replay`; its agent is called `you`.

    Raises:
        InputError: the environment has no catalogue of actions, or a rival cannot act in it.
        SubjectError: the subject cannot be found, imported or tested.
    """

    def __init__(self, setting: Setting, rivals: Sequence[str] = RIVALS) -> None:
        self.setting = setting
        self.complete: dict[str, Any] | None = None
        env = make(setting, render_mode="episode")
        if not isinstance(env, SearchEnv) or not isinstance(env.action_space, spaces.Discrete):
            raise InputError(
                f"environment '{setting.env}' cannot be played: expected a search with a catalogue of actions"
            )
        self.env = env
        try:
            self.rivals = tuple(name for name in rivals if self._can_act(name, optional=rivals is RIVALS))
            self._begin()
        except BaseException:
            env.close()
            raise

    @property
    def episode(self) -> Episode:
        """The person's episode so far."""
        return self._episode

    def film(self) -> dict[str, Any]:
        """The person's episode as a film, with what the page needs to ask for choices under `live`."""
        functions = self.env.actions.functions
        return {
            **film(self.episode),
            "live": {
                "actions": list(self.env.action_names),
                "functions": list(functions),
                "told": [(inspect.getdoc(FITNESS.load(name)) or "").partition("\n")[0] for name in functions],
                "rivals": list(self.rivals),
                "tones": list(AGENTS),
            },
        }

    def step(self, action: str) -> dict[str, Any]:
        """Take an action, and return what it adds to the film.

        Args:
            action: its name.

        Raises:
            InputError: there is no such action, or the episode has ended.
        """
        if self.episode.ended:
            raise InputError("the episode has ended: play another seed")
        *_, info = self.env.step(self.env.action_of(action))
        self._episode = self._shown(self.env)
        if self._episode.ended:
            self.complete = record(self.env, replace(self.setting, agent="you"), info)
        return scene(self._episode)

    def rival(self, name: str) -> dict[str, Any]:
        """Let a rival play the same episode.

        Args:
            name: one of `rivals`.

        Returns:
            `name`, `agent` (its colour), `told` in a few words, and its `film`.

        Raises:
            InputError: there is no such rival, or the person has not ended.
        """
        if name not in self.rivals:
            raise InputError(f"'{name}' does not play here, expected one of {', '.join(self.rivals) or 'nobody'}")
        if not self.episode.ended:
            raise InputError("the rivals play after you: end your episode first")
        if name != BEST_CONSTANT:
            agent = self._agent(name)
            return {
                "name": name,
                "agent": name.partition(":")[0],
                "told": _TOLD.get(name, "an agent that you named"),
                "film": film(self._played(agent)),
            }
        episodes = {action: self._played(f"fixed:{action}") for action in self.env.action_names}
        best = max(episodes, key=lambda action: episodes[action].steps[-1].value)  # the first of equal ones
        description = f"always {best}, the best of {len(episodes)} constants, known only afterwards"
        return {"name": name, "agent": "fixed", "told": description, "film": film(episodes[best])}

    def again(self) -> dict[str, Any]:
        """Begin another episode, with the next seed, and return its film."""
        self.setting = replace(self.setting, seed=self.setting.seed + 1)
        self._begin()
        return self.film()

    def close(self) -> None:
        """End the worker process."""
        self.env.close()

    def _begin(self) -> None:
        self.env.reset(seed=self.setting.seed)
        self._episode = self._shown(self.env)

    def _can_act(self, name: str, optional: bool) -> bool:
        """Whether a rival can act here; those that nobody named may be left out."""
        if name == BEST_CONSTANT:
            return len(self.env.action_names) <= _MOST_CONSTANTS
        setting = replace(self.setting, subject="", agent=name)
        env = make(setting)
        try:
            agent_of(setting, env)
        except InputError:
            if optional:
                return False
            raise
        finally:
            env.close()
        return True

    def _agent(self, name: str) -> str:
        """The agent with options: in a large catalogue the oracle looks at some actions only."""
        many = len(self.env.action_names) > _MOST_CONSTANTS
        return f"oracle:tries={_MOST_CONSTANTS}" if name == "oracle" and many and not is_saved(name) else name

    def _played(self, agent: str) -> Episode:
        """The episode of an agent. It runs in the person's worker, which is idle by then."""
        setting = replace(self.setting, agent=agent)
        env = make(setting, render_mode="episode", executor=self.env.executor)
        play(agent_of(setting, env), env, seed=setting.seed)
        return self._shown(env)

    @staticmethod
    def _shown(env: Any) -> Episode:
        episode = env.render()
        assert isinstance(episode, Episode), "the render mode says so"
        return episode
