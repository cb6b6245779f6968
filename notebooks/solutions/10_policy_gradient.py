"""Solutions of lesson 10, and tempting answers that are wrong."""

import numpy as np


def returns(rewards, gamma):
    """Backwards: each return is its reward plus the discounted next return."""
    found, later = np.zeros(len(rewards)), 0.0
    for t in reversed(range(len(rewards))):
        later = rewards[t] + gamma * later
        found[t] = later
    return found


def what_came_before(rewards, gamma):
    """Adds up forwards."""
    return np.cumsum(rewards)


def same_for_all(rewards, gamma):
    """The whole return for every step."""
    return np.full(len(rewards), np.sum(rewards * gamma ** np.arange(len(rewards))))


def objective(ratios, advantages, epsilon):
    """The smaller of the plain and the clipped term."""
    return np.minimum(ratios * advantages, np.clip(ratios, 1 - epsilon, 1 + epsilon) * advantages)


def clipped_only(ratios, advantages, epsilon):
    """Without the minimum: an action that became too likely by mistake cannot be corrected."""
    return np.clip(ratios, 1 - epsilon, 1 + epsilon) * advantages


SOLUTIONS = {
    "returns": returns,
    "objective": objective,
    "settings": {"alpha": 0.1, "epochs": 20, "clip": 0.4},
}
TEMPTING = {
    "returns": [what_came_before, same_for_all],
    "objective": [clipped_only],
    "settings": [
        {"alpha": 0.03, "epochs": 10, "clip": 0.2},
        {"alpha": 0.1, "epochs": 10, "clip": 1e9},  # large steps without clipping
    ],
}
