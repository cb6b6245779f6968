"""Solutions of lesson 06, and tempting answers that are wrong."""

import numpy as np


def epsilon_greedy(means, epsilon, rng):
    """With probability epsilon any action, otherwise the best one."""
    return int(rng.integers(len(means))) if rng.random() < epsilon else int(np.argmax(means))


def only_others(means, epsilon, rng):
    """Explores among the other actions only."""
    best = int(np.argmax(means))
    others = [action for action in range(len(means)) if action != best]
    return int(rng.choice(others)) if rng.random() < epsilon else best


def the_wrong_way_round(means, epsilon, rng):
    """Exploits with probability epsilon."""
    return int(np.argmax(means)) if rng.random() < epsilon else int(rng.integers(len(means)))


SOLUTIONS = {"epsilon_greedy": epsilon_greedy, "most_actions": 8, "knobs": (0.25, 0.99)}
TEMPTING = {
    "epsilon_greedy": [only_others, the_wrong_way_round],
    "most_actions": [4, 16],  # 4 is right for 180 decisions
    "knobs": [(2**0.5, 0.99), (0.5, 0.9)],  # the theorem's bonus; a memory of ten steps
}
