"""The base class of agents: `predict` acts without learning, `act` and `observe` learn during a run.

`predict` has the signature of a Stable-Baselines3 model, so an agent can be evaluated like such a model. It changes
neither the agent nor the random numbers that `act` will draw. `act` and `observe` are for agents that learn while they
choose. All agents have `learn`, `save` and `load`.

An extension is a file of this folder with one subclass of `Agent`. It implements `act` and `choose`. If it learns, it
also implements `update`, `arrays` and `restore`. If it acts in spaces other than `Discrete`, it lists them in `spaces`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from gymnasium.spaces import Box, Discrete, Space
from numpy.typing import ArrayLike, NDArray

from fitgym.agents._batches import batch_of, each_of
from fitgym.agents._learning import Learning
from fitgym.agents._numbers import whole
from fitgym.agents._saved import arrays_of, description_of, same_environment, write
from fitgym.agents._space import KNOWN, allowed_by, checked, n_of, parts, plain, read, stacked, usual
from fitgym.agents.transition import Action, Transition
from fitgym.errors import InputError
from fitgym.registry import Registry, keywords, parse_options
from fitgym.run.episode import play

if TYPE_CHECKING:
    import gymnasium

__all__ = ["Agent", "Callback", "Transition", "agents", "agents_for", "is_saved", "kind", "make", "trained"]


def agents() -> Registry[Agent]:
    """The agents that can be named on the command line."""
    return Registry("fitgym.agents", Agent, "agent", parts=("transition",))


def agents_for(space: type[Space[Any]]) -> list[str]:
    """The names of the agents that act in a kind of space, such as `MultiBinary`; imports all agents."""
    registry = agents()
    return [name for name in registry.names() if space in registry.load(name).spaces]


def make(
    text: str,
    action_space: Space[Any] | int,
    *,
    action_names: Sequence[str] | None = None,
    seed: int = 0,
    reseed: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Agent:
    """Make the agent that `text` names: `name`, `name:argument`, or the folder of a saved agent.

    `ucb`, `ucb:c=0.5`, `fixed:exception+branch`, `uniform` and `policies/mine` are examples. A saved agent continues with
    its own random generators. With `reseed` they start again from `seed`, so that repeated runs differ.

    Args:
        text: names the agent.
        action_space: the space that the agent acts in.
        action_names: see `Agent`.
        seed: see `Agent`.
        reseed: a saved agent uses `seed` instead of its saved generators.
        environment: names of parts of the environment, such as `{"catalogue": "singles", "features": "full-v1"}`. They
            are saved with the agent. A saved agent refuses an environment in which one of its names differs.

    Raises:
        UnknownName: there is no such agent.
        InputError: the agent refuses the argument or the space, or was trained for another environment.
    """
    if is_saved(text):
        agent = Agent.load(text, action_space, action_names, environment)
        agent.rng, agent._predict_rng = _generators(seed) if reseed else (agent.rng, agent._predict_rng)
        return agent
    name, argument = _split(text)
    cls = agents().load(name)
    agent = cls(action_space, action_names=action_names, seed=seed, **cls.options(argument))
    agent.environment = dict(environment or {})
    return agent


def is_saved(text: str) -> bool:
    """Whether the text names the folder of a saved agent."""
    return (Path(text) / "agent.json").is_file()


def kind(text: str) -> type[Agent]:
    """The class of the agent that `text` names, see `make`.

    Raises:
        UnknownName: there is no such agent.
        InputError: the argument is wrong, or the folder does not hold an agent.
    """
    if is_saved(text):
        return agents().load(str(description_of(Path(text))["agent"]))
    name, argument = _split(text)
    cls = agents().load(name)
    cls.options(argument)
    return cls


def _split(text: str) -> tuple[str, str]:
    """The name of an agent, and what follows the colon; nothing there is an InputError."""
    name, colon, argument = text.partition(":")
    if argument.strip() or not colon:
        return name, argument
    raise InputError(f"agent '{text}' ends in a colon: write '{name}', or options behind the colon")


def trained(agent: Agent) -> Agent:
    """The same agent, if it can act sensibly.

    Raises:
        InputError: it has to be trained first.
    """
    if not agent.ready:
        raise InputError(f"agent '{_name(type(agent))}' {agent.lacking}")
    return agent


Callback = Callable[["Agent", Transition], "bool | None"]
"""Called by `learn` after every step; learning ends when it returns False."""


class Agent(ABC):
    """Chooses one action of its space at each step.

    Every keyword-only argument of a subclass's constructor is a hyper-parameter and is kept in an attribute of the
    same name; that is how `save` finds them.

    Args:
        action_space: a space of a kind in `spaces`: `Discrete(n)` starting at 0 (or just `n`), `MultiBinary(n)`, or a
            bounded `Box` of shape `(n,)`.
        action_names: the names of the n actions, bits or numbers; "0", "1" and so on if not given.
        seed: of the two generators of the agent, one for `act` and one for `predict`.

    Attributes:
        action_space: the space.
        n_actions: n, the number of actions (`Discrete`), bits (`MultiBinary`) or numbers (`Box`).
        environment: names of parts of the environment that the agent was made for, see `make`.
        made: the training history, see `fitgym.learning.training`; empty if it was not recorded.

    Raises:
        InputError: the agent does not act in this space, the number of names is not n, or the seed is no whole number.
    """

    spaces: ClassVar[tuple[type[Space[Any]], ...]] = (Discrete,)
    """The kinds of action spaces that the agent acts in: some of `Discrete`, `MultiBinary` and `Box`."""

    learns: ClassVar[bool] = False
    """Whether `observe` changes what the agent does."""

    trained_on: ClassVar[tuple[str, ...]] = ()
    """The feature sets of an agent that is shipped trained, the default first; empty for other agents."""

    earlier: ClassVar[Mapping[str, Any]] = {}
    """Hyper-parameters that are missing in agents saved by earlier versions, with their values."""

    def __init__(
        self, action_space: Space[Any] | int, action_names: Sequence[str] | None = None, seed: int = 0
    ) -> None:
        self.action_space: Space[Any] = self._accepted(action_space)
        self.n_actions = n_of(self.action_space)
        self.action_names = tuple(action_names) if action_names is not None else tuple(map(str, range(self.n_actions)))
        if len(self.action_names) != self.n_actions:
            what = parts(self.action_space)
            raise InputError(f"{len(self.action_names)} action names were given for {self.n_actions} {what}")
        self.seed = whole(seed, "the seed", 0)
        self.environment: dict[str, str] = {}
        self.made: dict[str, Any] = {}
        self.rng, self._predict_rng = _generators(self.seed)
        self._n_updates = 0

    @classmethod
    def _accepted(cls, action_space: Space[Any] | int) -> Space[Any]:
        """The space in its canonical form.

        Raises:
            InputError: the agent does not act in this space.
        """
        space = usual(action_space)
        own = " and ".join(kind.__name__ for kind in cls.spaces)
        if space is None:
            raise InputError(
                f"{cls.__name__} cannot act in {action_space}, only in {own}, and no other agent acts in that space: use "
                f"{KNOWN}"
            )
        if type(space) not in cls.spaces:
            others = ", ".join(agents_for(type(space)))
            raise InputError(
                f"{cls.__name__} cannot act in {space}, only in {own}; agents that act in {type(space).__name__}: {others}"
            )
        return space

    # Acting

    @abstractmethod
    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """Choose the next action. The agent may draw from `self.rng` and count the choice."""

    @abstractmethod
    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """Choose an action by the current policy, without changing the agent.

        Args:
            observation: a single one, never a batch.
            allowed: which actions may be taken: `(n_actions,)` for `Discrete`; `(2 * n_actions,)` for `MultiBinary`,
                where entry 2i allows 0 and entry 2i + 1 allows 1 for bit i; all true for `Box`. At least one action is
                allowed.
            rng: the generator for a random choice; None for the deterministic choice of the best action.
        """

    def predict(
        self,
        observation: Any,
        state: tuple[NDArray[Any], ...] | None = None,
        episode_start: ArrayLike | None = None,
        deterministic: bool = False,
        action_masks: ArrayLike | None = None,
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], ...] | None]:
        """Choose actions for one observation or a batch. Changes neither the agent nor the numbers that `act` will draw.

        With `deterministic`, no random number is drawn.

        Args:
            observation: a number or vector, or an array with one more axis for a batch.
            state: from the last call; only recurrent policies use it.
            episode_start: for each entry of the batch, whether an episode begins. An array implies a batch.
            deterministic: take the best action.
            action_masks: which actions are allowed, as in `choose`, with a first axis for a batch if they differ; ignored
                for `Box`.

        Returns:
            The actions and the state. Actions of `Discrete` have shape `()` for one observation and `(batch,)` for a
            batch, others `(n_actions,)` and `(batch, n_actions)`. Their type is that of the space.
        """
        batch = batch_of(observation, episode_start)
        n = 1 if batch is None else batch
        rng = None if deterministic else self._predict_rng
        given = None if isinstance(self.action_space, Box) else action_masks
        masks = allowed_by(self.action_space, None) if given is None else np.asarray(given, bool)
        if batch is None:
            masks = masks.reshape(-1)
        rows = masks if masks.ndim == 2 else np.broadcast_to(masks, (n, masks.size))
        if len(rows) != n:
            raise InputError(f"{len(rows)} action masks were given for {n} observations")
        seen = [observation] if batch is None else each_of(observation, batch)
        starts = np.broadcast_to(False if episode_start is None else np.asarray(episode_start, bool).reshape(-1), n)
        chosen, state = self.choose_each(seen, [self._checked(row) for row in rows], rng, state, starts)
        return stacked(self.action_space, chosen, batch), state

    def choose_each(
        self,
        observations: Sequence[Any],
        allowed: Sequence[NDArray[np.bool_]],
        rng: np.random.Generator | None,
        state: tuple[NDArray[Any], ...] | None,
        starts: NDArray[np.bool_],
    ) -> tuple[Sequence[Action], tuple[NDArray[Any], ...] | None]:
        """Choose an action for each observation, and return the new state, which only recurrent policies use.

        Args:
            observations: one for each environment.
            allowed: for each environment, the allowed actions.
            rng: as in `choose`.
            state: from the last call, None at first; read only.
            starts: for each environment, whether an episode begins.
        """
        return [self.choose(seen, mask, rng) for seen, mask in zip(observations, allowed, strict=True)], state

    def allowed(self, info: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Which actions `info["action_mask"]` allows, as in `choose`; all of them if there is no mask.

        Raises:
            InputError: the mask has another length or allows nothing.
        """
        mask = info.get("action_mask")
        return allowed_by(self.action_space, None) if mask is None else self._checked(np.asarray(mask, bool))

    def _checked(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return allowed_by(self.action_space, mask)

    # Learning

    @property
    def ready(self) -> bool:
        """Whether the agent can act; False for an agent that needs training and has had none."""
        return True

    @property
    def lacking(self) -> str:
        """Why the agent is not ready and what to do, as the rest of a sentence that begins with its name."""
        name = _name(type(self))
        return f"knows nothing yet: train it with `fitgym train {name} ...` and name the folder it was saved in"

    def repertoire(self) -> Sequence[Action] | None:
        """The actions that the agent can take; None for all."""
        return None

    def watch(self, env: gymnasium.Env[Any, Any]) -> None:  # noqa: B027 (meant to be optional)
        """Receive the environment before the first episode.

        Ordinary agents ignore it and use observations and infos only. References that look ahead, such as `oracle`, keep
        it.
        """

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:  # noqa: B027 (meant to be optional)
        """Start an episode. Agents with a state that lasts for an episode reset it here."""

    def observe(self, transition: Transition) -> None:
        """Learn from one step.

        Raises:
            InputError: the action is not in this agent's space.
        """
        checked(self.action_space, transition.action)
        self.update(transition)
        self._n_updates += 1

    def update(self, transition: Transition) -> None:  # noqa: B027 (agents that do not learn leave it empty)
        """Learn from a transition whose action is valid. Agents that learn implement this method."""

    @property
    def n_updates(self) -> int:
        """Number of observed transitions."""
        return self._n_updates

    def learn(
        self,
        env: gymnasium.Env[Any, Any],
        total_timesteps: int | None = None,
        *,
        episodes: int | None = None,
        callback: Callback | None = None,
        seed: int | None = None,
    ) -> Self:
        """Act in `env` and observe each transition, until a limit is reached or the callback returns False.

        Args:
            env: must have this agent's action space.
            total_timesteps: the most steps; the last episode may stay unfinished.
            episodes: the most episodes.
            callback: called as `callback(agent, transition)` after each step; returning False ends learning.
            seed: of the first `env.reset`; later episodes continue the environment's random stream.

        Raises:
            InputError: there is no limit, or the environment has other actions.
        """
        if total_timesteps is None and episodes is None:
            raise InputError("learning needs a limit: give total_timesteps or episodes")
        self.check(env.action_space)
        self.watch(env)
        limit = Learning(self, total_timesteps, callback)
        done = 0
        while limit.proceed() and (episodes is None or done < episodes):
            play(self, env, seed=seed if done == 0 else None, hooks=(limit,))
            done += 1
        return self

    def check(
        self,
        action_space: Space[Any] | int,
        action_names: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Check that the agent fits an environment.

        Args:
            action_space: of the environment.
            action_names: of the environment; not compared if not given.
            environment: see `make`; only names that both sides have are compared.

        Raises:
            InputError: the space, the number of actions, their names or the environment differ.
        """
        same_environment("this agent", self.environment, environment)
        space = self._accepted(action_space)
        n, what = n_of(space), parts(space)
        if type(space) is type(self.action_space) and n != self.n_actions:
            raise InputError(f"the environment has {n} {what}, this agent was made for {self.n_actions}")
        if plain(space) != plain(self.action_space):
            raise InputError(f"the environment's action space is {space}, this agent was made for {self.action_space}")
        for i, (theirs, ours) in enumerate(zip(action_names or self.action_names, self.action_names, strict=True)):
            if theirs != ours:
                raise InputError(f"action {i} is '{theirs}' in the environment and '{ours}' for this agent")

    # Keeping

    @classmethod
    def options(cls, argument: str) -> dict[str, Any]:
        """Parse the text after the colon on the command line, `key=value,key=value`, to constructor arguments.

        Raises:
            InputError: a key is unknown, or a value is not JSON.
        """
        words = [name for name, value in keywords(cls).items() if isinstance(value, str)]
        return parse_options(argument, cls.hyper_parameter_names(), f"agent '{_name(cls)}'", words)

    @classmethod
    def hyper_parameter_names(cls) -> list[str]:
        """The keyword-only arguments of the constructor."""
        return list(keywords(cls))

    def hyper_parameters(self) -> dict[str, Any]:
        """The values of the keyword-only arguments of the constructor."""
        return {name: getattr(self, name) for name in self.hyper_parameter_names()}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The learnt state as arrays by name. Arrays hold numbers only, because nothing is pickled."""
        return {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:  # noqa: B027 (nothing learnt, nothing to restore)
        """Restore the learnt state from `arrays`."""

    def save(self, path: str | Path) -> Path:
        """Write the agent to the folder `path`, as `agent.json` and `arrays.npz` without pickles; returns the folder.

        A loaded agent continues exactly as this one would, with the same generators.
        """
        description = {
            "agent": _name(type(self)),
            "space": plain(self.action_space),
            "action_names": self.action_names,
            "environment": self.environment,
            "seed": self.seed,
            "hyper_parameters": self.hyper_parameters(),
            "n_updates": self.n_updates,
            **({"made": self.made} if self.made else {}),
            "generators": [self.rng.bit_generator.state, self._predict_rng.bit_generator.state],
        }
        return write(Path(path), description, self.arrays())

    @classmethod
    def load(
        cls,
        path: str | Path,
        action_space: Space[Any] | int | None = None,
        action_names: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Self:
        """Load a saved agent.

        Args:
            path: the folder.
            action_space: of the environment; compared with the agent's if given.
            action_names: likewise.
            environment: likewise, see `make`.

        Raises:
            InputError: the folder holds no agent, or one of another kind or format, or the agent does not fit the action
                space or the environment.
        """
        folder = Path(path)
        description = description_of(folder)
        arrays = arrays_of(folder)
        name = description["agent"]
        # A subclass loads its own kind only; `Agent.load` finds the kind in the registry.
        found = agents().load(name) if cls is Agent else cls
        if _name(found) != name or not issubclass(found, cls):
            raise InputError(f"'{folder}' holds the agent '{name}', not '{_name(cls)}'")
        known = description.get("environment", {})
        same_environment(f"the policy in '{folder}'", known, environment)
        try:
            agent = found._restored(description, arrays)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError) as error:
            raise InputError(
                f"the agent in '{folder}' is damaged: {type(error).__name__} {error}; train it again"
            ) from None
        if action_space is not None:
            agent.check(action_space, action_names)
        return agent

    @classmethod
    def _restored(cls, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make an agent of this class from its saved form."""
        names = description["action_names"]
        # Files of earlier versions do not name the space, which was always Discrete.
        space = read(description.get("space", {"kind": "Discrete", "n": len(names)}))
        agent = cls(space, names, description["seed"], **{**cls.earlier, **description["hyper_parameters"]})
        agent.environment, agent.made = dict(description.get("environment", {})), dict(description.get("made", {}))
        agent.restore(arrays)
        agent._n_updates = description["n_updates"]
        for generator, state in zip((agent.rng, agent._predict_rng), description["generators"], strict=True):
            generator.bit_generator.state = state
        return agent


def _generators(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """One for `act` and one for `predict`."""
    acting, predicting = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(acting), np.random.default_rng(predicting)


def _name(cls: type[Agent]) -> str:
    return cls.__module__.rpartition(".")[2]
