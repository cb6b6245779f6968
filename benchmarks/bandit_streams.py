"""Which reward scale and which exploration weight lets a bandit learn? Rewards come from formulas.

    python benchmarks/bandit_streams.py
    python benchmarks/bandit_streams.py --agents ucb:c=0.3 linucb:features=action --seeds 20

No code under test runs. For each stream and agent it prints the mean reward of 140 decisions, divided by that of the
best action at each decision. The streams are

    sparse     64 sets of up to four of eight functions; an action pays 0.04 with a probability that is a sum over its
               functions, between 0.05 and 0.5
    skewed     the same, times x^2 / 2 with x from an exponential distribution
    outlier    `sparse`, but the fourth decision pays 100 times as much, whichever it is
    dense      10 actions that pay 10^4 times a mean between 0 and 1, with a deviation of 2,000
    drift      10 actions that pay 10^4 exp(-t / 40) times a mean and an exponential number; the means change at t = 70
    seen       `sparse`, but for half of all observations the probabilities are reversed
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from fitgym.agents.base import Transition, make

DECISIONS = 140
FUNCTIONS = tuple("abcdefg")
SETS = ["+".join(("goal", *chosen)) for size in range(4) for chosen in combinations(FUNCTIONS, size)]
STREAMS = ("sparse", "skewed", "outlier", "dense", "drift", "seen")
AGENTS = (
    "uniform",
    *(f"ucb:c={c},normalise={unit}" for unit in ("none", "largest", "running") for c in ("0.1", "0.3", "1", "1.414")),
    *("ucb:discount=0.97", "epsilon_greedy", "softmax:temperature=0.1", "softmax:temperature=0.3"),
    *("thompson:sigma=0.3", "thompson:sigma=1.0", "factored_ucb:c=0.1", "factored_ucb", "factored_ucb:c=1"),
    *(f"linucb:features={what},alpha={a}" for what in ("action", "both", "observation") for a in ("0.1", "0.3", "1")),
    "linucb:features=action,discount=0.97",
)


class Stream:
    """The rewards of one stream for one seed."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.rng = np.random.default_rng(seed)
        self.names = [str(i) for i in range(10)] if name in ("dense", "drift") else SETS
        n = len(self.names)
        self.first: NDArray[np.float64] = self.rng.random(n)
        self.second: NDArray[np.float64] = self.rng.random(n)
        worth = dict(zip(FUNCTIONS, self.rng.exponential(1, 7) * self.rng.choice([1, -0.5], 7), strict=True))
        sums = np.array([sum(worth.get(part, 0.0) for part in one.split("+")) for one in self.names])
        self.chance: NDArray[np.float64] = 0.05 + 0.45 * (sums - sums.min()) / max(float(np.ptp(sums)), 1e-9)
        self.fixed = self.rng.random(8)

    def see(self, t: int) -> NDArray[np.float64]:
        """Return an observation: a bit that reverses the stream `seen`, the share of decisions made, and constants."""
        return np.array([t % 2, t / DECISIONS, *self.fixed])

    def means(self, t: int) -> NDArray[np.float64]:
        """Return the mean reward of each action."""
        if self.name == "dense":
            return 1e4 * self.first
        if self.name == "drift":
            return 1e4 * float(np.exp(-t / 40)) * (self.first if t < 70 else self.second)
        chance = 0.55 - self.chance if self.name == "seen" and t % 2 else self.chance
        return 0.04 * chance

    def pay(self, t: int, action: int) -> float:
        """A reward."""
        mean = float(self.means(t)[action])
        if self.name == "dense":
            return mean + self.rng.normal(0, 2000)
        if self.name == "drift":
            return mean * self.rng.exponential()
        size = 4.0 if self.name == "outlier" and t == 3 else 0.04
        paid = size == 4 or self.rng.random() < mean / 0.04
        return size * paid * (self.rng.exponential() ** 2 / 2 if self.name == "skewed" else 1)


def share(agent: str, stream: str, seed: int) -> float:
    """Return the agent's reward, divided by the reward of the best action at each decision."""
    source = Stream(stream, seed)
    one = make(agent, len(source.names), action_names=source.names, seed=seed)
    earned = best = 0.0
    for t in range(DECISIONS):
        seen = source.see(t)
        action = int(one.act(seen, {}))
        one.observe(Transition(seen, action, source.pay(t, action), source.see(t + 1)))
        means = source.means(t)
        earned, best = earned + means[action], best + means.max()
    return float(earned / best)


def table(agents: Sequence[str], streams: Sequence[str], seeds: int) -> str:
    """Return the table with a row for each agent."""
    rows = [f"| agent | {' | '.join(streams)} | mean |", "|---" * (len(streams) + 2) + "|"]
    for agent in agents:
        found = [statistics.fmean(share(agent, stream, seed) for seed in range(seeds)) for stream in streams]
        rows.append(f"| `{agent}` | {' | '.join(f'{each:.3f}' for each in [*found, statistics.fmean(found)])} |")
        sys.stderr.write(rows[-1] + "\n")
    return "\n".join(rows)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", default=list(AGENTS))
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--seeds", type=int, default=50)
    options = parser.parse_args()
    print(table(options.agents, options.streams, options.seeds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
