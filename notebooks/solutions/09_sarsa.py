"""Solutions of lesson 09, and tempting answers that are wrong."""

import numpy as np


def update(q, reward, q_after, alpha, gamma):
    """A step towards the target."""
    return q + alpha * (reward + gamma * q_after - q)


def whole_step(q, reward, q_after, alpha, gamma):
    """Adds the target without subtracting the estimate."""
    return q + alpha * (reward + gamma * q_after)


def q_target(reward, values_after, ended, gamma):
    """The largest value of the next state, unless nothing follows."""
    return reward + gamma * values_after.max() * (not ended)


def never_ends(reward, values_after, ended, gamma):
    """Ignores the end."""
    return reward + gamma * values_after.max()


def mean_value(reward, values_after, ended, gamma):
    """The value of a random action in place of the best one."""
    return reward + gamma * values_after.mean() * (not ended)


def four_features(diversity):
    """One feature for the levels 0 and 1 together, one for each of the others."""
    return np.eye(4)[max(0, diversity - 1)]


def is_top(diversity):
    """All that the best policy needs to know. But with it the value of diversifying cannot be learned."""
    return np.array([float(diversity == 4), 1.0])


SOLUTIONS = {"update": update, "q_target": q_target, "four_features": four_features}
TEMPTING = {
    "update": [whole_step],
    "q_target": [never_ends, mean_value],
    "four_features": [is_top, lambda diversity: np.eye(5)[diversity]],
}
