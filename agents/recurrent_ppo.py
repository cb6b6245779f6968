"""Recurrent PPO: PPO with a recurrent layer, so that the policy depends on the course of the episode."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._data import Data
from fitgym.agents._deep import inputs
from fitgym.agents._lstm import LSTM
from fitgym.agents._numbers import whole
from fitgym.agents.ppo import PPO
from fitgym.agents.transition import Action
from fitgym.errors import InputError

__all__ = ["RecurrentPPO"]


class RecurrentPPO(PPO):
    """Proximal policy optimisation with a recurrent layer, by sb3-contrib.

    A long short-term memory (LSTM) precedes the hidden layers. `act` keeps its state from step to step and resets it when
    an episode begins. `predict` receives and returns the state, two arrays of shape `(batch, memory)`.

    Args:
        action_space, action_names, seed: as for every agent.
        learning_rate, gamma, hidden, n_steps, batch_size, n_epochs, entropy: as for `ppo`.
        memory: size of the recurrent state; the library's default is 256, for larger tasks.

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
        """The size of the recurrent state."""
        return {"lstm_hidden_size": self.memory}

    def prepare(self, model: Any) -> None:
        """Make the library store bits and numbers as `float32`."""
        # Its recurrent buffer returns actions in the dtype of the space, and torch has no Bernoulli loss for int8.
        if not isinstance(self.action_space, spaces.Discrete):
            space = copy.copy(model.action_space)
            space.dtype = np.dtype(np.float32)
            model.rollout_buffer.action_space = space
            model.rollout_buffer.reset()

    def probabilities(self, observation: Any, allowed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Not known from one observation.

        Raises:
            InputError: always.
        """
        raise InputError(
            "agent 'recurrent_ppo' remembers the episode, so one observation gives no probabilities: use ppo"
        )

    def improve(self, model: Any, batch: Data, number: int) -> None:
        """Not possible from single steps.

        Raises:
            InputError: always.
        """
        raise InputError("agent 'recurrent_ppo' does not learn from single recorded steps: use ppo")

    def begin_episode(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Reset the recurrent state."""
        self._held = np.zeros((2, self.memory), np.float32)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """Draw an action from the policy, given the recurrent state and the observation."""
        allowed = self.allowed(info)
        self._held = self._hold(observation, self._held)
        return super().choose(self._held[0], allowed, self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """Choose an action as at the beginning of an episode."""
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
        """Choose the actions, and return the new recurrent state."""
        n = len(observations)
        held = np.zeros((n, 2, self.memory), np.float32) if state is None else np.stack(state, axis=1)
        held[starts] = 0.0
        chosen = []
        for i, (observation, mask) in enumerate(zip(observations, allowed, strict=True)):
            held[i] = self._hold(observation, held[i])
            chosen.append(super().choose(held[i, 0], mask, rng))
        return chosen, (held[:, 0], held[:, 1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The parameters of the networks, and the recurrent state."""
        return {**super().arrays(), "held": self._held.copy()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the parameters and the recurrent state from `arrays`."""
        super().restore({name: values for name, values in arrays.items() if name != "held"})
        self._held = arrays["held"].copy()

    def _hold(self, observation: Any, held: NDArray[np.float32]) -> NDArray[np.float32]:
        return held if self._lstm is None else self._lstm(inputs(observation, self._lstm.n_inputs), held)

    def _keep(self, parameters: dict[str, NDArray[np.float32]]) -> None:
        super()._keep(parameters)
        self._lstm = LSTM(parameters, "lstm_actor") if parameters else None
