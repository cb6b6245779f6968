#!/usr/bin/env python3
"""Deep Q-learning with torch alone, to read from top to bottom: the agent `dqn`, without a library, in one file.

    python examples/dqn.py                 learns the toy environment in about 20 seconds; compares with the best return
    python examples/dqn.py --steps 60000 --seed 1

The idea: Q(s, a) is the return from state s if the agent takes action a now and the best actions afterwards. If Q were
known, acting would be easy: take the action with the largest value. Q is unknown, but it must satisfy

    Q(s, a) = r + gamma * max over a' of Q(s', a')                                (Bellman's optimality equation)

So a network is fitted to the right side, step by step. Three things keep this stable:

* a memory: consecutive steps are very similar, so batches are drawn from many past steps;
* a second, older copy of the network for the right side, so that the target does not move with every update;
* exploration: with probability epsilon the action is random, often at first, rarely in the end.

References:
    Mnih et al. 2015, Human-level control through deep reinforcement learning.
    van Hasselt, Guez and Silver 2016, Deep Reinforcement Learning with Double Q-learning: the network chooses the best
    next action, the older copy estimates its value. With one network for both, the largest value is mostly an
    overestimate.
"""

from __future__ import annotations

import argparse
import copy
import random
from collections import deque
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import fitgym.envs  # noqa: F401  (registers the environments)
from fitgym.envs.toy import optimum


class Step(NamedTuple):
    """One step in the memory."""

    observation: NDArray[np.float32]
    action: int
    reward: float
    following: NDArray[np.float32]
    allowed: NDArray[np.bool_]  # allowed actions in the following state
    ended: bool  # the following state has no further reward


class DQN:
    """Double DQN with a network of two hidden layers.

    Args:
        n_inputs: entries of an observation.
        n_actions: number of actions.
        hidden: units of each hidden layer.
        gamma: discount of a reward one step later, in [0, 1].
        learning_rate: of the optimiser Adam.
        memory: size of the memory in steps; the oldest are dropped first.
        batch: steps drawn for one update.
        every: steps between two updates.
        copied: updates until the older copy is renewed.
        seed: of the network's first weights and of all draws.
    """

    def __init__(
        self,
        n_inputs: int,
        n_actions: int,
        *,
        hidden: int = 64,
        gamma: float = 0.99,
        learning_rate: float = 1e-3,
        memory: int = 50_000,
        batch: int = 64,
        every: int = 4,
        copied: int = 250,
        seed: int = 0,
    ) -> None:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.network = _layers(n_inputs, hidden, n_actions)
        self.older = copy.deepcopy(self.network)
        self.optimiser = torch.optim.Adam(self.network.parameters(), learning_rate)
        self.gamma, self.batch, self.every, self.copied = gamma, batch, every, copied
        self.memory: deque[Step] = deque(maxlen=memory)
        self.chance = random.Random(seed)
        self.seen = self.corrections = 0

    def act(self, observation: NDArray[np.float32], allowed: NDArray[np.bool_], epsilon: float = 0.0) -> int:
        """Return the allowed action with the largest value, or with probability `epsilon` any allowed one."""
        if self.chance.random() < epsilon:
            return int(self.chance.choice(np.flatnonzero(allowed).tolist()))
        with torch.no_grad():
            values = self.network(torch.as_tensor(observation)).numpy()
        return int(np.where(allowed, values, -np.inf).argmax())

    def remember(self, step: Step) -> None:
        """Store a step; update the network every few steps."""
        self.memory.append(step)
        self.seen += 1
        if self.seen % self.every == 0 and len(self.memory) >= self.batch:
            self.correct()

    def correct(self) -> float:
        """Update the network towards the right side of Bellman's equation on one batch; return the loss before."""
        drawn = self.chance.sample(self.memory, self.batch)
        observations, actions, rewards, followings, allowed, ended = (
            torch.as_tensor(np.array(column)) for column in zip(*drawn, strict=True)
        )
        with torch.no_grad():
            best = self.network(followings).masked_fill(~allowed, -torch.inf).argmax(1, keepdim=True)
            later = self.older(followings).gather(1, best).squeeze(1)
            aims = rewards.float() + self.gamma * later * ~ended
        values = self.network(observations).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(values, aims)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 10.0)
        self.optimiser.step()
        self.corrections += 1
        if self.corrections % self.copied == 0:
            self.older.load_state_dict(self.network.state_dict())
        return float(loss.item())


def _layers(n_inputs: int, hidden: int, n_outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, n_outputs)
    )


def train(
    agent: DQN, env: gymnasium.Env[Any, Any], steps: int, *, explore: float = 0.5, least: float = 0.02, seed: int = 0
) -> list[float]:
    """Act and learn for so many steps; return the return of every finished episode.

    Args:
        agent: learns.
        env: any environment of fitgym, or another with `Discrete` actions and numeric observations.
        steps: number of steps.
        explore: share of the steps in which epsilon falls from 1 to `least`.
        least: epsilon afterwards.
        seed: of the first `env.reset`.
    """
    returns, earned = [], 0.0
    observation, info = env.reset(seed=seed)
    for step in range(steps):
        epsilon = max(least, 1.0 - (1.0 - least) * step / (explore * steps))
        action = agent.act(observation, _allowed(env, info), epsilon)
        following, reward, terminated, truncated, info = env.step(action)
        agent.remember(Step(observation, action, float(reward), following, _allowed(env, info), terminated))
        earned += float(reward)
        observation = following
        if terminated or truncated:
            returns.append(earned)
            earned = 0.0
            observation, info = env.reset()
    return returns


def evaluate(agent: DQN, env: gymnasium.Env[Any, Any], seed: int = 0) -> float:
    """Return the return of one episode without exploration."""
    observation, info = env.reset(seed=seed)
    earned, ended = 0.0, False
    while not ended:
        action = agent.act(observation, _allowed(env, info))
        observation, reward, terminated, truncated, info = env.step(action)
        earned += float(reward)
        ended = terminated or truncated
    return earned


def _allowed(env: gymnasium.Env[Any, Any], info: dict[str, Any]) -> NDArray[np.bool_]:
    """Return which actions are allowed: some environments provide a mask, in others all are."""
    mask = info.get("action_mask")
    return np.ones(env.action_space.n, bool) if mask is None else np.asarray(mask, bool)  # type: ignore[attr-defined]


def main() -> None:
    """Learn the toy environment and compare with the best possible return."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)  # such a small network gains nothing from more threads
    env = gymnasium.make("fitgym/Toy-v0")
    agent = DQN(env.observation_space.shape[0], env.action_space.n, seed=options.seed)  # type: ignore[attr-defined, index]
    returns = train(agent, env, options.steps, seed=options.seed)
    tenth = max(1, len(returns) // 10)
    for start in range(0, len(returns), tenth):
        print(
            f"episodes {start + 1:>5} to {min(len(returns), start + tenth):>5}: {np.mean(returns[start:][:tenth]):6.2f}"
        )
    best, reached = optimum(env.unwrapped.horizon)[0], evaluate(agent, env)  # type: ignore[attr-defined]
    print(f"without exploration {reached:.2f} of {best:.2f}, which is {100 * reached / best:.1f} % of the best")


if __name__ == "__main__":
    main()
