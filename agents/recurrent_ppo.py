"""PPO that remembers what it has seen in the episode."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._deep import inputs
from fitgym.agents._lstm import LSTM
from fitgym.agents._numbers import whole
from fitgym.agents.ppo import PPO
from fitgym.agents.transition import Action

__all__ = ["RecurrentPPO"]


class RecurrentPPO(PPO):
    """Proximal policy optimisation with a memory, by sb3-contrib: what phase a search is in shows in its course.

    A long short-term memory stands before the hidden layers. `act` keeps what it holds from step to step and forgets it
    where an episode begins; `predict` hands it on in its state, two arrays of shape `(batch, memory)`.

    Args:
        action_space, action_names, seed: as for every agent.
        learning_rate, gamma, hidden, n_steps, batch_size, n_epochs, entropy: as for `ppo`.
        memory: numbers that are held; the library's default is 256, for larger tasks.

    References:
        Hausknecht and Stone 2015, Deep Recurrent Q-Learning for Partially Observable MDPs, for memory in reinforcement
        learning; Ni, Eysenbach and Salakhutdinov 2022, Recurrent Model-Free RL Can Be a Strong Baseline for Many POMDPs.
    """

    algorithm: ClassVar[str] = "sb3_contrib:RecurrentPPO"
    policy: ClassVar[str] = "MlpLstmPolicy"

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        learning_rate: float = 3e-4,
        gamma: float = 0.99,
        hidden: int = 64,
        memory: int = 64,
        n_steps: int = 256,
        batch_size: int = 64,
        n_epochs: int = 10,
        entropy: float = 0.01,
    ) -> None:
        super().__init__(
            action_space,
            action_names,
            seed,
            learning_rate=learning_rate,
            gamma=gamma,
            hidden=hidden,
            n_steps=n_steps,
            batch_size=batch_size,
            n_epochs=n_epochs,
            entropy=entropy,
        )
        self.memory = whole(memory, "memory", 1, "units")
        self._lstm: LSTM | None = None
        self._held: NDArray[np.float32] = np.zeros((2, memory), np.float32)

    def policy_arguments(self) -> dict[str, Any]:
        """The size of the memory."""
        return {"lstm_hidden_size": self.memory}

    def prepare(self, model: Any) -> None:
        """Let the library keep bits and numbers as `float32`."""
        # Its recurrent buffer hands out actions in the type of the space, and torch has no Bernoulli losses for int8.
        if not isinstance(self.action_space, spaces.Discrete):
            space = copy.copy(model.action_space)
            space.dtype = np.dtype(np.float32)
            model.rollout_buffer.action_space = space
            model.rollout_buffer.reset()

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Nothing is held yet."""
        self._held = np.zeros((2, self.memory), np.float32)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """As the policy does, from what it holds and sees."""
        allowed = self.allowed(info)
        self._held = self._hold(observation, self._held)
        return super().choose(self._held[0], allowed, self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """What the policy does at the beginning of an episode."""
        held = self._hold(observation, np.zeros((2, self.memory), np.float32))
        return super().choose(held[0], allowed, rng)

    def choose_each(
        self,
        observations: Sequence[Any],
        allowed: Sequence[NDArray[np.bool_]],
        rng: np.random.Generator | None,
        state: tuple[NDArray[Any], ...] | None,
        starts: NDArray[np.bool_],
    ) -> tuple[list[Action], tuple[NDArray[Any], ...] | None]:
        """What the policy does, and what it holds afterwards."""
        n = len(observations)
        held = np.zeros((n, 2, self.memory), np.float32) if state is None else np.stack(state, axis=1)
        held[starts] = 0.0
        chosen = []
        for i, (observation, mask) in enumerate(zip(observations, allowed, strict=True)):
            held[i] = self._hold(observation, held[i])
            chosen.append(super().choose(held[i, 0], mask, rng))
        return chosen, (held[:, 0], held[:, 1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The parameters of the networks, and what is held."""
        return {**super().arrays(), "held": self._held.copy()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        super().restore({name: values for name, values in arrays.items() if name != "held"})
        self._held = arrays["held"].copy()

    def _hold(self, observation: Any, held: NDArray[np.float32]) -> NDArray[np.float32]:
        return held if self._lstm is None else self._lstm(inputs(observation, self._lstm.n_inputs), held)

    def _keep(self, parameters: dict[str, NDArray[np.float32]]) -> None:
        super()._keep(parameters)
        self._lstm = LSTM(parameters, "lstm_actor") if parameters else None
