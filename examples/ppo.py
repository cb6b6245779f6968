"""PPO in one file, for any registered environment with Discrete actions: the whole algorithm is on this page.

    pip install torch==2.13.0 && pip install -e .
    python examples/ppo.py --env-id fitgym/Landscapes-v0 --num-envs 64 --total-timesteps 400000
    python examples/ppo.py --env-id fitgym/Programs-v0 --num-envs 4 --num-steps 120 --total-timesteps 60000

It prints a line for each update: steps, mean return of the finished episodes, steps per second. At the end the policy
plays tasks of the test split, once as usual and once with an observation of zeros.
"""

from __future__ import annotations

import argparse
import time
from collections import deque

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import fitgym.envs  # noqa: F401  (registers the environments)


class ActorCritic(nn.Module):
    """A policy and a value function, two hidden layers each."""

    def __init__(self, n_inputs: int, n_actions: int, hidden: int = 64) -> None:
        super().__init__()

        def network(n_outputs: int, scale: float) -> nn.Sequential:
            layers = [nn.Linear(n_inputs, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, n_outputs)]
            for layer, gain in zip(layers, (2**0.5, 2**0.5, scale), strict=True):
                nn.init.orthogonal_(layer.weight, gain)
                nn.init.zeros_(layer.bias)
            return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])

        self.actor = network(n_actions, 0.01)
        self.critic = network(1, 1.0)

    def policy(self, observations: torch.Tensor) -> Categorical:
        """Return the distribution of actions."""
        return Categorical(logits=self.actor(observations))

    def value(self, observations: torch.Tensor) -> torch.Tensor:
        """The expected return."""
        found: torch.Tensor = self.critic(observations)
        return found.squeeze(-1)


def train(options: argparse.Namespace) -> ActorCritic:
    """Collect steps, estimate advantages and improve the policy, until there are enough steps."""
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    envs = gymnasium.make_vec(options.env_id, num_envs=options.num_envs, **options.vector)
    observations, _ = envs.reset(seed=options.seed)
    model = ActorCritic(observations.shape[1], int(envs.single_action_space.n))  # type: ignore[attr-defined]
    optimiser = torch.optim.Adam(model.parameters(), lr=options.learning_rate, eps=1e-5)
    n, t = options.num_envs, options.num_steps
    returns, current = deque(maxlen=200), np.zeros(n)
    begins = np.zeros(n, dtype=bool)  # steps that only begin a new episode: their action was ignored
    started, steps = time.perf_counter(), 0
    while steps < options.total_timesteps:
        seen = torch.zeros((t, n, observations.shape[1]))
        actions = torch.zeros((t, n), dtype=torch.int64)
        log_probs, rewards, values, ends, real = (torch.zeros((t, n)) for _ in range(5))
        for step in range(t):
            seen[step] = torch.as_tensor(observations)
            with torch.no_grad():
                policy = model.policy(seen[step])
                actions[step] = policy.sample()
                log_probs[step], values[step] = policy.log_prob(actions[step]), model.value(seen[step])
            observations, reward, terminated, truncated, _ = envs.step(actions[step].numpy())
            done = terminated | truncated
            rewards[step], ends[step] = torch.as_tensor(reward), torch.as_tensor(done.astype(np.float32))
            real[step] = torch.as_tensor((~begins).astype(np.float32))
            current += reward
            returns.extend(current[done].tolist())
            current[done] = 0.0
            begins = done
        steps += t * n
        with torch.no_grad():
            following, advantage = model.value(torch.as_tensor(observations)), torch.zeros(n)
            advantages = torch.zeros((t, n))
            for step in reversed(range(t)):
                alive = 1.0 - ends[step]
                error = rewards[step] + options.gamma * following * alive - values[step]
                advantage = error + options.gamma * options.gae_lambda * alive * advantage
                advantages[step], following = advantage, values[step]
        improve(model, optimiser, options, seen, actions, log_probs, advantages, advantages + values, real)
        rate = steps / (time.perf_counter() - started)
        mean = np.mean(returns) if returns else float("nan")
        print(f"{steps} steps, mean return {mean:.3f}, {rate:.0f} steps/s")
    envs.close()
    return model


def improve(
    model: ActorCritic,
    optimiser: torch.optim.Optimizer,
    options: argparse.Namespace,
    *collected: torch.Tensor,
) -> None:
    """Run some epochs of clipped updates on the collected steps, without steps that only began an episode."""
    *kept, real = (part.flatten(0, 1) for part in collected)
    chosen = real > 0.5
    seen, actions, log_probs, advantages, targets = (part[chosen] for part in kept)
    for _ in range(options.epochs):
        for batch in torch.randperm(len(seen)).split(options.batch_size):
            if len(batch) < 2:
                continue
            policy = model.policy(seen[batch])
            ratio = (policy.log_prob(actions[batch]) - log_probs[batch]).exp()
            scaled = (advantages[batch] - advantages[batch].mean()) / (advantages[batch].std() + 1e-8)
            clipped = ratio.clamp(1.0 - options.clip, 1.0 + options.clip)
            policy_loss = -torch.min(ratio * scaled, clipped * scaled).mean()
            value_loss = (model.value(seen[batch]) - targets[batch]).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - options.entropy * policy.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimiser.step()


def score(model: ActorCritic, options: argparse.Namespace, *, blank: bool) -> float:
    """Return the mean return on test tasks, one episode each."""
    env = gymnasium.make(options.env_id)
    torch.manual_seed(options.seed)
    found = []
    for task in range(200, 200 + options.tests):
        observation, _ = env.reset(seed=task, options={"task": task})
        total, done = 0.0, False
        while not done:
            seen = torch.as_tensor(np.zeros_like(observation) if blank else observation)
            with torch.no_grad():
                action = int(model.policy(seen).sample())
            observation, reward, terminated, truncated, _ = env.step(action)
            total, done = total + float(reward), terminated or truncated
        found.append(total)
    env.close()
    return float(np.mean(found))


def main() -> int:
    """Train and evaluate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="fitgym/Landscapes-v0")
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-steps", type=int, default=60, help="of each environment between two updates")
    parser.add_argument("--total-timesteps", type=int, default=400_000)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae-lambda", type=float, default=0.8)
    parser.add_argument("--batch-size", type=int, default=480)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.005)
    parser.add_argument("--tests", type=int, default=100, help="test tasks")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    spec = gymnasium.spec(options.env_id)
    options.vector = {} if spec.vector_entry_point else {"vectorization_mode": "async"}
    model = train(options)
    print(
        f"test tasks: {score(model, options, blank=False):.3f}, with closed eyes {score(model, options, blank=True):.3f}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
